// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the program of one core at random: a thread is a list of transfers (from a queue or FIFO, to one, or both at
// once), each of which becomes one or several instructions, with work on memory between them.
#pragma once

#include "test/support/fabric/Plan.h"

#include <map>
#include <optional>
#include <vector>

namespace wsc::fabric {

// What a thread moves: up to two sources and one destination, each a queue, a FIFO or nothing.
struct Transfer {
  double key = 0;
  int number = 0;               // among equal keys
  format::Operand in, in2, out; // None: nothing
  format::ElementType inType = format::ElementType::F32, outType = format::ElementType::F32;
  int64_t elements = 0, growth = 0; // as of Item
  uint8_t control = 0;
  bool gives() const { return out.kind != format::OperandKind::None; }
  bool takes() const { return in.kind != format::OperandKind::None; }
};

class CodeWriter {
public:
  // `role` has its queues; buffers are added. Constants come to lie in `sectionBytes`, one stretch for each of the
  // plan's copies.
  CodeWriter(Random &random, format::Role &role, const Plan &plan, std::vector<std::byte> &sectionBytes);

  format::Operand fifo(format::ElementType type, int64_t elements);
  // Joins takes and gives that stand side by side, and appends the thread to the role: `rounds` times in a loop if the
  // plan has several.
  void writeThread(std::vector<Transfer> transfers);
  // Addresses of all buffers, once the code is known.
  void placeBuffers();

private:
  // An instruction's iteration space: two extents inside up to two loops. One that grows has neither a second extent
  // nor loops.
  struct Space {
    int64_t outer = 1, inner = 1;
    std::vector<int64_t> trips; // of loops inside that of the rounds
    int64_t growth = 0;         // of inner, on each further copy
    int64_t elements() const { return outer * inner; }
  };
  struct Memory {
    int16_t constant = -1, x = -1, y = -1;
  };
  static constexpr int64_t kElements = kMostElements; // of each memory buffer

  Random &random;
  format::Role &role;
  const Plan &plan;
  std::vector<std::byte> &sectionBytes;
  format::Thread code;
  std::map<format::ElementType, Memory> memories; // of the thread being written

  int16_t addBuffer(format::BufferKind kind, format::ElementType type, int64_t elements);
  Memory memory(format::ElementType type);
  // `repeats`: the walk may meet an element twice.
  format::Operand walk(int16_t buffer, format::ElementType type, const Space &space, bool repeats);
  format::Operand source(format::ElementType type, const Space &space);
  void append(format::Opcode opcode, format::ElementType type, const Space &space, format::Operand dst,
              format::Operand a, format::Operand b = {}, std::optional<format::ElementType> sourceType = std::nullopt);

  void writeInit();
  void setPriorities();
  void writeTransfer(const Transfer &transfer);
  void writePiece(const Transfer &transfer, const Space &space);
  void take(const Transfer &transfer, const Space &space);
  void give(const Transfer &transfer, const Space &space);
  void pass(const Transfer &transfer, const Space &space);
  void work(std::vector<int64_t> trips = {});
};

} // namespace wsc::fabric
