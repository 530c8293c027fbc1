// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lives and sizes make a problem of compiler/solver/Allocation. Banks are interleaved (sramAccessBytes wide), so a
// window that is to begin in bank b asks for an address aligned to one round of the banks and begins b accesses behind
// it (Banks.h).
#include "compiler/spmd/program/PackScratch.h"

#include "compiler/solver/Allocation.h"
#include "compiler/spmd/program/Banks.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;
namespace allocation = solver::allocation;

namespace {

constexpr int64_t kAlignment = 8; // bytes: of every element type

bool namesBuffer(const Operand &operand) {
  return operand.kind == OperandKind::Memory || operand.kind == OperandKind::Fifo;
}
bool isIndexed(const Instruction &instruction, const Operand &operand) {
  return (instruction.opcode == Opcode::Gather && &operand == &instruction.a) ||
         (instruction.opcode == Opcode::Scatter && &operand == &instruction.dst);
}

class Packing {
public:
  // `tables`: the bounded buffers that are read by index, else all that are not.
  Packing(Code &code, const target::Target &target, const BankOf &bankOf, bool tables)
      : code(code), target(target), bankOf(bankOf), tables(tables), uses(code.buffers.size()) {
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
  const BankOf &bankOf;
  const bool tables;
  std::vector<Use> uses;      // per buffer
  std::vector<size_t> packed; // buffers that share the arena

  // The bank in which each packed buffer begins, -1: any.
  std::vector<int> banks() {
    BankConflicts conflicts(target, code.buffers.size());
    conflicts.add(code, [](int16_t buffer) { return int(buffer); });
    std::vector<int> given(code.buffers.size(), BankConflicts::kNever), chosen;
    for (size_t b = 0; b < given.size(); ++b)
      if (const Buffer &buffer = code.buffers[b]; buffer.kind != BufferKind::Scratch && bankOf)
        if (const int bank = bankOf(buffer); bank >= 0)
          given[b] = int((bank + buffer.residentOffset / target.sramAccessBytes) % target.sramBanks);
    for (size_t b : packed)
      given[b] = BankConflicts::kAny;
    given = conflicts.choose(std::move(given));
    for (size_t b : packed)
      chosen.push_back(given[b]);
    return chosen;
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

absl::StatusOr<PackedScratch> packScratch(Code &code, const target::Target &target, int64_t roomBytes,
                                          const BankOf &bankOf) {
  auto tables = Packing(code, target, bankOf, true).run(roomBytes);
  if (!tables.ok())
    return tables.status();
  auto all = Packing(code, target, bankOf, false).run(roomBytes);
  if (!all.ok())
    return all.status();
  for (int16_t &buffer : tables->newBuffer)
    if (buffer >= 0)
      buffer = all->newBuffer[size_t(buffer)];
  all->newBuffer = std::move(tables->newBuffer);
  return all;
}

} // namespace wsc::spmd
