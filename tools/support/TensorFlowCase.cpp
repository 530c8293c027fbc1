// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and shapes of a data set as options; see TensorFlowCase.h.
#include "tools/support/TensorFlowCase.h"

#include "compiler/import/tf/Import.h"
#include "runtime/numerics/Elements.h"

#include "absl/strings/str_cat.h"

namespace wsc::tools {

bool isTensorFlowCase(const std::string &model) { return import::isTensorFlow(model); }

ModelFacts nameTensors(const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs,
                       driver::CompileOptions &options) {
  ModelFacts facts;
  for (const Tensor &tensor : inputs) {
    if (tensor.type.name.empty())
      continue;
    ModelInput input;
    input.name = tensor.type.name;
    input.hasShape = true;
    std::string text = input.name;
    for (size_t d = 0; d < tensor.type.shape.size(); ++d) {
      absl::StrAppend(&text, d ? "x" : ":", tensor.type.shape[d]);
      input.dims.push_back({tensor.type.shape[d], {}});
    }
    if (tensor.type.shape.empty() && tensor.type.type == format::ElementType::F32)
      text += ":f32";
    options.inputs.push_back(text);
    facts.inputs.push_back(std::move(input));
  }
  for (const Tensor &tensor : outputs)
    if (!tensor.type.name.empty())
      options.outputs.push_back(tensor.type.name);
  return facts;
}

Tensor withIntegerType(Tensor tensor, format::ElementType type) {
  const format::ElementType from = tensor.type.type;
  if (from == type || numerics::isFloat(from) || numerics::isFloat(type))
    return tensor;
  Tensor result;
  result.type = tensor.type;
  result.type.type = type;
  const auto width = size_t(format::elementBytes(from)), wide = size_t(format::elementBytes(type));
  result.bytes.resize(tensor.bytes.size() / width * wide);
  for (size_t i = 0; i * width < tensor.bytes.size(); ++i)
    numerics::storeElement(
        result.bytes.data() + i * wide, type,
        numerics::convertElement(numerics::loadElement(tensor.bytes.data() + i * width, from), from, type));
  return result;
}

} // namespace wsc::tools
