// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Banks in which buffers begin. Two operands of an instruction that advance and begin in the same bank double its slots
// (docs/Timing.md), so buffers that are walked together begin in different ones.
#pragma once

#include "compiler/spmd/program/Code.h"
#include "runtime/target/Target.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace wsc::spmd {

inline std::array<format::Operand *, 3> operandsOf(format::Instruction &instruction) {
  return {&instruction.dst, &instruction.a, &instruction.b};
}

/// Calls visit(instruction, times that it is executed, first and last instruction of the outermost loop around it) for
/// all but loops; without a loop, both are its own number.
void forEachVector(std::vector<format::Instruction> &code,
                   const std::function<void(format::Instruction &, int64_t, size_t, size_t)> &visit);

class BankConflicts {
public:
  static constexpr int kAny = -1;   // bank of a member: chosen where it matters
  static constexpr int kNever = -2; // not known: no reason to choose another's

  BankConflicts(const target::Target &target, size_t members) : target(target), conflicts(members), elements(members) {}

  /// Counts the elements that instructions of a code walk in two members at once. `memberOf`: of a buffer, −1: of none;
  /// `runs`: of the code.
  void add(Code &code, const std::function<int(int16_t)> &memberOf, int64_t runs = 1);

  /// The bank in which each member begins: the given one, or for those given kAny that with the fewest elements in
  /// conflict; kAny stays for those of fewer than `least` elements. Members with the most elements choose first.
  std::vector<int> choose(std::vector<int> given, int64_t least = 1) const;

private:
  const target::Target &target;
  std::vector<std::map<std::pair<int, int64_t>, int64_t>> conflicts; // other, its shift in banks → elements
  std::vector<int64_t> elements;
};

} // namespace wsc::spmd
