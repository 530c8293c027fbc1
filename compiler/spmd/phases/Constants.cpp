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
  const int64_t bytes = wanted.elements() * elementBytes(wanted.type);
  const int64_t available = source.inlineBytes ? int64_t(source.inlineBytes->size()) : source.bytes;
  if (available != bytes)
    return absl::InvalidArgumentError(
        absl::StrCat("constant ", wanted.name, " has ", available, " bytes, its type takes ", bytes));
  if (source.inlineBytes)
    return source.inlineBytes.get();
  auto [found, added] = known.emplace(tensor, std::vector<std::byte>());
  if (!added)
    return &found->second;
  found->second.resize(size_t(bytes));
  std::ifstream file(source.path, std::ios::binary);
  if (!file.seekg(source.offset) || !file.read(reinterpret_cast<char *>(found->second.data()), bytes)) {
    known.erase(found);
    return absl::NotFoundError(absl::StrCat("constant ", wanted.name, ": cannot read ", bytes, " bytes at offset ",
                                            source.offset, " of ", source.path));
  }
  return &found->second;
}

int32_t ConstantTable::add(const std::string &name, ElementType type, const Rectangle &rectangle, int32_t rows,
                           int32_t cols, int64_t elements, std::vector<std::byte> data) {
  const int64_t size = elements * elementBytes(type);
  auto same = [&](int64_t a, int64_t b, int64_t bytes) {
    return std::memcmp(&data[size_t(a)], &data[size_t(b)], size_t(bytes)) == 0;
  };
  // Equal rows, then equal columns, are held once.
  bool rowsEqual = size > 0, colsEqual = size > 0;
  for (int32_t r = 1; r < rows && rowsEqual; ++r)
    rowsEqual = same(0, r * cols * size, cols * size);
  if (rowsEqual) {
    data.resize(size_t(cols * size));
    rows = 1;
  }
  for (int64_t core = 0; core < int64_t(rows) * cols && colsEqual; ++core)
    colsEqual = same(core / cols * cols * size, core * size, size);
  if (colsEqual && cols > 1) {
    for (int32_t r = 1; r < rows; ++r)
      std::memmove(&data[size_t(r * size)], &data[size_t(int64_t(r) * cols * size)], size_t(size));
    data.resize(size_t(rows * size));
    cols = 1;
  }
  Resident resident;
  resident.name = absl::StrCat(name, "#", residents.size());
  resident.type = type;
  resident.cores.dims[2] = {rectangle.rows, rectangle.rows > 1 ? 1 : 0, 0};
  resident.cores.dims[3] = {rectangle.cols, 0, rectangle.cols > 1 ? 1 : 0};
  resident.bytes = size;
  resident.section = int32_t(sections.size());
  resident.sectionOffset.perDim[2] = rows > 1 ? cols * size : 0;
  resident.sectionOffset.perDim[3] = cols > 1 ? size : 0;
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
  for (const DimSharding &dim : sharding.dims)
    for (const MeshDigit &digit : dim.mesh)
      (digit.axis == Axis::Row ? boxes.rows : boxes.cols) = digit.axis == Axis::Row ? whole.rows : whole.cols;
  boxes.data.reserve(size_t(sharding.localElements() * width) * size_t(boxes.rows) * size_t(boxes.cols));
  std::vector<int64_t> elements;
  for (int32_t r = 0; r < boxes.rows; ++r)
    for (int32_t c = 0; c < boxes.cols; ++c) {
      // An axis without digits: all its lines hold the same, so any line of the rectangle stands for them.
      sharding.elementsAt(boxes.rows > 1 ? r : sharding.rectangle.row, boxes.cols > 1 ? c : sharding.rectangle.col,
                          elements);
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
