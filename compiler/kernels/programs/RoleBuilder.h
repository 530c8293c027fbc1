// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the program of one run of neighbouring cores in one row: buffers, queues, threads. RoleLattice.h makes
// lattices of them.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <initializer_list>

namespace wsc::kernels {

// The lattice dimension that runs over columns; rows use the ones before it.
constexpr int kColumnDim = 3;
constexpr int64_t kElementBytes = 4; // f32

// Up to four extents or strides, outermost first; missing leading dimensions are 1 (extents) or 0 (strides).
using Dims = std::vector<int64_t>;

class RoleBuilder {
public:
  RoleBuilder(std::string name, int32_t kernel, int32_t row, int32_t col, int32_t columns = 1);

  // Buffers; sizes in elements of f32.
  int16_t scratch(const std::string &name, int64_t elements);
  int16_t fifo(const std::string &name, int64_t elements);
  // Makes a FIFO up to `times` as deep, as far as SRAM holds that beside everything the role has by now.
  void deepen(const target::Target &target, int16_t fifo, int64_t times);
  // `offset` and `perColumn` in elements inside section `section`.
  int16_t constant(const std::string &name, int64_t elements, int32_t section, int64_t offset, int64_t perColumn = 0);
  // Elements of state variable `variable`, from element `hostOffset` of its tensor on, at a fixed address; the core's
  // one buffer for that variable. Until bindings are made (StateRows.h), Buffer::sectionOffset holds hostOffset, so
  // that it is merged over rows.
  int16_t state(const std::string &name, int64_t elements, int32_t variable, int64_t address, int64_t hostOffset);
  // `filter`: what of the colour's words comes in; all of them without a period.
  int16_t input(uint8_t colour, const format::Filter &filter = {});
  int16_t output(uint8_t colour);

  // Operands. Strides in elements, aligned to the innermost dimension.
  static format::Operand memory(int16_t buffer, int64_t baseElements, const Dims &strides, const Dims &loopSteps = {});
  static format::Operand fifoOperand(int16_t buffer);
  static format::Operand queue(int16_t queue);
  static format::Operand immediate(double value);
  static format::Operand null();

  // Appends to thread `thread` (created on first use). Instructions have the priority set last, 0 at first; levels that
  // the target has not are its highest.
  void setPriority(uint8_t level) { priority = level; }
  uint8_t currentPriority() const { return priority; }
  void emit(int thread, format::Opcode opcode, const Dims &extents, format::Operand dst, format::Operand a,
            format::Operand b = {});
  void loop(int thread, int64_t trips);
  void endLoop(int thread);
  void sendControl(int thread, int16_t queue, int count);

  // Assigns SRAM addresses and hands the role over. Errors: the role does not fit (which buffers, how many bytes,
  // limit).
  absl::StatusOr<format::Role> finish(const target::Target &target);

  // Bytes of SRAM the role needs in all, code and reserve included.
  int64_t sramBytes(const target::Target &target) const;

private:
  int16_t addBuffer(const std::string &name, format::BufferKind kind, int64_t elements);
  int16_t addQueue(bool output, uint8_t colour, const format::Filter &filter = {});
  format::Role role;
  uint8_t priority = 0;
};

// Bytes of SRAM from the start up to the last buffer, and those of state variables at the end.
int64_t sramBytesOf(const format::Role &role);
// Issue slots (cycles) a core of `role` spends per sample, all threads together.
int64_t issueCycles(const target::Target &target, const format::Role &role);
// Multiply-adds of one core of the role per sample.
int64_t fmaElements(const format::Role &role);

} // namespace wsc::kernels
