// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One plan of a network while it is made, node by node: where inputs lie (Plan.cpp), what loops go on with
// (PlanLoops.cpp), what a distribution of a nest costs (PlanCosts.cpp).
#pragma once

#include "compiler/spmd/plan/ConstantShare.h"
#include "compiler/spmd/plan/JointChoice.h"
#include "compiler/spmd/plan/Lookahead.h"
#include "compiler/spmd/plan/MoveEstimates.h"
#include "compiler/spmd/plan/Plan.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace wsc::spmd {

class PlanMaker {
public:
  PlanMaker(const Network &network, Views &views, const target::Target &target, const Rectangle &rectangle,
            const std::vector<Loop> &loops, PlanPolicy policy, EstimateCache &cache, const RuledOut &ruledOut,
            const JointPlan *joint = nullptr)
      : network(network), views(views), target(target), rectangle(rectangle), policy(policy), cache(cache),
        ruledOut(ruledOut), joint(joint), improves(JointChoice::applies(network, loops)),
        constants(network, views, rectangle, tensorBytes(target)),
        estimates(network, views, rectangle, tensorBytes(target) / 3, {policy.picks, policy.gathers}, cache),
        lookahead(network, views, target, rectangle, !policy.inputIsFree, policy.picks, tensorBytes(target)) {
    plan.loops = loops;
    plan.policy = policy;
  }

  absl::StatusOr<NetworkPlan> make();
  /// After an error: the distribution of an earlier nest that leaves a later one no way to its operands.
  const std::optional<std::pair<size_t, DistributionKind>> &toBlame() const { return blamed; }

  /// A distribution of the joint choice that does not fit where it is to be, or not with the moves of its operands.
  struct Refusal {
    size_t node = 0;
    bool forMoves = false;
  };
  const std::vector<Refusal> &refused() const { return refusals; }

private:
  struct Cost {
    int64_t cycles = 0, bytes = 0, constantBytes = 0;
    int64_t tableBytes = 0; // of moves
  };

  void begin();
  void placeInputs();
  void placeFlat(TensorId tensor, const Rectangle &where);
  /// Where the undecided input lies best for a reader that wants it so.
  const Sharding &placeFor(const Access &access, const Sharding &wanted, bool fillMatters);
  /// The undecided input lies as the nest's first access to it has it.
  void decideInput(const Nest &nest, const Distribution &distribution);
  bool readsUndecided(const Nest &nest);
  void findLastUses();
  void release(size_t node);
  /// " (name bytes, …)" of the largest tensors that live now.
  std::string longestLives() const;
  /// As the joint choice has it, if there is one and it fits; else among the usual candidates, or among all where none
  /// of these fits. All take long to look at: a joint choice is made again instead.
  absl::Status place(const Nest &nest, size_t number);
  absl::Status placeAmong(const Nest &nest, size_t number, std::vector<Distribution> distributions);
  /// The nest fits, but not what brings its operands: the place of the largest one is to blame.
  void blame(const Nest &nest);
  std::vector<Distribution> candidatesFor(const Nest &nest, CandidateRange range);

  //===- Loops ------------------------------------------------------------------------------------------------===//

  const Loop *loopOf(size_t node) const;
  /// Plans the body of a loop with slices before all else, as if whatever it reads lay where its first reader wants it:
  /// it runs many times, so what it reads and what goes round is laid out for it.
  absl::Status rehearse(const Loop &each);
  /// Plans the body once for each of some places of what goes round, and takes the place with the quickest repetition.
  /// Errors: none has a plan.
  absl::Status chooseStart(const Loop &each);
  /// A tensor before the loop is wanted so, and what elementwise nests make it from.
  void wantBefore(const Loop &each, TensorId tensor, const Sharding &wanted);
  /// Places the nests of a body and nothing else. What they read that is not in `made` and has no place waits for its
  /// first reader. Cycles of a repetition; INT64_MAX where that is at least `most`.
  absl::StatusOr<int64_t> placeBody(const Loop &each, std::set<TensorId> made, int64_t most);
  /// What goes round, and slices, lie as rehearsed; else, what goes round stays where a nest has put it at first, and
  /// lies as its first reader wants it where no nest has.
  void enterLoop();
  static bool isOf(const Loop &each, TensorId tensor);
  void leaveLoop();
  void settle(TensorId tensor, const Sharding &held);
  /// Tensors without a place that the nest reads get one.
  void settleOperands(const Nest &nest, const Distribution &distribution);

  //===- Costs ------------------------------------------------------------------------------------------------===//

  bool isUndecided(TensorId tensor);
  bool lies(TensorId tensor, const Sharding &sharding);
  int64_t bytesOf(const Sharding &sharding, TensorId tensor) const;
  int64_t quickMoves(const Nest &nest, const Distribution &distribution);
  /// Of what is rearranged on the way.
  int64_t quickView(TensorId tensor, const Sharding &wanted);
  /// Without moves: what the cores compute and reduce among themselves, and where constants and results lie.
  Cost localCost(const Nest &nest, const Distribution &distribution);
  /// Adds the moves of the operands to where the distribution wants them; gives up beyond `most` cycles.
  /// Whether all go by factors.
  bool addMoves(const Nest &nest, const Distribution &distribution, int64_t most, Cost &cost);

  const Network &network;
  Views &views;
  const target::Target &target;
  const Rectangle rectangle;
  const PlanPolicy policy;
  EstimateCache &cache;
  const RuledOut &ruledOut;
  const JointPlan *const joint; // distributions to take where they fit
  const bool improves;          // a joint choice follows or has been made
  std::vector<Refusal> refusals;
  std::optional<std::pair<size_t, DistributionKind>> blamed;
  const ConstantShare constants;
  MoveEstimates estimates;
  Lookahead lookahead;
  NetworkPlan plan;
  std::map<TensorId, std::optional<std::vector<StridedPiece>>> pieces; // of views
  std::map<TensorId, size_t> lastUse;
  std::map<TensorId, int64_t> live;                                 // bytes on a core
  std::map<std::pair<TensorId, std::string>, Sharding> inputPlaces; // by what reads the input, and how
  TensorId undecided = -1;                                          // an input whose place its first reader decides
  int64_t constantBytes = 0;
  const Loop *loop = nullptr;             // around the node in hand
  std::set<TensorId> waiting;             // of the loop: their first reader decides where they lie
  std::set<TensorId> isResult;            // of nests
  std::map<TensorId, Sharding> rehearsed; // what loops begin with
};

} // namespace wsc::spmd
