// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/phases/Constants.h"

#include "absl/strings/str_cat.h"

#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

namespace wsc::spmd {

using namespace format;

int32_t ConstantTable::add(const std::string &name, ElementType type, const Rectangle &rectangle, int32_t rows,
                           int32_t cols, int64_t elements, std::vector<std::byte> data) {
  return add(name, type, AxisPattern::all(rectangle.rows, rows > 1), AxisPattern::all(rectangle.cols, cols > 1),
             elements, std::move(data));
}

namespace {

/// Row after row, and core after core of each, equal ones are left out: first rows if all are, then columns.
/// `same(r, c, otherR, otherC)` compares what two cores hold, by the numbers of the distinct rows and columns.
template <typename Same> void leaveOutEqual(AxisPattern &rowPattern, AxisPattern &colPattern, Same same) {
  int32_t rows = rowPattern.distinct();
  const int32_t cols = colPattern.distinct();
  bool rowsEqual = true, colsEqual = true;
  for (int32_t r = 1; r < rows && rowsEqual; ++r)
    for (int32_t c = 0; c < cols && rowsEqual; ++c)
      rowsEqual = same(0, c, r, c);
  if (rowsEqual) {
    rows = 1;
    rowPattern.byGroup = rowPattern.bySub = false;
  }
  for (int32_t r = 0; r < rows && colsEqual; ++r)
    for (int32_t c = 1; c < cols && colsEqual; ++c)
      colsEqual = same(r, 0, r, c);
  if (colsEqual)
    colPattern.byGroup = colPattern.bySub = false;
}

/// A stack while its sources are open.
class OpenStack {
public:
  static absl::StatusOr<OpenStack> open(const ConstantStack &stack) {
    OpenStack result;
    result.stack = &stack;
    for (const ConstantBoxes &boxes : stack.boxes) {
      auto open = boxes.open();
      if (!open.ok())
        return open.status();
      result.boxes.push_back(*std::move(open));
    }
    return result;
  }
  int64_t coreBytes() const { return stack->windowBytes * int64_t(stack->boxes.size()); }
  void write(int32_t row, int32_t col, std::byte *out) {
    for (size_t i = 0; i < boxes.size(); ++i, out += stack->windowBytes) {
      const int64_t bytes = stack->boxes[i].bytes();
      boxes[i].write(row, col, out);
      std::memset(out + bytes, 0, size_t(stack->windowBytes - bytes));
    }
  }

private:
  const ConstantStack *stack = nullptr;
  std::vector<ConstantBoxes::Open> boxes;
};

} // namespace

int32_t ConstantTable::add(const std::string &name, ElementType type, AxisPattern rowPattern, AxisPattern colPattern,
                           int64_t elements, std::vector<std::byte> data) {
  const int64_t size = elements * elementBytes(type), cols = colPattern.distinct();
  if (size > 0) {
    leaveOutEqual(rowPattern, colPattern, [&](int32_t r, int32_t c, int32_t otherR, int32_t otherC) {
      return std::memcmp(&data[size_t((r * cols + c) * size)], &data[size_t((otherR * cols + otherC) * size)],
                         size_t(size)) == 0;
    });
    for (int64_t r = 1; r < rowPattern.distinct() && colPattern.distinct() < cols; ++r)
      std::memmove(&data[size_t(r * size)], &data[size_t(r * cols * size)], size_t(size));
    data.resize(size_t(rowPattern.distinct()) * size_t(colPattern.distinct()) * size_t(size));
  }
  // Moves of equal layers, and of tensors that lie alike, have equal tables.
  const size_t hash = std::hash<std::string_view>()({reinterpret_cast<const char *>(data.data()), data.size()});
  emit::SectionRecipe recipe;
  recipe.sourceBytes = int64_t(data.size());
  recipe.inlineBytes = std::make_shared<const std::vector<std::byte>>(std::move(data));
  const int32_t added = addSection(name, type, rowPattern, colPattern, size, std::move(recipe));
  const auto [begin, end] = byBytes.equal_range(hash);
  for (auto found = begin; found != end; ++found)
    if (isSame(found->second, added)) {
      residents.pop_back();
      sections.pop_back();
      return found->second;
    }
  byBytes.emplace(hash, added);
  return added;
}

bool ConstantTable::isSame(int32_t one, int32_t another) const {
  const Resident &a = residents[size_t(one)], &b = residents[size_t(another)];
  return a.type == b.type && a.bytes == b.bytes && a.cores == b.cores && a.sectionOffset == b.sectionOffset &&
         *sections[size_t(a.section)].inlineBytes == *sections[size_t(b.section)].inlineBytes;
}

absl::StatusOr<int32_t> ConstantTable::add(const std::string &name, ElementType type, ConstantStack stack) {
  const auto kept = std::make_shared<const ConstantStack>(std::move(stack));
  auto opened = OpenStack::open(*kept);
  if (!opened.ok())
    return opened.status();
  AxisPattern rowPattern = kept->boxes[0].rows, colPattern = kept->boxes[0].cols;
  const int64_t size = opened->coreBytes();
  std::vector<std::byte> one(static_cast<size_t>(size)), another(static_cast<size_t>(size));
  std::pair<int32_t, int32_t> held{-1, -1}; // whose bytes `one` are
  leaveOutEqual(rowPattern, colPattern, [&](int32_t r, int32_t c, int32_t otherR, int32_t otherC) {
    if (held != std::pair(r, c))
      opened->write(r, c, one.data());
    held = {r, c};
    opened->write(otherR, otherC, another.data());
    return one == another;
  });
  const int32_t rows = rowPattern.distinct(), cols = colPattern.distinct();
  emit::SectionRecipe recipe;
  recipe.sourceBytes = size * rows * cols;
  recipe.make = [kept, rows, cols, size](std::span<std::byte> out) {
    auto open = OpenStack::open(*kept);
    if (!open.ok())
      return open.status();
    for (int32_t r = 0; r < rows; ++r)
      for (int32_t c = 0; c < cols; ++c)
        open->write(r, c, out.data() + (int64_t(r) * cols + c) * size);
    return absl::OkStatus();
  };
  return addSection(name, type, rowPattern, colPattern, size, std::move(recipe));
}

int32_t ConstantTable::addSection(const std::string &name, ElementType type, AxisPattern rowPattern,
                                  AxisPattern colPattern, int64_t coreBytes, emit::SectionRecipe recipe) {
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
  place(rowPattern, 0, true, colPattern.distinct() * coreBytes);
  place(colPattern, 2, false, coreBytes);
  resident.bytes = coreBytes;
  resident.section = int32_t(sections.size());
  recipe.name = resident.name;
  recipe.type = type;
  recipe.extents = {recipe.sourceBytes / elementBytes(type)};
  recipe.strides = {1};
  sections.push_back(std::move(recipe));
  residents.push_back(std::move(resident));
  return int32_t(residents.size() - 1);
}

} // namespace wsc::spmd
