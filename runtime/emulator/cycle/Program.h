// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread's instructions decoded to what its slots depend on. Stretches of slots that need neither queue nor FIFO
// (set-up, loops' slots, instructions on memory only, whole loops of them) are folded into one number ahead of the next
// item as far as they have one priority; loops whose body moves words, or changes the priority, stay loops.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace wsc::emulator::cycle {

// A queue or FIFO operand.
struct Access {
  enum Kind : uint8_t { None, Queue, Fifo } kind = None;
  bool wide = false;   // an element is two words; else
  uint8_t packing = 0; // 2^packing elements are one
  int16_t index = -1;  // into Role::queues, or the number of the FIFO among the role's FIFOs

  // Words that elements [begin, begin + count) of an instruction's take from an input queue: each with its first one.
  int64_t wordsBegun(int64_t begin, int64_t count) const {
    const int64_t last = (int64_t(1) << packing) - 1;
    return wide ? 2 * count : ((begin + count + last) >> packing) - ((begin + last) >> packing);
  }
  // Words that they complete in an output queue: each with its last one, or the last of all.
  int64_t wordsEnded(int64_t begin, int64_t count, int64_t all) const {
    const int64_t end = begin + count, padded = end == all ? end + (int64_t(1) << packing) - 1 : end;
    return wide ? 2 * count : (padded >> packing) - (begin >> packing);
  }
};

enum class ItemKind : uint8_t { Slots, Vector, Control, LoopBegin, LoopEnd };

struct Item {
  ItemKind kind = ItemKind::Slots;
  bool vector = false;     // a vector instruction is set up in `slots`: a task's start may come to them
  bool queues = false;     // Vector: has a queue operand
  uint8_t control = 0;     // Control: the count
  int32_t instruction = 0; // index in the thread; of Slots the first
  int64_t slots = 0;       // before the batches or the control word
  int64_t bank = 0;        // of these, on account of bank conflicts
  int64_t elements = 0;    // Vector
  int32_t batch = 1;       // elements per batch
  int32_t batchSlots = 1;  // slots per batch
  int32_t bankSlots = 0;   // of these, on account of a bank conflict
  Access dst, a, b;        // Control: dst
  uint8_t priority = 0;    // of all its slots
  int64_t trips = 0;       // LoopBegin
  int32_t body = 0;        // LoopEnd: the body's first item
};

struct ThreadProgram {
  std::vector<Item> items;
  int64_t slotsPerSample = 0; // at least; 0 only if the thread does nothing
};

struct CoreProgram {
  std::vector<ThreadProgram> threads;
  bool priorities = false; // some slots have a higher one than others
  int64_t bytes() const;
};

// Decodes roles once, and core by core only where extents, trip counts or banks depend on the place; cores with the
// same numbers share one program.
class ProgramTable {
public:
  ProgramTable(const target::Target &target, const format::Role &role);
  // Errors: loops unbalanced or nested too deep, more than 2^60 slots in a stretch, a queue in two threads, both
  // operands from one queue or FIFO.
  absl::StatusOr<const CoreProgram *> at(const format::LatticeIndex &index);
  int64_t bytes() const;
  // Role::buffers that are FIFOs, by their numbers.
  const std::vector<int32_t> &fifos() const { return fifoBuffers; }

private:
  const target::Target &target;
  const format::Role &role;
  bool constant = true;
  std::vector<int32_t> fifoBuffers;
  std::unordered_map<std::string, std::unique_ptr<CoreProgram>> programs; // by the numbers that vary
};

} // namespace wsc::emulator::cycle
