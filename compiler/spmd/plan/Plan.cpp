// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Greedy in the order of the network: all ways to give rows and columns to the iterators of a nest are estimated, with
// the moves of the operands from where earlier choices left them. A candidate that lies as an operand lies already
// moves nothing. Costs follow docs/Timing.md roughly; what decides are words on lines, distances and instruction
// set-ups.
#include "compiler/spmd/plan/Plan.h"

#include "compiler/spmd/plan/Neutral.h"
#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <set>

namespace wsc::spmd {

using namespace format;

namespace {

// Policy, in one place. Cycles per core of a line (a turn in both directions), of a stage besides, of an instruction's
// set-up with its loop; shares of SRAM for code, for the constants of all nests together.
constexpr int64_t kTurnCycles = 10, kStageCycles = 120, kInstructionCycles = 20;
constexpr double kCodeShare = 0.3, kConstantShare = 0.6;
constexpr int64_t kLeastConstantBytes = 512;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool has(const Sharding &sharding, Axis axis) {
  for (const DimSharding &dim : sharding.dims)
    for (const MeshDigit &digit : dim.mesh)
      if (digit.axis == axis)
        return true;
  return false;
}

class PlanMaker {
public:
  PlanMaker(const Network &network, Views &views, const target::Target &target, const Rectangle &rectangle,
            const std::optional<Loop> &loop)
      : network(network), views(views), target(target), rectangle(rectangle) {
    plan.loop = loop;
  }

  absl::StatusOr<NetworkPlan> make() {
    plan.rectangle = rectangle;
    plan.held.resize(network.tensors.size());
    plan.distributions.resize(network.nodes.size());
    plan.nodeCycles.resize(network.nodes.size(), 0);
    placeInputs();
    countConstants();
    findLastUses();
    for (size_t n = 0; n < network.nodes.size(); ++n) {
      if (plan.loop && plan.loop->repeats(n))
        continue;
      if (const Nest *nest = std::get_if<Nest>(&network.nodes[n]))
        if (absl::Status status = place(*nest, n); !status.ok())
          return status;
      release(n);
      // What goes round stays where it was at first.
      if (plan.loop && n + 1 == plan.loop->begin + plan.loop->period)
        for (const Loop::Carried &carried : plan.loop->carried) {
          plan.held[size_t(carried.last)] = plan.held[size_t(carried.initial)];
          live[carried.last] = live[carried.initial];
          live.erase(carried.initial);
        }
    }
    for (size_t n = 0; n < plan.nodeCycles.size(); ++n)
      plan.estimatedCycles += plan.nodeCycles[n] * (inLoop(n) ? plan.loop->count : 1);
    plan.estimatedCycles += 2 * (rectangle.rows + rectangle.cols) * kTurnCycles;
    return std::move(plan);
  }

private:
  struct Cost {
    int64_t cycles = 0, bytes = 0, constantBytes = 0;
  };

  bool inLoop(size_t node) const {
    return plan.loop && node >= plan.loop->begin && node < plan.loop->begin + plan.loop->period;
  }

  void placeInputs() {
    // Rows in proportion to the words of each input, at least one.
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
      const Tensor &tensor = network.tensors[size_t(network.inputs[i].tensor)];
      plan.held[size_t(network.inputs[i].tensor)] =
          flatSharding({row, 0, rows, rectangle.cols}, tensor.elements(), granuleOf(tensor.type));
      row += rows;
    }
    for (const State &state : network.states)
      if (state.read >= 0)
        plan.held[size_t(state.read)] =
            flatSharding(rectangle, network.tensors[size_t(state.read)].elements(), granuleOf(state.type));
  }

  static int64_t granuleOf(ElementType type) { return std::max<int64_t>(1, 4 / elementBytes(type)); }

  void countConstants() {
    for (const Tensor &tensor : network.tensors)
      if (tensor.kind == Tensor::Kind::Constant)
        allConstantBytes += tensor.elements() * elementBytes(tensor.type);
  }

  void findLastUses() {
    for (size_t n = 0; n < network.nodes.size(); ++n) {
      if (plan.loop && plan.loop->repeats(n))
        continue;
      if (const Nest *nest = std::get_if<Nest>(&network.nodes[n]))
        for (const Access &access : nest->operands)
          for (const View::Root &root : views.of(access.tensor).roots)
            if (root.tensor >= 0)
              lastUse[root.tensor] = n;
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
    if (plan.loop)
      for (const Loop::Carried &carried : plan.loop->carried)
        lastUse[carried.initial] = lastUse[carried.made] = plan.loop->begin + plan.loop->period;
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

  absl::Status place(const Nest &nest, size_t number) {
    int64_t others = constantBytes;
    for (const auto &[tensor, bytes] : live)
      others += bytes;
    copies = inLoop(number) ? plan.loop->count : 1;
    const int64_t limit = tensorBytes(target) - others;
    const Distribution *best = nullptr;
    Cost bestCost;
    int64_t leastBytes = INT64_MAX;
    const std::vector<Distribution> candidates = candidatesOf(nest);
    const int64_t share = constantLimit(nest);
    for (const Distribution &candidate : candidates) {
      const Cost cost = costOf(nest, candidate);
      leastBytes = std::min(leastBytes, cost.bytes);
      if (cost.bytes > limit)
        continue;
      // Constants keep to their share where they can; else the least counts.
      const int64_t excess = std::max<int64_t>(0, cost.constantBytes - share);
      const int64_t bestExcess = std::max<int64_t>(0, bestCost.constantBytes - share);
      if (!best || excess < bestExcess || (excess == bestExcess && cost.cycles < bestCost.cycles)) {
        best = &candidate;
        bestCost = cost;
      }
    }
    if (!best)
      return absl::ResourceExhaustedError(
          absl::StrCat("layer ", nest.name, " needs ", leastBytes, " bytes on a core, beside ", others, " bytes of ",
                       live.size(), " tensors that are still needed and of constants; ", tensorBytes(target),
                       " are left to tensors on a mesh of ", rectangle.rows, "x", rectangle.cols,
                       "; use a target with more cores or more SRAM"));
    plan.distributions[number] = *best;
    plan.nodeCycles[number] = bestCost.cycles;
    plan.held[size_t(nest.result)] = resultSharding(nest, network.tensors[size_t(nest.result)].shape, *best);
    live[nest.result] = bytesOf(*plan.held[size_t(nest.result)], nest.result);
    constantBytes += bestCost.constantBytes;
    return absl::OkStatus();
  }

  int64_t constantLimit(const Nest &nest) {
    int64_t own = 0;
    for (const Access &access : nest.operands)
      if (isConstant(access.tensor))
        own += network.tensors[size_t(access.tensor)].elements() *
               elementBytes(network.tensors[size_t(access.tensor)].type);
    const double share = double(own) / double(std::max<int64_t>(1, allConstantBytes));
    return std::max<int64_t>(kLeastConstantBytes,
                             int64_t(kConstantShare * double(tensorBytes(target)) * share * double(copies)));
  }

  bool isConstant(TensorId tensor) {
    for (const View::Root &root : views.of(tensor).roots)
      if (root.tensor >= 0 && network.tensors[size_t(root.tensor)].kind != Tensor::Kind::Constant)
        return false;
    return true;
  }

  //===- Candidates
  //-----------------------------------------------------------------------------------------------------===//

  std::vector<AxisUse> usesOf(const Nest &nest, int32_t length) const {
    std::vector<AxisUse> uses{{}};
    const int32_t iterators = int32_t(nest.extents.size());
    auto partsFor = [&](int32_t k, int64_t most) {
      const int64_t extent = nest.extents[size_t(k)];
      const int64_t block = ceilDiv(extent, std::min(most, extent));
      return ceilDiv(extent, block);
    };
    for (int32_t k = 0; k < iterators; ++k) {
      if (nest.extents[size_t(k)] <= 1 || length <= 1)
        continue;
      const int64_t parts = partsFor(k, length);
      if (k >= nest.numParallel && !mayOverrun(network, nest, k) &&
          (parts != length || nest.extents[size_t(k)] % parts != 0))
        continue;
      uses.push_back({k, parts, -1, 1});
      if (k >= nest.numParallel)
        continue;
      for (int32_t inner = 0; inner < nest.numParallel; ++inner)
        if (inner != k && parts * 2 <= length && nest.extents[size_t(inner)] > 1)
          if (const int64_t innerParts = partsFor(inner, length / parts); innerParts > 1)
            uses.push_back({k, parts, inner, innerParts});
    }
    return uses;
  }

  static bool share(const AxisUse &a, const AxisUse &b) {
    for (int32_t k : {a.iterator, a.inner})
      if (k >= 0 && (k == b.iterator || k == b.inner))
        return true;
    return false;
  }

  std::vector<Distribution> candidatesOf(const Nest &nest) {
    std::vector<Distribution> candidates;
    const std::vector<AxisUse> rowUses = usesOf(nest, rectangle.rows), colUses = usesOf(nest, rectangle.cols);
    for (const AxisUse &rows : rowUses)
      for (const AxisUse &cols : colUses)
        if (!share(rows, cols))
          candidates.push_back({rectangle, rows, cols});
    for (const Access &access : nest.operands)
      if (auto follow = following(nest, access))
        candidates.push_back(*follow);
    return candidates;
  }

  /// The distribution under which the operand lies as it is held.
  std::optional<Distribution> following(const Nest &nest, const Access &access) {
    const View &view = views.of(access.tensor);
    if (!view.isRoot() || !plan.held[size_t(access.tensor)])
      return std::nullopt;
    const Sharding &held = *plan.held[size_t(access.tensor)];
    const std::vector<int64_t> &shape = network.tensors[size_t(access.tensor)].shape;
    if (held.shape != shape)
      return std::nullopt;
    Distribution result{held.rectangle, {}, {}};
    for (size_t d = 0; d < shape.size(); ++d) {
      int32_t iterator = -1;
      for (size_t k = 0; k < access.map[d].perIterator.size(); ++k)
        if (access.map[d].perIterator[k] != 0) {
          if (iterator >= 0)
            return std::nullopt;
          iterator = int32_t(k);
        }
      for (const MeshDigit &digit : held.dims[d].mesh) {
        if (iterator < 0 || iterator >= nest.numParallel)
          return std::nullopt;
        AxisUse &use = digit.axis == Axis::Row ? result.rows : result.cols;
        const int64_t parts = ceilDiv(shape[d], std::max<int64_t>(1, digit.step));
        if (digit.modulus > 0) {
          use.inner = iterator;
          use.innerParts = parts;
        } else {
          use.iterator = iterator;
          use.parts = parts;
        }
      }
    }
    for (const AxisUse *use : {&result.rows, &result.cols})
      if (use->inner >= 0 && use->iterator < 0)
        return std::nullopt;
    if (operandSharding(nest, access, shape, result) != held)
      return std::nullopt;
    return result;
  }

  //===- Cost
  //-----------------------------------------------------------------------------------------------------------===//

  Cost costOf(const Nest &nest, const Distribution &distribution) {
    Cost cost;
    int64_t lineBytes = 0;
    for (const Access &access : nest.operands) {
      const Tensor &tensor = network.tensors[size_t(access.tensor)];
      const Sharding sharding = operandSharding(nest, access, tensor.shape, distribution);
      const int64_t bytes = sharding.localElements() * elementBytes(tensor.type);
      if (isConstant(access.tensor)) {
        cost.constantBytes += bytes * copies;
        continue;
      }
      const View &view = views.of(access.tensor);
      if (view.isRoot() && plan.held[size_t(access.tensor)] && *plan.held[size_t(access.tensor)] == sharding)
        continue;
      cost.bytes += 2 * bytes; // and an index table or a mask
      for (const View::Root &root : view.roots)
        if (root.tensor >= 0)
          addMove(root.tensor, sharding, cost, lineBytes);
      cost.cycles += 4 * sharding.localElements();
    }
    int64_t parallel = 1, reduced = 1;
    for (size_t k = 0; k < nest.extents.size(); ++k)
      (int32_t(k) < nest.numParallel ? parallel : reduced) *= blockOf(nest, distribution, int32_t(k));
    const ElementType type = network.tensors[size_t(nest.result)].type;
    cost.bytes += parallel * elementBytes(type);
    for (const BodyOp &op : nest.body)
      cost.cycles += kInstructionCycles + slots(op, parallel * reduced);
    if (nest.reduction) {
      cost.bytes += parallel * elementBytes(nest.reduction->type);
      cost.cycles += nest.reduction->opcode == Opcode::Fma
                         ? reduced * (kInstructionCycles + parallel)
                         : kInstructionCycles * (1 + reduced / 8) + parallel * reduced;
      for (Axis axis : {Axis::Row, Axis::Col})
        if (isReduced(nest, distribution, axis))
          cost.cycles += parallel + kTurnCycles * (axis == Axis::Row ? rectangle.rows : rectangle.cols);
      for (const BodyOp &op : nest.finish)
        cost.cycles += kInstructionCycles + slots(op, parallel);
    }
    cost.bytes += lineBytes + cost.constantBytes;
    return cost;
  }

  int64_t slots(const BodyOp &op, int64_t elements) const {
    return int64_t(double(elements) / std::min(1.0, timing::elementsPerCycle(target, op.opcode, op.type)));
  }

  void addMove(TensorId root, const Sharding &to, Cost &cost, int64_t &lineBytes) {
    const Tensor &tensor = network.tensors[size_t(root)];
    const int64_t words = ceilDiv(tensor.elements() * elementBytes(tensor.type), 4);
    // Lines that share the words: before the move by where they lie, after it by where they go. A constant that is
    // moved with others lies flat.
    const std::optional<Sharding> &held = plan.held[size_t(root)];
    const int64_t heldRows = !held ? rectangle.rows : has(*held, Axis::Row) ? held->rectangle.rows : 1;
    const int64_t heldCols = !held ? rectangle.cols : has(*held, Axis::Col) ? held->rectangle.cols : 1;
    const int64_t toRows = has(to, Axis::Row) ? to.rectangle.rows : 1,
                  toCols = has(to, Axis::Col) ? to.rectangle.cols : 1;
    const int64_t rowsFirst[2] = {ceilDiv(words, heldRows), ceilDiv(words, toCols)};
    const int64_t colsFirst[2] = {ceilDiv(words, toRows), ceilDiv(words, heldCols)}; // along rows, along columns
    const int64_t *lines = rowsFirst[0] + rowsFirst[1] <= colsFirst[0] + colsFirst[1] ? rowsFirst : colsFirst;
    if (rectangle.cols > 1)
      cost.cycles += kStageCycles + 2 * lines[0] + kTurnCycles * rectangle.cols;
    if (rectangle.rows > 1)
      cost.cycles += kStageCycles + 2 * lines[1] + kTurnCycles * rectangle.rows;
    // Longer lines go in parts.
    const int64_t room = tensorBytes(target) / 3, longest = 4 * std::max(lines[0], lines[1]),
                  parts = ceilDiv(longest, room);
    cost.cycles += (parts - 1) * (2 * kStageCycles + kTurnCycles * (rectangle.rows + rectangle.cols));
    lineBytes = std::max(lineBytes, std::min(longest, room));
  }

  const Network &network;
  Views &views;
  const target::Target &target;
  const Rectangle rectangle;
  NetworkPlan plan;
  std::map<TensorId, size_t> lastUse;
  std::map<TensorId, int64_t> live; // bytes on a core
  int64_t constantBytes = 0, allConstantBytes = 0;
  int64_t copies = 1; // of the constants of the nest in hand: one for each repetition of a loop
};

} // namespace

int64_t tensorBytes(const target::Target &target) {
  return int64_t(double(target.usableSramBytes()) * (1 - kCodeShare));
}

absl::StatusOr<NetworkPlan> planNetwork(const Network &network, Views &views, const target::Target &target,
                                        const Rectangle &rectangle, const std::optional<Loop> &loop) {
  return PlanMaker(network, views, target, rectangle, loop).make();
}

absl::StatusOr<std::vector<NetworkPlan>> planCandidates(const Network &network, Views &views,
                                                        const target::Target &target, const std::optional<Loop> &loop) {
  std::vector<NetworkPlan> plans;
  std::set<std::pair<int32_t, int32_t>> tried;
  const int32_t ports = int32_t(std::max(network.inputs.size(), network.outputs.size()));
  absl::Status last = absl::ResourceExhaustedError(
      absl::StrCat("entry ", network.name, " has ", network.inputs.size(), " inputs and ", network.outputs.size(),
                   " outputs, each needs the ports of a row; the mesh has ", target.rows, " rows"));
  for (int32_t side : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
    const int32_t rows = std::min(side, target.rows), cols = std::min(side, target.cols);
    if (rows < ports || !tried.insert({rows, cols}).second)
      continue;
    auto plan = planNetwork(network, views, target, {0, 0, rows, cols}, loop);
    if (plan.ok())
      plans.push_back(*std::move(plan));
    else
      last = plan.status();
  }
  if (plans.empty())
    return last;
  std::stable_sort(plans.begin(), plans.end(),
                   [](const NetworkPlan &a, const NetworkPlan &b) { return a.estimatedCycles < b.estimatedCycles; });
  return plans;
}

} // namespace wsc::spmd
