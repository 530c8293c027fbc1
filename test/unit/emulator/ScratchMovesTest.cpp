// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scratch between where it is kept and a slot: what is copied, and that it is enough.
#include "runtime/emulator/ScratchMoves.h"
#include "test/support/Seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace wsc;
using namespace wsc::emulator;

namespace {

using Ranges = std::vector<ScratchRange>;

struct Op {
  Ranges reads, writes; // at most one each
  bool mayWait = false;
};

// Liveness as LiveScratch finds it.
ScratchPlan planOf(const std::vector<Op> &ops, int32_t area) {
  ScratchPlan plan;
  std::vector<bool> live(size_t(area), false);
  const auto mark = [](std::vector<bool> &bytes, const Ranges &ranges, bool value) {
    for (const ScratchRange &range : ranges)
      std::fill_n(bytes.begin() + range.begin, range.bytes, value);
  };
  const auto rangesOf = [](const std::vector<bool> &bytes) {
    Ranges ranges;
    for (int32_t i = 0; i < int32_t(bytes.size()); ++i) {
      if (bytes[size_t(i)] && (i == 0 || !bytes[size_t(i) - 1]))
        ranges.push_back({i, 0});
      if (bytes[size_t(i)])
        ++ranges.back().bytes;
    }
    return ranges;
  };
  plan.live.resize(ops.size());
  for (size_t pc = ops.size(); pc-- > 0;) {
    mark(live, ops[pc].writes, false);
    mark(live, ops[pc].reads, true);
    plan.live[pc] = rangesOf(live);
    std::vector<bool> touched(size_t(area), false);
    mark(touched, ops[pc].writes, true);
    mark(touched, ops[pc].reads, true);
    plan.touched.insert(plan.touched.begin(), rangesOf(touched));
    plan.changed.insert(plan.changed.begin(), ops[pc].writes);
  }
  for (const Op &op : ops)
    plan.mayWait.push_back(op.mayWait);
  plan.layOut();
  return plan;
}

TEST(ScratchMoves, OnlyWhatIsTouchedMoves) {
  // x stays while acc is summed up, twice.
  const ScratchRange x{0, 400}, acc{400, 40};
  const ScratchPlan plan = planOf({{{}, {x}, true},
                                   {{}, {acc}},
                                   {{acc}, {acc}, true}, // waits for the first words
                                   {{acc}, {acc}, true}, // for the second
                                   {{acc}, {}},
                                   {{x}, {}, true}},
                                  440);
  EXPECT_EQ(plan.layoutAt[2], plan.layoutAt[3]);
  EXPECT_EQ(packedBytes(plan.keptAt(2)), 440);
  ScratchPath first(plan, 0), path(plan, 2);
  EXPECT_EQ(first.leave(2).fromSlot, (ScratchCopies{{0, 0, 440}}));
  EXPECT_EQ(path.enter(2), (ScratchCopies{{400, 400, 40}}));
  EXPECT_TRUE(path.leave(3).stays);
  EXPECT_EQ(path.leave(3).fromSlot, (ScratchCopies{{400, 400, 40}}));
  EXPECT_EQ(path.leave(3).fromKept, ScratchCopies());
}

TEST(ScratchMoves, LargeDifferencesHaveLayoutsOfTheirOwn) {
  const ScratchRange x{0, 4000}, y{4000, 8};
  const ScratchPlan plan = planOf({{{}, {x}, true}, {{x}, {y}, true}, {{y}, {}, true}}, 4008);
  EXPECT_NE(plan.layoutAt[1], plan.layoutAt[2]);
  EXPECT_EQ(packedBytes(plan.keptAt(1)), 4000);
  EXPECT_EQ(packedBytes(plan.keptAt(2)), 8);
  ScratchPath path(plan, 1);
  EXPECT_FALSE(path.leave(2).stays);
  EXPECT_EQ(path.leave(2).fromSlot, (ScratchCopies{{4000, 0, 8}}));
}

// Of x each core reads a part alone, wherever it lies while the core waits; z goes with it, as a whole.
TEST(ScratchMoves, PartsAreMovedFromLayoutToLayout) {
  const ScratchRange y{0, 4000}, x{4000, 400}, z{4400, 40};
  ScratchPlan plan =
      planOf({{{}, {y}}, {{}, {x}, true}, {{}, {z}}, {{y}, {}, true}, {{x}, {}, true}, {{z}, {}, true}}, 4440);
  plan.narrow = {{.copy = 1, .first = 0, .last = 4, .range = x}};
  ScratchPath path(plan, 3);
  EXPECT_EQ(path.leave(4).fromKept, (ScratchCopies{{4000, 0, 440}}));
  const NarrowedCopies &copies = path.narrowed(4, ScratchPath::Way::FromKept);
  EXPECT_EQ(copies.common, (ScratchCopies{{4400, 400, 40}}));
  ASSERT_EQ(copies.parts.size(), 1u);
  EXPECT_EQ(copies.parts[0].copy, (ScratchCopy{4000, 0, 400}));
  EXPECT_EQ(copies.parts[0].inSlot, 4000);
}

// Random threads that wait at random: every operation finds what it reads in the slot, and what is kept is enough.
TEST(ScratchMoves, OperationsFindWhatTheyRead) {
  std::mt19937_64 random(test::seedOf(1));
  constexpr int32_t kArea = 600;
  int64_t moved = 0, mattered = 0;
  for (int i = 0; i < test::casesOf(500); ++i) {
    SCOPED_TRACE(::testing::Message() << "case " << i);
    const auto range = [&] {
      const auto begin = int32_t(random() % kArea);
      return Ranges{
          {begin, int32_t(1 + random() % std::min<uint64_t>(random() % 8 ? 24 : 300, uint64_t(kArea - begin)))}};
    };
    std::vector<Op> ops(5 + random() % 40);
    for (Op &op : ops)
      op = {random() % 3 ? range() : Ranges(), random() % 3 ? range() : Ranges(), random() % 3 == 0};
    ops[0].mayWait = true;
    ScratchPlan plan = planOf(ops, kArea);
    std::vector<std::byte> truth(kArea), slot(kArea), kept, whole(kArea);
    const auto fill = [&](std::vector<std::byte> &bytes) {
      for (std::byte &byte : bytes)
        byte = std::byte(random());
    };
    const auto same = [&](const Ranges &ranges, const std::vector<std::byte> &bytes) {
      return std::ranges::all_of(ranges, [&](const ScratchRange &r) {
        return std::equal(bytes.begin() + r.begin, bytes.begin() + r.begin + r.bytes, truth.begin() + r.begin);
      });
    };
    fill(truth);
    kept.resize(size_t(packedBytes(plan.keptAt(0))));
    copyScratch(ScratchPath(plan, 0).pack(), truth.data(), kept.data());
    for (int32_t pc = 0; size_t(pc) < ops.size();) {
      ScratchPath path(plan, pc);
      fill(slot);
      fill(whole);
      copyScratch(path.unpack(), kept.data(), whole.data());
      ASSERT_TRUE(same(plan.live[size_t(pc)], whole)) << "at " << pc;
      for (bool first = true; size_t(pc) < ops.size(); first = false, ++pc) {
        const Op &op = ops[size_t(pc)];
        if (op.mayWait && !first && random() % 2)
          break;
        if (op.mayWait)
          copyScratch(path.enter(pc), kept.data(), slot.data());
        ASSERT_TRUE(same(op.reads, slot)) << "at " << pc;
        for (const ScratchRange &r : op.writes)
          for (int32_t b = r.begin; b < r.begin + r.bytes; ++b)
            truth[size_t(b)] = slot[size_t(b)] = std::byte(random());
      }
      const ScratchPath::Leave &leave = path.leave(pc);
      std::vector<std::byte> next(size_t(packedBytes(plan.keptAt(pc))));
      fill(next);
      if (leave.stays)
        next = kept;
      copyScratch(leave.fromSlot, slot.data(), next.data());
      copyScratch(leave.fromKept, kept.data(), next.data());
      for (const ScratchCopies *copies : {&leave.fromSlot, &leave.fromKept})
        for (const ScratchCopy &copy : *copies)
          moved += copy.bytes;
      mattered += size_t(pc) < ops.size() ? packedBytes(plan.live[size_t(pc)]) : 0;
      kept = std::move(next);
    }
  }
  EXPECT_LT(moved, mattered);
}

} // namespace
