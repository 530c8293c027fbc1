// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/format/verifier/CoreSet.h"
#include "runtime/format/verifier/Forms.h"

#include <bit>

namespace wsc::format::verifier {

namespace {

constexpr size_t kWord = 64;

size_t wordsFor(int32_t bits) { return (size_t(bits) + kWord - 1) / kWord; }
void set(std::vector<uint64_t> &bits, size_t bit) { bits[bit / kWord] |= uint64_t(1) << bit % kWord; }
bool isSet(const uint64_t *bits, size_t bit) { return bits[bit / kWord] >> bit % kWord & 1; }
int64_t count(const std::vector<uint64_t> &bits) {
  int64_t sum = 0;
  for (uint64_t word : bits)
    sum += std::popcount(word);
  return sum;
}

// The number of the first bit set in word(0), word(1), … of `words` words; -1: none is.
template <typename Word> int32_t first(size_t words, Word word) {
  for (size_t w = 0; w < words; ++w)
    if (const uint64_t bits = word(w))
      return int32_t(w * kWord) + std::countr_zero(bits);
  return -1;
}

} // namespace

bool CoreSet::isProduct(const Lattice &lattice) {
  for (const Lattice::Dim &dim : lattice.dims)
    if (dim.count > 1 && dim.rowStep != 0 && dim.colStep != 0)
      return false;
  return true;
}

CoreSet::CoreSet(const Lattice &lattice, const target::Target &target)
    : product(isProduct(lattice)), wordsPerRow(wordsFor(target.cols)), rows(wordsFor(target.rows)),
      columns(product ? wordsPerRow : wordsPerRow * size_t(target.rows)) {
  if (!product) {
    forEachCore(lattice, [&](int32_t row, int32_t col, const LatticeIndex &) {
      set(rows, size_t(row));
      set(columns, size_t(row) * wordsPerRow * kWord + size_t(col));
    });
    return;
  }
  Lattice down = lattice, along = lattice;
  for (int d = 0; d < kMaxDims; ++d)
    (lattice.dims[d].rowStep == 0 ? down : along).dims[d] = {};
  forEachCore(down, [&](int32_t row, int32_t, const LatticeIndex &) { set(rows, size_t(row)); });
  forEachCore(along, [&](int32_t, int32_t col, const LatticeIndex &) { set(columns, size_t(col)); });
}

int64_t CoreSet::size() const { return product ? count(rows) * count(columns) : count(columns); }

bool CoreSet::holds(const Core &core) const {
  return isSet(rows.data(), size_t(core.row)) && isSet(columnsOf(size_t(core.row)), size_t(core.col));
}

std::optional<CoreSet::Core> CoreSet::outside(const CoreSet &of) const {
  const int32_t ownRow = first(rows.size(), [&](size_t w) { return rows[w] & ~of.rows[w]; });
  if (ownRow >= 0)
    return Core{ownRow, first(wordsPerRow, [&](size_t w) { return columnsOf(size_t(ownRow))[w]; })};
  return find(of, [](uint64_t mine, uint64_t theirs) { return mine & ~theirs; });
}

std::optional<CoreSet::Core> CoreSet::common(const CoreSet &with) const {
  return find(with, [](uint64_t mine, uint64_t theirs) { return mine & theirs; });
}

// A core whose columns, among those of rows that both sets have, remain after `combine`.
template <typename Combine> std::optional<CoreSet::Core> CoreSet::find(const CoreSet &other, Combine combine) const {
  for (size_t w = 0; w < rows.size(); ++w)
    for (uint64_t both = rows[w] & other.rows[w]; both != 0; both &= both - 1) {
      const size_t row = w * kWord + size_t(std::countr_zero(both));
      const uint64_t *mine = columnsOf(row), *theirs = other.columnsOf(row);
      const int32_t col = first(wordsPerRow, [&](size_t c) { return combine(mine[c], theirs[c]); });
      if (col >= 0)
        return Core{int32_t(row), col};
      if (product && other.product)
        return std::nullopt; // the other rows are alike
    }
  return std::nullopt;
}

} // namespace wsc::format::verifier
