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
    result.largestError = std::max(result.largestError, error);
    // The place to look at: the largest error in terms of what is allowed.
    const double excess =
        allowed > 0 && std::isfinite(allowed) ? error / allowed : std::numeric_limits<double>::infinity();
    if (excess > worst) {
      worst = excess;
      result.place = i;
      result.expected = b;
      result.got = a;
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
  if (comparison.place < 0)
    return absl::StrCat(comparison.name, ": equal");
  std::string place;
  int64_t rest = comparison.place;
  for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
    place = absl::StrCat(rest % shape[d], place.empty() ? "" : ",", place);
  return absl::StrCat(comparison.name, ": largest error ", comparison.largestError, ", worst at [", place, "] (got ",
                      comparison.got, ", expected ", comparison.expected, "), relative L2 ", comparison.relativeL2,
                      comparison.passed() ? std::string()
                                          : absl::StrCat(", ", comparison.outside, " elements outside the tolerance"));
}

} // namespace wsc::run
