// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/phases/Tiles.h"

#include <algorithm>
#include <utility>

namespace wsc::spmd {

using namespace format;

std::optional<Sharding> onTiles(const Sharding &each, const Tiling &tiling) {
  if (each.rectangle.row != 0 || each.rectangle.col != 0)
    return std::nullopt;
  Sharding all = each;
  all.rectangle = tiling.whole();
  for (DimSharding &dim : all.dims)
    for (MeshDigit &digit : dim.mesh) {
      const bool isRow = digit.axis == Axis::Row;
      if ((isRow ? tiling.rows : tiling.cols) == 1)
        continue;
      const int64_t extent = isRow ? tiling.tile.rows : tiling.tile.cols;
      if (extent % (digit.divisor * std::max<int64_t>(1, digit.modulus)) != 0)
        return std::nullopt;
      if (digit.modulus == 0)
        digit.modulus = extent / digit.divisor;
    }
  for (const auto &[axis, tiles, extent] :
       {std::tuple(Axis::Col, tiling.cols, tiling.tile.cols), std::tuple(Axis::Row, tiling.rows, tiling.tile.rows)}) {
    DimSharding dim;
    if (tiles > 1)
      dim.mesh.push_back({axis, extent, 0, 1});
    all.shape.insert(all.shape.begin(), tiles);
    all.dims.insert(all.dims.begin(), std::move(dim));
  }
  return all;
}

TileLayer::TileLayer(const Tiling &tiling, std::vector<Resident> &residents, size_t begin, size_t end)
    : tiling(tiling), copiesOf(residents.size()) {
  for (size_t r = begin; r < end; ++r) {
    Copies &copies = copiesOf[r];
    extend(residents[r].cores, copies);
    copies.first = int32_t(residents.size());
    forCopies(copies, [&](int32_t row, int32_t col, int32_t number) {
      if (number == 0)
        return;
      Resident copy = residents[r];
      copy.cores.row += row * this->tiling.tile.rows;
      copy.cores.col += col * this->tiling.tile.cols;
      residents.push_back(std::move(copy));
    });
  }
}

void TileLayer::extend(Lattice &lattice, Copies &copies) const {
  auto place = [&](int32_t tiles, int32_t extent, bool isRow, bool &isCopied) {
    if (tiles == 1 || isCopied)
      return;
    const auto spare =
        std::find_if(lattice.dims.begin(), lattice.dims.end(), [](const Lattice::Dim &dim) { return dim.count == 1; });
    if (spare == lattice.dims.end())
      isCopied = true;
    else
      *spare = {tiles, isRow ? extent : 0, isRow ? 0 : extent};
  };
  place(tiling.rows, tiling.tile.rows, true, copies.rows);
  place(tiling.cols, tiling.tile.cols, false, copies.cols);
}

template <typename Visit> void TileLayer::forCopies(const Copies &copies, Visit visit) const {
  int32_t number = 0;
  for (int32_t row = 0; row < (copies.rows ? tiling.rows : 1); ++row)
    for (int32_t col = 0; col < (copies.cols ? tiling.cols : 1); ++col)
      visit(row, col, number++);
}

void TileLayer::lay(Configuration &configuration) const {
  std::vector<Role> roles;
  for (Role &role : configuration.roles) {
    Copies copies;
    for (const Buffer &buffer : role.buffers)
      if (buffer.kind == BufferKind::Resident && size_t(buffer.resident) < copiesOf.size()) {
        copies.rows |= copiesOf[size_t(buffer.resident)].rows;
        copies.cols |= copiesOf[size_t(buffer.resident)].cols;
      }
    extend(role.cores, copies);
    forCopies(copies, [&](int32_t row, int32_t col, int32_t) {
      Role copy = role;
      copy.cores.row += row * tiling.tile.rows;
      copy.cores.col += col * tiling.tile.cols;
      for (Buffer &buffer : copy.buffers) {
        if (buffer.kind != BufferKind::Resident || size_t(buffer.resident) >= copiesOf.size())
          continue;
        const Copies &of = copiesOf[size_t(buffer.resident)];
        const int32_t number = (of.rows ? row : 0) * (of.cols ? tiling.cols : 1) + (of.cols ? col : 0);
        if (number > 0)
          buffer.resident = of.first + number - 1;
      }
      roles.push_back(std::move(copy));
    });
  }
  configuration.roles = std::move(roles);
  std::vector<RouterRole> routers;
  for (RouterRole &router : configuration.routers) {
    Copies copies;
    extend(router.routers, copies);
    forCopies(copies, [&](int32_t row, int32_t col, int32_t) {
      RouterRole copy = router;
      copy.routers.row += row * tiling.tile.rows;
      copy.routers.col += col * tiling.tile.cols;
      routers.push_back(std::move(copy));
    });
  }
  configuration.routers = std::move(routers);
}

} // namespace wsc::spmd
