// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/phases/Constants.h"

#include "runtime/numerics/Elements.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>
#include <fstream>

namespace wsc::spmd {

using namespace format;

absl::StatusOr<const std::vector<std::byte> *> ConstantReader::read(TensorId tensor) {
  const Tensor &wanted = network.tensors[size_t(tensor)];
  const ElementSource &source = wanted.source;
  const int64_t bytes = wanted.elements() * elementBytes(source.stored.value_or(wanted.type));
  const int64_t available = source.inlineBytes ? int64_t(source.inlineBytes->size()) : source.bytes;
  if (available != bytes)
    return absl::InvalidArgumentError(
        absl::StrCat("constant ", wanted.name, " has ", available, " bytes, its type takes ", bytes));
  if (source.inlineBytes && !source.stored)
    return source.inlineBytes.get();
  auto [found, added] = known.emplace(tensor, std::vector<std::byte>());
  if (!added)
    return &found->second;
  if (source.inlineBytes) {
    found->second = convertElements(*source.inlineBytes, *source.stored, wanted.type);
    return &found->second;
  }
  found->second.resize(size_t(bytes));
  std::ifstream file(source.path, std::ios::binary);
  if (!file.seekg(source.offset) || !file.read(reinterpret_cast<char *>(found->second.data()), bytes)) {
    known.erase(found);
    return absl::NotFoundError(absl::StrCat("constant ", wanted.name, ": cannot read ", bytes, " bytes at offset ",
                                            source.offset, " of ", source.path));
  }
  if (source.stored)
    found->second = convertElements(found->second, *source.stored, wanted.type);
  return &found->second;
}

int32_t ConstantTable::add(const std::string &name, ElementType type, const Rectangle &rectangle, int32_t rows,
                           int32_t cols, int64_t elements, std::vector<std::byte> data) {
  return add(name, type, AxisPattern::all(rectangle.rows, rows > 1), AxisPattern::all(rectangle.cols, cols > 1),
             elements, std::move(data));
}

int32_t ConstantTable::add(const std::string &name, ElementType type, AxisPattern rowPattern, AxisPattern colPattern,
                           int64_t elements, std::vector<std::byte> data) {
  const int64_t size = elements * elementBytes(type);
  int64_t rows = rowPattern.distinct(), cols = colPattern.distinct();
  auto same = [&](int64_t a, int64_t b, int64_t bytes) {
    return std::memcmp(&data[size_t(a)], &data[size_t(b)], size_t(bytes)) == 0;
  };
  // Equal rows, then equal columns, are held once.
  bool rowsEqual = size > 0, colsEqual = size > 0;
  for (int64_t r = 1; r < rows && rowsEqual; ++r)
    rowsEqual = same(0, r * cols * size, cols * size);
  if (rowsEqual) {
    data.resize(size_t(cols * size));
    rows = 1;
    rowPattern.byGroup = rowPattern.bySub = false;
  }
  for (int64_t core = 0; core < rows * cols && colsEqual; ++core)
    colsEqual = same(core / cols * cols * size, core * size, size);
  if (colsEqual && cols > 1) {
    for (int64_t r = 1; r < rows; ++r)
      std::memmove(&data[size_t(r * size)], &data[size_t(r * cols * size)], size_t(size));
    data.resize(size_t(rows * size));
    cols = 1;
    colPattern.byGroup = colPattern.bySub = false;
  }
  Resident resident;
  resident.name = absl::StrCat(name, "#", residents.size());
  resident.type = type;
  auto place = [&](const AxisPattern &pattern, size_t dim, bool isRow, int64_t stride) {
    Lattice::Dim &outer = resident.cores.dims[dim], &inner = resident.cores.dims[dim + 1];
    outer.count = pattern.groups();
    inner.count = pattern.modulus;
    (isRow ? outer.rowStep : outer.colStep) = outer.count > 1 ? pattern.modulus : 0;
    (isRow ? inner.rowStep : inner.colStep) = inner.count > 1 ? 1 : 0;
    if (pattern.bySub && inner.count > 1)
      resident.sectionOffset.perDim[dim + 1] = stride;
    if (pattern.byGroup && outer.count > 1)
      resident.sectionOffset.perDim[dim] = stride * (pattern.bySub ? pattern.modulus : 1);
    if (inner.count == 1) { // one dimension, the inner one
      std::swap(outer, inner);
      std::swap(resident.sectionOffset.perDim[dim], resident.sectionOffset.perDim[dim + 1]);
    }
  };
  place(rowPattern, 0, true, cols * size);
  place(colPattern, 2, false, size);
  resident.bytes = size;
  resident.section = int32_t(sections.size());
  emit::SectionRecipe recipe;
  recipe.name = resident.name;
  recipe.type = type;
  recipe.extents = {int64_t(data.size()) / elementBytes(type)};
  recipe.strides = {1};
  recipe.inlineBytes = std::make_shared<const std::vector<std::byte>>(std::move(data));
  sections.push_back(std::move(recipe));
  residents.push_back(std::move(resident));
  return int32_t(residents.size() - 1);
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

} // namespace

absl::StatusOr<ConstantBoxes> constantBoxes(const Network &network, ConstantReader &reader, Views &views,
                                            TensorId tensor, const Sharding &sharding, const Rectangle &whole,
                                            double padding) {
  const View &view = views.of(tensor);
  const ElementType type = network.tensors[size_t(tensor)].type;
  const int64_t width = elementBytes(type);
  std::vector<std::pair<int64_t, const std::byte *>> roots; // first number, elements
  std::vector<std::vector<std::byte>> fills;
  for (const View::Root &root : view.roots) {
    if (root.tensor < 0) {
      fills.push_back(elementOf(views.fillOf(root.tensor), type));
      roots.emplace_back(root.firstId, fills.back().data());
      continue;
    }
    auto bytes = reader.read(root.tensor);
    if (!bytes.ok())
      return bytes.status();
    roots.emplace_back(root.firstId, (*bytes)->data());
  }
  const std::vector<std::byte> outside = elementOf(padding, type), fill = elementOf(view.fill, type);
  ConstantBoxes boxes;
  boxes.rows = patternOf(sharding, Axis::Row, whole);
  boxes.cols = patternOf(sharding, Axis::Col, whole);
  const int32_t rows = boxes.rows.distinct(), cols = boxes.cols.distinct();
  boxes.data.reserve(size_t(sharding.localElements() * width) * size_t(rows) * size_t(cols));
  std::vector<int64_t> elements;
  for (int32_t r = 0; r < rows; ++r)
    for (int32_t c = 0; c < cols; ++c) {
      // An axis without digits: all its lines hold the same, so any line of the rectangle stands for them.
      sharding.elementsAt(rows > 1 ? boxes.rows.representative(r) : sharding.rectangle.row,
                          cols > 1 ? boxes.cols.representative(c) : sharding.rectangle.col, elements);
      if (elements.empty())
        elements.assign(size_t(sharding.localElements()), -1);
      for (int64_t element : elements) {
        const std::byte *from = outside.data();
        if (element >= 0) {
          const int64_t id = view.idOf(element);
          from = fill.data();
          if (id >= 0) {
            size_t root = roots.size() - 1;
            while (roots[root].first > id)
              --root;
            from = roots[root].second + (id - roots[root].first) * width;
          }
        }
        boxes.data.insert(boxes.data.end(), from, from + width);
      }
    }
  return boxes;
}

std::vector<std::byte> elementOf(double value, ElementType type) {
  std::vector<std::byte> bytes(size_t(elementBytes(type)));
  numerics::storeElement(bytes.data(), type, numerics::encodeImmediate(value, type));
  return bytes;
}

} // namespace wsc::spmd
