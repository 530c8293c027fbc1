// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/LocalCycles.h"

#include "compiler/spmd/collectives/GroupReduce.h"
#include "compiler/spmd/collectives/Laws.h"
#include "compiler/spmd/plan/MultiplyAdds.h"
#include "compiler/spmd/sharding/Divide.h"
#include "runtime/timing/Cost.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

constexpr int64_t kInstructionCycles = 20; // of an instruction's set-up with its loop

int64_t slots(const target::Target &target, const BodyOp &op, int64_t elements) {
  return int64_t(double(elements) / std::min(1.0, timing::elementsPerCycle(target, op.opcode, op.type)));
}

/// Iterations of a core: of the parallel iterators, of the reduced ones.
std::pair<int64_t, int64_t> iterationsOf(const Nest &nest, const Distribution &distribution) {
  std::pair<int64_t, int64_t> iterations(1, 1);
  for (size_t k = 0; k < nest.extents.size(); ++k)
    (int32_t(k) < nest.numParallel ? iterations.first : iterations.second) *= blockOf(nest, distribution, int32_t(k));
  return iterations;
}

} // namespace

int64_t localCycles(const Nest &nest, const Distribution &distribution, const target::Target &target) {
  const auto [parallel, reduced] = iterationsOf(nest, distribution);
  int64_t cycles = 0;
  if (!narrowFactors(nest))
    for (const BodyOp &op : nest.body)
      cycles += kInstructionCycles + slots(target, op, parallel * reduced);
  if (!nest.reduction)
    return cycles;
  cycles += nest.reduction->opcode == Opcode::Fma
                ? reduced * (kInstructionCycles + multiplyAddCycles(target, nest, parallel))
                : kInstructionCycles * (1 + reduced / 8) + parallel * reduced;
  bool isSent = false;
  for (Axis axis : {Axis::Row, Axis::Col})
    if (const int64_t cores = reduceGroup(nest, distribution, axis).cores; cores > 1) {
      cycles += allReduceCycles(target, int32_t(cores), reduceRun(int32_t(cores)),
                                ceilDiv(parallel * elementBytes(nest.reduction->type), 4));
      isSent = true;
    }
  for (const BodyOp &op : nest.finish) {
    const int64_t elements = slots(target, op, parallel);
    // What the last operation makes goes out to the group as it is made (emitGroupSendLast).
    const bool goesOut = isSent && &op == &nest.finish.back();
    cycles += goesOut ? elements - std::min(elements, parallel) : kInstructionCycles + elements;
  }
  return cycles;
}

int64_t localBytes(const Network &network, const Nest &nest, const Distribution &distribution) {
  int64_t bytes = 0;
  for (const Access &access : nest.operands) {
    const Tensor &tensor = network.tensors[size_t(access.tensor)];
    bytes += operandSharding(nest, access, tensor.shape, distribution).localElements() * elementBytes(tensor.type);
  }
  const int64_t parallel = iterationsOf(nest, distribution).first;
  bytes += parallel * elementBytes(network.tensors[size_t(nest.result)].type);
  if (nest.reduction)
    bytes += parallel * elementBytes(nest.reduction->type);
  return bytes;
}

} // namespace wsc::spmd
