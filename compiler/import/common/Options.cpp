// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options and errors of importers; see Options.h. An error about an unknown value carries the names of the inputs
// behind it as a payload, with zero bytes in between.
#include "compiler/import/common/Options.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "dialects/nn/Nn.h"
#include "dialects/nn/Shape.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include <algorithm>

namespace wsc::import {

static constexpr char bindPayload[] = "wsc.import/bind";

std::vector<std::string> inputsToBind(const absl::Status &status) {
  auto payload = status.GetPayload(bindPayload);
  if (!payload)
    return {};
  return absl::StrSplit(std::string(*payload), '\0');
}

absl::Status at(const std::string &where, const absl::Status &status) {
  absl::Status result(status.code(), absl::StrCat(where, ": ", status.message()));
  if (auto payload = status.GetPayload(bindPayload))
    result.SetPayload(bindPayload, *payload);
  return result;
}

/// The function's inputs that a value depends on.
static std::vector<std::string> inputsBehind(mlir::Value value) {
  std::vector<std::string> names;
  llvm::SmallVector<mlir::Value> open{value};
  llvm::DenseSet<mlir::Value> seen{value};
  while (!open.empty()) {
    mlir::Value next = open.pop_back_val();
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(next)) {
      auto function = mlir::cast<mlir::FunctionOpInterface>(argument.getOwner()->getParentOp());
      if (auto name =
              function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), nn::NnDialect::getNameAttrName()))
        names.push_back(name.str());
      continue;
    }
    for (mlir::Value operand : next.getDefiningOp()->getOperands())
      if (seen.insert(operand).second)
        open.push_back(operand);
  }
  return names;
}

absl::Status unknownValue(const std::string &what, mlir::Value value) {
  std::string place = absl::StrCat(what, " must be known while importing; it ");
  std::vector<std::string> names = inputsBehind(value);
  std::string list;
  for (const std::string &name : names)
    absl::StrAppend(&list, list.empty() ? "" : ", ", "'", name, "'");
  absl::Status status =
      absl::UnimplementedError(names.empty() ? absl::StrCat(place, "takes functions that are not evaluated exactly")
                                             : absl::StrCat(place, "depends on the model's inputs ", list,
                                                            "; fix their values with --bind NAME=VALUE"));
  if (!names.empty())
    status.SetPayload(bindPayload, absl::Cord(absl::string_view(absl::StrJoin(names, std::string(1, '\0')))));
  return status;
}

bool parseShape(const std::string &text, InputOption &option) {
  std::vector<int64_t> shape;
  std::string elementType;
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = std::min(text.find('x', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    bool last = end == text.size();
    if (part.empty() || part.size() > 12)
      return false;
    if (std::all_of(part.begin(), part.end(), [](unsigned char c) { return c >= '0' && c <= '9'; }))
      shape.push_back(std::stoll(part));
    else if (last)
      elementType = part;
    else
      return false;
    begin = end + 1;
  }
  option.shape = shape;
  option.elementType = elementType;
  return true;
}

absl::StatusOr<mlir::Type> parseElementType(mlir::MLIRContext &context, const InputOption &option) {
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  mlir::Type element = mlir::parseType(option.elementType, &context);
  if (!element || !element.isIntOrFloat())
    return absl::InvalidArgumentError(absl::StrCat("--input ", option.name, ": '", option.elementType,
                                                   "' is no element type; f32, f16, i64, i32, ui8, i1 … are"));
  return element;
}

absl::StatusOr<Literal> parseElements(mlir::RankedTensorType type, const std::string &text) {
  std::vector<std::string> parts;
  if (!text.empty())
    parts = absl::StrSplit(text, ',');
  if (static_cast<int64_t>(parts.size()) != type.getNumElements())
    return absl::InvalidArgumentError(absl::StrCat("a tensor ", nn::formatShape(type.getShape()), " needs ",
                                                   type.getNumElements(), " elements, found ", parts.size()));
  Literal literal = Literal::zeros(type);
  for (size_t i = 0; i < parts.size(); ++i) {
    bool isNumber = false;
    if (literal.isFloat()) {
      isNumber = absl::SimpleAtod(parts[i], &literal.floats[i]);
    } else if (type.getElementType().isUnsignedInteger()) {
      uint64_t value = 0;
      isNumber = absl::SimpleAtoi(parts[i], &value);
      literal.ints[i] = static_cast<int64_t>(value);
    } else {
      isNumber = absl::SimpleAtoi(parts[i], &literal.ints[i]);
    }
    if (!isNumber)
      return absl::InvalidArgumentError(absl::StrCat("element ", i, " is '", parts[i], "', which is no ",
                                                     literal.isFloat() ? "number" : "integer of 64 bits"));
  }
  std::vector<int64_t> before = literal.ints;
  literal.normalize();
  for (size_t i = 0; i < before.size(); ++i)
    if (literal.ints[i] != before[i])
      return absl::InvalidArgumentError(
          absl::StrCat("element ", i, " is ", parts[i], ", which its element type does not hold"));
  return literal;
}

} // namespace wsc::import
