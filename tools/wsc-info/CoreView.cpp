// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything about one core: what resides there, its role, memory map, queues, program with affine values resolved, and
// the settings of its router.
#include "runtime/format/Disassembly.h"
#include "runtime/format/MemoryMap.h"
#include "tools/wsc-info/Views.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace wsc::info {

using namespace format;

static std::string showMemory(const Executable &executable, const Role &role, const LatticeIndex &index) {
  MemoryMap map = memoryMap(executable.target, role);
  std::string text = absl::StrCat("  memory: ", map.usedBytes, " of ", executable.target.sramBytes, " bytes used, ",
                                  map.freeBytes, " free\n");
  for (const MemoryRegion &region : map.regions) {
    absl::StrAppend(
        &text, absl::StrFormat("    %6d .. %-6d %6d  ", region.address, region.address + region.bytes, region.bytes),
        printable(region.name));
    if (region.buffer >= 0) {
      const Buffer &buffer = role.buffers[size_t(region.buffer)];
      absl::StrAppend(&text, "  ", std::string(bufferKindName(buffer.kind)), " ",
                      std::string(elementTypeName(buffer.type)));
      if (buffer.kind == BufferKind::Constant)
        absl::StrAppend(&text, " from section ", printable(executable.sections[size_t(buffer.section)].name), " at ",
                        printAffine(buffer.sectionOffset, &index));
      if (buffer.kind == BufferKind::State)
        absl::StrAppend(&text, " of ", printable(executable.states[size_t(buffer.state)].tensor.name));
      if (buffer.kind == BufferKind::Resident)
        absl::StrAppend(&text, " ", printable(executable.residents[size_t(buffer.resident)].name), " from ",
                        buffer.residentOffset);
      if (buffer.runStep != 0)
        absl::StrAppend(&text, ", ", buffer.runStep, " further per iteration");
    }
    text += "\n";
  }
  return text;
}

static std::string showProgram(const Executable &executable, const Role &role, const LatticeIndex &index) {
  std::string text = role.queues.empty() ? "  no queues\n" : "  queues:\n";
  for (const Queue &queue : role.queues) {
    const auto &depths = queue.output ? executable.target.outputQueueWords : executable.target.inputQueueWords;
    absl::StrAppend(&text, "    ", queue.output ? "out" : "in", int(queue.index), "  colour ", int(queue.colour), ", ",
                    depths[queue.index], " words");
    if (queue.filter.period != 0)
      absl::StrAppend(&text, ", passes ", printAffine(queue.filter.words, &index), " from ",
                      printAffine(queue.filter.begin, &index), " on of every ", queue.filter.period);
    text += "\n";
  }
  for (size_t t = 0; t < role.threads.size(); ++t)
    absl::StrAppend(&text, "  thread ", t, ":\n", disassemble(role, role.threads[t], &index, 2));
  return text;
}

static std::string showRouter(const Configuration &configuration, int32_t row, int32_t col) {
  std::string text;
  for (const RouterRole &router : configuration.routers) {
    LatticeIndex index;
    if (!findInLattice(router.routers, row, col, index))
      continue;
    absl::StrAppend(&text, "    colour ", int(router.colour), ": ");
    for (size_t p = 0; p < router.positions.size(); ++p)
      absl::StrAppend(&text, p ? " | " : "", printSwitchPosition(router.positions[p]));
    if (router.net >= 0)
      absl::StrAppend(&text, "  (net ", printable(configuration.nets[size_t(router.net)].name), ")");
    text += "\n";
  }
  return text.empty() ? "  no router settings\n" : "  router:\n" + text;
}

absl::StatusOr<std::string> coreView(const Executable &executable, int32_t row, int32_t col) {
  const target::Target &target = executable.target;
  if (row < 0 || row >= target.rows || col < 0 || col >= target.cols)
    return absl::InvalidArgumentError(absl::StrCat("core (", row, ", ", col, ") is outside the mesh; rows are 0 to ",
                                                   target.rows - 1, ", columns 0 to ", target.cols - 1));
  std::string text;
  for (const Resident &resident : executable.residents)
    if (LatticeIndex index; findInLattice(resident.cores, row, col, index))
      absl::StrAppend(&text, "resident ", printable(resident.name), ": ", printResident(executable, resident, &index),
                      "\n");
  for (const Configuration &configuration : executable.configurations) {
    absl::StrAppend(&text, "core (", row, ", ", col, ") in configuration ", printable(configuration.name), "\n");
    bool found = false;
    for (const Role &role : configuration.roles) {
      LatticeIndex index;
      if (!findInLattice(role.cores, row, col, index))
        continue;
      found = true;
      absl::StrAppend(&text, "  role: ", printable(role.name), ", ", printLattice(role.cores));
      if (role.kernel >= 0)
        absl::StrAppend(&text, ", kernel ", printable(configuration.kernels[size_t(role.kernel)].name));
      absl::StrAppend(&text, "\n", showMemory(executable, role, index), showProgram(executable, role, index));
    }
    if (!found)
      text += "  no program\n";
    text += showRouter(configuration, row, col);
  }
  return text;
}

} // namespace wsc::info
