// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lookup in the table of operators; see Registry.h.
#include "compiler/import/onnx/Registry.h"
#include <string_view>
#include <unordered_map>

namespace wsc::import {

static std::unordered_multimap<std::string_view, const Operator *> buildTable() {
  std::unordered_multimap<std::string_view, const Operator *> table;
  for (llvm::ArrayRef<Operator> family : {constantOperators(),
                                          convOperators(),
                                          deconvOperators(),
                                          poolOperators(),
                                          gemmOperators(),
                                          einsumOperators(),
                                          quantizeOperators(),
                                          unaryOperators(),
                                          activationOperators(),
                                          binaryOperators(),
                                          reduceOperators(),
                                          softmaxOperators(),
                                          extremeOperators(),
                                          scanOperators(),
                                          normalizationOperators(),
                                          lossOperators(),
                                          shapeOperators(),
                                          movementOperators(),
                                          padOperators(),
                                          gatherOperators(),
                                          scatterOperators(),
                                          resizeOperators(),
                                          attentionOperators(),
                                          sequenceOperators(),
                                          recurrentOperators(),
                                          samplingOperators(),
                                          signalOperators(),
                                          determinantOperators(),
                                          contribOperators(),
                                          controlOperators(),
                                          trainingOperators(),
                                          featureOperators(),
                                          machineOperators(),
                                          treeOperators(),
                                          contribAttentionOperators(),
                                          contribQuantizedOperators()})
    for (const Operator &op : family)
      table.emplace(op.name, &op);
  return table;
}

const Operator *findOperator(const std::string &domain, const std::string &name, int64_t opset) {
  static const auto table = buildTable();
  auto [begin, end] = table.equal_range(name);
  for (auto entry = begin; entry != end; ++entry)
    if (domain == entry->second->domain && opset >= entry->second->since && opset <= entry->second->until)
      return entry->second;
  return nullptr;
}

} // namespace wsc::import
