// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resize and Upsample, one axis after another, last first. Nearest elements are picked; linear and cubic interpolation
// (with or without antialiasing) is a product with a constant matrix that holds, for each place of the result, the
// weights of the input's places. Formulas are those of ONNX's reference implementation.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"
#include <cmath>

namespace wsc::import {
namespace {

/// What all axes share.
struct Interpolation {
  std::string mode, coordinates, nearest;
  double cubic = -0.75, extrapolation = 0;
  bool antialias = false, excludeOutside = false;
};

/// One axis: extents, the exact scale, and the part of the input that tf_crop_and_resize takes.
struct Axis {
  int64_t input = 0, output = 0;
  double scale = 1, roiStart = 0, roiEnd = 1;
};

/// Place in the input of place x of the output.
double coordinate(const Interpolation &form, const Axis &axis, int64_t x) {
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

bool isOutside(const Interpolation &form, const Axis &axis, double place) {
  return form.coordinates == "tf_crop_and_resize" && (place < 0 || place > static_cast<double>(axis.input - 1));
}

int64_t nearestPlace(const Interpolation &form, const Axis &axis, double place) {
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
std::vector<double> weightsOf(const Interpolation &form, const Axis &axis) {
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

Expression resizeAxis(const Interpolation &form, const Expression &x, int64_t d, const Axis &axis) {
  LayerBuilder &layers = x.layers();
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

/// One of a list of names, or an error that lists them.
void checkName(NodeContext &node, const char *attribute, const std::string &name,
               std::initializer_list<const char *> known) {
  if (std::find(known.begin(), known.end(), name) == known.end())
    node.fail(absl::StrCat("attribute '", attribute, "' is '", name, "'; known are ", absl::StrJoin(known, ", ")));
}

void apply(NodeContext &node, const Interpolation &form, const std::vector<int64_t> &axes, std::vector<Axis> forms) {
  Expression x = node.in(0);
  if (form.mode != "nearest" && !x.isFloat()) {
    // Integers are interpolated in f32 and truncated.
    x = x.cast(node.layers.builder().getF32Type());
  }
  for (int64_t d = x.rank(); d-- > 0 && !node.failed();)
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] != d)
        continue;
      bool same = forms[i].input == forms[i].output && forms[i].scale == 1 && form.coordinates != "tf_crop_and_resize";
      if (forms[i].output < 0 || forms[i].output > maxConstantElements ||
          (forms[i].input == 0 && forms[i].output > 0) ||
          (form.mode != "nearest" && forms[i].input > maxConstantElements / std::max<int64_t>(forms[i].output, 1)))
        return node.fail(absl::StrCat("axis ", d, " of extent ", forms[i].input, " cannot become ", forms[i].output));
      if (!same && forms[i].output > 0)
        x = resizeAxis(form, x, d, forms[i]);
      else if (!same)
        x = x.slice(d, 0, 0);
    }
  node.setResult(x.cast(node.input(0).elementType()));
}

std::vector<double> knownNumbers(NodeContext &node, size_t i, const char *what) {
  auto literal = node.known(i, what);
  if (!literal)
    return {};
  return literal->isFloat() ? literal->floats : std::vector<double>(literal->ints.begin(), literal->ints.end());
}

/// Whether an optional input is there and not an empty tensor, which means the same.
bool isGiven(NodeContext &node, size_t i) { return node.hasInput(i) && node.input(i).type.getNumElements() > 0; }

/// Scales, or extents and the scales that follow from them, for each axis.
std::vector<Axis> readAxes(NodeContext &node, const std::vector<int64_t> &axes, const std::vector<double> &scales,
                           const std::vector<int64_t> &sizes, const std::string &policy) {
  std::vector<Axis> forms(axes.size());
  if (scales.size() != axes.size() && sizes.size() != axes.size()) {
    node.fail(absl::StrCat("needs ", axes.size(), " scales or sizes, found ", scales.size(), " and ", sizes.size()));
    return forms;
  }
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis &axis = forms[i];
    axis.input = node.input(0).shape()[axes[i]];
    double input = static_cast<double>(axis.input);
    if (!sizes.empty() && (sizes[i] < 0 || sizes[i] > (int64_t{1} << 31)))
      node.fail(absl::StrCat("size ", sizes[i], " of axis ", axes[i], " is outside [0, 2^31]"));
    if (sizes.empty() && !(scales[i] >= 0 && scales[i] < 1e6))
      node.fail(absl::StrCat("scale ", scales[i], " of axis ", axes[i], " is outside [0, 1e6)"));
    if (node.failed())
      return forms;
    axis.scale = sizes.empty() ? scales[i] : static_cast<double>(sizes[i]) / input;
    axis.output = sizes.empty() ? static_cast<int64_t>(std::floor(input * axis.scale)) : sizes[i];
    if (!(axis.scale > 0) && axis.output != 0)
      node.fail(absl::StrCat("scale ", axis.scale, " of axis ", axes[i], " is not positive"));
    common = i == 0 ? axis.scale : policy == "not_larger" ? std::min(common, axis.scale) : std::max(common, axis.scale);
  }
  if (!sizes.empty() && policy != "stretch")
    for (Axis &axis : forms) {
      axis.scale = common;
      axis.output = static_cast<int64_t>(std::floor(common * static_cast<double>(axis.input) + 0.5));
    }
  return forms;
}

/// Opset 10 and Upsample: scales only, coordinates asymmetric, nearest below.
void upsample(NodeContext &node) {
  Interpolation form;
  form.mode = node.stringAttribute("mode", "nearest");
  form.coordinates = "asymmetric";
  form.nearest = "floor";
  if (form.mode == "bilinear")
    form.mode = "linear";
  checkName(node, "mode", form.mode, {"nearest", "linear"});
  bool fromAttribute = node.opset() < 9 && std::string(node.node().op_type()) == "Upsample";
  std::vector<double> scales = fromAttribute ? node.floatsAttribute("scales") : knownNumbers(node, 1, "scales");
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < node.input(0).rank(); ++d)
    axes.push_back(d);
  if (node.failed())
    return;
  std::vector<Axis> forms = readAxes(node, axes, scales, {}, "stretch");
  if (!node.failed())
    apply(node, form, axes, forms);
}

void resize(NodeContext &node) {
  Interpolation form;
  form.mode = node.stringAttribute("mode", "nearest");
  form.coordinates = node.stringAttribute("coordinate_transformation_mode", "half_pixel");
  form.nearest = node.stringAttribute("nearest_mode", "round_prefer_floor");
  form.cubic = node.floatAttribute("cubic_coeff_a", -0.75);
  form.extrapolation = node.floatAttribute("extrapolation_value", 0);
  form.antialias = node.intAttribute("antialias", 0) != 0;
  form.excludeOutside = node.intAttribute("exclude_outside", 0) != 0;
  std::string policy = node.stringAttribute("keep_aspect_ratio_policy", "stretch");
  checkName(node, "mode", form.mode, {"nearest", "linear", "cubic"});
  checkName(node, "coordinate_transformation_mode", form.coordinates,
            {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
             "tf_crop_and_resize", "tf_half_pixel_for_nn"});
  checkName(node, "nearest_mode", form.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  checkName(node, "keep_aspect_ratio_policy", policy, {"stretch", "not_larger", "not_smaller"});
  std::vector<int64_t> axes = node.intsAttribute("axes"), sizes;
  if (axes.empty())
    for (int64_t d = 0; d < node.input(0).rank(); ++d)
      axes.push_back(d);
  axes = node.normalizedAxes(axes, node.input(0).rank());
  std::vector<double> scales, roi;
  if (isGiven(node, 3))
    sizes = node.constantInts(3, "sizes");
  else
    scales = knownNumbers(node, 2, "scales");
  if (form.coordinates == "tf_crop_and_resize")
    roi = knownNumbers(node, 1, "roi");
  if (node.failed())
    return;
  std::vector<Axis> forms = readAxes(node, axes, scales, sizes, policy);
  if (node.failed())
    return;
  if (!roi.empty() && roi.size() != 2 * axes.size())
    return node.fail(absl::StrCat("roi needs ", 2 * axes.size(), " numbers, found ", roi.size()));
  for (double end : roi)
    if (!(std::fabs(end) < 1e6))
      return node.fail(absl::StrCat("roi holds ", end, ", which is no part of an image"));
  for (size_t i = 0; i < axes.size() && !roi.empty(); ++i) {
    forms[i].roiStart = roi[i];
    forms[i].roiEnd = roi[axes.size() + i];
  }
  apply(node, form, axes, forms);
}

} // namespace

static const Operator table[] = {
    {"Upsample", 7, 8, 1, 1, upsample, "", "scales are known"},
    {"Upsample", 9, newestOpset, 2, 2, upsample, "", "scales are known"},
    {"Resize", 10, 10, 2, 2, upsample, "", "roi, scales and sizes are known"},
    {"Resize", 11, newestOpset, 1, 4, resize, "", "roi, scales and sizes are known"},
};
llvm::ArrayRef<Operator> resizeOperators() { return table; }

} // namespace wsc::import
