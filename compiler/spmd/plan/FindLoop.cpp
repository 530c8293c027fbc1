// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes are compared as text, without the tensors they read and the places where reads begin. For every period and
// start whose texts repeat, each read of a repetition is held against the same read of the first one.
#include "compiler/spmd/plan/FindLoop.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <string>

namespace wsc::spmd {

namespace {

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

/// All of a node but its name, its tensors and the constants of its accesses.
std::string formOf(const Network &network, const Node &node) {
  std::string text;
  auto type = [&](TensorId tensor) {
    const Tensor &of = network.tensors[size_t(tensor)];
    absl::StrAppend(&text, int(of.type), "[");
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
        text += "+";
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

/// Read number k of a node: its tensor, and the constants of its access (none of a remap).
struct Read {
  TensorId tensor = -1;
  const Access *access = nullptr;
};

size_t readsOf(const Node &node) {
  const Nest *nest = std::get_if<Nest>(&node);
  return nest ? nest->operands.size() : std::get<Remap>(node).pieces.size();
}

Read readOf(const Node &node, size_t k) {
  if (const Nest *nest = std::get_if<Nest>(&node))
    return {nest->operands[k].tensor, &nest->operands[k]};
  return {std::get<Remap>(node).pieces[k].source};
}

bool beginAlike(const Read &a, const Read &b) {
  if (a.access)
    for (size_t d = 0; d < a.access->map.size(); ++d)
      if (a.access->map[d].constant != b.access->map[d].constant)
        return false;
  return true;
}

class LoopFinder {
public:
  explicit LoopFinder(const RolledNetwork &rolled)
      : network(rolled.network), isConstant(constantTensors(network)), producer(network.tensors.size(), -1) {
    std::map<std::string, int32_t> numbers;
    for (size_t n = 0; n < network.nodes.size(); ++n) {
      const Node &node = network.nodes[n];
      producer[size_t(resultOf(node))] = int64_t(n);
      // What is in a loop repeats nothing; remaps of constants are left before the loop.
      const bool isIn =
          std::any_of(rolled.loops.begin(), rolled.loops.end(), [&](const Loop &loop) { return loop.holds(n); });
      if (isIn)
        nodes.push_back({n, -1 - int32_t(n)});
      else if (!isConstant[size_t(resultOf(node))])
        nodes.push_back({n, numbers.emplace(formOf(network, node), int32_t(numbers.size())).first->second});
    }
  }

  std::optional<FoundLoop> find(size_t leastNodes) const {
    std::optional<FoundLoop> best;
    size_t saved = std::max<size_t>(leastNodes, 1) - 1;
    for (size_t period = 1; period * 2 <= nodes.size(); ++period)
      for (size_t begin = 0; begin + 2 * period <= nodes.size();) {
        size_t length = 0; // forms that equal those one period on
        while (begin + length + period < nodes.size() &&
               nodes[begin + length].form == nodes[begin + length + period].form)
          ++length;
        // Any start in the first two periods may be the one at which values go round as they must.
        for (size_t at = begin; at < begin + 2 * period && at - begin + period <= length; ++at) {
          const size_t here = length - (at - begin);
          const int32_t count = int32_t(here / period) + 1;
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
  struct Candidate {
    size_t node;
    int32_t form;
  };

  /// Repetitions of `period` nodes each, from number `begin` of those that a body may hold.
  struct Stretch {
    size_t begin = 0, period = 0, count = 0;
    size_t end() const { return begin + period * count; }
  };

  std::optional<FoundLoop> check(size_t begin, size_t period, int32_t count) const {
    const Stretch stretch{begin, period, size_t(count)};
    FoundLoop loop;
    loop.period = period;
    loop.count = count;
    loop.reads.resize(period);
    for (size_t n = begin; n < stretch.end(); ++n)
      loop.nodes.push_back(nodes[n].node);
    // Remaps alone are no code, and what a loop leaves behind it for each repetition would be another loop.
    const auto isNest = [&](size_t n) { return std::holds_alternative<Nest>(network.nodes[n]); };
    if (std::none_of(loop.nodes.begin(), loop.nodes.begin() + std::ptrdiff_t(period), isNest))
      return std::nullopt;
    for (size_t p = 0; p < period; ++p)
      for (size_t k = 0; k < readsOf(network.nodes[loop.nodes[p]]); ++k) {
        auto read = classify(stretch, p, k);
        if (!read)
          return std::nullopt;
        loop.reads[p].push_back(*std::move(read));
      }
    return loop;
  }

  std::optional<LoopRead> classify(const Stretch &loop, size_t p, size_t k) const {
    LoopRead read;
    std::vector<Read> all;
    for (size_t i = 0; i < loop.count; ++i) {
      all.push_back(readOf(network.nodes[nodes[loop.begin + i * loop.period + p].node], k));
      read.tensors.push_back(all.back().tensor);
    }
    auto every = [&](auto holds) {
      for (size_t i = 1; i < all.size(); ++i)
        if (!holds(i))
          return false;
      return true;
    };
    const bool alike = every([&](size_t i) { return beginAlike(all[0], all[i]); });
    const bool one = every([&](size_t i) { return all[i].tensor == all[0].tensor; });
    const auto first = placeIn(loop, all[0].tensor);
    if (first) { // made in the first repetition
      read.kind = LoopRead::Kind::Inside;
      const bool inside = *first < loop.period && alike &&
                          every([&](size_t i) { return placeIn(loop, all[i].tensor) == *first + i * loop.period; });
      return inside ? std::optional(read) : std::nullopt;
    }
    const bool outside = every([&](size_t i) { return !placeIn(loop, all[i].tensor); });
    if (one && alike) {
      read.kind = LoopRead::Kind::Same;
      return read;
    }
    if (one)
      return moving(read, loop, all, p, k);
    if (!alike)
      return std::nullopt;
    if (outside) {
      const bool constants =
          std::all_of(all.begin(), all.end(), [&](const Read &each) { return isConstant[size_t(each.tensor)]; });
      if (constants && !all[0].access)
        return std::nullopt; // a remap that joins them with others
      read.kind = constants ? LoopRead::Kind::Constants : LoopRead::Kind::Values;
      return read;
    }
    const auto second = placeIn(loop, all[1].tensor);
    if (!second || *second >= loop.period)
      return std::nullopt;
    read.kind = LoopRead::Kind::Carried;
    read.place = *second;
    const bool carried =
        every([&](size_t i) { return placeIn(loop, all[i].tensor) == *second + (i - 1) * loop.period; });
    return carried ? std::optional(read) : std::nullopt;
  }

  /// One tensor, read further and further along one dimension, and always inside of it.
  std::optional<LoopRead> moving(LoopRead read, const Stretch &loop, const std::vector<Read> &all, size_t p,
                                 size_t k) const {
    if (!all[0].access)
      return std::nullopt;
    const auto &nest = std::get<Nest>(network.nodes[nodes[loop.begin + p].node]);
    const std::vector<int64_t> &shape = network.tensors[size_t(all[0].tensor)].shape;
    std::optional<size_t> dim;
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t step = all[1].access->map[d].constant - all[0].access->map[d].constant;
      for (size_t i = 1; i < all.size(); ++i)
        if (all[i].access->map[d].constant != all[0].access->map[d].constant + int64_t(i) * step)
          return std::nullopt;
      if (step == 0)
        continue;
      if (dim || int32_t(d) == nest.operands[k].gatherDim)
        return std::nullopt;
      dim = d;
      read.dim = d;
      read.step = step;
    }
    for (const Read &each : all) {
      int64_t least = each.access->map[*dim].constant, most = least;
      for (size_t j = 0; j < nest.extents.size(); ++j) {
        const int64_t reach = each.access->map[*dim].perIterator[j] * (nest.extents[j] - 1);
        (reach < 0 ? least : most) += reach;
      }
      if (least < 0 || most >= shape[*dim])
        return std::nullopt;
    }
    read.kind = LoopRead::Kind::Moving;
    return read;
  }

  /// Number of the node that makes the tensor, counted from the first of the loop; nothing if it is none of the loop's.
  std::optional<size_t> placeIn(const Stretch &loop, TensorId tensor) const {
    const int64_t made = producer[size_t(tensor)];
    if (made < 0)
      return std::nullopt;
    const auto found = std::lower_bound(nodes.begin(), nodes.end(), size_t(made),
                                        [](const Candidate &candidate, size_t node) { return candidate.node < node; });
    if (found == nodes.end() || found->node != size_t(made))
      return std::nullopt;
    const size_t number = size_t(found - nodes.begin());
    return number >= loop.begin && number < loop.end() ? std::optional(number - loop.begin) : std::nullopt;
  }

  const Network &network;
  const std::vector<bool> isConstant;
  std::vector<Candidate> nodes;  // those that a body may hold, and those of loops
  std::vector<int64_t> producer; // per tensor: its node
};

} // namespace

std::vector<bool> constantTensors(const Network &network) {
  std::vector<bool> constant;
  for (const Tensor &tensor : network.tensors)
    constant.push_back(tensor.kind == Tensor::Kind::Constant);
  for (const Node &node : network.nodes)
    if (const Remap *remap = std::get_if<Remap>(&node))
      constant[size_t(remap->result)] = std::all_of(remap->pieces.begin(), remap->pieces.end(),
                                                    [&](const Piece &piece) { return constant[size_t(piece.source)]; });
  return constant;
}

std::optional<FoundLoop> findLoop(const RolledNetwork &rolled, size_t leastNodes) {
  return LoopFinder(rolled).find(leastNodes);
}

} // namespace wsc::spmd
