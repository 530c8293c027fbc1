// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows; see Windows.h.
#include "compiler/import/common/Windows.h"
#include "dialects/nn/Shape.h"
#include "llvm/ADT/STLExtras.h"

namespace wsc::import {

bool SpatialWindow::overhangs() const {
  return llvm::any_of(overhang, [](int64_t elements) { return elements > 0; });
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
