// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SRAM of one core as the scalar interpreter sees it: memory buffers with every address checked and scratch reads held
// against what this sample has written, and FIFO rings. Errors say what and where in the buffer; the caller adds the
// instruction.
#pragma once

#include "runtime/emulator/Interpreter.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace wsc::emulator {

using WideAddress = __int128; // bytes; sums of descriptors cannot overflow it

class CoreMemory {
public:
  struct Fifo {
    int64_t capacity = 0, head = 0, count = 0; // elements
  };

  // `image` fits the buffers (checkContents). Windows of one resident share their bytes where they overlap in iteration
  // `iteration`.
  CoreMemory(const format::Role &role, CoreImage image, int64_t iteration = 0);

  absl::StatusOr<uint64_t> load(const format::Operand &operand, WideAddress address, format::ElementType type) const;
  absl::Status store(const format::Operand &operand, WideAddress address, format::ElementType type, uint64_t payload);

  // Address of element number `number` counted from `origin` in steps of the operand's innermost stride, the number
  // clamped to [0, the last one inside the buffer]. The origin itself must lie inside.
  absl::StatusOr<WideAddress> indexedAddress(const format::Operand &operand, WideAddress origin,
                                             format::ElementType type, int32_t number) const;

  // False: nothing to pop, no space to push.
  bool pop(const format::Operand &operand, format::ElementType type, uint64_t &payload);
  bool hasRoom(const format::Operand &operand) const;
  void push(const format::Operand &operand, format::ElementType type, uint64_t payload);
  const Fifo &fifo(size_t buffer) const { return fifos[buffer]; }

  CoreImage takeImage();

private:
  const format::Role &role;
  CoreImage image;
  std::vector<Fifo> fifos;                // per buffer
  std::vector<std::vector<bool>> written; // per buffer, scratch only: bytes this sample has written
  // Per buffer: where its bytes are. Windows of one resident lie in the first of them, grown to hold all.
  struct Place {
    size_t store = 0;
    int64_t begin = 0;
  };
  std::vector<Place> places;

  std::byte *bytesOf(size_t buffer) { return image.buffers[places[buffer].store].data() + places[buffer].begin; }
  const std::byte *bytesOf(size_t buffer) const {
    return image.buffers[places[buffer].store].data() + places[buffer].begin;
  }
  void joinWindows(int64_t iteration);

  absl::Status checkInside(const format::Operand &operand, WideAddress address, format::ElementType type) const;
};

} // namespace wsc::emulator
