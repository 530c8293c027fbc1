// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The less common operators by their definitions: special functions against the standard library, inverses against what
// they invert, gradients against differences, the others by small examples that are written out.
#include "test/unit/import/TfFixture.h"
#include <cmath>
#include <functional>
#include <numeric>

namespace {

using namespace wsc::test;
using namespace wsc::tf;
using Shape = std::vector<int64_t>;
using Values = std::vector<double>;

class TfFurther : public TfTest {
protected:
  TfBuilder b;
  /// Results of one operator `y`, fed with x and constants of the builder.
  std::vector<Array> results(const std::string &op, const std::vector<Array> &inputs,
                             const std::vector<TfAttr> &attributes = {}, std::vector<std::string> constants = {},
                             std::vector<std::string> wanted = {"y"}) {
    std::vector<std::string> names;
    for (size_t i = 0; i < inputs.size(); ++i)
      names.push_back(b.input("x" + std::to_string(i), inputs[i].shape));
    names.insert(names.end(), constants.begin(), constants.end());
    b.node(op, "y", names, attributes);
    std::vector<Array> found = run(b, inputs, outputs(wanted));
    found.resize(wanted.size());
    b = TfBuilder();
    return found;
  }
  Array result(const std::string &op, const std::vector<Array> &inputs, const std::vector<TfAttr> &attributes = {},
               std::vector<std::string> constants = {}) {
    return results(op, inputs, attributes, std::move(constants))[0];
  }
  std::string table(const std::string &name, const Shape &extents, const std::vector<int32_t> &values) {
    b.add(tfInts(name, extents, values));
    return name;
  }
  void expectFunction(const std::string &op, const Values &at, const std::function<double(double)> &function,
                      double tolerance = 2e-6) {
    SCOPED_TRACE(op);
    const Shape shape{static_cast<int64_t>(at.size())};
    Values expected;
    for (double x : at)
      expected.push_back(function(static_cast<float>(x)));
    expectNear(result(op, {{shape, at}}), shape, expected, tolerance);
  }
  static Array counting(const Shape &shape) {
    Array array{shape, Values(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()))};
    for (size_t i = 0; i < array.values.size(); ++i)
      array.values[i] = std::sin(0.7 * static_cast<double>(i) + 0.3) * 2;
    return array;
  }
};

TEST_F(TfFurther, SpecialFunctions) {
  expectFunction("Lgamma", {0.1, 0.5, 1.5, 3, 10, 100, -0.5, -1.5, -2.25}, [](double x) { return std::lgamma(x); });
  auto digamma = [](double x) { // its series from a great argument on
    double sum = 0;
    for (; x < 20; ++x)
      sum -= 1 / x;
    return sum + std::log(x) - 1 / (2 * x) - 1 / (12 * x * x) + 1 / (120 * x * x * x * x);
  };
  expectFunction("Digamma", {0.25, 1, 2.5, 7, 40, -0.5, -3.25}, digamma);
  expectFunction("BesselI0e", {0, 0.5, -2, 3.7, 3.8, 20},
                 [](double x) { return std::cyl_bessel_i(0, std::abs(x)) * std::exp(-std::abs(x)); });
  expectFunction("BesselI1e", {0, 0.5, -2, 3.7, 3.8, 20},
                 [](double x) { return std::copysign(std::cyl_bessel_i(1, std::abs(x)) * std::exp(-std::abs(x)), x); });
  for (double p : {0.0001, 0.02, 0.3, 0.5, 0.9, 0.999}) { // inverses
    const float given = static_cast<float>(p);
    const double erfinv = result("Erfinv", {{{1}, {given}}}).values.at(0);
    EXPECT_NEAR(std::erf(erfinv), given, 1e-6);
    const double quantile = result("Ndtri", {{{1}, {given}}}).values.at(0);
    EXPECT_NEAR(std::erfc(-quantile / std::sqrt(2)) / 2, given, 2e-6 * std::max<double>(given, 0.01));
  }
  EXPECT_EQ(result("Erfinv", {{{2}, {1, -1}}}).values, (Values{INFINITY, -INFINITY}));
  expectNear(result("Zeta", {{{3}, {2, 4, 1.5}}, {{3}, {1, 1, 2}}}), {3},
             {std::riemann_zeta(2), std::riemann_zeta(4), std::riemann_zeta(1.5) - 1});
  expectNear(result("Polygamma", {{{3}, {0, 1, 2}}, {{3}, {2.5, 1, 1}}}), {3},
             {digamma(2.5), std::riemann_zeta(2), -2 * std::riemann_zeta(3)});
  expectNear(result("Xlog1py", {{{2}, {0, 2}}, {{2}, {-1, 3}}}), {2}, {0, 2 * std::log(4)});
  expectNear(result("ApproximateEqual", {{{2}, {1, 1}}, {{2}, {1.05, 1.2}}}, {TfAttr::f("tolerance", 0.1f)}), {2},
             {1, 0});
  const Array next = result("NextAfter", {{{4}, {1, 1, 0, -2}}, {{4}, {2, 0, 1, -2}}});
  EXPECT_EQ(next.values, (Values{std::nextafter(1.f, 2.f), std::nextafter(1.f, 0.f), std::nextafter(0.f, 1.f), -2}));
}

TEST_F(TfFurther, Bits) {
  b.node("PopulationCount", "y", {b.ints("c", {0, 1, 7, -1})});
  expectNear(run(b, {}, outputs({"y"})).at(0), {4}, {0, 1, 3, 32});
}

TEST_F(TfFurther, Colors) {
  const Array rgb{{5, 3}, {1, 0, 0, 0, 0.5, 0, 0.2, 0.2, 0.2, 0.1, 0.4, 0.7, 0, 0, 0}};
  const Array hsv = result("RGBToHSV", {rgb});
  expectNear(hsv, {5, 3}, {0, 1, 1, 1.0 / 3, 1, 0.5, 0, 0, 0.2, 7.0 / 12, 6.0 / 7, 0.7, 0, 0, 0});
  expectNear(result("HSVToRGB", {hsv}), {5, 3}, rgb.values);
  const Array image{{1, 1, 2, 3}, {1, 0, 0, 0.1, 0.4, 0.7}};
  expectNear(result("AdjustHue", {image, {{}, {1.0 / 3}}}), image.shape, {0, 1, 0, 0.7, 0.1, 0.4});
  expectNear(result("AdjustSaturation", {image, {{}, {0.5}}}), image.shape, {1, 0.5, 0.5, 0.4, 0.55, 0.7});
  expectNear(result("AdjustContrastv2", {image, {{}, {2}}}), image.shape, {1.45, -0.2, -0.35, -0.35, 0.6, 1.05});
}

TEST_F(TfFurther, RoundingToFewBits) {
  // [-1, 1.55] in 8 bits: steps of 0.01, 0 being the hundredth number.
  const double step = 0.01;
  const Array x{{2, 2}, {0.5, -3, 0.003, 3}};
  auto rounded = [&](double v) { return std::floor((std::clamp(v, -1.0, 1.55)) / step + 0.5) * step; };
  Values expected;
  for (double v : x.values)
    expected.push_back(rounded(v));
  const std::vector<std::string> ends{b.number("low", -1), b.number("high", 1.55f)};
  expectNear(result("FakeQuantWithMinMaxVars", {x}, {}, ends), x.shape, expected, 1e-5);
  const std::vector<std::string> channels{b.floats("low", {2}, {-1, -1}), b.floats("high", {2}, {1.55f, 1.55f})};
  expectNear(result("FakeQuantWithMinMaxVarsPerChannel", {x}, {}, channels), x.shape, expected, 1e-5);
  const Array g{{2, 2}, {1, 2, 3, 4}};
  const std::vector<std::string> same{b.number("low", -1), b.number("high", 1.55f)};
  std::vector<Array> grads = results("FakeQuantWithMinMaxVarsGradient", {g, x}, {}, same, {"y", "y:1", "y:2"});
  expectNear(grads[0], {2, 2}, {1, 0, 3, 0});
  expectNear(grads[1], {}, {2});
  expectNear(grads[2], {}, {4});
  const std::vector<std::string> again{b.floats("low", {2}, {-1, -1}), b.floats("high", {2}, {1.55f, 1.55f})};
  grads = results("FakeQuantWithMinMaxVarsPerChannelGradient", {g, x}, {}, again, {"y", "y:1", "y:2"});
  expectNear(grads[1], {2}, {0, 2});
  expectNear(grads[2], {2}, {0, 4});
  expectNear(result("FakeQuantWithMinMaxArgsGradient", {g, x}, {TfAttr::f("min", -1), TfAttr::f("max", 1.55f)}), {2, 2},
             {1, 0, 3, 0});
  // Signed, 4 bits, range of the tensor: -8 … 7; the greatest element, 3.5, decides: steps of 0.5.
  const std::vector<std::string> unused{b.number("low", 0), b.number("high", 0)};
  expectNear(result("QuantizeAndDequantizeV2", {{{4}, {3.5, -1.3, 0.25, 0.8}}}, {TfAttr::i("num_bits", 4)}, unused),
             {4}, {3.5, -1.5, 0, 1});
  expectNear(result("QuantizeAndDequantize", {{{2}, {-9, 0.6}}},
                    {TfAttr::b("range_given", true), TfAttr::f("input_min", -4), TfAttr::f("input_max", 1),
                     TfAttr::i("num_bits", 3)}),
             {2}, {-4, 1});
  const std::vector<std::string> given{b.number("low", -4), b.number("high", 1), b.integer("bits", 3)};
  expectNear(result("QuantizeAndDequantizeV3", {{{3}, {-9, 0.6, 9}}}, {TfAttr::b("range_given", true)}, given), {3},
             {-4, 1, 3});
}

TEST_F(TfFurther, Diagonals) {
  const Array m{{3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6}};
  // TensorFlow's examples: superdiagonals right, subdiagonals left, padded with 9.
  const std::vector<std::string> band{b.ints("k", {-1, 2}), b.number("padding", 9)};
  expectNear(result("MatrixDiagPartV3", {m}, {}, band), {4, 3}, {9, 3, 8, 2, 7, 6, 1, 6, 7, 5, 8, 9});
  const std::vector<std::string> left{b.ints("k", {-1, 2}), b.number("padding", 9)};
  expectNear(result("MatrixDiagPartV2", {m}, {}, left), {4, 3}, {3, 8, 9, 2, 7, 6, 1, 6, 7, 5, 8, 9});
  const std::vector<std::string> one{b.integer("k", 1), b.integer("rows", -1), b.integer("columns", -1),
                                     b.number("padding", 0)};
  expectNear(result("MatrixDiagV3", {{{2}, {1, 2}}}, {}, one), {3, 3}, {0, 1, 0, 0, 0, 2, 0, 0, 0});
  const std::vector<std::string> several{b.ints("k", {-1, 0}), b.integer("rows", 3), b.integer("columns", 3),
                                         b.number("padding", 9)};
  expectNear(result("MatrixDiagV3", {{{2, 3}, {1, 2, 3, 4, 5, 0}}}, {}, several), {3, 3}, {1, 9, 9, 4, 2, 9, 9, 5, 3});
  const std::vector<std::string> upper{b.integer("k", 1)};
  expectNear(result("MatrixSetDiagV3", {{{2, 3}, {1, 2, 3, 4, 5, 6}}, {{2}, {7, 8}}}, {}, upper), {2, 3},
             {1, 7, 3, 4, 5, 8});
  expectNear(result("MatrixSetDiag", {{{2, 2}, {1, 2, 3, 4}}, {{2}, {7, 8}}}), {2, 2}, {7, 2, 3, 8});
  const Array tensor = result("Diag", {{{2, 2}, {1, 2, 3, 4}}});
  EXPECT_EQ(tensor.shape, (Shape{2, 2, 2, 2}));
  expectNear(result("DiagPart", {tensor}), {2, 2}, {1, 2, 3, 4});
}

TEST_F(TfFurther, LinearEquations) {
  const Array a{{3, 3}, {0, 2, 1, 4, 1, -1, 2, 3, 5}}; // its first pivot is 0
  const Array b2{{3, 2}, {1, 2, 3, 4, 5, 6}};
  auto times = [](const Array &p, const Array &q) {
    const int64_t n = p.shape[0], k = p.shape[1], m = q.shape[1];
    Values product(n * m, 0);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < m; ++j)
        for (int64_t l = 0; l < k; ++l)
          product[i * m + j] += p.values[i * k + l] * q.values[l * m + j];
    return Array{{n, m}, product};
  };
  expectNear(times(a, result("MatrixInverse", {a})), {3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  expectNear(times(a, result("MatrixSolve", {a, b2})), {3, 2}, b2.values);
  expectNear(result("MatrixDeterminant", {a}), {}, {-34});
  const Array lower{{3, 3}, {2, 0, 0, 1, 3, 0, -1, 2, 4}}, upper{{3, 3}, {2, 1, -1, 0, 3, 2, 0, 0, 4}};
  expectNear(times(lower, result("MatrixTriangularSolve", {lower, b2})), {3, 2}, b2.values);
  expectNear(times(upper, result("MatrixTriangularSolve", {upper, b2}, {TfAttr::b("lower", false)})), {3, 2},
             b2.values);
  expectNear(times(upper, result("MatrixTriangularSolve", {lower, b2}, {TfAttr::b("adjoint", true)})), {3, 2},
             b2.values);
  expectNear(result("Cholesky", {times(lower, upper)}), {3, 3}, lower.values);
  // Diagonals above, on and below the main one of [[4, 1, 0], [2, 5, 3], [0, 1, 6]].
  const Array three{{3, 3}, {1, 3, 0, 4, 5, 6, 0, 2, 1}}, matrix{{3, 3}, {4, 1, 0, 2, 5, 3, 0, 1, 6}};
  expectNear(times(matrix, result("TridiagonalSolve", {three, b2})), {3, 2}, b2.values);
  expectNear(result("TridiagonalMatMul", {{{1, 3}, {1, 3, 0}}, {{1, 3}, {4, 5, 6}}, {{1, 3}, {0, 2, 1}}, b2}), {3, 2},
             times(matrix, b2).values);
}

TEST_F(TfFurther, SearchAndCounts) {
  const Array sorted{{1, 4}, {1, 3, 3, 7}}, values{{1, 4}, {0, 3, 5, 9}};
  expectNear(result("LowerBound", {sorted, values}), {1, 4}, {0, 1, 3, 4});
  expectNear(result("UpperBound", {sorted, values}), {1, 4}, {0, 3, 3, 4});
  TfAttr boundaries{"boundaries", {}};
  boundaries.value.mutable_list()->add_f(0);
  boundaries.value.mutable_list()->add_f(10);
  expectNear(result("Bucketize", {{{4}, {-5, 0, 9, 10}}}, {boundaries}), {4}, {0, 1, 1, 2});
  const Array weights{{4}, {1, 2, 4, 8}};
  b.node("Bincount", "y", {b.ints("numbers", {2, 0, 2, 9}), b.integer("size", 3), b.input("w", {4})});
  expectNear(run(b, {weights}, outputs({"y"})).at(0), {3}, {2, 0, 5});
  b = TfBuilder();
  b.node("DenseBincount", "y",
         {table("numbers", {2, 2}, {1, 1, 0, 2}), b.integer("size", 3), b.floats("none", {0}, {})},
         {TfAttr::b("binary_output", true)});
  expectNear(run(b, {}, outputs({"y"})).at(0), {2, 3}, {0, 1, 0, 1, 0, 1});
  b = TfBuilder();
  b.node("SparseToDense", "y",
         {table("places", {2, 2}, {0, 1, 1, 0}), b.ints("shape", {2, 2}), b.input("v", {2}), b.number("else", -1)});
  expectNear(run(b, {{{2}, {5, 6}}}, outputs({"y"})).at(0), {2, 2}, {-1, 5, 6, -1});
  b = TfBuilder();
  const std::vector<Array> least =
      results("ApproxTopK", {{{4}, {3, 1, 2, 9}}}, {TfAttr::i("k", 2), TfAttr::b("is_max_k", false)}, {}, {"y", "y:1"});
  expectNear(least[0], {2}, {1, 2});
  expectNear(least[1], {2}, {1, 2});
  expectNear(result("KthOrderStatistic", {{{2, 3}, {3, 1, 2, 9, 7, 8}}}, {TfAttr::i("k", 2)}), {2}, {2, 8});
  const std::vector<std::string> axis{b.integer("axis", 0)};
  expectNear(result("CumulativeLogsumexp", {{{3}, {0, 100, 1}}}, {}, axis), {3}, {0, 100, 100});
  const std::vector<std::string> ids{b.ints("ids", {0, 0, 2})};
  expectNear(result("SegmentMean", {{{3, 2}, {1, 2, 3, 4, 5, 6}}}, {}, ids), {3, 2}, {2, 3, 0, 0, 5, 6});
  b.node("Where", "y", {table("c", {2, 2}, {0, 3, 1, 0})});
  expectNear(run(b, {}, outputs({"y"})).at(0), {2, 2}, {0, 1, 1, 0});
  b = TfBuilder();
  b.node("Unique", "y", {b.ints("c", {4, 1, 4, 2})});
  const std::vector<Array> unique = run(b, {}, outputs({"y", "y:1"}));
  expectNear(unique.at(0), {3}, {4, 1, 2});
  expectNear(unique[1], {4}, {0, 1, 0, 2});
  b = TfBuilder();
  b.node("ListDiff", "y", {b.ints("c", {1, 2, 3, 4}), b.ints("d", {1, 3})});
  expectNear(run(b, {}, outputs({"y"})).at(0), {2}, {2, 4});
  b = TfBuilder();
  const std::vector<std::string> parts{b.ints("parts", {1, 0, 1})};
  const std::vector<Array> partitioned =
      results("DynamicPartition", {{{3}, {1, 2, 3}}}, {TfAttr::i("num_partitions", 2)}, parts, {"y", "y:1"});
  expectNear(partitioned[0], {1}, {2});
  expectNear(partitioned[1], {2}, {1, 3});
}

TEST_F(TfFurther, Movement) {
  // The gradient of a mirrored pad is its transposed map: <pad(x), g> = <x, grad(g)>.
  for (const char *mode : {"REFLECT", "SYMMETRIC"}) {
    const Array x = counting({4, 3}), g = counting({7, 5});
    const std::vector<std::string> pads{table("pads", {2, 2}, {2, 1, 1, 1})};
    const Array padded = result("MirrorPad", {x}, {TfAttr::s("mode", mode)}, pads);
    const std::vector<std::string> same{table("pads", {2, 2}, {2, 1, 1, 1})};
    const Array back = result("MirrorPadGrad", {g}, {TfAttr::s("mode", mode)}, same);
    EXPECT_EQ(back.shape, x.shape);
    EXPECT_NEAR(std::inner_product(padded.values.begin(), padded.values.end(), g.values.begin(), 0.0),
                std::inner_product(back.values.begin(), back.values.end(), x.values.begin(), 0.0), 1e-5);
  }
  const std::vector<std::string> rows{b.ints("at", {2, 0}), b.floats("v", {2, 1}, {7, 8})};
  expectNear(result("InplaceUpdate", {{{3, 1}, {1, 2, 3}}}, {}, rows), {3, 1}, {8, 2, 7});
  const std::vector<std::string> added{b.ints("at", {2, 0}), b.floats("v", {2, 1}, {7, 8})};
  expectNear(result("InplaceAdd", {{{3, 1}, {1, 2, 3}}}, {}, added), {3, 1}, {9, 2, 10});
  expectNear(result("Cross", {{{3}, {1, 2, 3}}, {{3}, {4, 5, 6}}}), {3}, {-3, 6, -3});
  b.node("ConcatOffset", "y", {b.integer("axis", 1), b.ints("s0", {2, 3}), b.ints("s1", {2, 5})});
  const std::vector<Array> offsets = run(b, {}, outputs({"y", "y:1"}));
  expectNear(offsets.at(1), {2}, {0, 3});
  b = TfBuilder();
  b.node("DataFormatDimMap", "y", {b.ints("axes", {0, 1, 2, -1})});
  expectNear(run(b, {}, outputs({"y"})).at(0), {4}, {0, 2, 3, 1});
  b = TfBuilder();
  b.node("DataFormatVecPermute", "y", {b.ints("v", {1, 2, 3, 4})});
  expectNear(run(b, {}, outputs({"y"})).at(0), {4}, {1, 4, 2, 3});
}

TEST_F(TfFurther, Sampling) {
  // A cubic through a line is the line, away from the border.
  Array line{{1, 1, 8, 1}, {0, 1, 2, 3, 4, 5, 6, 7}};
  std::vector<std::string> size{b.ints("size", {1, 16})};
  const Array wide = result("ResizeBicubic", {line}, {TfAttr::b("half_pixel_centers", true)}, size);
  for (int i = 4; i < 12; ++i)
    EXPECT_NEAR(wide.values.at(i), (i + 0.5) / 2 - 0.5, 1e-5);
  size = {b.ints("size", {1, 3})};
  expectNear(result("ResizeArea", {line}, {}, size), {1, 1, 3, 1}, {0.875, 3.5, 6.125});
  // Gradients are the transposed maps: <resize(x), g> = <x, grad(g)>.
  const Array x = counting({1, 3, 4, 2}), g = counting({1, 5, 7, 2});
  auto dot = [](const Array &p, const Array &q) {
    return std::inner_product(p.values.begin(), p.values.end(), q.values.begin(), 0.0);
  };
  for (bool halfPixels : {false, true}) {
    const TfAttr attribute = TfAttr::b("half_pixel_centers", halfPixels);
    size = {b.ints("size", {5, 7})};
    const Array linear = result("ResizeBilinear", {x}, {attribute}, size);
    EXPECT_NEAR(dot(linear, g), dot(x, result("ResizeBilinearGrad", {g, x}, {attribute})), 1e-4);
    size = {b.ints("size", {5, 7})};
    const Array nearest = result("ResizeNearestNeighbor", {x}, {attribute}, size);
    size = {b.ints("size", {3, 4})};
    EXPECT_NEAR(dot(nearest, g), dot(x, result("ResizeNearestNeighborGrad", {g}, {attribute}, size)), 1e-4);
  }
  // The whole image at its own size, and a box that reaches beyond it.
  const Array image = counting({2, 3, 3, 1});
  const std::vector<std::string> boxes{b.floats("boxes", {2, 4}, {0, 0, 1, 1, 0, 0, 0.5, 1.5}), b.ints("image", {1, 0}),
                                       b.ints("size", {3, 3})};
  const Array crops = result("CropAndResize", {image}, {TfAttr::f("extrapolation_value", 9)}, boxes);
  ASSERT_EQ(crops.shape, (Shape{2, 3, 3, 1}));
  for (size_t i = 0; i < 9; ++i)
    EXPECT_NEAR(crops.values[i], image.values[9 + i], 1e-5);
  EXPECT_NEAR(crops.values[9 + 1], (image.values[1] + image.values[2]) / 2, 1e-5);
  EXPECT_NEAR(crops.values[9 + 2], 9, 1e-6);
}

TEST_F(TfFurther, Windows) {
  const Array image{{1, 2, 3, 1}, {1, 5, 2, 4, 3, 6}};
  const std::vector<TfAttr> window{TfAttr::ints("ksize", {1, 2, 2, 1}), TfAttr::ints("strides", {1, 1, 1, 1}),
                                   TfAttr::s("padding", "VALID")};
  const std::vector<Array> pooled = results("MaxPoolWithArgmax", {image}, window, {}, {"y", "y:1"});
  expectNear(pooled[0], {1, 1, 2, 1}, {5, 6});
  expectNear(pooled[1], {1, 1, 2, 1}, {1, 5});
  expectNear(result("Dilation2D", {image, {{2, 2, 1}, {0, 0, 0, 4}}},
                    {TfAttr::ints("rates", {1, 1, 1, 1}), TfAttr::ints("strides", {1, 1, 1, 1}),
                     TfAttr::s("padding", "VALID")}),
             {1, 1, 2, 1}, {7, 10});
  const Array dy{{1, 1, 2, 1}, {10, 20}};
  const std::vector<std::string> sizes{b.ints("ksize", {1, 2, 2, 1}), b.ints("strides", {1, 1, 1, 1})};
  expectNear(result("MaxPoolGradV2", {image, pooled[0], dy}, {TfAttr::s("padding", "VALID")}, sizes), {1, 2, 3, 1},
             {0, 10, 0, 0, 0, 20});
  expectNear(result("MaxPoolGradGrad", {image, pooled[0], {{1, 2, 3, 1}, {1, 2, 3, 4, 5, 6}}}, window), {1, 1, 2, 1},
             {2, 6});
  // The gradient of local response normalisation against differences.
  const std::vector<TfAttr> response{TfAttr::i("depth_radius", 1), TfAttr::f("alpha", 0.5f), TfAttr::f("beta", 0.75f)};
  const Array x = counting({1, 1, 1, 4}), g = counting({1, 1, 1, 4});
  const Array y = result("LRN", {x}, response), dx = result("LRNGrad", {g, x, y}, response);
  for (size_t i = 0; i < 4; ++i) {
    Array above = x, below = x;
    above.values[i] += 1e-2;
    below.values[i] -= 1e-2;
    const Array up = result("LRN", {above}, response), down = result("LRN", {below}, response);
    double slope = 0;
    for (size_t k = 0; k < 4; ++k)
      slope += g.values[k] * (up.values[k] - down.values[k]) / 2e-2;
    EXPECT_NEAR(dx.values.at(i), slope, 1e-3);
  }
}

TEST_F(TfFurther, FusedLayers) {
  TfAttr followers{"fused_ops", {}};
  followers.value.mutable_list()->add_s("BiasAdd");
  followers.value.mutable_list()->add_s("Relu");
  expectNear(result("_FusedMatMul", {{{1, 2}, {1, 2}}, {{2, 2}, {1, -1, 1, -1}}, {{2}, {1, 1}}},
                    {followers, TfAttr::i("num_args", 1)}),
             {1, 2}, {4, 0});
  const std::vector<TfAttr> conv{followers, TfAttr::i("num_args", 1), TfAttr::ints("strides", {1, 1, 1, 1}),
                                 TfAttr::s("padding", "VALID"), TfAttr::s("data_format", "NHWC")};
  expectNear(result("_FusedConv2D", {{{1, 1, 2, 1}, {1, -3}}, {{1, 1, 1, 1}, {2}}, {{1}, {1}}}, conv), {1, 1, 2, 1},
             {3, 0});
  TfAttr names{"op_names", {}};
  names.value.mutable_list()->add_s("Square");
  names.value.mutable_list()->add_s("Neg");
  expectNear(result("_UnaryOpsComposition", {{{2}, {-2, 3}}}, {names}), {2}, {-4, -9});
  expectNear(result("Prelu", {{{2}, {-2, 3}}, {{2}, {0.25, 0.25}}}), {2}, {-0.5, 3});
}

TEST_F(TfFurther, Lists) {
  b.input("x", {5});
  b.node("TensorListSplit", "l", {"x", b.ints("shape", {-1}), b.ints("lengths", {2, 3})});
  b.node("TensorListConcatV2", "y", {"l", "shape", b.ints("none", {})});
  const std::vector<Array> joined = run(b, {{{5}, {1, 2, 3, 4, 5}}}, outputs({"y", "y:1"}));
  expectNear(joined.at(0), {5}, {1, 2, 3, 4, 5});
  expectNear(joined[1], {2}, {2, 3});
  b = TfBuilder();
  b.input("x", {2, 1});
  b.node("TensorListScatterV2", "l", {"x", b.ints("at", {2, 0}), b.ints("shape", {1}), b.integer("count", 3)});
  b.node("TensorListStack", "y", {"l", "shape"});
  expectNear(run(b, {{{2, 1}, {5, 6}}}, outputs({"y"})).at(0), {3, 1}, {6, 0, 5});
}

} // namespace
