// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resizing as products with matrices of weights, one for each axis of images [N, H, W, C]: cubic and area
// interpolation, the gradients of bilinear and nearest resizing (the transposed matrices), and crops of boxes, whose
// weights are computed from the boxes.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"
#include <algorithm>
#include <cmath>

namespace wsc::import::tf {
namespace {

constexpr int64_t mostExtent = 4096;
/// Weights of one axis.
constexpr int64_t mostWeights = int64_t{1} << 22;

/// Weights [output, input] of one axis.
struct Weights {
  int64_t output, input;
  std::vector<double> values;
  Weights(int64_t output, int64_t input)
      : output(output), input(input), values(static_cast<size_t>(output * input), 0) {}
  double &at(int64_t o, int64_t i) { return values[o * input + std::clamp<int64_t>(i, 0, input - 1)]; }
};

/// Where the output's elements lie in the input, in f32 as TensorFlow computes them.
struct Sampler {
  bool alignCorners = false, halfPixels = false;
  float scale(int64_t input, int64_t output) const {
    return alignCorners && output > 1 ? static_cast<float>(input - 1) / static_cast<float>(output - 1)
                                      : static_cast<float>(input) / static_cast<float>(output);
  }
  float place(int64_t o, float scale) const {
    return halfPixels ? (static_cast<float>(o) + 0.5f) * scale - 0.5f : static_cast<float>(o) * scale;
  }
};

Weights bilinear(const Sampler &sampler, int64_t output, int64_t input) {
  Weights weights(output, input);
  const float scale = sampler.scale(input, output);
  for (int64_t o = 0; o < output; ++o) {
    const float place = sampler.place(o, scale), below = std::floor(place), part = place - below;
    const auto lower = std::max<int64_t>(static_cast<int64_t>(below), 0);
    const int64_t upper = std::min<int64_t>(static_cast<int64_t>(std::ceil(place)), input - 1);
    weights.at(o, lower) += 1 - part;
    weights.at(o, upper) += part;
  }
  return weights;
}

Weights nearest(const Sampler &sampler, int64_t output, int64_t input) {
  Weights weights(output, input);
  const float scale = sampler.scale(input, output);
  for (int64_t o = 0; o < output; ++o) {
    const float place = (static_cast<float>(o) + (sampler.halfPixels ? 0.5f : 0.0f)) * scale;
    weights.at(o, static_cast<int64_t>(sampler.alignCorners ? std::roundf(place) : std::floor(place))) = 1;
  }
  return weights;
}

/// Keys' kernel, whose argument TensorFlow rounds to parts of 1024. With half pixels a = -0.5 and elements outside do
/// not count, else a = -0.75 and the border's element stands for them.
Weights cubic(const Sampler &sampler, int64_t output, int64_t input) {
  Weights weights(output, input);
  const float scale = sampler.scale(input, output);
  const double a = sampler.halfPixels ? -0.5 : -0.75;
  auto near = [&](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto far = [&](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  for (int64_t o = 0; o < output; ++o) {
    const float place = sampler.place(o, scale), below = std::floor(place);
    const double part = std::nearbyint((place - below) * 1024) / 1024;
    const double taps[] = {far(part + 1), near(part), near(1 - part), far(2 - part)};
    const auto first = static_cast<int64_t>(below) - 1;
    double sum = 0;
    for (int64_t k = 0; k < 4; ++k) {
      const bool counts = !sampler.halfPixels || (first + k >= 0 && first + k < input);
      weights.at(o, first + k) += counts ? taps[k] : 0;
      sum += counts ? taps[k] : 0;
    }
    for (int64_t i = 0; sampler.halfPixels && i < input; ++i)
      weights.at(o, i) /= sum;
  }
  return weights;
}

/// The mean over the part of the input that an output element covers.
Weights area(const Sampler &sampler, int64_t output, int64_t input) {
  Weights weights(output, input);
  const float scale = sampler.scale(input, output);
  for (int64_t o = 0; o < output; ++o) {
    const float from = static_cast<float>(o) * scale, to = static_cast<float>(o + 1) * scale;
    for (auto i = static_cast<int64_t>(std::floor(from)); i < static_cast<int64_t>(std::ceil(to)); ++i)
      weights.at(o, i) +=
          (std::min<float>(to, static_cast<float>(i + 1)) - std::max<float>(from, static_cast<float>(i))) / scale;
  }
  return weights;
}

/// The axis of x, which is 1 or 2, as the sum over its elements by weights; `isTransposed`: from output to input.
Expression weighted(const Expression &x, int64_t axis, const Weights &weights, bool isTransposed) {
  Expression matrix =
      constant(x.layers(), {weights.output, weights.input}, llvm::ArrayRef<double>(weights.values), x.elementType());
  Expression moved = x.transpose(axis == 1 ? llvm::ArrayRef<int64_t>{0, 2, 3, 1} : llvm::ArrayRef<int64_t>{0, 1, 3, 2});
  Expression product = matmul(moved, matrix, /*transposeRhs=*/!isTransposed);
  return product.transpose(axis == 1 ? llvm::ArrayRef<int64_t>{0, 3, 1, 2} : llvm::ArrayRef<int64_t>{0, 1, 3, 2});
}

/// Whether the weights between two extents are few enough to be constants.
bool areFew(NodeContext &node, int64_t output, int64_t input) {
  if (!node.failed() && output * input > mostWeights)
    node.unsupported(absl::StrCat("resizing ", input, " to ", output, " takes ", output * input, " weights; at most ",
                                  mostWeights, " are supported"));
  return !node.failed();
}

using Form = Weights (*)(const Sampler &, int64_t output, int64_t input);

bool fits(NodeContext &node, const Expression &x, llvm::ArrayRef<int64_t> size, const Sampler &sampler) {
  if (node.failed())
    return false;
  if (x.rank() != 4 || size.size() != 2 || x.size() == 0)
    node.fail(absl::StrCat("size ", nn::formatShape(size), " does not fit ", nn::formatShape(x.shape())));
  else if (sampler.alignCorners && sampler.halfPixels)
    node.fail("align_corners and half_pixel_centers exclude each other");
  for (int64_t extent : {size.empty() ? 1 : size.front(), size.empty() ? 1 : size.back(),
                         node.failed() ? 1 : x.shape()[1], node.failed() ? 1 : x.shape()[2]})
    if (extent < 1 || extent > mostExtent)
      node.fail(absl::StrCat("an extent of ", extent, " is outside [1, ", mostExtent, "]"));
  return !node.failed();
}

Sampler samplerOf(NodeContext &node, bool hasHalfPixels = true) {
  Sampler sampler;
  sampler.alignCorners = node.boolAttribute("align_corners", false);
  sampler.halfPixels = hasHalfPixels && node.boolAttribute("half_pixel_centers", false);
  return sampler;
}

template <Form form, bool hasHalfPixels = true> void resize(NodeContext &node) {
  Sampler sampler = samplerOf(node, hasHalfPixels);
  std::vector<int64_t> size = node.constantInts(1, "the size");
  Expression x = node.in(0);
  if (!fits(node, x, size, sampler))
    return;
  x = x.cast(node.layers.builder().getF32Type());
  for (int64_t axis : {2, 1}) {
    if (!areFew(node, size[axis - 1], x.shape()[axis]))
      return;
    x = weighted(x, axis, form(sampler, size[axis - 1], x.shape()[axis]), /*isTransposed=*/false);
  }
  node.setResult(x);
}

/// gradient, and the original image or its height and width
template <Form form, bool isSize> void resizeGrad(NodeContext &node) {
  Sampler sampler = samplerOf(node);
  Expression g = node.in(0);
  std::vector<int64_t> size;
  if (isSize)
    size = node.constantInts(1, "the size");
  else if (Tensor original = node.input(1); original && original.rank() == 4)
    size = {original.shape()[1], original.shape()[2]};
  if (!fits(node, g, size, sampler))
    return;
  for (int64_t axis : {2, 1}) {
    if (!areFew(node, g.shape()[axis], size[axis - 1]))
      return;
    g = weighted(g, axis, form(sampler, g.shape()[axis], size[axis - 1]), /*isTransposed=*/true);
  }
  node.setResult(isSize ? g : g.cast(node.input(1).elementType()));
}

/// image [N, H, W, C], boxes [B, 4] (y1, x1, y2, x2 in parts of the image), image of each box, size
void cropAndResize(NodeContext &node) {
  const std::string method = node.stringAttribute("method", "bilinear");
  const double outside = node.floatAttribute("extrapolation_value", 0);
  Expression x = node.in(0), boxes = node.in(1), numbers = node.in(2);
  std::vector<int64_t> size = node.constantInts(3, "the size");
  if (!fits(node, x, size, {}))
    return;
  const int64_t count = boxes.rank() == 2 ? boxes.shape()[0] : 0;
  if (count < 1 || boxes.shape()[1] != 4 || numbers.shape() != llvm::ArrayRef<int64_t>{count})
    return node.fail(absl::StrCat("boxes ", nn::formatShape(boxes.shape()), " and images ",
                                  nn::formatShape(numbers.shape()), " are not [boxes, 4] and [boxes]"));
  if (method != "bilinear" && method != "nearest")
    return node.fail(absl::StrCat("method '", method, "' is none of bilinear, nearest"));
  x = x.cast(node.layers.builder().getF32Type());
  // Of each axis the places [boxes, size], which of them are inside, and the weights [boxes, size, extent].
  std::vector<Expression> inside, weights;
  for (int64_t axis : {0, 1}) {
    const double extent = static_cast<double>(x.shape()[1 + axis] - 1);
    Expression from = boxes.slice(1, axis, 1), to = boxes.slice(1, axis + 2, 1);
    Expression place = (from + to) * (0.5 * extent);
    if (size[axis] > 1)
      place = from * extent + numbersAlong(node.layers, size[axis], 1, 2, x.elementType()) *
                                  ((to - from) * (extent / static_cast<double>(size[axis] - 1)));
    inside.push_back(lessEqual(0, place) & lessEqual(place, extent));
    if (method == "nearest")
      place = floor(place + 0.5);
    weights.push_back(
        relu(1 - abs(place.unsqueeze(2) - numbersAlong(node.layers, x.shape()[1 + axis], 2, 3, x.elementType()))));
  }
  const int64_t height = x.shape()[1], width = x.shape()[2], channels = x.shape()[3];
  if (numbers.elementType().getIntOrFloatBitWidth() < 32)
    numbers = numbers.cast(node.i32());
  Expression images = gather(x, numbers, 0).reshape({count, height, width * channels});
  Expression rows = matmul(weights[0], images).reshape({count, size[0], width, channels});
  Expression columns = matmul(weights[1], rows.transpose({0, 2, 1, 3}).reshape({count, width, size[0] * channels}));
  Expression crops = columns.reshape({count, size[1], size[0], channels}).transpose({0, 2, 1, 3});
  Expression isInside = inside[0].reshape({count, size[0], 1, 1}) & inside[1].reshape({count, 1, size[1], 1});
  node.setResult(select(isInside, crops, outside));
}

} // namespace

static const Operator table[] = {
    {"ResizeBicubic", 2, 2, resize<cubic>},
    {"ResizeArea", 2, 2, resize<area, false>},
    {"ResizeBilinearGrad", 2, 2, resizeGrad<bilinear, false>},
    {"ResizeBicubicGrad", 2, 2, resizeGrad<cubic, false>},
    {"ResizeNearestNeighborGrad", 2, 2, resizeGrad<nearest, true>},
    {"CropAndResize", 4, 4, cropAndResize},
};
llvm::ArrayRef<Operator> samplingOperators() { return table; }

} // namespace wsc::import::tf
