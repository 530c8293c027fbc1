// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SRAM allocation: limits, an independent check, the bound, and first fit in three orders.
//
// verify() walks the buffers by address and compares each with those that end behind its begin; the algorithm looks,
// for one buffer after the other, for the first aligned hole between the placed buffers that live at the same time.
#include "compiler/solver/Allocation.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace wsc::solver::allocation {

namespace {
constexpr int64_t kMostBytes = int64_t(1) << 40;
constexpr size_t kMostBuffers = size_t(1) << 16;
constexpr char kMissingBytes[] = "wsc/solver/missing_bytes";

bool liveTogether(const Buffer &a, const Buffer &b) { return a.lifeBegin < b.lifeEnd && b.lifeBegin < a.lifeEnd; }
} // namespace

absl::Status Problem::check() const {
  if (begin < 0 || limit < begin || limit > kMostBytes)
    return absl::InvalidArgumentError(absl::StrCat("allocation: range [", begin, ", ", limit,
                                                   ") must not be reversed, inside [0, ", kMostBytes, ")"));
  if (bankBytes < 0 || bankBytes > kMostBytes)
    return absl::InvalidArgumentError(
        absl::StrCat("allocation: banks of ", bankBytes, " bytes must have 0 to ", kMostBytes));
  if (buffers.size() > kMostBuffers)
    return absl::InvalidArgumentError(
        absl::StrCat("allocation: ", buffers.size(), " buffers, the limit is ", kMostBuffers));
  for (const Buffer &buffer : buffers) {
    std::string where = absl::StrCat("allocation: buffer ", buffer.name);
    if (buffer.bytes < 0 || buffer.bytes > kMostBytes)
      return absl::InvalidArgumentError(
          absl::StrCat(where, " has ", buffer.bytes, " bytes, must be 0 to ", kMostBytes));
    if (buffer.alignment < 1 || buffer.alignment > kMostBytes || (buffer.alignment & (buffer.alignment - 1)) != 0)
      return absl::InvalidArgumentError(
          absl::StrCat(where, " has alignment ", buffer.alignment, ", must be a power of two up to ", kMostBytes));
    if (buffer.lifeBegin >= buffer.lifeEnd)
      return absl::InvalidArgumentError(
          absl::StrCat(where, " lives in [", buffer.lifeBegin, ", ", buffer.lifeEnd, "), which is empty"));
    if (buffer.preferredBank && (bankBytes == 0 || *buffer.preferredBank < 0))
      return absl::InvalidArgumentError(
          absl::StrCat(where, " prefers bank ", *buffer.preferredBank,
                       bankBytes == 0 ? ", but there are no banks" : ", which is negative"));
  }
  return absl::OkStatus();
}

absl::Status Solution::verify(const Problem &problem) const {
  if (addressOf.size() != problem.buffers.size())
    return absl::FailedPreconditionError(absl::StrCat("allocation: solution has ", addressOf.size(), " addresses for ",
                                                      problem.buffers.size(), " buffers"));
  std::vector<size_t> byAddress;
  for (size_t b = 0; b < addressOf.size(); ++b) {
    const Buffer &buffer = problem.buffers[b];
    if (addressOf[b] < problem.begin || addressOf[b] > problem.limit || buffer.bytes > problem.limit - addressOf[b])
      return absl::FailedPreconditionError(absl::StrCat("allocation: buffer ", buffer.name, " of ", buffer.bytes,
                                                        " bytes at ", addressOf[b], " leaves range [", problem.begin,
                                                        ", ", problem.limit, ")"));
    if (addressOf[b] % buffer.alignment != 0)
      return absl::FailedPreconditionError(absl::StrCat("allocation: buffer ", buffer.name, " at ", addressOf[b],
                                                        " is not aligned to ", buffer.alignment, " bytes"));
    if (buffer.bytes > 0)
      byAddress.push_back(b);
  }
  std::sort(byAddress.begin(), byAddress.end(),
            [&](size_t a, size_t b) { return std::tie(addressOf[a], a) < std::tie(addressOf[b], b); });
  for (size_t i = 0; i < byAddress.size(); ++i) {
    const Buffer &low = problem.buffers[byAddress[i]];
    int64_t end = addressOf[byAddress[i]] + low.bytes;
    for (size_t j = i + 1; j < byAddress.size() && addressOf[byAddress[j]] < end; ++j) {
      const Buffer &high = problem.buffers[byAddress[j]];
      if (std::max(low.lifeBegin, high.lifeBegin) < std::min(low.lifeEnd, high.lifeEnd))
        return absl::FailedPreconditionError(absl::StrCat("allocation: buffers ", low.name, " and ", high.name,
                                                          " live together and overlap at ", addressOf[byAddress[j]]));
    }
  }
  return absl::OkStatus();
}

namespace {

// Most bytes live at one time, and the first such time.
std::pair<int64_t, int64_t> mostLive(const Problem &problem) {
  std::vector<std::pair<int64_t, int64_t>> changes; // time, bytes; at one time ends come before begins
  for (const Buffer &buffer : problem.buffers) {
    changes.push_back({buffer.lifeBegin, buffer.bytes});
    changes.push_back({buffer.lifeEnd, -buffer.bytes});
  }
  std::sort(changes.begin(), changes.end());
  int64_t live = 0, most = 0, when = 0;
  for (auto [time, bytes] : changes) {
    live += bytes;
    if (live > most) {
      most = live;
      when = time;
    }
  }
  return {most, when};
}

// First fit over buffers in `order`; false, with the buffer that found no space.
bool firstFit(const Problem &problem, const std::vector<int32_t> &order, bool useBanks, Solution &solution,
              int32_t &failed) {
  solution.addressOf.assign(problem.buffers.size(), problem.begin);
  std::vector<int32_t> placed; // by address
  for (int32_t b : order) {
    const Buffer &buffer = problem.buffers[b];
    auto align = [&](int64_t address) { return (address + buffer.alignment - 1) & -buffer.alignment; };
    auto holeFrom = [&](int64_t address) {
      address = align(address);
      for (int32_t other : placed) {
        const Buffer &neighbour = problem.buffers[other];
        if (!liveTogether(buffer, neighbour))
          continue;
        if (address + buffer.bytes <= solution.addressOf[other])
          break;
        address = std::max(address, align(solution.addressOf[other] + neighbour.bytes));
      }
      return address;
    };
    bool found = false;
    int64_t address = 0;
    if (useBanks && buffer.preferredBank && *buffer.preferredBank <= problem.limit / problem.bankBytes) {
      int64_t bankBegin = problem.bankBytes * *buffer.preferredBank;
      address = holeFrom(std::max(problem.begin, bankBegin));
      found = address < bankBegin + problem.bankBytes && address <= problem.limit - buffer.bytes;
    }
    if (!found)
      address = holeFrom(problem.begin);
    if (address > problem.limit - buffer.bytes) {
      failed = b;
      return false;
    }
    solution.addressOf[b] = address;
    if (buffer.bytes > 0)
      placed.insert(std::upper_bound(placed.begin(), placed.end(), address,
                                     [&](int64_t a, int32_t p) { return a < solution.addressOf[p]; }),
                    b);
  }
  return true;
}

absl::Status noRoom(const Problem &problem, int32_t failed) {
  auto [most, when] = mostLive(problem);
  std::vector<int32_t> live;
  for (size_t b = 0; b < problem.buffers.size(); ++b)
    if (problem.buffers[b].lifeBegin <= when && when < problem.buffers[b].lifeEnd)
      live.push_back(int32_t(b));
  std::sort(live.begin(), live.end(), [&](int32_t a, int32_t b) {
    return std::pair(-problem.buffers[a].bytes, a) < std::pair(-problem.buffers[b].bytes, b);
  });
  constexpr size_t kMostNames = 8;
  std::string largest;
  int64_t rest = 0;
  for (size_t i = 0; i < live.size(); ++i) {
    if (i < kMostNames)
      absl::StrAppend(&largest, i ? ", " : "", problem.buffers[live[i]].name, " ", problem.buffers[live[i]].bytes);
    else
      rest += problem.buffers[live[i]].bytes;
  }
  if (live.size() > kMostNames)
    absl::StrAppend(&largest, ", ", live.size() - kMostNames, " others ", rest);
  const Buffer &buffer = problem.buffers[failed];
  absl::Status status = absl::ResourceExhaustedError(absl::StrCat(
      "buffer ", buffer.name, " of ", buffer.bytes, " bytes, aligned to ", buffer.alignment, ", finds no space in [",
      problem.begin, ", ", problem.limit, "); at step ", when, " ", most, " bytes are live, ",
      problem.limit - problem.begin, " are available: ", largest, "; split the largest over more cores"));
  // Where gaps are all that is in the way, as much as the buffer that found no space.
  const int64_t missing = most > problem.limit - problem.begin ? most - (problem.limit - problem.begin) : buffer.bytes;
  setMissingBytes(status, missing);
  return status;
}

} // namespace

int64_t missingBytes(const absl::Status &status) {
  int64_t bytes = 0;
  if (const auto payload = status.GetPayload(kMissingBytes))
    (void)absl::SimpleAtoi(std::string(*payload), &bytes);
  return bytes;
}

void setMissingBytes(absl::Status &status, int64_t bytes) {
  status.SetPayload(kMissingBytes, absl::Cord(absl::string_view(absl::StrCat(bytes))));
}

absl::StatusOr<Solution> solve(const Problem &problem) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  const std::vector<Buffer> &buffers = problem.buffers;
  std::vector<std::vector<int32_t>> orders(3, std::vector<int32_t>(buffers.size()));
  for (auto &order : orders)
    std::iota(order.begin(), order.end(), 0);
  auto duration = [](const Buffer &buffer) { return uint64_t(buffer.lifeEnd) - uint64_t(buffer.lifeBegin); };
  std::sort(orders[0].begin(), orders[0].end(),
            [&](int32_t a, int32_t b) { return std::pair(-buffers[a].bytes, a) < std::pair(-buffers[b].bytes, b); });
  std::sort(orders[1].begin(), orders[1].end(), [&](int32_t a, int32_t b) {
    return std::tuple(duration(buffers[b]), buffers[b].bytes, a) <
           std::tuple(duration(buffers[a]), buffers[a].bytes, b);
  });
  std::sort(orders[2].begin(), orders[2].end(), [&](int32_t a, int32_t b) {
    return std::tuple(buffers[a].lifeBegin, -buffers[a].bytes, a) <
           std::tuple(buffers[b].lifeBegin, -buffers[b].bytes, b);
  });
  Solution solution;
  int32_t failed = -1, ignored = -1;
  // With the preferred banks if that fits in any order, else without.
  for (bool useBanks : {true, false})
    for (const auto &order : orders)
      if (firstFit(problem, order, useBanks, solution, failed < 0 ? failed : ignored))
        return solution;
  return noRoom(problem, failed);
}

AllocationStats evaluate(const Problem &problem, const Solution &solution) {
  AllocationStats stats;
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer &buffer = problem.buffers[b];
    if (buffer.bytes > 0)
      stats.value = std::max(stats.value, solution.addressOf[b] + buffer.bytes - problem.begin);
    if (buffer.preferredBank) {
      ++stats.preferredBanks;
      stats.preferredBanksMet += solution.addressOf[b] / problem.bankBytes == *buffer.preferredBank;
    }
  }
  stats.lowerBound = mostLive(problem).first;
  return stats;
}

} // namespace wsc::solver::allocation
