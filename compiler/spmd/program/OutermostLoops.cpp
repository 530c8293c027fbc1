// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/program/OutermostLoops.h"

#include <algorithm>
#include <numeric>

namespace wsc::spmd {

OutermostLoops::OutermostLoops(std::span<const format::Instruction> code) : begin(code.size()), end(code.size()) {
  std::iota(begin.begin(), begin.end(), size_t(0));
  end = begin;
  int depth = 0;
  size_t first = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].opcode == format::Opcode::Loop && depth++ == 0)
      first = i;
    if (code[i].opcode == format::Opcode::EndLoop && --depth == 0) {
      std::fill(begin.begin() + int64_t(first), begin.begin() + int64_t(i) + 1, first);
      std::fill(end.begin() + int64_t(first), end.begin() + int64_t(i) + 1, i);
    }
  }
}

} // namespace wsc::spmd
