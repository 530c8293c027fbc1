// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/FactoredMove.h"

#include "compiler/spmd/moves/CopyForm.h"
#include "compiler/spmd/moves/HeldEntries.h"
#include "compiler/spmd/moves/LinePick.h"
#include "compiler/spmd/moves/WantedLists.h"
#include "compiler/spmd/moves/WindowReads.h"
#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace wsc::spmd {

namespace {

constexpr int64_t kCopyCycles = 40;        // set-up of a stage's copies
constexpr int64_t kInstructionCycles = 10; // of one more
constexpr int64_t kMostEntries = 1 << 18;  // of lists; longer ones take too long to plan
constexpr int64_t kMostAtRest = 1 << 18;   // numbers in one factor's lists on all cores

class Planner {
public:
  Planner(const MoveProblem &problem, Factors given)
      : problem(problem), factors(std::move(given)), source(factors.source()), target(factors.target()),
        elementBytes(format::elementBytes(problem.type)) {
    const int32_t r = source.rectangle.row, c = source.rectangle.col;
    for (size_t f = 0; f < factors.factors.size(); ++f) {
      State state;
      for (const FactorEntry &entry : factors.held(f, r, c))
        state.offsets.push_back(entry.offset);
      start.states.push_back(std::move(state));
      std::vector<int64_t> wanted;
      for (const FactorEntry &entry : factors.wanted(f, target.rectangle.row, target.rectangle.col))
        wanted.push_back(entry.offset);
      finalOffsets.push_back(std::move(wanted));
    }
    goal = target.rectangle;
    if (problem.pieces.size() > 1)
      narrowGoal();
    start.present = source.rectangle;
    start.elements = source.localElements();
  }

  std::optional<FactoredMove> plan() {
    // Along the lines of an axis moves what lies spread over it.
    if (listEntries() > kMostEntries)
      return std::nullopt;
    const bool rowsMove = isSpread(factors, factorsAlong(start, Axis::Row), Axis::Row, goal),
               colsMove = isSpread(factors, factorsAlong(start, Axis::Col), Axis::Col, goal);
    std::vector<std::vector<Axis>> orders{{colsMove ? Axis::Col : Axis::Row}};
    if (rowsMove && colsMove) { // the stage that makes boxes larger comes last
      const Axis first = growth(Axis::Row) <= growth(Axis::Col) ? Axis::Row : Axis::Col;
      orders = {{first, other(first)}, {other(first), first}};
    }
    const auto from = [&](const Situation &begin, const FactoredMove &before) {
      std::optional<FactoredMove> move;
      for (size_t i = 0; i < orders.size() && !move; ++i)
        move = chain(orders[i], begin, before);
      return move;
    };
    auto plain = from(start, {});
    Situation now = start;
    FactoredMove before;
    if ((!rowsMove && !colsMove) || !packUseful(now, before))
      return plain;
    auto packed = from(now, before);
    return packed && (!plain || packed->estimatedCycles < plain->estimatedCycles) ? packed : plain;
  }

private:
  struct State {                  // of a factor
    bool isWanted = false;        // the list is the wanted one, else the held one
    std::vector<int64_t> offsets; // of its entries
    std::vector<size_t> chosen;   // those of the held list that are there; none: all
  };
  struct Situation {
    std::vector<State> states;
    Rectangle present; // the cores that have the buffer
    int64_t elements = 0;
  };

  /// Stages along the axes in this order. What lies at rest is selected before the last one where that saves words, or
  /// where the last copy would need a second table.
  std::optional<FactoredMove> chain(const std::vector<Axis> &order, Situation now, FactoredMove before) const {
    for (size_t i = 0; i + 1 < order.size(); ++i)
      if (!stage(order[i], false, now, before))
        return std::nullopt;
    auto last = [&](bool selects) -> std::optional<FactoredMove> {
      FactoredMove move = before;
      Situation at = now;
      if ((selects && !selectAtRest(order.back(), at, move)) || !stage(order.back(), true, at, move))
        return std::nullopt;
      return move;
    };
    auto plain = last(false);
    if (plain && !restIsLarge(order.back(), now))
      return plain;
    auto selected = last(true);
    return !plain || (selected && selected->estimatedCycles < plain->estimatedCycles) ? selected : plain;
  }

  /// Whether cores hold at least twice what their lines want of factors that lie along no axis.
  bool restIsLarge(Axis axis, const Situation &now) const {
    double held = 1, wanted = 1;
    for (size_t f = 0; f < factors.factors.size(); ++f)
      if (!now.states[f].isWanted && !heldAlong(factors.factors[f], axis)) {
        held *= double(now.states[f].offsets.size());
        wanted *= double(finalOffsets[f].size());
      }
    return held >= 2 * wanted;
  }

  /// Whether the factor is a dimension that lies as it is wanted.
  bool isStill(size_t f) const {
    const Factor &factor = factors.factors[f];
    return factor.sourceDims.size() == 1 && factor.wantedDims.size() == 1 &&
           source.dims[factor.sourceDims[0]] == target.dims[factor.wantedDims[0]];
  }

  /// Numbers in all lists of the axes along which something moves.
  int64_t listEntries() const {
    int64_t entries = 0;
    for (Axis axis : {Axis::Row, Axis::Col}) {
      int64_t held = 1, wanted = 1;
      bool isUniform = true;
      const std::vector<size_t> along = factorsAlong(start, axis);
      if (std::all_of(along.begin(), along.end(), [&](size_t f) { return isStill(f); }))
        continue;
      for (size_t f : along) {
        held *= int64_t(start.states[f].offsets.size());
        wanted *= int64_t(finalOffsets[f].size());
        isUniform &= !wantedAlong(factors.factors[f], axis);
      }
      entries += held * source.rectangle.count(axis) + wanted * (isUniform ? 1 : target.rectangle.count(axis));
    }
    return entries;
  }

  /// Entries wanted for each one held, of the factors that lie along an axis.
  double growth(Axis axis) const {
    double growth = 1;
    for (size_t f : factorsAlong(start, axis))
      growth *= double(finalOffsets[f].size()) / double(std::max<size_t>(1, start.states[f].offsets.size()));
    return growth;
  }

  bool heldAlong(const Factor &factor, Axis axis) const {
    return axis == Axis::Row ? factor.heldByCol : factor.heldByRow;
  }
  bool wantedAlong(const Factor &factor, Axis axis) const {
    return axis == Axis::Row ? factor.wantedByCol : factor.wantedByRow;
  }

  /// Leaves out rows and columns that want nothing of the piece.
  void narrowGoal() {
    auto wants = [&](int32_t r, int32_t c, Axis by) {
      for (size_t f = 0; f < factors.factors.size(); ++f) {
        const Factor &factor = factors.factors[f];
        if (factor.wantedByRow && factor.wantedByCol)
          continue;
        if (by == Axis::Row ? !factor.wantedByRow : !factor.wantedByCol)
          continue;
        const FactorList list = factors.wanted(f, r, c);
        if (std::all_of(list.begin(), list.end(), [](const FactorEntry &entry) { return entry.id < 0; }))
          return false;
      }
      return true;
    };
    const Rectangle &all = target.rectangle;
    int32_t rowBegin = all.row, rowEnd = all.row + all.rows, colBegin = all.col, colEnd = all.col + all.cols;
    while (rowEnd - rowBegin > 1 && !wants(rowBegin, all.col, Axis::Row))
      ++rowBegin;
    while (rowEnd - rowBegin > 1 && !wants(rowEnd - 1, all.col, Axis::Row))
      --rowEnd;
    while (colEnd - colBegin > 1 && !wants(all.row, colBegin, Axis::Col))
      ++colBegin;
    while (colEnd - colBegin > 1 && !wants(all.row, colEnd - 1, Axis::Col))
      --colEnd;
    goal = {rowBegin, colBegin, rowEnd - rowBegin, colEnd - colBegin};
  }

  FactorList current(const Situation &now, size_t f, int32_t r, int32_t c) const {
    const State &state = now.states[f];
    FactorList list = state.isWanted ? factors.wanted(f, r, c) : factors.held(f, r, c);
    if (!state.isWanted && !state.chosen.empty()) {
      for (size_t i = 0; i < state.chosen.size(); ++i)
        list[i] = list[state.chosen[i]];
      list.resize(state.chosen.size());
    }
    for (size_t i = 0; i < list.size(); ++i)
      list[i].offset = state.offsets[i];
    return list;
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
        list.push_back({joined(a.id, b.id, a.id * size + b.id), a.offset + b.offset});
    return list;
  }

  /// `onPresentLines`: only lines that have the buffer take part, else the target's.
  LineLists listsOf(const Situation &now, Axis axis, const std::vector<size_t> &along, bool onPresentLines) const {
    LineLists lists;
    lists.axis = axis;
    lists.shifts = problem.shifts;
    lists.blockBytes = problem.blockBytes;
    lists.gatherBytes = problem.gathers ? std::min(problem.roomBytes / 2, problem.blockBytes) : 0;
    const int32_t length = problem.rectangle.count(axis), numLines = problem.rectangle.count(other(axis));
    lists.held.resize(size_t(length));
    for (int32_t k = 0; k < length; ++k) {
      if (k < now.present.first(axis) || k >= now.present.first(axis) + now.present.count(axis))
        continue;
      const auto [r, c] = placeOnLine(axis, k, now.present.first(other(axis)));
      lists.held[size_t(k)] = {{0, 0}};
      for (size_t f : along)
        lists.held[size_t(k)] = times(lists.held[size_t(k)], current(now, f, r, c), factors.factors[f].size);
    }
    lists.takerBegin = goal.first(axis);
    lists.takerEnd = lists.takerBegin + goal.count(axis);
    lists.isUniform =
        std::none_of(along.begin(), along.end(), [&](size_t f) { return wantedAlong(factors.factors[f], axis); });
    lists.classOf.assign(size_t(numLines), -1);
    std::vector<WantedLists> wantedLists;
    for (size_t f : along)
      wantedLists.emplace_back(factors, f, axis, lists.takerBegin, lists.isUniform ? 1 : goal.count(axis));
    std::map<std::vector<const std::vector<FactorList> *>, int32_t> classes;
    const Rectangle &lines = onPresentLines ? now.present : goal;
    for (int32_t l = lines.first(other(axis)); l < lines.first(other(axis)) + lines.count(other(axis)); ++l) {
      std::vector<const std::vector<FactorList> *> parts; // per factor, which remembers them: equal ones are one
      for (WantedLists &each : wantedLists)
        parts.push_back(&each.onLine(l));
      auto [found, added] = classes.emplace(parts, int32_t(lists.wanted.size()));
      lists.classOf[size_t(l)] = found->second;
      if (!added)
        continue;
      std::vector<FactorList> wanted(lists.isUniform ? 1 : size_t(length));
      for (int32_t k = lists.takerBegin; k < (lists.isUniform ? lists.takerBegin + 1 : lists.takerEnd); ++k) {
        FactorList &list = wanted[lists.isUniform ? 0 : size_t(k)];
        if (along.empty())
          list = {{0, 0}};
        for (size_t i = 0; i < along.size(); ++i) {
          const FactorList &part = (*parts[i])[parts[i]->size() == 1 ? 0 : size_t(k - lists.takerBegin)];
          list = i == 0 ? part : times(list, part, factors.factors[along[i]].size);
        }
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

  /// Offsets of all factors' entries in a packed box, dimensions in the wanted tensor's order, and its elements.
  /// `becomesWanted`: the factors of which it holds the wanted entries; of the others it holds what is there.
  std::pair<std::vector<std::vector<int64_t>>, int64_t> packed(const Situation &now,
                                                               const std::vector<bool> &becomesWanted) const {
    std::vector<size_t> order(factors.factors.size());
    std::iota(order.begin(), order.end(), size_t(0));
    auto rank = [&](size_t f) {
      const std::vector<size_t> &dims = factors.factors[f].wantedDims;
      return std::pair(dims.empty() ? size_t(0) : dims.front(), f);
    };
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
    std::vector<std::vector<int64_t>> offsets(factors.factors.size());
    int64_t pitch = 1;
    for (size_t i = order.size(); i-- > 0;) {
      const size_t f = order[i];
      const size_t entries = becomesWanted[f] ? finalOffsets[f].size() : now.states[f].offsets.size();
      for (size_t e = 0; e < entries; ++e)
        offsets[f].push_back(int64_t(e) * pitch);
      pitch *= int64_t(entries);
    }
    return {std::move(offsets), pitch};
  }

  /// Appends a local stage on the cores that hold the source, which leaves out what is of no use to anybody. False
  /// where that is less than a quarter.
  bool packUseful(Situation &now, FactoredMove &move) const {
    double held = 1, useful = 1;
    std::vector<std::vector<int64_t>> from;
    for (size_t f = 0; f < factors.factors.size(); ++f) {
      State &state = now.states[f];
      from.push_back(state.offsets);
      held *= double(state.offsets.size());
      state.chosen = usefulEntries(factors, f, goal);
      useful *= double(state.chosen.size());
      state.offsets.clear();
      for (size_t entry : state.chosen)
        state.offsets.push_back(from.back()[entry]);
      from.back() = state.offsets;
    }
    if (useful == 0 || 4 * useful > 3 * held)
      return false;
    FactoredStage stage;
    stage.blockElements = stage.pitch = now.elements;
    stage.givers = stage.takers = now.present;
    const std::vector<bool> none(factors.factors.size(), false);
    const auto [to, elements] = packed(now, none);
    stage.resultElements = elements;
    CopyForm form(problem, stage);
    for (size_t f = 0; f < from.size(); ++f)
      form.addFixed(from[f], to[f]);
    if (!form.finish())
      return false;
    advance(now, none, to, stage, move, 0);
    return true;
  }

  /// Appends a local stage on the cores that hold the source: of the factors that do not come along `axis` they take
  /// what the cores of their line want. False where that differs along the line, or nothing is to be done.
  bool selectAtRest(Axis axis, Situation &now, FactoredMove &move) const {
    FactoredStage stage;
    stage.axis = axis;
    stage.blockElements = stage.pitch = now.elements;
    stage.givers = now.present;
    stage.takers = now.present;
    const int32_t begin = std::max(now.present.first(other(axis)), goal.first(other(axis)));
    const int32_t end = std::min(now.present.first(other(axis)) + now.present.count(other(axis)),
                                 goal.first(other(axis)) + goal.count(other(axis)));
    if (begin >= end || problem.pieces.size() > 1)
      return false;
    stage.takers.setAlong(other(axis), begin, end - begin);
    std::vector<bool> isSelected(factors.factors.size(), false);
    for (size_t f = 0; f < isSelected.size(); ++f)
      isSelected[f] = !heldAlong(factors.factors[f], axis) && !wantedAlong(factors.factors[f], axis);
    if (std::find(isSelected.begin(), isSelected.end(), true) == isSelected.end())
      return false;
    const auto [offsets, elements] = packed(now, isSelected);
    stage.resultElements = elements;
    CopyForm form(problem, stage);
    for (size_t f = 0; f < factors.factors.size(); ++f) {
      if (!isSelected[f])
        form.addFixed(now.states[f].offsets, offsets[f]);
      else if (!addAtRest(form, stage.takers, now, f, offsets[f]))
        return false;
    }
    if (!form.finish())
      return false;
    advance(now, isSelected, offsets, stage, move, 0);
    return true;
  }

  /// A factor whose wanted entries the takers have already.
  bool addAtRest(CopyForm &form, const Rectangle &takers, const Situation &now, size_t f,
                 const std::vector<int64_t> &to) const {
    const Factor &factor = factors.factors[f];
    const bool byRow = factor.heldByRow || factor.wantedByRow, byCol = factor.heldByCol || factor.wantedByCol;
    const int64_t lists = int64_t(byRow ? takers.rows : 1) * (byCol ? takers.cols : 1);
    if (lists * int64_t(now.states[f].offsets.size() + to.size()) > kMostAtRest)
      return false;
    // Cores whose rows and columns are alike have and want the same.
    auto kindsOf = [&](Axis axis, bool by, bool held) {
      const Axis line = other(axis); // rows are counted along a column
      std::map<std::vector<int64_t>, int32_t> kinds;
      std::vector<int32_t> kindOf(size_t(takers.count(line)), 0);
      for (size_t k = 0; by && k < kindOf.size(); ++k) {
        const int32_t coordinate = takers.first(line) + int32_t(k);
        std::vector<int64_t> key = factors.wantedKey(f, axis, coordinate);
        if (held)
          key.push_back(coordinate);
        kindOf[k] = kinds.emplace(std::move(key), int32_t(kinds.size())).first->second;
      }
      return kindOf;
    };
    std::vector<int64_t> at(size_t(factor.size), -1); // where an entry lies, of the core in hand
    return form.addLocal(
        [&](int32_t r, int32_t c, std::vector<int64_t> &positions) {
          const FactorList held = current(now, f, r, c);
          for (size_t i = held.size(); i-- > 0;)
            if (held[i].id >= 0)
              at[size_t(held[i].id)] = held[i].offset;
          bool hasAll = true;
          for (const FactorEntry &entry : factors.wanted(f, r, c)) {
            positions.push_back(entry.id < 0 ? entry.id : at[size_t(entry.id)]);
            hasAll &= entry.id < 0 || positions.back() >= 0;
          }
          for (const FactorEntry &entry : held)
            if (entry.id >= 0)
              at[size_t(entry.id)] = -1;
          return hasAll;
        },
        kindsOf(Axis::Row, byRow, factor.heldByRow), kindsOf(Axis::Col, byCol, factor.heldByCol), byCol, to, moduli());
  }

  /// The situation behind a stage.
  void advance(Situation &now, const std::vector<bool> &becomesWanted, const std::vector<std::vector<int64_t>> &offsets,
               FactoredStage &stage, FactoredMove &move, int64_t lineCycles) const {
    for (size_t f = 0; f < factors.factors.size(); ++f) {
      now.states[f].isWanted = now.states[f].isWanted || becomesWanted[f];
      now.states[f].offsets = offsets[f];
    }
    now.present = stage.takers;
    now.elements = stage.resultElements;
    // A core's own box is copied where more than it holds is read.
    const int64_t own = stage.slack > 0 ? stage.blockElements + stage.slack : 0;
    const bool isLocal = stage.line.kind == LinePlan::Kind::Local;
    stage.estimatedCycles = lineCycles + stage.resultElements + kCopyCycles + (isLocal ? own : stage.slack / 2);
    stage.estimatedCycles += kInstructionCycles * int64_t(stage.otherCopies.size());
    if (stage.copy.masksPadding) // two more passes
      stage.estimatedCycles += 3 * stage.resultElements / 2;
    move.estimatedCycles += stage.estimatedCycles;
    int64_t blocks = isLocal ? own : stage.line.blocks * stage.pitch;
    if (stage.line.kind == LinePlan::Kind::Pick) // the core's block between zeros, and its numbers
      blocks += 2 * stage.blockElements + stage.line.blocks * ceilDiv(4, elementBytes);
    move.scratchBytes = std::max(move.scratchBytes, (blocks + stage.resultElements) * elementBytes);
    move.stages.push_back(std::move(stage));
  }

  /// Appends one stage: a line plan, or a pick where that takes less than half; false where neither has a form.
  bool stage(Axis axis, bool isLast, Situation &now, FactoredMove &move) const {
    const std::vector<size_t> along = factorsAlong(now, axis);
    for (size_t f : along)
      if (!isLast && wantedAlong(factors.factors[f], other(axis)))
        return false; // these cores only hand on: what they bring may not depend on their line
    const LineLists lists = listsOf(now, axis, along, !isLast);
    const LineBlock block{now.elements, elementBytes};
    struct Made {
      Situation now;
      FactoredMove move;
    };
    auto make = [&](std::optional<LinePlan> line) -> std::optional<Made> {
      Made made{now, move};
      if (!line || !stageBy(*std::move(line), lists, along, axis, isLast, made.now, made.move))
        return std::nullopt;
      return made;
    };
    auto best = make(planLine(lists, block));
    if (problem.picks && (!best || best->move.stages.back().line.kind != LinePlan::Kind::Local)) {
      const int64_t atMost = best ? best->move.stages.back().estimatedCycles / kPickGain : INT64_MAX;
      if (auto picked = make(planPick(lists, block, atMost));
          picked && picked->move.stages.back().estimatedCycles < atMost)
        best = std::move(picked);
    }
    if (!best)
      return false;
    now = std::move(best->now);
    move = std::move(best->move);
    return true;
  }

  /// Appends the stage that this line plan makes; false where its copies have no form.
  bool stageBy(LinePlan line, const LineLists &lists, const std::vector<size_t> &along, Axis axis, bool isLast,
               Situation &now, FactoredMove &move) const {
    const LineBlock block{now.elements, elementBytes};
    FactoredStage stage;
    stage.axis = axis;
    stage.blockElements = now.elements;
    stage.pitch = block.pitch();
    stage.line = std::move(line);
    stage.givers = now.present;
    // Lines take part where both the buffer is and what is wanted of it.
    stage.takers = goal;
    if (!isLast)
      stage.takers.setAlong(other(axis), now.present.first(other(axis)), now.present.count(other(axis)));
    else if (goal.first(other(axis)) < now.present.first(other(axis)) ||
             goal.first(other(axis)) + goal.count(other(axis)) >
                 now.present.first(other(axis)) + now.present.count(other(axis)))
      return false;

    std::vector<bool> isAlong(factors.factors.size(), false);
    for (size_t f : along)
      isAlong[f] = true;
    // Where entries lie in what the line brings.
    Situation brought = now;
    if (stage.line.kind == LinePlan::Kind::Pick && !packEntries(lists, isAlong, brought, stage))
      return false;
    // Where the result's entries lie.
    const auto [offsets, elements] = isLast ? std::pair(finalOffsets, target.localElements()) : packed(now, isAlong);
    stage.resultElements = elements;

    CopyForm form(problem, stage);
    form.addLine(lists, along.empty() ? std::vector<int64_t>{0} : sums(along, offsets), moduli());
    for (size_t f = 0; f < factors.factors.size(); ++f) {
      if (isAlong[f])
        continue;
      // Of several pieces what belongs to another is left out in the last stage, too.
      const bool leavesOut = isLast && problem.pieces.size() > 1;
      if (!isLast || (now.states[f].isWanted && !leavesOut)) {
        form.addFixed(brought.states[f].offsets, offsets[f]);
        continue;
      }
      if (!addAtRest(form, stage.takers, brought, f, offsets[f]))
        return false;
    }
    if (!form.finish())
      return false;

    const bool isWindow = stage.line.kind == LinePlan::Kind::Window;
    const int64_t cycles = isWindow ? windowCycles(stage, elementBytes) : stage.line.cycles(block);
    advance(now, isAlong, offsets, stage, move, cycles);
    return true;
  }

  /// A pick brings entries of the line's factors; of each, what the others have lies packed behind one another.
  bool packEntries(const LineLists &lists, const std::vector<bool> &isAlong, Situation &brought,
                   FactoredStage &stage) const {
    int64_t elements = 1;
    for (size_t f = isAlong.size(); f-- > 0;) {
      if (isAlong[f])
        continue;
      std::vector<int64_t> offsets;
      for (size_t e = 0; e < brought.states[f].offsets.size(); ++e)
        offsets.push_back(int64_t(e) * elements);
      const auto loops = loopsOf(brought.states[f].offsets, offsets);
      if (!loops || brought.states[f].offsets.front() != 0 ||
          std::any_of(loops->begin(), loops->end(), [](const BlockCopy::Loop &loop) { return loop.fromStride < 0; }))
        return false;
      stage.entry.insert(stage.entry.begin(), loops->begin(), loops->end());
      elements *= int64_t(offsets.size());
      brought.states[f].offsets = std::move(offsets);
    }
    stage.pitch = stage.line.entryElements;
    stage.pickClass = lists.classOf;
    return elements == stage.line.entryElements;
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
  CoreModuli moduli() const {
    CoreModuli result;
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
  Rectangle goal; // the cores that want something of the piece
  const int64_t elementBytes;
  Situation start;
  std::vector<std::vector<int64_t>> finalOffsets;
};

} // namespace

std::optional<FactoredMove> planFactored(const MoveProblem &problem, const StridedPiece &piece) {
  if (!problem.target)
    return std::nullopt;
  auto factors = Factors::of(problem.sources[size_t(piece.source)].sharding, *problem.target, piece);
  if (!factors)
    return std::nullopt;
  return Planner(problem, *std::move(factors)).plan();
}

} // namespace wsc::spmd
