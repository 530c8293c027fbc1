// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ConvTranspose and Col2Im.
#include "compiler/import/common/Deconv.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Windows.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

static void convTranspose(NodeContext &node) {
  Expression x = node.in(0), weight = node.in(1);
  if (weight.rank() != x.rank() || x.rank() < 3)
    return node.fail(absl::StrCat("input ", nn::formatShape(x.shape()), " and weight ", nn::formatShape(weight.shape()),
                                  " must have the same rank, 3 or more"));
  size_t rank = static_cast<size_t>(x.rank() - 2);
  std::vector<int64_t> kernel = readKernel(node, weight.shape().drop_front(2));
  Deconvolution form;
  form.groups = node.intAttribute("group", 1);
  form.strides = readExtents(node, "strides", rank, 1, 1);
  form.dilations = readExtents(node, "dilations", rank, 1, 1);
  std::vector<int64_t> pads = readExtents(node, "pads", 2 * rank, 0, 0);
  std::vector<int64_t> extra = readExtents(node, "output_padding", rank, 0, 0);
  std::vector<int64_t> outputShape = node.intsAttribute("output_shape");
  if (!outputShape.empty()) // with batch and channels in older models
    outputShape = readExtents(node, "output_shape", outputShape.size() > rank ? rank + 2 : rank, 0, 0);
  std::string autoPad = node.stringAttribute("auto_pad", "NOTSET");
  if (form.groups < 1 || x.shape()[1] != weight.shape()[0] || x.shape()[1] % form.groups != 0)
    return node.fail(absl::StrCat("input channels ", x.shape()[1], ", weight ", nn::formatShape(weight.shape()),
                                  " and groups ", form.groups, " do not fit"));
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (!same && autoPad != "NOTSET" && autoPad != "VALID")
    node.fail(absl::StrCat("auto_pad '", autoPad, "' is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID"));
  if (node.failed())
    return;
  if (outputShape.size() > rank)
    outputShape.erase(outputShape.begin(), outputShape.begin() + 2);
  for (size_t d = 0; d < rank; ++d) {
    int64_t input = x.shape()[2 + d], span = (kernel[d] - 1) * form.dilations[d] + 1;
    int64_t whole = (input - 1) * form.strides[d] + span + extra[d];
    int64_t before = pads[d], after = pads[rank + d];
    if (same || !outputShape.empty()) {
      int64_t total = whole - (outputShape.empty() ? input * form.strides[d] : outputShape[d]);
      // What a greater shape lacks is added behind.
      int64_t cut = std::max<int64_t>(total, 0);
      before = autoPad == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
      after = total - before;
    }
    form.before.push_back(before);
    form.after.push_back(after - extra[d]);
  }
  node.setResult(deconvolve(x, weight, node.input(2), form));
}

/// Columns [N, C·Πblock, L] back into an image: each place adds its block, which is a transposed convolution whose
/// weight, of one channel per element of the block, holds a 1 at that element.
static void col2Im(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = node.in(0);
  std::vector<int64_t> image = node.constantInts(1, "image_shape"), block = node.constantInts(2, "block_shape");
  size_t rank = image.size();
  Deconvolution form;
  form.strides = readExtents(node, "strides", rank, 1, 1);
  form.dilations = readExtents(node, "dilations", rank, 1, 1);
  std::vector<int64_t> pads = readExtents(node, "pads", 2 * rank, 0, 0);
  for (const std::vector<int64_t> &extents : {image, block})
    for (int64_t extent : extents)
      if (extent < 1 || extent > nn::maxExtent)
        node.fail(absl::StrCat("image ", nn::formatShape(image), " and block ", nn::formatShape(block), " hold ",
                               extent, ", outside [1, 2^31]"));
  if (node.failed())
    return;
  int64_t elements = 1, places = 1;
  llvm::SmallVector<int64_t> placed, weightShape, result;
  for (size_t d = 0; d < rank && d < block.size(); ++d) {
    int64_t room = image[d] + pads[d] + pads[rank + d] - (block[d] - 1) * form.dilations[d] - 1;
    int64_t count = room >= 0 ? room / form.strides[d] + 1 : 0;
    form.before.push_back(pads[d]);
    form.after.push_back(pads[rank + d] - room % form.strides[d]);
    placed.push_back(count);
    places *= count;
    elements *= block[d];
    result.push_back(image[d]);
    if (std::max(places, elements) > nn::maxExtent)
      break; // no dimension of the columns is as large
  }
  if (block.size() != rank || x.rank() != 3 || std::max(places, elements) > nn::maxExtent ||
      x.shape()[1] % elements != 0 || x.shape()[2] != places)
    return node.fail(absl::StrCat("image ", nn::formatShape(image), " and block ", nn::formatShape(block),
                                  " do not fit columns ", nn::formatShape(x.shape())));
  int64_t batch = x.shape()[0], channels = x.shape()[1] / elements;
  placed.insert(placed.begin(), {batch * channels, elements});
  result.insert(result.begin(), {batch, channels});
  weightShape.assign({elements, 1});
  weightShape.append(block.begin(), block.end());
  mlir::Type i32 = layers.builder().getI32Type();
  Expression one = equal(countingUp(layers, elements, i32).reshape({elements, 1}), countingUp(layers, elements, i32));
  Expression weight = one.cast(x.elementType()).reshape(weightShape);
  node.setResult(deconvolve(x.reshape(placed), weight, {}, form).reshape(result));
}

static const Operator table[] = {
    {"ConvTranspose", 1, newestOpset, 2, 3, convTranspose},
    {"Col2Im", 18, newestOpset, 3, 3, col2Im, "", "image_shape and block_shape are known"},
};
llvm::ArrayRef<Operator> deconvOperators() { return table; }

} // namespace wsc::import
