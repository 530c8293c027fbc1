// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links carry words in flat arrays over the mesh; an option is laid out and taken up again in the time of its links.
#include "compiler/solver/Alternatives.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>

namespace wsc::solver::alternatives {

namespace {

constexpr int kPatience = 8; // rounds without a better choice
constexpr int64_t kLinkCost = 64, kMostHistory = int64_t(1) << 20, kMostPrice = 4096;

// Calls visit(direction, router) for every link of a load.
template <typename Visit> void forEachLink(const Load &load, int32_t cols, Visit visit) {
  constexpr std::array<int32_t, 4> kRowStep{-1, 1, 0, 0}, kColStep{0, 0, 1, -1}; // by Direction
  const routing::Segment &s = load.segment;
  const auto d = size_t(routing::directionOf(s));
  const int32_t step = kRowStep[d] * cols + kColStep[d];
  const int32_t length = std::abs(s.rowEnd - s.row) + std::abs(s.colEnd - s.col);
  for (int32_t i = 0, router = s.row * cols + s.col; i < length; ++i, router += step)
    visit(d, size_t(router));
}

class Negotiation {
public:
  explicit Negotiation(const Problem &problem)
      : problem(problem), capacity(std::max<int64_t>(1, problem.linkCapacityWords)) {
    routing::Problem links{problem.rows, problem.cols, {}, {}, problem.fixed};
    words = routing::linkWords(links, nullptr);
    for (auto &of : history)
      of.assign(words[0].size(), 0);
    choice.optionOf.assign(problem.items.size(), 0);
    for (size_t i = 0; i < problem.items.size(); ++i)
      lay(chosen(i), +1);
  }

  Solution solve(int rounds) {
    Solution best = choice;
    auto bestCost = over();
    int patience = kPatience;
    for (int round = 0; round < rounds && std::get<0>(bestCost) > 0 && patience-- > 0; ++round) {
      remember();
      for (size_t i = 0; i < problem.items.size(); ++i)
        if (problem.items[i].options.size() > 1 && isOver(chosen(i)))
          chooseAgain(i);
      price = std::min(price * 3 / 2, kMostPrice);
      if (auto cost = over(); cost < bestCost) {
        bestCost = cost;
        best = choice;
        patience = kPatience;
      }
    }
    for (size_t i = 0; i < problem.items.size(); ++i)
      take(i, best.optionOf[i]);
    goBack(std::max(problem.linkCapacityWords, std::get<1>(bestCost)));
    return choice;
  }

  // Words on the busiest link, as laid out now.
  int64_t busiest() const { return std::get<1>(over()); }

private:
  const Option &chosen(size_t item) const { return problem.items[item].options[choice.optionOf[item]]; }

  void lay(const Option &option, int64_t sign) {
    for (const Load &load : option.loads)
      forEachLink(load, problem.cols, [&](size_t d, size_t router) { words[d][router] += sign * load.wordsPerSample; });
  }
  void take(size_t item, int32_t option) {
    lay(chosen(item), -1);
    choice.optionOf[item] = option;
    lay(chosen(item), +1);
  }

  // Words over the capacity of all links together, and on the busiest link.
  std::tuple<int64_t, int64_t> over() const {
    int64_t sum = 0, peak = 0;
    for (const auto &of : words)
      for (int64_t onLink : of) {
        sum += std::max<int64_t>(0, onLink - problem.linkCapacityWords);
        peak = std::max(peak, onLink);
      }
    return {sum, peak};
  }
  bool isWithin(const Option &option, int64_t limit) const {
    bool within = true;
    for (const Load &load : option.loads)
      forEachLink(load, problem.cols, [&](size_t d, size_t router) { within &= words[d][router] <= limit; });
    return within;
  }
  bool isOver(const Option &option) const { return !isWithin(option, problem.linkCapacityWords); }

  // In parts of 256 of the capacity.
  int64_t excess(int64_t onLink) const {
    if (onLink <= problem.linkCapacityWords)
      return 0; // most links: no division
    return (std::clamp<int64_t>(onLink - problem.linkCapacityWords, 0, capacity << 12) * 256 + capacity - 1) / capacity;
  }
  void remember() {
    for (size_t d = 0; d < words.size(); ++d)
      for (size_t router = 0; router < words[d].size(); ++router)
        if (int64_t more = excess(words[d][router]); more > 0)
          history[d][router] = std::min(kMostHistory, history[d][router] + std::max(kLinkCost / 4, more));
  }
  // Of an option whose loads are laid out.
  int64_t costOf(const Option &option) const {
    int64_t cost = option.cost * kLinkCost;
    for (const Load &load : option.loads)
      forEachLink(load, problem.cols, [&](size_t d, size_t router) {
        cost += (kLinkCost + history[d][router]) * (256 + price * excess(words[d][router])) / 256;
      });
    return cost;
  }
  void chooseAgain(size_t item) {
    int32_t best = choice.optionOf[item];
    int64_t least = costOf(chosen(item));
    for (int32_t option = 0; option < int32_t(problem.items[item].options.size()); ++option) {
      take(item, option);
      if (int64_t cost = costOf(chosen(item)); cost < least) {
        least = cost;
        best = option;
      }
    }
    take(item, best);
  }
  void goBack(int64_t limit) {
    for (size_t i = 0; i < problem.items.size(); ++i) {
      const int32_t now = choice.optionOf[i];
      for (int32_t option = 0; option < now; ++option) {
        take(i, option);
        if (isWithin(chosen(i), limit))
          break;
        take(i, now);
      }
    }
  }

  const Problem &problem;
  int64_t capacity, price = 256;
  routing::LinkWords words, history;
  Solution choice;
};

} // namespace

absl::Status Problem::check() const {
  // What holds for the loads of a routing problem holds here.
  routing::Problem loads{rows, cols, linkCapacityWords, {}, fixed};
  for (const Item &item : items) {
    if (item.options.empty())
      return absl::InvalidArgumentError(absl::StrCat("alternatives: item ", item.name, " has no option"));
    for (const Option &option : item.options) {
      if (option.cost < 0 || option.cost > int64_t(1) << 24)
        return absl::InvalidArgumentError(absl::StrCat("alternatives: item ", item.name, ": option ", option.tag,
                                                       " costs ", option.cost, " links, must be 0 to 2^24"));
      loads.fixed.insert(loads.fixed.end(), option.loads.begin(), option.loads.end());
    }
  }
  return loads.check();
}

absl::Status Solution::verify(const Problem &problem) const {
  if (optionOf.size() != problem.items.size())
    return absl::FailedPreconditionError(
        absl::StrCat("alternatives: solution chooses for ", optionOf.size(), " of ", problem.items.size(), " items"));
  for (size_t i = 0; i < optionOf.size(); ++i)
    if (optionOf[i] < 0 || optionOf[i] >= int32_t(problem.items[i].options.size()))
      return absl::FailedPreconditionError(absl::StrCat("alternatives: item ", problem.items[i].name, " has no option ",
                                                        optionOf[i], " of ", problem.items[i].options.size()));
  return absl::OkStatus();
}

// The same problem on the columns that options touch, side by side: cost grows with these, not with the mesh.
static Problem onTouchedColumns(const Problem &problem) {
  std::vector<int32_t> before(size_t(problem.cols) + 1, 0); // touched columns west of each
  for (const Item &item : problem.items)
    for (const Option &option : item.options)
      for (const Load &load : option.loads)
        for (int32_t col = std::min(load.segment.col, load.segment.colEnd);
             col <= std::max(load.segment.col, load.segment.colEnd); ++col)
          before[size_t(col) + 1] = 1;
  for (size_t col = 1; col < before.size(); ++col)
    before[col] += before[col - 1];
  Problem result{problem.rows, std::max(1, before.back()), problem.linkCapacityWords, {}, {}};
  auto move = [&](const std::vector<Load> &loads, std::vector<Load> &moved) {
    for (Load load : loads) {
      routing::Segment &s = load.segment;
      const bool west = s.colEnd < s.col;
      const int32_t first = before[size_t(std::min(s.col, s.colEnd))];
      const int32_t last = before[size_t(std::max(s.col, s.colEnd)) + 1] - 1;
      if (last < first || (s.row == s.rowEnd && last == first))
        continue;
      s.col = west ? last : first;
      s.colEnd = west ? first : last;
      moved.push_back(load);
    }
  };
  move(problem.fixed, result.fixed);
  for (const Item &item : problem.items) {
    result.items.push_back({item.name, {}});
    for (const Option &option : item.options) {
      result.items.back().options.push_back({option.tag, option.cost, {}});
      move(option.loads, result.items.back().options.back().loads);
    }
  }
  return result;
}

absl::StatusOr<Solution> solve(const Problem &whole, int rounds) {
  if (absl::Status status = whole.check(); !status.ok())
    return status;
  if (whole.items.empty())
    return Solution();
  const Problem problem = onTouchedColumns(whole);
  Solution best = Negotiation(problem).solve(rounds);
  const AlternativesStats stats = evaluate(problem, best);
  int64_t value = stats.value;
  // Where the capacity is out of reach, excess is everywhere and prices say little: aim at what may be reached.
  Problem eased = problem;
  int64_t least = std::max(problem.linkCapacityWords, stats.lowerBound);
  while (value > least + least / 50) {
    eased.linkCapacityWords = least + (value - least) / 2;
    Negotiation negotiation(eased);
    Solution other = negotiation.solve(rounds / 2);
    const int64_t reached = negotiation.busiest();
    if (reached > eased.linkCapacityWords)
      least = eased.linkCapacityWords + 1;
    if (reached < value) {
      value = reached;
      best = std::move(other);
    }
  }
  return best;
}

AlternativesStats evaluate(const Problem &problem, const Solution &solution) {
  AlternativesStats stats;
  routing::Problem all{problem.rows, problem.cols, {}, {}, problem.fixed};
  routing::LinkWords least = routing::linkWords(all, nullptr);
  for (size_t i = 0; i < problem.items.size(); ++i) {
    const Option &option = problem.items[i].options[solution.optionOf[i]];
    all.fixed.insert(all.fixed.end(), option.loads.begin(), option.loads.end());
    stats.itemsOffFirst += solution.optionOf[i] > 0;
    // Words of each option on the links of the first: other links some option may leave alone.
    std::vector<std::pair<size_t, size_t>> touched;
    for (const Load &load : problem.items[i].options[0].loads)
      forEachLink(load, problem.cols, [&](size_t d, size_t router) { touched.push_back({d, router}); });
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    std::vector<int64_t> fewest(touched.size(), -1);
    for (const Option &each : problem.items[i].options) {
      std::vector<int64_t> onLink(touched.size());
      for (const Load &load : each.loads)
        forEachLink(load, problem.cols, [&](size_t d, size_t router) {
          auto at = std::lower_bound(touched.begin(), touched.end(), std::pair(d, router));
          if (at != touched.end() && *at == std::pair(d, router))
            onLink[size_t(at - touched.begin())] += load.wordsPerSample;
        });
      for (size_t t = 0; t < touched.size(); ++t)
        fewest[t] = fewest[t] < 0 ? onLink[t] : std::min(fewest[t], onLink[t]);
    }
    for (size_t t = 0; t < touched.size(); ++t)
      least[touched[t].first][touched[t].second] += fewest[t];
  }
  const routing::LinkWords words = routing::linkWords(all, nullptr);
  for (size_t d = 0; d < words.size(); ++d)
    for (size_t router = 0; router < words[d].size(); ++router) {
      stats.value = std::max(stats.value, words[d][router]);
      stats.lowerBound = std::max(stats.lowerBound, least[d][router]);
      stats.linksOverCapacity += words[d][router] > problem.linkCapacityWords;
    }
  return stats;
}

} // namespace wsc::solver::alternatives
