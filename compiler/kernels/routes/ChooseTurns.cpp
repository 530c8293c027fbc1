// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice of turns. A bundle is what a kernel takes of a channel block of a stream, a lane from each tile; where its
// lanes turn depends on the tile, in a short period. Loads of a bundle's variants are those of its lanes' branches
// (LinkLoads.h); everything else on the mesh, trunks among it, is fixed.
#include "compiler/kernels/routes/ChooseTurns.h"

#include "compiler/kernels/routes/LinkLoads.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

namespace wsc::kernels {

using solver::alternatives::Item;
using solver::alternatives::Load;
using solver::alternatives::Option;
using solver::alternatives::Problem;
using Turns = std::vector<int32_t>;

namespace {

// Variants of a bundle by tile, the plainest first: all lanes alike; every other, or every third, in another column
// than the rest; three columns in turn.
std::vector<Turns> makeVariants() {
  std::vector<Turns> list{{0}};
  for (int32_t turn : {1, -1, 2, -2})
    list.insert(list.end(), {{0, turn}, {turn, 0}});
  for (int32_t turn : {1, -1, 2, -2})
    list.insert(list.end(), {{0, 0, turn}, {0, turn, 0}, {turn, 0, 0}});
  list.insert(list.end(), {{1, -1}, {-1, 1}});
  Turns three{-1, 0, 1};
  do
    list.push_back(three);
  while (std::next_permutation(three.begin(), three.end()));
  for (int32_t turn : {1, -1, 2, -2})
    list.push_back({turn});
  return list;
}
const std::vector<Turns> &variants() {
  static const std::vector<Turns> list = makeVariants();
  return list;
}

// A branch of a bundle.
struct BranchOf {
  size_t lane = 0, branch = 0; // of the routes, of its branches
};
struct Bundle {
  TurnOwner owner;
  int32_t stream = 0;
  std::vector<BranchOf> branches;
};

// Bundles of a placed network; the routes are combs with straight branches.
std::vector<Bundle> bundlesOf(const target::Target &target, const NetworkPlan &network,
                              const std::vector<LaneRoute> &routes) {
  std::vector<size_t> firstRoute;
  size_t next = 0;
  for (const StreamPlan &stream : network.streams) {
    firstRoute.push_back(next);
    next += size_t(stream.layout.numLanes());
  }
  std::vector<Bundle> bundles;
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    const KernelPlan &plan = network.kernels[k];
    const KernelRows rows(target, network, int32_t(k));
    std::vector<int32_t> seen;
    for (const Source &source : rows.sources()) {
      if (source.taker != int32_t(k) || std::find(seen.begin(), seen.end(), source.stream) != seen.end())
        continue; // its co-located kernel's, or taken twice over the same branches
      seen.push_back(source.stream);
      const StreamLayout &layout = network.streams[source.stream].layout;
      for (int64_t block = 0; block < layout.numBlocks(); ++block) {
        Bundle bundle{{int32_t(k), source.ordinal, int32_t(block), {}}, source.stream, {}};
        for (int64_t lane = block; lane < layout.numLanes(); lane += layout.numBlocks()) {
          const size_t r = firstRoute[size_t(source.stream)] + size_t(lane);
          for (size_t t = 0; t < routes[r].branches.size(); ++t)
            if (int32_t col = routes[r].branches[t].col;
                col >= plan.placement.col && col < plan.placement.col + plan.width())
              bundle.branches.push_back({r, t});
        }
        if (!bundle.branches.empty())
          bundles.push_back(std::move(bundle));
      }
    }
  }
  return bundles;
}

// Where a branch of a bundle can leave its trunk.
struct Room {
  int32_t lane = 0, col = 0, least = 0, most = 0;
};
std::vector<Room> roomOf(const target::Target &target, const std::vector<LaneRoute> &routes, const Bundle &bundle) {
  std::vector<Room> rooms;
  for (auto [lane, index] : bundle.branches) {
    const LaneRoute &route = routes[lane];
    rooms.push_back({route.lane, route.branches[index].col, route.leastVia(index), route.mostVia(index, target.cols)});
  }
  return rooms;
}

// The columns in which a bundle's branches leave their trunks. `turnOf(lane)`: columns west of the kernel's at which a
// lane turns, or as far as it can.
template <typename TurnOf> std::vector<int32_t> viasOf(const std::vector<Room> &rooms, TurnOf turnOf) {
  std::vector<int32_t> vias;
  vias.reserve(rooms.size());
  for (const Room &room : rooms)
    vias.push_back(std::clamp(room.col - turnOf(room.lane), room.least, room.most));
  return vias;
}

std::vector<Load> loadsOf(const NetworkPlan &network, const std::vector<LaneRoute> &routes, const Bundle &bundle,
                          const std::vector<int32_t> &vias) {
  auto forEachBranch = [&](auto visit) {
    for (size_t t = 0; t < bundle.branches.size(); ++t) {
      const LaneRoute &route = routes[bundle.branches[t].lane];
      visit(route, route.branches[bundle.branches[t].branch], vias[t]);
    }
  };
  size_t count = 0;
  forEachBranch([&](const LaneRoute &route, const LaneRoute::Branch &branch, int32_t via) {
    forEachBranchRun(route, branch, via, [&](const solver::routing::Segment &, int32_t) { ++count; });
  });
  std::vector<Load> loads;
  loads.reserve(count);
  forEachBranch([&](const LaneRoute &route, const LaneRoute::Branch &branch, int32_t via) {
    const int64_t words = laneWords(network, route);
    forEachBranchRun(route, branch, via, [&](const solver::routing::Segment &segment, int32_t rowsAlike) {
      loads.push_back({segment, words, rowsAlike});
    });
  });
  return loads;
}

int32_t turnOfLane(const Turns &turns, int32_t lane) {
  return turns.empty() ? 0 : turns[uint32_t(lane) % uint32_t(turns.size())];
}

Turns &turnsOf(KernelPlan &plan, int32_t ordinal) {
  size_t components = 0;
  for (const KernelInput &input : plan.spec.inputs)
    components += input.streams.size();
  plan.turns.resize(components);
  return plan.turns[size_t(ordinal)];
}

int64_t blocksOfInput(const NetworkPlan &network, const KernelPlan &plan, int32_t ordinal) {
  for (const KernelInput &input : plan.spec.inputs)
    for (int32_t stream : input.streams)
      if (ordinal-- == 0)
        return network.streams[stream].layout.numBlocks();
  return 1;
}

} // namespace

std::vector<LaneRoute> straightRoutes(const target::Target &target, NetworkPlan network) {
  for (KernelPlan &plan : network.kernels)
    plan.turns.clear();
  return laneRoutes(target, network);
}

int64_t wantedInterval(const target::Target &target, const NetworkPlan &network) {
  int64_t interval = 0, words = 0;
  for (const KernelPlan &plan : network.kernels)
    interval = std::max(interval, plan.predictedIntervalCycles);
  for (const auto *tensors : {&network.inputs, &network.outputs})
    for (const format::TensorType &tensor : *tensors)
      words += tensor.elements();
  return interval == 0 ? 0 : std::max(interval, int64_t(double(words) / target.ioWordsPerCycle()));
}

namespace {

// Links of columns with branches that carry more than they can.
class OverfullLinks {
public:
  OverfullLinks(const target::Target &target, const NetworkLoads &loads, int64_t capacity)
      : before(size_t(target.cols)) {
    std::vector<bool> hasBranches(size_t(target.cols));
    for (const RouteLoad &load : loads.loads)
      if (load.part == RouteLoad::Part::Branch)
        hasBranches[size_t(load.segment.col)] = true;
    auto add = [&](const solver::routing::Segment &s, int64_t words) {
      if (!hasBranches[size_t(s.col)])
        return;
      std::vector<int64_t> &changes = before[size_t(s.col)][s.rowEnd < s.row];
      changes.resize(size_t(target.rows) + 1);
      changes[size_t(s.row < s.rowEnd ? s.row : s.rowEnd + 1)] += words;
      changes[size_t(s.row < s.rowEnd ? s.rowEnd : s.row + 1)] -= words;
    };
    for (const RouteLoad &load : loads.loads)
      if (load.segment.row != load.segment.rowEnd)
        forEachSegment(load, add);
    for (auto &directions : before)
      for (std::vector<int64_t> &links : directions) {
        int64_t words = 0, count = 0;
        for (int64_t &link : links) { // from what changes there to what is counted
          words += link;
          link = count;
          count += words > capacity;
        }
      }
  }

  // Whether a straight branch uses one.
  bool areOn(const LaneRoute &route, const LaneRoute::Branch &branch) const {
    auto anyOf = [&](int direction, int32_t begin, int32_t end) {
      const std::vector<int64_t> &count = before[size_t(branch.col)][size_t(direction)];
      return !count.empty() && begin < end && count[size_t(begin)] < count[size_t(end)];
    };
    return anyOf(0, route.row, branch.lastRow()) || anyOf(1, branch.firstRow() + 1, route.row + 1);
  }

private:
  // By column, south and north: how many there are on links that leave routers north of each.
  std::vector<std::array<std::vector<int64_t>, 2>> before;
};

} // namespace

// The variants of a bundle as an item; `owner` notes which they are.
static Item itemOf(const target::Target &target, const NetworkPlan &network, const std::vector<LaneRoute> &routes,
                   const Bundle &bundle, TurnOwner &owner) {
  const StreamPlan &stream = network.streams[bundle.stream];
  Item item{absl::StrCat(stream.name, ".", bundle.owner.block, " to ", network.kernels[bundle.owner.kernel].spec.name),
            {}};
  const std::vector<Room> rooms = roomOf(target, routes, bundle);
  const auto blocks = int32_t(stream.layout.numBlocks());
  std::set<std::vector<int32_t>> seen; // few tiles, or little space: variants that are the same here
  for (size_t v = 0; v < variants().size(); ++v) {
    const Turns &turns = variants()[v];
    const std::vector<int32_t> vias = viasOf(rooms, [&](int32_t lane) { return turnOfLane(turns, lane / blocks); });
    if (!seen.insert(vias).second)
      continue;
    item.options.push_back(
        {absl::StrJoin(turns, ","), 8 * (int64_t(turns.size()) - 1), loadsOf(network, routes, bundle, vias)});
    owner.variantOf.push_back(int32_t(v));
  }
  return item;
}

Problem turnProblem(const target::Target &target, const NetworkPlan &network, std::vector<TurnOwner> &owners,
                    bool whole) {
  Problem problem{target.rows, target.cols, wantedInterval(target, network), {}, {}};
  const std::vector<LaneRoute> routes = straightRoutes(target, network);
  const NetworkLoads loads = networkLoads(target, network, routes);
  const OverfullLinks overfull(target, loads, problem.linkCapacityWords);
  std::vector<Bundle> fixed;
  for (Bundle &bundle : bundlesOf(target, network, routes)) {
    const bool over = problem.linkCapacityWords > 0 &&
                      std::any_of(bundle.branches.begin(), bundle.branches.end(), [&](const BranchOf &of) {
                        return overfull.areOn(routes[of.lane], routes[of.lane].branches[of.branch]);
                      });
    if (!network.streams[bundle.stream].wantedTurns.empty() || !over) {
      fixed.push_back(std::move(bundle));
      continue;
    }
    TurnOwner owner = bundle.owner;
    problem.items.push_back(itemOf(target, network, routes, bundle, owner));
    owners.push_back(std::move(owner));
  }
  std::vector<int32_t> touched(size_t(target.cols) + 1, 0); // columns west of each that matter
  for (const Item &item : problem.items)
    for (const Option &option : item.options)
      for (const Load &load : option.loads)
        for (int32_t col = std::min(load.segment.col, load.segment.colEnd);
             col <= std::max(load.segment.col, load.segment.colEnd); ++col)
          touched[size_t(col) + 1] = 1;
  if (whole)
    std::fill(touched.begin() + 1, touched.end(), 1);
  std::partial_sum(touched.begin(), touched.end(), touched.begin());
  auto add = [&](Load load) {
    solver::routing::Segment &s = load.segment;
    s.colEnd = std::min(s.colEnd, target.cols - 1); // the link out of the wafer has one user
    const auto [west, east] = std::minmax(s.col, s.colEnd);
    if ((s.row != s.rowEnd || west != east) && touched[size_t(west)] < touched[size_t(east) + 1])
      problem.fixed.push_back(load);
  };
  auto isTouched = [&](const RouteLoad &load) {
    const auto [west, east] = std::minmax(load.segment.col, load.segment.colEnd);
    const int32_t end = std::min(east + load.columns, target.cols);
    return touched[size_t(west)] < touched[size_t(end)];
  };
  if (!whole && problem.items.empty())
    return problem;
  for (const RouteLoad &load : loads.loads)
    if (load.part != RouteLoad::Part::Branch && isTouched(load))
      forEachSegment(load, [&](const solver::routing::Segment &segment, int64_t words) { add({segment, words, 1}); });
  for (const Bundle &bundle : fixed) {
    const Turns &wanted = network.streams[bundle.stream].wantedTurns;
    const std::vector<int32_t> vias =
        viasOf(roomOf(target, routes, bundle), [&](int32_t lane) { return turnOfLane(wanted, lane); });
    for (const Load &load : loadsOf(network, routes, bundle, vias))
      add(load);
  }
  return problem;
}

absl::Status keepPinnedTurns(const target::Target &target, NetworkPlan &network) {
  for (KernelPlan &plan : network.kernels)
    plan.turns.clear();
  if (std::all_of(network.streams.begin(), network.streams.end(),
                  [](const StreamPlan &stream) { return stream.wantedTurns.empty(); }))
    return absl::OkStatus();
  const std::vector<LaneRoute> routes = laneRoutes(target, network);
  for (const Bundle &bundle : bundlesOf(target, network, routes)) {
    const Turns &pinned = network.streams[bundle.stream].wantedTurns;
    if (pinned.empty())
      continue;
    KernelPlan &plan = network.kernels[bundle.owner.kernel];
    for (auto [lane, branch] : bundle.branches) {
      const LaneRoute &route = routes[lane];
      const int32_t turn = turnOfLane(pinned, route.lane), col = route.branches[branch].col;
      const int32_t least = route.leastVia(branch), most = route.mostVia(branch, target.cols);
      if ((col - turn >= least && col - turn <= most) || route.endsOnTrunk(branch))
        continue;
      std::string why;
      if (col <= route.trunkBegin && !route.fromPort)
        why = "the kernel lies west of its producer";
      else if (col - turn > most)
        why = branch + 1 < route.branches.size() ? absl::StrCat("column ", most + 1, " takes the lane too")
                                                 : "that is the wafer's edge";
      else if (branch > 0 && least == route.branches[branch - 1].col + 1)
        why = absl::StrCat("column ", least - 1, " takes the lane too");
      else
        why = route.fromPort ? "that is the wafer's edge" : absl::StrCat("it is gathered up to column ", least - 1);
      return absl::InvalidArgumentError(absl::StrCat("stream ", network.streams[route.stream].name,
                                                     " is to turn at column ", col - turn, " for kernel ",
                                                     plan.spec.name, " in column ", col, ", but its lane ", route.lane,
                                                     " can turn at columns ", least, " to ", most, " only: ", why));
    }
    turnsOf(plan, bundle.owner.ordinal) = pinned;
  }
  return absl::OkStatus();
}

absl::Status chooseTurns(const target::Target &target, NetworkPlan &network) {
  if (absl::Status status = keepPinnedTurns(target, network); !status.ok())
    return status;
  std::vector<TurnOwner> owners;
  const Problem problem = turnProblem(target, network, owners, /*whole=*/false);
  auto solution = solver::alternatives::solve(problem);
  if (!solution.ok())
    return solution.status();
  if (absl::Status status = solution->verify(problem); !status.ok())
    return status;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (solution->optionOf[i] == 0)
      continue;
    // From tiles of a block to lanes: the period that this block and those before it have together.
    const auto &[kernel, ordinal, block, variantOf] = owners[i];
    KernelPlan &plan = network.kernels[kernel];
    const Turns &chosen = variants()[size_t(variantOf[size_t(solution->optionOf[i])])];
    const Turns before = turnsOf(plan, ordinal);
    const size_t blocks = size_t(blocksOfInput(network, plan, ordinal));
    const size_t tilesBefore = std::max<size_t>(1, before.size() / blocks);
    const size_t tiles = std::lcm(tilesBefore, chosen.size());
    Turns turns(tiles * blocks);
    for (size_t lane = 0; lane < turns.size(); ++lane)
      turns[lane] =
          lane % blocks == size_t(block) ? chosen[lane / blocks % chosen.size()] : turnOfLane(before, int64_t(lane));
    turnsOf(plan, ordinal) = std::move(turns);
  }
  return absl::OkStatus();
}

} // namespace wsc::kernels
