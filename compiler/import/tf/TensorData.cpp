// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading of TensorProtos; see TensorData.h. Nothing is allocated before the elements are known to be there, or to
// repeat one of them.
#include "compiler/import/tf/TensorData.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Functions.h"
#include "compiler/import/common/Literal.h"
#include "compiler/import/tf/Types.h"
#include "dialects/nn/Nn.h"
#include "dialects/nn/Shape.h"
#include <algorithm>

using namespace mlir;
using namespace wsc::tf;

namespace wsc::import::tf {

static uint64_t bytesPerElement(Type element) { return (element.getIntOrFloatBitWidth() + 7) / 8; }

/// Elements as bytes in memory, a bool being one byte.
static TypedAttr fromBytes(RankedTensorType type, std::string_view bytes) {
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, llvm::ArrayRef<char>(bytes.data(), bytes.size()));
  llvm::SmallVector<bool> values;
  for (char byte : bytes)
    values.push_back(byte != 0);
  return DenseElementsAttr::get(type, values);
}

/// The first values given, then the last one again; zeros without any.
static absl::StatusOr<TypedAttr> repeated(RankedTensorType type, Literal given) {
  const int64_t count = type.getNumElements(), found = given.isFloat() ? given.floats.size() : given.ints.size();
  if (found > count)
    return absl::InvalidArgumentError(
        absl::StrCat("has ", found, " elements, its shape ", nn::formatShape(type.getShape()), " needs ", count));
  if (found <= 1) {
    Literal one = Literal::zeros(RankedTensorType::get({}, type.getElementType()));
    if (found == 1)
      (one.isFloat() ? void(one.floats = given.floats) : void(one.ints = given.ints));
    one.normalize();
    if (count == 0)
      return TypedAttr(Literal::zeros(type).toAttribute());
    return TypedAttr(one.toAttribute().resizeSplat(type));
  }
  if (count > maxConstantElements)
    return absl::InvalidArgumentError(absl::StrCat("repeats the last of ", found, " elements to ", count, ", at most ",
                                                   maxConstantElements, " are formed"));
  given.type = type;
  if (given.isFloat())
    given.floats.resize(count, given.floats.back());
  else
    given.ints.resize(count, given.ints.back());
  given.normalize();
  return TypedAttr(given.toAttribute());
}

absl::StatusOr<TypedAttr> TensorReader::readFields(const TensorProto &tensor, RankedTensorType type) {
  Literal given;
  given.type = type;
  auto integers = [&](const auto &field) { given.ints.assign(field.begin(), field.end()); };
  switch (valueType(tensor.dtype())) {
  case DT_FLOAT:
    given.floats.assign(tensor.float_val().begin(), tensor.float_val().end());
    break;
  case DT_DOUBLE:
    given.floats.assign(tensor.double_val().begin(), tensor.double_val().end());
    break;
  case DT_HALF:
  case DT_BFLOAT16: {
    std::string bits;
    for (int32_t value : tensor.half_val()) {
      bits.push_back(static_cast<char>(value & 0xff));
      bits.push_back(static_cast<char>((value >> 8) & 0xff));
    }
    auto decoded = Literal::fromBytes(RankedTensorType::get({tensor.half_val_size()}, type.getElementType()), bits);
    given.floats = decoded->floats;
    break;
  }
  case DT_INT64:
    integers(tensor.int64_val());
    break;
  case DT_BOOL:
    integers(tensor.bool_val());
    break;
  case DT_UINT32:
    integers(tensor.uint32_val());
    break;
  case DT_UINT64:
    integers(tensor.uint64_val());
    break;
  default:
    integers(tensor.int_val());
    break;
  }
  return repeated(type, std::move(given));
}

absl::StatusOr<TypedAttr> TensorReader::readBytes(const TensorProto &tensor, RankedTensorType type) {
  const uint64_t width = bytesPerElement(type.getElementType());
  const uint64_t needed = width * static_cast<uint64_t>(type.getNumElements());
  const uint64_t found = tensor.has_wsc_offset() ? tensor.wsc_bytes() : tensor.tensor_content().size();
  if (found == needed) {
    if (!tensor.has_wsc_offset())
      return fromBytes(type, tensor.tensor_content());
    return TypedAttr(nn::WeightsAttr::get(type, path_, tensor.wsc_offset(), found, 0));
  }
  // A packed list of numbers may be shorter than the tensor; raw content never is.
  if (tensor.wsc_packed() && found > 0 && found < needed && found % width == 0) {
    auto bytes = files_.slice(path_, tensor.wsc_offset(), found);
    if (!bytes.ok())
      return bytes.status();
    auto given =
        Literal::fromBytes(RankedTensorType::get({static_cast<int64_t>(found / width)}, type.getElementType()), *bytes);
    if (given)
      return repeated(type, std::move(*given));
  }
  return absl::InvalidArgumentError(absl::StrCat("has ", found, " bytes of elements, its shape ",
                                                 nn::formatShape(type.getShape()), " and type need ", needed));
}

absl::StatusOr<Value> TensorReader::read(const TensorProto &tensor) {
  auto shape = knownShape(tensor.tensor_shape(), "the constant");
  if (!shape.ok())
    return shape.status();
  if (valueType(tensor.dtype()) == DT_STRING) {
    const int64_t count = nn::elementCount(*shape).value_or(0), found = tensor.string_val_size();
    if (found != count && !(found == 1 && count <= maxLiteralElements) && found != 0)
      return absl::InvalidArgumentError(absl::StrCat("has ", found, " strings, its shape needs ", count));
    if (count > maxLiteralElements)
      return absl::UnimplementedError(
          absl::StrCat("has ", count, " strings, at most ", maxLiteralElements, " are read"));
    Strings strings;
    strings.shape.assign(shape->begin(), shape->end());
    strings.values.assign(tensor.string_val().begin(), tensor.string_val().end());
    strings.values.resize(count, strings.values.empty() ? std::string() : strings.values.back());
    return Value(std::move(strings));
  }
  auto element = elementType(context_, tensor.dtype());
  if (!element.ok())
    return element.status();
  uint64_t bytes = bytesPerElement(*element);
  for (int64_t extent : *shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
      return absl::InvalidArgumentError(
          absl::StrCat("of shape ", nn::formatShape(*shape), " has more than 2^63 bytes"));
  auto type = RankedTensorType::get(*shape, *element);
  auto attribute =
      tensor.has_wsc_offset() || !tensor.tensor_content().empty() ? readBytes(tensor, type) : readFields(tensor, type);
  if (!attribute.ok())
    return attribute.status();
  return Value(Tensor{type, *attribute, {}});
}

} // namespace wsc::import::tf
