// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading of TensorProtos; see TensorData.h. External data must lie in the model's folder: the location is a relative
// path without "..", and neither it nor a folder on the way is a symbolic link, so it lies below that folder.
#include "compiler/import/onnx/TensorData.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Literal.h"
#include "dialects/nn/Nn.h"
#include "dialects/nn/Shape.h"
#include "dialects/nn/Storage.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"
#include <filesystem>
#include <limits>

using namespace mlir;
using wsc::onnx::TensorProto;

namespace wsc::import {

absl::StatusOr<Type> elementType(MLIRContext &context, int dataType) {
  auto integer = [&](unsigned bits, IntegerType::SignednessSemantics signedness) -> Type {
    return IntegerType::get(&context, bits, signedness);
  };
  switch (dataType) {
  case TensorProto::FLOAT:
    return Type(Float32Type::get(&context));
  case TensorProto::DOUBLE:
    return Type(Float64Type::get(&context));
  case TensorProto::FLOAT16:
    return Type(Float16Type::get(&context));
  case TensorProto::BFLOAT16:
    return Type(BFloat16Type::get(&context));
  case TensorProto::BOOL:
    return integer(1, IntegerType::Signless);
  case TensorProto::INT8:
    return integer(8, IntegerType::Signless);
  case TensorProto::INT16:
    return integer(16, IntegerType::Signless);
  case TensorProto::INT32:
    return integer(32, IntegerType::Signless);
  case TensorProto::INT64:
    return integer(64, IntegerType::Signless);
  case TensorProto::UINT8:
    return integer(8, IntegerType::Unsigned);
  case TensorProto::UINT16:
    return integer(16, IntegerType::Unsigned);
  case TensorProto::UINT32:
    return integer(32, IntegerType::Unsigned);
  case TensorProto::UINT64:
    return integer(64, IntegerType::Unsigned);
  case TensorProto::FLOAT8E4M3FN:
    return Type(Float8E4M3FNType::get(&context));
  case TensorProto::FLOAT8E4M3FNUZ:
    return Type(Float8E4M3FNUZType::get(&context));
  case TensorProto::FLOAT8E5M2:
    return Type(Float8E5M2Type::get(&context));
  case TensorProto::FLOAT8E5M2FNUZ:
    return Type(Float8E5M2FNUZType::get(&context));
  case TensorProto::FLOAT8E8M0:
    return Type(Float8E8M0FNUType::get(&context));
  case TensorProto::FLOAT4E2M1:
    return Type(Float4E2M1FNType::get(&context));
  case TensorProto::UINT4:
    return integer(4, IntegerType::Unsigned);
  case TensorProto::INT4:
    return integer(4, IntegerType::Signless);
  case TensorProto::UINT2:
    return integer(2, IntegerType::Unsigned);
  case TensorProto::INT2:
    return integer(2, IntegerType::Signless);
  case TensorProto::COMPLEX64:
  case TensorProto::COMPLEX128:
    return absl::UnimplementedError("tensors of complex numbers are not supported");
  case TensorProto::UNDEFINED:
    return absl::InvalidArgumentError("the element type is undefined");
  case TensorProto::STRING:
    return absl::UnimplementedError("tensors of strings are not supported");
  default:
    return absl::UnimplementedError(absl::StrCat("ONNX element type ", dataType, " is not supported"));
  }
}

static std::string label(const TensorProto &tensor) {
  return absl::StrCat("tensor '", tensor.name().empty() ? "(unnamed)" : tensor.name(), "'");
}

/// Width of an element in a file: below 8 where elements share a byte.
static uint64_t bitsInFile(Type element) { return element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth(); }

/// Elements that share bytes, the first in a byte's lowest bits, as a constant with a byte for each.
static TypedAttr unpacked(RankedTensorType type, std::string_view packed) {
  const uint64_t bits = bitsInFile(type.getElementType()), perByte = 8 / bits;
  std::vector<char> bytes(static_cast<size_t>(type.getNumElements()));
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(packed[i / perByte]);
    bytes[i] = static_cast<char>((byte >> (i % perByte * bits)) & ((1u << bits) - 1));
  }
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

/// Number of elements in the typed field that a data type uses.
static int64_t fieldSize(const TensorProto &tensor) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return tensor.float_data_size();
  case TensorProto::DOUBLE:
    return tensor.double_data_size();
  case TensorProto::INT64:
    return tensor.int64_data_size();
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return tensor.uint64_data_size();
  default:
    return tensor.int32_data_size();
  }
}

/// Elements from the typed fields of the message; floats of 16 bits and less come as bit patterns in int32_data, and
/// elements narrower than a byte as packed bytes. Nothing is allocated
/// before the field is known to hold as many as the shape needs.
static absl::StatusOr<TypedAttr> readFields(const TensorProto &tensor, RankedTensorType type) {
  int64_t count = type.getNumElements();
  const int64_t perField = std::max<int64_t>(1, 8 / static_cast<int64_t>(bitsInFile(type.getElementType())));
  if (fieldSize(tensor) != llvm::divideCeil(count, perField))
    return absl::InvalidArgumentError(
        absl::StrCat(label(tensor), " has ", fieldSize(tensor) * perField, " elements, its shape needs ", count));
  Literal literal = Literal::zeros(type);
  auto fill = [&](const auto &field, auto &to) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = field.Get(static_cast<int>(i));
  };
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    fill(tensor.float_data(), literal.floats);
    break;
  case TensorProto::DOUBLE:
    fill(tensor.double_data(), literal.floats);
    break;
  case TensorProto::INT64:
    fill(tensor.int64_data(), literal.ints);
    break;
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    fill(tensor.uint64_data(), literal.ints);
    break;
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16: {
    std::string raw;
    for (int32_t word : tensor.int32_data()) {
      raw.push_back(static_cast<char>(word & 0xff));
      raw.push_back(static_cast<char>((word >> 8) & 0xff));
    }
    literal = *Literal::fromBytes(type, raw);
    break;
  }
  default:
    if (nn::isStorage(type.getElementType())) {
      std::string raw;
      for (int32_t word : tensor.int32_data())
        raw.push_back(static_cast<char>(word & 0xff));
      return perField > 1 ? unpacked(type, raw)
                          : TypedAttr(DenseElementsAttr::getFromRawBuffer(type, {raw.data(), raw.size()}));
    }
    fill(tensor.int32_data(), literal.ints);
    break;
  }
  if (type.getElementType().isInteger(1))
    for (int64_t &value : literal.ints)
      value = value != 0;
  literal.normalize();
  return TypedAttr(literal.toAttribute());
}

absl::StatusOr<TypedAttr> TensorReader::readExternal(const TensorProto &tensor, RankedTensorType type, uint64_t bytes) {
  namespace fs = std::filesystem;
  std::string location;
  uint64_t offset = 0, length = bytes;
  for (const auto &entry : tensor.external_data()) {
    if (entry.key() == "location") {
      location = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      uint64_t &to = entry.key() == "offset" ? offset : length;
      if (!absl::SimpleAtoi(entry.value(), &to))
        return absl::InvalidArgumentError(
            absl::StrCat(label(tensor), ": external ", entry.key(), " '", entry.value(), "' is no number of bytes"));
    }
  }
  fs::path relative(location);
  bool climbs = false;
  for (const fs::path &part : relative)
    climbs = climbs || part == "..";
  if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute() || climbs)
    return absl::PermissionDeniedError(
        absl::StrCat(label(tensor), ": external location '", location,
                     "' must be a relative path without '..' inside the model's folder"));
  if (length != bytes)
    return absl::InvalidArgumentError(
        absl::StrCat(label(tensor), ": external length is ", length, " bytes, the shape needs ", bytes));
  fs::path folder = fs::path(modelPath_).parent_path();
  fs::path file = folder / relative;
  std::error_code error;
  fs::path onTheWay = folder;
  for (const fs::path &part : relative) {
    onTheWay /= part;
    const fs::file_status status = fs::symlink_status(onTheWay, error);
    if (!fs::exists(status))
      return absl::NotFoundError(absl::StrCat(label(tensor), ": external data file '", file.string(),
                                              "' does not exist; it belongs beside the model"));
    if (fs::is_symlink(status))
      return absl::PermissionDeniedError(absl::StrCat(label(tensor), ": external location '", location, "' goes over '",
                                                      onTheWay.string(),
                                                      "', a symbolic link; put the file itself there"));
  }
  auto slice = files_.slice(file.string(), offset, length);
  if (!slice.ok())
    return absl::Status(slice.status().code(), absl::StrCat(label(tensor), ": ", slice.status().message()));
  if (bitsInFile(type.getElementType()) < 8)
    return unpacked(type, *slice);
  return TypedAttr(nn::WeightsAttr::get(type, file.string(), offset, length, 0));
}

absl::StatusOr<TypedAttr> TensorReader::read(const TensorProto &tensor) {
  auto element = elementType(context_, tensor.data_type());
  if (!element.ok())
    return absl::Status(element.status().code(), absl::StrCat(label(tensor), ": ", element.status().message()));
  uint64_t bits = bitsInFile(*element);
  for (int64_t extent : tensor.dims())
    if (extent < 0 || extent > nn::maxExtent || __builtin_mul_overflow(bits, static_cast<uint64_t>(extent), &bits) ||
        bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) - 7)
      return absl::InvalidArgumentError(absl::StrCat(label(tensor), " has an impossible extent ", extent));
  const uint64_t bytes = (bits + 7) / 8;
  auto type = RankedTensorType::get(SmallVector<int64_t>(tensor.dims().begin(), tensor.dims().end()), *element);
  if (tensor.data_location() == TensorProto::EXTERNAL)
    return readExternal(tensor, type, bytes);
  if (!tensor.has_wsc_offset())
    return readFields(tensor, type);
  if (tensor.wsc_bytes() != bytes)
    return absl::InvalidArgumentError(absl::StrCat(label(tensor), " has ", tensor.wsc_bytes(),
                                                   " bytes of elements, its shape and "
                                                   "type need ",
                                                   bytes));
  if (bitsInFile(*element) < 8) {
    auto packed = files_.slice(modelPath_, tensor.wsc_offset(), bytes);
    return packed.ok() ? absl::StatusOr<TypedAttr>(unpacked(type, *packed)) : packed.status();
  }
  return TypedAttr(nn::WeightsAttr::get(type, modelPath_, tensor.wsc_offset(), bytes, 0));
}

} // namespace wsc::import
