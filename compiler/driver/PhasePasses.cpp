// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/PhasePasses.h"

#include "dialects/wafer/Wafer.h"
#include "passes/spmd/Passes.h"
#include "passes/wafer/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace wsc::driver {

void addPasses(Phase phase, bool phased, const CompileOptions &options, const kernels::MappingTimer &timer,
               OpPassManager &module) {
  if (phase == Phase::Sized)
    module.addPass(wafer::createLayOutState({options.target, options.defects}));
  OpPassManager &functions = module.nest<func::FuncOp>();
  switch (phase) {
  case Phase::Nn:
    functions.addPass(createCanonicalizerPass());
    if (phased) {
      functions.addPass(createCSEPass());
      break;
    }
    functions.addPass(wafer::createFlattenRows());
    functions.addPass(createCSEPass());
    functions.addPass(wafer::createForwardState());
    functions.addPass(wafer::createFoldPadding());
    functions.addPass(wafer::createDecomposeReductions());
    functions.addPass(wafer::createShareConcats());
    break;
  case Phase::Kernels:
    functions.addPass(wafer::createFormKernels());
    break;
  case Phase::Sized:
    if (!options.pins.empty())
      functions.addPass(wafer::createPinKernels({options.pins}));
    functions.addPass(wafer::createSizeKernels(
        wafer::SizeKernelsOptions{options.target, options.defects, options.equalColumns, options.search.effort,
                                  options.search.seed, options.search.threads, options.problemsDir},
        timer, options.hooks.cancelled));
    break;
  case Phase::Placed:
    functions.addPass(wafer::createPlaceKernels({options.target, options.defects,
                                                 options.equalColumns ? kernels::Effort::Fast : options.search.effort,
                                                 options.search.seed, options.problemsDir}));
    break;
  case Phase::Nests:
    functions.addPass(spmd::createStoreAsBytes());
    functions.addPass(spmd::createLowerToNests());
    functions.addPass(spmd::createFuseNests());
    if (isNarrow(options.precision))
      functions.addPass(spmd::createNarrowFloats(
          {narrowType(options.precision), options.precision == Precision::Mixed, options.narrowSums}));
    functions.addPass(createCSEPass());
    break;
  case Phase::Routed:
    functions.addPass(wafer::createRouteStreams({options.target, options.defects, options.problemsDir}));
    break;
  default:
    break;
  }
}

} // namespace wsc::driver
