// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers of random graphs: contractions, windows, normalisations, reductions, recurrence, attention.
#include "test/support/RandomGraphParts.h"
#include <algorithm>
#include <cmath>

namespace wsc::test {
namespace {

using wsc::onnx::TensorProto;

Value inexact(Value like, double bound) {
  like.exact = false;
  like.bound = bound;
  return like;
}

/// Weights of magnitudes that keep sums of `terms` products near their factors.
Value weight(GraphMaker &m, const Shape &shape, int64_t terms) {
  Value w = m.constant(shape, 2);
  return m.emit("Div", {w.name, m.number(std::max(1.0, 2 * std::sqrt(static_cast<double>(terms)))).name},
                inexact(w, 1));
}

/// A sum of `terms` products with factors below 1 of numbers below `bound`.
double sumBound(double bound, int64_t terms) { return bound * std::sqrt(static_cast<double>(terms)); }

void matmul(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 4))
    return;
  const int64_t inner = x.shape.back(), columns = m.between(1, 9);
  Value y = inexact(x, sumBound(x.bound, inner));
  y.shape.back() = columns;
  m.tamed(m.emit("MatMul", {x.name, weight(m, {inner, columns}, inner).name}, y));
}

void matmulOfTwo(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 2, 4) || GraphMaker::count(x.shape) > 500)
    return;
  x = m.tamed(x, 2);
  const auto rank = static_cast<int64_t>(x.shape.size());
  std::vector<int64_t> order;
  for (int64_t d = 0; d < rank - 2; ++d)
    order.push_back(d);
  order.insert(order.end(), {rank - 1, rank - 2});
  Value t = x;
  std::swap(t.shape[rank - 1], t.shape[rank - 2]);
  t = m.emit("Transpose", {x.name}, t, {Attribute::ints("perm", order)});
  Value y = inexact(x, x.bound * x.bound * static_cast<double>(x.shape.back()));
  y.shape.back() = x.shape[rank - 2];
  m.tamed(m.emit("MatMul", {x.name, t.name}, y));
}

void gemm(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 2, 2))
    return;
  const bool transposeA = m.chance(3), transposeB = m.chance(2);
  const int64_t inner = x.shape[transposeA ? 0 : 1], rows = x.shape[transposeA ? 1 : 0], columns = m.between(1, 9);
  Value w = weight(m, transposeB ? Shape{columns, inner} : Shape{inner, columns}, inner);
  Value y = inexact(x, sumBound(x.bound, inner) + 2);
  y.shape = {rows, columns};
  m.tamed(
      m.emit("Gemm", {x.name, w.name, m.constant({m.chance(2) ? columns : 1}, 2).name}, y,
             {Attribute::i("transA", transposeA), Attribute::i("transB", transposeB), Attribute::f("alpha", 0.5f)}));
}

/// Kernel, stride, dilation and pads of a window over the last dimensions; false where none fits.
struct Windows {
  std::vector<int64_t> kernel, strides, dilations, pads;
  Shape result;
};
bool windows(GraphMaker &m, const Value &x, Windows &w, bool dilates) {
  const size_t spatial = x.shape.size() - 2;
  std::vector<int64_t> after;
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t extent = x.shape[2 + d];
    w.kernel.push_back(m.between(1, 3));
    w.strides.push_back(m.between(1, 2));
    w.dilations.push_back(dilates ? m.between(1, 2) : 1);
    const int64_t reach = (w.kernel.back() - 1) * w.dilations.back() + 1;
    w.pads.push_back(m.between(0, w.kernel.back() - 1));
    after.push_back(m.between(0, w.kernel.back() - 1));
    const int64_t room = extent + w.pads.back() + after.back() - reach;
    if (room < 0)
      return false;
    w.result.push_back(room / w.strides.back() + 1);
  }
  w.pads.insert(w.pads.end(), after.begin(), after.end());
  return true;
}

void conv(GraphMaker &m) {
  Value x;
  Windows w;
  if (!m.pick(x, 3, 4) || !windows(m, x, w, true))
    return;
  const int64_t groups = x.shape[1] % 2 == 0 && m.chance(2) ? 2 : 1, channels = groups * m.between(1, 3);
  Shape shape{channels, x.shape[1] / groups};
  shape.insert(shape.end(), w.kernel.begin(), w.kernel.end());
  const int64_t terms = GraphMaker::count(shape) / channels;
  Value y = inexact(x, sumBound(x.bound, terms) + 1);
  y.shape = {x.shape[0], channels};
  y.shape.insert(y.shape.end(), w.result.begin(), w.result.end());
  std::vector<std::string> inputs{x.name, weight(m, shape, terms).name};
  if (m.chance(2))
    inputs.push_back(m.constant({channels}, 1).name);
  m.tamed(m.emit("Conv", inputs, y,
                 {Attribute::ints("kernel_shape", w.kernel), Attribute::ints("strides", w.strides),
                  Attribute::ints("dilations", w.dilations), Attribute::ints("pads", w.pads),
                  Attribute::i("group", groups)}));
}

void convTranspose(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 3, 4) || GraphMaker::count(x.shape) > 300)
    return;
  const int64_t channels = m.between(1, 3);
  std::vector<int64_t> kernel, strides;
  Shape shape{x.shape[1], channels};
  Value y = inexact(x, sumBound(x.bound, x.shape[1] * 9));
  y.shape = {x.shape[0], channels};
  for (size_t d = 2; d < x.shape.size(); ++d) {
    kernel.push_back(m.between(1, 3));
    strides.push_back(m.between(1, 2));
    shape.push_back(kernel.back());
    y.shape.push_back((x.shape[d] - 1) * strides.back() + kernel.back());
  }
  m.tamed(m.emit("ConvTranspose", {x.name, weight(m, shape, x.shape[1] * 4).name}, y,
                 {Attribute::ints("kernel_shape", kernel), Attribute::ints("strides", strides)}));
}

void pool(GraphMaker &m) {
  Value x;
  Windows w;
  if (!m.pick(x, 3, 4) || !windows(m, x, w, false))
    return;
  for (size_t d = 0; d < w.kernel.size(); ++d)
    if (w.pads[d] >= w.kernel[d] || w.pads[w.kernel.size() + d] >= w.kernel[d])
      return;
  Value y = x;
  y.shape.resize(2);
  y.shape.insert(y.shape.end(), w.result.begin(), w.result.end());
  std::vector<Attribute> attributes{Attribute::ints("kernel_shape", w.kernel), Attribute::ints("strides", w.strides),
                                    Attribute::ints("pads", w.pads)};
  const bool isMax = m.chance(2);
  y.exact = x.exact && isMax;
  if (!isMax)
    attributes.push_back(Attribute::i("count_include_pad", m.between(0, 1)));
  m.emit(isMax ? "MaxPool" : "AveragePool", {x.name}, y, attributes);
}

void globalPool(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 3, 4))
    return;
  const bool isMax = m.chance(2);
  Value y = x;
  y.exact = x.exact && isMax;
  std::fill(y.shape.begin() + 2, y.shape.end(), 1);
  m.emit(isMax ? "GlobalMaxPool" : "GlobalAveragePool", {x.name}, y);
}

void reduction(GraphMaker &m) {
  static constexpr const char *names[] = {"ReduceSum", "ReduceMean", "ReduceMax",       "ReduceMin",
                                          "ReduceL1",  "ReduceL2",   "ReduceLogSumExp", "ReduceSumSquare"};
  Value x;
  if (!m.pick(x, 1, 4))
    return;
  const int64_t kind = m.between(0, 7);
  if (kind >= 5)
    x = m.tamed(x, 4);
  Value y = x;
  std::vector<int64_t> axes;
  const bool keeps = m.chance(2);
  int64_t terms = 1;
  for (size_t d = x.shape.size(); d-- > 0;)
    if (m.chance(2) || (d == 0 && axes.empty())) {
      axes.push_back(m.chance(2) ? static_cast<int64_t>(d)
                                 : static_cast<int64_t>(d) - static_cast<int64_t>(x.shape.size()));
      terms *= x.shape[d];
      if (keeps)
        y.shape[d] = 1;
      else
        y.shape.erase(y.shape.begin() + static_cast<int64_t>(d));
    }
  y.exact = x.exact && (kind == 2 || kind == 3);
  y.bound = kind == 7                             ? x.bound * x.bound * static_cast<double>(terms)
            : kind == 0 || kind == 4 || kind == 5 ? x.bound * static_cast<double>(terms)
                                                  : x.bound + 6;
  m.tamed(m.emit(names[kind], {x.name, m.integers(axes)}, y, {Attribute::i("keepdims", keeps)}), 20);
}

void softmax(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 4))
    return;
  const bool isLog = m.chance(3);
  m.emit(isLog ? "LogSoftmax" : "Softmax", {m.tamed(x).name}, inexact(x, isLog ? 20 : 1),
         {Attribute::i("axis",
                       m.between(-static_cast<int64_t>(x.shape.size()), static_cast<int64_t>(x.shape.size()) - 1))});
}

void layerNorm(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 4))
    return;
  const Shape features{x.shape.back()};
  // An epsilon near the variance: rounding of nearly equal elements is not blown up.
  std::vector<Attribute> attributes{Attribute::f("epsilon", 0.1f)};
  if (m.chance(3) && x.shape.size() == 3)
    return void(
        m.emit("SkipLayerNormalization",
               {x.name, m.constant(x.shape, 1).name, m.constant(features, 1).name, m.constant(features, 1).name},
               inexact(x, 5), attributes, "com.microsoft"));
  m.emit("LayerNormalization", {x.name, m.constant(features, 1).name, m.constant(features, 1).name}, inexact(x, 5),
         attributes);
}

void channelNorm(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 3, 4))
    return;
  const Shape channels{x.shape[1]};
  Value scale = m.constant(channels, 1), bias = m.constant(channels, 1);
  if (m.chance(2))
    return void(m.emit("InstanceNormalization", {x.name, scale.name, bias.name}, inexact(x, 5),
                       {Attribute::f("epsilon", 0.1f)}));
  Value mean = m.constant(channels, 1);
  Value variance = m.emit("Abs", {m.constant(channels, 2).name}, {"", channels, TensorProto::FLOAT, 2, true});
  m.tamed(m.emit("BatchNormalization", {x.name, scale.name, bias.name, mean.name, variance.name},
                 inexact(x, x.bound * 3.2 + 5), {Attribute::f("epsilon", 0.1f)}));
}

void lrn(GraphMaker &m) {
  Value x; // images only, as ONNX Runtime has it
  if (m.pick(x, 4, 4))
    m.emit("LRN", {m.tamed(x).name}, inexact(x, x.bound), {Attribute::i("size", 3), Attribute::f("alpha", 0.5f)});
}

void recurrent(GraphMaker &m) {
  struct Cell {
    const char *name;
    int64_t gates;
  };
  static constexpr Cell cells[] = {{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}};
  Value x;
  if (!m.pick(x, 3, 3) || x.shape[0] > 6)
    return;
  x = m.tamed(x, 4);
  const Cell &cell = cells[m.between(0, 2)];
  const int64_t hidden = m.between(1, 4), inputs = x.shape[2], directions = m.chance(3) ? 2 : 1;
  Value w = weight(m, {directions, cell.gates * hidden, inputs}, inputs),
        r = weight(m, {directions, cell.gates * hidden, hidden}, hidden);
  Value y = inexact(x, 1), last = y;
  y.shape = {x.shape[0], directions, x.shape[1], hidden};
  last.shape = {directions, x.shape[1], hidden};
  std::vector<std::string> operands{x.name, w.name, r.name};
  if (m.chance(2))
    operands.push_back(m.constant({directions, 2 * cell.gates * hidden}, 1).name);
  m.emitSeveral(cell.name, operands, {y, last},
                {Attribute::i("hidden_size", hidden), Attribute::s("direction", directions == 2 ? "bidirectional"
                                                                                : m.chance(2)   ? "reverse"
                                                                                                : "forward")});
}

void einsum(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 3, 3))
    return;
  Value w = weight(m, {x.shape[2], x.shape[0]}, x.shape[2]);
  Value y = inexact(x, sumBound(x.bound, x.shape[2]));
  y.shape = {x.shape[1], x.shape[0]};
  m.tamed(m.emit("Einsum", {x.name, w.name}, y, {Attribute::s("equation", "abc,ca->ba")}));
}

/// Regions that may reach beyond the image, or cover nothing of it.
void maxRoiPool(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 4, 4))
    return;
  Value y = x;
  y.shape = {m.between(1, 3), x.shape[1], m.between(1, 3), m.between(1, 3)};
  std::vector<std::string> parts;
  for (int64_t i = 0; i < y.shape[0]; ++i) {
    const Value region = m.constant({4}, 8);
    parts.push_back(m.number(static_cast<double>(m.between(0, x.shape[0] - 1))).name);
    parts.back() = m.emit("Reshape", {parts.back(), m.integers({1})}, {"", {1}, TensorProto::FLOAT, 8, true}).name;
    parts.push_back(region.name);
  }
  const Value flat =
      m.emit("Concat", parts, {"", {5 * y.shape[0]}, TensorProto::FLOAT, 8, true}, {Attribute::i("axis", 0)});
  const Value rois =
      m.emit("Reshape", {flat.name, m.integers({y.shape[0], 5})}, {"", {y.shape[0], 5}, TensorProto::FLOAT, 8, true});
  m.emit("MaxRoiPool", {x.name, rois.name}, y,
         {Attribute::ints("pooled_shape", {y.shape[2], y.shape[3]}), Attribute::f("spatial_scale", 0.5f)});
}

/// Counts of n-grams of whole numbers.
void grams(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 2, /*exact=*/true) || x.bound > 8)
    return;
  Value whole = x;
  whole.type = TensorProto::INT64;
  whole = m.emit("Cast", {x.name}, whole, {Attribute::i("to", TensorProto::INT64)});
  std::vector<int64_t> columns{2, 0, 4, 1, 3, 5};
  std::shuffle(columns.begin(), columns.end(), m.random);
  std::vector<float> weights;
  for (size_t i = 0; i < columns.size(); ++i)
    weights.push_back(static_cast<float>(m.between(1, 16)) / 8);
  static constexpr const char *modes[] = {"TF", "IDF", "TFIDF"};
  Value y{"", x.shape, TensorProto::FLOAT, 64, true};
  y.shape.back() = static_cast<int64_t>(columns.size());
  m.emit("TfIdfVectorizer", {whole.name}, y,
         {Attribute::s("mode", modes[m.between(0, 2)]), Attribute::i("min_gram_length", m.between(1, 2)),
          Attribute::i("max_gram_length", 2), Attribute::i("max_skip_count", m.between(0, 3)),
          Attribute::ints("ngram_counts", {0, 3}), Attribute::ints("ngram_indexes", columns),
          Attribute::ints("pool_int64s", {0, 1, -2, 0, 0, 0, 1, -1, 2}), Attribute::floats("weights", weights)});
}

} // namespace

std::vector<Kind> layerKinds() {
  return {matmul,    matmulOfTwo, gemm,      conv,        conv, convTranspose, pool,   globalPool, reduction,
          reduction, softmax,     layerNorm, channelNorm, lrn,  recurrent,     einsum, maxRoiPool, grams};
}

} // namespace wsc::test
