// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a choice costs the nests that read its result: for each of them the least, over its distributions, of what it
// computes beyond its best and of the quick estimate of the move to where it reads; and of an output the least of its
// way through the ports. Choosing nest by nest with it avoids results that lie well for their own nest and badly for
// all others.
#pragma once

#include "compiler/spmd/plan/Distribution.h"
#include "compiler/spmd/plan/Views.h"
#include "runtime/target/Target.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace wsc::spmd {

class Lookahead {
public:
  /// `withoutTaps`: candidates as in Candidates.h; `picks`: lines may pick; `mostBytes`: of a nest's operands and
  /// result on a core.
  Lookahead(const Network &network, Views &views, const target::Target &target, const Rectangle &rectangle,
            bool withoutTaps, bool picks, int64_t mostBytes);

  /// Another reader of all roots of `read`: it wants it so, whatever else.
  void want(TensorId read, Sharding wanted);

  /// Cycles of the readers of a tensor that lies so, and of its way out.
  int64_t after(TensorId tensor, const Sharding &held);

  /// Cycles in which a tensor that lies so leaves as an output or as part of some.
  int64_t leaving(TensorId tensor, const Sharding &held);

private:
  struct Reader {
    size_t node = 0, operand = 0;
  };
  struct Option {
    int64_t excess = 0; // cycles beyond the nest's best
    Sharding wanted;
  };
  struct Output {
    TensorId tensor = -1;
    int32_t row = 0, rows = 1; // whose ports it takes
    std::vector<Sharding> boxes;
  };
  const std::vector<Option> &optionsOf(const Reader &reader);
  int64_t moveCycles(TensorId root, TensorId read, const Sharding &held, const Sharding &wanted) const;

  const Network &network;
  Views &views;
  const target::Target &target;
  const Rectangle rectangle;
  const bool withoutTaps, picks;
  const int64_t mostBytes;
  std::vector<std::vector<Reader>> readers;                             // per tensor
  std::map<TensorId, std::vector<std::pair<TensorId, Sharding>>> wants; // per root: what is read, how it is wanted
  std::map<std::pair<size_t, size_t>, std::vector<Option>> options;
  std::map<TensorId, std::vector<StridedPiece>> pieces; // of views that have them
  std::vector<Output> outputs;
  std::map<TensorId, std::vector<size_t>> outputsOf; // by root
};

} // namespace wsc::spmd
