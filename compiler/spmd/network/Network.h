// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A network as nests over tensors, as plain data: what the general mapping (compiler/spmd) plans and generates code
// for.
//
// Two kinds of nodes are enough for every layer that computes on static shapes:
//  - a *nest*: iterators, operands read through affine maps, a body of scalar operations that are opcodes of a core,
//    and at most one reduction;
//  - a *remap*: the elements of the result are elements of other tensors (or a constant), at places known at compile
//    time: reshape, transpose, slice, pad, concatenate, repeat.
// Layers (softmax, normalisation, attention) are sequences of these. No MLIR here (I6); passes/spmd reads one from IR.
#pragma once

#include "runtime/format/Isa.h"

#include "absl/status/status.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace wsc::spmd {

/// Elements of a type that fill a word at least: what travels is cut at multiples of it.
inline int64_t granuleOf(format::ElementType type) { return std::max<int64_t>(1, 4 / format::elementBytes(type)); }

/// Index into Network::tensors.
using TensorId = int32_t;

/// Row-major little-endian elements: `bytes` bytes of the file `path` from `offset`, or `inlineBytes` where that is
/// set. Bool takes one byte an element. Elements of type `stored` are converted (docs/Numerics.md) to the tensor's type
/// when they are read, of constants only; nothing: they are of the tensor's type.
struct ElementSource {
  std::string path;
  int64_t offset = 0, bytes = 0;
  std::shared_ptr<const std::vector<std::byte>> inlineBytes;
  std::optional<format::ElementType> stored = {};
};

/// `count` elements of type `from`, one after another, as elements of type `to`.
void convertElements(const std::byte *elements, int64_t count, format::ElementType from, format::ElementType to,
                     std::byte *out);
std::vector<std::byte> convertElements(const std::vector<std::byte> &elements, format::ElementType from,
                                       format::ElementType to);

struct Tensor {
  enum class Kind { Input, Constant, Value };
  std::string name; // for people and messages
  format::ElementType type = format::ElementType::F32;
  std::vector<int64_t> shape; // extents ≥ 0; a scalar has none
  Kind kind = Kind::Value;
  int32_t input = -1;   // Input: number among the entry's inputs
  ElementSource source; // Constant
  int64_t elements() const;
};

/// constant + Σ perIterator[k] · iterator k.
struct Index {
  int64_t constant = 0;
  std::vector<int64_t> perIterator; // as many as the nest has iterators
  bool operator==(const Index &) const = default;
  /// Whether it is iterator k and nothing else.
  bool isIterator(size_t k) const {
    for (size_t j = 0; j < perIterator.size(); ++j)
      if (perIterator[j] != int64_t(j == k))
        return false;
    return constant == 0;
  }
};

/// How a nest reads a tensor: one index per dimension of it.
struct Access {
  TensorId tensor = -1;
  std::vector<Index> map;
  /// Elements outside of the tensor read as this (rounded to its type): padding of windows, neutral for the reduction.
  double padding = 0;
  /// A gathered operand: the index along dimension `gatherDim` is the value of operand `gatherIndices` (I32) instead of
  /// map[gatherDim], which is ignored. Numbers below 0 count as 0, those beyond the last as the last. With a
  /// gatherCount numbers 0 … gatherCount − 1 count from map[gatherDim] on: a window of the dimension.
  int32_t gatherDim = -1, gatherIndices = -1;
  int64_t gatherCount = 0; // 0: the whole dimension
  /// The element of a gathered dimension of `extent` elements that number `number` means; `first`: map[gatherDim].
  int64_t placeOf(int64_t first, int64_t number, int64_t extent) const {
    return gatherCount > 0 ? first + std::clamp<int64_t>(number, 0, gatherCount - 1)
                           : std::clamp<int64_t>(number, 0, extent - 1);
  }
};

/// A value inside a body: operand number `index`, result of body operation number `index` (operations of `body`, then
/// of `finish`, count through), an immediate, or (in `finish` only) the reduced value.
struct BodyValue {
  enum class Kind { Operand, Operation, Immediate, Reduced };
  Kind kind = Kind::Operand;
  int32_t index = 0;
  double immediate = 0;
  static BodyValue operand(int32_t i) { return {Kind::Operand, i, 0}; }
  static BodyValue operation(int32_t i) { return {Kind::Operation, i, 0}; }
  static BodyValue constant(double v) { return {Kind::Immediate, 0, v}; }
  static BodyValue reduced() { return {Kind::Reduced, 0, 0}; }
};

/// One scalar operation: the opcode's own meaning (runtime/format/Isa.h, docs/Numerics.md) on elements of `type`.
/// Convert: from `sourceType`. Move: from `sourceType` of as many bytes, the same bits; Bool only to Bool, immediates
/// only to their own type. Comparisons give 1 or 0 of `type`. Select: c ? a : b, all of `type`. Fma: a·b + c. Others
/// use a, or a and b. Legal: Move, Convert, Add … Not (Isa.h's elementwise opcodes), Fma, the comparisons, Select, And
/// … ShiftRight.
struct BodyOp {
  format::Opcode opcode = format::Opcode::Move;
  format::ElementType type = format::ElementType::F32;
  format::ElementType sourceType = format::ElementType::F32;
  BodyValue a, b, c;
  /// Of the sources.
  format::ElementType taken() const {
    return opcode == format::Opcode::Convert || opcode == format::Opcode::Move ? sourceType : type;
  }
};

/// How values are combined over the reduction iterators, in ascending row-major order of these on one core.
struct Reduction {
  /// ReduceAdd, ReduceMul, ReduceMin, ReduceMax of `values[0]`, or Fma: + values[0]·values[1].
  format::Opcode opcode = format::Opcode::ReduceAdd;
  format::ElementType type = format::ElementType::F32; // of the values and of the accumulator
  double initial = 0;                                  // neutral: reading it twice changes nothing
};

struct Nest {
  std::string name;             // of the layer, for people and messages
  std::vector<int64_t> extents; // of the iterators, parallel ones first
  int32_t numParallel = 0;      // the others are reduced
  std::vector<Access> operands;
  std::vector<BodyOp> body;           // over all iterators
  std::optional<Reduction> reduction; // none: numParallel == extents.size()
  std::vector<BodyValue> values;      // of the body: one, or two for Fma
  std::vector<BodyOp>
      finish;            // over the parallel iterators, behind the reduction; operands it uses depend on these only
  BodyValue resultValue; // with a reduction: of `finish`, or reduced(); without: equal to values[0]
  TensorId result = -1;  // its dimension d is parallel iterator d: shape = extents[0 … numParallel)
  int64_t macs = 0;      // multiply-adds of the layer's own definition
};

/// For all j_k in [0, extent_k): flat element resultOffset + Σ j_k·resultStride_k of the result is flat element
/// sourceOffset + Σ j_k·sourceStride_k of the source (flat: row-major number). Strides may be 0 (source only) or
/// negative.
struct Piece {
  struct Digit {
    int64_t extent = 1, sourceStride = 0, resultStride = 0;
  };
  TensorId source = -1;
  int64_t sourceOffset = 0, resultOffset = 0;
  std::vector<Digit> digits; // any number, outermost first
};

/// No element of the result is in two pieces; those in none are `fill` (rounded to the type).
struct Remap {
  std::string name;
  TensorId result = -1;
  std::vector<Piece> pieces;
  double fill = 0;
};

using Node = std::variant<Nest, Remap>;

/// A variable that outlives a sample: `read` holds its value before, `written` after the sample (-1: not read, not
/// written).
struct State {
  std::string name;
  format::ElementType type = format::ElementType::F32;
  std::vector<int64_t> shape;
  ElementSource initial; // no bytes: zeros
  TensorId read = -1, written = -1;
};

struct NamedTensor {
  std::string name;
  TensorId tensor = -1;
};

struct Network {
  std::string name; // of the entry
  std::vector<Tensor> tensors;
  std::vector<Node> nodes; // each after those whose results it reads
  std::vector<NamedTensor> inputs, outputs;
  std::vector<State> states;

  /// Shapes, maps, types, order: everything above. The error names the node.
  absl::Status check() const;
};

} // namespace wsc::spmd
