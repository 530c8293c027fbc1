// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two entry writers: one for the tile, whose inputs are there and whose outputs stay there, and one for the rectangle
// of all tiles, which moves between the entry's inputs and outputs and tensors that lie on tiles. Their phases make one
// entry; the tensors that both name have the tile's numbers.
#include "compiler/spmd/phases/SampleGroups.h"

#include "compiler/spmd/phases/EntryWriter.h"
#include "compiler/spmd/phases/FewerChanges.h"
#include "compiler/spmd/phases/States.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <utility>

namespace wsc::spmd {

using namespace format;

namespace {

/// Numbers of the frame's tensors begin here in the entry.
constexpr TensorId kFrameTensors = 1 << 24;

TensorId addValue(Network &network, const std::string &name, ElementType type, std::vector<int64_t> shape) {
  Tensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.shape = std::move(shape);
  network.tensors.push_back(std::move(tensor));
  return TensorId(network.tensors.size() - 1);
}

class GroupWriter {
public:
  GroupWriter(const Network &network, const OneSample &one, const NetworkPlan &plan, const Tiling &tiling,
              const target::Target &target)
      : network(network), one(one), tiling(tiling), target(target), passes(one.samples / tiling.tiles()),
        unit(one.network), unitPlan(plan) {}

  absl::StatusOr<GeneratedProgram> write() {
    auto states = StateTable::create({network}, tiling.whole(), constants);
    if (!states.ok())
      return states.status();
    if (absl::Status status = makeFrame(); !status.ok())
      return status;
    Views frameViews(frame), unitViews(unit);
    auto framePlan = planNetwork(frame, frameViews, target, tiling.whole());
    if (!framePlan.ok())
      return framePlan.status();
    for (const auto &[tensor, sharding] : held)
      framePlan->held[size_t(tensor)] = sharding;
    EntryWriter outside(frame, frameViews, target, *framePlan, constants, *states);
    outside.begin();
    outside.readInputs();
    std::vector<std::pair<size_t, size_t>> in, out; // stretches of the frame's phases, per pass
    if (absl::Status status = bring(outside, arriving, in); !status.ok())
      return status;
    const size_t arrived = outside.phases.size();
    in[0].first = 0; // with what reads the inputs
    outside.beginPhase();
    if (absl::Status status = bring(outside, leaving, out); !status.ok())
      return status;
    if (absl::Status status = outside.writeOutputs(); !status.ok())
      return status;
    out.back().second = outside.phases.size();

    EntryPhases entry;
    entry.onTiles.emplace();
    entry.onTiles->tiling = tiling;
    entry.onTiles->residentBegin = constants.residents.size();
    EntryWriter inside(unit, unitViews, target, unitPlan, constants, *states);
    inside.begin();
    if (absl::Status status = inside.writeNodes(); !status.ok())
      return status;
    for (size_t o = 0; o < made.size(); ++o)
      if (absl::Status status = inside.bringTo(unit.outputs[o].tensor, made[o]); !status.ok())
        return status;
    entry.onTiles->residentEnd = constants.residents.size();

    for (Phase &phase : outside.phases)
      rename(phase);
    auto add = [&](std::vector<Phase> &from, size_t begin, size_t end) {
      std::move(from.begin() + std::ptrdiff_t(begin), from.begin() + std::ptrdiff_t(end),
                std::back_inserter(entry.phases));
    };
    add(outside.phases, 0, arrived);
    entry.onTiles->begin = arrived;
    add(inside.phases, 0, inside.phases.size());
    entry.onTiles->end = entry.phases.size();
    add(outside.phases, arrived, outside.phases.size());
    for (size_t p = 0; passes > 1 && p < size_t(passes); ++p) {
      entry.order.push_back(in[p]);
      entry.order.emplace_back(entry.onTiles->begin, entry.onTiles->end);
      entry.order.emplace_back(out[p].first + inside.phases.size(), out[p].second + inside.phases.size());
    }
    entry.entry.name = network.name;
    for (const auto &[named, types] :
         {std::pair(&network.inputs, &entry.entry.inputs), std::pair(&network.outputs, &entry.entry.outputs)})
      for (const NamedTensor &each : *named) {
        const Tensor &tensor = network.tensors[size_t(each.tensor)];
        types->push_back({each.name, tensor.type, tensor.shape});
      }
    std::vector<EntryPhases> entries;
    entries.push_back(std::move(entry));
    return assemble(std::move(entries), std::move(states->variables), tiling.whole(), target, std::move(constants));
  }

private:
  struct Brought {
    TensorId tensor, place;
  };

  /// The network around the tiles. Per pass: views of the inputs come to where the tiles have them, what these have
  /// made goes to a tensor of the pass.
  absl::Status makeFrame() {
    frame.name = network.name;
    arriving.resize(size_t(passes));
    leaving.resize(size_t(passes));
    auto addOnTiles = [&](const Tensor &each) {
      std::vector<int64_t> shape = each.shape;
      shape.insert(shape.begin(), {tiling.rows, tiling.cols});
      return addValue(frame, each.name, each.type, std::move(shape));
    };
    const int64_t tiles = tiling.tiles();
    for (size_t i = 0; i < network.inputs.size(); ++i) {
      const Tensor &each = one.network.tensors[size_t(one.network.inputs[i].tensor)];
      frame.tensors.push_back(network.tensors[size_t(network.inputs[i].tensor)]);
      const auto input = TensorId(frame.tensors.size() - 1);
      frame.inputs.push_back({network.inputs[i].name, input});
      const int64_t elements = each.elements();
      if (elements == 0)
        continue;
      const Sharding &atRest = *unitPlan.held[size_t(one.network.inputs[i].tensor)];
      auto lies = onTiles(atRest, tiling);
      if (!lies)
        return absl::UnimplementedError(absl::StrCat("input ", network.inputs[i].name, " lies on a tile as ",
                                                     print(atRest), ", which has no form on ", tiles, " tiles"));
      const TensorId place = addOnTiles(each);
      held.emplace_back(place, *std::move(lies));
      inUnit[place] = one.network.inputs[i].tensor;
      for (int64_t p = 0; p < passes; ++p) {
        const TensorId part = addOnTiles(each);
        Piece piece;
        piece.source = input;
        piece.sourceOffset = one.sharedInputs[i] ? 0 : p * tiles * elements;
        piece.digits = {{tiles, one.sharedInputs[i] ? 0 : elements, elements}, {elements, 1, 1}};
        frame.nodes.push_back(Remap{each.name, part, {std::move(piece)}});
        arriving[size_t(p)].push_back({part, place});
      }
    }
    for (size_t o = 0; o < network.outputs.size(); ++o) {
      const Tensor each = one.network.tensors[size_t(one.network.outputs[o].tensor)];
      const int64_t elements = each.elements();
      const TensorId mine = addValue(unit, each.name, each.type, {elements}),
                     place = addValue(frame, each.name, each.type, {tiling.rows, tiling.cols, elements});
      made.push_back(mine);
      unitPlan.held.push_back(flatSharding(tiling.tile, elements, granuleOf(each.type)));
      held.emplace_back(place, *onTiles(*unitPlan.held.back(), tiling));
      inUnit[place] = mine;
      Remap joined{each.name,
                   addValue(frame, each.name, each.type, network.tensors[size_t(network.outputs[o].tensor)].shape),
                   {}};
      for (int64_t p = 0; p < passes; ++p) {
        const TensorId view = addValue(frame, each.name, each.type, {tiles * elements}),
                       kept = addValue(frame, each.name, each.type, {tiles * elements});
        frame.nodes.push_back(Remap{each.name, view, {Piece{place, 0, 0, {{tiles * elements, 1, 1}}}}});
        held.emplace_back(kept, flatSharding(tiling.whole(), tiles * elements, granuleOf(each.type)));
        leaving[size_t(p)].push_back({view, kept});
        joined.pieces.push_back(Piece{kept, 0, p * tiles * elements, {{tiles * elements, 1, 1}}});
      }
      frame.outputs.push_back({network.outputs[o].name, joined.result});
      frame.nodes.push_back(std::move(joined));
    }
    return absl::OkStatus();
  }

  static absl::Status bring(EntryWriter &writer, const std::vector<std::vector<Brought>> &all,
                            std::vector<std::pair<size_t, size_t>> &stretches) {
    for (size_t p = 0; p < all.size(); ++p) {
      if (p > 0)
        writer.beginPhase();
      const size_t begin = writer.phases.size() - 1;
      for (const Brought &each : all[p])
        if (absl::Status status = writer.bringTo(each.tensor, each.place); !status.ok())
          return status;
      stretches.emplace_back(begin, writer.phases.size());
    }
    return absl::OkStatus();
  }

  /// A frame's phase names its tensors as the entry does.
  void rename(Phase &phase) const {
    std::map<TensorId, int16_t> buffers;
    for (const auto &[tensor, buffer] : phase.buffers) {
      const auto found = inUnit.find(tensor);
      buffers.emplace(found != inUnit.end() ? found->second : kFrameTensors + tensor, buffer);
    }
    phase.buffers = std::move(buffers);
  }

  const Network &network;
  const OneSample &one;
  const Tiling tiling;
  const target::Target &target;
  const int64_t passes;
  Network unit; // and what its outputs are brought to
  NetworkPlan unitPlan;
  ConstantTable constants;
  Network frame;
  std::vector<std::pair<TensorId, Sharding>> held;     // of the frame's tensors that no node makes
  std::map<TensorId, TensorId> inUnit;                 // the frame's tensors that are the unit's
  std::vector<TensorId> made;                          // per output, of the unit
  std::vector<std::vector<Brought>> arriving, leaving; // per pass
};

/// Of grids of so many tiles the one whose tiles are the nearest to squares: rows and columns of tiles.
std::pair<int32_t, int32_t> gridOf(int64_t tiles, const target::Target &target) {
  std::pair<int32_t, int32_t> best{0, 0};
  double least = 0;
  for (int64_t rows = 1; rows <= tiles; ++rows) {
    if (tiles % rows != 0 || rows > target.rows || tiles / rows > target.cols)
      continue;
    const double height = double(target.rows) / double(rows),
                 width = double(target.cols) * double(rows) / double(tiles);
    const double slimness = std::max(height / width, width / height);
    if (best.first == 0 || slimness < least) {
      best = {int32_t(rows), int32_t(tiles / rows)};
      least = slimness;
    }
  }
  return best;
}

} // namespace

absl::StatusOr<GeneratedProgram> generateOnTiles(const Network &network, const OneSample &one, const NetworkPlan &plan,
                                                 int32_t tileRows, int32_t tileCols, const target::Target &target) {
  return GroupWriter(network, one, plan, Tiling{plan.rectangle, tileRows, tileCols}, target).write();
}

absl::StatusOr<GeneratedProgram> generateInGroups(const Network &network, const OneSample &one,
                                                  const target::Target &target, const PlanHost &host) {
  absl::StatusOr<GeneratedProgram> best =
      absl::ResourceExhaustedError("no grid of tiles holds the network of a sample");
  // From many small tiles to few large ones, until that makes it slower.
  int64_t least = INT64_MAX;
  bool isSlower = false;
  for (int64_t tiles = one.samples; tiles >= 1 && !isSlower; --tiles) {
    if (one.samples % tiles != 0)
      continue;
    const auto [rows, cols] = gridOf(tiles, target);
    if (rows == 0)
      continue;
    target::Target tile = target;
    tile.rows = target.rows / rows;
    tile.cols = target.cols / cols;
    // Where inputs lie as their readers want them, their places may have no form on tiles.
    for (const bool inputsAreFlat : {false, true}) {
      auto planned = planProgram({one.network}, tile, {.inputsAreFlat = inputsAreFlat}, host);
      if (!planned.ok())
        continue;
      const OneSample asPlanned{planned->networks[0], one.samples, one.sharedInputs};
      auto program = generateOnTiles(network, asPlanned, planned->plans[0], rows, cols, target);
      if (!program.ok()) {
        if (!absl::IsResourceExhausted(program.status()) && !absl::IsUnimplemented(program.status()))
          return program;
        continue;
      }
      const int64_t cycles = predictedCycles(program->executable);
      isSlower = cycles > least;
      if (cycles < least) {
        least = cycles;
        best = std::move(program);
      }
      break;
    }
  }
  return best;
}

} // namespace wsc::spmd
