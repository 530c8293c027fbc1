// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The distributions of all nests of a network chosen together: a node of a PBQP (solver/Pbqp.h) for each nest, its
// options distributions with their local cycles, an edge wherever one nest reads what another makes, with the cycles of
// the moves between what the one leaves and what the other wants. Choosing nest by nest in the order of the network
// pays later for what looks well at first; this sees both.
//
//   conv ──► conv ──► add     options of conv: [c/4, h/2], [h, w/8], …
//     └────────────────┘      cost of an edge: the move from each place that its maker's options leave the result in to
//                             each place that its reader's options want it in
//
// Costs of moves are quick estimates at first. Those that a solution rests on are planned exactly, and the problem is
// solved again, until a solution rests on exact ones alone. What lives side by side in SRAM is up to the plan that
// takes the choice (ImprovePlan.h); it says what does not fit.
#pragma once

#include "compiler/solver/Pbqp.h"
#include "compiler/spmd/plan/ConstantShare.h"
#include "compiler/spmd/plan/Lookahead.h"
#include "compiler/spmd/plan/MoveEstimates.h"
#include "compiler/spmd/plan/Plan.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wsc::spmd {

struct JointPlan {
  std::vector<std::optional<Distribution>> distributions; // per node
  std::map<TensorId, Sharding> starts;                    // what goes round loops, before the first repetition
};

class JointChoice {
public:
  /// Whether there is something to choose: two nests and more, and no loop with slices or stacks, or of which something
  /// but a nest makes what goes round.
  static bool applies(const Network &network, const std::vector<Loop> &loops);

  /// For networks that it applies to. `start`: a plan on the same rectangle, which is the first choice.
  JointChoice(const Network &network, Views &views, const target::Target &target, const NetworkPlan &start,
              EstimateCache &cache);

  /// `ruledOut`: kinds of distributions that nodes do not take this time, where they have others.
  JointPlan choose(const RuledOut &ruledOut = {});
  /// Moves that were planned exactly so far.
  size_t plannedMoves() const { return planned; }

  /// What the last choice gave a node has no room: itself, or the moves that bring its operands. Later choices are
  /// others.
  void forbid(size_t node, bool forMoves);

  /// The problem with all that is known of its moves.
  solver::pbqp::Problem problem(const RuledOut &ruledOut = {}) const;

private:
  struct Option {
    Distribution distribution;
    int64_t cycles = 0, bytes = 0; // of all repetitions, with the result's way out; on a core
    size_t result = 0;             // place
    std::vector<size_t> wanted;    // per operand: twice its place, and 1 if what lies outside of the tensor matters
  };
  /// Different shardings by number.
  class Places {
  public:
    size_t numberOf(const Sharding &sharding);
    const Sharding &operator[](size_t number) const { return all[number]; }
    const std::vector<Sharding> &list() const { return all; }

  private:
    std::map<std::string, size_t> numbers;
    std::vector<Sharding> all;
  };
  struct Layer {
    size_t node = 0;
    const Nest *nest = nullptr;
    int64_t count = 1; // repetitions
    std::vector<Option> options;
    Places results;
    std::vector<Places> wanted; // per operand
  };
  /// A root of what is read: where it may lie, and the moves from there to each place where it may be wanted.
  struct Source {
    TensorId root = -1;
    int32_t layer = -1;   // that decides where it lies; −1: it lies at the one place that there is
    int32_t operand = -1; // of an input that this layer reads first: where the layer wants it; −1: it makes the root
    std::vector<Sharding> held;
    std::vector<int64_t> cycles; // held × wanted
    std::vector<bool> isPlanned; // of these: exact
  };
  /// A layer's operand, or what goes round a loop before its first repetition.
  struct Use {
    TensorId read = -1;
    int64_t count = 1;    // repetitions
    int32_t reader = -1;  // layer
    int32_t operand = -1; // of it; −1: what goes round goes to where the layer leaves it
    std::vector<Source> sources;
    std::map<std::vector<size_t>, int64_t> exact; // by places of the sources and of what is wanted
    double exactCycles = 0, quickCycles = 0;      // of moves planned so far
    std::vector<int32_t> failures;                // per wanted place: moves planned in vain
    int32_t kind = -1;                         // of what is brought, where there is one source: equal ones share moves
    std::map<size_t, size_t> heldAt, wantedAt; // places by number of the sharding among all
  };

  void findMakers();
  const Loop *loopOf(size_t node) const;
  void addLayer(size_t node);
  std::vector<Distribution> optionsOf(const Nest &nest) const;
  void addOption(Layer &layer, const Distribution &distribution);
  void addUse(Use use);
  std::optional<Source> sourceOf(TensorId root) const;
  /// The layer and its operand that read a single input first, which lies as they want it.
  std::optional<std::pair<int32_t, int32_t>> firstReaderOf(TensorId input) const;
  static size_t placeOf(const Source &source, const Option &option) {
    return source.operand < 0 ? option.result : option.wanted[size_t(source.operand)];
  }
  const Sharding &heldAt(const Source &source, size_t place);
  std::vector<int64_t> quickMoves(const Use &use, const Source &source) const;
  const std::vector<Sharding> &wantedOf(const Use &use) const;
  size_t wantedBy(const Use &use, const Option &option) const {
    return use.operand < 0 ? 2 * option.result : option.wanted[size_t(use.operand)];
  }
  int64_t costOf(const Use &use, const Source &source, size_t held, size_t wanted) const;
  std::vector<size_t> placesOf(const Use &use, const std::vector<int32_t> &optionOf) const;
  int64_t exactTotal(const std::vector<int32_t> &optionOf, const RuledOut &ruledOut);
  /// Cycles of an option, out of reach where its kind is ruled out.
  int64_t cyclesOf(const Layer &layer, const Option &option, const RuledOut &ruledOut) const;
  int64_t exactMove(const Use &use, const std::vector<size_t> &places, int64_t bytes);
  /// Uses whose moves are the same ones where their tensors lie alike and are wanted alike get one kind.
  void findKind(Use &use);
  /// A planned move, for the use and all of its kind that have these places.
  void learn(Use &use, const std::vector<size_t> &places, int64_t cycles);
  static void addExact(Use &use, const std::vector<size_t> &places, int64_t cycles, int64_t others);
  int64_t othersCycles(const Use &use, const std::vector<size_t> &places) const;
  JointPlan planOf(const std::vector<int32_t> &optionOf) const;

  const Network &network;
  Views &views;
  const target::Target &target;
  const NetworkPlan &start;
  const Rectangle rectangle;
  const int64_t mostBytes; // of a nest's operands and result on a core
  const ConstantShare constants;
  MoveEstimates estimates;
  Lookahead lookahead;
  std::vector<int32_t> makers;  // per tensor: the node that makes it
  std::vector<int32_t> layerOf; // per node
  std::vector<Layer> layers;
  std::vector<Use> uses;
  std::map<std::pair<TensorId, size_t>, Sharding> inputPlaces; // by input, and place where its first reader wants it
  std::map<std::string, int32_t> kinds;                        // of uses, by what they bring
  std::vector<std::vector<size_t>> usesOf;                     // per kind
  Places allPlaces;                                            // of uses with a kind
  std::vector<int32_t> chosen;                                 // the last choice, per layer
  size_t planned = 0;                                          // moves
};

} // namespace wsc::spmd
