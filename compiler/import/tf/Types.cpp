// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types and shapes; see Types.h.
#include "compiler/import/tf/Types.h"
#include "absl/strings/str_cat.h"
#include "dialects/nn/Shape.h"

using namespace mlir;
using namespace wsc::tf;

namespace wsc::import::tf {

DataType valueType(DataType type) { return type > 100 ? static_cast<DataType>(type - 100) : type; }

absl::StatusOr<Type> elementType(MLIRContext &context, DataType type) {
  auto integer = [&](unsigned bits, IntegerType::SignednessSemantics signedness) -> Type {
    return IntegerType::get(&context, bits, signedness);
  };
  switch (valueType(type)) {
  case DT_FLOAT:
    return Type(Float32Type::get(&context));
  case DT_DOUBLE:
    return Type(Float64Type::get(&context));
  case DT_HALF:
    return Type(Float16Type::get(&context));
  case DT_BFLOAT16:
    return Type(BFloat16Type::get(&context));
  case DT_BOOL:
    return integer(1, IntegerType::Signless);
  case DT_INT8:
    return integer(8, IntegerType::Signless);
  case DT_INT16:
    return integer(16, IntegerType::Signless);
  case DT_INT32:
    return integer(32, IntegerType::Signless);
  case DT_INT64:
    return integer(64, IntegerType::Signless);
  case DT_UINT8:
    return integer(8, IntegerType::Unsigned);
  case DT_UINT16:
    return integer(16, IntegerType::Unsigned);
  case DT_UINT32:
    return integer(32, IntegerType::Unsigned);
  case DT_UINT64:
    return integer(64, IntegerType::Unsigned);
  default:
    break;
  }
  if (!DataType_IsValid(type))
    return absl::InvalidArgumentError(absl::StrCat("element type ", static_cast<int>(type), " is not known"));
  return absl::UnimplementedError(absl::StrCat("tensors of ", DataType_Name(type), " are not supported"));
}

std::optional<std::vector<int64_t>> extentsOf(const TensorShapeProto &shape) {
  if (shape.unknown_rank())
    return std::nullopt;
  std::vector<int64_t> extents;
  for (const auto &dim : shape.dim())
    extents.push_back(dim.size());
  return extents;
}

absl::StatusOr<llvm::SmallVector<int64_t>> knownShape(const TensorShapeProto &shape, const std::string &what) {
  auto extents = extentsOf(shape);
  if (!extents)
    return absl::InvalidArgumentError(absl::StrCat(what, " has a shape of unknown rank"));
  for (int64_t extent : *extents)
    if (extent < 0)
      return absl::InvalidArgumentError(absl::StrCat(what, " has an impossible extent ", extent));
  if (std::string problem = nn::shapeProblem(*extents); !problem.empty())
    return absl::InvalidArgumentError(absl::StrCat(what, " of shape ", nn::formatShape(*extents), " ", problem));
  return llvm::SmallVector<int64_t>(extents->begin(), extents->end());
}

} // namespace wsc::import::tf
