// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/JointChoice.h"

#include "compiler/spmd/moves/QuickEstimate.h"
#include "compiler/spmd/plan/Candidates.h"
#include "compiler/spmd/plan/Following.h"
#include "compiler/spmd/plan/LocalCycles.h"
#include "compiler/spmd/plan/Neutral.h"
#include "compiler/spmd/plan/PortBox.h"
#include "compiler/spmd/plan/PortSharding.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace wsc::spmd {

using namespace format;

namespace {

constexpr size_t kMostOptions = 80;  // of a nest, the quickest ones
constexpr size_t kMostFollowed = 16; // places of an operand for which there are options that do not move it
constexpr int kMostRounds = 60;      // of solving and of planning exactly
constexpr size_t kMostPlanned = 20;  // moves of each use that are planned exactly, before the best so far is taken
constexpr int64_t kUnknown = 4000;   // cycles of a move whose pieces have no form
constexpr double kHope = 0.7;        // of moves not planned yet: less than expected, so that they are
constexpr double kFirstGuess = 200;  // cycles of moves whose estimates count as right, of each use

} // namespace

size_t JointChoice::Places::numberOf(const Sharding &sharding) {
  const auto [found, added] = numbers.emplace(print(sharding), all.size());
  if (added)
    all.push_back(sharding);
  return found->second;
}

JointChoice::JointChoice(const Network &network, Views &views, const target::Target &target, const NetworkPlan &start,
                         EstimateCache &cache)
    : network(network), views(views), target(target), start(start), rectangle(start.rectangle),
      mostBytes(tensorBytes(target) - start.policy.marginBytes),
      constants(network, views, rectangle, tensorBytes(target)),
      estimates(network, views, rectangle, tensorBytes(target) / 3, {start.policy.picks, start.policy.gathers}, cache),
      lookahead(network, views, target, rectangle, !start.policy.inputIsFree, start.policy.picks, tensorBytes(target)),
      makers(network.tensors.size(), -1), layerOf(network.nodes.size(), -1) {
  findMakers();
  for (size_t n = 0; n < network.nodes.size(); ++n)
    if (std::holds_alternative<Nest>(network.nodes[n]))
      addLayer(n);
  for (size_t l = 0; l < layers.size(); ++l)
    for (size_t k = 0; k < layers[l].nest->operands.size(); ++k)
      if (const TensorId read = layers[l].nest->operands[k].tensor; !constants.isConstant(read))
        addUse({.read = read, .count = layers[l].count, .reader = int32_t(l), .operand = int32_t(k)});
  for (const Loop &loop : start.loops)
    for (const Loop::Carried &carried : loop.carried)
      addUse({.read = carried.initial, .reader = layerOf[size_t(makers[size_t(carried.made)])]});
  chosen.assign(layers.size(), 0);
}

bool JointChoice::applies(const Network &network, const std::vector<Loop> &loops) {
  std::set<TensorId> results;
  for (const Node &node : network.nodes)
    if (const Nest *nest = std::get_if<Nest>(&node))
      results.insert(nest->result);
  for (const Loop &loop : loops)
    if (!loop.slices.empty() || !loop.collected.empty() ||
        std::any_of(loop.carried.begin(), loop.carried.end(),
                    [&](const Loop::Carried &carried) { return !results.contains(carried.made); }))
      return false;
  return results.size() > 1;
}

void JointChoice::findMakers() {
  for (size_t n = 0; n < network.nodes.size(); ++n)
    if (const Nest *nest = std::get_if<Nest>(&network.nodes[n]))
      makers[size_t(nest->result)] = int32_t(n);
  for (const Loop &loop : start.loops)
    for (const Loop::Carried &carried : loop.carried)
      makers[size_t(carried.value)] = makers[size_t(carried.made)];
}

const Loop *JointChoice::loopOf(size_t node) const {
  for (const Loop &each : start.loops)
    if (each.holds(node))
      return &each;
  return nullptr;
}

std::vector<Distribution> JointChoice::optionsOf(const Nest &nest) const {
  std::vector<Distribution> options =
      candidatesOf(network, views, nest, rectangle, !start.policy.inputIsFree, {}, {}, start.policy.range);
  for (const Access &access : nest.operands) {
    const int32_t maker = makers[size_t(access.tensor)];
    if (maker < 0 || layerOf[size_t(maker)] < 0)
      continue;
    const std::vector<Sharding> &places = layers[size_t(layerOf[size_t(maker)])].results.list();
    for (size_t p = 0; p < std::min(places.size(), kMostFollowed); ++p)
      if (auto followed = following(network, nest, access, places[p]))
        options.push_back(*std::move(followed));
  }
  return options;
}

void JointChoice::addLayer(size_t node) {
  const Nest &nest = std::get<Nest>(network.nodes[node]);
  const Loop *loop = loopOf(node);
  Layer layer{node, &nest, loop ? loop->count : 1, {}, {}, std::vector<Places>(nest.operands.size())};
  const std::vector<Distribution> all = optionsOf(nest);
  const int64_t share = constants.limitOf(nest, loop);
  std::vector<std::tuple<int64_t, int64_t, size_t>> ranked; // bytes of constants beyond their share, cycles
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t own = constants.bytesOf(nest, all[i], loop);
    if (localBytes(network, nest, all[i]) <= mostBytes - std::max<int64_t>(0, start.constantBytes - own))
      ranked.emplace_back(std::max<int64_t>(0, own - share), localCycles(nest, all[i], target), i);
  }
  std::sort(ranked.begin(), ranked.end());
  addOption(layer, start.distributions[node]);
  for (const auto &[excess, cycles, i] : ranked) {
    if (layer.options.size() >= kMostOptions || excess > std::get<0>(ranked.front()))
      break;
    addOption(layer, all[i]);
  }
  layerOf[node] = int32_t(layers.size());
  layers.push_back(std::move(layer));
}

void JointChoice::addOption(Layer &layer, const Distribution &distribution) {
  const Nest &nest = *layer.nest;
  Option option;
  option.distribution = distribution;
  option.result =
      layer.results.numberOf(resultSharding(nest, network.tensors[size_t(nest.result)].shape, distribution));
  for (size_t k = 0; k < nest.operands.size(); ++k) {
    const Access &access = nest.operands[k];
    const std::vector<int64_t> &shape = network.tensors[size_t(access.tensor)].shape;
    option.wanted.push_back(constants.isConstant(access.tensor)
                                ? 0
                                : 2 * layer.wanted[k].numberOf(operandSharding(nest, access, shape, distribution)) +
                                      paddingMatters(network, nest, access, distribution));
  }
  // Of those that lie alike the first one is the quickest.
  for (const Option &other : layer.options)
    if (other.result == option.result && other.wanted == option.wanted)
      return;
  option.cycles = localCycles(nest, distribution, target) * layer.count +
                  lookahead.leaving(nest.result, layer.results[option.result]);
  option.bytes = localBytes(network, nest, distribution) - constants.bytesOf(nest, distribution, nullptr);
  layer.options.push_back(std::move(option));
}

void JointChoice::addUse(Use use) {
  for (const View::Root &root : views.of(use.read).roots) {
    if (root.tensor < 0 || network.tensors[size_t(root.tensor)].kind == Tensor::Kind::Constant)
      continue;
    auto source = sourceOf(root.tensor);
    if (!source)
      return;
    // The first reader itself has its input for nothing.
    if (source->operand >= 0 && source->layer == use.reader && source->operand == use.operand)
      return;
    use.sources.push_back(*std::move(source));
  }
  if (use.sources.empty())
    return;
  for (Source &source : use.sources) {
    source.cycles = quickMoves(use, source);
    source.isPlanned.assign(source.cycles.size(), false);
  }
  use.failures.assign(2 * wantedOf(use).size(), 0);
  findKind(use);
  uses.push_back(std::move(use));
}

std::optional<std::pair<int32_t, int32_t>> JointChoice::firstReaderOf(TensorId input) const {
  for (size_t l = 0; l < layers.size(); ++l)
    for (size_t k = 0; k < layers[l].nest->operands.size(); ++k)
      for (const View::Root &root : views.of(layers[l].nest->operands[k].tensor).roots)
        if (root.tensor == input)
          return std::pair(int32_t(l), int32_t(k));
  return std::nullopt;
}

std::optional<JointChoice::Source> JointChoice::sourceOf(TensorId root) const {
  Source source;
  source.root = root;
  const Tensor &tensor = network.tensors[size_t(root)];
  if (const int32_t maker = makers[size_t(root)]; maker >= 0) {
    source.layer = layerOf[size_t(maker)];
    source.held = layers[size_t(source.layer)].results.list();
  } else if (tensor.kind == Tensor::Kind::Input && network.inputs.size() == 1 && !start.policy.inputsAreFlat) {
    const auto first = firstReaderOf(root);
    if (!first)
      return std::nullopt;
    std::tie(source.layer, source.operand) = *first;
    const Layer &reader = layers[size_t(source.layer)];
    const bool isWhole = reader.nest->operands[size_t(source.operand)].tensor == root;
    for (const Sharding &wanted : reader.wanted[size_t(source.operand)].list()) {
      const auto box = isWhole ? portBox(wanted, rectangle) : std::nullopt;
      source.held.insert(source.held.end(), 2,
                         box ? *box : flatSharding(rectangle, tensor.elements(), granuleOf(tensor.type)));
    }
  } else if (const auto &held = start.held[size_t(root)]) {
    source.held = {*held};
  } else {
    return std::nullopt;
  }
  return source;
}

const Sharding &JointChoice::heldAt(const Source &source, size_t place) {
  if (source.operand < 0)
    return source.held[place];
  const auto [found, added] = inputPlaces.emplace(std::pair(source.root, place), Sharding());
  if (added) {
    const Layer &reader = layers[size_t(source.layer)];
    const TensorId read = reader.nest->operands[size_t(source.operand)].tensor;
    found->second = inputSharding(network, views, source.root, read, reader.wanted[size_t(source.operand)][place / 2],
                                  place % 2 == 1, rectangle, boxBytes(target));
  }
  return found->second;
}

const std::vector<Sharding> &JointChoice::wantedOf(const Use &use) const {
  const Layer &reader = layers[size_t(use.reader)];
  return use.operand < 0 ? reader.results.list() : reader.wanted[size_t(use.operand)].list();
}

std::vector<int64_t> JointChoice::quickMoves(const Use &use, const Source &source) const {
  const int64_t bytes = elementBytes(network.tensors[size_t(source.root)].type);
  const bool isWhole = source.root == use.read;
  const View &view = views.of(use.read);
  const auto pieces = isWhole ? std::nullopt : views.piecesOf(use.read);
  auto quick = [&](const Sharding &held, const Sharding &wanted) -> int64_t {
    if (isWhole && held == wanted)
      return 0;
    if (isWhole && held.shape == wanted.shape)
      return quickMoveCycles(held, wanted, rectangle, bytes, start.policy.picks);
    if (!pieces)
      return kUnknown;
    int64_t cycles = 0;
    for (const StridedPiece &piece : *pieces)
      if (view.roots[size_t(piece.source)].tensor == source.root)
        cycles += quickPieceCycles(held, wanted, piece, rectangle, bytes, start.policy.picks);
    return cycles;
  };
  std::vector<int64_t> cycles;
  for (const Sharding &held : source.held)
    for (const Sharding &wanted : wantedOf(use))
      cycles.insert(cycles.end(), 2, quick(held, wanted));
  return cycles;
}

int64_t JointChoice::costOf(const Use &use, const Source &source, size_t held, size_t wanted) const {
  const size_t at = held * use.failures.size() + wanted;
  if (source.isPlanned[at])
    return use.count * source.cycles[at];
  // As moves of this use have come out so far beside their quick estimates.
  const double ratio = (use.exactCycles + kFirstGuess) / (use.quickCycles + kFirstGuess);
  return use.count *
         int64_t(kHope * std::clamp(ratio, 0.5, 8.0) * double(1 + use.failures[wanted]) * double(source.cycles[at]));
}

solver::pbqp::Problem JointChoice::problem(const RuledOut &ruledOut) const {
  solver::pbqp::Problem made;
  for (const Layer &layer : layers) {
    solver::pbqp::Node &node = made.nodes.emplace_back();
    node.name = layer.nest->name;
    for (const Option &option : layer.options)
      node.costs.push_back(cyclesOf(layer, option, ruledOut));
  }
  for (const Use &use : uses) {
    const std::vector<Option> &readers = layers[size_t(use.reader)].options;
    for (const Source &source : use.sources) {
      if (source.layer < 0 || source.layer == use.reader) {
        for (size_t o = 0; o < readers.size(); ++o)
          made.nodes[size_t(use.reader)].costs[o] +=
              costOf(use, source, source.layer < 0 ? 0 : placeOf(source, readers[o]), wantedBy(use, readers[o]));
        continue;
      }
      solver::pbqp::Edge &edge = made.edges.emplace_back();
      edge.a = source.layer;
      edge.b = use.reader;
      for (const Option &from : layers[size_t(source.layer)].options)
        for (const Option &to : readers)
          edge.costs.push_back(costOf(use, source, placeOf(source, from), wantedBy(use, to)));
    }
  }
  return made;
}

JointPlan JointChoice::choose(const RuledOut &ruledOut) {
  std::vector<int32_t> best = chosen;
  int64_t least = exactTotal(best, ruledOut);
  for (int round = 0; round < kMostRounds && planned < kMostPlanned * uses.size(); ++round) {
    const auto solution = solver::pbqp::solve(problem(ruledOut));
    if (!solution.ok())
      break; // costs beyond all limits
    const size_t before = planned;
    const int64_t total = exactTotal(solution->optionOf, ruledOut);
    if (total < least) {
      least = total;
      best = solution->optionOf;
    }
    if (planned == before)
      break;
  }
  chosen = best;
  return planOf(chosen);
}

std::vector<size_t> JointChoice::placesOf(const Use &use, const std::vector<int32_t> &optionOf) const {
  std::vector<size_t> places;
  for (const Source &source : use.sources)
    places.push_back(
        source.layer < 0
            ? 0
            : placeOf(source, layers[size_t(source.layer)].options[size_t(optionOf[size_t(source.layer)])]));
  places.push_back(wantedBy(use, layers[size_t(use.reader)].options[size_t(optionOf[size_t(use.reader)])]));
  return places;
}

/// The cycles of a choice with its moves planned exactly, which the problem has from then on: of a view of several
/// roots as the first one's, beside what the others' count.
int64_t JointChoice::exactTotal(const std::vector<int32_t> &optionOf, const RuledOut &ruledOut) {
  int64_t total = 0;
  for (size_t l = 0; l < layers.size(); ++l)
    total += cyclesOf(layers[l], layers[l].options[size_t(optionOf[l])], ruledOut);
  for (Use &use : uses) {
    const std::vector<size_t> places = placesOf(use, optionOf);
    if (!use.exact.contains(places)) {
      ++planned;
      learn(use, places,
            exactMove(use, places, layers[size_t(use.reader)].options[size_t(optionOf[size_t(use.reader)])].bytes));
    }
    const int64_t exact = use.exact.at(places);
    use.sources.front().cycles[places[0] * use.failures.size() + places.back()] =
        std::max<int64_t>(0, exact - othersCycles(use, places));
    total += use.count * exact;
  }
  return total;
}

int64_t JointChoice::othersCycles(const Use &use, const std::vector<size_t> &places) const {
  int64_t others = 0;
  for (size_t s = 1; s < use.sources.size(); ++s)
    others += costOf(use, use.sources[s], places[s], places.back()) / use.count;
  return others;
}

void JointChoice::findKind(Use &use) {
  const View &view = views.of(use.read);
  const auto pieces = views.piecesOf(use.read);
  if (use.sources.size() != 1 || use.sources[0].operand >= 0 || view.roots.size() != 1 || !pieces)
    return;
  const Tensor &root = network.tensors[size_t(use.sources[0].root)];
  std::string key =
      absl::StrCat(int(root.type), " ", view.fills, " ", view.isRoot(), " ", absl::StrJoin(root.shape, "x"), ">",
                   absl::StrJoin(network.tensors[size_t(use.read)].shape, "x"));
  for (const StridedPiece &piece : *pieces) {
    absl::StrAppend(&key, "|", piece.sourceOffset, " ", piece.resultOffset);
    for (const Piece::Digit &digit : piece.digits)
      absl::StrAppend(&key, " ", digit.extent, "*", digit.sourceStride, ">", digit.resultStride);
  }
  use.kind = kinds.emplace(key, int32_t(kinds.size())).first->second;
  usesOf.resize(kinds.size());
  usesOf[size_t(use.kind)].push_back(uses.size());
  for (size_t p = 0; p < use.sources[0].held.size(); ++p)
    use.heldAt.emplace(allPlaces.numberOf(use.sources[0].held[p]), p);
  const std::vector<Sharding> &wanted = wantedOf(use);
  for (size_t p = 0; p < wanted.size(); ++p)
    use.wantedAt.emplace(allPlaces.numberOf(wanted[p]), p);
}

void JointChoice::learn(Use &use, const std::vector<size_t> &places, int64_t cycles) {
  addExact(use, places, cycles, othersCycles(use, places));
  if (use.kind < 0)
    return;
  const size_t held = allPlaces.numberOf(use.sources[0].held[places[0]]);
  const size_t wanted = allPlaces.numberOf(wantedOf(use)[places[1] / 2]);
  for (size_t u : usesOf[size_t(use.kind)]) {
    Use &other = uses[u];
    const auto from = other.heldAt.find(held), to = other.wantedAt.find(wanted);
    if (from != other.heldAt.end() && to != other.wantedAt.end())
      addExact(other, {from->second, 2 * to->second + places[1] % 2}, cycles, 0);
  }
}

void JointChoice::addExact(Use &use, const std::vector<size_t> &places, int64_t cycles, int64_t others) {
  if (!use.exact.emplace(places, cycles).second)
    return;
  Source &first = use.sources.front();
  const size_t at = places[0] * use.failures.size() + places.back();
  if (cycles >= kImpossibleMove) {
    ++use.failures[places.back()];
  } else if (!first.isPlanned[at]) {
    use.exactCycles += double(std::max<int64_t>(0, cycles - others));
    use.quickCycles += double(first.cycles[at]);
  }
  first.cycles[at] = std::max<int64_t>(0, cycles - others);
  first.isPlanned[at] = true;
}

int64_t JointChoice::cyclesOf(const Layer &layer, const Option &option, const RuledOut &ruledOut) const {
  return option.cycles + (ruledOut.contains({layer.node, kindOf(option.distribution)}) ? kImpossibleMove : 0);
}

int64_t JointChoice::exactMove(const Use &use, const std::vector<size_t> &places, int64_t bytes) {
  const Sharding &to = wantedOf(use)[places.back() / 2];
  std::vector<std::optional<Sharding>> held = start.held;
  for (size_t s = 0; s < use.sources.size(); ++s)
    held[size_t(use.sources[s].root)] = heldAt(use.sources[s], places[s]);
  if (views.of(use.read).isRoot() && *held[size_t(use.read)] == to)
    return 0;
  const MoveEstimate estimate = estimates.fresh(use.read, to, places.back() % 2 == 1, held);
  const bool fits = bytes + estimate.scratchBytes + estimate.tableBytes <= mostBytes - start.constantBytes;
  return fits ? std::min(estimate.cycles, kImpossibleMove) : kImpossibleMove;
}

void JointChoice::forbid(size_t node, bool forMoves) {
  const size_t layer = size_t(layerOf[node]);
  if (!forMoves) {
    layers[layer].options[size_t(chosen[layer])].cycles += kImpossibleMove;
    return;
  }
  for (Use &use : uses)
    if (size_t(use.reader) == layer)
      if (int64_t &cycles = use.exact.at(placesOf(use, chosen)); cycles > 0)
        cycles = kImpossibleMove;
}

JointPlan JointChoice::planOf(const std::vector<int32_t> &optionOf) const {
  JointPlan plan;
  plan.distributions.resize(network.nodes.size());
  for (size_t l = 0; l < layers.size(); ++l)
    plan.distributions[layers[l].node] = layers[l].options[size_t(optionOf[l])].distribution;
  for (const Loop &loop : start.loops)
    for (const Loop::Carried &carried : loop.carried) {
      const Layer &layer = layers[size_t(layerOf[size_t(makers[size_t(carried.made)])])];
      plan.starts.emplace(carried.value,
                          layer.results[layer.options[size_t(optionOf[size_t(layerOf[layer.node])])].result]);
    }
  return plan;
}

} // namespace wsc::spmd
