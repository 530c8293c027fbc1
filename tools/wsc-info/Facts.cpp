// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts cores with bit maps of the mesh, so that a core used by several configurations counts once.
#include "tools/wsc-info/Facts.h"

#include "runtime/format/MemoryMap.h"

#include <algorithm>

namespace wsc::info {

using namespace format;

bool hasProgram(const Role &role) {
  return std::any_of(role.threads.begin(), role.threads.end(), [](const Thread &thread) { return !thread.empty(); });
}

bool hasFma(const Role &role) {
  for (const Thread &thread : role.threads)
    for (const Instruction &instruction : thread)
      if (instruction.opcode == Opcode::Fma)
        return true;
  return false;
}

void forEachPoint(const Lattice &lattice, const target::Target &target,
                  const std::function<void(int32_t, int32_t)> &visit) {
  const auto &d = lattice.dims;
  LatticeIndex i;
  for (i[0] = 0; i[0] < d[0].count; ++i[0])
    for (i[1] = 0; i[1] < d[1].count; ++i[1])
      for (i[2] = 0; i[2] < d[2].count; ++i[2])
        for (i[3] = 0; i[3] < d[3].count; ++i[3]) {
          int32_t row = lattice.row, col = lattice.col;
          for (int k = 0; k < kMaxDims; ++k) {
            row += i[k] * d[k].rowStep;
            col += i[k] * d[k].colStep;
          }
          if (row >= 0 && row < target.rows && col >= 0 && col < target.cols)
            visit(row, col);
        }
}

Facts collectFacts(const Executable &executable) {
  Facts facts;
  const target::Target &target = executable.target;
  facts.coresTotal = target.numCores();
  std::vector<bool> used(size_t(facts.coresTotal)), fma(size_t(facts.coresTotal));
  for (size_t c = 0; c < executable.configurations.size(); ++c) {
    const Configuration &configuration = executable.configurations[c];
    size_t firstKernel = facts.kernels.size();
    for (size_t k = 0; k < configuration.kernels.size(); ++k)
      facts.kernels.push_back({int32_t(c), int32_t(k), 0, 0});
    facts.routerRoles += int64_t(configuration.routers.size());
    for (const Role &role : configuration.roles) {
      ++facts.roles;
      for (const Thread &thread : role.threads)
        facts.instructions += int64_t(thread.size());
      int64_t bytes = memoryMap(target, role).usedBytes;
      facts.sramWorstBytes = std::max(facts.sramWorstBytes, bytes);
      if (role.kernel >= 0) {
        KernelFacts &kernel = facts.kernels[firstKernel + size_t(role.kernel)];
        kernel.cores += role.cores.size();
        kernel.sramBytes = std::max(kernel.sramBytes, bytes);
      }
      if (!hasProgram(role))
        continue;
      bool multiplies = hasFma(role);
      forEachPoint(role.cores, target, [&](int32_t row, int32_t col) {
        size_t place = size_t(row) * size_t(target.cols) + size_t(col);
        used[place] = true;
        if (multiplies)
          fma[place] = true;
      });
    }
  }
  facts.coresUsed = std::count(used.begin(), used.end(), true);
  facts.coresFma = std::count(fma.begin(), fma.end(), true);
  for (const Entry &entry : executable.entries)
    for (const Step &step : entry.steps)
      facts.hostSteps += step.kind != StepKind::Configure && step.kind != StepKind::Run;
  return facts;
}

std::string withCommas(int64_t value) {
  std::string digits = std::to_string(value);
  size_t start = value < 0 ? 1 : 0;
  for (size_t i = digits.size(); i > start + 3;)
    digits.insert(i -= 3, ",");
  return digits;
}

std::string padded(const std::string &text, size_t width) {
  auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  size_t length = text.size() - size_t(std::count_if(text.begin(), text.end(), continues));
  if (length <= width)
    return text + std::string(width - length, ' ');
  size_t bytes = 0;
  for (size_t seen = 0; seen < width || continues(text[bytes]); ++bytes)
    seen += !continues(text[bytes]);
  return text.substr(0, bytes);
}

} // namespace wsc::info
