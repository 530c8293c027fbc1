// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/NearWindows.h"

#include "runtime/emulator/Kernels.h"
#include "runtime/emulator/LatticeWalk.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>
#include <unistd.h>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr int64_t kFairShare = 4; // copies take at most one part in so many of the host's memory

// Iterations of a configuration, counted from 0, that any entry runs.
int64_t iterationsOf(const Executable &executable, int number) {
  int64_t iterations = 0;
  for (const Entry &entry : executable.entries)
    for (const Step &step : entry.steps)
      if (step.kind == StepKind::Run && step.configuration == number)
        iterations = std::max(iterations, int64_t(step.first) + step.count);
  return iterations;
}

std::shared_ptr<const NearWindow> copied(const Executable &executable, const Resident &resident, const Buffer &window,
                                         int64_t iterations, int64_t room) {
  auto made = std::make_shared<NearWindow>();
  const int64_t cores = resident.cores.size();
  made->coreStep = (window.bytes + 7) / 8 * 8;
  made->iterationStep = cores * made->coreStep;
  const int64_t bytes = iterations * made->iterationStep + kSlackBytes;
  if (made->iterationStep > std::numeric_limits<int32_t>::max() || bytes > room)
    return nullptr;
  std::byte *const copy = made->pages.need(bytes);
  if (!copy)
    return nullptr;
  const std::byte *const section = executable.sections[size_t(resident.section)].bytes.data() + window.residentOffset;
  std::byte *to = copy;
  forEachPoint(resident.cores, [&](const LatticeIndex &index, int32_t, int32_t) {
    const std::byte *from = section + resident.sectionOffset.at(index);
    for (int64_t i = 0; i < iterations; ++i)
      std::memcpy(to + i * made->iterationStep, from + i * window.runStep, size_t(window.bytes));
    to += made->coreStep;
    return true;
  });
  return made;
}

} // namespace

void bringNear(const Executable &executable, int number, std::vector<std::vector<WindowPlace>> &windows) {
  const int64_t iterations = iterationsOf(executable, number);
  if (iterations < 2)
    return;
  int64_t room = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / kFairShare;
  std::map<std::tuple<int32_t, int64_t, int64_t, int64_t>, std::shared_ptr<const NearWindow>> known;
  const std::vector<Role> &roles = executable.configurations[size_t(number)].roles;
  for (size_t r = 0; r < roles.size(); ++r)
    for (size_t b = 0; b < roles[r].buffers.size(); ++b) {
      const Buffer &window = roles[r].buffers[b];
      if (window.kind != BufferKind::Resident || window.runStep == 0)
        continue;
      const Resident &resident = executable.residents[size_t(window.resident)];
      if (resident.section < 0)
        continue;
      const auto [entry, isNew] =
          known.try_emplace({window.resident, window.residentOffset, window.runStep, window.bytes});
      if (isNew && (entry->second = copied(executable, resident, window, iterations, room)))
        room -= iterations * entry->second->iterationStep;
      windows[r][b].near = entry->second;
    }
}

} // namespace wsc::emulator
