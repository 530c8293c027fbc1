// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random nests in the form of layers. A pool of tensors grows by one result after the other; a layer takes one operand
// from the pool and the others from there, or makes them up: inputs or constants of the shapes it needs.
#pragma once

#include "test/support/NetworkBuilder.h"
#include "test/support/RandomNetwork.h"

#include <string>
#include <vector>

namespace wsc::test {

class LayerDrawer {
public:
  LayerDrawer(uint64_t seed, const NetworkOptions &options)
      : draw(seed), options(options), types(options.types.empty() ? elementTypes() : options.types) {}

  Draw draw;
  NetworkBuilder net;
  std::vector<spmd::TensorId> pool;

  std::vector<int64_t> drawShape();
  format::ElementType drawType() { return draw.of(types); }
  /// A tensor of the pool, later results more often.
  spmd::TensorId fromPool() { return draw.oneIn(2) ? pool.back() : draw.of(pool); }
  std::string name(const std::string &stem) { return stem + std::to_string(names++); }
  const std::vector<int64_t> &shapeOf(spmd::TensorId id) const { return net.network.tensors[size_t(id)].shape; }
  format::ElementType typeOf(spmd::TensorId id) const { return net.network.tensors[size_t(id)].type; }

  /// Each adds one nest, and its result to the pool. Where a form does not suit the operand or exceeds the options, it
  /// is elementwise.
  void elementwise();
  void reduction(); // over any axes
  /// y[b…, m…, n…] = Σ_k… x[b…, m…, k…] · w[b…, k…, n…], the dimensions of all three in any order.
  void contraction();
  /// Along one or two dimensions, with stride, dilation and padding; other dimensions stay or are summed; with weights
  /// or without.
  void window();
  /// One dimension of a tensor is looked up by numbers over one or two iterators.
  void gather();
  /// After the sample, the state read as `before` is that plus something of its shape.
  void state(spmd::TensorId before);

private:
  const NetworkOptions &options;
  std::vector<format::ElementType> types;
  int names = 0;

  /// A tensor of this shape: one of the pool if there is one, else a constant or an input.
  spmd::TensorId tensorOf(const std::vector<int64_t> &shape, format::ElementType type);
  /// An operand over some of the iterators, in some order; dimensions of one point do not move.
  spmd::Access broadcast(const std::vector<int64_t> &extents, size_t numIterators, format::ElementType type);
  /// Completes a nest that has iterators and operands, and appends it. `fma`: its reduction multiplies operands 0
  /// and 1.
  void finish(spmd::Nest nest, bool fma);
  /// An operand as a value of `type`, converted in the body if need be.
  spmd::BodyValue converted(spmd::Nest &nest, int32_t operand, format::ElementType type);
  template <typename T> void shuffle(std::vector<T> &items);
};

} // namespace wsc::test
