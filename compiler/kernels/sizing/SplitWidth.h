// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions cut along the width of their output. A core of a contraction makes at least one channel of one image
// row, so a layer of few channels on large images has fewer cores than its work asks for and sets the interval while
// columns are left over. Cut into parts that stand side by side, each with the columns of the image that it makes (and
// those of the input that their windows reach), it has as many times more; a kernel behind them joins the parts.
#pragma once

#include "compiler/kernels/sizing/Candidates.h"

namespace wsc::kernels {

// Part of the interval that is to be gained, or kernels stay whole.
constexpr int64_t kWorthSplitting = 16;

// A contraction to be made in `parts` parts.
struct SplitRequest {
  int32_t kernel = 0;
  int64_t parts = 2;
};

// Part `part` of `parts` of the columns of an output.
inline Columns columnsOfPart(int64_t width, int64_t part, int64_t parts) {
  return {width * part / parts, width * (part + 1) / parts};
}

// The contractions to cut so that `problem`, the candidates of all kernels, allows an interval shorter by
// 1/kWorthSplitting at least than `intervalCycles`, the least one as they are; none if that cannot be. The parts'
// candidates are costed like all others, on `threads` threads of the host. Pinned kernels stay whole.
std::vector<SplitRequest> findSplits(const target::Target &target, const NetworkPlan &network,
                                     const solver::sizing::Problem &problem, int64_t intervalCycles, int threads);

} // namespace wsc::kernels
