// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of sizing problems and solutions.
#include "compiler/solver/Sizing.h"
#include "compiler/solver/Text.h"

#include "absl/strings/str_cat.h"

namespace wsc::solver::sizing {

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  return readProblem<Problem>(
      text, "sizing",
      {{"columns", [](LineReader &in, Problem &problem) { problem.columnLimit = in.integer("column limit"); }},
       {"sram", [](LineReader &in, Problem &problem) { problem.sramLimitBytes = in.integer("SRAM limit"); }},
       {"kernel", [](LineReader &in, Problem &problem) { problem.kernels.push_back({in.word("name"), {}}); }},
       {"candidate", [](LineReader &in, Problem &problem) {
          Candidate candidate;
          candidate.columns = in.integer("columns");
          candidate.intervalCycles = in.integer("cycles");
          candidate.sramBytes = in.integer("bytes");
          candidate.tag = in.word("tag");
          if (Kernel *kernel = in.lastOf(problem.kernels, "kernel"))
            kernel->candidates.push_back(candidate);
        }}});
}

std::string printProblem(const Problem &problem) {
  std::string text = absl::StrCat("wsc-problem sizing 1\ncolumns ", problem.columnLimit, "\n");
  if (problem.sramLimitBytes)
    absl::StrAppend(&text, "sram ", *problem.sramLimitBytes, "\n");
  for (const Kernel &kernel : problem.kernels) {
    absl::StrAppend(&text, "kernel ", quoted(kernel.name), "\n");
    for (const Candidate &candidate : kernel.candidates)
      absl::StrAppend(&text, "candidate ", candidate.columns, " ", candidate.intervalCycles, " ", candidate.sramBytes,
                      " ", quoted(candidate.tag), "\n");
  }
  return text;
}

absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem) {
  Solution solution;
  absl::Status status = readSolution(text, "sizing", "kernel", problem.kernels, [&](LineReader &in) {
    solution.candidateOf.push_back(in.integer32("candidate"));
  });
  if (!status.ok())
    return status;
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  return writeSolution("sizing", "kernel", problem.kernels, solution.candidateOf,
                       [](int32_t candidate) { return absl::StrCat(" ", candidate); });
}

} // namespace wsc::solver::sizing
