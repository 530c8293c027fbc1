// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/program/Banks.h"

#include "compiler/spmd/program/OutermostLoops.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

/// A memory operand advances along the innermost dimension.
bool streams(const Instruction &instruction, const Operand &operand) {
  int d = kMaxDims - 1;
  while (d > 0 && instruction.extent[size_t(d)].constant <= 1)
    --d;
  return operand.kind == OperandKind::Memory && operand.stride[size_t(d)] != 0;
}

} // namespace

void forEachVector(std::vector<Instruction> &code,
                   const std::function<void(Instruction &, int64_t, size_t, size_t)> &visit) {
  const OutermostLoops loops(code);
  std::vector<int64_t> trips;
  int64_t times = 1;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].opcode == Opcode::Loop) {
      trips.push_back(std::max<int64_t>(1, code[i].extent[0].constant));
      times *= trips.back();
    } else if (code[i].opcode == Opcode::EndLoop) {
      times /= trips.back();
      trips.pop_back();
    } else {
      visit(code[i], times, loops.begin[i], loops.end[i]);
    }
  }
}

void BankConflicts::add(Code &code, const std::function<int(int16_t)> &memberOf, int64_t runs) {
  const int64_t access = target.sramAccessBytes, numBanks = target.sramBanks;
  forEachVector(code.main, [&](Instruction &instruction, int64_t times, size_t, size_t) {
    times *= runs;
    for (const Affine &extent : instruction.extent)
      times *= std::max<int64_t>(0, extent.constant);
    for (Operand *x : operandsOf(instruction))
      for (Operand *y : operandsOf(instruction)) {
        if (x == y || !streams(instruction, *x) || !streams(instruction, *y) || x->buffer == y->buffer)
          continue;
        const int one = memberOf(x->buffer), other = memberOf(y->buffer);
        if (one < 0 || other < 0)
          continue;
        const int64_t shift = (y->base.constant / access - x->base.constant / access) % numBanks;
        conflicts[size_t(one)][{other, (shift + numBanks) % numBanks}] += times;
        elements[size_t(one)] += times;
      }
  });
}

std::vector<int> BankConflicts::choose(std::vector<int> bank, int64_t least) const {
  std::vector<size_t> order;
  for (size_t m = 0; m < conflicts.size(); ++m)
    if (!conflicts[m].empty() && elements[m] >= least && bank[m] == kAny)
      order.push_back(m);
  std::sort(order.begin(), order.end(),
            [&](size_t x, size_t y) { return std::pair(-elements[x], x) < std::pair(-elements[y], y); });
  for (size_t m : order) {
    std::vector<int64_t> cost(size_t(target.sramBanks), 0);
    for (const auto &[other, count] : conflicts[m])
      if (const int taken = bank[size_t(other.first)]; taken >= 0)
        cost[size_t((taken + other.second) % target.sramBanks)] += count;
    bank[m] = int(std::min_element(cost.begin(), cost.end()) - cost.begin());
  }
  return bank;
}

} // namespace wsc::spmd
