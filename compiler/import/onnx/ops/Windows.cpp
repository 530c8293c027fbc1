// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Window attributes; see Windows.h. SAME pads so that the output extent is ceil(input / stride), the odd element behind
// (UPPER) or before (LOWER). With ceil_mode a last window that would begin behind input and leading pad is dropped.
#include "compiler/import/onnx/ops/Windows.h"
#include "absl/strings/str_cat.h"
#include "dialects/nn/Shape.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace wsc::import {

bool SpatialWindow::overhangs() const {
  return llvm::any_of(overhang, [](int64_t elements) { return elements > 0; });
}

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
  for (int64_t extent : kernel)
    if (extent < 1 || extent >= (int64_t{1} << 31))
      node.fail(absl::StrCat("kernel extent ", extent, " is outside [1, 2^31)"));
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

/// [N, C, L] as [N, C, 1, L].
static Expression lifted(const Expression &x) { return x.rank() == 3 ? x.unsqueeze(2) : x; }
static Expression lowered(const Expression &y, const Expression &like) {
  return like.rank() == 3 && !y.layers().failed() ? y.squeeze(2) : y;
}
static Window lifted(const Window &window) {
  if (window.strides.size() != 1)
    return window;
  return {{1, window.strides[0]}, {1, window.dilations[0]}, {0, window.pads[0], 0, window.pads[1]}};
}

Expression convolve(const Expression &x, const Expression &weight, const Tensor &bias, const Window &window,
                    int64_t groups) {
  LayerBuilder &layers = x.layers();
  return lowered({layers, layers.conv(lifted(x), lifted(weight), bias, lifted(window), groups)}, x);
}

Expression poolOver(nn::PoolKind kind, const Expression &x, const SpatialWindow &window, bool countIncludePad) {
  LayerBuilder &layers = x.layers();
  std::vector<int64_t> kernel = window.kernel;
  if (kernel.size() == 1)
    kernel.insert(kernel.begin(), 1);
  return lowered({layers, layers.pool(kind, lifted(x), kernel, lifted(window.window), countIncludePad)}, x);
}

std::vector<int64_t> countTaps(const SpatialWindow &window, size_t dimension, int64_t extent, int64_t before,
                               int64_t after) {
  const Window &w = window.window;
  size_t rank = window.kernel.size();
  auto places = nn::windowOutputExtent(extent, window.kernel[dimension], w.strides[dimension], w.dilations[dimension],
                                       w.pads[dimension], w.pads[rank + dimension]);
  std::vector<int64_t> counts(places.value_or(0), 0);
  for (size_t place = 0; place < counts.size(); ++place)
    for (int64_t tap = 0; tap < window.kernel[dimension]; ++tap) {
      int64_t at =
          static_cast<int64_t>(place) * w.strides[dimension] - w.pads[dimension] + tap * w.dilations[dimension];
      counts[place] += at >= -before && at < extent + after;
    }
  return counts;
}

} // namespace wsc::import
