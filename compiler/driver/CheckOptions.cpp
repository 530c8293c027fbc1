// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/CheckOptions.h"

#include "absl/strings/str_cat.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace wsc::driver {

namespace {

// The first float type that an operation's result has and of which `is` holds, or null.
Type findFloatType(ModuleOp module, llvm::function_ref<bool(FloatType)> is) {
  Type found;
  module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type)); element && is(element)) {
        found = element;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return found;
}

std::string nameOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

} // namespace

bool asksForStrips(const CompileOptions &options) {
  return options.equalColumns || !options.pins.empty() || !options.problemsDir.empty() ||
         (options.to > Phase::Nn && options.to < Phase::Nests);
}

absl::Status checkPrecision(const CompileOptions &options, ModuleOp module, Phase at) {
  const auto refuse = [&](const auto &...parts) { return absl::InvalidArgumentError(absl::StrCat(parts...)); };
  const std::string asked = absl::StrCat("--precision ", precisionName(options.precision));
  if (options.precision == Precision::F32)
    if (Type other = findFloatType(module, [](FloatType type) { return !type.isF32(); }))
      return refuse(options.model, " computes in ", nameOf(other),
                    ", not in f32 alone; --precision model takes it as it is");
  if (!isNarrow(options.precision))
    return absl::OkStatus();
  if (at > Phase::Nn)
    return refuse(options.model, " is at phase ", phaseName(at), "; ", asked,
                  " is decided on the way to phase nests, compile from phase nn or before");
  if (options.to <= Phase::Nn)
    return refuse(asked, " is decided on the way to phase nests; phase ", phaseName(options.to),
                  " comes before it, leave the option out or stop later");
  if (options.execution == Execution::Pipelined || asksForStrips(options))
    return refuse(asked,
                  " is for phased execution, and strips compute in f32; choose --execution phased, or auto, which "
                  "takes phases then, and leave out what is for strips (--pins, --dump-problems, phases kernels "
                  "to routed)");
  if (findFloatType(module, [](FloatType type) { return type.isF64(); }))
    return refuse(options.model, " computes in f64, of which ", asked,
                  " would keep little; convert the model to f32 first, or leave the option out");
  if (!findFloatType(module, [](FloatType type) { return type.isF32(); }))
    return refuse(options.model, " computes nothing in f32, so ", asked, " has nothing to do; leave it out");
  return absl::OkStatus();
}

absl::Status checkWay(const CompileOptions &options, Phase at) {
  const auto isOfStrips = [](Phase phase) { return phase > Phase::Nn && phase < Phase::Nests; };
  const bool phased = at == Phase::Nests || options.execution == Execution::Phased;
  const bool pipelined = isOfStrips(at) || options.execution == Execution::Pipelined;
  if (!(phased && isOfStrips(options.to)) && !(pipelined && options.to == Phase::Nests))
    return absl::OkStatus();
  std::string others;
  for (Phase phase = Phase::Import; phase <= Phase::Wse; phase = nextPhase(phase, phased))
    absl::StrAppend(&others, " ", phaseName(phase));
  return absl::InvalidArgumentError(absl::StrCat("phase ", phaseName(options.to), " is of ",
                                                 phased ? "pipelined" : "phased", " execution; the phases of ",
                                                 phased ? "phased" : "pipelined", " execution are", others));
}

} // namespace wsc::driver
