// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/network/Simplify.h"

namespace wsc::spmd {

void simplify(Network &network) {
  splitDims(network);
  foldRemaps(network);
  mergeRemaps(network);
  foldRemaps(network);
  foldConstants(network);
  mergeOperands(network); // a reduction is taken in where one operand reads it
  fuseFinish(network);
  mergeOperands(network);
  turnConstants(network);
  shareConcatenations(network);
  writeOutChains(network);
  removeUnused(network);
}

} // namespace wsc::spmd
