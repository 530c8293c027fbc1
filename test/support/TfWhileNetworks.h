// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recurrent networks of TensorFlow 2, LSTM and GRU by While (control flow v2, TensorList) and a convolutional recurrent
// network in both directions, each with the same computation as loops; see TfNetworks.h.
#pragma once
#include "test/support/TfNetworks.h"

namespace wsc::test {

/// Layers of TensorFlow 2 that run over time by While and TensorList, inside of functions.
class TfWhileNetwork : public TfNetwork {
protected:
  using TfNetwork::TfNetwork;

  /// While over the steps of `sequence` [steps, batch, features], the last first if `backwards`. `cell` adds the nodes
  /// that make h/new and the other states' new values of row:item:0, the states and what is constant in the loop;
  /// gives the outputs [steps, batch, units] as the returned tensor.
  std::string overTime(const std::string &name, const std::string &sequence, int64_t steps, int64_t batch,
                       int64_t units, const std::vector<std::string> &states, const std::vector<std::string> &constants,
                       std::vector<tf::NodeDef> cell, bool backwards) {
    std::string source = sequence;
    if (backwards)
      source = b.node("ReverseV2", name + "/reversed", {sequence, b.ints(name + "/axis", {0})});
    b.node("TensorListFromTensor", name + "/in", {source, b.ints(name + "/row", {static_cast<int32_t>(batch), -1})},
           {TfAttr::type("element_dtype", tf::DT_FLOAT)});
    const std::vector<int32_t> state{static_cast<int32_t>(batch), static_cast<int32_t>(units)};
    b.node("TensorListReserve", name + "/out",
           {b.ints(name + "/shape", state), b.integer(name + "/steps", static_cast<int32_t>(steps))},
           {TfAttr::type("element_dtype", tf::DT_FLOAT)});
    b.node("Fill", name + "/zeros", {name + "/shape", b.number(name + "/nought", 0)});
    std::vector<TfBuilder::Argument> arguments{
        {"t", tf::DT_INT32}, {"n", tf::DT_INT32}, {"in", tf::DT_VARIANT}, {"out", tf::DT_VARIANT}};
    std::vector<std::string> operands{b.integer(name + "/t", 0), name + "/steps", name + "/in", name + "/out"};
    std::vector<std::string> returned{"next:z:0", "n", "in", "written:output_handle:0"};
    for (const std::string &carried : states) {
      arguments.push_back({carried, tf::DT_FLOAT});
      operands.push_back(name + "/zeros");
      returned.push_back(carried + "_new:z:0");
    }
    for (const std::string &constant : constants) {
      arguments.push_back({constant, tf::DT_FLOAT});
      operands.push_back(name + "/" + constant);
      returned.push_back(constant);
    }
    std::vector<TfBuilder::Argument> results = arguments;
    for (TfBuilder::Argument &result : results)
      result.first += "_result";
    b.function(name + "_cond", arguments, {{"go", tf::DT_BOOL}}, {tfNode("Less", "less", {"t", "n"})}, {"less:z:0"});
    cell.push_back(tfInts("one", {}, {1}));
    cell.push_back(tfInts("row_shape", {2}, {static_cast<int32_t>(batch), -1}));
    cell.push_back(tfNode("AddV2", "next", {"t", "one:output:0"}));
    cell.push_back(tfNode("TensorListGetItem", "row", {"in", "t", "row_shape:output:0"},
                          {TfAttr::type("element_dtype", tf::DT_FLOAT)}));
    cell.push_back(tfNode("TensorListSetItem", "written", {"out", "t", "h_new:z:0"}));
    b.function(name + "_body", arguments, results, cell, returned);
    b.node("While", name + "/while", operands,
           {TfAttr::function("cond", name + "_cond"), TfAttr::function("body", name + "_body")});
    b.node("TensorListStack", name + "/stacked", {name + "/while:3", name + "/shape"},
           {TfAttr::type("element_dtype", tf::DT_FLOAT), TfAttr::i("num_elements", steps)});
    if (!backwards)
      return name + "/stacked";
    return b.node("ReverseV2", name + "/y", {name + "/stacked", name + "/axis"});
  }

  /// The nodes of Keras' GRU cell with reset_after: x·W + b, h·U + c in thirds z, r, candidate.
  static std::vector<tf::NodeDef> gruCell() {
    return {tfInts("axis", {}, {1}),
            tfNode("MatMul", "xw", {"row:item:0", "w"}),
            tfNode("BiasAdd", "xs", {"xw:product:0", "b"}),
            tfNode("Split", "x3", {"axis:output:0", "xs:output:0"}, {TfAttr::i("num_split", 3)}),
            tfNode("MatMul", "hw", {"h", "u"}),
            tfNode("BiasAdd", "hs", {"hw:product:0", "c"}),
            tfNode("Split", "h3", {"axis:output:0", "hs:output:0"}, {TfAttr::i("num_split", 3)}),
            tfNode("AddV2", "zs", {"x3:output:0", "h3:output:0"}),
            tfNode("Sigmoid", "z", {"zs:z:0"}),
            tfNode("AddV2", "rs", {"x3:output:1", "h3:output:1"}),
            tfNode("Sigmoid", "r", {"rs:z:0"}),
            tfNode("Mul", "rh", {"r:y:0", "h3:output:2"}),
            tfNode("AddV2", "cs", {"x3:output:2", "rh:z:0"}),
            tfNode("Tanh", "candidate", {"cs:y:0"}),
            tfNode("Mul", "old", {"z:y:0", "h"}),
            tfFloats("whole", {}, {1}),
            tfNode("Sub", "rest", {"whole:output:0", "z:y:0"}),
            tfNode("Mul", "fresh", {"rest:z:0", "candidate:y:0"}),
            tfNode("AddV2", "h_new", {"old:z:0", "fresh:z:0"})};
  }
  /// A GRU over the rows of each step; its weights are named after `name`.
  std::vector<TfMatrix> gru(const std::string &name, const std::string &sequence, const std::vector<TfMatrix> &rows,
                            int64_t units, bool backwards, std::string &output) {
    const int64_t steps = static_cast<int64_t>(rows.size()), batch = rows[0].rows;
    const TfMatrix w = weights(name + "/w", rows[0].columns, 3 * units), u = weights(name + "/u", units, 3 * units);
    const TfMatrix offset = bias(name + "/b", 3 * units), recurrent = bias(name + "/c", 3 * units);
    output = overTime(name, sequence, steps, batch, units, {"h"}, {"w", "u", "b", "c"}, gruCell(), backwards);
    std::vector<TfMatrix> results(rows.size(), TfMatrix(batch, units));
    TfMatrix h(batch, units);
    for (int64_t k = 0; k < steps; ++k) {
      const int64_t t = backwards ? steps - 1 - k : k;
      const TfMatrix x3 = rows[t] * w + offset, h3 = h * u + recurrent;
      for (int64_t n = 0; n < batch; ++n)
        for (int64_t i = 0; i < units; ++i) {
          const double z = sigmoid(x3.at(n, i) + h3.at(n, i)), r = sigmoid(x3.at(n, units + i) + h3.at(n, units + i));
          h.at(n, i) = z * h.at(n, i) + (1 - z) * std::tanh(x3.at(n, 2 * units + i) + r * h3.at(n, 2 * units + i));
        }
      results[t] = h;
    }
    return results;
  }
};

/// Keras' LSTM, its last output through a dense layer and softmax.
class TfWhileLstm : public TfWhileNetwork {
public:
  explicit TfWhileLstm(uint64_t seed) : TfWhileNetwork(seed) {
    const int64_t batch = between(1, 3), steps = between(2, 6), features = between(2, 9), units = between(2, 9),
                  classes = between(2, 12);
    feed({batch, steps, features});
    const TfMatrix w = weights("lstm/w", features, 4 * units), u = weights("lstm/u", units, 4 * units),
                   offset = bias("lstm/b", 4 * units);
    const TfMatrix dense = weights("dense/w", units, classes), denseOffset = bias("dense/b", classes);
    b.node("Transpose", "time_major", {"x", b.ints("order", {1, 0, 2})});
    overTime("lstm", "time_major", steps, batch, units, {"h", "cell"}, {"w", "u", "b"},
             {tfInts("axis", {}, {1}), tfNode("MatMul", "xw", {"row:item:0", "w"}), tfNode("MatMul", "hw", {"h", "u"}),
              tfNode("AddV2", "both", {"xw:product:0", "hw:product:0"}), tfNode("BiasAdd", "sum", {"both:z:0", "b"}),
              tfNode("Split", "gates", {"axis:output:0", "sum:output:0"}, {TfAttr::i("num_split", 4)}),
              tfNode("Sigmoid", "i", {"gates:output:0"}), tfNode("Sigmoid", "f", {"gates:output:1"}),
              tfNode("Tanh", "g", {"gates:output:2"}), tfNode("Sigmoid", "o", {"gates:output:3"}),
              tfNode("Mul", "kept", {"f:y:0", "cell"}), tfNode("Mul", "taken", {"i:y:0", "g:y:0"}),
              tfNode("AddV2", "cell_new", {"kept:z:0", "taken:z:0"}), tfNode("Tanh", "cell_tanh", {"cell_new:z:0"}),
              tfNode("Mul", "h_new", {"o:y:0", "cell_tanh:y:0"})},
             false);
    b.node("MatMul", "product", {"lstm/while:4", "dense/w"}); // the last h
    b.node("BiasAdd", "logits", {"product", "dense/b"});
    b.node("Softmax", "y", {"logits"});

    TfMatrix c(batch, units), h(batch, units);
    for (int64_t t = 0; t < steps; ++t) {
      TfMatrix sum = step(t) * w + offset;
      const TfMatrix recurrent = h * u;
      for (size_t k = 0; k < sum.values.size(); ++k)
        sum.values[k] += recurrent.values[k];
      for (int64_t n = 0; n < batch; ++n)
        for (int64_t i = 0; i < units; ++i) {
          c.at(n, i) =
              sigmoid(sum.at(n, units + i)) * c.at(n, i) + sigmoid(sum.at(n, i)) * std::tanh(sum.at(n, 2 * units + i));
          h.at(n, i) = sigmoid(sum.at(n, 3 * units + i)) * std::tanh(c.at(n, i));
        }
    }
    TfMatrix logits = h * dense + denseOffset;
    for (int64_t n = 0; n < batch; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < classes; ++k)
        sum += logits.at(n, k) = std::exp(logits.at(n, k));
      for (int64_t k = 0; k < classes; ++k)
        logits.at(n, k) /= sum;
    }
    outputShape = {batch, classes};
    expected = logits.values;
  }
};

/// A GRU, all steps.
class TfGru : public TfWhileNetwork {
public:
  explicit TfGru(uint64_t seed) : TfWhileNetwork(seed) {
    const int64_t batch = between(1, 3), steps = between(2, 6), features = between(2, 9), units = between(2, 9);
    feed({batch, steps, features});
    b.node("Transpose", "time_major", {"x", b.ints("order", {1, 0, 2})});
    std::vector<TfMatrix> rows;
    for (int64_t t = 0; t < steps; ++t)
      rows.push_back(step(t));
    std::string output;
    const std::vector<TfMatrix> results = gru("gru", "time_major", rows, units, between(0, 1), output);
    b.node("Transpose", "y", {output, "order"});
    outputShape = {batch, steps, units};
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t t = 0; t < steps; ++t)
        for (int64_t i = 0; i < units; ++i)
          expected.push_back(results[t].at(n, i));
  }
};

/// A convolution over spectra [batch, steps, bins, 1] with batch normalisation, GRUs in both directions over time, a
/// dense layer on their mean.
class TfCrnn : public TfWhileNetwork {
public:
  explicit TfCrnn(uint64_t seed) : TfWhileNetwork(seed) {
    const int64_t batch = between(1, 2), steps = between(6, 10), bins = between(5, 9), channels = between(2, 4),
                  units = between(2, 6), classes = between(2, 6), high = between(2, 3), wide = between(2, 4);
    feed({batch, steps, bins, 1});
    const std::vector<double> filter = drawn(high * wide * channels, 0.5);
    b.floats("filter", {high, wide, 1, channels}, {filter.begin(), filter.end()});
    const TfMatrix scale = bias("bn/scale", channels), offset = bias("bn/offset", channels),
                   mean = bias("bn/mean", channels);
    TfMatrix variance(1, channels);
    for (double &value : variance.values)
      value = static_cast<float>(0.5 + std::abs(drawn(1, 1)[0]));
    b.floats("bn/variance", {channels}, {variance.values.begin(), variance.values.end()});
    b.node("Conv2D", "conv", {"x", "filter"}, {TfAttr::s("padding", "SAME"), TfAttr::ints("strides", {1, 2, 2, 1})});
    b.node("FusedBatchNormV3", "bn", {"conv", "bn/scale", "bn/offset", "bn/mean", "bn/variance"},
           {TfAttr::b("is_training", false), TfAttr::f("epsilon", 0.001f)});
    b.node("Relu", "relu", {"bn"});
    const int64_t turns = (steps + 1) / 2, places = (bins + 1) / 2;
    b.node("Reshape", "rows",
           {"relu", b.ints("row_shape", {static_cast<int32_t>(batch), static_cast<int32_t>(turns), -1})});
    b.node("Transpose", "time_major", {"rows", b.ints("order", {1, 0, 2})});

    std::vector<TfMatrix> rows(turns, TfMatrix(batch, places * channels));
    const int64_t above = std::max<int64_t>((turns - 1) * 2 + high - steps, 0) / 2,
                  left = std::max<int64_t>((places - 1) * 2 + wide - bins, 0) / 2;
    for (int64_t t = 0; t < turns; ++t)
      for (int64_t n = 0; n < batch; ++n)
        for (int64_t p = 0; p < places; ++p)
          for (int64_t c = 0; c < channels; ++c) {
            double sum = 0;
            for (int64_t ky = 0; ky < high; ++ky)
              for (int64_t kx = 0; kx < wide; ++kx) {
                const int64_t y = t * 2 + ky - above, at = p * 2 + kx - left;
                if (y >= 0 && y < steps && at >= 0 && at < bins)
                  sum += input[(n * steps + y) * bins + at] * filter[(ky * wide + kx) * channels + c];
              }
            sum = (sum - mean.at(0, c)) / std::sqrt(variance.at(0, c) + 0.001) * scale.at(0, c) + offset.at(0, c);
            rows[t].at(n, p * channels + c) = std::max(sum, 0.0);
          }
    std::string ahead, back;
    const std::vector<TfMatrix> first = gru("forward", "time_major", rows, units, false, ahead),
                                second = gru("backward", "time_major", rows, units, true, back);
    b.node("ConcatV2", "both", {ahead, back, b.integer("last", 2)});
    b.node("Mean", "pooled", {"both", b.ints("time", {0})});
    const TfMatrix dense = weights("dense/w", 2 * units, classes), denseOffset = bias("dense/b", classes);
    b.node("MatMul", "product", {"pooled", "dense/w"});
    b.node("BiasAdd", "y", {"product", "dense/b"});
    TfMatrix pooled(batch, 2 * units);
    for (int64_t t = 0; t < turns; ++t)
      for (int64_t n = 0; n < batch; ++n)
        for (int64_t i = 0; i < units; ++i) {
          pooled.at(n, i) += first[t].at(n, i) / static_cast<double>(turns);
          pooled.at(n, units + i) += second[t].at(n, i) / static_cast<double>(turns);
        }
    outputShape = {batch, classes};
    expected = (pooled * dense + denseOffset).values;
  }
};

} // namespace wsc::test
