// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Affine forms over a lattice in 128-bit arithmetic, their extremes, and walks over the points of a lattice.
//
// IndexRules bounds every coefficient of an executable by 2^48 and every stride and count by 2^31; sums of products of
// two such numbers stay below 2^120, so no arithmetic here can overflow. Products of more factors go through
// multiply(), which saturates at kMost.
#pragma once

#include "runtime/format/Executable.h"
#include "runtime/format/verifier/Report.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

namespace wsc::format::verifier {

__extension__ typedef __int128 Wide;

constexpr int64_t kMost = int64_t(1) << 62;             // "too many": saturation of products
constexpr int64_t kMostCoefficient = int64_t(1) << 48;  // of any affine form
constexpr int64_t kMostExtent = (int64_t(1) << 31) - 1; // of an extent or trip count

std::string number(Wide value);

// a·b for a, b ≥ 0, at most kMost.
inline int64_t multiply(int64_t a, int64_t b) { return int64_t(std::min<Wide>(Wide(a) * b, kMost)); }
inline int64_t add(int64_t a, int64_t b) { return int64_t(std::min<Wide>(Wide(a) + b, kMost)); }

// constant + Σ perDim[d]·index[d].
struct Form {
  Wide constant = 0;
  std::array<Wide, kMaxDims> perDim{};

  Form() = default;
  Form(Wide value) : constant(value) {}
  Form(const Affine &affine);
  Form &operator+=(const Form &other);
  Form operator+(const Form &other) const { return Form(*this) += other; }
  Form operator-(const Form &other) const { return Form(*this) += other * -1; }
  Form operator*(Wide factor) const;
  Wide at(const LatticeIndex &index) const;
};

// An extreme value of a form, and a lattice point where it is taken.
struct Extreme {
  Wide value = 0;
  LatticeIndex index{};
};
Extreme minimum(const Form &form, const Lattice &lattice);
Extreme maximum(const Form &form, const Lattice &lattice);

// Dimensions of `lattice` on which the form depends, as a bit mask.
unsigned dependsOn(const Form &form, const Lattice &lattice);

// Calls visit(index) for the lattice points, over the dimensions in `mask` only (the others stay 0), until it returns
// false.
template <typename Visit> void forEachIndex(const Lattice &lattice, unsigned mask, Visit visit) {
  LatticeIndex index{};
  for (;;) {
    if (!visit(index))
      return;
    int d = kMaxDims - 1;
    for (; d >= 0; --d) {
      if (!(mask >> d & 1))
        continue;
      if (++index[d] < lattice.dims[d].count)
        break;
      index[d] = 0;
    }
    if (d < 0)
      return;
  }
}

// Calls visit(row, col, index) for every core of a lattice that lies in the mesh.
template <typename Visit> void forEachCore(const Lattice &lattice, Visit visit) {
  const auto &dims = lattice.dims;
  LatticeIndex index{};
  for (index[0] = 0; index[0] < dims[0].count; ++index[0])
    for (index[1] = 0; index[1] < dims[1].count; ++index[1])
      for (index[2] = 0; index[2] < dims[2].count; ++index[2]) {
        int64_t row = lattice.row, col = lattice.col;
        for (int d = 0; d < 3; ++d) {
          row += int64_t(index[d]) * dims[d].rowStep;
          col += int64_t(index[d]) * dims[d].colStep;
        }
        for (index[3] = 0; index[3] < dims[3].count; ++index[3], row += dims[3].rowStep, col += dims[3].colStep)
          visit(int32_t(row), int32_t(col), index);
      }
}

// The loops around an instruction, outermost first.
struct LoopNest {
  int depth = 0;
  std::array<const Affine *, kMaxDims> trips{};
};

// Calls visit(instruction, its number, loops around it); Loop and EndLoop themselves are visited with the loops outside
// them. The thread's loops are balanced and at most kMaxDims deep.
template <typename Visit> void forEachInstruction(const Thread &thread, Visit visit) {
  LoopNest loops;
  for (size_t i = 0; i < thread.size(); ++i) {
    if (thread[i].opcode == Opcode::EndLoop)
      --loops.depth;
    visit(thread[i], i, loops);
    if (thread[i].opcode == Opcode::Loop)
      loops.trips[loops.depth++] = &thread[i].extent[0];
  }
}

// Dimensions on which the number of executed elements depends, and that number at a lattice point (saturating).
unsigned countDependsOn(const Instruction &instruction, const LoopNest &loops, const Lattice &lattice);
int64_t elementsAt(const Instruction &instruction, const LoopNest &loops, const LatticeIndex &index);

// True when some element is executed at some lattice point; false only if an extent or trip count is 0 everywhere.
bool everExecutes(const Instruction &instruction, const LoopNest &loops, const Lattice &lattice);

// A lattice point where the instruction executes and `form` exceeds `limit`, if there is one. Exact: where the maximum
// over the lattice falls on a point at which the instruction is empty, the points themselves are listed, at the expense
// of `report`'s budget.
std::optional<Extreme> exceeds(const Form &form, Wide limit, const Instruction &instruction, const LoopNest &loops,
                               const Lattice &lattice, Report &report);

// The bytes a memory operand walks, relative to its buffer: first byte, and one past the last.
struct Walk {
  Form lo, hi;
};
// In all iterations of the loops, or in their first. Of an operand addressed by index only the walk of the outer
// dimensions.
Walk walkOf(const Instruction &instruction, const Operand &operand, const LoopNest &loops, bool allIterations);
// True for a of Gather and dst of Scatter.
bool isIndexed(const Instruction &instruction, const Operand &operand);

// Element type in which an operand is accessed. `operand` is one of the instruction's own.
ElementType accessType(const Instruction &instruction, const Operand &operand);

} // namespace wsc::format::verifier
