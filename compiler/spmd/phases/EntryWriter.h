// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the code of an entry, node by node, into phases: inputs, then for each nest the moves of its operands, the
// local part, the reduction over lines and what follows it (EntryWriter.cpp); moves and constants (EntryMoves.cpp),
// where phases end (PhaseCuts.cpp), inputs, outputs and variables (EntryPorts.cpp).
#pragma once

#include "compiler/spmd/moves/BestMove.h"
#include "compiler/spmd/phases/Constants.h"
#include "compiler/spmd/phases/Phase.h"
#include "compiler/spmd/phases/States.h"
#include "compiler/spmd/plan/Plan.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <functional>

namespace wsc::spmd {

struct LocalNest;

class EntryWriter {
public:
  EntryWriter(const Network &network, Views &views, const target::Target &target, const NetworkPlan &plan,
              ConstantTable &constants, const StateTable &states)
      : network(network), views(views), target(target), plan(plan), constants(constants), states(states) {}

  absl::Status write();

  // What write() does one after another; SampleGroups.h puts it together in another way.
  /// Begins the first phase.
  void begin();
  void readInputs();
  absl::Status writeNodes();
  absl::Status writeOutputs();
  /// Brings a tensor to where `place`, which no node makes, lies.
  absl::Status bringTo(TensorId tensor, TensorId place);
  /// Another phase, of the loop in hand if there is one.
  void beginPhase();

  std::vector<Phase> phases;

private:
  struct Operand {
    Place place;
    Sharding sharding;
  };
  /// What a move reads: a tensor at rest, or a resident.
  struct SourceName {
    TensorId tensor = -1;
    int32_t resident = -1;
  };
  /// Places that are pinned while it lives are unpinned behind it.
  class Pins {
  public:
    explicit Pins(EntryWriter &writer) : writer(writer), before(writer.pinned.size()) {}
    ~Pins() { writer.pinned.resize(before); }

  private:
    EntryWriter &writer;
    const size_t before;
  };

  /// Brings what goes round, and the stacks of which repetitions take slices, to where the body finds them.
  absl::Status openLoop();
  /// What goes round takes its next value.
  absl::Status closeLoop();
  /// Keeps what a repetition has made in its element of a stack.
  void collect(TensorId made);
  /// Stacks become tensors like others.
  void unpackCollected(const Loop &loop);
  /// Bytes from one element of a stack to the next where iterations have windows of it.
  int64_t windowBytes(TensorId each) const;
  /// This phase's buffer named `key`: the window of an iteration, or all of the stack.
  int16_t windowOf(TensorId key, TensorId each);
  int16_t wholeStack(TensorId key, TensorId each, int64_t count);
  /// Copies `count` times what a core holds of `each`; `to` and `from` are byte distances.
  void copyStack(TensorId each, int64_t count, Place to, int64_t toStep, Place from, int64_t fromStep);
  absl::StatusOr<int32_t> placeConstant(TensorId tensor, const Sharding &to, double padding);
  void cutIfLarge();
  Phase &phase() { return phases.back(); }
  Code &code() { return phases.back().code; }
  int16_t bufferOf(TensorId tensor);
  int16_t constantBuffer(int32_t resident);
  ConstantMaker constantMaker();
  absl::Status writeNest(const Nest &nest, const Distribution &distribution, const std::string &where);
  absl::Status reduceParts(const Nest &nest, const Distribution &distribution, LocalNest &local, int64_t elements,
                           const std::function<void()> &locate);
  absl::StatusOr<Operand> bring(const Nest &nest, size_t number, const Distribution &distribution);
  absl::StatusOr<Place> move(TensorId tensor, const Sharding &to, double padding, bool fillMatters);
  /// A source that holds one value everywhere, as element `id` of the move.
  void addFill(double value, format::ElementType type, int64_t id, MoveProblem &problem,
               std::vector<SourceName> &sources);
  /// The resident of a constant that is a source of a move. Errors: one that differs from repetition to repetition.
  absl::StatusOr<int32_t> movedConstant(TensorId tensor, const Sharding &lies);
  /// Begins a phase where what `append` appends has no room in this one: colours, queues, code.
  absl::Status makeRoom(const std::function<void(Code &, const ConstantMaker &)> &append);
  /// Begins a phase; pinned places move into it.
  void cut();
  /// Counts cycles of a move to this phase.
  void addMoved(int64_t cycles);
  /// The buffer of this phase that holds what `buffer` of an earlier one does.
  int16_t carried(Phase &from, int16_t buffer);
  int16_t carry(TensorId tensor, const format::Buffer &held);
  absl::Status writeStates();
  /// An output leaves as it lies in `box`, whose last row and column may hold less than the others.
  absl::Status writeOutputBox(int32_t output, const Sharding &box, format::ElementType type, const Place &place);
  bool isConstant(TensorId tensor);

  const Network &network;
  Views &views;
  const target::Target &target;
  const NetworkPlan &plan;
  ConstantTable &constants;
  const StateTable &states;
  std::map<std::string, int32_t> placed;  // constants at rest by tensor, sharding and padding: their residents
  std::map<TensorId, int32_t> stateReads; // tensors that are the values of variables
  std::map<int32_t, int64_t> windows;     // residents of which each repetition of the loop sees so many bytes
  const Loop *loop = nullptr;             // whose body is being written
  std::map<TensorId, TensorId> stackKeys; // stacks that loops make → names of what iterations have windows of
  std::vector<Place *> pinned;            // places that a cut must keep
  int64_t movedCycles = 0;                // of the nest in hand, counted to phases already
  int32_t numCarried = 0;                 // tensors beyond the network's that cuts made
};

} // namespace wsc::spmd
