// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/support/RandomNest.h"

#include "runtime/numerics/Elements.h"

#include <limits>

namespace wsc::test {

using format::ElementType;
using format::Opcode;
using spmd::Access;
using spmd::BodyOp;
using spmd::BodyValue;

const std::vector<ElementType> &elementTypes() {
  static const std::vector<ElementType> types = [] {
    std::vector<ElementType> all;
    for (int t = 0; t < format::kNumElementTypes; ++t)
      if (format::elementBytes(ElementType(t)) > 0)
        all.push_back(ElementType(t));
    return all;
  }();
  return types;
}

std::vector<std::byte> drawElements(Draw &draw, ElementType type, int64_t count, bool specials) {
  static const std::vector<double> special = {0.0,
                                              -0.0,
                                              std::numeric_limits<double>::infinity(),
                                              -std::numeric_limits<double>::infinity(),
                                              std::numeric_limits<double>::quiet_NaN(),
                                              1e-40,
                                              -6e4,
                                              3e38};
  const auto size = size_t(format::elementBytes(type));
  std::vector<std::byte> bytes(size_t(count) * size);
  for (size_t i = 0; i < size_t(count); ++i) {
    double value = double(draw.in(-64, 64)) / (numerics::isFloat(type) ? 16 : 4);
    if (specials && draw.oneIn(16))
      value = draw.of(special);
    numerics::storeElement(bytes.data() + i * size, type, numerics::encodeImmediate(value, type));
  }
  return bytes;
}

RandomBody::RandomBody(Draw &draw, spmd::Nest &nest, const std::vector<ElementType> &operandTypes)
    : draw(draw), nest(nest), operandTypes(operandTypes) {
  for (size_t i = 0; i < operandTypes.size(); ++i)
    known.push_back({BodyValue::operand(int32_t(i)), operandTypes[i]});
}

void RandomBody::finish() {
  finishing = true;
  known = {{BodyValue::reduced(), nest.reduction->type}};
  auto isFixed = [&](const Access &access) {
    for (const spmd::Index &index : access.map)
      for (size_t k = size_t(nest.numParallel); k < nest.extents.size(); ++k)
        if (index.perIterator[k] != 0)
          return false;
    return true;
  };
  for (size_t i = 0; i < operandTypes.size(); ++i) {
    const Access &access = nest.operands[i];
    if (isFixed(access) && (access.gatherDim < 0 || isFixed(nest.operands[size_t(access.gatherIndices)])))
      known.push_back({BodyValue::operand(int32_t(i)), operandTypes[i]});
  }
}

BodyValue RandomBody::append(const BodyOp &op) {
  (finishing ? nest.finish : nest.body).push_back(op);
  BodyValue result = BodyValue::operation(int32_t(nest.body.size() + nest.finish.size()) - 1);
  known.push_back({result, op.type});
  return result;
}

BodyValue RandomBody::value(ElementType type) {
  if (known.empty() || draw.oneIn(8))
    return BodyValue::constant(double(draw.in(-4, 8)) / 2);
  std::vector<BodyValue> matching;
  for (const Known &candidate : known)
    if (candidate.type == type)
      matching.push_back(candidate.value);
  if (!matching.empty())
    return draw.of(matching);
  const Known source = draw.of(known);
  BodyOp op;
  op.opcode = Opcode::Convert;
  op.type = type;
  op.sourceType = source.type;
  op.a = source.value;
  return append(op);
}

BodyValue RandomBody::operation(ElementType type) {
  static const std::vector<Opcode> opcodes = [] {
    std::vector<Opcode> all{Opcode::Fma, Opcode::Select, Opcode::CompareEq, Opcode::CompareLt, Opcode::CompareLe};
    for (int o = int(Opcode::Move); o <= int(Opcode::Not); ++o)
      if (Opcode(o) != Opcode::Convert)
        all.push_back(Opcode(o));
    for (int o = int(Opcode::And); o <= int(Opcode::ShiftRight); ++o)
      all.push_back(Opcode(o));
    return all;
  }();
  BodyOp op;
  do
    op.opcode = draw.oneIn(6) ? (draw.oneIn(2) ? Opcode::Fma : Opcode::Select) : draw.of(opcodes);
  while (!numerics::isDefined(op.opcode, type));
  op.type = op.sourceType = type;
  op.a = value(type);
  if (format::opcodeInfo(op.opcode).sources == 2)
    op.b = value(type);
  if (op.opcode == Opcode::Fma || op.opcode == Opcode::Select)
    op.c = value(type);
  return append(op);
}

} // namespace wsc::test
