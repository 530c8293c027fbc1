// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The programs of a role, decoded once for fast execution of whole cores whose input words are all there.
#pragma once

#include "runtime/emulator/CoreFrame.h"
#include "runtime/emulator/Kernels.h"
#include "runtime/emulator/NestPlan.h"
#include "runtime/emulator/Rows.h"
#include "runtime/emulator/ScalarExecutor.h"

#include "absl/status/statusor.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace wsc::emulator {

// Where an operand of an array operation lies: a buffer (plus affine and loop offsets), or the current place in a queue
// or FIFO.
struct OperandPlace {
  format::OperandKind kind = format::OperandKind::None;
  int16_t slot = -1;
  bool affine = false, looped = false;
  int64_t base = 0;                         // the constant part, bytes
  const format::Operand *operand = nullptr; // for the affine and loop parts
  uint64_t immediate = 0;                   // the element's bits, zero-extended
};

struct DecodedOp {
  enum class Kind : uint8_t { Row, Nest, Scalar, LoopBegin, LoopEnd };
  Kind kind = Kind::Scalar;
  bool shared = false; // gives the same on all cores of a unit: only the first core runs it
  bool fixed = false;  // extents (and trip counts of a nest) are the same on all cores of the role
  const format::Instruction *instruction = nullptr;
  int32_t jump = 0;  // LoopBegin: op after the loop's end; LoopEnd: first op of the body
  int32_t depth = 0; // loops around it
  OperandPlace dst, a, b;
  RowOp row{};                                        // Row
  std::optional<std::pair<int32_t, int32_t>> numbers; // Gather: the least and the largest (GatherNumbers.h), if known
  int32_t shape = -1, shapes = 0; // Row: its shapes in RoleProgram::shapes; none: each core works out its own
  std::vector<const format::Instruction *> nestLoops;
  int32_t plan = -1;           // Nest with fixed extents: index into RoleProgram::plans
  bool packShared = false;     // Nest: the deinterleaved copy is the same on all cores of a unit
  int64_t packOffset = 0;      // Nest: where its deinterleaved operand goes in the worker's scratch
  int64_t widenOffset[2] = {}; // Nest: the same for sources a and b that are widened first
};

// Elements of an operand from number `low` on, relative to its first one.
struct TouchedElements {
  int64_t low = 0, elements = 0;
};

// A source of a nest in a narrower type: what the nest touches of it is widened before it runs.
struct WidenedSource {
  ArrayOp widen = nullptr; // null: used as it is
  TouchedElements touched;
};

struct PlanVariant {
  std::vector<int64_t> key; // extents and trip counts
  NestPlan plan;
  WidenedSource widened[2]; // a and b
};

struct ShapeVariant {
  std::array<int64_t, format::kMaxDims> extent;
  RowShape shape;
  ArrayOp single; // singleKernel(…)
};

struct RoleProgram {
  const format::Role *role = nullptr;
  std::shared_ptr<const std::vector<format::Thread>> joined; // rewritten threads, which ops point into
  std::vector<std::vector<DecodedOp>> threads;
  std::vector<int> threadOrder; // FIFOs are filled before they are emptied
  bool interleaved = false;     // no such order: threads take turns, in waves only
  std::vector<PlanVariant> plans;
  std::vector<ShapeVariant> shapes;

  // The worker's scratch for one core: byte offset per buffer (-1 for constants and state) and the whole size.
  std::vector<int64_t> bufferOffset;
  int64_t scratchBytes = 0;
  bool affineConstants = false;   // some constant lies elsewhere from core to core
  bool hasState = false;          // or windows of residents
  std::vector<int64_t> fifoBytes; // per buffer
  double cost = 0;                // estimated, of one core, nanoseconds
};

// `sharedQueue[q]`: input queue q reads the same words on all cores of every unit.
absl::StatusOr<RoleProgram> decodeRole(const format::Role &role, const std::vector<bool> &sharedQueue,
                                       const Kernels &kernels);

// Runs all threads of the core in `frame`, which are not interleaved, for one sample. `first`: also run shared ops.
// `scratch` is the worker's scratch (for nests' copies). False when a FIFO is not left empty.
bool runCore(const RoleProgram &program, const Kernels &kernels, CoreFrame &frame, std::byte *scratch, bool first);

// Where the operands of an operation are on a core.
struct LocatedOp {
  const ShapeVariant *row = nullptr; // of a Row
  const PlanVariant *nest = nullptr; // of a Nest
  std::byte *dst = nullptr;
  const std::byte *a = nullptr, *b = nullptr;
  IndexedPlace indexed;
};

// The same as runOperation() would find them, without running it. Nothing for what runs element by element. `own` is
// filled in and pointed to where the role has no shape for the core's extents.
std::optional<LocatedOp> locateOperation(const RoleProgram &program, const DecodedOp &op, const Kernels &kernels,
                                         CoreFrame &frame, const ThreadCursor &cursor, ShapeVariant &own);

// Runs one operation, no loop's begin or end, whose words and elements are all there, within the loops that `cursor`
// says. `scratch` as above.
void runOperation(const RoleProgram &program, const DecodedOp &op, const Kernels &kernels, CoreFrame &frame,
                  std::byte *scratch, const ThreadCursor &cursor);

// The same of a Row and of a Nest whose operands begin at the given places. `single`: singleKernel(…) of the shape.
void runRowAt(const DecodedOp &op, const RowShape &shape, ArrayOp single, std::byte *dst, const std::byte *a,
              const std::byte *b, const IndexedPlace &indexed);
void runNestAt(const DecodedOp &op, const PlanVariant &variant, const Kernels &kernels, std::byte *scratch, bool first,
               std::byte *dst, const std::byte *a, const std::byte *b, const NestEnds &ends = {});

// True when no extent or trip count differs from core to core.
bool extentsAreConstant(const format::Role &role);

} // namespace wsc::emulator
