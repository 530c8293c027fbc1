// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results against expected ones, element by element in double: |got − expected| ≤ atol + rtol·|expected|; NaN equals
// NaN, infinities equal themselves.
#include "tools/wsc-run/Run.h"

#include "runtime/numerics/Elements.h"

#include "absl/strings/str_cat.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace wsc::run {

using namespace format;

namespace {

double element(const Tensor &tensor, int64_t i) {
  const uint64_t payload =
      numerics::loadElement(tensor.bytes.data() + i * elementBytes(tensor.type.type), tensor.type.type);
  const uint64_t bits = numerics::convertElement(payload, tensor.type.type, ElementType::F64);
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

} // namespace

absl::StatusOr<Comparison> compareTensors(const Tensor &got, const Tensor &expected, double rtol, double atol) {
  Comparison result;
  result.name = got.type.name;
  if (got.type.shape != expected.type.shape)
    return absl::InvalidArgumentError(absl::StrCat("output ", got.type.name, " is ", wsc::describe(got.type),
                                                   ", expected ", wsc::describe(expected.type)));
  double squares = 0, reference = 0, worst = -1;
  for (int64_t i = 0; i < got.type.elements(); ++i) {
    const double a = element(got, i), b = element(expected, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) {
      if (std::isfinite(b))
        reference += b * b;
      continue;
    }
    double error = std::abs(a - b);
    if (!std::isfinite(error))
      error = std::numeric_limits<double>::infinity();
    const double allowed = atol + rtol * std::abs(b);
    if (!(error <= allowed))
      ++result.outside;
    if (result.largest.element < 0 || error > result.largestError) {
      result.largestError = error;
      result.largest = {i, a, b};
    }
    const double excess =
        allowed > 0 && std::isfinite(allowed) ? error / allowed : std::numeric_limits<double>::infinity();
    if (excess > worst) {
      worst = excess;
      result.furthest = {i, a, b};
    }
    squares += error * error;
    if (std::isfinite(b))
      reference += b * b;
  }
  result.relativeL2 = squares == 0     ? 0
                      : reference == 0 ? std::numeric_limits<double>::infinity()
                                       : std::sqrt(squares / reference);
  return result;
}

std::string describe(const Comparison &comparison, const std::vector<int64_t> &shape) {
  if (comparison.largest.element < 0)
    return absl::StrCat(comparison.name, ": equal");
  const auto at = [&](const Comparison::Place &place) {
    std::string index;
    int64_t rest = place.element;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      index = absl::StrCat(rest % shape[d], index.empty() ? "" : ",", index);
    return absl::StrCat("[", index, "] (got ", place.got, ", expected ", place.expected, ")");
  };
  std::string text = absl::StrCat(comparison.name, ": largest error ", comparison.largestError, " at ",
                                  at(comparison.largest), ", relative L2 ", comparison.relativeL2);
  if (!comparison.passed())
    absl::StrAppend(&text, ", ", comparison.outside, " elements outside the tolerance, furthest ",
                    at(comparison.furthest));
  return text;
}

} // namespace wsc::run
