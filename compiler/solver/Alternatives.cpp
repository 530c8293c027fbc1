// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links carry words in one flat array, column by column; an option is a list of runs of neighbouring links, and its
// cost one pass over them.
#include "compiler/solver/Alternatives.h"

#include "compiler/solver/AlternativesRuns.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <tuple>

namespace wsc::solver::alternatives {

namespace {

constexpr int kPatience = 8; // rounds without a better choice
constexpr int64_t kLinkCost = 64, kMostHistory = int64_t(1) << 20, kMostPrice = 4096;

// A problem's loads as runs, made once for all capacities that are tried.
struct Compiled {
  explicit Compiled(const Problem &problem, Lines links) : lines(std::move(links)), fixedWords(lines.count(), 0) {
    for (const Load &load : problem.fixed)
      lines.forEachRun(load, [&](size_t begin, size_t end) {
        for (size_t link = begin; link < end; ++link)
          fixedWords[link] += load.wordsPerSample;
      });
    RunMaker maker(lines);
    for (const Item &item : problem.items) {
      std::vector<std::vector<Run>> &options = optionsOf.emplace_back();
      for (const Option &option : item.options)
        options.push_back(maker.runsOf(option));
    }
  }
  Lines lines;
  std::vector<int64_t> fixedWords;
  std::vector<std::vector<std::vector<Run>>> optionsOf; // by item and option
};

void lay(const std::vector<Run> &runs, int64_t sign, std::vector<int64_t> &words) {
  for (const Run &run : runs)
    for (size_t link = run.begin; link < run.end; ++link)
      words[link] += sign * run.words;
}

class Negotiation {
public:
  Negotiation(const Problem &problem, const Compiled &compiled, int64_t capacityWords)
      : problem(problem), compiled(compiled), limit(capacityWords), capacity(std::max<int64_t>(1, capacityWords)),
        words(compiled.fixedWords), history(words.size(), 0) {
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
        if (compiled.optionsOf[i].size() > 1 && !isWithin(chosen(i), limit))
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
    goBack(std::max(limit, std::get<1>(bestCost)));
    return choice;
  }

  // Words on the busiest link, as laid out now.
  int64_t busiest() const { return std::get<1>(over()); }

private:
  using Runs = std::vector<Run>;
  const Runs &chosen(size_t item) const { return compiled.optionsOf[item][size_t(choice.optionOf[item])]; }

  void lay(const Runs &runs, int64_t sign) { alternatives::lay(runs, sign, words); }
  void take(size_t item, int32_t option) {
    lay(chosen(item), -1);
    choice.optionOf[item] = option;
    lay(chosen(item), +1);
  }

  // Words over the capacity of all links together, and on the busiest link.
  std::tuple<int64_t, int64_t> over() const {
    int64_t sum = 0, peak = 0;
    for (int64_t onLink : words)
      if (onLink > std::min(limit, peak)) { // few links
        sum += std::max<int64_t>(0, onLink - limit);
        peak = std::max(peak, onLink);
      }
    return {sum, peak};
  }
  bool isWithin(const Runs &runs, int64_t most) const {
    for (const Run &run : runs)
      for (size_t link = run.begin; link < run.end; ++link)
        if (words[link] > most)
          return false;
    return true;
  }

  // In parts of 256 of the capacity.
  int64_t excess(int64_t onLink) const {
    if (onLink <= limit)
      return 0; // most links: no division
    return (std::clamp<int64_t>(onLink - limit, 0, capacity << 12) * 256 + capacity - 1) / capacity;
  }
  void remember() {
    for (size_t link = 0; link < words.size(); ++link)
      if (int64_t more = excess(words[link]); more > 0)
        history[link] = std::min(kMostHistory, history[link] + std::max(kLinkCost / 4, more));
  }
  // Of an option that is not laid out, or any number that is no less than `enough`.
  int64_t costOf(const Runs &runs, int64_t ownCost, int64_t enough) const {
    int64_t cost = ownCost * kLinkCost;
    for (const Run &run : runs) {
      for (size_t link = run.begin; link < run.end; ++link)
        cost += run.loads * ((kLinkCost + history[link]) * (256 + price * excess(words[link] + run.words)) / 256);
      if (cost >= enough)
        break;
    }
    return cost;
  }
  void chooseAgain(size_t item) {
    const std::vector<Option> &options = problem.items[item].options;
    lay(chosen(item), -1);
    int32_t best = choice.optionOf[item];
    int64_t least = costOf(chosen(item), options[size_t(best)].cost, INT64_MAX);
    for (int32_t option = 0; option < int32_t(options.size()); ++option)
      if (int64_t cost = costOf(compiled.optionsOf[item][size_t(option)], options[size_t(option)].cost, least);
          cost < least) {
        least = cost;
        best = option;
      }
    choice.optionOf[item] = best;
    lay(chosen(item), +1);
  }
  void goBack(int64_t most) {
    for (size_t i = 0; i < problem.items.size(); ++i) {
      const int32_t now = choice.optionOf[i];
      for (int32_t option = 0; option < now; ++option) {
        take(i, option);
        if (isWithin(chosen(i), most))
          break;
        take(i, now);
      }
    }
  }

  const Problem &problem;
  const Compiled &compiled;
  const int64_t limit, capacity;
  int64_t price = 256;
  std::vector<int64_t> words, history;
  Solution choice;
};

// Lowers `fewest`, which lists the words of `first` link by link, to those of `other` where it carries less.
void lowerTo(const std::vector<Run> &first, const std::vector<Run> &other, std::vector<int64_t> &fewest) {
  auto at = fewest.begin();
  auto next = other.begin(); // both are ascending
  for (const Run &run : first)
    for (size_t link = run.begin; link < run.end;) {
      while (next != other.end() && next->end <= link)
        ++next;
      const bool carries = next != other.end() && next->begin <= link;
      const size_t end = next == other.end() ? run.end : std::min(run.end, carries ? next->end : next->begin);
      for (; link < end; ++link, ++at)
        *at = carries ? std::min(*at, next->words) : 0;
    }
}

// The most that a link carries if every item takes, for that link, the option with the fewest words on it.
int64_t boundOf(const Compiled &compiled) {
  std::vector<int64_t> least = compiled.fixedWords, fewest;
  for (const auto &options : compiled.optionsOf) {
    // Links that the first option leaves alone carry nothing of this item at best.
    fewest.clear();
    for (const Run &run : options[0])
      fewest.insert(fewest.end(), run.end - run.begin, run.words);
    for (size_t option = 1; option < options.size(); ++option)
      lowerTo(options[0], options[option], fewest);
    auto at = fewest.begin();
    for (const Run &run : options[0])
      for (size_t link = run.begin; link < run.end; ++link)
        least[link] += *at++;
  }
  return least.empty() ? 0 : *std::max_element(least.begin(), least.end());
}

AlternativesStats evaluate(const Problem &problem, const Compiled &compiled, const Solution &solution) {
  AlternativesStats stats;
  stats.lowerBound = boundOf(compiled);
  std::vector<int64_t> words = compiled.fixedWords;
  for (size_t i = 0; i < problem.items.size(); ++i) {
    lay(compiled.optionsOf[i][size_t(solution.optionOf[i])], +1, words);
    stats.itemsOffFirst += solution.optionOf[i] > 0;
  }
  for (int64_t onLink : words) {
    stats.value = std::max(stats.value, onLink);
    stats.linksOverCapacity += onLink > problem.linkCapacityWords;
  }
  return stats;
}

} // namespace

absl::Status Problem::check() const {
  // What holds for the loads of a routing problem holds here.
  if (absl::Status status = routing::Problem{rows, cols, linkCapacityWords, {}, {}}.check(); !status.ok())
    return status;
  int64_t together = 0;
  auto checkLoads = [&](const std::vector<Load> &loads) -> absl::Status {
    for (const Load &load : loads)
      if (absl::Status status =
              routing::checkLoad(rows, cols, {load.segment, load.wordsPerSample}, load.rowsAlike, together);
          !status.ok())
        return status;
    return absl::OkStatus();
  };
  if (absl::Status status = checkLoads(fixed); !status.ok())
    return status;
  for (const Item &item : items) {
    if (item.options.empty())
      return absl::InvalidArgumentError(absl::StrCat("alternatives: item ", item.name, " has no option"));
    for (const Option &option : item.options) {
      if (option.cost < 0 || option.cost > int64_t(1) << 24)
        return absl::InvalidArgumentError(absl::StrCat("alternatives: item ", item.name, ": option ", option.tag,
                                                       " costs ", option.cost, " links, must be 0 to 2^24"));
      if (absl::Status status = checkLoads(option.loads); !status.ok())
        return status;
    }
  }
  return absl::OkStatus();
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

// The links of columns that options touch: cost grows with these, not with the mesh.
static Lines touchedLines(const Problem &problem) {
  std::vector<bool> touched(size_t(problem.cols), false);
  for (const Item &item : problem.items)
    for (const Option &option : item.options)
      for (const Load &load : option.loads)
        for (int32_t col = std::min(load.segment.col, load.segment.colEnd);
             col <= std::max(load.segment.col, load.segment.colEnd); ++col)
          touched[size_t(col)] = true;
  return Lines(problem, touched);
}

absl::StatusOr<Solution> solve(const Problem &problem, int rounds) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  if (problem.items.empty())
    return Solution();
  Solution plain;
  plain.optionOf.assign(problem.items.size(), 0);
  const Compiled compiled(problem, touchedLines(problem));
  const AlternativesStats stats = evaluate(problem, compiled, plain);
  if (stats.value <= std::max(problem.linkCapacityWords, stats.lowerBound))
    return plain; // nothing can be better
  Negotiation wanted(problem, compiled, problem.linkCapacityWords);
  Solution best = wanted.solve(rounds);
  int64_t value = wanted.busiest();
  // Where the capacity is out of reach, excess is everywhere and prices say little: aim at what may be reached.
  int64_t least = std::max(problem.linkCapacityWords, stats.lowerBound);
  while (value > least + least / 50) {
    const int64_t eased = least + (value - least) / 2;
    Negotiation negotiation(problem, compiled, eased);
    Solution other = negotiation.solve(rounds / 2);
    const int64_t reached = negotiation.busiest();
    if (reached > eased)
      least = eased + 1;
    if (reached < value) {
      value = reached;
      best = std::move(other);
    }
  }
  return best;
}

AlternativesStats evaluate(const Problem &problem, const Solution &solution) {
  return evaluate(problem, Compiled(problem, Lines(problem)), solution);
}

} // namespace wsc::solver::alternatives
