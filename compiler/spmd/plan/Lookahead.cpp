// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/Lookahead.h"

#include "compiler/spmd/moves/QuickEstimate.h"
#include "compiler/spmd/plan/Candidates.h"
#include "compiler/spmd/plan/LocalCycles.h"
#include "compiler/spmd/plan/PortSharding.h"

#include <algorithm>

namespace wsc::spmd {

namespace {

constexpr size_t kMostReaders = 3;  // of a tensor, the first ones
constexpr size_t kMostOptions = 48; // of a reader, the quickest ones
constexpr int64_t kUnknown = 4000;  // cycles of a move whose pieces have no form

} // namespace

Lookahead::Lookahead(const Network &network, Views &views, const target::Target &target, const Rectangle &rectangle,
                     bool withoutTaps, bool picks, int64_t mostBytes)
    : network(network), views(views), target(target), rectangle(rectangle), withoutTaps(withoutTaps), picks(picks),
      mostBytes(mostBytes), readers(network.tensors.size()) {
  for (size_t n = 0; n < network.nodes.size(); ++n)
    if (const Nest *nest = std::get_if<Nest>(&network.nodes[n]))
      for (size_t k = 0; k < nest->operands.size(); ++k) {
        const TensorId read = nest->operands[k].tensor;
        for (const View::Root &root : views.of(read).roots)
          if (root.tensor >= 0 && readers[size_t(root.tensor)].size() < kMostReaders &&
              network.tensors[size_t(root.tensor)].kind != Tensor::Kind::Constant)
            readers[size_t(root.tensor)].push_back({n, k});
        if (!pieces.contains(read))
          if (auto found = views.piecesOf(read))
            pieces.emplace(read, *std::move(found));
      }
  const int32_t each = std::max(1, rectangle.rows / std::max(1, int32_t(network.outputs.size())));
  for (size_t o = 0; o < network.outputs.size(); ++o) {
    const TensorId tensor = network.outputs[o].tensor;
    auto found = views.piecesOf(tensor);
    if (!found || network.tensors[size_t(tensor)].elements() == 0)
      continue;
    pieces.emplace(tensor, *std::move(found));
    for (const View::Root &root : views.of(tensor).roots)
      if (root.tensor >= 0 && network.tensors[size_t(root.tensor)].kind != Tensor::Kind::Constant)
        outputsOf[root.tensor].push_back(outputs.size());
    outputs.push_back({tensor, int32_t(o) * each, each, {}});
  }
}

void Lookahead::want(TensorId read, Sharding wanted) {
  for (const View::Root &root : views.of(read).roots)
    if (root.tensor >= 0)
      wants[root.tensor].emplace_back(read, wanted);
  if (!pieces.contains(read))
    if (auto found = views.piecesOf(read))
      pieces.emplace(read, *std::move(found));
}

int64_t Lookahead::after(TensorId tensor, const Sharding &held) {
  int64_t cycles = 0;
  for (const Reader &reader : readers[size_t(tensor)]) {
    const TensorId read = std::get<Nest>(network.nodes[reader.node]).operands[reader.operand].tensor;
    int64_t least = INT64_MAX;
    for (const Option &option : optionsOf(reader)) {
      if (option.excess >= least)
        break; // the quickest ones are first
      least = std::min(least, option.excess + moveCycles(tensor, read, held, option.wanted));
    }
    if (least < INT64_MAX)
      cycles += least;
  }
  if (auto found = wants.find(tensor); found != wants.end())
    for (const auto &[read, wanted] : found->second)
      cycles += moveCycles(tensor, read, held, wanted);
  return cycles + leaving(tensor, held);
}

int64_t Lookahead::leaving(TensorId tensor, const Sharding &held) {
  int64_t cycles = 0;
  if (auto found = outputsOf.find(tensor); found != outputsOf.end())
    for (size_t o : found->second) {
      Output &output = outputs[o];
      if (output.boxes.empty())
        output.boxes = leavingBoxes(network.tensors[size_t(output.tensor)], std::nullopt, output.row, output.rows,
                                    rectangle, mostBytes / 3);
      cycles +=
          quickLeaving(network, views, output.tensor, pieces.at(output.tensor), tensor, held, output.boxes, rectangle);
    }
  return cycles;
}

const std::vector<Lookahead::Option> &Lookahead::optionsOf(const Reader &reader) {
  auto [found, added] = options.emplace(std::pair(reader.node, reader.operand), std::vector<Option>());
  if (!added)
    return found->second;
  const Nest &nest = std::get<Nest>(network.nodes[reader.node]);
  const Access &access = nest.operands[reader.operand];
  std::vector<Option> all;
  for (const Distribution &distribution : candidatesOf(network, views, nest, rectangle, withoutTaps))
    if (localBytes(network, nest, distribution) <= mostBytes)
      all.push_back({localCycles(nest, distribution, target),
                     operandSharding(nest, access, network.tensors[size_t(access.tensor)].shape, distribution)});
  std::stable_sort(all.begin(), all.end(), [](const Option &a, const Option &b) { return a.excess < b.excess; });
  const int64_t least = all.empty() ? 0 : all.front().excess;
  std::vector<Option> &kept = found->second;
  for (Option &option : all) {
    if (kept.size() == kMostOptions)
      break;
    option.excess -= least;
    if (std::none_of(kept.begin(), kept.end(), [&](const Option &other) { return other.wanted == option.wanted; }))
      kept.push_back(std::move(option));
  }
  return kept;
}

int64_t Lookahead::moveCycles(TensorId root, TensorId read, const Sharding &held, const Sharding &wanted) const {
  const int64_t bytes = format::elementBytes(network.tensors[size_t(root)].type);
  if (root == read)
    return held == wanted               ? 0
           : held.shape == wanted.shape ? quickMoveCycles(held, wanted, rectangle, bytes, picks)
                                        : kUnknown;
  const auto found = pieces.find(read);
  if (found == pieces.end())
    return kUnknown;
  const View &view = views.of(read);
  int64_t cycles = 0;
  for (const StridedPiece &piece : found->second)
    if (view.roots[size_t(piece.source)].tensor == root)
      cycles += quickPieceCycles(held, wanted, piece, rectangle, bytes, picks);
  return cycles;
}

} // namespace wsc::spmd
