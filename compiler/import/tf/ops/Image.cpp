// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images of other sizes, [N, H, W, C]. Nearest places are computed in f32, as TensorFlow does.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Interpolation.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"
#include <cmath>

namespace wsc::import::tf {
namespace {

struct Resizing {
  std::vector<int64_t> size; ///< of height and width; empty after an error
  bool alignCorners = false, halfPixels = false;
};

Resizing readResizing(NodeContext &node) {
  Resizing form;
  form.alignCorners = node.boolAttribute("align_corners", false);
  form.halfPixels = node.boolAttribute("half_pixel_centers", false);
  Expression x = node.in(0);
  std::vector<int64_t> size = node.constantInts(1, "the size");
  if (node.failed())
    return form;
  if (x.rank() != 4 || size.size() != 2 || x.size() == 0)
    node.fail(absl::StrCat("size ", nn::formatShape(size), " does not fit ", nn::formatShape(x.shape())));
  else if (form.alignCorners && form.halfPixels)
    node.fail("align_corners and half_pixel_centers exclude each other");
  for (int64_t extent : size)
    if (extent < 1 || extent > 65536)
      node.fail(absl::StrCat("size ", nn::formatShape(size), " holds ", extent, ", which is outside [1, 65536]"));
  if (!node.failed())
    form.size = size;
  return form;
}

void bilinear(NodeContext &node) {
  Resizing resizing = readResizing(node);
  Expression x = node.in(0);
  if (node.failed())
    return;
  x = x.cast(node.layers.builder().getF32Type());
  Interpolation form;
  form.mode = "linear";
  form.coordinates = resizing.halfPixels ? "half_pixel" : resizing.alignCorners ? "align_corners" : "asymmetric";
  for (int64_t d : {2, 1}) {
    ResizedAxis axis;
    axis.input = x.shape()[d];
    axis.output = resizing.size[d - 1];
    axis.scale = static_cast<double>(axis.output) / static_cast<double>(axis.input);
    if (axis.input != axis.output)
      x = resizeAxis(form, x, d, axis);
    if (node.failed())
      return;
  }
  node.setResult(x);
}

void nearest(NodeContext &node) {
  Resizing form = readResizing(node);
  Expression x = node.in(0);
  for (int64_t d : {2, 1}) {
    if (node.failed())
      return;
    const int64_t input = x.shape()[d], output = form.size[d - 1];
    const float scale = form.alignCorners && output > 1 ? static_cast<float>(input - 1) / static_cast<float>(output - 1)
                                                        : static_cast<float>(input) / static_cast<float>(output);
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < output; ++i) {
      const float at = (static_cast<float>(i) + (form.halfPixels ? 0.5f : 0.0f)) * scale;
      numbers.push_back(
          std::min<int64_t>(static_cast<int64_t>(form.alignCorners ? std::roundf(at) : std::floor(at)), input - 1));
    }
    x = picked(x, d, numbers);
  }
  node.setResult(x);
}

} // namespace

static const Operator table[] = {
    {"ResizeBilinear", 2, 2, bilinear},
    {"ResizeNearestNeighbor", 2, 2, nearest},
};
llvm::ArrayRef<Operator> imageOperators() { return table; }

} // namespace wsc::import::tf
