// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The validation workloads by name: a builder makes a program for a target from a row's parameters and says how its
// figure follows from the engine's cycles. README.md has what each program does and its law.
#pragma once

#include "runtime/format/Executable.h"
#include "test/validation/Parameters.h"

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace wsc::validation {

// Figure = (cycles of the run + added) in the row's unit.
struct Measure {
  enum class Of {
    Latency,  // cycles from the start to the end of the first sample
    Interval, // the steady difference between samples
  } of = Of::Latency;
  int64_t added = 0;    // cycles of the measurement beside the program: the target's numbers only
  std::string how = {}; // what was added, in words
  double clockGHz = 0;  // for units of time; 0: the target's
};

struct Program {
  format::Executable executable;
  Measure measure;
  std::string note; // what a reader of the figure must know, or empty
};

struct Workload {
  const char *name, *summary;
  absl::StatusOr<Program> (*build)(Parameters &parameters, const target::Target &target);
};
const std::vector<Workload> &workloads();
// Null when there is none.
const Workload *findWorkload(const std::string &name);

// Builds and verifies; the error says which parameter is at fault.
absl::StatusOr<Program> buildProgram(const Workload &workload, const std::string &parameters,
                                     const target::Target &target);

// The builders, one file a family.
absl::StatusOr<Program> buildReduceChain(Parameters &, const target::Target &);
absl::StatusOr<Program> buildReduceTwoPhase(Parameters &, const target::Target &);
absl::StatusOr<Program> buildReduceTwoPhaseTotal(Parameters &, const target::Target &);
absl::StatusOr<Program> buildReduceTree(Parameters &, const target::Target &);
absl::StatusOr<Program> buildBroadcast(Parameters &, const target::Target &);
absl::StatusOr<Program> buildAllReduce(Parameters &, const target::Target &);
absl::StatusOr<Program> buildRelayChain(Parameters &, const target::Target &);
absl::StatusOr<Program> buildMessage(Parameters &, const target::Target &);
absl::StatusOr<Program> buildVector(Parameters &, const target::Target &);
absl::StatusOr<Program> buildGemvOneCore(Parameters &, const target::Target &);
absl::StatusOr<Program> buildGemvMesh(Parameters &, const target::Target &);
absl::StatusOr<Program> buildGemm(Parameters &, const target::Target &);
absl::StatusOr<Program> buildGemmSumma(Parameters &, const target::Target &);
absl::StatusOr<Program> buildGemmCannon(Parameters &, const target::Target &);
absl::StatusOr<Program> buildGemmRing(Parameters &, const target::Target &);
absl::StatusOr<Program> buildStarStencil(Parameters &, const target::Target &);

} // namespace wsc::validation
