// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resize and Upsample, one axis after another, last first.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/common/Interpolation.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"
#include <algorithm>
#include <cmath>

namespace wsc::import {
namespace {

/// One of a list of names, or an error that lists them.
void checkName(NodeContext &node, const char *attribute, const std::string &name,
               std::initializer_list<const char *> known) {
  if (std::find(known.begin(), known.end(), name) == known.end())
    node.fail(absl::StrCat("attribute '", attribute, "' is '", name, "'; known are ", absl::StrJoin(known, ", ")));
}

void apply(NodeContext &node, const Interpolation &form, const std::vector<int64_t> &axes,
           std::vector<ResizedAxis> forms) {
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
std::vector<ResizedAxis> readAxes(NodeContext &node, const std::vector<int64_t> &axes,
                                  const std::vector<double> &scales, const std::vector<int64_t> &sizes,
                                  const std::string &policy) {
  std::vector<ResizedAxis> forms(axes.size());
  if (scales.size() != axes.size() && sizes.size() != axes.size()) {
    node.fail(absl::StrCat("needs ", axes.size(), " scales or sizes, found ", scales.size(), " and ", sizes.size()));
    return forms;
  }
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizedAxis &axis = forms[i];
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
    for (ResizedAxis &axis : forms) {
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
  std::vector<ResizedAxis> forms = readAxes(node, axes, scales, {}, "stretch");
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
  std::vector<ResizedAxis> forms = readAxes(node, axes, scales, sizes, policy);
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
