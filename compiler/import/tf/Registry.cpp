// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lookup in the table of operators, and the support page; see Registry.h.
#include "compiler/import/tf/Registry.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace wsc::import::tf {

llvm::ArrayRef<Family> families() {
  static const std::vector<Family> all{
      {"Inputs, constants and structure", structureOperators()},
      {"Constants made while importing", constantOperators()},
      {"Control flow", controlOperators()},
      {"Functions and structured control flow", functionOperators()},
      {"Lists and arrays of tensors", listOperators()},
      {"Variables", variableOperators()},
      {"Shapes", shapeOperators()},
      {"Movement", movementOperators()},
      {"Diagonals", diagonalOperators()},
      {"Gather and scatter", gatherOperators()},
      {"Search, counts and segments", searchOperators()},
      {"Batch and space", spaceOperators()},
      {"Elementwise, one operand", unaryOperators()},
      {"Special functions", specialOperators()},
      {"Rounding to few bits", quantizeOperators()},
      {"Elementwise, two and more operands", binaryOperators()},
      {"Reductions, order and running sums", reduceOperators()},
      {"Matrix products", contractionOperators()},
      {"Linear equations", linearAlgebraOperators()},
      {"Convolution", convOperators()},
      {"Layers with what follows them", fusedOperators()},
      {"Pooling", poolOperators()},
      {"Other windows", tapOperators()},
      {"Normalisation and losses", normalizationOperators()},
      {"Images", imageOperators()},
      {"Images by weights", samplingOperators()},
      {"Colours", colorOperators()},
      {"Recurrent cells", recurrentOperators()},
      {"Gradients", gradientOperators()},
      {"Optimizers", optimizerOperators()},
  };
  return all;
}

static std::unordered_map<std::string_view, const Operator *> buildTable() {
  std::unordered_map<std::string_view, const Operator *> table;
  for (const Family &family : families())
    for (const Operator &op : family.operators)
      table.emplace(op.name, &op);
  return table;
}

const Operator *findOperator(const std::string &name) {
  static const auto table = buildTable();
  auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

std::string supportPage() {
  std::string page;
  size_t count = 0;
  for (const Family &family : families()) {
    std::vector<std::string> names;
    for (const Operator &op : family.operators)
      names.push_back(op.name);
    std::sort(names.begin(), names.end());
    count += names.size();
    absl::StrAppend(&page, "| ", family.title, " | ");
    for (size_t i = 0; i < names.size(); ++i)
      absl::StrAppend(&page, i ? ", " : "", "`", names[i], "`");
    absl::StrAppend(&page, " |\n");
  }
  return absl::StrCat(count, " operators:\n\n| family | operators |\n|---|---|\n", page);
}

} // namespace wsc::import::tf
