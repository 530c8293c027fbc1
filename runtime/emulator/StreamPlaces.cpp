// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream's words lie together, source by source, which is the order in which its first sink's router sees them; so
// gathers and multicasts need no copy, and a sink whose composition is not one stretch (a scatter among several
// sources) is given a list of pieces. Streams between tasks share a block of the common arena with all others of the
// same lifetime; blocks take the first free gap over levels. Streams inside a task reuse slots of equal size.
#include "runtime/emulator/StreamPlaces.h"

#include "runtime/emulator/LatticeWalk.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr int64_t kAlignWords = 16;
int64_t aligned(int64_t words) { return (words + kAlignWords - 1) / kAlignWords * kAlignWords; }

int64_t streamWords(const Stream &stream) {
  int64_t words = 0;
  for (const Endpoint &source : stream.sources)
    words += source.wordsPerSample;
  return words;
}

// Places blocks with lifetimes [first, last] (levels) first-fit; returns the size of the arena.
struct Block {
  int32_t first, last;
  int64_t words, base;
};
int64_t placeBlocks(std::vector<Block> &blocks) {
  std::sort(blocks.begin(), blocks.end(), [](const Block &x, const Block &y) {
    return std::make_pair(x.first, x.last) < std::make_pair(y.first, y.last);
  });
  int64_t top = 0;
  std::vector<const Block *> live; // by base
  for (Block &block : blocks) {
    live.erase(std::remove_if(live.begin(), live.end(), [&](const Block *b) { return b->last < block.first; }),
               live.end());
    int64_t base = 0;
    auto at = live.begin();
    for (; at != live.end() && (*at)->base < base + block.words; ++at)
      base = std::max(base, (*at)->base + (*at)->words);
    block.base = base;
    live.insert(std::upper_bound(live.begin(), live.end(), &block,
                                 [](const Block *x, const Block *y) { return x->base < y->base; }),
                &block);
    top = std::max(top, base + block.words);
  }
  return top;
}

class Placer {
public:
  Placer(const Configuration &configuration, const Networks &networks, const std::vector<StreamLife> &lives,
         UnitSchedule &schedule)
      : configuration(configuration), networks(networks), lives(lives), schedule(schedule),
        base(networks.streams.size(), 0) {}

  void place() {
    placeCommon();
    placeLocal();
    schedule.portPlace.assign(networks.streamTable.size(), WordPlace{});
    for (size_t s = 0; s < networks.streams.size(); ++s)
      bind(int32_t(s));
  }

private:
  void placeCommon() {
    std::map<std::pair<int32_t, int32_t>, int64_t> sizes;
    for (size_t s = 0; s < lives.size(); ++s)
      if (!lives[s].local) {
        int64_t &size = sizes[{lives[s].first, lives[s].last}];
        base[s] = size;
        size += aligned(streamWords(networks.streams[s]));
      }
    std::vector<Block> blocks;
    for (const auto &[life, words] : sizes)
      blocks.push_back({life.first, life.second, words, 0});
    schedule.commonWords = placeBlocks(blocks);
    std::map<std::pair<int32_t, int32_t>, int64_t> at;
    for (const Block &block : blocks)
      at[{block.first, block.last}] = block.base;
    for (size_t s = 0; s < lives.size(); ++s)
      if (!lives[s].local)
        base[s] += at[{lives[s].first, lives[s].last}];
  }

  void placeLocal() {
    std::vector<int32_t> sinksLeft(lives.size(), -1);
    std::unordered_map<int64_t, std::vector<int64_t>> freeSlots;
    for (const ScheduledTask &task : schedule.tasks) {
      int64_t top = 0;
      freeSlots.clear();
      for (uint32_t u = task.unitBegin; u < task.unitEnd; ++u) {
        const ScheduledUnit &unit = schedule.units[u];
        const Role &role = configuration.roles[unit.role];
        const int64_t ports = unit.count * int64_t(role.queues.size());
        const int64_t offset = networks.roleOffset[unit.role] + unit.first * int64_t(role.queues.size());
        for (bool output : {true, false})
          for (int64_t p = 0; p < ports; ++p) {
            const int32_t s = networks.streamTable[offset + p];
            if (s < 0 || !lives[s].local || role.queues[p % int64_t(role.queues.size())].output != output)
              continue;
            const int64_t words = aligned(streamWords(networks.streams[s]));
            std::vector<int64_t> &slots = freeSlots[words];
            if (output && sinksLeft[s] < 0) {
              sinksLeft[s] = int32_t(networks.streams[s].sinks.size());
              if (slots.empty()) {
                base[s] = top;
                top += words;
              } else {
                base[s] = slots.back();
                slots.pop_back();
              }
            } else if (!output && --sinksLeft[s] == 0) {
              slots.push_back(base[s]); // free from the next unit on: this unit's outputs have their slots already
            }
          }
      }
      schedule.localWords = std::max(schedule.localWords, top);
    }
  }

  void bind(int32_t s) {
    const Stream stream = networks.streams[s];
    const WordPlace::Kind kind = lives[s].local ? WordPlace::Local : WordPlace::Common;
    start.assign(stream.sources.size(), 0);
    int64_t at = base[s];
    for (size_t i = 0; i < stream.sources.size(); ++i) {
      start[i] = at;
      at += stream.sources[i].wordsPerSample;
      bindEnd(stream.sources[i], WordPlace(kind, uint64_t(start[i])), schedule.inputs);
    }
    for (size_t i = 0; i < stream.sinks.size(); ++i) {
      const auto composition = stream.compositions[size_t(stream.sinkComposition[i])];
      bool together = true;
      for (size_t k = 1; k < composition.size(); ++k)
        together &= start[composition[k].source] + composition[k].begin ==
                    start[composition[k - 1].source] + composition[k - 1].begin + composition[k - 1].count;
      WordPlace place(kind, composition.empty() ? 0 : uint64_t(start[composition[0].source] + composition[0].begin));
      if (!together) {
        place = WordPlace(WordPlace::Pieced, schedule.pieces.size());
        std::vector<Piece> pieces;
        for (const Segment &segment : composition)
          pieces.push_back({WordPlace(kind, uint64_t(start[segment.source] + segment.begin)), segment.count});
        schedule.pieces.push_back(std::move(pieces));
      }
      bindEnd(stream.sinks[i], place, schedule.outputs);
    }
  }

  void bindEnd(const Endpoint &end, WordPlace place, std::vector<IoLane> &lanes) {
    if (end.role < 0) {
      lanes.push_back({end.binding, end.index, place});
      return;
    }
    const Role &role = configuration.roles[end.role];
    schedule.portPlace[networks.roleOffset[end.role] +
                       latticeOrdinal(role.cores, end.index) * int64_t(role.queues.size()) + end.queue] = place;
  }

  const Configuration &configuration;
  const Networks &networks;
  const std::vector<StreamLife> &lives;
  UnitSchedule &schedule;
  std::vector<int64_t> base; // per stream, words
  std::vector<int64_t> start;
};

} // namespace

void placeStreams(const Configuration &configuration, const Networks &networks, const std::vector<StreamLife> &lives,
                  UnitSchedule &schedule) {
  Placer(configuration, networks, lives, schedule).place();
}

} // namespace wsc::emulator
