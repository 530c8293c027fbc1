// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Greedy in the order of the network: all ways to give rows and columns to the iterators of a nest are estimated, with
// the moves of the operands from where earlier choices left them. A candidate that lies as an operand lies already
// moves nothing. Where the moves of all candidates do not fit, the plan begins anew, and the nest that made the largest
// operand may not lie in that kind of place. Costs follow docs/Timing.md roughly; what decides are words on lines,
// distances and instruction set-ups.
#include "compiler/spmd/plan/Plan.h"

#include "compiler/spmd/moves/QuickEstimate.h"
#include "compiler/spmd/plan/Candidates.h"
#include "compiler/spmd/plan/Following.h"
#include "compiler/spmd/plan/LocalCycles.h"
#include "compiler/spmd/plan/Lookahead.h"
#include "compiler/spmd/plan/MoveEstimates.h"
#include "compiler/spmd/plan/Neutral.h"
#include "compiler/spmd/plan/PortBox.h"
#include "compiler/spmd/plan/PortSharding.h"
#include "compiler/spmd/sharding/Divide.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace wsc::spmd {

using namespace format;

namespace {

// Policy, in one place. Shares of SRAM for code, for the constants of all nests together.
constexpr int64_t kRearrangeCycles = 200; // of a quick estimate where the moved tensor has no pieces
constexpr int kBoxShare = 4;              // an input's box takes at most this part of SRAM
constexpr size_t kMostAhead = 64;         // candidates of a nest whose readers are looked at
constexpr int kMostExact = 24; // plans of a nest's moves: 4 for each candidate that moves by factors, 1 for another
constexpr double kCodeShare = 0.3, kConstantShare = 0.6;
constexpr int64_t kLeastConstantBytes = 512;
// Copies of constants of more bytes than this cost the file and who loads it more than they save.
constexpr int64_t kLargeConstant = int64_t(64) << 20, kMostCopies = 4;

/// Whether the digits of every dimension leave no gap: then each element lies on some core.
bool holdsAll(const Sharding &sharding) {
  for (size_t d = 0; d < sharding.dims.size(); ++d) {
    std::vector<std::pair<int64_t, int64_t>> digits; // step, count
    for (const LocalDigit &digit : sharding.dims[d].local)
      digits.emplace_back(digit.step, digit.count);
    for (const MeshDigit &digit : sharding.dims[d].mesh) {
      const int64_t cores = digit.axis == Axis::Row ? sharding.rectangle.rows : sharding.rectangle.cols;
      const int64_t most = ceilDiv(cores, digit.divisor);
      digits.emplace_back(digit.step, digit.modulus > 0 ? std::min(digit.modulus, most) : most);
    }
    std::sort(digits.begin(), digits.end());
    int64_t reach = 1;
    for (const auto &[step, count] : digits) {
      if (step < 0 || step > reach)
        return false;
      reach += step * (count - 1);
    }
    if (sharding.dims[d].base > 0 || sharding.dims[d].base + reach < sharding.shape[d])
      return false;
  }
  return true;
}

class PlanMaker {
public:
  PlanMaker(const Network &network, Views &views, const target::Target &target, const Rectangle &rectangle,
            const std::vector<Loop> &loops, PlanPolicy policy, EstimateCache &cache, const RuledOut &ruledOut)
      : network(network), views(views), target(target), rectangle(rectangle), policy(policy), cache(cache),
        ruledOut(ruledOut), estimates(network, views, rectangle, tensorBytes(target) / 3, cache),
        lookahead(network, views, target, rectangle, !policy.inputIsFree, tensorBytes(target)) {
    plan.loops = loops;
  }

  absl::StatusOr<NetworkPlan> make() {
    begin();
    for (const Loop &each : plan.loops)
      if (absl::Status status = rehearse(each); !status.ok())
        return status;
    placeInputs();
    countConstants();
    findLastUses();
    for (size_t n = 0; n < network.nodes.size(); ++n) {
      loop = loopOf(n);
      if (loop && n == loop->begin)
        enterLoop();
      if (const Nest *nest = std::get_if<Nest>(&network.nodes[n]))
        if (absl::Status status = place(*nest, n); !status.ok())
          return status;
      release(n);
      if (loop && n + 1 == loop->end)
        leaveLoop();
    }
    if (undecided >= 0)
      placeFlat(std::exchange(undecided, -1), rectangle);
    for (size_t n = 0; n < plan.nodeCycles.size(); ++n)
      plan.estimatedCycles += plan.nodeCycles[n] * (loopOf(n) ? loopOf(n)->count : 1);
    for (size_t t = 0; t < plan.held.size(); ++t)
      if (plan.held[t])
        plan.estimatedCycles += lookahead.leaving(TensorId(t), *plan.held[t]);
    plan.estimatedCycles += 8 * (rectangle.rows + rectangle.cols);
    return std::move(plan);
  }

  /// After an error: the distribution of an earlier nest that leaves a later one no way to its operands.
  const std::optional<std::pair<size_t, DistributionKind>> &toBlame() const { return blamed; }

private:
  struct Cost {
    int64_t cycles = 0, bytes = 0, constantBytes = 0;
  };

  void begin() {
    plan.rectangle = rectangle;
    plan.held.resize(network.tensors.size());
    plan.distributions.resize(network.nodes.size());
    plan.nodeCycles.resize(network.nodes.size(), 0);
  }

  /// Plans the body of a loop with slices before all else, as if whatever it reads lay where its first reader wants it:
  /// it runs many times, so what it reads and what goes round is laid out for it.
  absl::Status rehearse(const Loop &each) {
    if (each.slices.empty())
      return absl::OkStatus();
    PlanMaker alone(network, views, target, rectangle, plan.loops, policy, cache, ruledOut);
    alone.begin();
    alone.countConstants();
    alone.findLastUses();
    alone.loop = alone.loopOf(each.begin);
    std::set<TensorId> made;
    for (size_t n = each.begin; n < each.end; ++n)
      if (const Nest *nest = std::get_if<Nest>(&network.nodes[n])) {
        for (const Access &access : nest->operands)
          for (const View::Root &root : views.of(access.tensor).roots)
            if (root.tensor >= 0 && network.tensors[size_t(root.tensor)].kind != Tensor::Kind::Constant &&
                !made.contains(root.tensor) && !alone.plan.held[size_t(root.tensor)])
              alone.waiting.insert(root.tensor);
        if (absl::Status status = alone.place(*nest, n); !status.ok()) {
          blamed = alone.blamed;
          return status;
        }
        made.insert(nest->result);
        alone.release(n);
      }
    for (const Loop::Slice &slice : each.slices)
      if (const auto &held = alone.plan.held[size_t(slice.slice)]) {
        rehearsed.emplace(slice.slice, *held);
        lookahead.want(slice.stack, stackedSharding(*held, each.count));
      }
    for (const Loop::Carried &carried : each.carried)
      if (const auto &held = alone.plan.held[size_t(carried.made)]) {
        rehearsed.emplace(carried.value, *held);
        lookahead.want(carried.made, *held);
      }
    return absl::OkStatus();
  }

  const Loop *loopOf(size_t node) const {
    for (const Loop &each : plan.loops)
      if (each.holds(node))
        return &each;
    return nullptr;
  }

  /// What goes round, and slices, lie as rehearsed; else, what goes round stays where a nest has put it at first, and
  /// lies as its first reader wants it where no nest has.
  void enterLoop() {
    for (const auto &[tensor, held] : rehearsed)
      if (isOf(*loop, tensor))
        settle(tensor, held);
    for (const Loop::Carried &carried : loop->carried)
      if (rehearsed.contains(carried.value))
        continue;
      else if (isResult.contains(carried.initial)) {
        plan.held[size_t(carried.value)] = plan.held[size_t(carried.initial)];
        live[carried.value] = bytesOf(*plan.held[size_t(carried.value)], carried.value);
      } else {
        waiting.insert(carried.value);
      }
    for (const Loop::Slice &slice : loop->slices)
      if (!rehearsed.contains(slice.slice))
        waiting.insert(slice.slice);
  }

  static bool isOf(const Loop &each, TensorId tensor) {
    return std::any_of(each.slices.begin(), each.slices.end(),
                       [&](const Loop::Slice &slice) { return slice.slice == tensor; }) ||
           std::any_of(each.carried.begin(), each.carried.end(),
                       [&](const Loop::Carried &carried) { return carried.value == tensor; });
  }

  void leaveLoop() {
    while (!waiting.empty())
      settle(*waiting.begin(), flatSharding(rectangle, network.tensors[size_t(*waiting.begin())].elements(),
                                            granuleOf(network.tensors[size_t(*waiting.begin())].type)));
    for (const Loop::Collected &collected : loop->collected) {
      plan.held[size_t(collected.stack)] = stackedSharding(*plan.held[size_t(collected.made)], loop->count);
      live[collected.stack] = bytesOf(*plan.held[size_t(collected.stack)], collected.stack);
    }
  }

  void settle(TensorId tensor, const Sharding &held) {
    waiting.erase(tensor);
    plan.held[size_t(tensor)] = held;
    const bool isSlice = std::any_of(loop->slices.begin(), loop->slices.end(),
                                     [&](const Loop::Slice &slice) { return slice.slice == tensor; });
    live[tensor] = bytesOf(held, tensor) * (isSlice ? loop->count : 1);
  }

  /// Tensors without a place that the nest reads get one.
  void settleOperands(const Nest &nest, const Distribution &distribution) {
    for (const Access &access : nest.operands)
      if (waiting.contains(access.tensor)) {
        const Sharding wanted =
            operandSharding(nest, access, network.tensors[size_t(access.tensor)].shape, distribution);
        if (holdsAll(wanted))
          settle(access.tensor, wanted);
      }
    for (const Access &access : nest.operands)
      for (const View::Root &root : views.of(access.tensor).roots)
        if (waiting.contains(root.tensor)) {
          const Tensor &tensor = network.tensors[size_t(root.tensor)];
          settle(root.tensor, flatSharding(rectangle, tensor.elements(), granuleOf(tensor.type)));
        }
  }

  void placeInputs() {
    // A single input lies as its first reader wants it, where that has a form; several ones flat, each on rows of its
    // own, in proportion to their words.
    if (network.inputs.size() == 1) {
      undecided = network.inputs[0].tensor;
    } else {
      std::vector<int64_t> words;
      int64_t total = 0;
      for (const NamedTensor &input : network.inputs) {
        const Tensor &tensor = network.tensors[size_t(input.tensor)];
        words.push_back(std::max<int64_t>(1, tensor.elements() * elementBytes(tensor.type) / 4));
        total += words.back();
      }
      int32_t row = 0;
      for (size_t i = 0; i < words.size(); ++i) {
        const int32_t left = rectangle.rows - row, others = int32_t(words.size() - 1 - i);
        int32_t rows = int32_t(double(words[i]) / double(std::max<int64_t>(1, total)) * left);
        total -= words[i];
        rows = std::max(1, std::min(rows, left - others));
        placeFlat(network.inputs[i].tensor, {row, 0, rows, rectangle.cols});
        row += rows;
      }
    }
    for (const State &state : network.states)
      if (state.read >= 0)
        plan.held[size_t(state.read)] =
            flatSharding(rectangle, network.tensors[size_t(state.read)].elements(), granuleOf(state.type));
  }

  void placeFlat(TensorId tensor, const Rectangle &where) {
    const Tensor &held = network.tensors[size_t(tensor)];
    plan.held[size_t(tensor)] = flatSharding(where, held.elements(), granuleOf(held.type));
    live[tensor] = bytesOf(*plan.held[size_t(tensor)], tensor);
  }

  /// Where the undecided input lies best for a reader that wants it so.
  const Sharding &placeFor(const Access &access, const Sharding &wanted, bool fillMatters) {
    auto [found, added] =
        inputPlaces.emplace(std::pair(access.tensor, absl::StrCat(print(wanted), fillMatters ? "f" : "")), Sharding());
    if (added)
      found->second = inputSharding(network, views, undecided, access.tensor, wanted, fillMatters, rectangle,
                                    tensorBytes(target) / kBoxShare);
    return found->second;
  }

  /// The undecided input lies as the nest's first access to it has it.
  void decideInput(const Nest &nest, const Distribution &distribution) {
    for (const Access &access : nest.operands)
      if (isUndecided(access.tensor)) {
        const Tensor &tensor = network.tensors[size_t(access.tensor)];
        const Sharding held = placeFor(access, operandSharding(nest, access, tensor.shape, distribution),
                                       paddingMatters(network, nest, access, distribution));
        const TensorId input = std::exchange(undecided, -1);
        plan.held[size_t(input)] = held;
        live[input] = bytesOf(held, input);
        return;
      }
  }

  bool readsUndecided(const Nest &nest) {
    return std::any_of(nest.operands.begin(), nest.operands.end(),
                       [&](const Access &access) { return isUndecided(access.tensor); });
  }

  void countConstants() {
    for (const Tensor &tensor : network.tensors)
      if (tensor.kind == Tensor::Kind::Constant)
        allConstantBytes += tensor.elements() * elementBytes(tensor.type);
  }

  void findLastUses() {
    std::map<TensorId, size_t> made; // nests' results
    for (size_t n = 0; n < network.nodes.size(); ++n)
      if (const Nest *nest = std::get_if<Nest>(&network.nodes[n])) {
        made.emplace(nest->result, n);
        isResult.insert(nest->result);
        for (const Access &access : nest->operands)
          for (const View::Root &root : views.of(access.tensor).roots)
            if (root.tensor >= 0) {
              // What a repetition does not make is there for the next one.
              const Loop *around = loopOf(n);
              const auto found = made.find(root.tensor);
              const bool isOwn = around && found != made.end() && around->holds(found->second);
              lastUse[root.tensor] = around && !isOwn ? around->end - 1 : n;
            }
      }
    auto keep = [&](TensorId tensor) {
      for (const View::Root &root : views.of(tensor).roots)
        if (root.tensor >= 0)
          lastUse[root.tensor] = network.nodes.size();
    };
    for (const NamedTensor &output : network.outputs)
      keep(output.tensor);
    for (const State &state : network.states)
      if (state.written >= 0)
        keep(state.written);
    for (const Loop &each : plan.loops) {
      auto until = [&](TensorId tensor, size_t node) {
        for (const View::Root &root : views.of(tensor).roots)
          if (root.tensor >= 0)
            lastUse[root.tensor] = std::max(lastUse[root.tensor], node);
      };
      for (const Loop::Carried &carried : each.carried) {
        until(carried.initial, each.begin);
        until(carried.made, each.end - 1);
      }
      for (const Loop::Slice &slice : each.slices)
        until(slice.stack, each.begin);
    }
    for (size_t t = 0; t < plan.held.size(); ++t)
      if (plan.held[t])
        live[TensorId(t)] = bytesOf(*plan.held[t], TensorId(t));
  }

  void release(size_t node) {
    std::erase_if(live, [&](const auto &entry) { return lastUse[entry.first] <= node; });
  }

  int64_t bytesOf(const Sharding &sharding, TensorId tensor) const {
    return sharding.localElements() * elementBytes(network.tensors[size_t(tensor)].type);
  }

  /// " (name bytes, …)" of the largest tensors that live now.
  std::string longestLives() const {
    std::vector<std::pair<int64_t, TensorId>> all;
    for (const auto &[tensor, bytes] : live)
      all.emplace_back(-bytes, tensor);
    std::sort(all.begin(), all.end());
    constexpr size_t kMostNamed = 4;
    std::string text;
    for (size_t i = 0; i < std::min(all.size(), kMostNamed); ++i)
      absl::StrAppend(&text, text.empty() ? " (" : ", ", network.tensors[size_t(all[i].second)].name, " ",
                      -all[i].first);
    return text.empty() ? text : text + (all.size() > kMostNamed ? ", …)" : ")");
  }

  absl::Status place(const Nest &nest, size_t number) {
    int64_t others = constantBytes;
    for (const auto &[tensor, bytes] : live)
      others += bytes;
    const int64_t limit = tensorBytes(target) - others;
    struct Candidate {
      Distribution distribution;
      Cost cost;
      int64_t quick = 0, excess = 0; // cycles with moves by their quick estimate; constants beyond their share
      int64_t after = 0;             // cycles that the result's place costs those that read it
    };
    std::vector<Candidate> candidates;
    const int64_t share = constantLimit(nest);
    int64_t leastBytes = INT64_MAX;
    for (Distribution &distribution : candidatesFor(nest)) {
      if (ruledOut.contains({number, kindOf(distribution)}))
        continue;
      Candidate candidate{std::move(distribution), {}};
      candidate.cost = localCost(nest, candidate.distribution);
      candidate.excess = std::max<int64_t>(0, candidate.cost.constantBytes - share);
      leastBytes = std::min(leastBytes, candidate.cost.bytes);
      if (candidate.cost.bytes > limit)
        continue;
      candidate.quick = candidate.cost.cycles + quickMoves(nest, candidate.distribution);
      candidates.push_back(std::move(candidate));
    }
    // The best ones by quick estimates are planned exactly.
    auto sort = [&] {
      std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
        return std::pair(a.excess, a.quick + a.after) < std::pair(b.excess, b.quick + b.after);
      });
    };
    sort();
    const std::vector<int64_t> &shape = network.tensors[size_t(nest.result)].shape;
    const size_t ahead = std::min(candidates.size(), kMostAhead);
    int64_t mostAfter = 0;
    for (size_t i = 0; i < ahead; ++i) {
      candidates[i].after = lookahead.after(nest.result, resultSharding(nest, shape, candidates[i].distribution));
      mostAfter = std::max(mostAfter, candidates[i].after);
    }
    // The others are there for the case that none of these fits or moves by factors.
    for (size_t i = ahead; i < candidates.size(); ++i)
      candidates[i].after = mostAfter;
    sort();
    const Distribution *best = nullptr;
    Cost bestCost;
    int64_t bestExcess = 0, bestTotal = INT64_MAX; // cycles with those of the readers
    int looked = 0;
    bool isImpossible = false; // some candidate has a move that takes too long to plan
    for (Candidate &candidate : candidates) {
      if (best && (candidate.excess > bestExcess || looked >= kMostExact))
        break;
      if (candidate.cost.cycles + candidate.after >= bestTotal)
        continue;
      // Moves element by element are no reason to stop looking.
      looked += addMoves(nest, candidate.distribution, bestTotal - candidate.after, candidate.cost) ? 4 : 1;
      isImpossible |= candidate.cost.cycles >= kImpossibleMove;
      if (candidate.cost.bytes > limit || candidate.cost.cycles >= kImpossibleMove ||
          candidate.cost.cycles + candidate.after >= bestTotal)
        continue;
      bestTotal = candidate.cost.cycles + candidate.after;
      best = &candidate.distribution;
      bestCost = candidate.cost;
      bestExcess = candidate.excess;
    }
    if (!best && leastBytes <= limit)
      blame(nest);
    if (!best && isImpossible)
      return absl::ResourceExhaustedError(
          absl::StrCat("layer ", nest.name, " reads elements that are rearranged one by one, more than ",
                       kMostByElement, " of them on a mesh of ", rectangle.rows, "x", rectangle.cols));
    if (!best)
      return absl::ResourceExhaustedError(
          absl::StrCat("layer ", nest.name, " needs ", leastBytes, " bytes on a core, beside ", others, " bytes of ",
                       live.size(), " tensors that are still needed", longestLives(), " and of constants; ",
                       tensorBytes(target), " are left to tensors on a mesh of ", rectangle.rows, "x", rectangle.cols,
                       "; use a target with more cores or more SRAM"));
    const Distribution chosen = *best;
    if (readsUndecided(nest))
      decideInput(nest, chosen);
    settleOperands(nest, chosen);
    plan.distributions[number] = chosen;
    plan.nodeCycles[number] = bestCost.cycles;
    plan.held[size_t(nest.result)] = resultSharding(nest, network.tensors[size_t(nest.result)].shape, chosen);
    live[nest.result] = bytesOf(*plan.held[size_t(nest.result)], nest.result);
    constantBytes += bestCost.constantBytes;
    return absl::OkStatus();
  }

  /// The nest fits, but not what brings its operands: the place of the largest one is to blame.
  void blame(const Nest &nest) {
    int64_t most = 0;
    for (const Access &access : nest.operands)
      for (const View::Root &root : views.of(access.tensor).roots)
        for (size_t n = 0; root.tensor >= 0 && n < network.nodes.size(); ++n)
          if (const Nest *maker = std::get_if<Nest>(&network.nodes[n]);
              maker && maker->result == root.tensor && network.tensors[size_t(root.tensor)].elements() > most &&
              plan.held[size_t(root.tensor)]) {
            most = network.tensors[size_t(root.tensor)].elements();
            blamed = std::pair(n, kindOf(plan.distributions[n]));
          }
  }

  int64_t constantLimit(const Nest &nest) {
    int64_t own = 0;
    for (const Access &access : nest.operands)
      if (isConstant(access.tensor))
        own += network.tensors[size_t(access.tensor)].elements() *
               elementBytes(network.tensors[size_t(access.tensor)].type) * copiesOf(access.tensor);
    const double share = double(own) / double(std::max<int64_t>(1, allConstantBytes));
    int64_t limit = int64_t(kConstantShare * double(tensorBytes(target)) * share);
    if (own > kLargeConstant)
      limit = std::min(limit, kMostCopies * own / (int64_t(rectangle.rows) * rectangle.cols));
    return std::max<int64_t>(kLeastConstantBytes, limit);
  }

  /// Constants that a loop's body names once: one for each repetition where they differ.
  int64_t copiesOf(TensorId tensor) const { return loop && loop->constants.contains(tensor) ? loop->count : 1; }

  bool isConstant(TensorId tensor) {
    for (const View::Root &root : views.of(tensor).roots)
      if (root.tensor >= 0 && network.tensors[size_t(root.tensor)].kind != Tensor::Kind::Constant)
        return false;
    return true;
  }

  std::vector<Distribution> candidatesFor(const Nest &nest) {
    std::vector<AxisUse> rows, cols;
    std::vector<Distribution> followed;
    for (const Access &access : nest.operands) {
      const auto &held = plan.held[size_t(access.tensor)];
      if (!views.of(access.tensor).isRoot() || !held)
        continue;
      const FollowedUses uses = followedUses(network, nest, access, *held);
      for (const auto &[use, all] : {std::pair(&uses.rows, &rows), std::pair(&uses.cols, &cols)})
        if (*use) {
          all->push_back(**use);
          for (const AxisUse &each : refined(nest, **use))
            all->push_back(each);
        }
      if (auto follow = following(network, nest, access, *held))
        followed.push_back(*std::move(follow));
    }
    std::vector<Distribution> candidates =
        candidatesOf(network, views, nest, rectangle, !policy.inputIsFree, rows, cols);
    for (Distribution &follow : followed)
      if (std::find(candidates.begin(), candidates.end(), follow) == candidates.end())
        candidates.push_back(std::move(follow));
    return candidates;
  }

  //===- Cost
  //-----------------------------------------------------------------------------------------------------------===//

  bool isUndecided(TensorId tensor) {
    const std::vector<View::Root> &roots = views.of(tensor).roots;
    return undecided >= 0 &&
           std::any_of(roots.begin(), roots.end(), [&](const View::Root &root) { return root.tensor == undecided; });
  }

  bool lies(TensorId tensor, const Sharding &sharding) {
    return views.of(tensor).isRoot() && plan.held[size_t(tensor)] && *plan.held[size_t(tensor)] == sharding;
  }

  int64_t quickMoves(const Nest &nest, const Distribution &distribution) {
    int64_t cycles = 0;
    for (const Access &access : nest.operands) {
      if (isConstant(access.tensor) || waiting.contains(access.tensor))
        continue;
      const Tensor &tensor = network.tensors[size_t(access.tensor)];
      const Sharding sharding = operandSharding(nest, access, tensor.shape, distribution);
      const View &view = views.of(access.tensor);
      if (policy.inputIsFree && isUndecided(access.tensor))
        continue;
      std::optional<Sharding> held = plan.held[size_t(access.tensor)];
      if (access.tensor == undecided)
        held =
            portBox(sharding, rectangle).value_or(flatSharding(rectangle, tensor.elements(), granuleOf(tensor.type)));
      if (view.isRoot() && held && held->shape == sharding.shape) {
        if (*held != sharding)
          cycles += quickMoveCycles(*held, sharding, rectangle, elementBytes(tensor.type));
        continue;
      }
      cycles += quickView(access.tensor, sharding);
    }
    return cycles;
  }

  /// Of what is rearranged on the way.
  int64_t quickView(TensorId tensor, const Sharding &wanted) {
    const View &view = views.of(tensor);
    const int64_t bytes = elementBytes(network.tensors[size_t(tensor)].type);
    int64_t cycles = 0;
    auto found = pieces.find(tensor);
    if (found == pieces.end())
      found = pieces.emplace(tensor, views.piecesOf(tensor)).first;
    if (found->second) {
      for (const StridedPiece &piece : *found->second)
        if (const TensorId root = view.roots[size_t(piece.source)].tensor; root >= 0 && plan.held[size_t(root)])
          cycles += quickPieceCycles(*plan.held[size_t(root)], wanted, piece, rectangle, bytes);
      return cycles;
    }
    // As if each root went to where the view's box has as many elements.
    cycles += 2 * wanted.localElements() + kRearrangeCycles;
    for (const View::Root &root : view.roots)
      if (root.tensor >= 0)
        cycles += network.tensors[size_t(root.tensor)].elements() / std::max(rectangle.rows, rectangle.cols);
    return cycles;
  }

  /// Without moves: what the cores compute and reduce among themselves, and where constants and results lie.
  Cost localCost(const Nest &nest, const Distribution &distribution) {
    Cost cost;
    for (const Access &access : nest.operands) {
      const Tensor &tensor = network.tensors[size_t(access.tensor)];
      const Sharding sharding = operandSharding(nest, access, tensor.shape, distribution);
      const int64_t bytes = sharding.localElements() * elementBytes(tensor.type);
      if (isConstant(access.tensor))
        cost.constantBytes += bytes * copiesOf(access.tensor);
      else if (!lies(access.tensor, sharding))
        cost.bytes += bytes;
    }
    cost.cycles = localCycles(nest, distribution, target);
    int64_t parallel = 1;
    for (int32_t k = 0; k < nest.numParallel; ++k)
      parallel *= blockOf(nest, distribution, k);
    cost.bytes += parallel * elementBytes(network.tensors[size_t(nest.result)].type);
    if (nest.reduction) {
      const int64_t sums = parallel * elementBytes(nest.reduction->type);
      cost.bytes += sums * (1 + isReduced(nest, distribution, Axis::Row) + isReduced(nest, distribution, Axis::Col));
    }
    cost.bytes += cost.constantBytes;
    return cost;
  }

  /// Adds the moves of the operands to where the distribution wants them; gives up beyond `most` cycles.
  /// Whether all go by factors.
  bool addMoves(const Nest &nest, const Distribution &distribution, int64_t most, Cost &cost) {
    int64_t scratch = 0;
    bool byFactors = true;
    for (size_t k = 0; k < nest.operands.size() && cost.cycles <= most; ++k) {
      const Access &access = nest.operands[k];
      if (isConstant(access.tensor) || waiting.contains(access.tensor))
        continue;
      const Tensor &tensor = network.tensors[size_t(access.tensor)];
      const Sharding sharding = operandSharding(nest, access, tensor.shape, distribution);
      if (lies(access.tensor, sharding))
        continue;
      const bool matters = paddingMatters(network, nest, access, distribution);
      MoveEstimate estimate;
      if (isUndecided(access.tensor)) {
        // As if the input lay as its port can deliver it to this nest.
        plan.held[size_t(undecided)] = placeFor(access, sharding, matters);
        estimate = estimates.fresh(access.tensor, sharding, matters, plan.held);
        plan.held[size_t(undecided)].reset();
        if (policy.inputIsFree && estimate.cycles < kImpossibleMove)
          estimate.cycles = 0;
      } else {
        estimate = estimates.of(access.tensor, sharding, matters, plan.held);
      }
      cost.cycles += estimate.cycles;
      cost.bytes += estimate.tableBytes;
      scratch = std::max(scratch, estimate.scratchBytes);
      byFactors &= !estimate.isByElement;
    }
    cost.bytes += scratch;
    return byFactors;
  }

  const Network &network;
  Views &views;
  const target::Target &target;
  const Rectangle rectangle;
  const PlanPolicy policy;
  EstimateCache &cache;
  const RuledOut &ruledOut;
  std::optional<std::pair<size_t, DistributionKind>> blamed;
  MoveEstimates estimates;
  Lookahead lookahead;
  NetworkPlan plan;
  std::map<TensorId, std::optional<std::vector<StridedPiece>>> pieces; // of views
  std::map<TensorId, size_t> lastUse;
  std::map<TensorId, int64_t> live;                                 // bytes on a core
  std::map<std::pair<TensorId, std::string>, Sharding> inputPlaces; // by what reads the input, and how
  TensorId undecided = -1;                                          // an input whose place its first reader decides
  int64_t constantBytes = 0, allConstantBytes = 0;
  const Loop *loop = nullptr;             // around the node in hand
  std::set<TensorId> waiting;             // of the loop: their first reader decides where they lie
  std::set<TensorId> isResult;            // of nests
  std::map<TensorId, Sharding> rehearsed; // what loops begin with
};

} // namespace

int64_t tensorBytes(const target::Target &target) {
  return int64_t(double(target.usableSramBytes()) * (1 - kCodeShare));
}

absl::StatusOr<NetworkPlan> planNetwork(const Network &network, Views &views, const target::Target &target,
                                        const Rectangle &rectangle, const std::vector<Loop> &loops, PlanPolicy policy,
                                        EstimateCache *cache, RuledOut ruledOut) {
  EstimateCache own;
  absl::Status first;
  for (int tries = 0;; ++tries) {
    PlanMaker maker(network, views, target, rectangle, loops, policy, cache ? *cache : own, ruledOut);
    auto plan = maker.make();
    if (plan.ok())
      return plan;
    first.Update(plan.status());
    if (!maker.toBlame() || tries >= policy.mostRetries || !ruledOut.insert(*maker.toBlame()).second)
      return first;
  }
}

Sharding stackedSharding(Sharding each, int64_t count) {
  each.shape.insert(each.shape.begin(), count);
  DimSharding whole;
  whole.local = {{count, 1}};
  each.dims.insert(each.dims.begin(), std::move(whole));
  return each;
}

} // namespace wsc::spmd
