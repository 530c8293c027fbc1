#include "runtime/timing/Cost.h"

#include <algorithm>
#include <cmath>

namespace wsc::timing {

using format::ElementType;
using format::Opcode;

static bool isRoutine(Opcode opcode) {
  switch (opcode) {
  case Opcode::Div:
  case Opcode::Pow:
  case Opcode::Mod:
  case Opcode::Exp:
  case Opcode::Log:
  case Opcode::Sqrt:
  case Opcode::Rsqrt:
  case Opcode::Reciprocal:
  case Opcode::Tanh:
  case Opcode::Erf:
  case Opcode::Sigmoid:
  case Opcode::Sin:
  case Opcode::Cos:
    return true;
  default:
    return false;
  }
}

double elementsPerCycle(const target::Target &target, Opcode opcode, ElementType type) {
  bool half = type == ElementType::F16 || type == ElementType::BF16;
  if (isRoutine(opcode))
    return 1.0 / target.routineCyclesPerElement;
  if (opcode == Opcode::Fma)
    return half ? target.fmaPerCycleF16 : target.fmaPerCycleF32;
  return half ? target.elementsPerCycleF16 : target.elementsPerCycleF32;
}

int64_t instructionCycles(const target::Target &target, Opcode opcode, ElementType type, int64_t elements,
                          int64_t queueWords) {
  if (elements <= 0)
    return 0;
  auto stream = int64_t(std::ceil(double(elements) / elementsPerCycle(target, opcode, type)));
  return target.vectorSetupCycles + std::max(stream, queueWords);
}

int64_t fabricWords(ElementType type, int64_t elements) {
  return (elements * format::elementBytes(type) + 3) / 4;
}

int64_t routeLatencyCycles(const target::Target &target, int64_t hops) {
  return 2 * target.rampLatencyCycles + hops * target.hopLatencyCycles;
}

} // namespace wsc::timing
