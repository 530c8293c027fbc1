// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Efficiency of the mesh products (SUMMA, Cannon, interleaved ring) on meshes too large to run word by word.
//
// The time of P x P cores with tiles of t x t is a polynomial in P of degree two at most: P steps of equal work, and in
// SUMMA a sum over the steps of distances along the mesh. So it is measured on small meshes of the same tiles, P = 8, 12,
// 16, and carried on by its second difference; a fourth mesh, P = 20, must lie on the polynomial exactly.
#pragma once

#include "test/validation/Workloads.h"

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace wsc::validation {

struct MeshGemmTime {
  double cycles = 0;
  double efficiency = 0;          // multiply-adds at the target's full rate / cycles
  double stepCycles = 0;          // cycles / P
  int64_t deviationCycles = 0;    // of the fourth mesh from the law
  std::string engine;
};

// `workload`: gemm_summa, gemm_cannon, gemm_ring, with parameters beside cores and N ("dtype=f16", "steps=…"); side a
// multiple of four, N of the side.
absl::StatusOr<MeshGemmTime> meshGemmTime(const std::string &workload, const std::string &parameters,
                                          const target::Target &target, int64_t side, int64_t N);

} // namespace wsc::validation
