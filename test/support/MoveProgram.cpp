// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/support/MoveProgram.h"

#include "compiler/spmd/moves/BestMove.h"
#include "compiler/spmd/phases/OutputPart.h"
#include "compiler/spmd/phases/Phase.h"
#include "compiler/spmd/plan/PortSharding.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace wsc::test {

using namespace spmd;

StridedPiece wholePiece(const std::vector<int64_t> &shape) {
  StridedPiece whole;
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    whole.digits.insert(whole.digits.begin(), {shape[d], stride, stride});
  return whole;
}

MoveCase moveBetween(const Sharding &from, const Sharding &to, const Rectangle &rectangle, format::ElementType type) {
  MoveCase made;
  made.problem.rectangle = rectangle;
  made.problem.type = type;
  made.problem.sources = {{from, 0}};
  made.problem.target = to;
  made.problem.pieces = {wholePiece(from.shape)};
  describe(made);
  return made;
}

std::vector<int64_t> numbersOf(const MoveProblem &problem) {
  std::vector<int64_t> numbers(size_t(problem.target->elements()), -1);
  for (const StridedPiece &piece : problem.pieces) {
    std::vector<std::pair<int64_t, int64_t>> places{{piece.sourceOffset, piece.resultOffset}}, next;
    for (const Piece::Digit &digit : piece.digits) {
      next.clear();
      for (const auto &[from, to] : places)
        for (int64_t j = 0; j < digit.extent; ++j)
          next.emplace_back(from + j * digit.sourceStride, to + j * digit.resultStride);
      places.swap(next);
    }
    for (const auto &[from, to] : places)
      numbers[size_t(to)] = problem.sources[size_t(piece.source)].firstId + from;
  }
  return numbers;
}

void describe(MoveCase &made) {
  MoveProblem &problem = made.problem;
  problem.ids = 0;
  for (MoveSource &source : problem.sources) {
    source.firstId = problem.ids;
    problem.ids += source.sharding.elements();
  }
  problem.width = problem.target->localElements();
  problem.wanted = [numbers = numbersOf(problem), target = *problem.target](int32_t row, int32_t col,
                                                                            std::vector<int64_t> &ids) {
    target.elementsAt(row, col, ids);
    for (int64_t &id : ids)
      id = id < 0 ? -1 : numbers[size_t(id)];
  };
}

namespace {

/// The least cycles that any machine with one word per link and cycle needs: the busiest cut (between rows, between
/// columns, into one core, out of one core) plus the longest way that some element has to go. The host is beyond the
/// west edge of every row.
class Bound {
public:
  explicit Bound(const MoveCase &made)
      : made(made), rows(made.problem.rectangle.rows), cols(made.problem.rectangle.cols),
        bytes(format::elementBytes(made.problem.type)), holders(size_t(made.problem.ids)), takers(holders.size()) {
    const MoveProblem &problem = made.problem;
    std::vector<int64_t> ids;
    for (const MoveSource &source : problem.sources)
      forCores([&](int32_t core, int32_t r, int32_t c) {
        source.sharding.elementsAt(r, c, ids);
        add(holders, ids, source.firstId, core);
      });
    forCores([&](int32_t core, int32_t r, int32_t c) {
      problem.wanted(r, c, ids);
      add(takers, ids, 0, core);
    });
  }

  int64_t cycles() const {
    std::vector<int64_t> into(size_t(rows) * size_t(cols), 0), out(into), down(size_t(rows), 0), up(down),
        east(size_t(cols), 0), west(east);
    int64_t distance = 0;
    for (size_t id = 0; id < holders.size(); ++id) {
      if (takers[id].empty())
        continue;
      Span held, wanted;
      for (int32_t core : holders[id])
        held.add(core / cols, core % cols);
      for (int32_t core : takers[id])
        wanted.add(core / cols, core % cols);
      if (made.toHost) {
        distance = std::max<int64_t>(distance, held.colLow + 1);
        for (int32_t cut = 0; cut <= held.colLow; ++cut)
          ++west[size_t(cut)];
        if (holders[id].size() == 1)
          ++out[size_t(holders[id][0])];
        continue;
      }
      const std::vector<int32_t> near = nearest(holders[id], takers[id]);
      bool moves = false;
      for (size_t t = 0; t < near.size(); ++t) {
        distance = std::max<int64_t>(distance, near[t]);
        moves |= near[t] > 0;
        into[size_t(takers[id][t])] += near[t] > 0;
      }
      if (made.fromHost) {
        for (int32_t cut = 0; cut <= wanted.colHigh; ++cut)
          ++east[size_t(cut)];
        continue;
      }
      if (moves && holders[id].size() == 1)
        ++out[size_t(holders[id][0])];
      for (int32_t cut = held.rowHigh + 1; cut <= wanted.rowHigh; ++cut)
        ++down[size_t(cut)];
      for (int32_t cut = wanted.rowLow + 1; cut <= held.rowLow; ++cut)
        ++up[size_t(cut)];
      for (int32_t cut = held.colHigh + 1; cut <= wanted.colHigh; ++cut)
        ++east[size_t(cut)];
      for (int32_t cut = wanted.colLow + 1; cut <= held.colLow; ++cut)
        ++west[size_t(cut)];
    }
    int64_t busiest = 0;
    for (const auto &[cuts, links] : {std::pair(&into, 1), std::pair(&out, 1), std::pair(&down, cols),
                                      std::pair(&up, cols), std::pair(&east, rows), std::pair(&west, rows)})
      for (int64_t elements : *cuts)
        busiest = std::max<int64_t>(busiest, ((elements * bytes + 3) / 4 + links - 1) / links);
    return busiest + distance;
  }

private:
  struct Span {
    int32_t rowLow = INT32_MAX, rowHigh = -1, colLow = INT32_MAX, colHigh = -1;
    void add(int32_t row, int32_t col) {
      rowLow = std::min(rowLow, row);
      rowHigh = std::max(rowHigh, row);
      colLow = std::min(colLow, col);
      colHigh = std::max(colHigh, col);
    }
  };

  template <typename Visit> void forCores(Visit visit) const {
    for (int32_t r = 0; r < rows; ++r)
      for (int32_t c = 0; c < cols; ++c)
        visit(r * cols + c, r, c);
  }

  static void add(std::vector<std::vector<int32_t>> &lists, std::vector<int64_t> &ids, int64_t first, int32_t core) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (int64_t id : ids)
      if (id >= 0)
        lists[size_t(first + id)].push_back(core);
  }

  /// Hops from places 0 … length − 1 of an axis to the nearest of those that hold an element.
  static std::vector<int32_t> hopsAlong(int32_t length, const std::vector<char> &holds) {
    std::vector<int32_t> hops(static_cast<size_t>(length), kFar);
    for (size_t i = 0; i < hops.size(); ++i)
      hops[i] = holds[i] ? 0 : i > 0 ? hops[i - 1] + 1 : kFar;
    for (size_t i = hops.size() - 1; i-- > 0;)
      hops[i] = std::min(hops[i], hops[i + 1] + 1);
    return hops;
  }

  /// Of the cores `takers` the hops to the nearest one that holds an element. What a sharding gives to several cores
  /// lies on the cores of some rows and some columns, and of a list of places the nearest ones are looked for.
  std::vector<int32_t> nearest(const std::vector<int32_t> &held, const std::vector<int32_t> &takers) const {
    std::vector<int32_t> near;
    near.reserve(takers.size());
    if (made.fromHost) {
      for (int32_t core : takers)
        near.push_back(core % cols + 1);
      return near;
    }
    std::vector<char> inRow(size_t(rows), 0), inCol(size_t(cols), 0);
    int64_t heldRows = 0, heldCols = 0;
    for (int32_t core : held) {
      heldRows += !std::exchange(inRow[size_t(core / cols)], 1);
      heldCols += !std::exchange(inCol[size_t(core % cols)], 1);
    }
    if (heldRows * heldCols == int64_t(held.size())) {
      const std::vector<int32_t> down = hopsAlong(rows, inRow), across = hopsAlong(cols, inCol);
      for (int32_t core : takers)
        near.push_back(down[size_t(core / cols)] + across[size_t(core % cols)]);
      return near;
    }
    for (int32_t core : takers) {
      int32_t least = kFar;
      for (int32_t other : held)
        least = std::min(least, std::abs(core / cols - other / cols) + std::abs(core % cols - other % cols));
      near.push_back(least);
    }
    return near;
  }

  static constexpr int32_t kFar = INT32_MAX / 2;
  const MoveCase &made;
  const int32_t rows, cols;
  const int64_t bytes;
  std::vector<std::vector<int32_t>> holders, takers; // per element
};

/// The source as an input of a network, the wanted tensor as its output: what the planner is asked where they lie.
Network networkOf(const MoveProblem &problem) {
  Network network;
  network.name = "move";
  Tensor source;
  source.name = "source";
  source.type = problem.type;
  source.shape = problem.sources[0].sharding.shape;
  source.kind = Tensor::Kind::Input;
  source.input = 0;
  Tensor wanted = source;
  wanted.name = "wanted";
  wanted.shape = problem.target->shape;
  wanted.kind = Tensor::Kind::Value;
  wanted.input = -1;
  network.tensors = {source, wanted};
  Remap remap;
  remap.name = "wanted";
  remap.result = 1;
  remap.fill = problem.fill;
  for (const StridedPiece &piece : problem.pieces)
    remap.pieces.push_back({0, piece.sourceOffset, piece.resultOffset, piece.digits});
  network.nodes.push_back(std::move(remap));
  network.inputs = {{"source", 0}};
  network.outputs = {{"wanted", 1}};
  return network;
}

class Writer {
public:
  Writer(const MoveCase &given, const target::Target &target, const std::function<int64_t(int64_t)> &value)
      : made(given), target(target), value(value), rectangle(given.problem.rectangle), type(given.problem.type),
        bytes(format::elementBytes(type)) {}

  absl::StatusOr<MoveProgram> write(bool keepsResult) {
    MoveProblem &problem = made.problem;
    const int64_t room = tensorBytes(target) / 3; // as EntryWriter
    problem.roomBytes = std::min(problem.roomBytes, room);
    EntryPhases entry;
    entry.entry.name = "move";
    phases.resize(1);
    if (made.fromHost || made.toHost) {
      if (problem.sources.size() != 1)
        return absl::UnimplementedError("what the host gives or takes is one tensor");
      const Network network = networkOf(problem);
      Views views(network);
      const bool isSame =
          problem.pieces.size() == 1 && views.of(1).isRoot() && network.tensors[0].shape == network.tensors[1].shape;
      if (made.fromHost) {
        problem.sources[0].sharding =
            inputSharding(network, views, 0, isSame ? 0 : 1, *problem.target, problem.fillMatters, rectangle, room);
        entry.entry.inputs = {{"source", type, network.tensors[0].shape}};
      }
      if (made.toHost) {
        problem.target = outputSharding(network, views, isSame ? 0 : 1, 0, rectangle.rows, rectangle, room,
                                        {problem.sources[0].sharding, std::nullopt});
        entry.entry.outputs = {{"wanted", type, problem.target->shape}};
      }
      describe(made);
    }
    auto makeConstant = [&](const std::string &name, format::ElementType elementType, int32_t rows, int32_t cols,
                            int64_t elements, std::vector<std::byte> data) {
      const int32_t number = constants.add(name, elementType, rectangle, rows, cols, elements, std::move(data));
      return residentBuffer(number);
    };
    std::vector<Place> places;
    for (const MoveSource &source : problem.sources)
      places.push_back(made.fromHost
                           ? input(source.sharding)
                           : Place{makeConstant("held", type, rectangle.rows, rectangle.cols,
                                                wordBytes(type, source.sharding.localElements()) / bytes, held(source)),
                                   0});
    auto plan = planBestMove(problem);
    if (!plan.ok())
      return plan.status();
    const Place moved =
        emitBestMove(phases.back().code, problem, *plan, places, problem.target->rectangle, makeConstant);
    if (made.toHost)
      output(moved);
    else if (keepsResult)
      keep(moved);
    MoveProgram result;
    result.target = *problem.target;
    result.factored = !plan->hops.empty();
    result.isNothing = plan->isIdentity || (plan->parts.size() == 1 && plan->parts[0].plan.stages.empty());
    result.estimatedCycles = plan->isIdentity ? 0 : plan->estimatedCycles;
    result.boundCycles = Bound(made).cycles();
    entry.phases = std::move(phases);
    auto generated = assemble({std::move(entry)}, {}, rectangle, target, std::move(constants));
    if (!generated.ok())
      return generated.status();
    auto program = inMemory(*std::move(generated));
    if (!program.ok())
      return program.status();
    result.program = *std::move(program);
    return result;
  }

private:
  int16_t residentBuffer(int32_t number) {
    const format::Resident &resident = constants.residents[size_t(number)];
    format::Buffer buffer;
    buffer.resident = number;
    buffer.name = resident.name;
    buffer.kind = format::BufferKind::Resident;
    buffer.type = resident.type;
    buffer.bytes = resident.bytes;
    Code &code = phases.back().code;
    code.buffers.push_back(buffer);
    return int16_t(code.buffers.size() - 1);
  }

  std::vector<std::byte> held(const MoveSource &source) const {
    std::vector<std::byte> data;
    std::vector<int64_t> ids;
    for (int32_t r = 0; r < rectangle.rows; ++r)
      for (int32_t c = 0; c < rectangle.cols; ++c) {
        const size_t begin = data.size();
        source.sharding.elementsAt(r, c, ids);
        for (int64_t id : ids) {
          const std::vector<std::byte> element = elementOf(double(value(id < 0 ? -1 : source.firstId + id)), type);
          data.insert(data.end(), element.begin(), element.end());
        }
        data.resize(begin + size_t(wordBytes(type, source.sharding.localElements())));
      }
    return data;
  }

  /// The input as it comes in this sharding.
  Place input(const Sharding &lies) {
    Phase &phase = phases.back();
    const Place place{wordScratch(phase.code, "source", type, lies.localElements()), 0};
    const Rectangle &at = lies.rectangle;
    const int64_t words = wordBytes(type, lies.localElements()) / 4;
    const bool isFlat = at.cols == rectangle.cols && lies == flatSharding(at, lies.elements(), granuleOf(type));
    if (isFlat || liesOn(lies, Axis::Col))
      emitInput(phase.code, at.row, at.row + at.rows, at.cols, words, place, rectangle.cols);
    else
      emitBoxInput(phase.code, at.row + at.rows, words, place);
    phase.ports.push_back(
        {false, 0, at.row, at.row + at.rows, lies.localElements(), isFlat ? std::nullopt : std::optional(lies)});
    return place;
  }

  /// The result leaves as it lies; a last column that is shorter in a configuration of its own.
  void output(Place place) {
    const Sharding &box = *made.problem.target;
    const Rectangle &at = box.rectangle;
    if (box == flatSharding({0, 0, rectangle.rows, rectangle.cols}, box.elements(), granuleOf(type))) {
      emitOutput(phases.back().code, 0, rectangle.rows, at.cols, wordBytes(type, box.localElements()) / 4, place,
                 rectangle.cols);
      phases.back().ports.push_back({true, 0, 0, rectangle.rows, box.localElements(), std::nullopt});
      return;
    }
    const std::vector<std::vector<Sharding>> configurations = leavingParts(box);
    for (size_t c = 0; c < configurations.size(); ++c) {
      if (c > 0)
        place.buffer = carried(place.buffer);
      for (const Sharding &part : configurations[c]) {
        emitOutputPart(phases.back().code, part, box, type, place, rectangle.cols);
        phases.back().ports.push_back(
            {true, 0, part.rectangle.row, part.rectangle.row + part.rectangle.rows, part.localElements(), part});
      }
    }
  }

  /// Begins a phase in which the buffer goes on.
  int16_t carried(int16_t buffer) {
    const format::Buffer held = phases.back().code.buffers[size_t(buffer)];
    if (held.kind == format::BufferKind::Resident) {
      phases.emplace_back();
      return residentBuffer(held.resident);
    }
    constexpr TensorId kCarried = 2;
    phases.back().buffers.emplace(kCarried, buffer);
    phases.emplace_back();
    const int16_t next = phases.back().code.scratch(held.name, held.type, held.bytes / format::elementBytes(held.type));
    phases.back().buffers.emplace(kCarried, next);
    return next;
  }

  /// Copies the result to a resident of its own.
  void keep(Place moved) {
    format::Resident result;
    result.name = kMovedName;
    result.type = type;
    result.bytes = made.problem.width * bytes;
    result.cores.dims[kRowDim] = {rectangle.rows, rectangle.rows > 1 ? 1 : 0, 0};
    result.cores.dims[kColDim] = {rectangle.cols, 0, rectangle.cols > 1 ? 1 : 0};
    constants.residents.push_back(result);
    const int16_t buffer = residentBuffer(int32_t(constants.residents.size()) - 1);
    phases.back().code.append(instruction(format::Opcode::Move, type, {made.problem.width}, memory(buffer, 0, {bytes}),
                                          memory(moved.buffer, moved.baseBytes, {bytes})),
                              guardOf(made.problem.target->rectangle, rectangle));
  }

  MoveCase made;
  const target::Target &target;
  const std::function<int64_t(int64_t)> &value;
  const Rectangle rectangle;
  const format::ElementType type;
  const int64_t bytes;
  ConstantTable constants;
  std::vector<Phase> phases;
};

} // namespace

absl::StatusOr<MoveProgram> moveProgram(const MoveCase &made, const std::function<int64_t(int64_t)> &value,
                                        bool keepsResult) {
  const Rectangle &all = made.problem.rectangle;
  auto target = target::loadTarget(absl::StrCat("mesh-", all.rows, "x", all.cols));
  if (!target.ok())
    return target.status();
  return Writer(made, *target, value).write(keepsResult);
}

} // namespace wsc::test
