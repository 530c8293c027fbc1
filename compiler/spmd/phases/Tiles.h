// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases that run on every tile of a grid: their code speaks of the cores of one tile, and nothing leaves it.
//
//     ┌────┬────┬────┐
//     │ t0 │ t1 │ t2 │      a core's place is its place in its tile; routes end at the tile's edge;
//     ├────┼────┼────┤      constants are held once in the file and laid on every tile
//     │ t3 │ t4 │ t5 │
//     └────┴────┴────┘
#pragma once

#include "compiler/spmd/sharding/Sharding.h"
#include "runtime/format/Executable.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace wsc::spmd {

struct Tiling {
  Rectangle tile;             // (0, 0, rows, cols)
  int32_t rows = 1, cols = 1; // tiles
  int32_t tiles() const { return rows * cols; }
  Rectangle whole() const { return {0, 0, tile.rows * rows, tile.cols * cols}; }
};

/// A tensor that lies so on every tile, each its own: two dimensions more in front, the tile's row and its column.
/// Cores of the tile outside of `each` hold what its digits say there. Nothing where a rectangle does not begin at the
/// tile's first core, or digits do not divide the tile's extent on their axis.
std::optional<Sharding> onTiles(const Sharding &each, const Tiling &tiling);

/// Lays residents [begin, end), which are of the first tile, on all tiles, and the roles and routers of
/// configurations likewise. Lattices take a dimension more for each axis where they have one to spare; else there are
/// several, and roles that name such a resident are as many.
class TileLayer {
public:
  TileLayer(const Tiling &tiling, std::vector<format::Resident> &residents, size_t begin, size_t end);
  void lay(format::Configuration &configuration) const;

private:
  /// Axes along which there is one copy for each tile.
  struct Copies {
    bool rows = false, cols = false;
    int32_t first = -1; // of a resident: the number of its second copy, row by row
  };
  /// Gives the lattice a dimension for each axis of tiles that `copies` does not name, or names it.
  void extend(format::Lattice &lattice, Copies &copies) const;
  /// Visits the tiles that have a copy of their own: (row, column), number.
  template <typename Visit> void forCopies(const Copies &copies, Visit visit) const;

  const Tiling tiling;
  std::vector<Copies> copiesOf; // per resident
};

} // namespace wsc::spmd
