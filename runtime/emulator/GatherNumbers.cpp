// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/GatherNumbers.h"

#include "runtime/emulator/LatticeWalk.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

namespace wsc::emulator {

using namespace format;

namespace {

// The least and the largest of the numbers at `first`, which an operand walks through.
void widen(std::pair<int32_t, int32_t> &numbers, const std::byte *first, const Instruction &instruction) {
  const auto &stride = instruction.b.stride;
  const auto count = [&](int d) { return stride[size_t(d)] == 0 ? 1 : instruction.extent[size_t(d)].constant; };
  for (int64_t i = 0; i < count(0); ++i)
    for (int64_t j = 0; j < count(1); ++j)
      for (int64_t k = 0; k < count(2); ++k)
        for (int64_t l = 0; l < count(3); ++l) {
          int32_t number;
          std::memcpy(&number, first + i * stride[0] + j * stride[1] + k * stride[2] + l * stride[3], sizeof(number));
          numbers.first = std::min(numbers.first, number);
          numbers.second = std::max(numbers.second, number);
        }
}

bool isConstantGather(const Executable &executable, const Role &role, const DecodedOp &op) {
  if (op.kind != DecodedOp::Kind::Row || op.row.kind != RowOp::Kind::Gather || !op.fixed || op.b.looped ||
      op.b.kind != OperandKind::Memory)
    return false;
  const Buffer &buffer = role.buffers[size_t(op.b.slot)];
  return buffer.kind == BufferKind::Resident && buffer.runStep == 0 &&
         executable.residents[size_t(buffer.resident)].section >= 0;
}

} // namespace

void findGatherNumbers(const Executable &executable, const std::vector<std::vector<WindowPlace>> &windows,
                       std::vector<RoleProgram> &programs) {
  for (size_t r = 0; r < programs.size(); ++r) {
    const Role &role = *programs[r].role;
    for (std::vector<DecodedOp> &thread : programs[r].threads)
      for (DecodedOp &op : thread) {
        if (!isConstantGather(executable, role, op))
          continue;
        const WindowPlace &window = windows[r][size_t(op.b.slot)];
        const Resident &resident = executable.residents[size_t(window.resident)];
        const std::byte *const section = executable.sections[size_t(resident.section)].bytes.data() + window.offset;
        std::pair<int32_t, int32_t> numbers{std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()};
        std::set<const std::byte *> seen; // many cores have the same
        auto ordinal = window.ordinals->begin();
        forEachPoint(role.cores, [&](const LatticeIndex &index, int32_t, int32_t) {
          const std::byte *const first = section + resident.sectionOffset.at(latticeIndex(resident.cores, *ordinal++)) +
                                         op.instruction->b.base.at(index);
          if (seen.insert(first).second)
            widen(numbers, first, *op.instruction);
          return true;
        });
        if (numbers.first <= numbers.second)
          op.numbers = numbers;
      }
  }
}

} // namespace wsc::emulator
