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
  /// `reduced`: the value behind the reduction.
  BodyCode(Frame &frame, const LocalNest &local, size_t first, size_t end, std::optional<Value> reduced = std::nullopt)
      : frame(frame), local(local), first(first), end(end), reduced(std::move(reduced)), operations(end),
        gathered(local.operands.size()), operationUses(end), operandUses(local.operands.size()) {}

  /// Emits what `wanted` needs, and returns it; temporaries are the caller's to release. `immediateType`: of
  /// immediates.
  absl::StatusOr<std::vector<Value>> evaluate(const std::vector<BodyValue> &wanted, format::ElementType immediateType);

  /// The same for one value, converted to the destination's type.
  absl::Status evaluateInto(const BodyValue &wanted, const Destination &destination);

private:
  Frame &frame;
  const LocalNest &local;
  size_t first, end;
  std::optional<Value> reduced;
  std::vector<std::optional<Value>> operations, gathered; // per operation and operand, where they are in memory
  std::vector<int> operationUses, operandUses;            // still to come
  int reducedUses = 0;

  int *usesOf(const BodyValue &value);
  void countUses(const std::vector<BodyValue> &wanted);
  absl::Status apply(size_t number, const Destination *destination);
  absl::StatusOr<Value> valueOf(const BodyValue &value, format::ElementType immediateType);
  absl::StatusOr<Value> gather(size_t operand, const Destination *destination);
  absl::StatusOr<Place> placeFor(format::ElementType type, uint64_t support,
                                 const std::vector<const Value *> &reusable);
};

/// The operation's sources in the order a, b, c.
std::vector<const BodyValue *> sourcesOf(const BodyOp &op);
const BodyOp &operationOf(const Nest &nest, size_t number);
/// Whether the operand must be read with Gather: one number only needs none.
bool isGathered(const LocalNest &local, size_t operand);

} // namespace wsc::spmd
