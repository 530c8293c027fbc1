// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A move of one hop that takes long is held against two, over the blocks that source or result have on rows and
// columns. Where there is none, or its lines bring more than cores have room for, the shardings between are the
// vertices of a small graph; edges cost what QuickEstimate says. The shortest path is planned hop by hop; a hop without
// a form by factors takes its edge out, and the next path is tried. So are several paths, of which the quickest counts,
// where a thorough plan takes long.
#include "compiler/spmd/moves/Hops.h"

#include "compiler/spmd/moves/QuickEstimate.h"
#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace wsc::spmd {

namespace {

constexpr int kMostHops = 4;             // of a chain
constexpr int kMostTries = 12;           // chains that are planned
constexpr int kMostTriesForRoom = 4;     // the same where there is a plan, of blocks that are too large
constexpr int64_t kChangeCycles = 600;   // of one more configuration, besides the ways to all cores and back
constexpr int64_t kMostTooLong = 3;      // quick estimates that say more than so many times too much are rare
constexpr int64_t kHopCycles = 60;       // of a hop besides its words
constexpr int64_t kShortCycles = 300;    // of a move that is not worth another look
constexpr int64_t kShortOfSeveral = 150; // of one of several pieces
constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 8;

/// What a sharding has on one axis: digits of dimensions, and the cores that hold something.
struct AxisContent {
  std::vector<std::pair<size_t, MeshDigit>> digits;
  int32_t first = 0, count = 1;
  bool operator==(const AxisContent &) const = default;
};

AxisContent contentOf(const Sharding &sharding, Axis axis) {
  AxisContent content;
  const Axis line = other(axis); // rows are counted along a column
  content.first = sharding.rectangle.first(line);
  content.count = sharding.rectangle.count(line);
  for (size_t d = 0; d < sharding.dims.size(); ++d)
    for (const MeshDigit &digit : sharding.dims[d].mesh)
      if (digit.axis == axis && digit.step != 0)
        content.digits.emplace_back(d, digit);
  return content;
}

/// Dense blocks, without halo, of dimensions that either axis has; nothing where they do not cover the tensor.
std::optional<Sharding> blocksOf(const std::vector<int64_t> &shape, const AxisContent &rows, const AxisContent &cols) {
  Sharding sharding;
  sharding.rectangle = {rows.first, cols.first, rows.count, cols.count};
  sharding.shape = shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    DimSharding dim;
    for (const AxisContent *content : {&rows, &cols})
      for (const auto &[at, digit] : content->digits)
        if (at == d)
          dim.mesh.push_back(digit);
    std::vector<std::pair<int64_t, int64_t>> steps; // of the digits, the smallest first; numbers
    for (const MeshDigit &digit : dim.mesh) {
      const int64_t cores = digit.axis == Axis::Row ? rows.count : cols.count;
      steps.emplace_back(digit.step, digit.modulus > 0 ? digit.modulus : ceilDiv(cores, digit.divisor));
    }
    std::sort(steps.begin(), steps.end());
    // Of mixed radix: each digit begins where the smaller ones end.
    int64_t covered = steps.empty() ? shape[d] : steps.front().first;
    if (!steps.empty() && covered < 1)
      return std::nullopt;
    if (covered > 1)
      dim.local.push_back({covered, 1});
    for (const auto &[step, numbers] : steps) {
      if (step != covered)
        return std::nullopt;
      covered = step * numbers;
    }
    if (covered < shape[d])
      return std::nullopt;
    sharding.dims.push_back(std::move(dim));
  }
  return sharding;
}

StridedPiece wholeOf(const std::vector<int64_t> &shape) {
  StridedPiece piece;
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    piece.digits.insert(piece.digits.begin(), {shape[d], stride, stride});
  return piece;
}

class HopPlanner {
public:
  explicit HopPlanner(const MoveProblem &problem)
      : problem(problem), target(*problem.target), bytes(format::elementBytes(problem.type)) {}

  std::optional<HopPlan> plan() {
    MoveProblem anyRoom = problem;
    anyRoom.blockBytes = INT64_MAX;
    auto direct = hop(anyRoom);
    if (!direct) {
      blockBytes = problem.blockBytes;
      return chain(kMostTries, INT64_MAX);
    }
    HopPlan best = collect({*std::move(direct)});
    if (best.estimatedCycles > (problem.pieces.size() > 1 ? kShortOfSeveral : kShortCycles))
      considerBlocks(best);
    if (best.scratchBytes > problem.blockBytes) {
      blockBytes = problem.blockBytes;
      auto smaller = chain(kMostTriesForRoom, INT64_MAX);
      return smaller && smaller->scratchBytes < best.scratchBytes ? std::move(smaller) : std::move(best);
    }
    if (problem.thorough && best.estimatedCycles > kShortCycles)
      if (auto quicker = chain(kMostTries, best.estimatedCycles - changeCycles());
          quicker && quicker->scratchBytes + quicker->tableBytes <= best.scratchBytes + best.tableBytes)
        return quicker;
    return best;
  }

private:
  /// A chain all of whose hops have a form and that takes less than `atMost` cycles: the first one, which is the
  /// shortest by quick estimates, or, of a thorough plan, the quickest of several. Nothing after so many tries.
  std::optional<HopPlan> chain(int mostTries, int64_t atMost) {
    vertices.clear();
    quickly.clear();
    addVertices();
    std::optional<HopPlan> best;
    for (int tries = 0; tries < mostTries && (!best || problem.thorough); ++tries) {
      const auto [path, quick] = shortest();
      if (path.empty() || quick / kMostTooLong > atMost)
        break;
      std::vector<Hop> hops;
      std::vector<int64_t> cycles; // of each hop
      while (hops.size() + 1 < path.size()) {
        auto made = edge(path[hops.size()], path[hops.size() + 1]);
        if (!made)
          break;
        cycles.push_back(cyclesOf(*made));
        hops.push_back(*std::move(made));
      }
      const bool isWhole = hops.size() + 1 == path.size();
      // The next path is one without the hop that has no form, or takes longest.
      const size_t worst =
          isWhole ? size_t(std::max_element(cycles.begin(), cycles.end()) - cycles.begin()) : hops.size();
      closed[{path[worst], path[worst + 1]}] = true;
      if (!isWhole)
        continue;
      HopPlan plan = collect(std::move(hops));
      if (plan.estimatedCycles < atMost && plan.scratchBytes <= problem.blockBytes) {
        atMost = plan.estimatedCycles;
        best = std::move(plan);
      }
    }
    return best;
  }

  /// More hops may not find colours in one configuration.
  int64_t changeCycles() const { return kChangeCycles + 2 * (problem.rectangle.rows + problem.rectangle.cols); }

  static int64_t cyclesOf(const Hop &hop) {
    int64_t cycles = 0;
    for (const FactoredMove &move : hop.moves)
      cycles += move.estimatedCycles;
    return cycles;
  }

  /// Two hops over blocks without halos where that is quicker: lines of a bus that brings channels from a group's cores
  /// need not reach into the groups beside it, from which another line brings borders.
  void considerBlocks(HopPlan &best) {
    vertices = {{problem.sources[size_t(problem.pieces[0].source)].sharding, false}, {target, true}};
    const bool plain = isPlain();
    if (plain)
      vertices[kStart].isWanted = true;
    const Sharding from = vertices[kStart].sharding;
    const AxisContent rowsWanted = contentOf(target, Axis::Row), colsWanted = contentOf(target, Axis::Col);
    std::vector<std::pair<AxisContent, AxisContent>> choices{{rowsWanted, colsWanted}}; // of rows, of columns
    if (plain) {
      choices.emplace_back(contentOf(from, Axis::Row), colsWanted);
      choices.emplace_back(rowsWanted, contentOf(from, Axis::Col));
    } else if (const auto joined = joinedContent()) {
      choices.push_back(*joined);
    }
    for (const auto &[rows, cols] : choices) {
      auto between = blocksOf(target.shape, rows, cols);
      if (!between || *between == target || (plain && *between == from) || !mayLieBetween(*between))
        continue;
      vertices.resize(kEnd + 1);
      vertices.push_back({*std::move(between), true});
      std::vector<Hop> hops;
      int64_t cycles = 0;
      for (const auto &[a, b] : {std::pair(kStart, kEnd + 1), std::pair(kEnd + 1, kEnd)}) {
        auto made = cycles < best.estimatedCycles ? edge(a, b) : std::nullopt;
        if (!made)
          break;
        cycles += cyclesOf(*made);
        hops.push_back(*std::move(made));
      }
      if (hops.size() == 2 && cycles < best.estimatedCycles)
        best = collect(std::move(hops));
    }
  }

  /// Of several pieces whose sources lie alike: what these have on rows and columns, as dimensions of the wanted
  /// tensor. There the pieces are joined by local copies, and then travel as one.
  std::optional<std::pair<AxisContent, AxisContent>> joinedContent() const {
    std::optional<std::pair<AxisContent, AxisContent>> joined;
    if (problem.pieces.size() < 2)
      return joined;
    Sharding whole;
    whole.shape = target.shape;
    for (int64_t extent : whole.shape)
      whole.dims.push_back({0, {}, {{extent, 1}}});
    for (const StridedPiece &piece : problem.pieces) {
      const Sharding &source = problem.sources[size_t(piece.source)].sharding;
      const auto factors = Factors::of(source, whole, piece, false);
      if (!factors)
        return std::nullopt;
      // Per dimension of the source, the one of the wanted tensor that it is, whole.
      std::vector<std::optional<size_t>> wantedDim(source.shape.size());
      for (const Factor &factor : factors->factors)
        if (factor.sourceDims.size() == 1 && factor.wantedDims.size() == 1 &&
            source.shape[factor.sourceDims[0]] == target.shape[factor.wantedDims[0]] &&
            factor.size == source.shape[factor.sourceDims[0]])
          wantedDim[factor.sourceDims[0]] = factor.wantedDims[0];
      std::pair<AxisContent, AxisContent> own{contentOf(source, Axis::Row), contentOf(source, Axis::Col)};
      for (AxisContent *content : {&own.first, &own.second})
        for (auto &[dim, digit] : content->digits) {
          if (!wantedDim[dim])
            return std::nullopt;
          dim = *wantedDim[dim];
        }
      if (joined && *joined != own)
        return std::nullopt;
      joined = std::move(own);
    }
    return joined;
  }

  bool mayLieBetween(const Sharding &between) const {
    return between.localElements() * bytes <= problem.roomBytes && between.localElements() * bytes % 4 == 0;
  }

  /// A sharding of the source (as it lies) or of the wanted tensor.
  struct Vertex {
    Sharding sharding;
    bool isWanted = false;
  };
  // The first two vertices.
  static constexpr size_t kStart = 0, kEnd = 1;

  bool isPlain() const {
    return problem.sources.size() == 1 && problem.pieces.size() == 1 &&
           problem.sources[0].sharding.shape == target.shape && problem.pieces[0].sourceOffset == 0 &&
           problem.pieces[0].resultOffset == 0 && isWhole(problem.pieces[0]);
  }
  bool isWhole(const StridedPiece &piece) const {
    int64_t elements = 1;
    for (const Piece::Digit &digit : piece.digits) {
      if (digit.extent > 1 && digit.sourceStride != digit.resultStride)
        return false;
      elements *= digit.extent;
    }
    return elements == target.elements();
  }

  void addVertices() {
    vertices.push_back({problem.sources[size_t(problem.pieces[0].source)].sharding, false});
    vertices.push_back({target, true});
    const bool plain = isPlain();
    if (plain)
      vertices[kStart].isWanted = true;
    addBetween(target.shape, true, plain ? &vertices[kStart].sharding : nullptr, &target);
    if (!plain && problem.pieces.size() == 1 && problem.sources.size() == 1)
      addBetween(problem.sources[0].sharding.shape, false, &problem.sources[0].sharding, nullptr);
  }

  void addBetween(const std::vector<int64_t> &shape, bool isWanted, const Sharding *from, const Sharding *to) {
    const Sharding fromCopy = from ? *from : Sharding(), toCopy = to ? *to : Sharding();
    auto contents = [&](Axis axis) {
      std::vector<AxisContent> all;
      auto add = [&](AxisContent content) {
        if (std::find(all.begin(), all.end(), content) == all.end())
          all.push_back(std::move(content));
      };
      if (from)
        add(contentOf(fromCopy, axis));
      if (to)
        add(contentOf(toCopy, axis));
      const int32_t cores = problem.rectangle.count(other(axis));
      for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] > 1 && cores > 1) {
          const int64_t step = ceilDiv(shape[d], std::min<int64_t>(shape[d], cores));
          add({{{d, {axis, 1, 0, step}}}, 0, int32_t(ceilDiv(shape[d], step))});
        }
      add({{}, 0, cores});
      return all;
    };
    for (const AxisContent &rows : contents(Axis::Row))
      for (const AxisContent &cols : contents(Axis::Col))
        if (auto between = blocksOf(shape, rows, cols))
          if (mayLieBetween(*between) && std::none_of(vertices.begin(), vertices.end(), [&](const Vertex &vertex) {
                return vertex.isWanted == isWanted && vertex.sharding == *between;
              }))
            vertices.push_back({*std::move(between), isWanted});
  }

  /// An estimate; kNever where there is no edge.
  int64_t quick(size_t a, size_t b) {
    if (a == b || b == kStart || a == kEnd || (vertices[a].isWanted && !vertices[b].isWanted) ||
        (a == kStart && b == kEnd) || closed.contains({a, b}))
      return kNever;
    const Sharding &from = vertices[a].sharding, &to = vertices[b].sharding;
    auto [found, added] = quickly.emplace(std::pair(a, b), 0);
    if (added) {
      const bool isPlainEdge = vertices[a].isWanted == vertices[b].isWanted && from.shape == to.shape;
      found->second = kHopCycles + (isPlainEdge ? quickMoveCycles(from, to, problem.rectangle, bytes, problem.picks)
                                                : rearranging(from, to));
    }
    return found->second;
  }

  /// Of a move between tensors of different shapes: as if all that a line has came over a bus along both axes.
  int64_t rearranging(const Sharding &from, const Sharding &to) const {
    const int64_t held = ceilDiv(from.localElements() * bytes, 4);
    return 2 * to.localElements() + held * std::max(from.rectangle.rows, from.rectangle.cols) +
           3 * (from.rectangle.rows + from.rectangle.cols);
  }

  /// The vertices of the shortest chain of at most kMostHops hops (Bellman and Ford), and its cycles; empty where there
  /// is none.
  std::pair<std::vector<size_t>, int64_t> shortest() {
    const size_t n = vertices.size();
    std::vector<std::vector<int64_t>> least(kMostHops + 1, std::vector<int64_t>(n, kNever));
    std::vector<std::vector<size_t>> before(kMostHops + 1, std::vector<size_t>(n, n));
    least[0][kStart] = 0;
    for (int h = 0; h < kMostHops; ++h)
      for (size_t a = 0; a < n; ++a)
        if (least[size_t(h)][a] < kNever)
          for (size_t b = 0; b < n; ++b)
            if (const int64_t cycles = quick(a, b);
                cycles < kNever && least[size_t(h)][a] + cycles < least[size_t(h) + 1][b]) {
              least[size_t(h) + 1][b] = least[size_t(h)][a] + cycles;
              before[size_t(h) + 1][b] = a;
            }
    int best = -1;
    for (int h = 1; h <= kMostHops; ++h)
      if (least[size_t(h)][kEnd] < kNever && (best < 0 || least[size_t(h)][kEnd] < least[size_t(best)][kEnd]))
        best = h;
    std::vector<size_t> path;
    if (best < 0)
      return {path, kNever};
    size_t at = kEnd;
    for (int h = best; h > 0; at = before[size_t(h)][at], --h)
      path.insert(path.begin(), at);
    path.insert(path.begin(), at);
    return {path, least[size_t(best)][kEnd]};
  }

  std::optional<Hop> edge(size_t a, size_t b) {
    MoveProblem part;
    part.rectangle = problem.rectangle;
    part.type = problem.type;
    part.roomBytes = problem.roomBytes;
    part.blockBytes = blockBytes;
    part.picks = problem.picks;
    part.gathers = problem.gathers;
    part.shifts = problem.shifts;
    part.fill = problem.fill;
    const bool crosses = a == kStart ? !vertices[a].isWanted || vertices[b].isWanted == false
                                     : vertices[a].isWanted != vertices[b].isWanted;
    if (a == kStart && vertices[b].isWanted) {
      part.sources = problem.sources;
      part.pieces = problem.pieces;
      part.ids = problem.ids;
    } else {
      part.sources = {{vertices[a].sharding, 0}};
      part.ids = vertices[a].sharding.elements();
      part.pieces = {crosses && vertices[b].isWanted ? problem.pieces[0] : wholeOf(vertices[a].sharding.shape)};
      part.pieces[0].source = 0;
    }
    part.target = vertices[b].sharding;
    part.width = part.target->localElements();
    // What lies in no piece holds the fill from where the tensor takes its wanted shape on.
    part.fillMatters = vertices[b].isWanted && problem.fillMatters;
    return hop(part);
  }

  static std::optional<Hop> hop(const MoveProblem &part) {
    Hop made;
    for (const StridedPiece &piece : part.pieces) {
      auto move = planFactored(part, piece);
      if (!move)
        return std::nullopt;
      made.moves.push_back(*std::move(move));
    }
    if (made.moves.empty())
      return std::nullopt;
    made.problem = part;
    made.problem.wanted = nullptr;
    return made;
  }

  HopPlan collect(std::vector<Hop> hops) const {
    HopPlan plan;
    for (size_t i = 0; i < hops.size(); ++i) {
      int64_t scratch = 0;
      for (const FactoredMove &move : hops[i].moves) {
        plan.estimatedCycles += move.estimatedCycles;
        scratch = std::max(scratch, move.scratchBytes);
        for (const FactoredStage &stage : move.stages) {
          if (stage.line.kind == LinePlan::Kind::Pick)
            plan.tableBytes += stage.line.blocks * 4;
          if (stage.copy.table)
            plan.tableBytes += stage.copy.table->length() * (4 + (stage.copy.masksPadding ? bytes : 0));
        }
      }
      if (i > 0)
        scratch += hops[i].problem.sources[0].sharding.localElements() * bytes;
      plan.scratchBytes = std::max(plan.scratchBytes, scratch);
    }
    plan.hops = std::move(hops);
    return plan;
  }

  const MoveProblem &problem;
  const Sharding &target;
  const int64_t bytes;
  int64_t blockBytes = INT64_MAX; // of edges
  std::vector<Vertex> vertices;
  std::map<std::pair<size_t, size_t>, int64_t> quickly;
  std::map<std::pair<size_t, size_t>, bool> closed;
};

} // namespace

std::optional<HopPlan> planHops(const MoveProblem &problem) {
  if (!problem.target || problem.pieces.empty())
    return std::nullopt;
  return HopPlanner(problem).plan();
}

} // namespace wsc::spmd
