// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/timing/Partition.h"

#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/timing/Hash.h"

#include <algorithm>

namespace wsc::emulator::timing {

using namespace format;

namespace {

// The dimension along which cores can share a unit: the last used one if it runs along a row and none of the core's
// extents and filters depends on it; -1: none.
int runDimension(const Role &role) {
  int last = -1;
  for (int d = 0; d < kMaxDims; ++d)
    if (role.cores.dims[d].count > 1)
      last = d;
  if (last < 0 || role.cores.dims[last].rowStep != 0)
    return -1;
  for (const Thread &thread : role.threads)
    for (const Instruction &instruction : thread)
      for (const Affine &extent : instruction.extent)
        if (extent.perDim[last] != 0)
          return -1;
  for (const Queue &queue : role.queues)
    if (queue.filter.begin.perDim[last] != 0 || queue.filter.words.perDim[last] != 0)
      return -1;
  return last;
}

class Refinement {
public:
  Refinement(const Configuration &configuration, const Networks &networks, const std::vector<bool> &splitRoles)
      : configuration(configuration), networks(networks) {
    int64_t cores = 0;
    for (size_t r = 0; r < configuration.roles.size(); ++r) {
      const Role &role = configuration.roles[r];
      const int along = splitRoles[r] ? -1 : runDimension(role);
      runLength.push_back(along < 0 ? 1 : role.cores.dims[along].count);
      partition.firstCore.push_back(cores);
      cores += std::max<int64_t>(0, role.cores.size());
    }
    partition.firstCore.push_back(cores);
    partition.begins.assign(size_t(cores), false);
    unitOf.resize(size_t(cores));
    for (size_t r = 0; r < runLength.size(); ++r)
      for (int64_t core = partition.firstCore[r]; core < partition.firstCore[r + 1]; core += runLength[r])
        begin(core, core + runLength[r]);
  }

  Partition run() {
    links.resize(networks.streams.size());
    isStale.assign(networks.streams.size(), true);
    isMarked.assign(unitOf.size(), false);
    for (size_t stream = 0; stream < links.size(); ++stream)
      stale.push_back(int32_t(stream));
    while (!stale.empty()) {
      look();
      for (const Run &run : marked)
        cut(run);
      marked.clear();
    }
    return std::move(partition);
  }

private:
  // Cores [begin, end) of a role, side by side, of those of all roles.
  struct Run {
    int32_t role;
    int64_t begin, end;
  };
  // What the two sides of a stream are, as the other one sees it.
  struct Link {
    uint64_t sources = 0, sinks = 0;
  };

  int64_t coreOf(const Endpoint &end) const {
    return partition.firstCore[size_t(end.role)] +
           latticeOrdinal(configuration.roles[size_t(end.role)].cores, end.index);
  }

  // Makes cores [core, end) a unit.
  void begin(int64_t core, int64_t end) {
    partition.begins[size_t(core)] = true;
    std::fill(unitOf.begin() + core, unitOf.begin() + end, int32_t(core));
  }

  // The units and queues at one side; ends of the same queue of a unit count once where they follow each other.
  uint64_t hashOf(std::span<const Endpoint> ends) const {
    uint64_t hash = 0, last = 0;
    for (const Endpoint &end : ends) {
      const uint64_t unit = end.role < 0 ? mix(mix(~uint64_t(end.binding), uint64_t(end.row)), uint64_t(end.col))
                                         : uint64_t(unitOf[size_t(coreOf(end))]);
      if (const uint64_t own = mix(unit, uint64_t(end.queue)); own != last) {
        hash = mix(hash, own);
        last = own;
      }
    }
    return hash;
  }

  // Reads what stale streams connect now and marks the runs that they lead to.
  void look() {
    for (const int32_t index : stale) {
      const Stream stream = networks.streams[size_t(index)];
      const uint64_t gather = stream.sources.size() > 1 ? uint64_t(index) + 1 : 0;
      links[size_t(index)] = {hashOf(stream.sources), mix(hashOf(stream.sinks), gather)};
      isStale[size_t(index)] = false;
      for (std::span<const Endpoint> side : {stream.sources, stream.sinks})
        for (const Endpoint &end : side)
          if (end.role >= 0 && runLength[size_t(end.role)] > 1)
            mark(end.role, coreOf(end));
    }
    stale.clear();
  }

  void mark(int32_t role, int64_t core) {
    const int64_t first = partition.firstCore[size_t(role)], length = runLength[size_t(role)];
    const int64_t begin = first + (core - first) / length * length;
    if (isMarked[size_t(begin)])
      return;
    isMarked[size_t(begin)] = true;
    marked.push_back({role, begin, begin + length});
  }

  // Cuts a run where neighbours differ.
  void cut(const Run &run) {
    isMarked[size_t(run.begin)] = false;
    const std::vector<Queue> &queues = configuration.roles[size_t(run.role)].queues;
    const int64_t first = partition.firstCore[size_t(run.role)];
    auto streamsOf = [&](int64_t core) {
      return networks.streamTable.data() + networks.roleOffset[size_t(run.role)] +
             (core - first) * int64_t(queues.size());
    };
    auto hashOfCore = [&](int64_t core) {
      const int32_t *streams = streamsOf(core);
      uint64_t hash = 0;
      for (size_t q = 0; q < queues.size(); ++q)
        if (streams[q] >= 0) {
          const Link &link = links[size_t(streams[q])];
          hash = mix(mix(hash, q), queues[q].output ? link.sinks : link.sources);
        }
      return hash;
    };
    cuts.clear();
    uint64_t before = hashOfCore(run.begin);
    for (int64_t core = run.begin + 1; core < run.end; ++core) {
      const uint64_t hash = hashOfCore(core);
      if (hash != before && !partition.begins[size_t(core)])
        cuts.push_back(core);
      before = hash;
    }
    for (const int64_t core : cuts) {
      int64_t end = core + 1;
      while (end < run.end && !partition.begins[size_t(end)])
        ++end;
      begin(core, end);
      for (const int32_t *stream = streamsOf(core), *past = streamsOf(end); stream != past; ++stream)
        if (*stream >= 0 && !isStale[size_t(*stream)]) {
          isStale[size_t(*stream)] = true;
          stale.push_back(*stream);
        }
    }
  }

  const Configuration &configuration;
  const Networks &networks;
  Partition partition;
  std::vector<int64_t> runLength;      // per role
  std::vector<int32_t> unitOf;         // per core: the first of its unit
  std::vector<Link> links;             // per stream
  std::vector<int32_t> stale;          // streams whose links have changed
  std::vector<Run> marked;             // runs that such streams lead to
  std::vector<bool> isStale, isMarked; // per stream; per core that begins a run
  std::vector<int64_t> cuts;
};

} // namespace

Partition partitionCores(const Configuration &configuration, const Networks &networks,
                         const std::vector<bool> &splitRoles) {
  return Refinement(configuration, networks, splitRoles).run();
}

} // namespace wsc::emulator::timing
