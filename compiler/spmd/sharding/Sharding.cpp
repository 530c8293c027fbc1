// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/sharding/Sharding.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>

namespace wsc::spmd {

int64_t DimSharding::localExtent() const {
  int64_t product = 1;
  for (const LocalDigit &digit : local)
    product *= digit.count;
  return product;
}

int64_t Sharding::localElements() const {
  int64_t product = 1;
  for (const DimSharding &dim : dims)
    product *= dim.localExtent();
  return product;
}

int64_t Sharding::elements() const {
  int64_t product = 1;
  for (int64_t extent : shape)
    product *= extent;
  return product;
}

void Sharding::elementsAt(int32_t row, int32_t col, std::vector<int64_t> &out) const {
  out.clear();
  if (!rectangle.holds(row, col))
    return;
  out.push_back(0);
  std::vector<int64_t> positions, next;
  for (size_t d = 0; d < dims.size(); ++d) {
    positions.assign(1, dims[d].base);
    for (const MeshDigit &digit : dims[d].mesh)
      positions[0] += digit.at(digit.axis == Axis::Row ? row - rectangle.row : col - rectangle.col);
    for (const LocalDigit &digit : dims[d].local) {
      next.clear();
      for (int64_t position : positions)
        for (int64_t i = 0; i < digit.count; ++i)
          next.push_back(position + i * digit.step);
      positions.swap(next);
    }
    next.clear();
    next.reserve(out.size() * positions.size());
    for (int64_t outer : out)
      for (int64_t position : positions)
        next.push_back(outer < 0 || position < 0 || position >= shape[d] ? -1 : outer * shape[d] + position);
    out.swap(next);
  }
}

absl::Status Sharding::check(bool covers) const {
  if (dims.size() != shape.size())
    return absl::InvalidArgumentError(
        absl::StrCat("the sharding has ", dims.size(), " dimensions, its tensor ", shape.size()));
  if (rectangle.rows < 1 || rectangle.cols < 1 || rectangle.row < 0 || rectangle.col < 0)
    return absl::InvalidArgumentError(absl::StrCat("the sharding's rectangle (", rectangle.row, ", ", rectangle.col,
                                                   ", ", rectangle.rows, ", ", rectangle.cols, ") has no cores"));
  constexpr int64_t kMost = int64_t(1) << 40;
  int64_t held = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    for (const MeshDigit &digit : dims[d].mesh)
      if (digit.divisor < 1 || digit.modulus < 0 || std::abs(digit.step) > kMost)
        return absl::InvalidArgumentError(absl::StrCat("dimension ", d, ": mesh digit with divisor ", digit.divisor,
                                                       ", modulus ", digit.modulus, ", step ", digit.step,
                                                       "; divisors are positive, a modulus is positive or 0 for none"));
    for (const LocalDigit &digit : dims[d].local) {
      if (digit.count < 1 || std::abs(digit.step) > kMost)
        return absl::InvalidArgumentError(
            absl::StrCat("dimension ", d, ": local digit of ", digit.count, " positions; it has at least one"));
      if (__builtin_mul_overflow(held, digit.count, &held) || held > kMost)
        return absl::InvalidArgumentError("the sharding holds more than 2^40 elements on a core");
    }
  }
  if (!covers)
    return absl::OkStatus();
  std::vector<bool> seen(size_t(elements()), false);
  std::vector<int64_t> at;
  for (int32_t r = 0; r < rectangle.rows; ++r)
    for (int32_t c = 0; c < rectangle.cols; ++c) {
      elementsAt(rectangle.row + r, rectangle.col + c, at);
      for (int64_t id : at)
        if (id >= 0)
          seen[size_t(id)] = true;
    }
  if (auto missing = std::find(seen.begin(), seen.end(), false); missing != seen.end())
    return absl::InvalidArgumentError(
        absl::StrCat("element ", missing - seen.begin(), " of ", seen.size(),
                     " lies on no core; the digits of a dimension must reach its extent"));
  return absl::OkStatus();
}

bool hasPadding(const Sharding &sharding) {
  for (size_t d = 0; d < sharding.dims.size(); ++d) {
    const DimSharding &dim = sharding.dims[d];
    int64_t low = dim.base, high = dim.base;
    for (Axis axis : {Axis::Row, Axis::Col}) {
      int64_t least = INT64_MAX, most = INT64_MIN;
      for (int32_t k = 0; k < sharding.rectangle.count(other(axis)); ++k) {
        int64_t sum = 0;
        for (const MeshDigit &digit : dim.mesh)
          if (digit.axis == axis)
            sum += digit.at(k);
        least = std::min(least, sum);
        most = std::max(most, sum);
      }
      low += least;
      high += most;
    }
    for (const LocalDigit &digit : dim.local)
      (digit.step < 0 ? low : high) += digit.step * (digit.count - 1);
    if (low < 0 || high >= sharding.shape[d])
      return true;
  }
  return false;
}

bool liesOn(const Sharding &sharding, Axis axis) {
  return std::any_of(sharding.dims.begin(), sharding.dims.end(), [axis](const DimSharding &dim) {
    return std::any_of(dim.mesh.begin(), dim.mesh.end(), [axis](const MeshDigit &digit) { return digit.axis == axis; });
  });
}

Sharding flatSharding(const Rectangle &rectangle, int64_t elements, int64_t granule) {
  const int64_t cores = int64_t(rectangle.rows) * rectangle.cols;
  int64_t each = std::max<int64_t>(1, (elements + cores - 1) / cores);
  each = (each + granule - 1) / granule * granule;
  Sharding sharding;
  sharding.rectangle = rectangle;
  sharding.shape = {elements};
  DimSharding dim;
  if (rectangle.rows > 1)
    dim.mesh.push_back({Axis::Row, 1, 0, each * rectangle.cols});
  if (rectangle.cols > 1)
    dim.mesh.push_back({Axis::Col, 1, 0, each});
  dim.local.push_back({each, 1});
  sharding.dims.push_back(std::move(dim));
  return sharding;
}

std::string print(const Sharding &sharding) {
  const Rectangle &at = sharding.rectangle;
  std::string text = absl::StrCat("(", at.row, ", ", at.col, ", ", at.rows, ", ", at.cols, ") [");
  for (size_t d = 0; d < sharding.dims.size(); ++d) {
    const DimSharding &dim = sharding.dims[d];
    absl::StrAppend(&text, d ? ", " : "", sharding.shape[d], " =");
    bool first = true;
    if (dim.base != 0 || dim.mesh.empty()) {
      absl::StrAppend(&text, " ", dim.base);
      first = false;
    }
    for (const MeshDigit &digit : dim.mesh) {
      absl::StrAppend(&text, first ? " " : " + ", digit.axis == Axis::Row ? "r" : "c");
      if (digit.divisor != 1)
        absl::StrAppend(&text, "/", digit.divisor);
      if (digit.modulus != 0)
        absl::StrAppend(&text, "%", digit.modulus);
      absl::StrAppend(&text, "*", digit.step);
      first = false;
    }
    absl::StrAppend(&text, " |");
    for (const LocalDigit &digit : dim.local) {
      absl::StrAppend(&text, " ", digit.count);
      if (digit.step != 1)
        absl::StrAppend(&text, "*", digit.step);
    }
  }
  return text + "]";
}

namespace {

// A cursor over the text of a sharding.
class Reader {
public:
  explicit Reader(const std::string &text) : text(text) {}

  absl::StatusOr<Sharding> read() {
    Sharding sharding;
    int64_t place[4];
    expect('(');
    for (int i = 0; i < 4; ++i) {
      if (i)
        expect(',');
      place[i] = number();
      if (place[i] < 0 || place[i] > std::numeric_limits<int32_t>::max())
        fail("a place on the mesh");
    }
    expect(')');
    sharding.rectangle = {int32_t(place[0]), int32_t(place[1]), int32_t(place[2]), int32_t(place[3])};
    expect('[');
    while (problem.empty() && !accept(']')) {
      if (!sharding.dims.empty())
        expect(',');
      sharding.shape.push_back(number());
      expect('=');
      sharding.dims.push_back(dim());
    }
    skip();
    if (problem.empty() && at != text.size())
      fail("the end of the sharding");
    if (!problem.empty())
      return absl::InvalidArgumentError(problem);
    if (absl::Status status = sharding.check(false); !status.ok())
      return status;
    return sharding;
  }

private:
  DimSharding dim() {
    DimSharding result;
    do {
      if (accept('r') || accept('c')) {
        MeshDigit digit;
        digit.axis = text[at - 1] == 'r' ? Axis::Row : Axis::Col;
        if (accept('/'))
          digit.divisor = number();
        if (accept('%'))
          digit.modulus = number();
        if (accept('*'))
          digit.step = number();
        result.mesh.push_back(digit);
      } else {
        result.base += number();
      }
    } while (problem.empty() && accept('+'));
    expect('|');
    while (problem.empty() && isNumber()) {
      LocalDigit digit;
      digit.count = number();
      if (accept('*'))
        digit.step = number();
      result.local.push_back(digit);
    }
    return result;
  }
  void skip() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }
  bool accept(char c) {
    skip();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (problem.empty() && !accept(c))
      fail(absl::StrCat("'", std::string(1, c), "'"));
  }
  bool isNumber() {
    skip();
    return at < text.size() && (text[at] == '-' || (text[at] >= '0' && text[at] <= '9'));
  }
  int64_t number() {
    if (!isNumber()) {
      fail("a number");
      return 0;
    }
    const bool negative = accept('-');
    int64_t value = 0;
    size_t digits = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++digits)
      if (__builtin_mul_overflow(value, int64_t(10), &value) ||
          __builtin_add_overflow(value, int64_t(text[at] - '0'), &value)) {
        fail("a number below 2^63");
        return 0;
      }
    if (digits == 0)
      fail("a number");
    return negative ? -value : value;
  }
  void fail(const std::string &wanted) {
    if (problem.empty())
      problem = absl::StrCat("sharding, character ", at + 1, ": expected ", wanted);
  }

  const std::string &text;
  size_t at = 0;
  std::string problem;
};

} // namespace

absl::StatusOr<Sharding> parseSharding(const std::string &text) { return Reader(text).read(); }

} // namespace wsc::spmd
