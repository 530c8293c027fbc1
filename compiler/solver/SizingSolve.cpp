// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binary search for the least interval: with interval T each kernel takes its narrowest candidate that is at most T
// long; more time never needs more columns, so the least T that fits is found by bisection over the candidates' own
// intervals.
#include "compiler/solver/Sizing.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

namespace wsc::solver::sizing {

namespace {

bool isEligible(const Problem &problem, const Candidate &candidate) {
  return !problem.sramLimitBytes || candidate.sramBytes <= *problem.sramLimitBytes;
}

// The narrowest eligible candidate of a kernel within an interval (ties: shorter interval, fewer bytes, earlier); -1:
// none.
int32_t narrowest(const Problem &problem, const Kernel &kernel, int64_t interval) {
  int32_t best = -1;
  auto key = [&](int32_t c) {
    const Candidate &candidate = kernel.candidates[c];
    return std::tuple(candidate.columns, candidate.intervalCycles, candidate.sramBytes);
  };
  for (size_t c = 0; c < kernel.candidates.size(); ++c)
    if (isEligible(problem, kernel.candidates[c]) && kernel.candidates[c].intervalCycles <= interval &&
        (best < 0 || key(int32_t(c)) < key(best)))
      best = int32_t(c);
  return best;
}

constexpr int64_t kImpossible = std::numeric_limits<int64_t>::max();

// Columns all kernels need within an interval; kImpossible if one has no candidate.
int64_t columnsWithin(const Problem &problem, int64_t interval) {
  int64_t columns = 0;
  for (const Kernel &kernel : problem.kernels) {
    int32_t c = narrowest(problem, kernel, interval);
    if (c < 0)
      return kImpossible;
    columns += kernel.candidates[c].columns;
  }
  return columns;
}

absl::Status tooWide(const Problem &problem, int64_t columns) {
  std::vector<std::pair<int64_t, std::string>> widths;
  for (const Kernel &kernel : problem.kernels)
    widths.push_back({kernel.candidates[narrowest(problem, kernel, kImpossible)].columns, kernel.name});
  std::sort(widths.begin(), widths.end(), std::greater<>());
  std::string widest;
  for (size_t i = 0; i < widths.size() && i < 5; ++i)
    absl::StrAppend(&widest, i ? ", " : "", widths[i].second, " ", widths[i].first);
  return absl::ResourceExhaustedError(
      absl::StrCat("the kernels need at least ", columns, " columns together, the limit is ", problem.columnLimit,
                   "; the widest at their narrowest: ", widest, "; take more columns, fewer kernels or narrower ones"));
}

} // namespace

absl::StatusOr<Solution> solve(const Problem &problem) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  std::vector<int64_t> intervals{0};
  for (const Kernel &kernel : problem.kernels) {
    int64_t leastBytes = kImpossible;
    for (const Candidate &candidate : kernel.candidates) {
      leastBytes = std::min(leastBytes, candidate.sramBytes);
      if (isEligible(problem, candidate))
        intervals.push_back(candidate.intervalCycles);
    }
    if (problem.sramLimitBytes && leastBytes > *problem.sramLimitBytes)
      return absl::ResourceExhaustedError(absl::StrCat("kernel ", kernel.name, " needs at least ", leastBytes,
                                                       " bytes on its fullest core, the limit is ",
                                                       *problem.sramLimitBytes, "; offer a candidate over more cores"));
  }
  std::sort(intervals.begin(), intervals.end());
  auto least = std::partition_point(intervals.begin(), intervals.end(), [&](int64_t interval) {
    return columnsWithin(problem, interval) > problem.columnLimit;
  });
  if (least == intervals.end())
    return tooWide(problem, columnsWithin(problem, intervals.back()));
  Solution solution;
  for (const Kernel &kernel : problem.kernels)
    solution.candidateOf.push_back(narrowest(problem, kernel, *least));
  return solution;
}

} // namespace wsc::solver::sizing
