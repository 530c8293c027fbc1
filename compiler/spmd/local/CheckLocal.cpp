// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/local/CheckLocal.h"

#include "compiler/spmd/local/BodyCode.h"

#include "absl/strings/str_cat.h"

#include <optional>

namespace wsc::spmd {

using namespace format;

namespace {

class Check {
public:
  Check(const Code &code, const LocalNest &local, const LocalOperand *reduced)
      : code(code), local(local), nest(*local.nest), reduced(reduced) {}

  absl::Status run() {
    const size_t rank = nest.extents.size(), numOperands = nest.operands.size();
    expect("extents", local.extents.size(), rank);
    expect("operand types", local.operandTypes.size(), numOperands);
    expect("operands", local.operands.size(), numOperands);
    if (!failure.empty())
      return status();
    for (size_t i = 0; i < numOperands; ++i)
      place(absl::StrCat("operand ", i), local.operands[i], rank);
    place("result", local.result, size_t(nest.numParallel));
    if (reduced)
      place("accumulators", *reduced, size_t(nest.numParallel));
    if (reduced && !nest.reduction)
      refuse("has no reduction to finish");
    for (size_t i = 0; i < numOperands; ++i)
      gathered(i);
    if (!failure.empty())
      return status();
    for (size_t number = 0; number < nest.body.size() + nest.finish.size(); ++number)
      operation(number);
    if (nest.reduction) {
      expect("reduced values", nest.values.size(), nest.reduction->opcode == Opcode::Fma ? 2 : 1);
      for (const BodyValue &value : nest.values)
        typed("the reduction", value, nest.reduction->type, 0, nest.body.size(), false);
    }
    exists("the result", nest.resultValue, nest.reduction ? nest.body.size() : 0, nest.body.size() + nest.finish.size(),
           nest.reduction.has_value());
    return status();
  }

private:
  const Code &code;
  const LocalNest &local;
  const Nest &nest;
  const LocalOperand *reduced;
  std::string failure; // the first

  absl::Status status() const {
    return failure.empty() ? absl::OkStatus()
                           : absl::InvalidArgumentError(absl::StrCat("nest ", nest.name, ": ", failure));
  }
  void refuse(const std::string &what) {
    if (failure.empty())
      failure = what;
  }
  void expect(const std::string &what, size_t count, size_t expected) {
    if (count != expected)
      refuse(absl::StrCat(count, " ", what, ", it has ", expected));
  }

  void place(const std::string &what, const LocalOperand &operand, size_t strides) {
    expect(absl::StrCat("strides of ", what), operand.strideBytes.size(), strides);
    if (operand.buffer < 0 || size_t(operand.buffer) >= code.buffers.size())
      refuse(absl::StrCat(what, " lies in buffer ", operand.buffer, ", there are ", code.buffers.size()));
  }

  void gathered(size_t number) {
    const Access &access = nest.operands[number];
    if (access.gatherDim < 0)
      return;
    const LocalOperand &operand = local.operands[number];
    const auto indices = size_t(access.gatherIndices);
    if (indices >= local.operands.size() || local.operandTypes[indices] != ElementType::I32 ||
        nest.operands[indices].gatherDim >= 0)
      refuse(absl::StrCat("operand ", number, " is gathered by operand ", access.gatherIndices,
                          ", which must be a plain operand of type i32"));
    else if (operand.gatherCount < 1 || operand.gatherStrideBytes < elementBytes(local.operandTypes[number]))
      refuse(absl::StrCat("operand ", number, " is gathered from ", operand.gatherCount, " elements ",
                          operand.gatherStrideBytes, " bytes apart; both must be positive and apart by an element"));
  }

  void operation(size_t number) {
    const BodyOp &op = operationOf(nest, number);
    const bool behind = nest.reduction && number >= nest.body.size();
    for (const BodyValue *source : sourcesOf(op))
      typed(absl::StrCat("operation ", number), *source, op.taken(), behind ? nest.body.size() : 0, number, behind);
  }

  // The type of a value that may be used here: operations [first, end), and the reduced value behind the reduction.
  // Empty for immediates.
  std::optional<ElementType> exists(const std::string &where, const BodyValue &value, size_t first, size_t end,
                                    bool behind) {
    const auto number = size_t(value.index);
    switch (value.kind) {
    case BodyValue::Kind::Immediate:
      return std::nullopt;
    case BodyValue::Kind::Operand:
      if (number < local.operandTypes.size())
        return local.operandTypes[number];
      refuse(absl::StrCat(where, " uses operand ", value.index, ", there are ", local.operandTypes.size()));
      return std::nullopt;
    case BodyValue::Kind::Operation:
      if (number >= first && number < end)
        return operationOf(nest, number).type;
      refuse(absl::StrCat(where, " uses operation ", value.index, ", in reach are ", first, " to ", int64_t(end) - 1));
      return std::nullopt;
    case BodyValue::Kind::Reduced:
      if (behind)
        return nest.reduction->type;
      refuse(absl::StrCat(where, " uses the reduced value, which is known only behind a reduction"));
      return std::nullopt;
    }
    return std::nullopt;
  }

  void typed(const std::string &where, const BodyValue &value, ElementType expected, size_t first, size_t end,
             bool behind) {
    std::optional<ElementType> type = exists(where, value, first, end, behind);
    if (type && *type != expected)
      refuse(absl::StrCat(where, " takes a value of type ", std::string(elementTypeName(*type)), " as ",
                          std::string(elementTypeName(expected)), "; convert it first"));
  }
};

} // namespace

absl::Status checkLocal(const Code &code, const LocalNest &local, const LocalOperand *reduced) {
  return Check(code, local, reduced).run();
}

} // namespace wsc::spmd
