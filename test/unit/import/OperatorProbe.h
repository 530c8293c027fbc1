// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which element types an operator is imported with, found out by importing it: a model of one node for each type. An
// operator whose inputs are not simply tensors of one type has a recipe.
#pragma once
#include "compiler/import/onnx/Registry.h"
#include "test/unit/import/ImportFixture.h"

namespace wsc::test {

/// An element type of ONNX with its name in nn.
struct ProbedType {
  OnnxBuilder::Type type;
  const char *name;
};
llvm::ArrayRef<ProbedType> probedTypes();

class OperatorProbe : public ImportTest {
protected:
  /// Names of the types with whose tensors the newest form of an operator is imported.
  std::set<std::string> typesTaken(const import::Operator &op);

private:
  bool imports(const import::Operator &op, const std::vector<std::string> &inputs,
               const std::vector<Attribute> &attributes, OnnxBuilder::Type type);
};

} // namespace wsc::test
