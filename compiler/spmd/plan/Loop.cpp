// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes are compared as text without their tensors. For every period and start whose texts repeat, the tensors of each
// repetition are held against those of the first: what lies at the same place of a repetition, what the one before
// made, constants, or what is the same for all.
#include "compiler/spmd/plan/Loop.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <set>
#include <string>

namespace wsc::spmd {

namespace {

std::vector<TensorId> tensorsOf(const Node &node) {
  std::vector<TensorId> tensors;
  if (const Nest *nest = std::get_if<Nest>(&node)) {
    for (const Access &access : nest->operands)
      tensors.push_back(access.tensor);
  } else {
    for (const Piece &piece : std::get<Remap>(node).pieces)
      tensors.push_back(piece.source);
  }
  return tensors;
}

TensorId resultOf(const Node &node) {
  return std::visit([](const auto &made) { return made.result; }, node);
}

void describe(const BodyValue &value, std::string &text) {
  absl::StrAppend(&text, int(value.kind), ":", value.index, ":", value.immediate, " ");
}

void describe(const std::vector<BodyOp> &ops, std::string &text) {
  for (const BodyOp &op : ops) {
    absl::StrAppend(&text, int(op.opcode), ",", int(op.type), ",", int(op.sourceType), " ");
    for (const BodyValue *value : {&op.a, &op.b, &op.c})
      describe(*value, text);
  }
}

/// All of a node but its name and its tensors.
std::string formOf(const Network &network, const Node &node) {
  std::string text;
  auto type = [&](TensorId tensor) {
    const Tensor &of = network.tensors[size_t(tensor)];
    absl::StrAppend(&text, int(of.type), of.kind == Tensor::Kind::Constant ? "c" : "v", "[");
    for (int64_t extent : of.shape)
      absl::StrAppend(&text, extent, ",");
    text += "]";
  };
  if (const Nest *nest = std::get_if<Nest>(&node)) {
    absl::StrAppend(&text, "nest ", nest->numParallel, " of ");
    for (int64_t extent : nest->extents)
      absl::StrAppend(&text, extent, ",");
    for (const Access &access : nest->operands) {
      type(access.tensor);
      for (const Index &index : access.map) {
        absl::StrAppend(&text, index.constant, "+");
        for (int64_t step : index.perIterator)
          absl::StrAppend(&text, step, ",");
      }
      absl::StrAppend(&text, access.padding, " ", access.gatherDim, " ", access.gatherIndices, " ", access.gatherCount,
                      ";");
    }
    describe(nest->body, text);
    if (nest->reduction)
      absl::StrAppend(&text, "reduce ", int(nest->reduction->opcode), int(nest->reduction->type),
                      nest->reduction->initial);
    for (const BodyValue &value : nest->values)
      describe(value, text);
    text += "|";
    describe(nest->finish, text);
    describe(nest->resultValue, text);
    type(nest->result);
  } else {
    const Remap &remap = std::get<Remap>(node);
    absl::StrAppend(&text, "remap ", remap.fill);
    for (const Piece &piece : remap.pieces) {
      type(piece.source);
      absl::StrAppend(&text, piece.sourceOffset, ",", piece.resultOffset);
      for (const Piece::Digit &digit : piece.digits)
        absl::StrAppend(&text, "/", digit.extent, ",", digit.sourceStride, ",", digit.resultStride);
    }
    type(remap.result);
  }
  return text;
}

class LoopFinder {
public:
  explicit LoopFinder(const Network &network) : network(network), producer(network.tensors.size(), -1) {
    std::map<std::string, int32_t> numbers;
    for (size_t n = 0; n < network.nodes.size(); ++n) {
      forms.push_back(numbers.emplace(formOf(network, network.nodes[n]), int32_t(numbers.size())).first->second);
      producer[size_t(resultOf(network.nodes[n]))] = int64_t(n);
    }
    for (size_t n = 0; n < network.nodes.size(); ++n)
      for (TensorId tensor : tensorsOf(network.nodes[n]))
        users[tensor].push_back(n);
    for (const NamedTensor &output : network.outputs)
      users[output.tensor].push_back(network.nodes.size());
    for (const State &state : network.states)
      if (state.written >= 0)
        users[state.written].push_back(network.nodes.size());
  }

  std::optional<Loop> find(size_t leastNodes) {
    std::optional<Loop> best;
    size_t saved = std::max<size_t>(leastNodes, 1) - 1;
    const size_t nodes = forms.size();
    for (size_t period = 1; period * 2 <= nodes; ++period)
      for (size_t begin = 0; begin + 2 * period <= nodes;) {
        size_t length = 0; // forms that equal those one period on
        while (begin + length + period < nodes && forms[begin + length] == forms[begin + length + period])
          ++length;
        // Any start in the first period may be the one at which values go round as they must.
        for (size_t at = begin; at < begin + period && length >= period; ++at) {
          const size_t here = length - (at - begin);
          const int32_t count = int32_t(here / period) + 1;
          if (count < 2)
            break;
          if (period * size_t(count - 1) <= saved)
            break;
          if (auto loop = check(at, period, count)) {
            saved = period * size_t(count - 1);
            best = std::move(loop);
            break;
          }
        }
        begin += length + 1;
      }
    return best;
  }

private:
  std::optional<Loop> check(size_t begin, size_t period, int32_t count) const {
    Loop loop;
    loop.begin = begin;
    loop.period = period;
    loop.count = count;
    std::map<TensorId, size_t> round; // initial value → place in a repetition that makes the next one
    for (size_t p = 0; p < period; ++p) {
      const std::vector<TensorId> first = tensorsOf(network.nodes[begin + p]);
      for (int32_t i = 1; i < count; ++i) {
        const size_t base = begin + size_t(i) * period;
        const std::vector<TensorId> here = tensorsOf(network.nodes[base + p]);
        for (size_t k = 0; k < first.size(); ++k)
          if (!matches(loop, round, first[k], here[k], i))
            return std::nullopt;
      }
    }
    for (auto &[initial, place] : round) {
      const TensorId made = resultOf(network.nodes[begin + place]);
      const TensorId last = resultOf(network.nodes[begin + size_t(count - 1) * period + place]);
      loop.carried.push_back({initial, made, last});
      // Its place is written over.
      if (network.tensors[size_t(initial)].kind == Tensor::Kind::Constant || isState(initial))
        return std::nullopt;
      for (size_t user : usersOf(initial))
        if (user < begin ? false : user >= begin + period)
          return std::nullopt;
      if (producer[size_t(initial)] >= 0 &&
          std::holds_alternative<Remap>(network.nodes[size_t(producer[size_t(initial)])]))
        return std::nullopt;
      if (std::holds_alternative<Remap>(network.nodes[begin + place]))
        return std::nullopt;
    }
    return staysInside(loop) ? std::optional(std::move(loop)) : std::nullopt;
  }

  bool matches(Loop &loop, std::map<TensorId, size_t> &round, TensorId first, TensorId here, int32_t i) const {
    const int64_t made = producer[size_t(first)], madeHere = producer[size_t(here)];
    const auto begin = int64_t(loop.begin), period = int64_t(loop.period);
    if (made >= begin && made < begin + period)
      return madeHere == made + i * period;
    if (network.tensors[size_t(first)].kind == Tensor::Kind::Constant) {
      if (network.tensors[size_t(here)].kind != Tensor::Kind::Constant)
        return false;
      auto &all = loop.constants[first];
      all.resize(size_t(loop.count), first);
      if (all[size_t(i)] != first && all[size_t(i)] != here)
        return false;
      all[size_t(i)] = here;
      return true;
    }
    if (here == first)
      return !round.contains(first);
    const int64_t before = begin + (i - 1) * period;
    if (madeHere < before || madeHere >= before + period)
      return false;
    const auto [found, added] = round.emplace(first, size_t(madeHere - before));
    return found->second == size_t(madeHere - before) && (added ? i == 1 : true);
  }

  /// Values of repetitions are used in the same, in the next as what goes round, or behind the loop in the last one's
  /// place.
  bool staysInside(const Loop &loop) const {
    std::set<TensorId> lasts;
    std::set<size_t> places;
    for (const Loop::Carried &carried : loop.carried) {
      lasts.insert(carried.last);
      if (!places.insert(size_t(producer[size_t(carried.made)])).second)
        return false; // one value in two places
    }
    for (size_t n = loop.begin; n < loop.end(); ++n) {
      const TensorId result = resultOf(network.nodes[n]);
      for (size_t user : usersOf(result))
        if (user >= loop.end() && !lasts.contains(result))
          return false;
    }
    return true;
  }

  bool isState(TensorId tensor) const {
    return std::any_of(network.states.begin(), network.states.end(),
                       [&](const State &state) { return state.read == tensor; });
  }

  std::vector<size_t> usersOf(TensorId tensor) const {
    auto found = users.find(tensor);
    return found == users.end() ? std::vector<size_t>() : found->second;
  }

  const Network &network;
  std::vector<int32_t> forms;    // per node
  std::vector<int64_t> producer; // per tensor: its node
  std::map<TensorId, std::vector<size_t>> users;
};

} // namespace

std::optional<Loop> findLoop(const Network &network, size_t leastNodes) { return LoopFinder(network).find(leastNodes); }

} // namespace wsc::spmd
