// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Efficiency of the mesh products (SUMMA, Cannon, interleaved ring) on meshes too large to run word by word.
//
// The time of P x P cores with tiles of t x t is a polynomial in P of degree two at most: P steps of equal work and, in
// synchronous SUMMA, a sum over the steps of distances along the mesh. So it is measured on three meshes of the same
// tiles, with sides four apart, and carried on by its second difference; a fourth mesh must lie on the polynomial.
//
// SUMMA's polynomial is another one where distances take longer than sending a tile: from the side
// P* = (set-up + task start + words of a tile) / hop latency on. The meshes are taken beyond P* if that is at most
// kLargestFirst; if P* lies between them and the side asked for, distances are counted too short and the time is a
// lower bound. Where nothing grows with distance (second difference 0) there is nothing to count too short.
#pragma once

#include "test/validation/Workloads.h"

#include "absl/status/statusor.h"

#include <string>

namespace wsc::validation {

constexpr int64_t kLargestFirst = 36; // side of the first of the meshes that are run

struct MeshGemmTime {
  double cycles = 0;
  double efficiency = 0;       // multiply-adds at the target's full rate / cycles
  bool lowerBound = false;     // cycles; the efficiency is an upper bound then
  int64_t firstSide = 0;       // of the first mesh run
  int64_t deviationCycles = 0; // of the fourth mesh from the law
  std::string engine;
};

// `workload`: gemm_summa, gemm_cannon, gemm_ring, with parameters beside cores and N ("dtype=f16;steps=…"); the side is
// a multiple of four and divides N.
absl::StatusOr<MeshGemmTime> meshGemmTime(const std::string &workload, const std::string &parameters,
                                          const target::Target &target, int64_t side, int64_t N);

} // namespace wsc::validation
