// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lives and sizes make a problem of compiler/solver/Allocation. Banks are interleaved (sramAccessBytes wide), so a
// window that is to begin in bank b asks for an address aligned to one round of the banks and begins b accesses behind
// it. Banks are given to the buffers in the order of the elements that they stream, each taking the one with the fewest
// elements in conflict.
#include "compiler/spmd/program/PackScratch.h"

#include "compiler/solver/Allocation.h"

#include <algorithm>
#include <array>
#include <map>

namespace wsc::spmd {

using namespace format;
namespace allocation = solver::allocation;

namespace {

constexpr int64_t kAlignment = 8; // bytes: of every element type

// Calls visit(instruction, times that it is executed, first and last instruction of the outermost loop around it) for
// all but loops; without a loop, both are its own number.
template <typename Visit> void forEachVector(std::vector<Instruction> &code, const Visit &visit) {
  std::vector<int64_t> trips;
  size_t begin = 0, end = 0;
  int64_t times = 1;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].opcode == Opcode::Loop) {
      if (trips.empty()) {
        begin = end = i;
        for (int depth = 0; end < code.size(); ++end) {
          depth += (code[end].opcode == Opcode::Loop) - (code[end].opcode == Opcode::EndLoop);
          if (depth == 0)
            break;
        }
      }
      trips.push_back(std::max<int64_t>(1, code[i].extent[0].constant));
      times *= trips.back();
    } else if (code[i].opcode == Opcode::EndLoop) {
      times /= trips.back();
      trips.pop_back();
    } else {
      visit(code[i], times, trips.empty() ? i : begin, trips.empty() ? i : end);
    }
  }
}

std::array<Operand *, 3> operandsOf(Instruction &instruction) {
  return {&instruction.dst, &instruction.a, &instruction.b};
}
bool namesBuffer(const Operand &operand) {
  return operand.kind == OperandKind::Memory || operand.kind == OperandKind::Fifo;
}
bool isIndexed(const Instruction &instruction, const Operand &operand) {
  return (instruction.opcode == Opcode::Gather && &operand == &instruction.a) ||
         (instruction.opcode == Opcode::Scatter && &operand == &instruction.dst);
}

// A memory operand advances along the innermost dimension.
bool streams(const Instruction &instruction, const Operand &operand) {
  int d = kMaxDims - 1;
  while (d > 0 && instruction.extent[size_t(d)].constant <= 1)
    --d;
  return operand.kind == OperandKind::Memory && operand.stride[size_t(d)] != 0;
}

class Packing {
public:
  // `tables`: the bounded buffers that are read by index, else all that are not.
  Packing(Code &code, const target::Target &target, bool tables)
      : code(code), target(target), tables(tables), uses(code.buffers.size()) {
    forEachVector(code.main, [&](Instruction &instruction, int64_t, size_t begin, size_t end) {
      for (Operand *operand : operandsOf(instruction)) {
        if (!namesBuffer(*operand))
          continue;
        Use &use = uses[size_t(operand->buffer)];
        use.begin = std::min(use.begin, int64_t(begin));
        use.end = std::max(use.end, int64_t(end) + 1);
        use.indexed |= isIndexed(instruction, *operand);
        use.receives |= operand == &instruction.dst && instruction.opcode == Opcode::Gather;
      }
    });
    for (size_t b = 0; b < uses.size(); ++b)
      if (code.buffers[b].kind == BufferKind::Scratch && uses[b].begin < uses[b].end && packs(b))
        packed.push_back(b);
  }

  absl::StatusOr<PackedScratch> run(int64_t roomBytes) {
    int64_t bytes = 0;
    absl::StatusOr<std::vector<int64_t>> windows = place(banks(), bytes);
    if (windows.ok() && bytes > roomBytes)
      windows = place(std::vector<int>(packed.size(), -1), bytes);
    if (!windows.ok())
      return windows.status();
    return rewrite(*windows, bytes);
  }

private:
  struct Use {
    int64_t begin = INT64_MAX, end = 0; // instructions
    bool indexed = false;
    bool receives = false; // what another buffer is read for by index
  };

  bool packs(size_t b) const {
    return tables ? uses[b].indexed && !uses[b].receives && code.bounded.contains(int16_t(b)) &&
                        !code.clamped.contains(int16_t(b))
                  : !uses[b].indexed;
  }

  Code &code;
  const target::Target &target;
  const bool tables;
  std::vector<Use> uses;      // per buffer
  std::vector<size_t> packed; // buffers that share the arena

  // The bank in which each packed buffer begins, -1: any.
  std::vector<int> banks() {
    const int64_t access = target.sramAccessBytes, numBanks = target.sramBanks;
    std::vector<int> slot(code.buffers.size(), -1);
    for (size_t p = 0; p < packed.size(); ++p)
      slot[packed[p]] = int(p);
    std::vector<std::map<std::pair<int, int64_t>, int64_t>> conflicts(packed.size()); // other, shift → elements
    std::vector<int64_t> elements(packed.size(), 0);
    forEachVector(code.main, [&](Instruction &instruction, int64_t times, size_t, size_t) {
      for (const Affine &extent : instruction.extent)
        times *= std::max<int64_t>(0, extent.constant);
      for (Operand *x : operandsOf(instruction))
        for (Operand *y : operandsOf(instruction)) {
          if (x == y || !streams(instruction, *x) || !streams(instruction, *y) || x->buffer == y->buffer)
            continue;
          const int one = slot[size_t(x->buffer)], other = slot[size_t(y->buffer)];
          if (one < 0 || other < 0)
            continue;
          const int64_t shift = (y->base.constant / access - x->base.constant / access) % numBanks;
          conflicts[size_t(one)][{other, (shift + numBanks) % numBanks}] += times;
          elements[size_t(one)] += times;
        }
    });
    std::vector<size_t> order;
    for (size_t p = 0; p < packed.size(); ++p)
      if (!conflicts[p].empty())
        order.push_back(p);
    std::sort(order.begin(), order.end(),
              [&](size_t x, size_t y) { return std::pair(-elements[x], x) < std::pair(-elements[y], y); });
    std::vector<int> bank(packed.size(), -1);
    for (size_t p : order) {
      std::vector<int64_t> cost(size_t(numBanks), 0);
      for (const auto &[other, count] : conflicts[p])
        if (int taken = bank[size_t(other.first)]; taken >= 0)
          cost[size_t((taken + other.second) % numBanks)] += count;
      bank[p] = int(std::min_element(cost.begin(), cost.end()) - cost.begin());
    }
    return bank;
  }

  // Where the windows begin, and the bytes of the arena.
  absl::StatusOr<std::vector<int64_t>> place(const std::vector<int> &bank, int64_t &bytes) const {
    allocation::Problem problem;
    problem.limit = int64_t(1) << 40;
    std::vector<int64_t> lead(packed.size(), 0);
    for (size_t p = 0; p < packed.size(); ++p) {
      const Buffer &buffer = code.buffers[packed[p]];
      allocation::Buffer piece;
      piece.name = buffer.name;
      piece.alignment = kAlignment;
      if (bank[p] >= 0) {
        piece.alignment = std::max<int64_t>(kAlignment, int64_t(target.sramBanks) * target.sramAccessBytes);
        lead[p] = int64_t(bank[p]) * target.sramAccessBytes;
      }
      piece.bytes = lead[p] + buffer.bytes;
      piece.lifeBegin = uses[packed[p]].begin;
      piece.lifeEnd = uses[packed[p]].end;
      problem.buffers.push_back(std::move(piece));
    }
    // First fit in three orders: the first that fits the limit is taken, so the limit goes down until none does.
    absl::StatusOr<allocation::Solution> best = allocation::solve(problem);
    if (!best.ok())
      return best.status();
    for (;;) {
      bytes = allocation::evaluate(problem, *best).value;
      problem.limit = bytes - 1;
      absl::StatusOr<allocation::Solution> lower = bytes > 0 ? allocation::solve(problem) : absl::OutOfRangeError("");
      if (!lower.ok())
        break;
      best = std::move(lower);
    }
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    std::vector<int64_t> windows = best->addressOf;
    for (size_t p = 0; p < packed.size(); ++p)
      windows[p] += lead[p];
    return windows;
  }

  PackedScratch rewrite(const std::vector<int64_t> &windows, int64_t bytes) {
    PackedScratch result;
    result.bytes = bytes;
    result.newBuffer.assign(code.buffers.size(), -1);
    std::vector<Buffer> buffers;
    for (size_t b = 0; b < code.buffers.size(); ++b) {
      const bool scratch = code.buffers[b].kind == BufferKind::Scratch;
      if (scratch && (packs(b) || uses[b].begin >= uses[b].end))
        continue;
      result.newBuffer[b] = int16_t(buffers.size());
      result.bytes += scratch ? code.buffers[b].bytes : 0;
      buffers.push_back(code.buffers[b]);
    }
    std::vector<int64_t> shift(code.buffers.size(), 0);
    if (!packed.empty()) {
      result.arena = int16_t(buffers.size());
      Buffer arena;
      arena.name = tables ? "tables" : "scratch";
      arena.kind = BufferKind::Scratch;
      arena.type = ElementType::I64;
      arena.bytes = bytes;
      buffers.push_back(std::move(arena));
    }
    for (size_t p = 0; p < packed.size(); ++p) {
      result.newBuffer[packed[p]] = result.arena;
      shift[packed[p]] = windows[p];
    }
    for (Instruction &instruction : code.main)
      for (Operand *operand : operandsOf(instruction))
        if (namesBuffer(*operand)) {
          operand->base.constant += shift[size_t(operand->buffer)];
          operand->buffer = result.newBuffer[size_t(operand->buffer)];
        }
    code.buffers = std::move(buffers);
    for (std::set<int16_t> *set : {&code.bounded, &code.clamped}) {
      std::set<int16_t> renamed;
      for (int16_t b : *set)
        if (result.newBuffer[size_t(b)] >= 0)
          renamed.insert(result.newBuffer[size_t(b)]);
      *set = std::move(renamed);
    }
    return result;
  }
};

} // namespace

absl::StatusOr<PackedScratch> packScratch(Code &code, const target::Target &target, int64_t roomBytes) {
  auto tables = Packing(code, target, true).run(roomBytes);
  if (!tables.ok())
    return tables.status();
  auto all = Packing(code, target, false).run(roomBytes);
  if (!all.ok())
    return all.status();
  for (int16_t &buffer : tables->newBuffer)
    if (buffer >= 0)
      buffer = all->newBuffer[size_t(buffer)];
  all->newBuffer = std::move(tables->newBuffer);
  return all;
}

} // namespace wsc::spmd
