// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/lowering/LoweringFixture.h"

#include "compiler/driver/Registration.h"
#include "compiler/spmd/network/Simplify.h"
#include "passes/spmd/Passes.h"
#include "passes/spmd/ReadNetwork.h"
#include "test/support/NetworkBuilder.h"
#include "test/support/NetworkReference.h"
#include "test/support/NnReference.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace wsc::test {

namespace {

double draw(format::ElementType type, std::mt19937_64 &random) {
  switch (type) {
  case format::ElementType::Bool:
    return double(random() % 2);
  case format::ElementType::U8:
  case format::ElementType::U16:
  case format::ElementType::U32:
  case format::ElementType::U64:
    return double(random() % 10);
  case format::ElementType::I8:
  case format::ElementType::I16:
  case format::ElementType::I32:
  case format::ElementType::I64:
    return double(random() % 19) - 9;
  default:
    return (double(random() % 65) - 32) / 8;
  }
}

/// The first output of the network with its inputs as constants; empty if that is no constant then.
std::vector<std::byte> foldedOutput(spmd::Network network, const std::vector<std::vector<std::byte>> &inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    spmd::Tensor &tensor = network.tensors[size_t(network.inputs[i].tensor)];
    tensor.kind = spmd::Tensor::Kind::Constant;
    tensor.source.bytes = int64_t(inputs[i].size());
    tensor.source.inlineBytes = std::make_shared<const std::vector<std::byte>>(inputs[i]);
  }
  network.inputs.clear();
  spmd::foldConstants(network);
  const spmd::Tensor &output = network.tensors[size_t(network.outputs[0].tensor)];
  if (!output.source.inlineBytes)
    return {};
  return output.source.stored ? spmd::convertElements(*output.source.inlineBytes, *output.source.stored, output.type)
                              : *output.source.inlineBytes;
}

} // namespace

LoweredRun runLowered(const std::string &text, std::mt19937_64 &random, bool fuses) {
  LoweredRun run;
  DialectRegistry registry;
  driver::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    run.error += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return run;
  OwningOpRef<ModuleOp> original = module->clone();

  PassManager passes(&context);
  passes.addNestedPass<func::FuncOp>(spmd::createLowerToNests());
  if (fuses)
    passes.addNestedPass<func::FuncOp>(spmd::createFuseNests());
  if (failed(passes.run(*module)))
    return run;
  auto network = spmd::readNetwork(module->lookupSymbol<func::FuncOp>("main"));
  if (!network.ok())
    return run;
  run.network = *std::move(network);

  std::vector<Array> arguments;
  std::vector<std::vector<std::byte>> inputs;
  for (const spmd::NamedTensor &input : run.network.inputs) {
    const spmd::Tensor &tensor = run.network.tensors[size_t(input.tensor)];
    Array array{tensor.shape, {}};
    for (int64_t i = 0; i < array.size(); ++i)
      array.values.push_back(draw(tensor.type, random));
    inputs.push_back(elementsOf(tensor.type, array.values));
    arguments.push_back(std::move(array));
  }
  auto expected = runReference(*original, arguments, run.error);
  if (!expected)
    return run;
  run.expected = (*expected)[0].values;
  const format::ElementType type = run.network.tensors[size_t(run.network.outputs[0].tensor)].type;
  for (Arithmetic arithmetic : {Arithmetic::Double, Arithmetic::Exact}) {
    auto values = evaluate(run.network, inputs, {}, arithmetic);
    if (!values.ok()) {
      run.error = values.status().ToString();
      return run;
    }
    (arithmetic == Arithmetic::Double ? run.exact : run.rounded) =
        valuesOf(computedType(type, arithmetic), values->outputs[0]);
    run.foldsAlike = values->outputs[0] == foldedOutput(run.network, inputs);
  }
  return run;
}

} // namespace wsc::test
