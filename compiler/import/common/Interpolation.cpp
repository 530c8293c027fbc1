// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nearest elements are picked; linear and cubic interpolation (with or without antialiasing) is a product with a
// constant matrix that holds, for each place of the result, the weights of the input's places. Formulas are those of
// ONNX's reference implementation.
#include "compiler/import/common/Interpolation.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>

namespace wsc::import {
namespace {

/// Place in the input of place x of the output.
double coordinate(const Interpolation &form, const ResizedAxis &axis, int64_t x) {
  double input = static_cast<double>(axis.input), width = axis.scale * input, at = static_cast<double>(x);
  if (form.coordinates == "align_corners")
    return width == 1 ? 0 : at * (input - 1) / (width - 1);
  if (form.coordinates == "asymmetric")
    return at / axis.scale;
  if (form.coordinates == "tf_half_pixel_for_nn")
    return (at + 0.5) / axis.scale;
  if (form.coordinates == "tf_crop_and_resize") {
    double span = (axis.roiEnd - axis.roiStart) * (input - 1);
    return axis.roiStart * (input - 1) + (width == 1 ? span / 2 : at * span / (width - 1));
  }
  if (form.coordinates == "pytorch_half_pixel" && width == 1)
    return -0.5;
  double place = (at + 0.5) / axis.scale - 0.5;
  // The centre of the input goes to the centre of the output.
  if (form.coordinates == "half_pixel_symmetric")
    place += input / 2 * (1 - static_cast<double>(axis.output) / width);
  return place;
}

bool isOutside(const Interpolation &form, const ResizedAxis &axis, double place) {
  return form.coordinates == "tf_crop_and_resize" && (place < 0 || place > static_cast<double>(axis.input - 1));
}

int64_t nearestPlace(const Interpolation &form, const ResizedAxis &axis, double place) {
  double rounded = form.nearest == "floor"               ? std::floor(place)
                   : form.nearest == "ceil"              ? std::ceil(place)
                   : form.nearest == "round_prefer_ceil" ? std::floor(place + 0.5)
                                                         : std::ceil(place - 0.5);
  return static_cast<int64_t>(std::clamp(rounded, 0.0, static_cast<double>(axis.input - 1)));
}

double kernelWeight(const Interpolation &form, double distance) {
  double x = std::fabs(distance), a = form.cubic;
  if (form.mode == "linear")
    return std::max(1 - x, 0.0);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0.0;
}

/// Weights [output, input]; a row of zeros for a place outside.
std::vector<double> weightsOf(const Interpolation &form, const ResizedAxis &axis) {
  std::vector<double> weights(axis.output * axis.input, 0.0);
  const double stretch = form.antialias ? std::min(axis.scale, 1.0) : 1.0, reach = form.mode == "linear" ? 1 : 2;
  const int64_t first = static_cast<int64_t>(std::floor(-reach / stretch)) + 1, count = 2 * (1 - first);
  for (int64_t x = 0; x < axis.output; ++x) {
    double place = coordinate(form, axis, x), sum = 0;
    if (isOutside(form, axis, place))
      continue;
    int64_t left = static_cast<int64_t>(std::floor(place));
    double *row = weights.data() + x * axis.input;
    for (int64_t i = left + first; i < left + first + count; ++i) {
      if (form.excludeOutside && (i < 0 || i >= axis.input))
        continue;
      double weight = kernelWeight(form, (static_cast<double>(i) - place) * stretch);
      row[std::clamp<int64_t>(i, 0, axis.input - 1)] += weight;
      sum += weight;
    }
    for (int64_t i = 0; i < axis.input; ++i)
      row[i] /= sum;
  }
  return weights;
}

} // namespace

Expression resizeAxis(const Interpolation &form, const Expression &x, int64_t d, const ResizedAxis &axis) {
  LayerBuilder &layers = x.layers();
  if (!layers.failed() && form.mode != "nearest" && axis.output * axis.input > maxConstantElements)
    layers.fail(absl::UnimplementedError(absl::StrCat("resizing ", axis.input, " to ", axis.output, " takes ",
                                                      axis.output * axis.input, " weights; at most ",
                                                      maxConstantElements, " are supported")));
  if (layers.failed())
    return x;
  std::vector<int64_t> isInside, numbers;
  bool someOutside = false;
  for (int64_t i = 0; i < axis.output; ++i) {
    double place = coordinate(form, axis, i);
    isInside.push_back(!isOutside(form, axis, place));
    someOutside |= !isInside.back();
    numbers.push_back(nearestPlace(form, axis, place));
  }
  Expression y = x;
  if (form.mode == "nearest") {
    y = picked(x, d, numbers);
  } else {
    int64_t outer = productOf(x.shape().take_front(d)), inner = productOf(x.shape().drop_front(d + 1));
    llvm::SmallVector<int64_t> shape(x.shape());
    shape[d] = axis.output;
    Expression wide = widened(x);
    Expression weights = constant(layers, {axis.output, axis.input}, weightsOf(form, axis), wide.elementType());
    y = inner == 1 ? matmul(wide.reshape({outer, axis.input}), weights, /*transposeRhs=*/true)
                   : matmul(weights, wide.reshape({outer, axis.input, inner}));
    y = y.reshape(shape).cast(x.elementType());
  }
  if (!someOutside)
    return y;
  llvm::SmallVector<int64_t> shape(x.rank(), 1);
  shape[d] = axis.output;
  return select(constant(layers, shape, isInside).cast(layers.builder().getI1Type()), y, form.extrapolation);
}

} // namespace wsc::import
