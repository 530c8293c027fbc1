// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/validation/Workloads.h"

#include "absl/strings/str_cat.h"

namespace wsc::validation {

const std::vector<Workload> &workloads() {
  static const std::vector<Workload> all{
      {"reduce_1d_chain", "sum over a row of cores, one chain", buildReduceChain},
      {"reduce_1d_two_phase", "sum over a row of cores: chains in groups, then a chain over their heads",
       buildReduceTwoPhase},
      {"reduce_1d_two_phase_total", "the same as a whole program, with its start", buildReduceTwoPhaseTotal},
      {"reduce_1d_tree", "sum over a row of cores by a tree", buildReduceTree},
      {"broadcast", "one block to all cores of a row", buildBroadcast},
      {"all_reduce", "sum over a row of cores, on all of them: K-tree or pipelined", buildAllReduce},
      {"relay_chain", "store and forward in software, stage after stage", buildRelayChain},
      {"message", "one message over several hops", buildMessage},
      {"vector", "vector instructions on one core", buildVector},
      {"gemv_one_core", "matrix-vector product on one core", buildGemvOneCore},
      {"gemv_mesh", "matrix-vector product on a mesh, all-reduce along its rows", buildGemvMesh},
      {"gemm", "matrix product, stationary tiles, partial sums chained", buildGemm},
      {"gemm_summa", "matrix product by SUMMA", buildGemmSumma},
      {"gemm_cannon", "matrix product by Cannon's algorithm", buildGemmCannon},
      {"gemm_ring", "matrix product on an interleaved ring", buildGemmRing},
      {"star_stencil", "iterations of a star stencil with halo exchange", buildStarStencil}};
  return all;
}

const Workload *findWorkload(const std::string &name) {
  for (const Workload &workload : workloads())
    if (name == workload.name)
      return &workload;
  return nullptr;
}

absl::StatusOr<Program> buildProgram(const Workload &workload, const std::string &parameters,
                                     const target::Target &target) {
  absl::StatusOr<Parameters> parsed = Parameters::parse(parameters);
  if (!parsed.ok())
    return parsed.status();
  absl::StatusOr<Program> program = workload.build(*parsed, target);
  if (!program.ok())
    return absl::Status(program.status().code(),
                        absl::StrCat(workload.name, ": ", std::string(program.status().message())));
  return program;
}

} // namespace wsc::validation
