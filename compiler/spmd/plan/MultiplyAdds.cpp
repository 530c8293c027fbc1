// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/MultiplyAdds.h"

#include "runtime/timing/Cost.h"

#include <algorithm>
#include <cmath>

namespace wsc::spmd {

using namespace format;

std::optional<ElementType> narrowFactors(const Nest &nest) {
  if (!nest.reduction || nest.reduction->opcode != Opcode::Fma || nest.body.empty())
    return std::nullopt;
  const ElementType from = nest.body[0].sourceType;
  const bool widens = std::all_of(nest.body.begin(), nest.body.end(), [&](const BodyOp &op) {
    return op.opcode == Opcode::Convert && op.a.kind == BodyValue::Kind::Operand && op.sourceType == from;
  });
  const bool all = std::all_of(nest.values.begin(), nest.values.end(),
                               [](const BodyValue &value) { return value.kind == BodyValue::Kind::Operation; });
  return widens && all && mayMix(Opcode::Fma, from, nest.reduction->type) ? std::optional(from) : std::nullopt;
}

int64_t multiplyAddCycles(const target::Target &target, const Nest &nest, int64_t sums) {
  const std::optional<ElementType> narrow = narrowFactors(nest);
  Instruction fma;
  fma.opcode = Opcode::Fma;
  fma.type = nest.reduction->type;
  fma.mixed = narrow.has_value();
  fma.sourceType = narrow.value_or(fma.type);
  return int64_t(std::ceil(double(sums) / timing::elementsPerCycle(target, fma)));
}

} // namespace wsc::spmd
