// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much SRAM of a core a nest's constants may take: all constants of a network are there while any nest runs, and
// each nest gets a share of what there is in proportion to its own.
#pragma once

#include "compiler/spmd/plan/Distribution.h"
#include "compiler/spmd/plan/Loop.h"
#include "compiler/spmd/plan/Views.h"

namespace wsc::spmd {

class ConstantShare {
public:
  /// `tensorBytes`: of a core's SRAM, for tensors.
  ConstantShare(const Network &network, Views &views, const Rectangle &rectangle, int64_t tensorBytes);

  /// Whether all that a tensor views is constants.
  bool isConstant(TensorId tensor) const;
  /// Bytes on a core of the constants of a nest that is spread so; `loop`: around the nest, may be null. Constants that
  /// differ from repetition to repetition are there for all of them.
  int64_t bytesOf(const Nest &nest, const Distribution &distribution, const Loop *loop) const;
  /// The bytes that these should not exceed.
  int64_t limitOf(const Nest &nest, const Loop *loop) const;

private:
  const Network &network;
  Views &views;
  const int64_t cores, tensorBytes;
  int64_t allBytes = 0;   // of all constants of the network
  int64_t leastBytes = 0; // that each nest may have
};

} // namespace wsc::spmd
