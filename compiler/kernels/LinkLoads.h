// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words per sample over the links between routers, from the routes alone: what bounds the interval beside the cores.
#pragma once

#include "compiler/kernels/Routes.h"

#include <string>

namespace wsc::kernels {

// The busiest link: the output of router (row, col) to `side` (N, S, E or W), and the streams that use it.
struct LinkLoad {
  int64_t words = 0;
  int32_t row = 0, col = 0;
  char side = 'E';
  std::vector<std::string> nets; // by name: streams, "KERNEL row", "KERNEL chain"
  std::string describe() const;  // "link (15, 65) S: conv0, pool1"
};

// Exact: data and control words of lanes (gathers, trunks, teeth), row multicasts and chains of a placed network. Cost:
// O(routes' segments · log), nothing grows with the mesh's area.
LinkLoad busiestLink(const target::Target &target, const NetworkPlan &network, const std::vector<LaneRoute> &lanes);

// Words over the busiest vertical link of the lanes that a kernel takes, in one of its columns; known before it is
// placed. Needs lane rows (layOutLanes).
int64_t toothWords(const NetworkPlan &network, const KernelRows &rows);

} // namespace wsc::kernels
