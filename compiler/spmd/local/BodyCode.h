// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Body operations as vector instructions over the current slice of a nest: each value lies in a temporary over the
// iterators that it depends on, or straight in the place that the last one is meant for.
#pragma once

#include "compiler/spmd/local/NestFrame.h"

#include "absl/status/statusor.h"

#include <optional>
#include <vector>

namespace wsc::spmd {

/// A value of a body: an immediate, or elements in memory.
struct Value {
  std::optional<double> immediate;
  Place place;
  format::ElementType type = format::ElementType::F32;
  bool temporary = false; // of the frame, to be released after the last use
};

/// Where a value goes: one element for each point of the parallel iterators.
struct Destination {
  Place place;
  format::ElementType type = format::ElementType::F32;
};

/// The operands of an instruction over the current slice; null: none. `points` and `ordered`: the iterators that it
/// walks and those of them that are reduced, a bit each.
struct VectorOperands {
  const Place *dst = nullptr;
  const Value *a = nullptr, *b = nullptr;
  uint64_t points = 0, ordered = 0;
  int64_t numberStride = 0; // Gather
};
absl::Status emitVector(Frame &frame, format::Opcode opcode, format::ElementType type, format::ElementType sourceType,
                        const VectorOperands &operands);

/// Copies or converts a value to `destination`.
absl::Status store(Frame &frame, const Value &value, const Destination &destination);

/// Operations [first, end) of a nest (those of its body, then of `finish`), for one slice.
class BodyCode {
public:
  BodyCode(Frame &frame, const LocalNest &local, size_t first, size_t end)
      : frame(frame), local(local), first(first), end(end), operations(end), gathered(local.operands.size()),
        operationUses(end), operandUses(local.operands.size()), widened(end) {}

  /// The value behind the reduction.
  void setReduced(const Value &value) { reduced = value; }

  /// Emits what the reduction combines, and returns it; temporaries are the caller's to release. All values are of the
  /// reduction's type, or all of a narrower one whose elements the reduction's instruction widens.
  absl::StatusOr<std::vector<Value>> evaluate(const std::vector<BodyValue> &wanted, const Reduction &reduction);

  /// The same for one value, converted to the destination's type. `isRoom`: the destination may hold other values
  /// before.
  absl::Status evaluateInto(const BodyValue &wanted, const Destination &destination, bool isRoom);

private:
  Frame &frame;
  const LocalNest &local;
  size_t first, end;
  std::optional<Value> reduced;
  std::vector<std::optional<Value>> operations, gathered; // per operation and operand, where they are in memory
  std::vector<int> operationUses, operandUses;            // still to come
  int reducedUses = 0;
  // Per operation: a conversion that is left out, since all instructions that take its result widen elements
  // themselves.
  std::vector<bool> widened;
  // The destination as a temporary: of which operation (-1: any), and whether it is taken.
  std::optional<Destination> room;
  int roomOperation = -1;
  bool roomTaken = false;

  int *usesOf(const BodyValue &value);
  void countUses(const std::vector<BodyValue> &wanted);
  bool isWidened(const BodyValue &value) const {
    return value.kind == BodyValue::Kind::Operation && widened[size_t(value.index)];
  }
  bool mayWiden(format::Opcode opcode, format::ElementType type, const std::vector<const BodyValue *> &sources) const;
  void findWidened(const std::vector<BodyValue> &wanted, const Reduction *reduction);
  void openRoom(const BodyValue &wanted, const Destination &destination);
  void release(const Value &value);
  absl::Status apply(size_t number, const Destination *destination);
  absl::StatusOr<Value> valueOf(const BodyValue &value, format::ElementType immediateType);
  absl::StatusOr<Value> gather(size_t operand, const Destination *destination);
  absl::StatusOr<Place> placeFor(size_t number, uint64_t support, const std::vector<const Value *> &reusable);
};

/// The operation's sources in the order a, b, c.
std::vector<const BodyValue *> sourcesOf(const BodyOp &op);
const BodyOp &operationOf(const Nest &nest, size_t number);
/// Whether the operand must be read with Gather: one number only needs none.
bool isGathered(const LocalNest &local, size_t operand);

} // namespace wsc::spmd
