// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tries the chains of stages, the shortest first: nothing, one local stage, one line stage, then both orders of two
// line stages. Of two, what a core hands on between them is what the cores of its line along the second axis want and
// no nearer line holds. Works on lists of element numbers: time and memory grow with the elements that cores hold and
// want.
#include "compiler/spmd/moves/Select.h"
#include "compiler/spmd/moves/StageDraft.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::spmd {

namespace {

constexpr int64_t kCyclesPerCore = 10; // both directions: switch, set-up and ramp of a turn
constexpr int64_t kStageCycles = 60;
constexpr int64_t kShortCycles = 1500; // a move of one stage that is not longer is not held against two stages

struct DraftPlan {
  std::vector<Draft> drafts;
  int64_t estimatedCycles = 0, lineBytes = 0;
};

class Planner : StageDrafter {
public:
  using StageDrafter::StageDrafter;

  absl::StatusOr<MovePlan> plan() {
    for (const MoveSource &source : problem.sources)
      sources.push_back(inputOf(source));
    wanted.resize(cores);
    for (int32_t r = 0; r < rows; ++r)
      for (int32_t c = 0; c < cols; ++c)
        problem.wanted(r, c, wanted[core(r, c)]);
    if (absl::Status status = findElements(); !status.ok())
      return status;
    std::optional<Draft> packing = problem.packs ? pack() : std::nullopt;
    std::optional<DraftPlan> best;
    auto consider = [&](std::optional<DraftPlan> plan) {
      if (!plan)
        return;
      const bool fits = plan->lineBytes <= problem.roomBytes, bestFits = best && best->lineBytes <= problem.roomBytes;
      if (!best || (fits && !bestFits) || (fits == bestFits && plan->estimatedCycles < best->estimatedCycles))
        best = std::move(plan);
    };
    consider(single(std::nullopt));
    if (!best) {
      consider(single(Axis::Row));
      consider(single(Axis::Col));
    }
    if (!best || best->lineBytes > problem.roomBytes ||
        (best->drafts[0].stage.axis && best->estimatedCycles > kShortCycles)) {
      for (Axis axis : {Axis::Row, Axis::Col})
        if (auto stages = twice(sources, axis))
          consider(planOf(*std::move(stages)));
    }
    if (!best || best->lineBytes > problem.roomBytes ||
        (best->drafts[0].stage.axis && best->estimatedCycles > 2 * kShortCycles))
      for (Axis axis : {Axis::Row, Axis::Col})
        if (auto stages = balanced(sources, axis))
          consider(planOf(*std::move(stages)));
    // What lies on one line alone is spread over the others first.
    if (best->lineBytes > problem.roomBytes)
      for (Axis axis : {Axis::Row, Axis::Col})
        if (auto stages = spreadThenBalanced(axis))
          consider(planOf(*std::move(stages)));
    const bool packed = packing.has_value();
    if (packed) {
      best->estimatedCycles += cyclesOf(packing->stage);
      best->drafts.insert(best->drafts.begin(), *std::move(packing));
    }
    MovePlan plan;
    plan.estimatedCycles = best->estimatedCycles;
    plan.lineBytes = best->lineBytes;
    for (Draft &draft : best->drafts) {
      draft.stage.selection =
          findSelection(problem.rectangle, draft.stage.selection.width, draft.stage.positions, draft.positions);
      plan.stages.push_back(std::move(draft.stage));
    }
    if (!packed && isIdentity(plan))
      return MovePlan{};
    plan.clears = plan.stages.back().active != hullOf([&](size_t at) { return !wanted[at].empty(); });
    return plan;
  }

private:
  Input inputOf(const MoveSource &source) const {
    Input input;
    input.rectangle = source.sharding.rectangle;
    input.local = source.sharding.localElements();
    input.held.resize(cores);
    for (int32_t r = 0; r < rows; ++r)
      for (int32_t c = 0; c < cols; ++c) {
        Ids &held = input.held[core(r, c)];
        source.sharding.elementsAt(r, c, held);
        for (int64_t &id : held)
          if (id >= 0)
            id += source.firstId;
      }
    return input;
  }

  absl::Status findElements() {
    std::vector<bool> exists(size_t(problem.ids), false);
    for (const Input &input : sources)
      for (const Ids &held : input.held)
        for (int64_t id : held)
          if (id >= 0)
            exists[size_t(id)] = true;
    for (const Ids &list : wanted) {
      if (!list.empty() && int64_t(list.size()) != problem.width)
        return absl::InvalidArgumentError(absl::StrCat("a core wants ", list.size(), " elements, not ", problem.width));
      for (int64_t id : list)
        if (id >= problem.ids || (id >= 0 && !exists[size_t(id)]))
          return absl::InvalidArgumentError(absl::StrCat("element ", id, " is wanted and lies on no core"));
    }
    return absl::OkStatus();
  }

  /// A local stage to what somebody wants of each core's elements, which becomes the source of what follows.
  std::optional<Draft> pack() {
    std::vector<bool> needed(size_t(problem.ids), false);
    for (const Ids &list : wanted)
      for (int64_t id : list)
        if (id >= 0)
          needed[size_t(id)] = true;
    CoreIds lists(cores);
    for (const Input &input : sources)
      for (size_t at = 0; at < cores; ++at)
        for (int64_t id : input.held[at])
          if (id >= 0 && needed[size_t(id)])
            lists[at].push_back(id);
    const int64_t width = levelled(lists);
    auto packing = stage(std::nullopt, sources, lists, width, false);
    if (packing)
      sources = handed(std::move(lists), width, packing->stage.active);
    return packing;
  }

  int64_t cyclesOf(const MoveStage &stage) const {
    int64_t cycles = kStageCycles + 2 * stage.selection.width;
    if (stage.axis) {
      cycles += kCyclesPerCore * length(*stage.axis);
      for (const LineGather &gather : stage.gathers)
        cycles += 2 * gather.words * (gather.end - gather.begin);
    }
    return cycles;
  }

  int64_t bytesOf(const MoveStage &stage) const {
    return stage.axis ? stage.positions * format::elementBytes(problem.type) : 0;
  }

  std::optional<DraftPlan> single(std::optional<Axis> axis) {
    auto only = stage(axis, sources, wanted, problem.width, problem.fillMatters);
    if (!only)
      return std::nullopt;
    std::vector<Draft> drafts;
    drafts.push_back(*std::move(only));
    return planOf(std::move(drafts));
  }

  DraftPlan planOf(std::vector<Draft> drafts) const {
    DraftPlan plan;
    for (const Draft &draft : drafts) {
      plan.estimatedCycles += cyclesOf(draft.stage);
      plan.lineBytes = std::max(plan.lineBytes, bytesOf(draft.stage));
    }
    plan.drafts = std::move(drafts);
    return plan;
  }

  /// Lists padded to one width, sorted, each element once. Returns the width.
  static int64_t levelled(CoreIds &lists) {
    size_t width = 0;
    for (Ids &list : lists) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      width = std::max(width, list.size());
    }
    for (Ids &list : lists)
      if (!list.empty())
        list.resize(width, -1);
    return int64_t(width);
  }

  static std::vector<Input> handed(CoreIds lists, int64_t width, const Rectangle &active) {
    std::vector<Input> inputs(1);
    inputs[0].local = width;
    inputs[0].rectangle = active;
    inputs[0].held = std::move(lists);
    return inputs;
  }

  /// Lines along `first`, then lines along the other axis.
  std::optional<std::vector<Draft>> twice(const std::vector<Input> &inputs, Axis first) {
    const Axis second = other(first);
    if (length(first) == 1 || length(second) == 1)
      return std::nullopt;
    std::vector<int32_t> firstLine(size_t(problem.ids), -1);
    CoreIds between(cores);
    std::vector<std::pair<size_t, int64_t>> elsewhere; // place across the lines, element
    for (int32_t l = 0; l < lines(first); ++l) {
      const std::vector<size_t> line = lineOf(first, l);
      mapLine(inputs, line, [&] {
        for (int64_t id : touched)
          if (firstLine[size_t(id)] < 0)
            firstLine[size_t(id)] = l;
        for (size_t at = 0; at < line.size(); ++at)
          for (int64_t id : wanted[line[at]])
            if (id >= 0) {
              if (places[size_t(id)].input >= 0)
                between[line[at]].push_back(id);
              else
                elsewhere.emplace_back(at, id);
            }
      });
    }
    for (const auto &[at, id] : elsewhere)
      between[onLine(first, firstLine[size_t(id)], int32_t(at))].push_back(id);
    const int64_t width = levelled(between);
    auto one = stage(std::nullopt, inputs, between, width, false);
    if (!one)
      one = stage(first, inputs, between, width, false);
    if (!one)
      return std::nullopt;
    auto two =
        stage(second, handed(std::move(between), width, one->stage.active), wanted, problem.width, problem.fillMatters);
    if (!two)
      return std::nullopt;
    std::vector<Draft> drafts;
    drafts.push_back(*std::move(one));
    drafts.push_back(*std::move(two));
    return drafts;
  }

  /// Lines along `outer` first, only to spread what goes from one line to another over places of the line, then as
  /// `twice`. Transposed tensors would else pass from line to line through single cores.
  std::optional<std::vector<Draft>> balanced(const std::vector<Input> &inputs, Axis outer) {
    const Axis inner = other(outer);
    const int32_t numLines = lines(outer), numPlaces = length(outer);
    if (numLines == 1 || numPlaces == 1)
      return std::nullopt;
    std::vector<int32_t> from(size_t(problem.ids), -1), to(size_t(problem.ids), -1);
    for (int32_t l = 0; l < numLines; ++l)
      for (size_t at : lineOf(outer, l)) {
        for (const Input &input : inputs)
          for (int64_t id : input.held[at])
            if (id >= 0 && from[size_t(id)] < 0)
              from[size_t(id)] = l;
        for (int64_t id : wanted[at])
          if (id >= 0 && to[size_t(id)] < 0)
            to[size_t(id)] = l;
      }
    // The k-th of n elements from one line to another: starts are spread over the places, and so are the n.
    std::vector<int32_t> count(size_t(numLines) * size_t(numLines), 0), number(count.size(), 0);
    auto pair = [&](size_t id) { return size_t(from[id]) * size_t(numLines) + size_t(to[id]); };
    for (size_t id = 0; id < from.size(); ++id)
      if (to[id] >= 0)
        ++count[pair(id)];
    CoreIds spread(cores);
    for (size_t id = 0; id < from.size(); ++id)
      if (to[id] >= 0) {
        const int64_t start = int64_t((from[id] + to[id]) % numLines) * numPlaces / numLines;
        const int64_t place = (start + int64_t(number[pair(id)]++) * numPlaces / count[pair(id)]) % numPlaces;
        spread[onLine(outer, from[id], int32_t(place))].push_back(int64_t(id));
      }
    const int64_t width = levelled(spread);
    auto one = stage(outer, inputs, spread, width, false);
    if (!one)
      return std::nullopt;
    auto rest = twice(handed(std::move(spread), width, one->stage.active), inner);
    if (!rest)
      return std::nullopt;
    rest->insert(rest->begin(), *std::move(one));
    return rest;
  }

  /// The elements of every line along `axis` evenly over its cores, then balanced along the other axis.
  std::optional<std::vector<Draft>> spreadThenBalanced(Axis axis) {
    std::vector<bool> needed(size_t(problem.ids), false);
    for (const Ids &list : wanted)
      for (int64_t id : list)
        if (id >= 0)
          needed[size_t(id)] = true;
    CoreIds spread(cores);
    for (int32_t l = 0; l < lines(axis); ++l) {
      Ids here;
      for (size_t at : lineOf(axis, l))
        for (const Input &input : sources)
          for (int64_t id : input.held[at])
            if (id >= 0 && needed[size_t(id)]) {
              needed[size_t(id)] = false;
              here.push_back(id);
            }
      std::sort(here.begin(), here.end());
      for (size_t i = 0; i < here.size(); ++i)
        spread[onLine(axis, l, int32_t(int64_t(i) * length(axis) / int64_t(here.size())))].push_back(here[i]);
    }
    const int64_t width = levelled(spread);
    auto one = stage(axis, sources, spread, width, false);
    if (!one)
      return std::nullopt;
    auto rest = balanced(handed(std::move(spread), width, one->stage.active), other(axis));
    if (!rest)
      return std::nullopt;
    rest->insert(rest->begin(), *std::move(one));
    return rest;
  }

  bool isIdentity(const MovePlan &plan) const {
    if (plan.stages.size() != 1 || plan.stages[0].axis || sources.size() != 1)
      return false;
    if (!contains(sources[0].rectangle, hullOf([&](size_t at) { return !wanted[at].empty(); })))
      return false; // some core has no such buffer
    const Selection &selection = plan.stages[0].selection;
    if (!selection.strided || selection.base != 0 || selection.baseRow != 0 || selection.baseCol != 0)
      return false;
    int64_t stride = 1;
    for (size_t d = selection.digits.size(); d-- > 0;) {
      if (selection.digits[d].stride != stride)
        return false;
      stride *= selection.digits[d].count;
    }
    return true;
  }

  std::vector<Input> sources;
  CoreIds wanted;
};

} // namespace

absl::Status MoveProblem::check() const {
  if (rectangle.rows < 1 || rectangle.cols < 1)
    return absl::InvalidArgumentError("the move's rectangle has no cores");
  if (sources.empty() && ids > 0)
    return absl::InvalidArgumentError("the move has no source");
  for (const MoveSource &source : sources) {
    if (absl::Status status = source.sharding.check(false); !status.ok())
      return status;
    if (source.firstId < 0 || source.firstId + source.sharding.elements() > ids)
      return absl::InvalidArgumentError(absl::StrCat("a source has elements ", source.firstId, " to ",
                                                     source.firstId + source.sharding.elements(), " of ", ids));
  }
  if (width < 0 || !wanted)
    return absl::InvalidArgumentError("the move does not say what is wanted");
  return absl::OkStatus();
}

absl::StatusOr<MovePlan> planMove(const MoveProblem &problem) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  const int64_t numbers = int64_t(problem.rectangle.rows) * problem.rectangle.cols * problem.width;
  if (numbers > kMostByElement)
    return absl::ResourceExhaustedError(absl::StrCat(
        "its elements are rearranged one by one for ", problem.rectangle.rows, "x", problem.rectangle.cols,
        " cores of ", problem.width, " elements each, ", numbers, " in all; at most ", kMostByElement, " are planned"));
  return Planner(problem).plan();
}

std::function<void(int32_t, int32_t, std::vector<int64_t> &)> wantedBy(const Sharding &sharding) {
  return [sharding](int32_t row, int32_t col, std::vector<int64_t> &ids) { sharding.elementsAt(row, col, ids); };
}

} // namespace wsc::spmd
