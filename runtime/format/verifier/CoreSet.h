// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cores of a lattice as bits, for questions about two lattices. Most lattices are a set of rows times a set of
// columns, which takes a bit per row and a bit per column, and questions about two of them look at some words; the
// others keep a bit per column of every row.
#pragma once

#include "runtime/format/Executable.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace wsc::format::verifier {

class CoreSet {
public:
  struct Core {
    int32_t row = 0, col = 0;
  };

  // The lattice lies in the mesh of `target`.
  CoreSet(const Lattice &lattice, const target::Target &target);

  // True when the rows of the lattice are all alike, so that the set takes rows + columns bits.
  static bool isProduct(const Lattice &lattice);

  int64_t size() const; // different cores
  bool holds(const Core &core) const;
  // A core of this set that `of` does not hold; one that both hold.
  std::optional<Core> outside(const CoreSet &of) const;
  std::optional<Core> common(const CoreSet &with) const;

private:
  using Bits = std::vector<uint64_t>;

  bool product;
  size_t wordsPerRow;
  Bits rows;    // that hold cores
  Bits columns; // of all of these rows; without `product`, of every row of the mesh, one row after another

  const uint64_t *columnsOf(size_t row) const { return columns.data() + (product ? 0 : row * wordsPerRow); }
  template <typename Combine> std::optional<Core> find(const CoreSet &other, Combine combine) const;
};

} // namespace wsc::format::verifier
