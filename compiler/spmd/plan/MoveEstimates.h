// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What it costs to bring a tensor to a sharding: the planned moves of its pieces where they go by factors, else an
// estimate of two line stages from the words on the busiest lines.
#pragma once

#include "compiler/spmd/moves/Move.h"
#include "compiler/spmd/plan/Views.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wsc::spmd {

/// Added to the cycles of moves that cannot be planned for want of time.
constexpr int64_t kImpossibleMove = int64_t(1) << 36;

struct MoveEstimate {
  int64_t cycles = 0;
  int64_t scratchBytes = 0; // while it runs
  int64_t tableBytes = 0;   // of index tables, which stay
  bool isByElement = false; // no move by factors
};

/// The move of a view's pieces to a sharding, without `wanted`: sources in the order of the view's roots. Nothing where
/// the view has no pieces or a root has no place yet.
std::optional<MoveProblem> stridedProblem(const Network &network, Views &views, TensorId tensor, const Sharding &to,
                                          const Rectangle &rectangle, const std::vector<std::optional<Sharding>> &held);

/// Estimates of moves by factors by what they are: equal layers, and plans on the same rectangle, share them.
using EstimateCache = std::map<std::string, std::optional<MoveEstimate>>;
/// By rows and columns of the rectangle.
using EstimateCaches = std::map<std::pair<int32_t, int32_t>, EstimateCache>;

/// What lines may do, of PlanPolicy.
struct LineForms {
  bool picks = true, gathers = true;
};

class MoveEstimates {
public:
  /// `roomBytes`: of a line's buffer; longer lines go in parts.
  MoveEstimates(const Network &network, Views &views, const Rectangle &rectangle, int64_t roomBytes, LineForms forms,
                EstimateCache &cache)
      : network(network), views(views), rectangle(rectangle), roomBytes(roomBytes), forms(forms), cache(cache) {}

  /// `held`: where tensors lie, which for those already placed does not change.
  const MoveEstimate &of(TensorId tensor, const Sharding &to, bool fillMatters,
                         const std::vector<std::optional<Sharding>> &held);

  /// The same, without a memory: for a root whose place may change.
  MoveEstimate fresh(TensorId tensor, const Sharding &to, bool fillMatters,
                     const std::vector<std::optional<Sharding>> &held) {
    return make(tensor, to, fillMatters, held);
  }

private:
  MoveEstimate make(TensorId tensor, const Sharding &to, bool fillMatters,
                    const std::vector<std::optional<Sharding>> &held);
  void addLines(const Tensor &root, const std::optional<Sharding> &held, const Sharding &to,
                MoveEstimate &estimate) const;

  const Network &network;
  Views &views;
  const Rectangle rectangle;
  const int64_t roomBytes;
  const LineForms forms;
  EstimateCache &cache;
  std::map<std::pair<TensorId, std::string>, MoveEstimate> known;
};

} // namespace wsc::spmd
