// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of random graphs that move elements: shapes, slices, pads, joins, indexed access, sorting.
#include "test/support/RandomGraphParts.h"
#include <algorithm>
#include <numeric>

namespace wsc::test {
namespace {

using wsc::onnx::TensorProto;

void transpose(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 2, 4))
    return;
  std::vector<int64_t> order(x.shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), m.random);
  Value y = x;
  for (size_t d = 0; d < order.size(); ++d)
    y.shape[d] = x.shape[static_cast<size_t>(order[d])];
  m.emit("Transpose", {x.name}, y, {Attribute::ints("perm", order)});
}

void reshape(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 0, 4))
    return;
  // Factors of the number of elements, in random places.
  int64_t rest = GraphMaker::count(x.shape);
  Value y = x;
  y.shape.assign(static_cast<size_t>(m.between(1, 4)), 1);
  for (int64_t factor = 2; rest > 1;) {
    if (rest % factor != 0) {
      ++factor;
      continue;
    }
    y.shape[static_cast<size_t>(m.between(0, static_cast<int64_t>(y.shape.size()) - 1))] *= factor;
    rest /= factor;
  }
  std::vector<int64_t> target = y.shape;
  if (m.chance(2))
    target[static_cast<size_t>(m.between(0, static_cast<int64_t>(target.size()) - 1))] = -1;
  m.emit("Reshape", {x.name, m.integers(target)}, y);
}

void flatten(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 4))
    return;
  const int64_t axis = m.between(0, static_cast<int64_t>(x.shape.size()));
  Value y = x;
  y.shape = {GraphMaker::count({x.shape.begin(), x.shape.begin() + axis}),
             GraphMaker::count({x.shape.begin() + axis, x.shape.end()})};
  m.emit("Flatten", {x.name}, y, {Attribute::i("axis", axis)});
}

void unsqueeze(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 0, 3))
    return;
  const int64_t axis = m.between(0, static_cast<int64_t>(x.shape.size()));
  Value y = x;
  y.shape.insert(y.shape.begin() + axis, 1);
  y = m.emit("Unsqueeze", {x.name, m.integers({axis})}, y);
  if (!m.chance(3))
    return;
  y.shape.erase(y.shape.begin() + axis);
  m.emit("Squeeze", {y.name, m.integers({axis - static_cast<int64_t>(x.shape.size()) - 1})}, y);
}

void slice(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 4))
    return;
  const int64_t axis = m.between(0, static_cast<int64_t>(x.shape.size()) - 1), extent = x.shape[axis];
  if (extent < 2)
    return;
  const int64_t step = m.chance(2) ? 1 : m.between(1, 3) * (m.chance(2) ? -1 : 1);
  int64_t first = m.between(0, extent - 1),
          size = m.between(1, step > 0 ? (extent - 1 - first) / step + 1 : first / -step + 1);
  const int64_t end = first + (size - 1) * step + (step > 0 ? 1 : -1);
  Value y = x;
  y.shape[axis] = size;
  m.emit("Slice",
         {x.name, m.integers({first}), m.integers({end < 0 ? -1000 : end}), m.integers({axis}), m.integers({step})}, y);
}

void pad(GraphMaker &m) {
  static constexpr const char *modes[] = {"constant", "edge", "reflect", "wrap"};
  Value x;
  if (!m.pick(x, 1, 4))
    return;
  const size_t rank = x.shape.size();
  std::vector<int64_t> pads(2 * rank, 0);
  const int64_t mode = m.between(0, 3);
  Value y = x;
  for (size_t d = 0; d < rank; ++d)
    for (size_t side : {d, rank + d})
      if (m.chance(3)) {
        pads[side] = mode < 2 ? m.between(0, 2) : std::min<int64_t>(m.between(0, 2), x.shape[d] - 1);
        y.shape[d] += pads[side];
      }
  std::vector<std::string> inputs{x.name, m.integers(pads)};
  if (mode == 0 && m.chance(2))
    inputs.push_back(m.number(0.5).name);
  m.emit("Pad", inputs, y, {Attribute::s("mode", modes[mode])});
}

void concat(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 4))
    return;
  const int64_t axis = m.between(0, static_cast<int64_t>(x.shape.size()) - 1);
  Value other = x, y = x;
  other.shape[axis] = m.between(1, 3);
  other = m.constant(other.shape, 2);
  std::vector<std::string> inputs{x.name, other.name};
  y.shape[axis] += other.shape[axis];
  y.bound = std::max(y.bound, 2.0);
  if (m.chance(2)) {
    inputs.push_back(x.name);
    y.shape[axis] += x.shape[axis];
  }
  m.emit("Concat", inputs, y, {Attribute::i("axis", axis)});
}

void split(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 4))
    return;
  const int64_t axis = m.between(0, static_cast<int64_t>(x.shape.size()) - 1), extent = x.shape[axis];
  if (extent < 2)
    return;
  Value first = x, second = x;
  first.shape[axis] = m.between(1, extent - 1);
  second.shape[axis] = extent - first.shape[axis];
  m.emitSeveral("Split", {x.name, m.integers({first.shape[axis], second.shape[axis]})}, {first, second},
                {Attribute::i("axis", axis)});
}

void expand(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 0, 3) || GraphMaker::count(x.shape) > 300)
    return;
  Value y = x;
  for (int64_t &extent : y.shape)
    if (extent == 1 && m.chance(2))
      extent = m.between(2, 4);
  if (m.chance(2))
    y.shape.insert(y.shape.begin(), m.between(1, 3));
  m.emit("Expand", {x.name, m.integers(y.shape)}, y);
}

void tile(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 4) || GraphMaker::count(x.shape) > 300)
    return;
  std::vector<int64_t> repeats;
  Value y = x;
  for (int64_t &extent : y.shape) {
    repeats.push_back(m.chance(3) ? 2 : 1);
    extent *= repeats.back();
  }
  m.emit("Tile", {x.name, m.integers(repeats)}, y);
}

void gather(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 4))
    return;
  const int64_t axis = m.between(0, static_cast<int64_t>(x.shape.size()) - 1), size = m.between(1, 5);
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < size; ++i)
    numbers.push_back(m.between(-x.shape[axis], x.shape[axis] - 1));
  Value y = x;
  y.shape[axis] = size;
  m.emit("Gather", {x.name, m.integers(numbers)}, y, {Attribute::i("axis", axis)});
}

void gatherElements(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 3))
    return;
  const int64_t axis = m.between(0, static_cast<int64_t>(x.shape.size()) - 1);
  Value y = x;
  y.shape[axis] = m.between(1, 4);
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < GraphMaker::count(y.shape); ++i)
    numbers.push_back(m.between(0, x.shape[axis] - 1));
  std::string name = "g" + std::to_string(m.graph.model.graph().node_size());
  m.graph.model.weights(name, y.shape, numbers, TensorProto::INT64);
  m.emit("GatherElements", {x.name, name}, y, {Attribute::i("axis", axis)});
}

void scatterElements(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 2))
    return;
  // Along the last axis, each place once.
  const auto axis = static_cast<int64_t>(x.shape.size()) - 1, extent = x.shape[axis], size = m.between(1, extent);
  Shape part = x.shape;
  part[axis] = size;
  std::vector<int64_t> numbers;
  for (int64_t row = GraphMaker::count(part) / size; row > 0; --row) {
    std::vector<int64_t> order(extent);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), m.random);
    numbers.insert(numbers.end(), order.begin(), order.begin() + size);
  }
  std::string name = "g" + std::to_string(m.graph.model.graph().node_size());
  m.graph.model.weights(name, part, numbers, TensorProto::INT64);
  Value updates = m.constant(part, 2), y = x;
  const bool adds = m.chance(2);
  y.bound += 2;
  y.exact = x.exact && !adds;
  m.emit("ScatterElements", {x.name, name, updates.name}, y,
         {Attribute::i("axis", axis), Attribute::s("reduction", adds ? "add" : "none")});
}

void depthToSpace(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 4, 4))
    return;
  Value y = x;
  if (x.shape[1] % 4 == 0) {
    y.shape = {x.shape[0], x.shape[1] / 4, x.shape[2] * 2, x.shape[3] * 2};
    m.emit("DepthToSpace", {x.name}, y,
           {Attribute::i("blocksize", 2), Attribute::s("mode", m.chance(2) ? "CRD" : "DCR")});
  } else if (x.shape[2] % 2 == 0 && x.shape[3] % 2 == 0) {
    y.shape = {x.shape[0], x.shape[1] * 4, x.shape[2] / 2, x.shape[3] / 2};
    m.emit("SpaceToDepth", {x.name}, y, {Attribute::i("blocksize", 2)});
  }
}

void trilu(GraphMaker &m) {
  Value x;
  if (m.pick(x, 2, 4))
    m.emit("Trilu", {x.name, m.scalarInteger(m.between(-2, 2))}, x, {Attribute::i("upper", m.between(0, 1))});
}

void cumSum(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 4))
    return;
  const int64_t axis = m.between(0, static_cast<int64_t>(x.shape.size()) - 1);
  Value y = x;
  y.bound *= static_cast<double>(x.shape[axis]);
  y.exact = false;
  m.tamed(m.emit("CumSum", {x.name, m.scalarInteger(axis)}, y,
                 {Attribute::i("exclusive", m.between(0, 1)), Attribute::i("reverse", m.between(0, 1))}),
          20);
}

void topK(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 4, /*exact=*/true))
    return;
  const int64_t axis = m.between(0, static_cast<int64_t>(x.shape.size()) - 1), k = m.between(1, x.shape[axis]);
  Value values = x, indices = x;
  values.shape[axis] = indices.shape[axis] = k;
  indices.type = TensorProto::INT64;
  m.emitSeveral("TopK", {x.name, m.integers({k})}, {values, indices},
                {Attribute::i("axis", axis), Attribute::i("largest", m.between(0, 1))});
}

void argMax(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 1, 4, /*exact=*/true))
    return;
  const int64_t axis = m.between(0, static_cast<int64_t>(x.shape.size()) - 1);
  Value y = x;
  y.shape[axis] = 1;
  y.type = TensorProto::INT64;
  m.emit(m.chance(2) ? "ArgMax" : "ArgMin", {x.name}, y,
         {Attribute::i("axis", axis), Attribute::i("select_last_index", m.between(0, 1))});
}

void resize(GraphMaker &m) {
  Value x;
  if (!m.pick(x, 4, 4) || GraphMaker::count(x.shape) > 500)
    return;
  const bool isNearest = m.chance(2);
  Value y = x;
  y.shape[2] *= 2;
  y.shape[3] *= 2;
  y.exact = x.exact && isNearest;
  m.emit("Resize", {x.name, "", "", m.integers(y.shape)}, y,
         {Attribute::s("mode", isNearest ? "nearest" : "linear"),
          Attribute::s("coordinate_transformation_mode", isNearest     ? "asymmetric"
                                                         : m.chance(2) ? "half_pixel"
                                                                       : "align_corners"),
          Attribute::s("nearest_mode", "floor")});
}

} // namespace

std::vector<Kind> movementKinds() {
  return {transpose, reshape,        flatten,         unsqueeze,    slice, pad,    concat, split,  expand, tile,
          gather,    gatherElements, scatterElements, depthToSpace, trilu, cumSum, topK,   argMax, resize};
}

} // namespace wsc::test
