// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/MoveEstimates.h"

#include "compiler/spmd/moves/Hops.h"
#include "compiler/spmd/plan/ConstantPlaces.h"
#include "compiler/spmd/sharding/Divide.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::spmd {

namespace {

constexpr int64_t kTurnCycles = 8, kStageCycles = 120; // per core of a line; of a stage besides

// Moves element by element take long to compile where many cores want much: a price of one cycle for so many.
constexpr int64_t kElementsPerCycle = 200;

bool has(const Sharding &sharding, Axis axis) {
  for (const DimSharding &dim : sharding.dims)
    for (const MeshDigit &digit : dim.mesh)
      if (digit.axis == axis)
        return true;
  return false;
}

/// Equal for problems that planHops plans alike.
std::string keyOf(const MoveProblem &problem) {
  std::string key = absl::StrCat(problem.rectangle.rows, "x", problem.rectangle.cols, " ", int(problem.type), " ",
                                 problem.fillMatters, " ", problem.roomBytes, " ", problem.picks, problem.gathers, " ",
                                 print(*problem.target));
  for (const MoveSource &source : problem.sources)
    absl::StrAppend(&key, ";", print(source.sharding));
  for (const StridedPiece &piece : problem.pieces) {
    absl::StrAppend(&key, "|", piece.source, " ", piece.sourceOffset, " ", piece.resultOffset);
    for (const Piece::Digit &digit : piece.digits)
      absl::StrAppend(&key, " ", digit.extent, "*", digit.sourceStride, ">", digit.resultStride);
  }
  return key;
}

} // namespace

std::optional<MoveProblem> stridedProblem(const Network &network, Views &views, TensorId tensor, const Sharding &to,
                                          const Rectangle &rectangle,
                                          const std::vector<std::optional<Sharding>> &held) {
  const View &view = views.of(tensor);
  auto pieces = views.piecesOf(tensor);
  if (!pieces)
    return std::nullopt;
  MoveProblem problem;
  problem.rectangle = rectangle;
  problem.thorough = false; // estimates are many
  problem.type = network.tensors[size_t(tensor)].type;
  for (const View::Root &root : view.roots) {
    if (root.tensor < 0)
      return std::nullopt;
    const Tensor &source = network.tensors[size_t(root.tensor)];
    if (held[size_t(root.tensor)])
      problem.sources.push_back({*held[size_t(root.tensor)], root.firstId});
    else if (source.kind == Tensor::Kind::Constant)
      problem.sources.push_back(
          {constantPlace(source, int32_t(problem.sources.size()), *pieces, to, rectangle), root.firstId});
    else
      return std::nullopt;
  }
  problem.pieces = *std::move(pieces);
  problem.ids = view.numIds;
  problem.width = to.localElements();
  problem.target = to;
  return problem;
}

const MoveEstimate &MoveEstimates::of(TensorId tensor, const Sharding &to, bool fillMatters,
                                      const std::vector<std::optional<Sharding>> &held) {
  auto [found, added] =
      known.emplace(std::pair(tensor, absl::StrCat(print(to), fillMatters ? "f" : "")), MoveEstimate());
  if (added)
    found->second = make(tensor, to, fillMatters, held);
  return found->second;
}

MoveEstimate MoveEstimates::make(TensorId tensor, const Sharding &to, bool fillMatters,
                                 const std::vector<std::optional<Sharding>> &held) {
  MoveEstimate estimate;
  if (auto problem = stridedProblem(network, views, tensor, to, rectangle, held)) {
    problem->fillMatters = fillMatters || views.of(tensor).fills;
    problem->roomBytes = roomBytes;
    problem->blockBytes = 3 * roomBytes;
    problem->picks = forms.picks;
    problem->gathers = forms.gathers;
    problem->shifts = false; // see PlanPolicy
    auto [found, added] = cache.try_emplace(keyOf(*problem));
    if (added)
      if (const auto plan = planHops(*problem))
        found->second = MoveEstimate{plan->estimatedCycles, plan->scratchBytes, plan->tableBytes, false};
    if (found->second)
      return *found->second;
  }
  // Two stages and more, each with a table of its own.
  estimate.tableBytes = to.localElements() * 8;
  for (const View::Root &root : views.of(tensor).roots)
    if (root.tensor >= 0)
      addLines(network.tensors[size_t(root.tensor)], held[size_t(root.tensor)], to, estimate);
  estimate.tableBytes += estimate.scratchBytes;
  estimate.cycles = 4 * estimate.cycles + 4 * to.localElements() +
                    int64_t(rectangle.rows) * rectangle.cols * to.localElements() / kElementsPerCycle;
  estimate.isByElement = true;
  if (int64_t(rectangle.rows) * rectangle.cols * to.localElements() > kMostByElement)
    estimate.cycles += kImpossibleMove;
  return estimate;
}

void MoveEstimates::addLines(const Tensor &root, const std::optional<Sharding> &held, const Sharding &to,
                             MoveEstimate &estimate) const {
  const int64_t words = ceilDiv(root.elements() * format::elementBytes(root.type), 4);
  // Lines that share the words: before the move by where they lie, after it by where they go. A constant that is moved
  // with others counts as lying flat.
  const int64_t heldRows = !held ? rectangle.rows : has(*held, Axis::Row) ? held->rectangle.rows : 1;
  const int64_t heldCols = !held ? rectangle.cols : has(*held, Axis::Col) ? held->rectangle.cols : 1;
  const int64_t toRows = has(to, Axis::Row) ? to.rectangle.rows : 1,
                toCols = has(to, Axis::Col) ? to.rectangle.cols : 1;
  const int64_t rowsFirst[2] = {ceilDiv(words, heldRows), ceilDiv(words, toCols)};
  const int64_t colsFirst[2] = {ceilDiv(words, toRows), ceilDiv(words, heldCols)}; // along rows, along columns
  const int64_t *lines = rowsFirst[0] + rowsFirst[1] <= colsFirst[0] + colsFirst[1] ? rowsFirst : colsFirst;
  if (rectangle.cols > 1)
    estimate.cycles += kStageCycles + 2 * lines[0] + kTurnCycles * rectangle.cols;
  if (rectangle.rows > 1)
    estimate.cycles += kStageCycles + 2 * lines[1] + kTurnCycles * rectangle.rows;
  const int64_t longest = 4 * std::max(lines[0], lines[1]), parts = ceilDiv(longest, roomBytes);
  estimate.cycles += (parts - 1) * (2 * kStageCycles + kTurnCycles * (rectangle.rows + rectangle.cols));
  estimate.scratchBytes = std::max(estimate.scratchBytes, std::min(longest, roomBytes));
}

} // namespace wsc::spmd
