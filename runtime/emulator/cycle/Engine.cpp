// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The run: cycle after cycle in which something may happen, ports first, then all strips side by side, then what they
// have to tell each other. It ends when nothing is left that could happen.
#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/emulator/cycle/Ports.h"
#include "runtime/emulator/cycle/Report.h"
#include "runtime/emulator/cycle/Team.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <thread>

namespace wsc::emulator {

using namespace cycle;

namespace {

std::vector<Strip> makeStrips(Fabric &fabric, const CycleOptions &options) {
  int threads = options.threads > 0 ? options.threads : int(std::thread::hardware_concurrency());
  threads = int(std::clamp<size_t>(size_t(std::max(threads, 1)), 1, std::max<size_t>(1, fabric.tiles.size())));
  std::vector<uint32_t> ends;
  for (int s = 1; s <= threads; ++s)
    ends.push_back(uint32_t(fabric.tiles.size() * size_t(s) / size_t(threads)));
  const auto stripOf = [&](Party party) {
    return std::upper_bound(ends.begin(), ends.end(), party / kPartiesPerTile) - ends.begin();
  };
  for (uint32_t id : fabric.nodeQueues) {
    WordQueue &queue = fabric.queue(id);
    if (queue.taker != kNobody && queue.sender != kNobody && !(queue.flags & kSenderIsPort) &&
        stripOf(queue.taker) != stripOf(queue.sender))
      queue.flags |= kCrossesStrips;
  }
  std::vector<Strip> strips;
  strips.reserve(size_t(threads));
  for (int s = 0; s < threads; ++s)
    strips.emplace_back(fabric, s == 0 ? 0 : ends[size_t(s) - 1], ends[size_t(s)], options);
  return strips;
}

} // namespace

absl::StatusOr<CycleResult> runCycles(const format::Executable &executable, int configuration,
                                      const CycleOptions &options) {
  if (configuration < 0 || configuration >= int(executable.configurations.size()))
    return absl::InvalidArgumentError(
        absl::StrCat("configuration ", configuration, " does not exist; there are ", executable.configurations.size()));
  if (options.samples < 1)
    return absl::InvalidArgumentError(absl::StrCat(options.samples, " samples; at least 1 can be run"));
  absl::StatusOr<Fabric> built = buildFabric(executable, configuration, options.samples);
  if (!built.ok())
    return built.status();
  Fabric &fabric = *built;
  std::vector<Strip> strips = makeStrips(fabric, options);
  Ports ports(fabric, executable.target);
  Team team(int(strips.size()));
  CycleResult result;
  for (int64_t now = -1;;) {
    int64_t next = ports.nextCycle(now);
    size_t waiting = 0;
    for (const Strip &strip : strips) {
      next = std::min(next, strip.nextCycle());
      waiting += strip.waiting();
    }
    if (next == kNever)
      break;
    if (options.mostCycles > 0 && next >= options.mostCycles)
      return tooLong(fabric, options);
    now = next;
    if (!fabric.ports.empty())
      ports.step(now, strips);
    if (waiting >= size_t(std::max(0, options.leastTilesPerThread)) * strips.size())
      team.run([&](int s) { strips[size_t(s)].step(now); });
    else
      for (Strip &strip : strips)
        strip.step(now);
    bool active = false;
    StrayControl stray;
    for (Strip &strip : strips) {
      active |= strip.wasActive;
      if (strip.stray.tile < stray.tile)
        stray = strip.stray;
      for (const Wake &wake : strip.outbox)
        for (Strip &other : strips)
          if (other.holds(wake.party))
            other.wake(wake.party, wake.cycle);
      strip.outbox.clear();
      for (const Wake &wake : strip.portWakes)
        ports.wake(wake);
      strip.portWakes.clear();
    }
    result.simulatedCycles += active;
    if (stray.tile != kNone)
      return strayControl(fabric, stray, now);
  }
  if (absl::Status status = checkEnd(fabric, options, strips); !status.ok())
    return status;
  collect(fabric, options, strips, result);
  return result;
}

} // namespace wsc::emulator
