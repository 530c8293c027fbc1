// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/FactoredMove.h"

#include "compiler/spmd/moves/CopyForm.h"

#include <algorithm>
#include <map>
#include <set>

namespace wsc::spmd {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
Axis other(Axis axis) { return axis == Axis::Row ? Axis::Col : Axis::Row; }

class Planner {
public:
  Planner(const MoveProblem &problem, const StridedPiece &piece, Factors factors)
      : problem(problem), factors(std::move(factors)), source(problem.sources[size_t(piece.source)].sharding),
        target(*problem.target), elementBytes(format::elementBytes(problem.type)) {
    const int32_t r = source.rectangle.row, c = source.rectangle.col;
    for (size_t f = 0; f < this->factors.factors.size(); ++f) {
      State state;
      for (const FactorEntry &entry : this->factors.held(f, r, c))
        state.offsets.push_back(entry.offset);
      start.states.push_back(std::move(state));
      std::vector<int64_t> wanted;
      for (const FactorEntry &entry : this->factors.wanted(f, target.rectangle.row, target.rectangle.col))
        wanted.push_back(entry.offset);
      finalOffsets.push_back(std::move(wanted));
    }
    start.present = source.rectangle;
    start.elements = source.localElements();
  }

  std::optional<FactoredMove> plan() {
    // Along the lines of an axis moves what lies spread over it.
    const bool rowsMove = isSpread(Axis::Row), colsMove = isSpread(Axis::Col);
    std::optional<FactoredMove> best;
    auto consider = [&](const std::vector<Axis> &order) {
      FactoredMove move;
      Situation now = start;
      for (size_t i = 0; i < order.size(); ++i)
        if (!stage(order[i], i + 1 == order.size(), now, move))
          return;
      if (!best || move.estimatedCycles < best->estimatedCycles)
        best = std::move(move);
    };
    if (rowsMove && colsMove) {
      consider({Axis::Row, Axis::Col});
      consider({Axis::Col, Axis::Row});
    } else {
      consider({colsMove ? Axis::Col : Axis::Row});
    }
    return best;
  }

private:
  struct State { // of a factor
    bool isWanted = false;        // the list is the wanted one, else the held one
    std::vector<int64_t> offsets; // of its entries
  };
  struct Situation {
    std::vector<State> states;
    Rectangle present; // the cores that have the buffer
    int64_t elements = 0;
  };

  /// Row, column of the place `k` on line `l`.
  static std::pair<int32_t, int32_t> place(Axis axis, int32_t k, int32_t l) {
    return axis == Axis::Row ? std::pair(l, k) : std::pair(k, l);
  }
  static int32_t first(const Rectangle &rectangle, Axis along) {
    return along == Axis::Row ? rectangle.col : rectangle.row;
  }
  static int32_t count(const Rectangle &rectangle, Axis along) {
    return along == Axis::Row ? rectangle.cols : rectangle.rows;
  }
  bool heldAlong(const Factor &factor, Axis axis) const {
    return axis == Axis::Row ? factor.heldByCol : factor.heldByRow;
  }
  bool wantedAlong(const Factor &factor, Axis axis) const {
    return axis == Axis::Row ? factor.wantedByCol : factor.wantedByRow;
  }

  FactorList current(const Situation &now, size_t f, int32_t r, int32_t c) const {
    FactorList list = now.states[f].isWanted ? factors.wanted(f, r, c) : factors.held(f, r, c);
    for (size_t i = 0; i < list.size(); ++i)
      list[i].offset = now.states[f].offsets[i];
    return list;
  }

  /// Whether some core along the axis lacks what it wants of the factors that are held along it.
  bool isSpread(Axis axis) const {
    const LineLists lists = listsOf(start, axis, factorsAlong(start, axis), false);
    const auto line = planLine(lists, 1);
    return !line || line->kind != LinePlan::Kind::Local;
  }

  std::vector<size_t> factorsAlong(const Situation &now, Axis axis) const {
    std::vector<size_t> along;
    for (size_t f = 0; f < factors.factors.size(); ++f)
      if (!now.states[f].isWanted && heldAlong(factors.factors[f], axis))
        along.push_back(f);
    return along;
  }

  static FactorList times(const FactorList &outer, const FactorList &inner, int64_t size) {
    FactorList list;
    list.reserve(outer.size() * inner.size());
    for (const FactorEntry &a : outer)
      for (const FactorEntry &b : inner)
        list.push_back({a.id < 0 || b.id < 0 ? -1 : a.id * size + b.id, a.offset + b.offset});
    return list;
  }

  /// `onPresentLines`: only lines that have the buffer take part, else the target's.
  LineLists listsOf(const Situation &now, Axis axis, const std::vector<size_t> &along, bool onPresentLines) const {
    LineLists lists;
    lists.axis = axis;
    const int32_t length = count(problem.rectangle, axis), numLines = count(problem.rectangle, other(axis));
    const Rectangle &goal = target.rectangle;
    lists.held.resize(size_t(length));
    for (int32_t k = 0; k < length; ++k) {
      if (k < first(now.present, axis) || k >= first(now.present, axis) + count(now.present, axis))
        continue;
      const auto [r, c] = place(axis, k, first(now.present, other(axis)));
      lists.held[size_t(k)] = {{0, 0}};
      for (size_t f : along)
        lists.held[size_t(k)] = times(lists.held[size_t(k)], current(now, f, r, c), factors.factors[f].size);
    }
    lists.classOf.assign(size_t(numLines), -1);
    std::map<std::vector<int64_t>, int32_t> classes;
    const Rectangle &lines = onPresentLines ? now.present : goal;
    for (int32_t l = first(lines, other(axis)); l < first(lines, other(axis)) + count(lines, other(axis)); ++l) {
      std::vector<int64_t> key;
      for (size_t f : along) {
        const std::vector<int64_t> part = factors.wantedKey(f, axis, l);
        key.insert(key.end(), part.begin(), part.end());
      }
      auto [found, added] = classes.emplace(std::move(key), int32_t(lists.wanted.size()));
      lists.classOf[size_t(l)] = found->second;
      if (!added)
        continue;
      std::vector<FactorList> wanted(static_cast<size_t>(length));
      for (int32_t k = first(goal, axis); k < first(goal, axis) + count(goal, axis); ++k) {
        const auto [r, c] = place(axis, k, l);
        wanted[size_t(k)] = {{0, 0}};
        for (size_t f : along)
          wanted[size_t(k)] = times(wanted[size_t(k)], factors.wanted(f, r, c), factors.factors[f].size);
      }
      lists.wanted.push_back(std::move(wanted));
    }
    std::set<int64_t> segments;
    for (const Sharding *sharding : {&source, &target})
      for (const DimSharding &dim : sharding->dims)
        for (const MeshDigit &digit : dim.mesh)
          if ((digit.axis == Axis::Row) != (axis == Axis::Row)) {
            segments.insert(digit.divisor);
            if (digit.modulus > 0)
              segments.insert(digit.divisor * digit.modulus);
          }
    for (int64_t cores : segments)
      if (cores > 1)
        lists.segments.push_back(cores);
    return lists;
  }

  /// Appends one stage; false where it has no form.
  bool stage(Axis axis, bool isLast, Situation &now, FactoredMove &move) const {
    const std::vector<size_t> along = factorsAlong(now, axis);
    const LineLists lists = listsOf(now, axis, along, !isLast);
    for (size_t f : along)
      if (!isLast && wantedAlong(factors.factors[f], other(axis)))
        return false; // these cores only hand on: what they bring may not depend on their line
    FactoredStage stage;
    stage.axis = axis;
    stage.blockElements = now.elements;
    const int64_t words = ceilDiv(now.elements * elementBytes, 4);
    stage.pitch = std::max<int64_t>(1, words * 4 / elementBytes);
    auto line = planLine(lists, words);
    if (!line)
      return false;
    stage.line = *std::move(line);
    stage.givers = now.present;
    // Lines take part where both the buffer is and what is wanted of it.
    stage.takers = target.rectangle;
    if (!isLast)
      (axis == Axis::Row ? stage.takers.row : stage.takers.col) = first(now.present, other(axis)),
      (axis == Axis::Row ? stage.takers.rows : stage.takers.cols) = count(now.present, other(axis));
    else if (first(target.rectangle, other(axis)) < first(now.present, other(axis)) ||
             first(target.rectangle, other(axis)) + count(target.rectangle, other(axis)) >
                 first(now.present, other(axis)) + count(now.present, other(axis)))
      return false;

    // Where the result's entries lie.
    std::vector<std::vector<int64_t>> offsets(factors.factors.size());
    std::vector<bool> isAlong(factors.factors.size(), false);
    for (size_t f : along)
      isAlong[f] = true;
    if (isLast) {
      offsets = finalOffsets;
      stage.resultElements = target.localElements();
    } else {
      std::vector<size_t> order(factors.factors.size());
      for (size_t f = 0; f < order.size(); ++f)
        order[f] = f;
      auto rank = [&](size_t f) {
        const std::vector<size_t> &dims = factors.factors[f].wantedDims;
        return dims.empty() ? size_t(0) : dims.front();
      };
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
      int64_t pitch = 1;
      for (size_t i = order.size(); i-- > 0;) {
        const size_t f = order[i];
        const size_t entries = isAlong[f] ? finalOffsets[f].size() : now.states[f].offsets.size();
        for (size_t e = 0; e < entries; ++e)
          offsets[f].push_back(int64_t(e) * pitch);
        pitch *= int64_t(entries);
      }
      stage.resultElements = pitch;
    }

    CopyForm form(problem, stage);
    form.addLine(lists, along.empty() ? std::vector<int64_t>{0} : sums(along, offsets), moduli());
    for (size_t f = 0; f < factors.factors.size(); ++f) {
      if (isAlong[f])
        continue;
      if (now.states[f].isWanted || !isLast) {
        form.addFixed(now.states[f].offsets, offsets[f]);
        continue;
      }
      // A factor whose wanted entries the core has already.
      const Factor &factor = factors.factors[f];
      const bool found = form.addLocal(
          [&](int32_t r, int32_t c, std::vector<int64_t> &positions) {
            const FactorList have = current(now, f, r, c), want = factors.wanted(f, r, c);
            std::map<int64_t, int64_t> at;
            for (const FactorEntry &entry : have)
              if (entry.id >= 0)
                at.emplace(entry.id, entry.offset);
            positions.clear();
            for (const FactorEntry &entry : want) {
              auto place = entry.id < 0 ? at.end() : at.find(entry.id);
              if (entry.id >= 0 && place == at.end())
                return false;
              positions.push_back(entry.id < 0 ? -1 : place->second);
            }
            return true;
          },
          factor.heldByRow || factor.wantedByRow, factor.heldByCol || factor.wantedByCol, offsets[f], moduli());
      if (!found)
        return false;
    }
    if (!form.finish())
      return false;

    for (size_t f = 0; f < factors.factors.size(); ++f) {
      now.states[f].isWanted = now.states[f].isWanted || isAlong[f];
      now.states[f].offsets = offsets[f];
    }
    now.present = stage.takers;
    now.elements = stage.resultElements;
    move.estimatedCycles += stage.line.cycles(words, count(problem.rectangle, axis)) + stage.resultElements + 40;
    const int64_t bytes =
        ((stage.line.kind == LinePlan::Kind::Local ? 0 : stage.line.blocks * stage.pitch) + stage.resultElements) *
        elementBytes;
    move.scratchBytes = std::max(move.scratchBytes, bytes);
    move.stages.push_back(std::move(stage));
    return true;
  }

  /// The offsets of the product of some factors' entries, in its order.
  static std::vector<int64_t> sums(const std::vector<size_t> &along, const std::vector<std::vector<int64_t>> &offsets) {
    std::vector<int64_t> result{0}, next;
    for (size_t f : along) {
      next.clear();
      for (int64_t outer : result)
        for (int64_t inner : offsets[f])
          next.push_back(outer + inner);
      result.swap(next);
    }
    return result;
  }

  /// Moduli of row and column numbers worth trying.
  CopyForm::Moduli moduli() const {
    CopyForm::Moduli result;
    for (const Sharding *sharding : {&source, &target})
      for (const DimSharding &dim : sharding->dims)
        for (const MeshDigit &digit : dim.mesh)
          for (int64_t m : {digit.divisor, digit.modulus * digit.divisor})
            if (m > 1)
              (digit.axis == Axis::Row ? result.rows : result.cols).insert(m);
    return result;
  }

  const MoveProblem &problem;
  const Factors factors;
  const Sharding &source, &target;
  const int64_t elementBytes;
  Situation start;
  std::vector<std::vector<int64_t>> finalOffsets;
};

} // namespace

std::optional<PlaceNumber> PlaceNumber::plus(const PlaceNumber &other) const {
  PlaceNumber sum;
  sum.constant = constant + other.constant;
  auto add = [](const Part &a, const Part &b) -> std::optional<Part> {
    if (a.modulus == b.modulus)
      return Part{a.modulus, a.perGroup + b.perGroup, a.perSub + b.perSub};
    const Part &plain = a.modulus == 1 ? a : b, &grouped = a.modulus == 1 ? b : a;
    if (plain.modulus != 1)
      return std::nullopt;
    return Part{grouped.modulus, grouped.perGroup + plain.perGroup * grouped.modulus,
                grouped.perSub + plain.perGroup};
  };
  const auto rows = add(row, other.row), cols = add(col, other.col);
  if (!rows || !cols)
    return std::nullopt;
  sum.row = *rows;
  sum.col = *cols;
  return sum;
}

std::optional<FactoredMove> planFactored(const MoveProblem &problem, const StridedPiece &piece) {
  if (!problem.target)
    return std::nullopt;
  auto factors = Factors::of(problem.sources[size_t(piece.source)].sharding, *problem.target, piece);
  if (!factors)
    return std::nullopt;
  return Planner(problem, piece, *std::move(factors)).plan();
}

} // namespace wsc::spmd
