// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/import/common/NodeInputs.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Options.h"
#include <cmath>
#include <set>

namespace wsc::import {

std::optional<Literal> NodeInputs::known(size_t i, const char *what) {
  const Tensor tensor = input(i);
  if (failed())
    return std::nullopt;
  if (auto literal = layers.literal(tensor))
    return literal;
  failUnknown(absl::StrCat(what, " (input ", i, ")"), tensor);
  return std::nullopt;
}

void NodeInputs::failUnknown(const std::string &what, const Tensor &tensor) {
  if (failed() || !tensor)
    return;
  if (!tensor.value)
    return unsupported(absl::StrCat(what, " must be known while importing; it has ", tensor.type.getNumElements(),
                                    " elements, at most ", maxLiteralElements, " are read"));
  layers.fail(unknownValue(what, tensor.value));
}

std::vector<int64_t> NodeInputs::constantInts(size_t i, const char *what) {
  auto literal = known(i, what);
  if (!literal)
    return {};
  if (literal->isFloat() || literal->type.getRank() > 1) {
    fail(absl::StrCat(what, " (input ", i, ") must be an integer tensor of at most one dimension"));
    return {};
  }
  return literal->ints;
}

double NodeInputs::constantScalar(size_t i, const char *what) {
  auto literal = known(i, what);
  if (!literal)
    return 0;
  if (literal->size() != 1) {
    fail(absl::StrCat(what, " (input ", i, ") must be one number, found ", literal->size()));
    return 0;
  }
  return literal->isFloat() ? literal->floats[0] : static_cast<double>(literal->ints[0]);
}

int64_t NodeInputs::constantInt(size_t i, const char *what) {
  auto literal = known(i, what);
  if (!literal)
    return 0;
  if (literal->size() == 1 && !literal->isFloat())
    return literal->ints[0];
  double value = literal->size() == 1 ? literal->floats[0] : 0.5;
  if (std::trunc(value) == value && std::fabs(value) < 0x1p62)
    return static_cast<int64_t>(value);
  fail(absl::StrCat(what, " (input ", i, ") must be one whole number"));
  return 0;
}

int64_t NodeInputs::normalizedAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  fail(absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank, ")"));
  return 0;
}

std::vector<int64_t> NodeInputs::normalizedAxes(std::vector<int64_t> axes, int64_t rank) {
  std::set<int64_t> seen;
  for (int64_t &axis : axes) {
    axis = normalizedAxis(axis, rank);
    if (!failed() && !seen.insert(axis).second)
      fail(absl::StrCat("axis ", axis, " is given twice"));
  }
  return failed() ? std::vector<int64_t>() : axes;
}

} // namespace wsc::import
