// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators by their definition: windows, layouts and gradients with random shapes against loops that follow
// TensorFlow's documentation, the others by hand. WSC_SEED sets the first seed.
#include "test/unit/import/TfFixture.h"
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>

namespace {

using namespace wsc::test;
using namespace wsc::tf;
using Shape = std::vector<int64_t>;
using Values = std::vector<double>;

int64_t count(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

class TfOperators : public TfTest {
protected:
  /// One operator on inputs in0, in1 …, its first result.
  Values apply(const std::string &op, const std::vector<Array> &inputs, const std::vector<TfAttr> &attributes = {},
               const std::vector<std::pair<size_t, std::vector<int32_t>>> &constants = {}) {
    TfBuilder b;
    std::vector<std::string> names;
    size_t next = 0;
    for (size_t i = 0; next < inputs.size() || i < inputs.size() + constants.size(); ++i) {
      auto constant = std::find_if(constants.begin(), constants.end(), [&](const auto &c) { return c.first == i; });
      if (constant != constants.end())
        names.push_back(b.ints("c" + std::to_string(i), constant->second));
      else if (next < inputs.size())
        names.push_back(b.input("in" + std::to_string(next), inputs[next].shape)), ++next;
      else
        break;
    }
    b.node(op, "y", names, attributes);
    std::vector<Array> results = run(b, inputs, outputs({"y"}));
    if (results.empty())
      return {};
    shape = results[0].shape;
    return results[0].values;
  }
  Shape shape; ///< of the last result
};

/// Place in the input of tap k of output o, and the padding in front: TensorFlow's SAME and VALID.
struct Axis {
  int64_t input, kernel, stride, dilation = 1, output = 0, before = 0;
  Axis(int64_t input, int64_t kernel, int64_t stride, int64_t dilation, bool same)
      : input(input), kernel(kernel), stride(stride), dilation(dilation) {
    const int64_t span = (kernel - 1) * dilation + 1;
    output = same ? (input + stride - 1) / stride : (input - span + stride) / stride;
    before = same ? std::max<int64_t>((output - 1) * stride + span - input, 0) / 2 : 0;
  }
  int64_t at(int64_t o, int64_t k) const { return o * stride + k * dilation - before; }
  bool inside(int64_t i) const { return i >= 0 && i < input; }
};

/// Visits (output place, input place, tap) of a window over [N, H, W, C].
template <typename Visit> void eachTap(const Axis &h, const Axis &w, Visit visit) {
  for (int64_t oy = 0; oy < h.output; ++oy)
    for (int64_t ox = 0; ox < w.output; ++ox)
      for (int64_t ky = 0; ky < h.kernel; ++ky)
        for (int64_t kx = 0; kx < w.kernel; ++kx)
          if (h.inside(h.at(oy, ky)) && w.inside(w.at(ox, kx)))
            visit(oy, ox, h.at(oy, ky), w.at(ox, kx), ky, kx);
}

TEST_F(TfOperators, ConvolutionsAndTheirGradients) {
  forSeeds(30, [&] {
    const bool same = between(0, 1), depthwise = between(0, 1);
    const int64_t n = between(1, 2), c = between(1, 3), m = between(1, 3), stride = between(1, 3);
    const int64_t dilation = stride == 1 ? between(1, 2) : 1;
    Axis h(between(5, 8), between(1, 3), stride, dilation, same),
        w(between(5, 8), between(1, 3), stride, dilation, same);
    const int64_t out = depthwise ? c * m : m;
    Array x = numbers({n, h.input, w.input, c}), f = numbers({h.kernel, w.kernel, c, m}),
          dy = numbers({n, h.output, w.output, out});
    Values y(count(dy.shape)), dx(count(x.shape)), df(count(f.shape));
    eachTap(h, w, [&](int64_t oy, int64_t ox, int64_t iy, int64_t ix, int64_t ky, int64_t kx) {
      for (int64_t image = 0; image < n; ++image)
        for (int64_t i = 0; i < c; ++i)
          for (int64_t k = 0; k < m; ++k) {
            const int64_t from = ((image * h.input + iy) * w.input + ix) * c + i,
                          tap = ((ky * w.kernel + kx) * c + i) * m + k,
                          to = ((image * h.output + oy) * w.output + ox) * out + (depthwise ? i * m + k : k);
            y[to] += x.values[from] * f.values[tap];
            dx[from] += dy.values[to] * f.values[tap];
            df[tap] += dy.values[to] * x.values[from];
          }
    });
    const std::vector<TfAttr> attributes{TfAttr::s("padding", same ? "SAME" : "VALID"),
                                         TfAttr::ints("strides", {1, stride, stride, 1}),
                                         TfAttr::ints("dilations", {1, dilation, dilation, 1})};
    const std::string op = depthwise ? "DepthwiseConv2dNative" : "Conv2D";
    auto sizes = [](const Array &array) { return std::vector<int32_t>(array.shape.begin(), array.shape.end()); };
    EXPECT_EQ(apply(op, {x, f}, attributes), y);
    EXPECT_EQ(shape, dy.shape);
    EXPECT_EQ(apply(op + "BackpropInput", {f, dy}, attributes, {{0, sizes(x)}}), dx);
    EXPECT_EQ(apply(op + "BackpropFilter", {x, dy}, attributes, {{1, sizes(f)}}), df);
  });
}

TEST_F(TfOperators, PoolsAndTheirGradients) {
  forSeeds(30, [&] {
    const bool same = between(0, 1);
    const int64_t n = between(1, 2), c = between(1, 3), stride = between(1, 3);
    Axis h(between(4, 7), between(1, 3), stride, 1, same), w(between(4, 7), between(1, 3), stride, 1, same);
    Array x = numbers({n, h.input, w.input, c}), dy = numbers({n, h.output, w.output, c});
    const size_t places = static_cast<size_t>(count(dy.shape));
    Values most(places, -1e9), sum(places), taps(places), dMax(count(x.shape)), dAvg(count(x.shape));
    std::vector<int64_t> best(places, -1);
    auto each = [&](auto visit) {
      eachTap(h, w, [&](int64_t oy, int64_t ox, int64_t iy, int64_t ix, int64_t, int64_t) {
        for (int64_t image = 0; image < n; ++image)
          for (int64_t i = 0; i < c; ++i)
            visit(((image * h.output + oy) * w.output + ox) * c + i, ((image * h.input + iy) * w.input + ix) * c + i);
      });
    };
    each([&](int64_t to, int64_t from) {
      if (x.values[from] > most[to])
        most[to] = x.values[from], best[to] = from;
      sum[to] += x.values[from];
      taps[to] += 1;
    });
    for (size_t i = 0; i < places; ++i)
      dMax[best[i]] += dy.values[i];
    each([&](int64_t to, int64_t from) { dAvg[from] += dy.values[to] / taps[to]; });
    const std::vector<TfAttr> attributes{TfAttr::s("padding", same ? "SAME" : "VALID"),
                                         TfAttr::ints("ksize", {1, h.kernel, w.kernel, 1}),
                                         TfAttr::ints("strides", {1, stride, stride, 1})};
    EXPECT_EQ(apply("MaxPool", {x}, attributes), most);
    EXPECT_EQ(apply("MaxPoolGrad", {x, {dy.shape, most}, dy}, attributes), dMax);
    Values average = apply("AvgPool", {x}, attributes);
    for (size_t i = 0; i < places; ++i)
      ASSERT_NEAR(average.at(i), sum[i] / taps[i], 1e-6);
    Values found = apply("AvgPoolGrad", {dy}, attributes, {{0, {x.shape.begin(), x.shape.end()}}});
    for (size_t i = 0; i < dAvg.size(); ++i)
      ASSERT_NEAR(found.at(i), dAvg[i], 1e-5);
  });
}

TEST_F(TfOperators, ChannelsFirst) {
  Array x = numbers({1, 2, 4, 4}), f = numbers({1, 1, 2, 3});
  Values y =
      apply("Conv2D", {x, f},
            {TfAttr::s("padding", "VALID"), TfAttr::s("data_format", "NCHW"), TfAttr::ints("strides", {1, 1, 2, 2})});
  EXPECT_EQ(shape, (Shape{1, 3, 2, 2}));
  EXPECT_EQ(y.at(0), x.values[0] * f.values[0] + x.values[16] * f.values[3]);
  apply("MaxPool", {x},
        {TfAttr::s("padding", "SAME"), TfAttr::s("data_format", "NCHW"), TfAttr::ints("ksize", {1, 1, 3, 3}),
         TfAttr::ints("strides", {1, 1, 3, 3})});
  EXPECT_EQ(shape, (Shape{1, 2, 2, 2}));
  Values biased = apply("BiasAdd", {x, {{2}, {100, 200}}}, {TfAttr::s("data_format", "NCHW")});
  EXPECT_EQ(biased.at(16), x.values[16] + 200);
}

TEST_F(TfOperators, BatchNormalisationInTraining) {
  Array x = numbers({2, 3, 3, 2}), dy = numbers({2, 3, 3, 2});
  const Values scale{2, 3}, offset{1, -1};
  TfBuilder b;
  b.input("x", x.shape);
  b.input("dy", x.shape);
  b.floats("scale", {2}, {2, 3});
  b.floats("offset", {2}, {1, -1});
  b.floats("none", {0}, {});
  b.node("FusedBatchNormV3", "norm", {"x", "scale", "offset", "none", "none"}, {TfAttr::f("epsilon", 0.001f)});
  b.node("FusedBatchNormGradV3", "grad", {"dy", "x", "scale", "norm:3", "norm:4", "norm:5"},
         {TfAttr::f("epsilon", 0.001f)});
  std::vector<Array> y = run(b, {x, dy}, outputs({"norm", "norm:1", "norm:2", "grad", "grad:1", "grad:2"}));
  ASSERT_EQ(y.size(), 6u);
  for (size_t c = 0; c < 2; ++c) {
    double mean = 0, variance = 0, sumDy = 0, sumProduct = 0;
    for (size_t i = c; i < 36; i += 2)
      mean += x.values[i] / 18;
    for (size_t i = c; i < 36; i += 2)
      variance += (x.values[i] - mean) * (x.values[i] - mean) / 18;
    const double inverse = 1 / std::sqrt(variance + 0.001f);
    for (size_t i = c; i < 36; i += 2) {
      sumDy += dy.values[i];
      sumProduct += dy.values[i] * (x.values[i] - mean) * inverse;
    }
    EXPECT_NEAR(y[1].values[c], mean, 1e-5);
    EXPECT_NEAR(y[2].values[c], variance * 18 / 17, 1e-4);
    EXPECT_NEAR(y[4].values[c], sumProduct, 1e-4);
    EXPECT_NEAR(y[5].values[c], sumDy, 1e-4);
    for (size_t i = c; i < 36; i += 2) {
      const double normal = (x.values[i] - mean) * inverse;
      EXPECT_NEAR(y[0].values[i], normal * scale[c] + offset[c], 1e-4);
      EXPECT_NEAR(y[3].values[i], scale[c] * inverse * (dy.values[i] - sumDy / 18 - normal * sumProduct / 18), 1e-4);
    }
  }
}

TEST_F(TfOperators, StridedSlicesAndTheirGradient) {
  Array x = numbers({4, 5, 6});
  // x[1:, ::-2, newaxis, 3]
  const std::vector<TfAttr> masks{TfAttr::i("begin_mask", 2), TfAttr::i("end_mask", 3), TfAttr::i("new_axis_mask", 4),
                                  TfAttr::i("shrink_axis_mask", 8)};
  const std::vector<std::pair<size_t, std::vector<int32_t>>> box{
      {1, {1, 0, 0, 3}}, {2, {0, 0, 0, 4}}, {3, {1, -2, 1, 1}}};
  Values y = apply("StridedSlice", {x}, masks, box);
  EXPECT_EQ(shape, (Shape{3, 3, 1}));
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t k = 0; k < 3; ++k)
      EXPECT_EQ(y.at(i * 3 + k), x.values[((i + 1) * 5 + (4 - 2 * k)) * 6 + 3]);
  Array dy = numbers({3, 3, 1});
  Values dx = apply("StridedSliceGrad", {dy}, masks,
                    {{0, {4, 5, 6}}, {1, box[0].second}, {2, box[1].second}, {3, box[2].second}});
  Values expected(4 * 5 * 6);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t k = 0; k < 3; ++k)
      expected[((i + 1) * 5 + (4 - 2 * k)) * 6 + 3] = dy.values[i * 3 + k];
  EXPECT_EQ(dx, expected);
  apply("StridedSlice", {x}, {TfAttr::i("ellipsis_mask", 1), TfAttr::i("shrink_axis_mask", 2)},
        {{1, {0, -1}}, {2, {0, 0}}, {3, {1, 1}}});
  EXPECT_EQ(shape, (Shape{4, 5}));
}

TEST_F(TfOperators, LossesOfSoftmax) {
  Array logits{{2, 3}, {1, 2, 3, 1, 1, 1}};
  TfBuilder b;
  b.input("x", {2, 3});
  b.add(tfInts("labels", {2}, {2, 0}));
  b.node("SparseSoftmaxCrossEntropyWithLogits", "loss", {"x", "labels"});
  std::vector<Array> y = run(b, {logits}, outputs({"loss", "loss:1"}));
  ASSERT_EQ(y.size(), 2u);
  const double z = std::exp(1) + std::exp(2) + std::exp(3);
  expectNear(y[0], {2}, {std::log(z) - 3, std::log(3.0)});
  expectNear(y[1], {2, 3}, {std::exp(1) / z, std::exp(2) / z, std::exp(3) / z - 1, 1.0 / 3 - 1, 1.0 / 3, 1.0 / 3});
}

TEST_F(TfOperators, ByHand) {
  EXPECT_EQ(apply("FloorDiv", {{{4}, {7, -7, 7, -7}}, {{4}, {2, 2, -2, -2}}}), (Values{3, -4, -4, 3}));
  EXPECT_EQ(apply("FloorMod", {{{4}, {7, -7, 7, -7}}, {{4}, {4, 4, -4, -4}}}), (Values{3, 1, -1, -3}));
  EXPECT_EQ(apply("DivNoNan", {{{2}, {3, 3}}, {{2}, {0, 2}}}), (Values{0, 1.5}));
  EXPECT_EQ(apply("SquaredDifference", {{{2}, {3, 1}}, {{1}, {5}}}), (Values{4, 16}));
  EXPECT_EQ(apply("LeakyRelu", {{{2}, {-10, 5}}}, {TfAttr::f("alpha", 0.5f)}), (Values{-5, 5}));
  EXPECT_EQ(apply("ReluGrad", {{{3}, {5, 6, 7}}, {{3}, {-1, 0, 1}}}), (Values{0, 0, 7}));
}

} // namespace
