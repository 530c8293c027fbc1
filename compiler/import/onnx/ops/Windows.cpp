// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Window attributes; see Windows.h. SAME pads so that the output extent is ceil(input / stride), the odd element behind
// (UPPER) or before (LOWER). With ceil_mode a last window that would begin behind input and leading pad is dropped.
#include "compiler/import/onnx/ops/Windows.h"
#include "absl/strings/str_cat.h"
#include "dialects/nn/Shape.h"
#include <algorithm>

namespace wsc::import {

std::vector<int64_t> readExtents(NodeContext &node, const char *name, size_t count, int64_t otherwise, int64_t low) {
  std::vector<int64_t> values = node.intsAttribute(name);
  if (values.empty())
    values.assign(count, otherwise);
  if (values.size() != count)
    node.fail(absl::StrCat("attribute '", name, "' needs ", count, " numbers, found ", values.size()));
  for (int64_t value : values)
    if (value < low || value >= (int64_t{1} << 31))
      node.fail(absl::StrCat("attribute '", name, "' holds ", value, ", which is outside [", low, ", 2^31)"));
  return values;
}

std::vector<int64_t> readKernel(NodeContext &node, llvm::ArrayRef<int64_t> known) {
  std::vector<int64_t> declared = node.intsAttribute("kernel_shape");
  for (llvm::ArrayRef<int64_t> extents : {llvm::ArrayRef<int64_t>(declared), known})
    for (int64_t extent : extents)
      if (extent < 1 || extent >= (int64_t{1} << 31))
        node.fail(absl::StrCat("kernel extent ", extent, " is outside [1, 2^31)"));
  if (known.empty())
    return declared;
  if (!declared.empty() && llvm::ArrayRef<int64_t>(declared) != known)
    node.fail(absl::StrCat("kernel_shape ", nn::formatShape(declared), " differs from the weight's ",
                           nn::formatShape(known)));
  return known.vec();
}

SpatialWindow readWindow(NodeContext &node, const Tensor &x, std::vector<int64_t> kernel, bool pooling) {
  size_t rank = static_cast<size_t>(std::max<int64_t>(x.rank() - 2, 0));
  if (rank < 1)
    node.fail(absl::StrCat("needs spatial dimensions behind [N, C], found a tensor ", nn::formatShape(x.shape())));
  else if (kernel.size() != rank)
    node.fail(absl::StrCat("the kernel has ", kernel.size(), " extents, the tensor ", rank, " spatial dimensions"));
  std::vector<int64_t> strides = readExtents(node, "strides", rank, 1, 1);
  std::vector<int64_t> dilations = readExtents(node, "dilations", rank, 1, 1);
  std::vector<int64_t> pads = readExtents(node, "pads", 2 * rank, 0, 0);
  std::string autoPad = node.stringAttribute("auto_pad", "NOTSET");
  bool ceilMode = pooling && node.intAttribute("ceil_mode", 0) != 0;
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (!same && autoPad != "NOTSET" && autoPad != "VALID")
    node.fail(absl::StrCat("auto_pad '", autoPad, "' is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID"));
  SpatialWindow result;
  if (node.failed())
    return result;
  result.overhang.assign(rank, 0);
  for (size_t d = 0; d < rank; ++d) {
    int64_t input = x.shape()[2 + d], span = (kernel[d] - 1) * dilations[d] + 1;
    int64_t &before = pads[d], &after = pads[rank + d];
    if (autoPad == "VALID") {
      before = after = 0;
    } else if (same) {
      int64_t output = (input + strides[d] - 1) / strides[d];
      int64_t total = std::max<int64_t>((output - 1) * strides[d] + span - input, 0);
      before = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      after = total - before;
    }
    int64_t room = input + before + after - span;
    if (ceilMode && room >= 0 && room % strides[d] != 0 && (room / strides[d] + 1) * strides[d] < input + before) {
      result.overhang[d] = strides[d] - room % strides[d];
      after += result.overhang[d];
    }
  }
  result.kernel = std::move(kernel);
  result.window.strides.assign(strides.begin(), strides.end());
  result.window.dilations.assign(dilations.begin(), dilations.end());
  result.window.pads.assign(pads.begin(), pads.end());
  return result;
}

} // namespace wsc::import
