// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/wafer/Constants.h"

#include "dialects/nn/Nn.h"

#include "llvm/Support/MemoryBuffer.h"

#include <cstring>

using namespace mlir;

namespace wsc::wafer {

using kernels::ConstantView;

static nn::ConstantOp constantOf(Value value) {
  while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
    value = reshape.getInput();
  return value.getDefiningOp<nn::ConstantOp>();
}

bool isConstant(Value value) { return bool(constantOf(value)); }

ConstantView inlineConstant(const std::vector<double> &values) {
  auto bytes = std::make_shared<std::vector<std::byte>>(values.size() * sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) {
    float element = float(values[i]);
    std::memcpy(bytes->data() + i * sizeof(float), &element, sizeof(float));
  }
  ConstantView view;
  view.inlineBytes = std::move(bytes);
  return view;
}

std::optional<ConstantView> constantView(Value value) {
  nn::ConstantOp op = constantOf(value);
  if (!op || !cast<RankedTensorType>(op.getType()).getElementType().isF32())
    return std::nullopt;
  return constantView(Attribute(op.getValue()));
}

std::optional<ConstantView> constantView(Attribute value) {
  if (auto weights = dyn_cast<nn::WeightsAttr>(value)) {
    ConstantView view;
    view.path = weights.getFile().str();
    view.sourceOffset = int64_t(weights.getOffset());
    view.sourceBytes = int64_t(weights.getBytes());
    return view;
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(value); dense && dense.getElementType().isF32()) {
    std::vector<double> values;
    values.reserve(size_t(dense.getNumElements()));
    for (float element : dense.getValues<float>())
      values.push_back(element);
    return inlineConstant(values);
  }
  return std::nullopt;
}

FailureOr<std::vector<double>> constantValues(Value value) {
  nn::ConstantOp op = constantOf(value);
  std::vector<double> values;
  if (DenseElementsAttr dense = op.getDense()) {
    for (const APFloat &element : dense.getValues<APFloat>())
      values.push_back(element.convertToDouble());
    return values;
  }
  nn::WeightsAttr weights = op.getWeights();
  auto buffer = llvm::MemoryBuffer::getFileSlice(weights.getFile(), weights.getBytes(), weights.getOffset());
  if (!buffer)
    return op.emitError("cannot read ") << weights.getFile() << ": " << buffer.getError().message();
  values.resize(weights.getBytes() / sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) {
    float element;
    std::memcpy(&element, (*buffer)->getBufferStart() + i * sizeof(float), sizeof(float));
    values[i] = element;
  }
  return values;
}

} // namespace wsc::wafer
