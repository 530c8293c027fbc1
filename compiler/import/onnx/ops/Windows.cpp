// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Window attributes; see Windows.h. SAME pads so that the output extent is ceil(input / stride), the odd element behind (UPPER) or before
// (LOWER). With ceil_mode a last window that would begin behind input and leading pad is dropped.
#include "compiler/import/onnx/ops/Windows.h"
#include "absl/strings/str_cat.h"
#include "dialects/nn/Shape.h"
#include <algorithm>

namespace wsc::import {

Tensor liftSpatial(NodeContext &node, const Tensor &x) {
  if (x.rank() == 4)
    return x;
  if (x.rank() == 3)
    return node.layers.reshape(x, {x.shape()[0], x.shape()[1], 1, x.shape()[2]});
  node.unsupported(absl::StrCat("needs one or two spatial dimensions, found a tensor ", nn::formatShape(x.shape())));
  return {};
}

Tensor lowerSpatial(NodeContext &node, const Tensor &y, const Tensor &like) {
  if (!y || like.rank() == 4)
    return y;
  return node.layers.reshape(y, {y.shape()[0], y.shape()[1], y.shape()[3]});
}

/// An attribute with one number per spatial dimension (times `factor`), in [low, 2^31).
static std::vector<int64_t> readExtents(NodeContext &node, const char *name, size_t count, int64_t otherwise, int64_t low) {
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

SpatialWindow readWindow(NodeContext &node, const Tensor &x, std::vector<int64_t> kernel, bool pooling) {
  size_t rank = static_cast<size_t>(std::max<int64_t>(x.rank() - 2, 0));
  if (rank < 1 || rank > 2)
    node.unsupported(absl::StrCat("needs one or two spatial dimensions, found a tensor ", nn::formatShape(x.shape())));
  else if (kernel.size() != rank)
    node.fail(absl::StrCat("the kernel has ", kernel.size(), " extents, the tensor ", rank, " spatial dimensions"));
  std::vector<int64_t> strides = readExtents(node, "strides", rank, 1, 1);
  std::vector<int64_t> dilations = readExtents(node, "dilations", rank, 1, 1);
  std::vector<int64_t> pads = readExtents(node, "pads", 2 * rank, 0, 0);
  std::string autoPad = node.stringAttribute("auto_pad", "NOTSET");
  bool ceilMode = pooling && node.intAttribute("ceil_mode", 0) != 0;
  for (int64_t extent : kernel)
    if (extent < 1 || extent >= (int64_t{1} << 31))
      node.fail(absl::StrCat("kernel extent ", extent, " is outside [1, 2^31)"));
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (!same && autoPad != "NOTSET" && autoPad != "VALID")
    node.fail(absl::StrCat("auto_pad '", autoPad, "' is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID"));
  SpatialWindow result;
  if (node.failed())
    return result;
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
      after += strides[d] - room % strides[d];
      result.overhangs = true;
    }
  }
  size_t lift = 2 - rank;
  for (size_t d = 0; d < 2; ++d) {
    bool real = d >= lift;
    result.kernel.push_back(real ? kernel[d - lift] : 1);
    result.window.strides[d] = real ? strides[d - lift] : 1;
    result.window.dilations[d] = real ? dilations[d - lift] : 1;
    result.window.pads[d] = real ? pads[d - lift] : 0;
    result.window.pads[2 + d] = real ? pads[rank + d - lift] : 0;
  }
  return result;
}

} // namespace wsc::import
