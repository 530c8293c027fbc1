// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocation: against exhaustive search over orders, refusals and messages, banks, and many buffers.
#include "compiler/solver/Allocation.h"
#include "test/support/Sanitizers.h"
#include "test/unit/solver/TestUtil.h"

#include <algorithm>
#include <numeric>

using namespace wsc::solver;
using namespace wsc::solver::allocation;
using test::message;

namespace {

// Least end of the highest buffer. Any packing can be pushed down buffer by buffer, so placing each as low as possible
// in all orders finds it.
int64_t exhaustive(const Problem &problem) {
  std::vector<size_t> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), size_t(0));
  int64_t best = -1;
  do {
    std::vector<int64_t> address(order.size(), -1);
    int64_t top = 0;
    for (size_t b : order) {
      const Buffer &buffer = problem.buffers[b];
      int64_t at = problem.begin;
      auto free = [&] {
        if (at % buffer.alignment)
          return false;
        for (size_t o = 0; o < order.size(); ++o) {
          const Buffer &other = problem.buffers[o];
          if (address[o] >= 0 && other.lifeBegin < buffer.lifeEnd && buffer.lifeBegin < other.lifeEnd &&
              at < address[o] + other.bytes && address[o] < at + buffer.bytes)
            return false;
        }
        return true;
      };
      while (!free())
        ++at;
      address[b] = at;
      top = std::max(top, at + buffer.bytes - problem.begin);
    }
    if (best < 0 || top < best)
      best = top;
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

Problem threeBuffers() {
  return {100, 160, 32, {{"w", 32, 4, {}, 0, kForever}, {"x", 20, 4, {}, 0, 2}, {"y", 24, 8, {}, 2, 3}}};
}

TEST(Allocation, LiesBetweenBoundAndExhaustiveSearch) {
  test::Random random(1);
  int optimal = 0, refused = 0;
  for (int round = 0; round < 400; ++round) {
    Problem problem{random.in(0, 7), 10000, 0, {}};
    for (int b = 0, buffers = random.in(1, 6); b < buffers; ++b) {
      int begin = random.in(0, 4);
      problem.buffers.push_back(
          {"b" + std::to_string(b), random.in(1, 12), 1 << random.in(0, 3), {}, begin, random.in(begin + 1, 6)});
    }
    int64_t optimum = exhaustive(problem);
    absl::StatusOr<Solution> solution = solve(problem);
    ASSERT_TRUE(solution.ok()) << message(solution.status());
    EXPECT_TRUE(solution->verify(problem).ok()) << message(solution->verify(problem));
    AllocationStats stats = evaluate(problem, *solution);
    EXPECT_GE(stats.value, optimum) << printProblem(problem);
    EXPECT_LE(stats.lowerBound, optimum) << printProblem(problem);
    optimal += stats.value == optimum;
    // One byte less than the least: nothing fits.
    problem.limit = problem.begin + optimum - 1;
    EXPECT_TRUE(absl::IsResourceExhausted(solve(problem).status())) << printProblem(problem);
    ++refused;
  }
  std::printf("400 instances, %d solved optimally, %d refused one byte below the optimum\n", optimal, refused);
  EXPECT_GT(optimal, 200);
}

TEST(Allocation, BuffersThatTakeTurnsShareBytes) {
  Problem problem = threeBuffers();
  absl::StatusOr<Solution> solution = solve(problem);
  ASSERT_TRUE(solution.ok()) << message(solution.status());
  EXPECT_EQ(solution->addressOf, (std::vector<int64_t>{100, 132, 136}));
  EXPECT_EQ(evaluate(problem, *solution).value, 60);
  EXPECT_EQ(evaluate(problem, *solution).lowerBound, 56);
}

TEST(Allocation, PreferredBanksAreMetWhereThereIsRoom) {
  Problem problem{0, 128, 32, {{"w", 32, 4, 2}, {"x", 16, 4, 1}, {"y", 16, 4, 2}}};
  absl::StatusOr<Solution> solution = solve(problem);
  ASSERT_TRUE(solution.ok());
  EXPECT_EQ(solution->addressOf, (std::vector<int64_t>{64, 32, 0}));
  AllocationStats stats = evaluate(problem, *solution);
  EXPECT_EQ(stats.preferredBanks, 3);
  EXPECT_EQ(stats.preferredBanksMet, 2);
  // A wish never costs the fit: with the banks respected, v would find no hole of 64 bytes.
  problem.buffers.push_back({"v", 64, 4, {}});
  solution = solve(problem);
  ASSERT_TRUE(solution.ok()) << message(solution.status());
  EXPECT_TRUE(solution->verify(problem).ok());
}

TEST(Allocation, WrongSolutionsAreRefused) {
  Problem problem = threeBuffers();
  EXPECT_TRUE((Solution{{128, 100, 104}}.verify(problem).ok()));
  EXPECT_EQ(message(Solution{{100}}.verify(problem)), "allocation: solution has 1 addresses for 3 buffers");
  EXPECT_EQ(message(Solution{{100, 144, 136}}.verify(problem)),
            "allocation: buffer x of 20 bytes at 144 leaves range [100, 160)");
  EXPECT_EQ(message(Solution{{96, 132, 136}}.verify(problem)),
            "allocation: buffer w of 32 bytes at 96 leaves range [100, 160)");
  EXPECT_EQ(message(Solution{{100, 132, 132}}.verify(problem)),
            "allocation: buffer y at 132 is not aligned to 8 bytes");
  EXPECT_EQ(message(Solution{{100, 128, 136}}.verify(problem)),
            "allocation: buffers w and x live together and overlap at 128");
}

TEST(Allocation, FailuresNameBuffersAndLimits) {
  Problem problem = threeBuffers();
  problem.limit = 150;
  EXPECT_EQ(message(solve(problem).status()),
            "buffer y of 24 bytes, aligned to 8, finds no space in [100, 150); at step 2 56 bytes are live, 50 are "
            "available: w 32, y 24; split the largest over more cores");
  EXPECT_EQ(missingBytes(solve(problem).status()), 6);
  problem.buffers[1].alignment = 12;
  EXPECT_EQ(message(problem.check()),
            "allocation: buffer x has alignment 12, must be a power of two up to 1099511627776");
  problem = threeBuffers();
  problem.buffers[1].lifeEnd = 0;
  EXPECT_EQ(message(problem.check()), "allocation: buffer x lives in [0, 0), which is empty");
  problem = threeBuffers();
  problem.bankBytes = 0;
  problem.buffers[0].preferredBank = 1;
  EXPECT_EQ(message(problem.check()), "allocation: buffer w prefers bank 1, but there are no banks");
  problem.limit = 99;
  EXPECT_EQ(message(problem.check()), "allocation: range [100, 99) must not be reversed, inside [0, 1099511627776)");
}

TEST(Allocation, ThousandsOfBuffers) {
  test::Random random(2);
  Problem problem{0, 1 << 20, 0, {}};
  for (int b = 0; b < 5000; ++b) {
    int begin = random.in(0, 1000);
    problem.buffers.push_back({"b" + std::to_string(b), random.in(1, 2000), 16, {}, begin, begin + random.in(1, 30)});
  }
  absl::StatusOr<Solution> solution = absl::InternalError("");
  double ms = test::milliseconds("5,000 buffers", [&] { solution = solve(problem); });
  ASSERT_TRUE(solution.ok()) << message(solution.status());
  EXPECT_TRUE(solution->verify(problem).ok());
  AllocationStats stats = evaluate(problem, *solution);
  std::printf("%lld bytes, bound %lld\n", static_cast<long long>(stats.value),
              static_cast<long long>(stats.lowerBound));
  EXPECT_LT(ms, 3000 * wsc::test::kSlowdown);
}

} // namespace
