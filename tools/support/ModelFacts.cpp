// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs of a data set belong to the model's by name if all their names are known, else by place.
#include "tools/support/ModelFacts.h"

#include "compiler/import/onnx/WireScan.h"
#include "runtime/numerics/Elements.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <bit>

namespace wsc::tools {

namespace {

int64_t bitsOf(int32_t type) {
  using T = wsc::onnx::TensorProto;
  switch (type) {
  case T::UINT8:
  case T::INT8:
  case T::BOOL:
    return 8;
  case T::UINT16:
  case T::INT16:
  case T::FLOAT16:
  case T::BFLOAT16:
    return 16;
  case T::INT64:
  case T::UINT64:
  case T::DOUBLE:
  case T::COMPLEX64:
    return 64;
  case T::COMPLEX128:
    return 128;
  default:
    return 32;
  }
}

int64_t bytesOf(const wsc::onnx::TensorProto &tensor) {
  int64_t bytes = bitsOf(tensor.data_type()) / 8;
  for (int64_t extent : tensor.dims())
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      return 0;
  return bytes;
}

void noteSymbols(const wsc::onnx::ValueInfoProto &value, ModelFacts &facts) {
  for (const auto &dim : value.type().tensor_type().shape().dim())
    if (!dim.dim_param().empty())
      facts.symbols.insert(dim.dim_param());
}

} // namespace

absl::StatusOr<ModelFacts> readModelFacts(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return absl::NotFoundError(absl::StrCat("cannot read ", path, ": ", buffer.getError().message()));
  auto model = import::parseModel(std::string_view((*buffer)->getBufferStart(), (*buffer)->getBufferSize()));
  if (!model.ok())
    return absl::Status(model.status().code(), absl::StrCat(path, ": ", std::string(model.status().message())));
  ModelFacts facts;
  const wsc::onnx::GraphProto &graph = model->graph();
  std::set<std::string> initialised;
  for (const auto &tensor : graph.initializer()) {
    initialised.insert(tensor.name());
    facts.weightBytes += bytesOf(tensor);
  }
  for (const auto &node : graph.node())
    for (const auto &attribute : node.attribute())
      if (attribute.has_t())
        facts.weightBytes += bytesOf(attribute.t());
  for (const auto *values : {&graph.input(), &graph.output(), &graph.value_info()})
    for (const auto &value : *values)
      noteSymbols(value, facts);
  for (const auto &value : graph.input()) {
    if (initialised.count(value.name()))
      continue;
    ModelInput input;
    input.name = value.name();
    const auto &type = value.type().tensor_type();
    input.hasShape = type.has_shape();
    for (const auto &dim : type.shape().dim())
      input.dims.push_back({dim.has_dim_value() ? dim.dim_value() : -1, dim.dim_param()});
    facts.inputs.push_back(std::move(input));
  }
  return facts;
}

/// The model's input that input i of a data set is; null for none.
static const ModelInput *inputAt(const ModelFacts &facts, const std::vector<Tensor> &inputs, size_t i) {
  const auto named = [&](const Tensor &tensor) {
    return std::find_if(facts.inputs.begin(), facts.inputs.end(),
                        [&](const ModelInput &input) { return input.name == tensor.type.name; });
  };
  const bool byName = std::all_of(inputs.begin(), inputs.end(),
                                  [&](const Tensor &tensor) { return named(tensor) != facts.inputs.end(); });
  if (byName)
    return &*named(inputs[i]);
  return i < facts.inputs.size() ? &facts.inputs[i] : nullptr;
}

std::vector<std::string> fixShapes(const ModelFacts &facts, const std::vector<Tensor> &inputs,
                                   const std::map<std::string, int64_t> &given, driver::CompileOptions &options) {
  for (const auto &[name, value] : given)
    if (facts.symbols.count(name))
      options.dims[name] = value;
  std::vector<std::string> used;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ModelInput *input = inputAt(facts, inputs, i);
    const std::vector<int64_t> &shape = inputs[i].type.shape;
    if (!input || (input->hasShape && input->dims.size() != shape.size()))
      continue; // what does not fit is refused when the sample is run
    bool unnamed = !input->hasShape && !shape.empty();
    for (size_t d = 0; input->hasShape && d < shape.size(); ++d) {
      const ModelDim &dim = input->dims[d];
      if (dim.extent >= 0)
        continue;
      if (dim.symbol.empty())
        unnamed = true;
      else if (options.dims.emplace(dim.symbol, shape[d]).second)
        used.push_back(absl::StrCat("--dim ", dim.symbol, "=", shape[d]));
    }
    if (!unnamed)
      continue;
    std::string text = input->name;
    for (size_t d = 0; d < shape.size(); ++d)
      absl::StrAppend(&text, d ? "x" : ":", shape[d]);
    used.push_back("--input " + text);
    options.inputs.push_back(std::move(text));
  }
  return used;
}

/// Elements as --bind takes them.
static std::string listElements(const Tensor &tensor) {
  const format::ElementType type = tensor.type.type;
  const auto width = size_t(format::elementBytes(type));
  std::vector<std::string> parts;
  for (size_t at = 0; at + width <= tensor.bytes.size(); at += width) {
    const uint64_t element = numerics::loadElement(tensor.bytes.data() + at, type);
    if (numerics::isFloat(type))
      parts.push_back(absl::StrFormat(
          "%.17g", std::bit_cast<double>(numerics::convertElement(element, type, format::ElementType::F64))));
    else
      parts.push_back(numerics::isUnsigned(type) ? absl::StrCat(element)
                                                 : absl::StrCat(numerics::integerValue(element, type)));
  }
  return absl::StrJoin(parts, ",");
}

std::vector<std::string> bindInputs(const ModelFacts &facts, const std::vector<Tensor> &inputs,
                                    const std::vector<std::string> &names, driver::CompileOptions &options) {
  std::vector<std::string> used;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ModelInput *input = inputAt(facts, inputs, i);
    if (!input || inputs[i].type.shape.size() > 1 || std::find(names.begin(), names.end(), input->name) == names.end())
      continue;
    const std::string text = listElements(inputs[i]);
    if (options.bindings.emplace(input->name, text).second)
      used.push_back(absl::StrCat("--bind ", input->name, "=", text));
  }
  return used;
}

std::vector<Tensor> withoutBound(const ModelFacts &facts, std::vector<Tensor> inputs,
                                 const std::map<std::string, std::string> &bindings) {
  std::vector<bool> bound;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ModelInput *input = inputAt(facts, inputs, i);
    bound.push_back(input && bindings.count(input->name));
  }
  std::vector<Tensor> rest;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!bound[i])
      rest.push_back(std::move(inputs[i]));
  return rest;
}

} // namespace wsc::tools
