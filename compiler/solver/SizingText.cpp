// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of sizing problems and solutions.
#include "compiler/solver/Sizing.h"
#include "compiler/solver/Text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::solver::sizing {

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  LineReader in(text, "wsc-problem", "sizing");
  Problem problem;
  while (in.next()) {
    if (in.keyword() == "columns") {
      problem.columnLimit = in.integer("column limit");
    } else if (in.keyword() == "sram") {
      problem.sramLimitBytes = in.integer("SRAM limit");
    } else if (in.keyword() == "kernel") {
      problem.kernels.push_back({in.word("name"), {}});
    } else if (in.keyword() == "candidate") {
      Candidate candidate;
      candidate.columns = in.integer("columns");
      candidate.intervalCycles = in.integer("cycles");
      candidate.sramBytes = in.integer("bytes");
      candidate.tag = in.word("tag");
      if (problem.kernels.empty())
        in.fail("'candidate' before the first 'kernel'");
      else
        problem.kernels.back().candidates.push_back(candidate);
    } else {
      in.failKeyword("'columns', 'sram', 'kernel' or 'candidate'");
    }
    in.endLine();
  }
  if (!in.ok())
    return in.status();
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  return problem;
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
  LineReader in(text, "wsc-solution", "sizing");
  Solution solution;
  while (in.next()) {
    size_t k = solution.candidateOf.size();
    expectEntry(in, "kernel", k, problem.kernels.size(), k < problem.kernels.size() ? problem.kernels[k].name : "");
    solution.candidateOf.push_back(in.integer32("candidate"));
    in.endLine();
  }
  if (!in.ok())
    return in.status();
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  std::string text = "wsc-solution sizing 1\n";
  for (size_t k = 0; k < std::min(problem.kernels.size(), solution.candidateOf.size()); ++k)
    absl::StrAppend(&text, "kernel ", quoted(problem.kernels[k].name), " ", solution.candidateOf[k], "\n");
  return text;
}

} // namespace wsc::solver::sizing
