// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors to where they are wanted: constants are laid there when the program is loaded, all else is moved.
#include "compiler/spmd/moves/EmitFactored.h"
#include "compiler/spmd/phases/EntryWriter.h"
#include "compiler/spmd/plan/ConstantPlaces.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>

namespace wsc::spmd {

using namespace format;

bool EntryWriter::isConstant(TensorId tensor) {
  for (const View::Root &root : views.of(tensor).roots)
    if (root.tensor >= 0 && network.tensors[size_t(root.tensor)].kind != Tensor::Kind::Constant)
      return false;
  return true;
}

void EntryWriter::addFill(double value, ElementType type, int64_t id, MoveProblem &problem,
                          std::vector<SourceName> &sources) {
  Sharding everywhere = flatSharding({0, 0, 1, 1}, 1, 1);
  everywhere.rectangle = plan.rectangle;
  problem.sources.push_back({everywhere, id});
  const std::vector<std::byte> element = elementOf(value, type);
  std::vector<std::byte> data;
  for (int64_t i = 0; i < granuleOf(type); ++i)
    data.insert(data.end(), element.begin(), element.end());
  sources.push_back({.resident = constants.add("fill", type, plan.rectangle, 1, 1, granuleOf(type), std::move(data))});
}

absl::StatusOr<int32_t> EntryWriter::placeConstant(TensorId tensor, const Sharding &to, double padding) {
  // One for each repetition of the loop, where they differ.
  std::vector<TensorId> all{tensor};
  if (loop)
    if (auto found = loop->constants.find(tensor); found != loop->constants.end())
      all = found->second;
  if (std::all_of(all.begin(), all.end(), [&](TensorId other) { return other == tensor; }))
    all.resize(1);
  const std::string key = absl::StrCat(all.size() > 1 ? "loop " : "", tensor, " ", print(to), " ",
                                       absl::Hex(std::bit_cast<uint64_t>(padding)));
  if (auto found = placed.find(key); found != placed.end())
    return found->second;
  const Tensor &wanted = network.tensors[size_t(tensor)];
  // Whole words, as of everything that may travel; windows of a run step begin at multiples of the banks' period.
  const int64_t period = int64_t(target.sramBanks) * target.sramAccessBytes;
  int64_t window = std::max<int64_t>(elementBytes(wanted.type), wordBytes(wanted.type, to.localElements()));
  if (all.size() > 1)
    window = (window + period - 1) / period * period;
  ConstantStack stack{{}, window};
  for (TensorId each : all)
    stack.boxes.emplace_back(network, views, each, to, plan.rectangle, padding);
  auto added = constants.add(wanted.name, wanted.type, std::move(stack));
  if (!added.ok())
    return added.status();
  const int32_t resident = *added;
  if (all.size() > 1)
    windows.emplace(resident, window);
  placed.emplace(key, resident);
  return resident;
}

absl::StatusOr<Place> EntryWriter::move(TensorId tensor, const Sharding &to, double padding, bool fillMatters) {
  const Tensor &wanted = network.tensors[size_t(tensor)];
  if (isConstant(tensor)) {
    auto resident = placeConstant(tensor, to, padding);
    if (!resident.ok())
      return resident.status();
    return Place{constantBuffer(*resident), 0};
  }
  const View &view = views.of(tensor);
  MoveProblem problem;
  problem.rectangle = plan.rectangle;
  problem.type = wanted.type;
  problem.ids = view.numIds;
  problem.width = to.localElements();
  problem.roomBytes = tensorBytes(target) / 3;
  problem.blockBytes = 3 * problem.roomBytes;
  problem.picks = plan.policy.picks;
  problem.gathers = plan.policy.gathers;
  problem.shifts = plan.policy.shifts;
  std::vector<SourceName> sources;
  const auto pieces = views.piecesOf(tensor);
  for (const View::Root &root : view.roots) {
    if (root.tensor < 0) {
      addFill(views.fillOf(root.tensor), wanted.type, root.firstId, problem, sources);
      continue;
    }
    const Tensor &source = network.tensors[size_t(root.tensor)];
    if (source.kind == Tensor::Kind::Constant) {
      Sharding lies = constantPlace(source, int32_t(problem.sources.size()),
                                    pieces ? *pieces : std::vector<StridedPiece>(), to, plan.rectangle);
      const auto resident = movedConstant(root.tensor, lies);
      if (!resident.ok())
        return resident.status();
      problem.sources.push_back({std::move(lies), root.firstId});
      sources.push_back({.resident = *resident});
      continue;
    }
    problem.sources.push_back({*plan.held[size_t(root.tensor)], root.firstId});
    sources.push_back({.tensor = root.tensor});
  }
  problem.fill = view.fills ? view.fill : padding;
  problem.fillMatters = fillMatters || view.fills;
  // Elements beyond the tensor's ends that are not the view's fill are elements of a constant of their own.
  int64_t outside = -1;
  if (fillMatters && view.fills && view.fill != padding) {
    outside = problem.ids++;
    addFill(padding, wanted.type, outside, problem, sources);
  }
  problem.wanted = [&](int32_t row, int32_t col, std::vector<int64_t> &ids) {
    to.elementsAt(row, col, ids);
    const ElementNumbers &numbers = views.numbersOf(tensor);
    for (int64_t &id : ids)
      id = id < 0 ? outside : numbers ? (*numbers)[size_t(id)] : id;
  };
  if (pieces && outside < 0) {
    problem.pieces = *pieces;
    problem.target = to;
  }
  auto planned = planBestMove(problem);
  if (!planned.ok())
    return absl::Status(planned.status().code(),
                        absl::StrCat("tensor ", wanted.name, ": ", std::string(planned.status().message())));
  auto place = [&](const SourceName &source) {
    return Place{source.resident >= 0 ? constantBuffer(source.resident) : bufferOf(source.tensor), 0};
  };
  auto named = [&](const absl::Status &status) {
    return absl::Status(status.code(), absl::StrCat("tensor ", wanted.name, ": ", std::string(status.message())));
  };
  if (planned->hops.empty() || planned->isIdentity) {
    auto append = [&](Code &to_, const ConstantMaker &makeConstant) {
      std::vector<Place> places;
      for (const SourceName &source : sources)
        places.push_back(place(source));
      return emitBestMove(to_, problem, *planned, places, to.rectangle, makeConstant);
    };
    if (const absl::Status status = makeRoom(append); !status.ok())
      return named(status);
    addMoved(planned->isIdentity ? 0 : planned->estimatedCycles);
    return append(code(), constantMaker());
  }
  // Stage by stage: a phase may end between them.
  const Pins pins(*this);
  Place at, result;
  pinned.push_back(&result);
  for (size_t h = 0; h < planned->hops.size(); ++h) {
    const Hop &hop = planned->hops[h];
    const Pins ofHop(*this);
    Place held = result; // what the hop before made
    if (h > 0)
      pinned.push_back(&held);
    result = beginFactored(code(), hop.problem);
    for (size_t i = 0; i < hop.moves.size(); ++i) {
      const Pins ofPiece(*this);
      for (size_t s = 0; s < hop.moves[i].stages.size(); ++s) {
        const FactoredStage &stage = hop.moves[i].stages[s];
        auto append = [&](Code &to_, const ConstantMaker &makeConstant) {
          if (s == 0)
            at = h == 0 ? place(sources[size_t(hop.problem.pieces[i].source)]) : held;
          const bool isLast = s + 1 == hop.moves[i].stages.size();
          return emitStage(to_, hop.problem, stage, isLast, i == 0 && isLast && fillsResult(hop.problem, hop.moves), at,
                           result, makeConstant);
        };
        if (const absl::Status status = makeRoom(append); !status.ok())
          return named(status);
        addMoved(stage.estimatedCycles);
        at = append(code(), constantMaker());
        if (s == 0)
          pinned.push_back(&at);
      }
    }
    endFactored(code(), hop.problem, result);
  }
  return result;
}

absl::StatusOr<int32_t> EntryWriter::movedConstant(TensorId tensor, const Sharding &lies) {
  const Tensor &source = network.tensors[size_t(tensor)];
  if (loop && loop->constants.contains(tensor))
    return absl::UnimplementedError(absl::StrCat(
        "constant ", source.name, " differs from repetition to repetition and is moved with other tensors"));
  return placeConstant(tensor, lies, 0);
}

void EntryWriter::addMoved(int64_t cycles) {
  phase().estimatedCycles += cycles;
  movedCycles += cycles;
}

} // namespace wsc::spmd
