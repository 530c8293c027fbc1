// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of a nest: maps fit ranks, every scalar operation gets values of its type that exist where it runs, the result
// has the shape of the parallel iterators. Rules of a remap: equal types, and pieces as CheckPieces.cpp judges them.
#include "compiler/spmd/network/CheckNode.h"

#include "runtime/numerics/Elements.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <optional>

namespace wsc::spmd {

using format::ElementType;
using format::Opcode;

namespace {

bool isBodyOpcode(Opcode opcode) {
  return opcode <= Opcode::Fma || (opcode >= Opcode::CompareEq && opcode <= Opcode::ShiftRight);
}

bool sameValue(const BodyValue &a, const BodyValue &b) {
  return a.kind == b.kind && (a.kind == BodyValue::Kind::Immediate ? a.immediate == b.immediate : a.index == b.index);
}

class NestCheck {
public:
  NestCheck(const Network &network, const Nest &nest) : network(network), nest(nest) {}

  absl::Status run() const {
    if (nest.numParallel < 0 || size_t(nest.numParallel) > nest.extents.size())
      return invalid(absl::StrCat("has ", nest.numParallel, " parallel iterators of ", nest.extents.size()));
    for (int64_t extent : nest.extents)
      if (extent < 0)
        return invalid(absl::StrCat("has an iterator of extent ", extent));
    for (size_t i = 0; i < nest.operands.size(); ++i)
      if (absl::Status status = checkAccess(i); !status.ok())
        return status;
    for (size_t i = 0; i < nest.body.size() + nest.finish.size(); ++i)
      if (absl::Status status = checkOperation(i); !status.ok())
        return status;
    if (absl::Status status = nest.reduction ? checkReduction() : checkElementwise(); !status.ok())
      return status;
    return checkResult();
  }

private:
  absl::Status invalid(const std::string &what) const {
    return absl::InvalidArgumentError(absl::StrCat("nest ", nest.name, ": ", what));
  }
  const Tensor &tensorOf(size_t operand) const { return network.tensors[size_t(nest.operands[operand].tensor)]; }
  const BodyOp &operation(size_t i) const {
    return i < nest.body.size() ? nest.body[i] : nest.finish[i - nest.body.size()];
  }

  absl::Status checkAccess(size_t i) const {
    const Access &access = nest.operands[i];
    const Tensor &tensor = tensorOf(i);
    const std::string where = absl::StrCat("operand ", i, " (", tensor.name, ")");
    if (access.map.size() != tensor.shape.size())
      return invalid(
          absl::StrCat(where, " has ", access.map.size(), " indices, its shape is ", shapeText(tensor.shape)));
    for (const Index &index : access.map)
      if (index.perIterator.size() != nest.extents.size())
        return invalid(absl::StrCat(where, " has an index over ", index.perIterator.size(), " iterators, the nest has ",
                                    nest.extents.size()));
    if ((access.gatherDim < 0) != (access.gatherIndices < 0))
      return invalid(absl::StrCat(where, " needs both a gathered dimension and its indices, or neither"));
    if (access.gatherDim < 0)
      return absl::OkStatus();
    if (size_t(access.gatherDim) >= tensor.shape.size() || tensor.shape[size_t(access.gatherDim)] == 0)
      return invalid(absl::StrCat(where, " cannot be gathered along dimension ", access.gatherDim, " of ",
                                  shapeText(tensor.shape)));
    if (access.gatherCount < 0)
      return invalid(absl::StrCat(where, " is gathered from ", access.gatherCount, " elements"));
    const size_t by = size_t(access.gatherIndices);
    if (by >= nest.operands.size() || nest.operands[by].gatherDim >= 0 || tensorOf(by).type != ElementType::I32)
      return invalid(absl::StrCat(where, " takes its indices from operand ", by,
                                  ", which must be an operand of type i32 that is not gathered itself"));
    return absl::OkStatus();
  }

  /// The type of `value` as seen by an operation that may use `operations` of them; immediates have none. Errors: there
  /// is no such value there.
  absl::StatusOr<std::optional<ElementType>> typeOf(const BodyValue &value, size_t operations, bool inFinish) const {
    switch (value.kind) {
    case BodyValue::Kind::Immediate:
      return std::nullopt;
    case BodyValue::Kind::Operand:
      if (value.index < 0 || size_t(value.index) >= nest.operands.size())
        return invalid(absl::StrCat("uses operand ", value.index, ", there are ", nest.operands.size()));
      if (inFinish)
        for (const Index &index : nest.operands[size_t(value.index)].map)
          if (std::any_of(index.perIterator.begin() + nest.numParallel, index.perIterator.end(),
                          [](int64_t step) { return step != 0; }))
            return invalid(absl::StrCat("uses operand ", value.index,
                                        " behind the reduction, but its place depends on a reduced iterator"));
      return tensorOf(size_t(value.index)).type;
    case BodyValue::Kind::Operation:
      if (value.index < 0 || size_t(value.index) >= operations)
        return invalid(absl::StrCat("uses the result of operation ", value.index, " where ", operations, " are done"));
      if (inFinish && size_t(value.index) < nest.body.size())
        return invalid(absl::StrCat("uses the result of operation ", value.index, " of the body behind the reduction"));
      return operation(size_t(value.index)).type;
    case BodyValue::Kind::Reduced:
      if (!nest.reduction || !inFinish)
        return invalid("uses the reduced value outside of `finish`");
      return nest.reduction->type;
    }
    return invalid("has a value of unknown kind");
  }

  absl::Status expectType(const BodyValue &value, size_t operations, bool inFinish, ElementType expected,
                          const std::string &what) const {
    auto type = typeOf(value, operations, inFinish);
    if (!type.ok())
      return type.status();
    if (*type && **type != expected)
      return invalid(absl::StrCat(what, " needs ", typeText(expected), ", got ", typeText(**type)));
    return absl::OkStatus();
  }

  absl::Status checkOperation(size_t i) const {
    const BodyOp &op = operation(i);
    const std::string what = absl::StrCat("operation ", i, " (", opcodeText(op.opcode), ")");
    if (!isBodyOpcode(op.opcode))
      return invalid(absl::StrCat(what, " is not allowed in a body"));
    if (!numerics::isDefined(op.opcode, op.type))
      return invalid(absl::StrCat(what, " is not defined on ", typeText(op.type)));
    const ElementType sourceType = op.taken();
    if (op.opcode == Opcode::Move && op.type != sourceType) {
      if (format::elementBytes(op.type) != format::elementBytes(sourceType) || op.type == ElementType::Bool ||
          sourceType == ElementType::Bool)
        return invalid(absl::StrCat(what, " takes the bits of ", typeText(sourceType), " as ", typeText(op.type),
                                    ", which has another form in memory"));
      if (op.a.kind == BodyValue::Kind::Immediate)
        return invalid(absl::StrCat(what, " takes the bits of an immediate; give the number that they are"));
    }
    const BodyValue *sources[] = {&op.a, &op.b, &op.c};
    for (int s = 0; s < sourcesOf(op.opcode); ++s)
      if (absl::Status status = expectType(*sources[s], i, i >= nest.body.size(), sourceType, what); !status.ok())
        return status;
    return absl::OkStatus();
  }

  absl::Status checkElementwise() const {
    if (size_t(nest.numParallel) != nest.extents.size() || !nest.finish.empty() || nest.values.size() != 1)
      return invalid("has no reduction, so it has only parallel iterators, one value and no `finish`");
    if (!sameValue(nest.resultValue, nest.values[0]))
      return invalid("has no reduction, so its result is its value");
    return absl::OkStatus();
  }

  absl::Status checkReduction() const {
    const Reduction &reduction = *nest.reduction;
    const bool isFma = reduction.opcode == Opcode::Fma;
    if (!isFma && (reduction.opcode < Opcode::ReduceAdd || reduction.opcode > Opcode::ReduceMax))
      return invalid(absl::StrCat("cannot be reduced by ", opcodeText(reduction.opcode)));
    if (nest.values.size() != (isFma ? 2u : 1u))
      return invalid(absl::StrCat("has ", nest.values.size(), " values for ", opcodeText(reduction.opcode)));
    for (const BodyValue &value : nest.values)
      if (absl::Status status = expectType(value, nest.body.size(), false, reduction.type, "the reduction");
          !status.ok())
        return status;
    return absl::OkStatus();
  }

  absl::Status checkResult() const {
    const Tensor &result = network.tensors[size_t(nest.result)];
    const std::vector<int64_t> parallel(nest.extents.begin(), nest.extents.begin() + nest.numParallel);
    if (result.shape != parallel)
      return invalid(absl::StrCat("has parallel iterators ", shapeText(parallel), ", its result ", result.name, " is ",
                                  shapeText(result.shape)));
    return expectType(nest.resultValue, nest.body.size() + nest.finish.size(), nest.reduction.has_value(), result.type,
                      "the result");
  }

  const Network &network;
  const Nest &nest;
};

absl::Status checkRemap(const Network &network, const Remap &remap) {
  const Tensor &result = network.tensors[size_t(remap.result)];
  std::vector<int64_t> sourceElements;
  for (size_t p = 0; p < remap.pieces.size(); ++p) {
    const Tensor &source = network.tensors[size_t(remap.pieces[p].source)];
    if (source.type != result.type)
      return absl::InvalidArgumentError(absl::StrCat("remap ", remap.name, ": piece ", p, " is of type ",
                                                     typeText(source.type), ", the result ", typeText(result.type)));
    sourceElements.push_back(source.elements());
  }
  if (absl::Status status = checkPieces(remap.pieces, sourceElements, result.elements()); !status.ok())
    return absl::InvalidArgumentError(absl::StrCat("remap ", remap.name, ": ", status.message()));
  return absl::OkStatus();
}

} // namespace

int sourcesOf(Opcode opcode) {
  return opcode == Opcode::Fma || opcode == Opcode::Select ? 3 : format::opcodeInfo(opcode).sources;
}

absl::Status checkNode(const Network &network, const Node &node, const std::vector<bool> &defined) {
  const auto *nest = std::get_if<Nest>(&node);
  const auto *remap = std::get_if<Remap>(&node);
  const std::string where = nest ? "nest " + nest->name : "remap " + remap->name;
  const TensorId result = nest ? nest->result : remap->result;
  const auto exists = [&](TensorId id) { return id >= 0 && size_t(id) < network.tensors.size(); };
  if (!exists(result) || defined[size_t(result)])
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": computes tensor ", result, ", which does not exist or has another origin too"));
  std::vector<TensorId> reads;
  if (nest)
    for (const Access &access : nest->operands)
      reads.push_back(access.tensor);
  else
    for (const Piece &piece : remap->pieces)
      reads.push_back(piece.source);
  for (TensorId id : reads)
    if (!exists(id) || !defined[size_t(id)])
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": reads tensor ", id, ", which does not exist or is computed later"));
  return nest ? NestCheck(network, *nest).run() : checkRemap(network, *remap);
}

} // namespace wsc::spmd
