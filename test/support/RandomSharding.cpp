// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/support/RandomSharding.h"

#include <algorithm>

namespace wsc::test {

using namespace spmd;

namespace {

int64_t below(std::mt19937_64 &random, int64_t limit) { return int64_t(random() % uint64_t(limit)); }
int64_t between(std::mt19937_64 &random, int64_t low, int64_t high) { return low + below(random, high - low + 1); }

} // namespace

std::vector<int64_t> randomShape(std::mt19937_64 &random, int64_t mostElements, int64_t mostExtent) {
  std::vector<int64_t> shape(size_t(between(random, 1, 5)));
  int64_t left = mostElements;
  for (int64_t &extent : shape) {
    extent = between(random, 1, std::min(left, mostExtent));
    left = std::max<int64_t>(1, left / extent);
  }
  return shape;
}

Sharding randomSharding(std::mt19937_64 &random, const std::vector<int64_t> &shape, int32_t rows, int32_t cols) {
  Sharding sharding;
  sharding.shape = shape;
  sharding.dims.resize(shape.size());
  int64_t used[2] = {1, 1};
  const int64_t room[2] = {rows, cols};
  MeshDigit *outermost[2] = {nullptr, nullptr};
  for (size_t d = 0; d < shape.size(); ++d)
    sharding.dims[d].mesh.reserve(8);
  for (size_t d = 0; d < shape.size(); ++d) {
    DimSharding &dim = sharding.dims[d];
    // From the inside: sizes whose product reaches the extent.
    int64_t step = 1;
    std::vector<LocalDigit> local; // innermost first
    while (step < shape[d]) {
      const int64_t rest = (shape[d] + step - 1) / step;
      int64_t size = below(random, 3) == 0 ? rest : between(random, 2, std::max<int64_t>(2, rest));
      const int64_t place = below(random, 3);
      if (place < 2 && used[place] < room[place]) {
        size = std::min(size, room[place] / used[place]);
        if (size >= 2) {
          dim.mesh.push_back({place == 0 ? Axis::Row : Axis::Col, used[place], size, step});
          outermost[place] = &dim.mesh.back();
          used[place] *= size;
          step *= size;
          continue;
        }
        size = rest;
      }
      local.push_back({size, step});
      step *= size;
    }
    std::reverse(local.begin(), local.end());
    dim.local = local;
    // Some windows overlap: the innermost run of a block takes its neighbours too.
    if (!dim.local.empty() && dim.local.back().step == 1 && below(random, 6) == 0) {
      dim.base = -1;
      dim.local.back().count += 2;
    }
  }
  // The rest of an axis holds replicas, or is left out, or holds nothing (an outermost digit without modulus).
  int64_t extent[2];
  for (int axis = 0; axis < 2; ++axis) {
    extent[axis] = used[axis] * between(random, 1, room[axis] / used[axis]);
    if (outermost[axis] && below(random, 2) == 0)
      outermost[axis]->modulus = 0;
  }
  sharding.rectangle = {int32_t(below(random, rows - extent[0] + 1)), int32_t(below(random, cols - extent[1] + 1)),
                        int32_t(extent[0]), int32_t(extent[1])};
  return sharding;
}

} // namespace wsc::test
