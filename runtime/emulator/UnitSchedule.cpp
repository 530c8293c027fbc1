// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes the schedule: Kahn's algorithm over units and streams (an edge per endpoint, so linear), then the same over
// tasks for levels. When units form a cycle the roles concerned are split into single cores and the sort is repeated; a
// cycle that stays leaves the configuration to the worklist.
#include "runtime/emulator/UnitSchedule.h"

#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/StreamPlaces.h"

#include <algorithm>
#include <numeric>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr int32_t kMostColumns = 16;
constexpr int kLast = kMaxDims - 1;

class Scheduler {
public:
  Scheduler(const Configuration &configuration, const Networks &networks, const std::vector<double> &coreCost)
      : configuration(configuration), networks(networks), coreCost(coreCost), split(configuration.roles.size(), false) {
  }

  UnitSchedule make() {
    do
      makeUnits();
    while (splitSelfFeeding() || (!sortUnits() && splitUnfinished()));
    if (int64_t(order.size()) < numUnits()) {
      schedule.possible = false;
      return std::move(schedule);
    }
    makeTasks(true);
    if (!sortTasks()) {
      makeTasks(false);
      sortTasks();
    }
    emit();
    return std::move(schedule);
  }

private:
  int64_t numUnits() const { return int64_t(units.size()); }

  void makeUnits() {
    units.clear();
    unitBase.clear();
    columns.clear();
    for (size_t r = 0; r < configuration.roles.size(); ++r) {
      const Role &role = configuration.roles[r];
      const int32_t width = role.cores.dims[kLast].count, step = split[r] ? 1 : unitColumns(role);
      unitBase.push_back(int32_t(units.size()));
      columns.push_back(step);
      const int64_t cores = role.cores.size();
      for (int64_t first = 0; first < cores; first += width)
        for (int32_t c = 0; c < width; c += step)
          units.push_back({int32_t(r), int32_t(first + c), std::min(step, width - c)});
    }
  }

  int32_t unitOf(const Endpoint &endpoint) const {
    const Lattice &cores = configuration.roles[endpoint.role].cores;
    const int32_t width = cores.dims[kLast].count, step = columns[endpoint.role];
    const int64_t ordinal = latticeOrdinal(cores, endpoint.index);
    return unitBase[endpoint.role] + int32_t(ordinal / width) * ((width + step - 1) / step) +
           int32_t(ordinal % width) / step;
  }

  int32_t columnOf(const ScheduledUnit &unit) const {
    const Lattice &cores = configuration.roles[unit.role].cores;
    return latticePosition(cores, latticeIndex(cores, unit.first)).second;
  }

  template <typename Visit> void forPorts(const ScheduledUnit &unit, bool output, Visit visit) const {
    const Role &role = configuration.roles[unit.role];
    const int64_t queues = int64_t(role.queues.size());
    const int32_t *table = networks.streamTable.data() + networks.roleOffset[unit.role] + unit.first * queues;
    for (int32_t c = 0; c < unit.count; ++c)
      for (int64_t q = 0; q < queues; ++q)
        if (role.queues[q].output == output && table[c * queues + q] >= 0)
          visit(table[c * queues + q]);
  }

  bool splitSelfFeeding() {
    std::vector<int32_t> sender(units.size(), -1);
    bool any = false;
    int32_t number = 0;
    for (const Stream &stream : networks.streams) {
      for (const Endpoint &source : stream.sources)
        if (source.role >= 0)
          sender[unitOf(source)] = number;
      for (const Endpoint &sink : stream.sinks)
        if (sink.role >= 0 && !split[sink.role] && sender[unitOf(sink)] == number)
          split[sink.role] = any = true;
      ++number;
    }
    return any;
  }

  // Runs the topological sort over `group[unit]`; visit(group) when a group has all its inputs. Streams inside one
  // group do not count.
  template <typename Done>
  int64_t sort(const std::vector<int32_t> &group, size_t groups, const std::vector<std::vector<int32_t>> *members,
               Done done) {
    std::vector<int32_t> missing(groups, 0), streamMissing(networks.streams.size(), 0);
    std::vector<int32_t> ready;
    markInternal(group);
    int32_t number = 0;
    for (const Stream &stream : networks.streams) {
      int32_t coreSources = 0;
      for (const Endpoint &source : stream.sources)
        coreSources += source.role >= 0;
      streamMissing[number] = coreSources;
      if (coreSources > 0 && !internal[number])
        for (const Endpoint &sink : stream.sinks)
          if (sink.role >= 0)
            ++missing[group[unitOf(sink)]];
      ++number;
    }
    for (size_t g = 0; g < groups; ++g)
      if (missing[g] == 0)
        ready.push_back(int32_t(g));
    for (size_t i = 0; i < ready.size(); ++i) {
      const int32_t g = ready[i];
      done(g);
      auto finishUnit = [&](int32_t unit) {
        forPorts(units[unit], true, [&](int32_t s) {
          if (--streamMissing[s] != 0)
            return;
          if (internal[s])
            return;
          for (const Endpoint &sink : networks.streams[s].sinks)
            if (sink.role >= 0)
              if (const int32_t to = group[unitOf(sink)]; --missing[to] == 0)
                ready.push_back(to);
        });
      };
      if (members)
        for (int32_t unit : (*members)[g])
          finishUnit(unit);
      else
        finishUnit(g);
    }
    return int64_t(ready.size());
  }

  void markInternal(const std::vector<int32_t> &group) {
    internal.clear();
    for (const Stream &stream : networks.streams)
      internal.push_back(inside(stream, group));
  }

  bool inside(const Stream &stream, const std::vector<int32_t> &group) const {
    int32_t only = -1;
    for (const auto &ends : {stream.sources, stream.sinks})
      for (const Endpoint &end : ends) {
        if (end.role < 0)
          return false;
        const int32_t g = group[unitOf(end)];
        if (only >= 0 && g != only)
          return false;
        only = g;
      }
    return true;
  }

  bool sortUnits() {
    order.clear();
    std::vector<int32_t> self(units.size());
    std::iota(self.begin(), self.end(), 0);
    // A core that feeds itself is not `inside` here but a cycle: such streams end in the worklist.
    markInternal(self);
    if (std::find(internal.begin(), internal.end(), true) != internal.end())
      return false;
    sort(self, units.size(), nullptr, [&](int32_t unit) { order.push_back(unit); });
    return order.size() == units.size();
  }

  // Splits the roles of units that could not be sorted; false when there is nothing left to split.
  bool splitUnfinished() {
    std::vector<bool> finished(units.size(), false);
    for (int32_t unit : order)
      finished[unit] = true;
    bool any = false;
    for (size_t u = 0; u < units.size(); ++u)
      if (!finished[u] && columns[units[u].role] > 1 && !split[units[u].role])
        split[units[u].role] = any = true;
    return any;
  }

  void makeTasks(bool chains) {
    std::vector<int32_t> parent(units.size());
    std::iota(parent.begin(), parent.end(), 0);
    auto find = [&](int32_t u) {
      while (parent[u] != u)
        u = parent[u] = parent[parent[u]];
      return u;
    };
    if (chains)
      for (const Stream &stream : networks.streams) {
        if (stream.sources.size() != 1 || stream.sinks.size() != 1)
          continue;
        const Endpoint &source = stream.sources[0], &sink = stream.sinks[0];
        if (source.role < 0 || sink.role < 0 || source.col != sink.col ||
            configuration.roles[source.role].kernel != configuration.roles[sink.role].kernel)
          continue;
        parent[find(unitOf(source))] = find(unitOf(sink));
      }
    taskOf.assign(units.size(), -1);
    taskUnits.clear();
    for (int32_t unit : order) { // members end up in execution order
      int32_t &task = taskOf[find(unit)];
      if (task < 0) {
        task = int32_t(taskUnits.size());
        taskUnits.emplace_back();
      }
      taskUnits[task].push_back(unit);
      taskOf[unit] = task;
    }
  }

  bool sortTasks() {
    level.assign(taskUnits.size(), 0);
    streamLevel.assign(networks.streams.size(), -1);
    int64_t sorted = sort(taskOf, taskUnits.size(), &taskUnits, [&](int32_t task) {
      int32_t l = 0;
      for (int32_t unit : taskUnits[task])
        forPorts(units[unit], false, [&](int32_t s) { l = std::max(l, streamLevel[s] + 1); });
      level[task] = l;
      for (int32_t unit : taskUnits[task])
        forPorts(units[unit], true, [&](int32_t s) {
          if (!internal[s])
            streamLevel[s] = std::max(streamLevel[s], l);
        });
    });
    return sorted == int64_t(taskUnits.size());
  }

  void emit() {
    std::vector<int32_t> sequence(taskUnits.size());
    std::iota(sequence.begin(), sequence.end(), 0);
    std::sort(sequence.begin(), sequence.end(), [&](int32_t x, int32_t y) {
      if (level[x] != level[y])
        return level[x] < level[y];
      // Column by column inside a kernel: the groups of a column read the same weights, which stay in the cache.
      const ScheduledUnit &ux = units[taskUnits[x].front()], &uy = units[taskUnits[y].front()];
      if (ux.role != uy.role)
        return ux.role < uy.role;
      const int32_t cx = columnOf(ux), cy = columnOf(uy);
      return cx != cy ? cx < cy : ux.first < uy.first;
    });
    for (int32_t task : sequence) {
      while (int32_t(schedule.levelBegin.size()) <= level[task])
        schedule.levelBegin.push_back(uint32_t(schedule.tasks.size()));
      ScheduledTask t;
      t.unitBegin = uint32_t(schedule.units.size());
      for (int32_t unit : taskUnits[task]) {
        schedule.units.push_back(units[unit]);
        t.cost += coreCost[units[unit].role] * units[unit].count;
      }
      t.unitEnd = uint32_t(schedule.units.size());
      schedule.tasks.push_back(t);
    }
    schedule.levelBegin.push_back(uint32_t(schedule.tasks.size()));
    // Stream lifetimes for the placement.
    std::vector<StreamLife> lives(networks.streams.size());
    const int32_t numLevels = int32_t(schedule.levelBegin.size()) - 1;
    int32_t number = 0;
    for (const Stream &stream : networks.streams) {
      StreamLife &life = lives[number++];
      int32_t only = -1;
      life.local = true;
      life.first = numLevels;
      for (bool source : {true, false})
        for (const Endpoint &end : source ? stream.sources : stream.sinks) {
          const int32_t task = end.role < 0 ? -2 : taskOf[unitOf(end)];
          const int32_t l = end.role >= 0 ? level[task] : source ? 0 : numLevels;
          life.first = std::min(life.first, l);
          life.last = std::max(life.last, l);
          life.local &= task >= 0 && (only < 0 || task == only);
          only = task;
        }
    }
    placeStreams(configuration, networks, lives, schedule);
  }

  const Configuration &configuration;
  const Networks &networks;
  const std::vector<double> &coreCost;
  std::vector<bool> split;
  std::vector<ScheduledUnit> units;
  std::vector<int32_t> unitBase, columns; // per role
  std::vector<int32_t> order, taskOf, level, streamLevel;
  std::vector<std::vector<int32_t>> taskUnits;
  std::vector<bool> internal; // per stream: all its ends are in one group
  UnitSchedule schedule;
};

} // namespace

int32_t unitColumns(const Role &role) {
  const Lattice::Dim &dim = role.cores.dims[kLast];
  if (dim.count <= 1 || dim.rowStep != 0 || dim.colStep != 1)
    return 1;
  const int32_t blocks = (dim.count + kMostColumns - 1) / kMostColumns;
  return (dim.count + blocks - 1) / blocks;
}

UnitSchedule scheduleUnits(const Configuration &configuration, const Networks &networks,
                           const std::vector<double> &coreCost) {
  return Scheduler(configuration, networks, coreCost).make();
}

} // namespace wsc::emulator
