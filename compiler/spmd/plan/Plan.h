// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which cores do what: the rectangle of a network, the distribution of every nest, the sharding of every tensor at
// rest.
#pragma once

#include "compiler/spmd/plan/Candidates.h"
#include "compiler/spmd/plan/Distribution.h"
#include "compiler/spmd/plan/Loop.h"
#include "compiler/spmd/plan/MoveEstimates.h"
#include "compiler/spmd/plan/Views.h"
#include "runtime/target/Target.h"

#include "absl/status/statusor.h"

#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace wsc::spmd {

/// Where the one value lies that goes round a loop without slices: where the nodes before have left it, or where a
/// repetition is the quickest, of as many places as the body is planned for. Both: the quicker plan of the two.
enum class LoopStarts { AsReached, Chosen, Both };

/// What choices take into account.
struct PlanPolicy {
  /// An input's way from where its port delivers it costs nothing: layers behind it lie better, where that way is
  /// short. Then windows' iterators may be spread over cores, too.
  bool inputIsFree = true;
  /// Plans begun anew because moves leave a nest no place.
  int mostRetries = 0;
  LoopStarts starts = LoopStarts::Both;
  /// Inputs lie flat over the rectangle.
  bool inputsAreFlat = false;
  /// Bytes on a core for the constants of all nests, kept free from the first nest on. They are there while any nest
  /// runs, but a plan knows only those of the nests before.
  int64_t reservedBytes = 0;
  /// Bytes on a core that no nest may count on: what the program of an earlier plan needed beyond its estimates.
  /// Negative: bytes of the share for code that nests may count on.
  int64_t marginBytes = 0;
  /// Candidates of each nest; where none fits, all are looked at.
  CandidateRange range = CandidateRange::Usual;
  /// Lines may pick (moves/LinePick.h): quick, but tables of all picks are in SRAM from the start.
  bool picks = true;
  /// Lines may gather by streams (collectives/SegmentGather.h): quicker than buses, but of families of their own, so
  /// that the body of a loop may need several configurations.
  bool gathers = true;
  /// Lines of programs may shift (collectives/SegmentShift.h): the target has a filter for each input queue. Plans
  /// count on windows: with estimates of shifts, greedy choices for convolutions lead to larger rectangles that save
  /// little.
  bool shifts = true;
};

/// What planning may use of the host, and until when.
struct PlanHost {
  int threads = 0; // 0: all; the result does not depend on them
  /// Asked between plans and between programs, on the thread that called; true ends the work.
  std::function<bool()> cancelled = {};

  absl::Status goesOn() const {
    return cancelled && cancelled() ? absl::CancelledError("the compilation was cancelled") : absl::OkStatus();
  }
};

struct NetworkPlan {
  Rectangle rectangle; // (0, 0, rows, cols): its first column is the mesh's
  /// Per tensor: inputs, states, results of nests, and what loops make. A stack has its first dimension whole on every
  /// core.
  std::vector<std::optional<Sharding>> held;
  std::vector<Distribution> distributions; // per node; of remaps without meaning
  std::vector<int64_t> nodeCycles;         // per node, estimated
  int64_t estimatedCycles = 0;
  int64_t constantBytes = 0; // on a core, of all nests
  int64_t tableBytes = 0;    // of all moves, if no two have one in common
  size_t plannedMoves = 0;   // exactly, of joint choices
  std::vector<Loop> loops;   // of the network
  PlanPolicy policy;         // that it was made with; `starts` is one of the two
};

/// Kinds of distributions that nodes may not take.
using RuledOut = std::set<std::pair<size_t, DistributionKind>>;

/// Bytes of SRAM that a plan may give to tensors: what the target leaves to programs, less a share for code.
int64_t tensorBytes(const target::Target &target);
/// Of these, what an input's box may take.
int64_t boxBytes(const target::Target &target);
/// As much of the share for code as a program may do without.
int64_t spareCodeBytes(const target::Target &target);

/// The cheapest distribution of each nest in the order of the network, by estimate, given where its operands lie.
/// Errors: ResourceExhausted, with the nest and the bytes its best candidate needs on a core.
absl::StatusOr<NetworkPlan> planNetwork(const Network &network, Views &views, const target::Target &target,
                                        const Rectangle &rectangle, const std::vector<Loop> &loops = {},
                                        PlanPolicy policy = {}, EstimateCache *cache = nullptr, RuledOut ruledOut = {});

/// Rectangles worth trying, the most promising first (by the estimate of their plans); at least one. Plans begin anew
/// only where no rectangle has one otherwise, and count on a part of the share for code only where that does not help.
/// On `threads` of the host's threads (0: all); the result does not depend on them.
/// Errors: as planNetwork of the largest one, when none holds the network.
absl::StatusOr<std::vector<NetworkPlan>> planCandidates(const Network &network, const Views &views,
                                                        const target::Target &target, const std::vector<Loop> &loops,
                                                        PlanPolicy policy, EstimateCaches &caches,
                                                        const PlanHost &host);

/// A stack of `count` tensors that lie so: all elements of the first dimension on each core.
Sharding stackedSharding(Sharding each, int64_t count);

} // namespace wsc::spmd
