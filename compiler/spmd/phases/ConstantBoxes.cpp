// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of every dimension but the last one positions are walked one by one; of the last one in runs of neighbours, which lie
// side by side in the source as well.
#include "compiler/spmd/phases/ConstantBoxes.h"

#include "runtime/numerics/Elements.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>

namespace wsc::spmd {

using namespace format;

std::vector<std::byte> elementOf(double value, ElementType type) {
  std::vector<std::byte> bytes(size_t(elementBytes(type)));
  numerics::storeElement(bytes.data(), type, numerics::encodeImmediate(value, type));
  return bytes;
}

absl::StatusOr<ConstantElements> ConstantElements::open(const Tensor &constant) {
  const ElementSource &source = constant.source;
  ConstantElements result;
  result.type = constant.type;
  result.stored = source.stored.value_or(constant.type);
  const int64_t bytes = constant.elements() * elementBytes(result.stored);
  const int64_t available = source.inlineBytes ? int64_t(source.inlineBytes->size()) : source.bytes;
  if (available != bytes)
    return absl::InvalidArgumentError(
        absl::StrCat("constant ", constant.name, " has ", available, " bytes, its type takes ", bytes));
  if (source.inlineBytes) {
    result.held = source.inlineBytes;
    result.data = result.held->data();
    return result;
  }
  if (absl::Status status = result.file.open(source.path, source.offset, bytes); !status.ok())
    return absl::Status(status.code(), absl::StrCat("constant ", constant.name, ": ", std::string(status.message())));
  result.data = result.file.data();
  return result;
}

void ConstantElements::copy(int64_t first, int64_t count, std::byte *out) const {
  const std::byte *from = data + first * elementBytes(stored);
  if (stored == type)
    std::memcpy(out, from, size_t(count * elementBytes(type)));
  else
    convertElements(from, count, stored, type, out);
}

namespace {

/// By the digits of a sharding over an axis.
AxisPattern patternOf(const Sharding &sharding, Axis axis, const Rectangle &whole) {
  const int32_t length = axis == Axis::Row ? whole.rows : whole.cols;
  const int32_t begin = axis == Axis::Row ? sharding.rectangle.row : sharding.rectangle.col;
  const int32_t covered = axis == Axis::Row ? sharding.rectangle.rows : sharding.rectangle.cols;
  std::vector<MeshDigit> digits;
  for (const DimSharding &dim : sharding.dims)
    for (const MeshDigit &digit : dim.mesh)
      if (digit.axis == axis)
        digits.push_back(digit);
  if (digits.empty())
    return AxisPattern::all(length, false);
  if (digits.size() > 1 || begin != 0)
    return AxisPattern::all(length, true);
  const MeshDigit &digit = digits[0];
  if (digit.modulus > 0 && digit.divisor == 1 && covered % digit.modulus == 0)
    return {length % digit.modulus == 0 ? length : covered, int32_t(digit.modulus), false, true};
  if (digit.modulus == 0 && digit.divisor > 1 && covered % digit.divisor == 0)
    return {covered, int32_t(digit.divisor), true, false};
  return AxisPattern::all(length, true);
}

void repeat(const std::vector<std::byte> &element, int64_t count, std::byte *&out) {
  if (count == 0)
    return;
  if (std::all_of(element.begin(), element.end(), [&](std::byte byte) { return byte == element[0]; })) {
    std::memset(out, int(element[0]), size_t(count) * element.size());
    out += size_t(count) * element.size();
    return;
  }
  for (int64_t i = 0; i < count; ++i, out += element.size())
    std::memcpy(out, element.data(), element.size());
}

} // namespace

ConstantBoxes::ConstantBoxes(const Network &network, Views &views, TensorId tensor, const Sharding &sharding,
                             const Rectangle &whole, double padding)
    : rows(patternOf(sharding, Axis::Row, whole)), cols(patternOf(sharding, Axis::Col, whole)), sharding(sharding),
      type(network.tensors[size_t(tensor)].type), width(elementBytes(type)), localElements(sharding.localElements()),
      numbers(views.numbersOf(tensor)), outside(elementOf(padding, type)) {
  const View &view = views.of(tensor);
  fill = elementOf(view.fill, type);
  for (const View::Root &root : view.roots) {
    roots.push_back({root.firstId, {}, {}});
    if (root.tensor < 0)
      roots.back().fill = elementOf(views.fillOf(root.tensor), type);
    else
      roots.back().tensor = network.tensors[size_t(root.tensor)];
  }
  for (const DimSharding &dim : sharding.dims) {
    const bool neighbours = !dim.local.empty() && dim.local.back().step == 1;
    runLengths.push_back(neighbours ? dim.local.back().count : 1);
    std::vector<int64_t> positions{0}, next;
    for (size_t k = 0; k + neighbours < dim.local.size(); ++k) {
      next.clear();
      for (int64_t position : positions)
        for (int64_t i = 0; i < dim.local[k].count; ++i)
          next.push_back(position + i * dim.local[k].step);
      positions.swap(next);
    }
    runs.push_back(std::move(positions));
  }
}

absl::StatusOr<ConstantBoxes::Open> ConstantBoxes::open() const {
  Open open;
  open.boxes = this;
  open.begins.resize(sharding.dims.size());
  for (const Root &root : roots) {
    if (!root.fill.empty()) {
      open.roots.emplace_back();
      continue;
    }
    auto elements = ConstantElements::open(root.tensor);
    if (!elements.ok())
      return elements.status();
    open.roots.push_back(*std::move(elements));
  }
  return open;
}

void ConstantBoxes::Open::write(int32_t row, int32_t col, std::byte *out) {
  const Sharding &sharding = boxes->sharding;
  // An axis without digits: all its lines hold the same, so any line of the rectangle stands for them.
  const int32_t r = boxes->rows.distinct() > 1 ? boxes->rows.representative(row) : sharding.rectangle.row;
  const int32_t c = boxes->cols.distinct() > 1 ? boxes->cols.representative(col) : sharding.rectangle.col;
  if (!sharding.rectangle.holds(r, c))
    return repeat(boxes->outside, boxes->localElements, out);
  for (size_t d = 0; d < begins.size(); ++d) {
    begins[d] = sharding.dims[d].base;
    for (const MeshDigit &digit : sharding.dims[d].mesh)
      begins[d] += digit.at(digit.axis == Axis::Row ? r - sharding.rectangle.row : c - sharding.rectangle.col);
  }
  if (begins.empty())
    return place(0, 1, out);
  run(0, 0, out);
}

// `outer`: row-major number of the positions in the dimensions before; negative: outside of the tensor.
void ConstantBoxes::Open::run(size_t dim, int64_t outer, std::byte *&out) {
  const int64_t extent = boxes->sharding.shape[dim], length = boxes->runLengths[dim];
  const bool isLast = dim + 1 == begins.size();
  for (int64_t start : boxes->runs[dim]) {
    const int64_t begin = begins[dim] + start;
    if (!isLast) {
      for (int64_t at = begin; at < begin + length; ++at)
        run(dim + 1, outer < 0 || at < 0 || at >= extent ? -1 : outer * extent + at, out);
      continue;
    }
    const int64_t before = outer < 0 ? length : std::clamp<int64_t>(-begin, 0, length);
    const int64_t inside = std::clamp<int64_t>(std::min(begin + length, extent) - (begin + before), 0, length - before);
    repeat(boxes->outside, before, out);
    if (inside > 0)
      place(outer * extent + begin + before, inside, out);
    repeat(boxes->outside, length - before - inside, out);
  }
}

void ConstantBoxes::Open::place(int64_t first, int64_t count, std::byte *&out) const {
  if (!boxes->numbers) {
    roots[0].copy(first, count, out);
    out += count * boxes->width;
    return;
  }
  for (int64_t element = first; element < first + count; ++element) {
    const int64_t id = (*boxes->numbers)[size_t(element)];
    if (id < 0) {
      repeat(boxes->fill, 1, out);
      continue;
    }
    size_t root = boxes->roots.size() - 1;
    while (boxes->roots[root].firstId > id)
      --root;
    if (!boxes->roots[root].fill.empty()) {
      repeat(boxes->roots[root].fill, 1, out);
      continue;
    }
    roots[root].copy(id - boxes->roots[root].firstId, 1, out);
    out += boxes->width;
  }
}

} // namespace wsc::spmd
