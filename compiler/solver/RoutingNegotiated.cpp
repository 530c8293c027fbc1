// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trees that negotiate for links: McMurchie and Ebeling, "PathFinder: a negotiation-based performance-driven router"
// (FPGA 1995), for nets that share links in time.
//
// Every net begins with the shorter of its comb and a tree grown freely. As long as links carry more words than they
// can, the nets on them are taken up one after the other: of a net's tree what the source reaches without such a link
// stays, and each sink cut off looks for the tree anew. A link costs its length, times what it is over its capacity
// (the price now, which rises from round to round), plus what it has been over in rounds before (its history). In the
// end nets that went a longer way than they need go a shorter one if the links still have space.
//
// A search goes from the sink backwards, so it ends soon where the tree is near (A*, the distance to the tree's
// bounding box as estimate). Its nodes are routers with the side on which words leave: a bend costs a little, so that
// trees keep few of them. Nodes, links and tree marks are flat arrays over the mesh.
#include "compiler/solver/Routing.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace wsc::solver::routing {

namespace {

constexpr int64_t kLinkCost = 64, kBendCost = 4;
constexpr int64_t kMostHistory = int64_t(1) << 20, kMostPrice = 4096;
constexpr int kMostRounds = 100;
constexpr int32_t kMargin = 4; // routers around a net's bounding box that its search looks at, in the first round

constexpr std::array<int32_t, 4> kRowStep{-1, 1, 0, 0}, kColStep{0, 0, 1, -1}; // by Direction

// A link of a tree: out of `router` in `direction`.
struct Link {
  int32_t router;
  uint8_t direction;
};

struct Box {
  int32_t rowLo, rowHi, colLo, colHi;
  void include(int32_t row, int32_t col) {
    rowLo = std::min(rowLo, row);
    rowHi = std::max(rowHi, row);
    colLo = std::min(colLo, col);
    colHi = std::max(colHi, col);
  }
  int64_t distance(int32_t row, int32_t col) const {
    return std::max({0, rowLo - row, row - rowHi}) + std::max({0, colLo - col, col - colHi});
  }
};

class Negotiation {
public:
  Negotiation(const Problem &problem, int64_t steps)
      : problem(problem), stepsLeft(steps), words(linkWords(problem, nullptr)), trees(problem.nets.size()),
        grid(size_t(problem.rows) * problem.cols), nodes(grid.size() * 4) {
    for (auto &of : history)
      of.assign(grid.size(), 0);
  }

  absl::StatusOr<Solution> solve(const Solution &combs) {
    for (size_t n = 0; n < trees.size(); ++n)
      begin(n, combs.segmentsOf[n]);
    std::vector<bool> moved(trees.size());
    int round = 0;
    for (; problem.linkCapacityWords && round < kMostRounds && stepsLeft > 0 && rememberOver(); ++round) {
      margin = kMargin + 2 * round;
      for (size_t n = 0; n < trees.size() && stepsLeft > 0; ++n)
        if (isOver(n)) {
          reroute(n);
          moved[n] = true;
        }
      price = std::min(price * 3 / 2, kMostPrice);
    }
    for (size_t n = 0; n < trees.size() && stepsLeft > 0; ++n)
      if (moved[n])
        shorten(n);
    Solution solution;
    for (size_t n = 0; n < trees.size(); ++n)
      solution.segmentsOf.push_back(segmentsOf(n));
    if (absl::Status status = checkCapacity(problem, solution); !status.ok())
      return absl::Status(status.code(), absl::StrCat(std::string(status.message()), " (negotiated for ", round,
                                                      " rounds", stepsLeft > 0 ? "" : ", all the steps allowed", ")"));
    return solution;
  }

private:
  struct Router {
    int32_t tree = -1;   // the marks below belong to this tree
    uint8_t feeds = 0;   // directions in which it sends, as a mask
    int8_t entered = -1; // direction in which words came; -1: the source
    bool isSink = false, kept = false;
  };
  struct Node { // a router and the direction in which words leave it
    int32_t search = -1;
    int64_t cost = 0;
    uint8_t next = 0; // direction in which they leave the router after it; 4: that is the sink
    bool done = false;
  };

  int32_t rowOf(int32_t router) const { return router / problem.cols; }
  int32_t colOf(int32_t router) const { return router % problem.cols; }
  int32_t routerAt(int32_t row, int32_t col) const { return row * problem.cols + col; }
  int32_t after(Link link) const {
    return link.router + kRowStep[link.direction] * problem.cols + kColStep[link.direction];
  }
  int32_t sourceOf(size_t n) const { return routerAt(problem.nets[n].row, problem.nets[n].colBegin); }

  int64_t over(Link link, int64_t more) const {
    return problem.linkCapacityWords
               ? std::max<int64_t>(0, words[link.direction][link.router] + more - *problem.linkCapacityWords)
               : 0;
  }
  bool isOver(size_t n) const {
    return std::any_of(trees[n].begin(), trees[n].end(), [&](Link link) { return over(link, 0) > 0; });
  }
  // Words over the capacity in parts of 256 of it.
  int64_t excess(int64_t overWords) const {
    const int64_t capacity = std::max<int64_t>(1, problem.linkCapacityWords.value_or(1));
    return (std::min(overWords, capacity << 12) * 256 + capacity - 1) / capacity;
  }
  int64_t costOf(Link link, int64_t more) const {
    if (withinCapacity)
      return kLinkCost;
    return (kLinkCost + history[link.direction][link.router]) * (256 + price * excess(over(link, more))) / 256;
  }
  void load(size_t n, int64_t sign) {
    for (Link link : trees[n])
      words[link.direction][link.router] += sign * problem.nets[n].wordsPerSample;
  }

  // Notes links over their capacity in the history; whether there are any.
  bool rememberOver() {
    bool any = false;
    for (uint8_t d = 0; d < 4; ++d)
      for (size_t router = 0; router < grid.size(); ++router)
        if (int64_t overWords = over({int32_t(router), d}, 0); overWords > 0) {
          any = true;
          history[d][router] = std::min(kMostHistory, history[d][router] + std::max(kLinkCost / 4, excess(overWords)));
        }
    return any;
  }

  // Marks of tree `stamp`, cleared where another tree's stand.
  Router &marks(int32_t router) {
    if (grid[router].tree != stamp)
      grid[router] = Router{.tree = stamp};
    return grid[router];
  }
  void startTree(size_t n) {
    ++stamp;
    marks(sourceOf(n)).kept = true;
    box = {rowOf(sourceOf(n)), rowOf(sourceOf(n)), colOf(sourceOf(n)), colOf(sourceOf(n))};
    window = box;
    for (const Sink &sink : problem.nets[n].sinks) {
      window.include(sink.rowLo, sink.col);
      window.include(sink.rowHi, sink.col);
    }
    window = {std::max(0, window.rowLo - margin), std::min(problem.rows - 1, window.rowHi + margin),
              std::max(0, window.colLo - margin), std::min(problem.cols - 1, window.colHi + margin)};
  }
  void addToTree(size_t n, Link link) {
    const int32_t to = after(link);
    marks(to).kept = true;
    marks(to).entered = int8_t(link.direction);
    marks(link.router).feeds |= uint8_t(1u << link.direction);
    box.include(rowOf(to), colOf(to));
    trees[n].push_back(link);
  }

  // Sinks one by one, those near the source first.
  std::vector<int32_t> sinksOf(size_t n) const {
    const Net &net = problem.nets[n];
    std::vector<std::pair<int32_t, int32_t>> byDistance;
    for (const Sink &sink : net.sinks)
      for (int32_t row = sink.rowLo; row <= sink.rowHi; ++row)
        byDistance.push_back({std::abs(row - net.row) + std::abs(sink.col - net.colBegin), routerAt(row, sink.col)});
    std::sort(byDistance.begin(), byDistance.end());
    std::vector<int32_t> sinks;
    for (auto [distance, router] : byDistance)
      sinks.push_back(router);
    return sinks;
  }

  // The first tree of a net.
  void begin(size_t n, const std::vector<Segment> &comb) {
    std::vector<Link> links;
    for (const Segment &segment : comb) {
      const auto d = uint8_t(directionOf(segment));
      const int32_t length = std::abs(segment.rowEnd - segment.row) + std::abs(segment.colEnd - segment.col);
      for (int32_t i = 0; i < length; ++i)
        links.push_back({routerAt(segment.row + i * kRowStep[d], segment.col + i * kColStep[d]), d});
    }
    if (int64_t(links.size()) > lowerBound(problem.nets[n])) {
      const int64_t priceThen = std::exchange(price, 0);
      if (!grow(n) || trees[n].size() >= links.size())
        trees[n] = std::move(links);
      price = priceThen;
    } else {
      trees[n] = std::move(links);
    }
    load(n, +1);
  }

  // A tree from nothing; whether every sink was found.
  bool grow(size_t n) {
    trees[n].clear();
    startTree(n);
    for (int32_t sink : sinksOf(n))
      if (!marks(sink).kept && !connect(n, sink))
        return false;
    return true;
  }

  void reroute(size_t n) {
    std::vector<Link> old = trees[n];
    std::vector<Link> sound;
    for (Link link : old)
      if (over(link, 0) == 0)
        sound.push_back(link);
    load(n, -1);
    keepReached(n, sound);
    for (int32_t sink : sinksOf(n))
      if (!marks(sink).kept && !connect(n, sink)) {
        trees[n] = std::move(old);
        break;
      }
    load(n, +1);
  }

  // Makes of `links` a tree: what the source reaches and some sink needs.
  void keepReached(size_t n, const std::vector<Link> &links) {
    ++stamp;
    for (Link link : links)
      marks(link.router).feeds |= uint8_t(1u << link.direction);
    for (int32_t sink : sinksOf(n))
      marks(sink).isSink = true;
    std::vector<Link> walk; // links in the order in which words take them
    auto follow = [&](int32_t router) {
      for (uint8_t d = 0; d < 4; ++d)
        if (marks(router).feeds >> d & 1)
          walk.push_back({router, d});
    };
    follow(sourceOf(n));
    for (size_t i = 0; i < walk.size(); ++i)
      follow(after(walk[i]));
    for (auto link = walk.rbegin(); link != walk.rend(); ++link)
      if (Router &to = marks(after(*link)); to.isSink || to.kept)
        to.kept = marks(link->router).kept = true;
    walk.erase(std::remove_if(walk.begin(), walk.end(), [&](Link link) { return !marks(after(link)).kept; }),
               walk.end());
    trees[n].clear();
    startTree(n);
    for (Link link : walk)
      addToTree(n, link);
  }

  // A way from the tree to `sink`, found from the sink; whether there is one inside the window and the steps left.
  bool connect(size_t n, int32_t sink) {
    const int64_t more = problem.nets[n].wordsPerSample;
    ++search;
    // Estimate, cost (larger first: deeper), node.
    using Entry = std::tuple<int64_t, int64_t, int32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    auto expand = [&](int32_t to, uint8_t leaves, int64_t cost) {
      for (uint8_t d = 0; d < 4; ++d) {
        const int32_t row = rowOf(to) - kRowStep[d], col = colOf(to) - kColStep[d];
        if (row < window.rowLo || row > window.rowHi || col < window.colLo || col > window.colHi)
          continue;
        const Link link{routerAt(row, col), d};
        if (withinCapacity && over(link, more) > 0)
          continue;
        const Router &from = marks(link.router);
        int64_t sum = cost + costOf(link, more) + (leaves != 4 && leaves != d ? kBendCost : 0);
        if (from.kept && from.entered >= 0 && from.entered != int8_t(d))
          sum += kBendCost;
        Node &node = nodes[size_t(link.router) * 4 + d];
        if (node.search == search && (node.done || node.cost <= sum))
          continue;
        node = {search, sum, leaves, false};
        open.push({sum + kLinkCost * box.distance(row, col), -sum, link.router * 4 + d});
      }
    };
    expand(sink, 4, 0);
    while (!open.empty() && stepsLeft > 0) {
      auto [estimate, negative, at] = open.top();
      open.pop();
      Node &node = nodes[at];
      if (node.done || -negative > node.cost)
        continue;
      --stepsLeft;
      node.done = true;
      const int32_t router = at / 4;
      if (!marks(router).kept) {
        expand(router, uint8_t(at % 4), node.cost);
        continue;
      }
      for (Link link{router, uint8_t(at % 4)};;) {
        addToTree(n, link);
        const uint8_t next = nodes[size_t(link.router) * 4 + link.direction].next;
        if (next == 4)
          return true;
        link = {after(link), next};
      }
    }
    return false;
  }

  // Tries a tree without detours: history forgotten, over links that have space.
  void shorten(size_t n) {
    std::vector<Link> old = trees[n];
    if (int64_t(old.size()) == lowerBound(problem.nets[n]) || isOver(n))
      return;
    load(n, -1);
    withinCapacity = true;
    if (!grow(n) || trees[n].size() >= old.size())
      trees[n] = std::move(old);
    withinCapacity = false;
    load(n, +1);
  }

  // Links in straight runs, beginning where the one before or the source feeds them.
  std::vector<Segment> segmentsOf(size_t n) {
    keepReached(n, std::vector<Link>(trees[n]));
    std::vector<Segment> segments;
    for (Link first : trees[n]) {
      if (marks(first.router).entered == int8_t(first.direction))
        continue; // inside a run
      int32_t end = after(first);
      while (marks(end).feeds >> first.direction & 1)
        end = after({end, first.direction});
      segments.push_back({rowOf(first.router), colOf(first.router), rowOf(end), colOf(end)});
    }
    return segments;
  }

  const Problem &problem;
  int64_t stepsLeft, price = 256;
  int32_t margin = kMargin;
  bool withinCapacity = false; // only links with space, all at one price
  LinkWords words, history;
  std::vector<std::vector<Link>> trees;
  std::vector<Router> grid;
  std::vector<Node> nodes;
  int32_t stamp = 0, search = 0;
  Box box{}, window{}; // of the tree so far, of the searches
};

} // namespace

absl::StatusOr<Solution> solveNegotiated(const Problem &problem, const NegotiationOptions &options) {
  absl::StatusOr<Solution> combs = solveCombs(problem);
  if (!combs.ok())
    return combs;
  for (const Net &net : problem.nets)
    if (problem.linkCapacityWords && net.wordsPerSample > *problem.linkCapacityWords && lowerBound(net) > 0)
      return absl::ResourceExhaustedError(absl::StrCat(
          "net ", net.name, " carries ", net.wordsPerSample, " words per sample, no link can carry more than ",
          *problem.linkCapacityWords, "; divide it or allow a longer interval"));
  return Negotiation(problem, options.steps).solve(*combs);
}

} // namespace wsc::solver::routing
