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

/// The newest form of an operator imported with tensors of `type`; false where it is refused with all attempts.
class OperatorProbe : public ImportTest {
protected:
  bool takes(const import::Operator &op, OnnxBuilder::Type type);

private:
  bool imports(const import::Operator &op, const std::vector<std::string> &inputs,
               const std::vector<Attribute> &attributes, OnnxBuilder::Type type);
};

} // namespace wsc::test
