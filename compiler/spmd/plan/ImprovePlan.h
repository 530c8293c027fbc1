// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans that a joint choice of all distributions leads to.
#pragma once

#include "compiler/spmd/plan/JointChoice.h"
#include "compiler/spmd/plan/Plan.h"

#include <optional>

namespace wsc::spmd {

/// Plans on the rectangle of a first one, of a network that joint choices apply to. Moves that are known by now serve
/// all of them.
class PlanChooser {
public:
  PlanChooser(const Network &network, Views &views, const target::Target &target, NetworkPlan start,
              EstimateCache &cache);

  /// The quickest of the plans that choices lead to. Where something of a choice does not fit beside what lives at the
  /// same time, the nest is placed as by itself, and the choice is made again without it. Nothing where none fits.
  std::optional<NetworkPlan> choose(const RuledOut &ruledOut);
  size_t plannedMoves() const { return choice.plannedMoves(); }

private:
  const Network &network;
  Views &views;
  const target::Target &target;
  const NetworkPlan start;
  EstimateCache &cache;
  JointChoice choice;
};

/// The quicker of `plan`, made nest by nest, and what joint choices make of it.
NetworkPlan improvePlan(const Network &network, Views &views, const target::Target &target, NetworkPlan plan,
                        EstimateCache &cache, const RuledOut &ruledOut);

} // namespace wsc::spmd
