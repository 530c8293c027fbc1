// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/PortSharding.h"

#include "compiler/spmd/moves/Factors.h"
#include "compiler/spmd/moves/Hops.h"
#include "compiler/spmd/moves/QuickEstimate.h"
#include "compiler/spmd/plan/MoveEstimates.h"
#include "compiler/spmd/plan/PortBox.h"
#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <numeric>

namespace wsc::spmd {

namespace {

constexpr size_t kMostBoxes = 8;     // whose moves are planned
constexpr int64_t kTurnCycles = 4;   // of each core of a row
constexpr int64_t kElementwise = 64; // cycles of an element that is moved without factors: never if there is a choice

int64_t largestDivisor(int64_t extent, int64_t most) {
  int64_t divisor = std::min(extent, most);
  while (extent % divisor != 0)
    --divisor;
  return divisor;
}

/// Blocks of at most one dimension on rows and one on columns. Even: all of one size.
std::vector<Sharding> blocks(const std::vector<int64_t> &shape, const Rectangle &rows, bool evenRows, bool evenCols) {
  std::vector<Sharding> result;
  for (size_t r = 0; r < shape.size(); ++r)
    for (size_t c = 0; c <= shape.size(); ++c) {
      if (c == r)
        continue;
      auto partsOf = [&](size_t d, int64_t most, bool even) {
        return even ? largestDivisor(shape[d], most) : ceilDiv(shape[d], ceilDiv(shape[d], std::min(most, shape[d])));
      };
      const int64_t rowParts = partsOf(r, rows.rows, evenRows),
                    colParts = c < shape.size() ? partsOf(c, rows.cols, evenCols) : 1;
      if ((rowParts == 1 && shape[r] > 1) || (c < shape.size() && colParts == 1))
        continue;
      Sharding box;
      box.rectangle = {rows.row, 0, int32_t(rowParts), int32_t(colParts)};
      box.shape = shape;
      for (size_t d = 0; d < shape.size(); ++d) {
        DimSharding dim;
        const int64_t block = ceilDiv(shape[d], d == r ? rowParts : d == c ? colParts : 1);
        if (d == r && rowParts > 1)
          dim.mesh = {{Axis::Row, 1, 0, block}};
        else if (d == c)
          dim.mesh = {{Axis::Col, 1, 0, block}};
        if (block > 1)
          dim.local = {{block, 1}};
        box.dims.push_back(std::move(dim));
      }
      result.push_back(std::move(box));
    }
  return result;
}

/// The cycles of a port for what arrives for its row's cores: a box for each, or one for all.
int64_t arrivingCycles(const Sharding &box, int64_t bytes, const Rectangle &rectangle) {
  const int64_t boxes = liesOn(box, Axis::Col) ? box.rectangle.cols : 1;
  return boxes * box.localElements() * bytes / 4 + kTurnCycles * rectangle.cols;
}

} // namespace

int32_t leavingUnit(const Sharding &box) {
  int64_t unit = 0;
  for (const DimSharding &dim : box.dims)
    for (const MeshDigit &digit : dim.mesh)
      if (digit.axis == Axis::Col)
        unit = std::gcd(unit, digit.divisor);
  if (unit == 0)
    return box.rectangle.cols;
  return box.rectangle.cols % unit == 0 ? int32_t(unit) : 1;
}

Sharding withoutCopies(Sharding box) {
  const int32_t unit = leavingUnit(box);
  for (DimSharding &dim : box.dims)
    for (MeshDigit &digit : dim.mesh)
      if (digit.axis == Axis::Col)
        digit.divisor /= unit;
  box.rectangle.cols /= unit;
  if (!liesOn(box, Axis::Row))
    box.rectangle.rows = 1;
  return box;
}

int64_t leavingCycles(const Sharding &box, int64_t bytes, const Rectangle &rectangle) {
  return box.localElements() * (box.rectangle.cols / leavingUnit(box)) * bytes / 4 + kTurnCycles * rectangle.cols;
}

std::optional<size_t> raggedDim(const Sharding &box, Axis axis) {
  std::optional<size_t> ragged;
  for (size_t d = 0; d < box.dims.size(); ++d)
    for (const MeshDigit &digit : box.dims[d].mesh)
      if (digit.axis == axis) {
        if (ragged || digit.divisor != 1 || digit.modulus != 0 || box.dims[d].mesh.size() > 1)
          return std::nullopt;
        ragged = d;
      }
  if (!ragged)
    return std::nullopt;
  const int64_t block = box.dims[*ragged].localExtent(), extent = box.shape[*ragged],
                cores = axis == Axis::Row ? box.rectangle.rows : box.rectangle.cols;
  return cores > 1 && (cores - 1) * block < extent && extent < cores * block ? ragged : std::nullopt;
}

std::vector<std::vector<Sharding>> leavingParts(const Sharding &box) {
  // Along an axis: the whole blocks, and the last one.
  auto along = [](const Sharding &all, Axis axis) {
    const std::optional<size_t> ragged = raggedDim(all, axis);
    std::vector<Sharding> parts{all};
    if (!ragged)
      return parts;
    Sharding last = all;
    int32_t &count = axis == Axis::Row ? parts[0].rectangle.rows : parts[0].rectangle.cols;
    --count;
    (axis == Axis::Row ? last.rectangle.row : last.rectangle.col) += count;
    (axis == Axis::Row ? last.rectangle.rows : last.rectangle.cols) = 1;
    DimSharding &dim = last.dims[*ragged];
    const int64_t first = count * dim.localExtent(), rest = all.shape[*ragged] - first;
    dim = {first, {}, {}};
    if (rest > 1)
      dim.local = {{rest, 1}};
    parts.push_back(std::move(last));
    return parts;
  };
  std::vector<std::vector<Sharding>> parts;
  for (const Sharding &columns : along(withoutCopies(box), Axis::Col))
    parts.push_back(along(columns, Axis::Row));
  return parts;
}

bool canLeave(const Sharding &held) {
  const Sharding box = withoutCopies(held);
  const Rectangle &at = box.rectangle;
  int64_t copies = int64_t(at.rows) * at.cols;
  size_t rowDigits = 0;
  for (size_t d = 0; d < box.dims.size(); ++d) {
    const DimSharding &dim = box.dims[d];
    if (dim.mesh.size() > 1 || dim.base != 0 || dim.local.size() > 1)
      return false;
    const int64_t block = dim.localExtent();
    if (block > 1 && dim.local[0].step != 1)
      return false;
    if (dim.mesh.empty()) {
      if (block != box.shape[d])
        return false;
      continue;
    }
    const MeshDigit &digit = dim.mesh[0];
    const int64_t cores = digit.axis == Axis::Row ? at.rows : at.cols;
    const int64_t parts = digit.modulus > 0 ? digit.modulus : cores / digit.divisor;
    if (digit.step != block || (parts * block != box.shape[d] && raggedDim(box, digit.axis) != d))
      return false;
    if (digit.axis == Axis::Row) {
      ++rowDigits;
      if (digit.modulus > 0 && digit.divisor != 1)
        return false;
    }
    copies /= parts;
  }
  return copies == 1 && rowDigits <= 2 && at.col == 0 && portLoops(box).has_value();
}

std::vector<Sharding> leavingBoxes(const Tensor &tensor, const std::optional<Sharding> &held, int32_t row, int32_t rows,
                                   const Rectangle &rectangle, int64_t roomBytes) {
  const int64_t bytes = format::elementBytes(tensor.type), granule = granuleOf(tensor.type);
  const Rectangle where{row, 0, rows, rectangle.cols};
  std::vector<Sharding> others;
  for (const bool evenRows : {true, false})
    for (const bool evenCols : {true, false})
      for (Sharding &box : blocks(tensor.shape, where, evenRows, evenCols))
        if (std::find(others.begin(), others.end(), box) == others.end())
          others.push_back(std::move(box));
  if (held && held->shape == tensor.shape && held->rectangle.row == row && held->rectangle.rows <= rows)
    others.push_back(*held);
  std::erase_if(others, [&](const Sharding &box) {
    const Sharding leaves = withoutCopies(box);
    const bool isRagged = raggedDim(leaves, Axis::Row) || raggedDim(leaves, Axis::Col);
    return !canLeave(box) || (isRagged && bytes % 4 != 0) || box.localElements() % granule != 0 ||
           box.localElements() * bytes > roomBytes;
  });
  others.push_back(flatSharding(where, tensor.elements(), granule));
  std::stable_sort(others.begin(), others.end(), [&](const Sharding &a, const Sharding &b) {
    return leavingCycles(a, bytes, rectangle) < leavingCycles(b, bytes, rectangle);
  });
  return others;
}

int64_t quickLeaving(const Network &network, Views &views, TensorId output, const std::vector<StridedPiece> &pieces,
                     TensorId root, const Sharding &held, const std::vector<Sharding> &boxes,
                     const Rectangle &rectangle) {
  const int64_t bytes = format::elementBytes(network.tensors[size_t(output)].type);
  const View &view = views.of(output);
  if (view.isRoot() && canLeave(held))
    return leavingCycles(held, bytes, rectangle);
  int64_t least = INT64_MAX;
  for (const Sharding &box : boxes) {
    int64_t cycles = leavingCycles(box, bytes, rectangle);
    for (const StridedPiece &piece : pieces)
      if (cycles < least && view.roots[size_t(piece.source)].tensor == root) {
        const bool hasForm = Factors::of(held, box, piece).has_value();
        cycles += quickPieceCycles(held, box, piece, rectangle, bytes, true) +
                  (hasForm ? 0 : kElementwise * box.localElements());
      }
    least = std::min(least, cycles);
  }
  return least;
}

Sharding outputSharding(const Network &network, Views &views, TensorId output, int32_t row, int32_t rows,
                        const Rectangle &rectangle, int64_t roomBytes,
                        const std::vector<std::optional<Sharding>> &held) {
  const Tensor &tensor = network.tensors[size_t(output)];
  const int64_t bytes = format::elementBytes(tensor.type);
  const std::optional<Sharding> lies = views.of(output).isRoot() ? held[size_t(output)] : std::nullopt;
  std::optional<Sharding> best;
  int64_t least = 0;
  size_t planned = 0;
  for (const Sharding &box : leavingBoxes(tensor, lies, row, rows, rectangle, roomBytes)) {
    int64_t cycles = leavingCycles(box, bytes, rectangle);
    if (best && (cycles >= least || planned >= kMostBoxes))
      continue;
    if (lies != box) {
      auto problem = stridedProblem(network, views, output, box, rectangle, held);
      std::optional<HopPlan> plan;
      if (problem) {
        problem->fillMatters = views.of(output).fills;
        problem->roomBytes = roomBytes;
        plan = planHops(*problem);
        ++planned;
      }
      cycles += plan ? plan->estimatedCycles : kElementwise * tensor.elements();
    }
    if (!best || cycles < least) {
      least = cycles;
      best = box;
    }
  }
  return *best;
}

Sharding inputSharding(const Network &network, Views &views, TensorId input, TensorId read, const Sharding &wanted,
                       bool fillMatters, const Rectangle &rectangle, int64_t roomBytes) {
  const Tensor &tensor = network.tensors[size_t(input)];
  const int64_t bytes = format::elementBytes(tensor.type), granule = granuleOf(tensor.type);
  std::vector<Sharding> boxes;
  if (read == input)
    if (auto box = portBox(wanted, rectangle))
      boxes.push_back(*std::move(box));
  std::vector<Sharding> others = blocks(tensor.shape, rectangle, false, false);
  others.push_back(flatSharding(rectangle, tensor.elements(), granule));
  std::stable_sort(others.begin(), others.end(), [&](const Sharding &a, const Sharding &b) {
    return arrivingCycles(a, bytes, rectangle) < arrivingCycles(b, bytes, rectangle);
  });
  boxes.insert(boxes.end(), others.begin(), others.end());
  std::optional<Sharding> best;
  int64_t least = INT64_MAX;
  size_t planned = 0;
  std::vector<std::optional<Sharding>> held(network.tensors.size());
  for (const Sharding &box : boxes) {
    const int64_t port = arrivingCycles(box, bytes, rectangle);
    if (planned >= kMostBoxes || port >= least || box.localElements() % granule != 0 ||
        box.localElements() * bytes > roomBytes || !portLoops(box))
      continue;
    held[size_t(input)] = box;
    auto problem = stridedProblem(network, views, read, wanted, rectangle, held);
    if (!problem)
      break;
    problem->fillMatters = fillMatters || views.of(read).fills;
    problem->roomBytes = roomBytes;
    ++planned;
    const auto plan = planHops(*problem);
    if (plan && port + plan->estimatedCycles < least) {
      least = port + plan->estimatedCycles;
      best = box;
    }
  }
  return best ? *best : flatSharding(rectangle, tensor.elements(), granule);
}

} // namespace wsc::spmd
