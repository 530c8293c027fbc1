// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where memory operands walk: inside their buffer for all loop iterations, indices and lattice points, aligned to their
// elements; the result of a multiply-add meets no element twice; a result and a source of one instruction walk alike or
// never meet.
//
// The lowest and highest byte of a walk are affine in the lattice indices, since strides are constants and extents
// affine:
//   lo = base + Σ_{stride<0} stride·(extent−1) + Σ_{step<0} step·(trips−1),   hi likewise with the positive ones.
// A walk is injective if, sorted by absolute stride, each stride is at least the reach of all smaller ones plus one
// element. Two walks never meet if their byte intervals are disjoint in every loop iteration, or if all their strides
// share a divisor modulo which they lie apart.
#include "runtime/format/verifier/Forms.h"
#include "runtime/format/verifier/Rules.h"

#include <algorithm>
#include <numeric>

namespace wsc::format::verifier {

namespace {

class MemoryRules {
public:
  MemoryRules(const RoleScope &scope, size_t t, size_t i, const Instruction &instruction, const LoopNest &loops)
      : scope(scope), lattice(scope.role.cores), thread(t), place(i), instruction(instruction), loops(loops) {}

  void run() {
    if (!everExecutes(instruction, loops, lattice))
      return;
    for (auto [name, operand] :
         {std::pair("dst", &instruction.dst), std::pair("a", &instruction.a), std::pair("b", &instruction.b)})
      if (operand->kind == OperandKind::Memory) {
        checkBounds(name, *operand);
        checkAlignment(name, *operand);
      }
    if (instruction.dst.kind != OperandKind::Memory)
      return;
    if (instruction.opcode == Opcode::Fma)
      checkInjective();
    checkOverlap("a", instruction.a);
    checkOverlap("b", instruction.b);
  }

private:
  bool indexed(const Operand &operand) const { return isIndexed(instruction, operand); }
  int64_t bytes(const Operand &operand) const { return elementBytes(accessType(instruction, operand)); }
  bool varies(const Affine &extent) const { return maximum(extent, lattice).value > 1; }
  void refuse(const char *rule, const std::string &what) const {
    scope.report().add(rule, scope.key(text(thread, "/", place, what)), text(scope.at(thread, place), ": ", what));
  }
  const Buffer &buffer(const Operand &operand) const { return scope.role.buffers[operand.buffer]; }

  Walk walk(const Operand &operand, bool allIterations) const {
    return walkOf(instruction, operand, loops, allIterations);
  }

  void checkBounds(const char *name, const Operand &operand) const {
    Walk all = walk(operand, true);
    auto outside = [&](const Extreme &point) {
      refuse("memory-bounds",
             text("operand ", name, " on ", coreName(lattice, point.index), " walks bytes ",
                  number(all.lo.at(point.index)), " to ", number(all.hi.at(point.index)), " of buffer ",
                  buffer(operand).name, ", which has ", buffer(operand).bytes, " bytes"));
    };
    if (auto point = exceeds(all.lo * -1, 0, instruction, loops, lattice, scope.report()))
      outside(*point);
    else if (auto point = exceeds(all.hi, buffer(operand).bytes, instruction, loops, lattice, scope.report()))
      outside(*point);
    if (indexed(operand) && operand.stride[kMaxDims - 1] < bytes(operand))
      refuse("memory-bounds",
             text("operand ", name, " is indexed with a distance of ", operand.stride[kMaxDims - 1],
                  " bytes between elements of ", bytes(operand), " bytes; the innermost stride must be at least that"));
  }

  void checkAlignment(const char *name, const Operand &operand) const {
    int64_t unit = bytes(operand);
    auto check = [&](const char *what, int64_t value) {
      if (value % unit != 0)
        refuse("memory-alignment", text("operand ", name, ": ", what, " ", value, " in buffer ", buffer(operand).name,
                                        " is not a multiple of the element size ", unit));
    };
    check("address", buffer(operand).address + operand.base.constant);
    for (int d = 0; d < kMaxDims; ++d) {
      if (lattice.dims[d].count > 1)
        check("base step per lattice index", operand.base.perDim[d]);
      if (varies(instruction.extent[d]) || indexed(operand))
        check("stride", operand.stride[d]);
    }
    for (int k = 0; k < loops.depth; ++k)
      if (varies(*loops.trips[k]))
        check("loop step", operand.loopStep[k]);
  }

  void checkInjective() const {
    std::vector<std::pair<int64_t, Wide>> dims; // |stride|, largest extent
    for (int d = 0; d < kMaxDims; ++d)
      if (varies(instruction.extent[d]))
        dims.emplace_back(std::abs(int64_t(instruction.dst.stride[d])), maximum(instruction.extent[d], lattice).value);
    std::sort(dims.begin(), dims.end());
    Wide reach = bytes(instruction.dst);
    for (auto [stride, extent] : dims) {
      if (stride < reach)
        return refuse("fma-injective",
                      text("the result meets an element of buffer ", buffer(instruction.dst).name,
                           " more than once: stride ", stride, " is below the ", number(reach),
                           " bytes reached by the smaller strides; put the accumulated dimension into a loop"));
      reach += stride * (extent - 1);
    }
  }

  bool sameWalk(const Operand &dst, const Operand &source) const {
    if (bytes(dst) != bytes(source) || dst.base.constant != source.base.constant)
      return false;
    for (int d = 0; d < kMaxDims; ++d)
      if ((lattice.dims[d].count > 1 && dst.base.perDim[d] != source.base.perDim[d]) ||
          (varies(instruction.extent[d]) && dst.stride[d] != source.stride[d]))
        return false;
    for (int k = 0; k < loops.depth; ++k)
      if (varies(*loops.trips[k]) && dst.loopStep[k] != source.loopStep[k])
        return false;
    return true;
  }

  // In every loop iteration, one walk ends before the other starts: `first` below `second`.
  bool below(const Operand &first, const Operand &second) const {
    Form gap = walk(first, false).hi - walk(second, false).lo;
    for (int k = 0; k < loops.depth; ++k)
      if (int64_t step = int64_t(first.loopStep[k]) - second.loopStep[k]; step > 0)
        gap += (Form(*loops.trips[k]) - Form(1)) * step;
    return !exceeds(gap, 0, instruction, loops, lattice, scope.report());
  }

  // All steps share a divisor, modulo which the elements of both walks lie apart.
  bool interleaved(const Operand &dst, const Operand &source) const {
    int64_t divisor = 0;
    for (int d = 0; d < kMaxDims; ++d) {
      if (varies(instruction.extent[d]))
        divisor = std::gcd(std::gcd(divisor, int64_t(dst.stride[d])), int64_t(source.stride[d]));
      if (lattice.dims[d].count > 1)
        divisor = std::gcd(divisor, dst.base.perDim[d] - source.base.perDim[d]);
    }
    for (int k = 0; k < loops.depth; ++k)
      if (varies(*loops.trips[k]))
        divisor = std::gcd(divisor, int64_t(dst.loopStep[k]) - source.loopStep[k]);
    if (divisor == 0)
      return false;
    int64_t apart = (dst.base.constant - source.base.constant) % divisor;
    apart += apart < 0 ? divisor : 0;
    return apart >= bytes(source) && divisor - apart >= bytes(dst);
  }

  void checkOverlap(const char *name, const Operand &source) const {
    const Operand &dst = instruction.dst;
    if (source.kind != OperandKind::Memory || source.buffer != dst.buffer)
      return; // buffers do not overlap (SramRules)
    if (indexed(dst) || indexed(source))
      return refuse("operand-overlap", text("dst and operand ", name, " both lie in buffer ", buffer(dst).name,
                                            ", where an index may make them meet; use another buffer"));
    bool reduces = instruction.opcode >= Opcode::ReduceAdd && instruction.opcode <= Opcode::ReduceMax;
    if ((!reduces && sameWalk(dst, source)) || below(dst, source) || below(source, dst) || interleaved(dst, source))
      return;
    refuse("operand-overlap",
           text("dst and operand ", name, " may meet in buffer ", buffer(dst).name,
                reduces ? "; a reduction needs them apart" : " without walking alike; go through another buffer"));
  }

  const RoleScope &scope;
  const Lattice &lattice;
  size_t thread, place;
  const Instruction &instruction;
  const LoopNest &loops;
};

} // namespace

void checkMemory(const RoleScope &scope) {
  for (size_t t = 0; t < scope.role.threads.size(); ++t)
    forEachInstruction(scope.role.threads[t], [&](const Instruction &instruction, size_t i, const LoopNest &loops) {
      MemoryRules(scope, t, i, instruction, loops).run();
    });
}

} // namespace wsc::format::verifier
