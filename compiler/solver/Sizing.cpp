// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizing problem judged: limits, an independent check of solutions, and the optimum by a scan over all intervals.
#include "compiler/solver/Sizing.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <tuple>

namespace wsc::solver::sizing {

namespace {
constexpr int64_t kMost = int64_t(1) << 40;
constexpr size_t kMostKernels = size_t(1) << 20;
} // namespace

absl::Status Problem::check() const {
  if (columnLimit < 0 || columnLimit > kMost)
    return absl::InvalidArgumentError(
        absl::StrCat("sizing: column limit ", columnLimit, " must be between 0 and ", kMost));
  if (sramLimitBytes && *sramLimitBytes < 0)
    return absl::InvalidArgumentError(absl::StrCat("sizing: SRAM limit ", *sramLimitBytes, " bytes is negative"));
  if (kernels.size() > kMostKernels)
    return absl::InvalidArgumentError(
        absl::StrCat("sizing: ", kernels.size(), " kernels, the limit is ", kMostKernels));
  for (const Kernel &kernel : kernels) {
    if (kernel.candidates.empty())
      return absl::InvalidArgumentError(absl::StrCat("sizing: kernel ", kernel.name, " has no candidates"));
    for (const Candidate &candidate : kernel.candidates)
      for (auto [value, what] : {std::pair{candidate.columns, "columns"}, std::pair{candidate.intervalCycles, "cycles"},
                                 std::pair{candidate.sramBytes, "bytes"}})
        if (value < 0 || value > kMost)
          return absl::InvalidArgumentError(absl::StrCat("sizing: kernel ", kernel.name, ", candidate ", candidate.tag,
                                                         ": ", value, " ", what, " must be between 0 and ", kMost));
  }
  return absl::OkStatus();
}

absl::Status Solution::verify(const Problem &problem) const {
  if (candidateOf.size() != problem.kernels.size())
    return absl::FailedPreconditionError(
        absl::StrCat("sizing: solution has ", candidateOf.size(), " choices for ", problem.kernels.size(), " kernels"));
  int64_t columns = 0;
  for (size_t k = 0; k < candidateOf.size(); ++k) {
    const Kernel &kernel = problem.kernels[k];
    if (candidateOf[k] < 0 || size_t(candidateOf[k]) >= kernel.candidates.size())
      return absl::FailedPreconditionError(absl::StrCat("sizing: kernel ", kernel.name, " has no candidate ",
                                                        candidateOf[k], ", only 0 to ", kernel.candidates.size() - 1));
    const Candidate &candidate = kernel.candidates[candidateOf[k]];
    if (problem.sramLimitBytes && candidate.sramBytes > *problem.sramLimitBytes)
      return absl::FailedPreconditionError(absl::StrCat("sizing: kernel ", kernel.name, ", candidate ", candidate.tag,
                                                        " needs ", candidate.sramBytes, " bytes, the limit is ",
                                                        *problem.sramLimitBytes));
    columns += candidate.columns;
  }
  if (columns > problem.columnLimit)
    return absl::FailedPreconditionError(
        absl::StrCat("sizing: the kernels take ", columns, " columns together, the limit is ", problem.columnLimit));
  return absl::OkStatus();
}

SizingStats evaluate(const Problem &problem, const Solution &solution) {
  SizingStats stats;
  for (size_t k = 0; k < problem.kernels.size(); ++k) {
    const Candidate &candidate = problem.kernels[k].candidates[solution.candidateOf[k]];
    stats.columns += candidate.columns;
    if (stats.slowestKernel < 0 || candidate.intervalCycles > stats.value) {
      stats.value = candidate.intervalCycles;
      stats.slowestKernel = int32_t(k);
    }
  }
  // Intervals from the shortest up, each kernel keeping the fewest columns seen so far: the first interval at which all
  // fit is the optimum.
  std::vector<std::tuple<int64_t, size_t, int64_t>> events;
  for (size_t k = 0; k < problem.kernels.size(); ++k)
    for (const Candidate &candidate : problem.kernels[k].candidates)
      if (!problem.sramLimitBytes || candidate.sramBytes <= *problem.sramLimitBytes)
        events.push_back({candidate.intervalCycles, k, candidate.columns});
  std::sort(events.begin(), events.end());
  std::vector<int64_t> fewest(problem.kernels.size(), -1);
  int64_t columns = 0;
  size_t missing = fewest.size();
  for (size_t e = 0; e < events.size(); ++e) {
    auto [cycles, kernel, candidateColumns] = events[e];
    if (fewest[kernel] < 0) {
      --missing;
      columns += fewest[kernel] = candidateColumns;
    } else if (candidateColumns < fewest[kernel]) {
      columns += candidateColumns - fewest[kernel];
      fewest[kernel] = candidateColumns;
    }
    bool intervalDone = e + 1 == events.size() || std::get<0>(events[e + 1]) != cycles;
    if (intervalDone && missing == 0 && columns <= problem.columnLimit) {
      stats.lowerBound = cycles;
      stats.columnsLowerBound = columns;
      break;
    }
  }
  return stats;
}

} // namespace wsc::solver::sizing
