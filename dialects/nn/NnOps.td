// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All operations of the nn dialect, one file per family.
#ifndef WSC_DIALECTS_NN_OPS_TD
#define WSC_DIALECTS_NN_OPS_TD

include "dialects/nn/NnContractionOps.td"
include "dialects/nn/NnElementwiseOps.td"
include "dialects/nn/NnMovementOps.td"
include "dialects/nn/NnReductionOps.td"
include "dialects/nn/NnStateOps.td"

#endif
