// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One interface over the solvers' text problems, for the command line.
#pragma once

#include "compiler/solver/contest/Solve.h"

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace wsc::place {

struct Result {
  std::string solution; // text; empty where one was only checked
  std::string report;   // value, bound, gap, one line each
};

// Solves the problem with `algorithm` (empty: the default of its kind). InvalidArgument: the text is not a problem, or
// there is no such algorithm; ResourceExhausted: no solution found, with the reason.
absl::StatusOr<Result> solveText(const std::string &problem, const std::string &algorithm);

// The algorithms for a problem's kind by name, the default first; none for a text of no known kind.
std::vector<std::string> algorithmsFor(const std::string &problem);
// As solveText(), but a legal solution that would be refused for its quality (links over their capacity) is reported.
absl::StatusOr<Result> measureText(const std::string &problem, const std::string &algorithm);

// Verifies a solution and evaluates it. InvalidArgument: a text is malformed; FailedPrecondition or ResourceExhausted:
// the solution is refused, with the reason. concernsSolution() says which of the two texts an error is about.
absl::StatusOr<Result> checkText(const std::string &problem, const std::string &solution);

bool concernsSolution(const absl::Status &error);

// The same for placement problems and placements of the ISPD 2020 contest (.kgraph and .paint files). The report has
// the time term and the cost, each with its lower bound and the ratio to it.
absl::StatusOr<Result> checkContest(const std::string &kgraph, const std::string &paint);
absl::StatusOr<Result> solveContest(const std::string &kgraph, const solver::contest::SolveOptions &options);

} // namespace wsc::place
