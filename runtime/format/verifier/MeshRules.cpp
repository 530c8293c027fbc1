// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lattices and rectangles inside the mesh, colours the target has and has not reserved, no core in two roles, no router
// with two roles on one colour. Bounds are extremes of the row and column forms. Overlap is decided on the sorted runs
// of the roles, and of the routers of each colour.
#include "runtime/format/verifier/Forms.h"
#include "runtime/format/verifier/Rules.h"
#include "runtime/format/verifier/Runs.h"

namespace wsc::format::verifier {

bool checkInMesh(const target::Target &target, const Lattice &lattice, const std::string &what, Report &report) {
  Form row{Wide(lattice.row)}, col{Wide(lattice.col)};
  Wide size = 1;
  for (int d = 0; d < kMaxDims; ++d) {
    row.perDim[d] = lattice.dims[d].rowStep;
    col.perDim[d] = lattice.dims[d].colStep;
    size = std::min<Wide>(size * lattice.dims[d].count, kMost);
  }
  auto outside = [&](const Extreme &extreme) {
    report.add("mesh", what,
               text(what, ": core (", number(row.at(extreme.index)), ", ", number(col.at(extreme.index)),
                    ") lies outside the mesh of ", target.rows, " x ", target.cols,
                    " cores; shrink or move its rectangle"));
    return false;
  };
  if (Extreme most = minimum(row, lattice); most.value < 0)
    return outside(most);
  if (Extreme most = maximum(row, lattice); most.value >= target.rows)
    return outside(most);
  if (Extreme most = minimum(col, lattice); most.value < 0)
    return outside(most);
  if (Extreme most = maximum(col, lattice); most.value >= target.cols)
    return outside(most);
  if (size > target.numCores()) {
    report.add("mesh", what,
               text(what, ": its lattice has ", number(size), " points, more than the mesh's ", target.numCores(),
                    " cores; a core may be listed once only"));
    return false;
  }
  return true;
}

namespace {

void checkColour(const Scope &scope, int32_t colour, const std::string &what) {
  const target::Target &target = scope.target();
  if (colour >= target.colours)
    scope.report.add("colour", what,
                     text(what, " uses colour ", colour, ", the target has colours 0 to ", target.colours - 1));
  for (int32_t reserved : target.reservedColours)
    if (colour == reserved)
      scope.report.add(
          "colour", what,
          text(what, " uses colour ", colour, ", which the target reserves for the system; choose another"));
}

// One end of a dead link.
struct DeadEnd {
  int32_t row, col;
  Port port;
};

std::vector<DeadEnd> deadEnds(const target::Target &target) {
  std::vector<DeadEnd> ends;
  for (const target::DeadLink &link : target.deadLinks) {
    switch (link.side) {
    case target::Side::North:
      ends.push_back({link.row, link.col, Port::North});
      ends.push_back({link.row - 1, link.col, Port::South});
      break;
    case target::Side::South:
      ends.push_back({link.row, link.col, Port::South});
      ends.push_back({link.row + 1, link.col, Port::North});
      break;
    case target::Side::East:
      ends.push_back({link.row, link.col, Port::East});
      ends.push_back({link.row, link.col + 1, Port::West});
      break;
    case target::Side::West:
      ends.push_back({link.row, link.col, Port::West});
      ends.push_back({link.row, link.col - 1, Port::East});
      break;
    }
    const DeadEnd &far = ends.back(); // outside of the mesh when the link is a port
    if (far.row < 0 || far.row >= target.rows || far.col < 0 || far.col >= target.cols)
      ends.pop_back();
  }
  return ends;
}

} // namespace

bool checkMesh(const Scope &scope) {
  const Configuration &configuration = scope.configuration;
  bool sound = true;
  for (size_t r = 0; r < configuration.roles.size(); ++r) {
    std::string name = scope.roleName(int32_t(r));
    sound &= checkInMesh(scope.target(), configuration.roles[r].cores, name, scope.report);
    for (const Queue &queue : configuration.roles[r].queues)
      checkColour(scope, queue.colour, name);
  }
  for (size_t r = 0; r < configuration.routers.size(); ++r) {
    std::string name = text("router role #", r, " of ", scope.routerName(int32_t(r)));
    sound &= checkInMesh(scope.target(), configuration.routers[r].routers, name, scope.report);
    checkColour(scope, configuration.routers[r].colour, name);
  }
  for (size_t b = 0; b < configuration.io.size(); ++b) {
    std::string name = text("I/O binding #", b);
    sound &= checkInMesh(scope.target(), configuration.io[b].ports, name, scope.report);
    checkColour(scope, configuration.io[b].colour, name);
  }
  for (const Kernel &kernel : configuration.kernels) {
    const target::Target &target = scope.target();
    if (kernel.row < 0 || kernel.col < 0 || kernel.rows < 0 || kernel.cols < 0 ||
        int64_t(kernel.row) + kernel.rows > target.rows || int64_t(kernel.col) + kernel.cols > target.cols)
      scope.report.add("kernel-rectangle", kernel.name,
                       text("kernel ", kernel.name, ": rectangle ", kernel.rows, " x ", kernel.cols, " at (",
                            kernel.row, ", ", kernel.col, ") leaves the mesh of ", target.rows, " x ", target.cols,
                            " cores"));
  }
  return sound;
}

namespace {

struct OwnedRun {
  Run run;
  int32_t owner; // role or router role
};

// Sorts the runs of a mesh of `rows` rows; calls overlap(run, the one before it on the same core) for those that
// overlap.
template <typename Overlap>
void forEachOverlap(std::vector<OwnedRun> &runs, RowSorter<OwnedRun> &sorter, int32_t rows, Overlap overlap) {
  sorter.sort(runs, rows, [](const OwnedRun &a, const OwnedRun &b) {
    return std::tie(a.run.colBegin, a.owner) < std::tie(b.run.colBegin, b.owner);
  });
  for (size_t i = 1, furthest = 0; i < runs.size(); ++i) {
    if (runs[i].run.row == runs[furthest].run.row && runs[i].run.colBegin < runs[furthest].run.colEnd)
      overlap(runs[i], runs[furthest]);
    if (runs[i].run.row != runs[furthest].run.row || runs[i].run.colEnd > runs[furthest].run.colEnd)
      furthest = i;
  }
}

// The owner of the sorted run that holds core (row, col); -1: none does.
int32_t ownerAt(const std::vector<OwnedRun> &runs, int32_t row, int32_t col) {
  auto after = std::upper_bound(runs.begin(), runs.end(), Run{row, col, col + 1},
                                [](const Run &core, const OwnedRun &owned) { return core.before(owned.run); });
  if (after == runs.begin())
    return -1;
  const OwnedRun &owned = *std::prev(after);
  return owned.run.row == row && col < owned.run.colEnd ? owned.owner : -1;
}

void addRuns(const Lattice &lattice, int32_t owner, std::vector<OwnedRun> &runs) {
  forEachRun(lattice, runDimension(lattice),
             [&](const Run &run, const LatticeIndex &) { runs.push_back({run, owner}); });
}

} // namespace

bool checkOverlaps(const Scope &scope) {
  const Configuration &configuration = scope.configuration;
  bool sound = true;
  std::vector<OwnedRun> runs;
  RowSorter<OwnedRun> sorter;
  for (size_t r = 0; r < configuration.roles.size(); ++r)
    addRuns(configuration.roles[r].cores, int32_t(r), runs);
  forEachOverlap(runs, sorter, scope.target().rows, [&](const OwnedRun &b, const OwnedRun &a) {
    sound = false;
    auto [first, second] = std::minmax(a.owner, b.owner);
    scope.report.add("core-overlap", text(first, "/", second),
                     text(coreName(b.run.row, b.run.colBegin), " is in ", scope.roleName(first),
                          first == second ? std::string(" twice") : text(" and in ", scope.roleName(second)),
                          "; a core has one role per configuration"));
  });
  for (const target::DeadCore &core : scope.target().deadCores)
    if (const int32_t role = ownerAt(runs, core.row, core.col); role >= 0)
      scope.report.add("dead-core", text(role, core.row, core.col),
                       text(coreName(core.row, core.col), " is dead, but ", scope.roleName(role), " runs there"));

  const std::vector<DeadEnd> dead = deadEnds(scope.target());
  std::vector<std::vector<int32_t>> byColour(256);
  for (size_t r = 0; r < configuration.routers.size(); ++r)
    byColour[configuration.routers[r].colour].push_back(int32_t(r));
  for (const std::vector<int32_t> &routers : byColour) {
    if (scope.report.full())
      return false;
    if (routers.empty())
      continue;
    runs.clear();
    for (int32_t r : routers)
      addRuns(configuration.routers[r].routers, r, runs);
    forEachOverlap(runs, sorter, scope.target().rows, [&](const OwnedRun &b, const OwnedRun &a) {
      sound = false;
      auto [first, second] = std::minmax(a.owner, b.owner);
      scope.report.add("router-overlap", text(first, "/", second),
                       text("router of ", coreName(b.run.row, b.run.colBegin), " has two router roles on colour ",
                            int32_t(configuration.routers[first].colour), ": ", scope.routerName(first), " (#", first,
                            ") and ", scope.routerName(second), " (#", second, "); give one of them another colour"));
    });
    for (const DeadEnd &end : dead)
      if (const int32_t router = ownerAt(runs, end.row, end.col); router >= 0)
        for (const SwitchPosition &position : configuration.routers[router].positions)
          if (position.input == end.port || (position.outputs & (1u << unsigned(end.port))))
            scope.report.add("dead-link", text(router, end.row, end.col),
                             text("the link ", portName(end.port), " of ", coreName(end.row, end.col), " is dead, but ",
                                  scope.routerName(router), " (#", router, ") uses it"));
  }
  return sound;
}

} // namespace wsc::format::verifier
