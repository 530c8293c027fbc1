// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/spmd/ElementTypes.h"

namespace wsc::spmd {

std::optional<format::ElementType> elementTypeOf(mlir::Type type, bool isUnsigned) {
  using format::ElementType;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF64())
    return ElementType::F64;
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  if (!integer)
    return std::nullopt;
  const bool noSign = isUnsigned || integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return ElementType::Bool;
  case 8:
    return noSign ? ElementType::U8 : ElementType::I8;
  case 16:
    return noSign ? ElementType::U16 : ElementType::I16;
  case 32:
    return noSign ? ElementType::U32 : ElementType::I32;
  case 64:
    return noSign ? ElementType::U64 : ElementType::I64;
  default:
    return std::nullopt;
  }
}

} // namespace wsc::spmd
