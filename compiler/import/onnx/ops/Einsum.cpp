// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Einsum.
#include "compiler/import/common/Einsum.h"
#include "compiler/import/onnx/Registry.h"

namespace wsc::import {

static void einsumOf(NodeContext &node) {
  std::string equation = node.stringAttribute("equation", "");
  std::vector<Expression> inputs;
  for (size_t i = 0; i < node.inputCount(); ++i)
    inputs.push_back(node.in(i));
  node.setResult(einsum(node.layers, equation, inputs));
}

static const Operator table[] = {{"Einsum", 12, newestOpset, 1, anyInputs, einsumOf}};
llvm::ArrayRef<Operator> einsumOperators() { return table; }

} // namespace wsc::import
