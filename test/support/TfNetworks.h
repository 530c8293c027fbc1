// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Networks as TensorFlow exports them, each with the same computation as plain loops in double precision: LSTM by
// frames (control flow v1, TensorArray), a regression; those of TensorFlow 2 are in TfWhileNetworks.h. Sizes and
// weights follow a seed.
#pragma once
#include "test/support/TfBuilder.h"

#include <cmath>
#include <random>

namespace wsc::test {

/// A row-major matrix of doubles, also images flattened to rows.
struct TfMatrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> values;
  TfMatrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), values(static_cast<size_t>(rows * columns), 0) {}
  double &at(int64_t r, int64_t c) { return values[r * columns + c]; }
  double at(int64_t r, int64_t c) const { return values[r * columns + c]; }
};

inline TfMatrix operator*(const TfMatrix &a, const TfMatrix &b) {
  TfMatrix product(a.rows, b.columns);
  for (int64_t r = 0; r < a.rows; ++r)
    for (int64_t k = 0; k < a.columns; ++k)
      for (int64_t c = 0; c < b.columns; ++c)
        product.at(r, c) += a.at(r, k) * b.at(k, c);
  return product;
}
/// The bias, a matrix of one row, on each row.
inline TfMatrix operator+(TfMatrix a, const TfMatrix &bias) {
  for (int64_t r = 0; r < a.rows; ++r)
    for (int64_t c = 0; c < a.columns; ++c)
      a.at(r, c) += bias.at(0, c);
  return a;
}

class TfNetwork {
public:
  explicit TfNetwork(uint64_t seed) : random(seed) {}

  TfBuilder b;
  std::vector<int64_t> inputShape, outputShape;
  std::vector<float> input;     ///< of tensor "x"
  std::vector<double> expected; ///< of tensor "y"

protected:
  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
  /// Numbers that are exact in f32.
  std::vector<double> drawn(int64_t count, double scale) {
    std::vector<double> values(static_cast<size_t>(count));
    for (double &value : values)
      value = static_cast<float>(std::normal_distribution<double>(0, scale)(random));
    return values;
  }
  /// A constant of the graph and its numbers; a vector where `isVector`.
  TfMatrix weights(const std::string &name, int64_t rows, int64_t columns, bool isVector = false) {
    TfMatrix matrix(rows, columns);
    matrix.values = drawn(rows * columns, 1 / std::sqrt(static_cast<double>(std::max<int64_t>(rows, 2))));
    b.floats(name, isVector ? std::vector<int64_t>{columns} : std::vector<int64_t>{rows, columns},
             {matrix.values.begin(), matrix.values.end()});
    return matrix;
  }
  TfMatrix bias(const std::string &name, int64_t columns) { return weights(name, 1, columns, true); }
  /// Placeholder "x" [batch, …] and its numbers.
  void feed(const std::vector<int64_t> &shape) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    const std::vector<double> values = drawn(count, 1);
    input.assign(values.begin(), values.end());
    inputShape = shape;
    b.input("x", shape);
  }
  /// Step t of x [batch, steps, features].
  TfMatrix step(int64_t t) const {
    TfMatrix row(inputShape[0], inputShape[2]);
    for (int64_t n = 0; n < row.rows; ++n)
      for (int64_t f = 0; f < row.columns; ++f)
        row.at(n, f) = input[(n * inputShape[1] + t) * inputShape[2] + f];
    return row;
  }
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

  std::mt19937_64 random;
};

/// static_rnn's successor of TensorFlow 1: dynamic_rnn over a BasicLSTMCell, a frame with a TensorArray of inputs and
/// one of outputs. y is the output of each step [batch, steps, units].
class TfFrameLstm : public TfNetwork {
public:
  explicit TfFrameLstm(uint64_t seed) : TfNetwork(seed) {
    const int64_t batch = between(1, 3), steps = between(2, 6), features = between(2, 9), units = between(2, 9);
    feed({batch, steps, features});
    const TfMatrix kernel = weights("kernel", features + units, 4 * units), offset = bias("bias", 4 * units);
    const TfAttr frame = TfAttr::s("frame_name", "rnn/while/while_context");
    const auto enter = [&](const std::string &name, const std::string &of, bool isConstant) {
      b.node("Enter", name, {of}, {frame, TfAttr::b("is_constant", isConstant)});
    };
    b.node("Transpose", "time_major", {"x", b.ints("order", {1, 0, 2})});
    b.node("Shape", "shape", {"time_major"});
    b.node("StridedSlice", "steps", {"shape", b.ints("at0", {0}), b.ints("at1", {1}), b.ints("by1", {1})},
           {TfAttr::i("shrink_axis_mask", 1)});
    const TfAttr element = TfAttr::type("dtype", tf::DT_FLOAT);
    b.node("TensorArrayV3", "ins", {"steps"}, {element});
    b.node("TensorArrayV3", "outs", {"steps"}, {element});
    b.node("Range", "all", {b.integer("zero", 0), "steps", b.integer("one", 1)});
    b.node("TensorArrayScatterV3", "unstack", {"ins", "all", "time_major", "ins:1"});
    b.node("Fill", "zeros",
           {b.ints("state_shape", {static_cast<int32_t>(batch), static_cast<int32_t>(units)}), b.number("nought", 0)});
    enter("steps/in", "steps", true);
    enter("ins/in", "ins", true);
    enter("flow/in", "unstack", true);
    enter("outs/in", "outs", true);
    enter("kernel/in", "kernel", true);
    enter("bias/in", "bias", true);
    struct Carried {
      const char *name, *start, *next;
    };
    const Carried carried[] = {
        {"t", "zero", "t/add"}, {"flow", "outs:1", "write"}, {"c", "zeros", "c/new"}, {"h", "zeros", "h/new"}};
    for (const Carried &value : carried) {
      const std::string name = value.name;
      enter(name + "/enter", value.start, false);
      b.node("Merge", name, {name + "/enter", name + "/next"});
      b.node("Switch", name + "/switch", {name, "cond"});
      b.node("Identity", name + "/body", {name + "/switch:1"});
      b.node("NextIteration", name + "/next", {value.next});
      b.node("Exit", name + "/exit", {name + "/switch"});
    }
    b.node("Less", "less", {"t", "steps/in"});
    b.node("LoopCond", "cond", {"less"});
    b.add(tfInts("t/one", {}, {1})).add_input("^t/body");
    b.node("Add", "t/add", {"t/body", "t/one"});
    b.node("TensorArrayReadV3", "read", {"ins/in", "t/body", "flow/in"}, {element});
    b.add(tfInts("axis", {}, {1})).add_input("^t/body");
    b.node("ConcatV2", "joined", {"read", "h/body", "axis"});
    b.node("MatMul", "product", {"joined", "kernel/in"});
    b.node("BiasAdd", "sum", {"product", "bias/in"});
    b.node("Split", "gates", {"axis", "sum"}, {TfAttr::i("num_split", 4)});
    b.add(tfFloats("forget", {}, {1})).add_input("^t/body");
    b.node("Add", "f/moved", {"gates:2", "forget"});
    b.node("Sigmoid", "f", {"f/moved"});
    b.node("Sigmoid", "i", {"gates"});
    b.node("Tanh", "j", {"gates:1"});
    b.node("Mul", "kept", {"c/body", "f"});
    b.node("Mul", "taken", {"i", "j"});
    b.node("Add", "c/new", {"kept", "taken"});
    b.node("Tanh", "c/tanh", {"c/new"});
    b.node("Sigmoid", "o", {"gates:3"});
    b.node("Mul", "h/new", {"c/tanh", "o"});
    b.node("TensorArrayWriteV3", "write", {"outs/in", "t/body", "h/new", "flow/body"});
    b.node("TensorArrayGatherV3", "stacked", {"outs", "all", "flow/exit"}, {element});
    b.node("Transpose", "y", {"stacked", "order"});

    outputShape = {batch, steps, units};
    expected.resize(static_cast<size_t>(batch * steps * units));
    TfMatrix c(batch, units), h(batch, units);
    for (int64_t t = 0; t < steps; ++t) {
      TfMatrix joinedRow(batch, features + units);
      for (int64_t n = 0; n < batch; ++n)
        for (int64_t k = 0; k < features + units; ++k)
          joinedRow.at(n, k) = k < features ? step(t).at(n, k) : h.at(n, k - features);
      const TfMatrix sum = joinedRow * kernel + offset;
      for (int64_t n = 0; n < batch; ++n)
        for (int64_t u = 0; u < units; ++u) {
          c.at(n, u) = c.at(n, u) * sigmoid(sum.at(n, 2 * units + u) + 1) +
                       sigmoid(sum.at(n, u)) * std::tanh(sum.at(n, units + u));
          h.at(n, u) = std::tanh(c.at(n, u)) * sigmoid(sum.at(n, 3 * units + u));
          expected[(n * steps + t) * units + u] = h.at(n, u);
        }
    }
  }
};

/// Features by mean and deviation, two dense layers, and one number in the target's unit.
class TfRegression : public TfNetwork {
public:
  explicit TfRegression(uint64_t seed) : TfNetwork(seed) {
    const int64_t batch = between(1, 6), features = between(3, 20), units = between(4, 24);
    feed({batch, features});
    const TfMatrix mean = bias("mean", features), w1 = weights("w1", features, units), b1 = bias("b1", units),
                   w2 = weights("w2", units, units), b2 = bias("b2", units), w3 = weights("w3", units, 1),
                   b3 = bias("b3", 1);
    b.node("Sub", "centred", {"x", "mean"});
    b.node("Mul", "scaled", {"centred", b.number("inverse", 0.5f)});
    b.node("MatMul", "p1", {"scaled", "w1"});
    b.node("BiasAdd", "s1", {"p1", "b1"});
    b.node("Elu", "h1", {"s1"});
    b.node("MatMul", "p2", {"h1", "w2"});
    b.node("BiasAdd", "s2", {"p2", "b2"});
    b.node("Softplus", "h2", {"s2"});
    b.node("MatMul", "p3", {"h2", "w3"});
    b.node("BiasAdd", "s3", {"p3", "b3"});
    b.node("Squeeze", "flat", {"s3"}, {TfAttr::ints("squeeze_dims", {1})});
    b.node("Mul", "y", {"flat", b.number("unit", 20)});
    TfMatrix h(batch, features);
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t f = 0; f < features; ++f)
        h.at(n, f) = (input[n * features + f] - mean.at(0, f)) * 0.5;
    h = h * w1 + b1;
    for (double &value : h.values)
      value = value < 0 ? std::expm1(value) : value;
    h = h * w2 + b2;
    for (double &value : h.values)
      value = std::log1p(std::exp(value));
    h = h * w3 + b3;
    outputShape = {batch};
    for (double value : h.values)
      expected.push_back(value * 20);
  }
};

} // namespace wsc::test
