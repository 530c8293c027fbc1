// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lookup in the table of operators; see Registry.h.
#include "compiler/import/onnx/Registry.h"
#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace wsc::import {

static std::vector<llvm::ArrayRef<Operator>> families() {
  return {constantOperators(),
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
          gramOperators(),
          contribAttentionOperators(),
          contribQuantizedOperators()};
}

static std::unordered_multimap<std::string_view, const Operator *> buildTable() {
  std::unordered_multimap<std::string_view, const Operator *> table;
  for (llvm::ArrayRef<Operator> family : families())
    for (const Operator &op : family)
      table.emplace(op.name, &op);
  return table;
}

std::vector<Operator> allOperators() {
  std::vector<Operator> all;
  for (llvm::ArrayRef<Operator> family : families())
    all.insert(all.end(), family.begin(), family.end());
  std::sort(all.begin(), all.end(), [](const Operator &a, const Operator &b) {
    return std::tuple(std::string_view(a.domain), std::string_view(a.name), a.since) <
           std::tuple(std::string_view(b.domain), std::string_view(b.name), b.since);
  });
  return all;
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
