// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resolves streams colour by colour. Per colour, dense tables over the mesh say which router role, source and sink each
// router has; a flood from every source collects the routers connected with it (RouteFlood.cpp), and the words' order
// at each sink follows at once for a tree without switches, else by count-level simulation (RouteFlood.cpp again).
// Linear in routers and endpoints.
#include "runtime/emulator/Network.h"

#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/QueueTraffic.h"
#include "runtime/emulator/RouteFlood.h"
#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <limits>

namespace wsc::emulator {

using namespace format;

Stream StreamTable::operator[](size_t i) const {
  const Record &r = records[i], &next = records[i + 1];
  Stream s;
  s.colour = r.colour;
  s.net = r.net;
  s.sources = {sources.data() + r.source, sources.data() + next.source};
  s.sinks = {sinks.data() + r.sink, sinks.data() + next.sink};
  s.compositions = Compositions(segments.data(),
                                {compositionBegin.data() + r.composition, compositionBegin.data() + next.composition});
  s.sinkComposition = {sinkComposition.data() + r.sink, sinkComposition.data() + next.sink};
  s.sinkHops = {sinkHops.data() + r.sink, sinkHops.data() + next.sink};
  s.linkWordsPerSample = r.linkWords;
  return s;
}

void StreamTable::reserve(size_t numSources, size_t numSinks) {
  records.reserve(numSources + 1);
  sources.reserve(numSources);
  sinks.reserve(numSinks);
  sinkComposition.reserve(numSinks);
  sinkHops.reserve(numSinks);
}

void StreamTable::append(uint8_t colour, int32_t net, std::span<const Endpoint> newSources,
                         std::span<const Endpoint> newSinks, const std::vector<std::vector<Segment>> &compositions,
                         std::span<const int32_t> newSinkComposition, std::span<const int32_t> newSinkHops,
                         int64_t linkWords) {
  Record &r = records.back();
  r.colour = colour;
  r.net = net;
  r.linkWords = linkWords;
  sources.insert(sources.end(), newSources.begin(), newSources.end());
  sinks.insert(sinks.end(), newSinks.begin(), newSinks.end());
  sinkComposition.insert(sinkComposition.end(), newSinkComposition.begin(), newSinkComposition.end());
  sinkHops.insert(sinkHops.end(), newSinkHops.begin(), newSinkHops.end());
  compositionBegin.push_back(uint32_t(segments.size()));
  for (const auto &composition : compositions) {
    segments.insert(segments.end(), composition.begin(), composition.end());
    compositionBegin.push_back(uint32_t(segments.size()));
  }
  Record end;
  end.source = uint32_t(sources.size());
  end.sink = uint32_t(sinks.size());
  end.composition = uint32_t(compositionBegin.size());
  records.push_back(end);
}

int32_t Networks::streamAt(const Role &role, int32_t roleIndex, const LatticeIndex &index, int32_t queue) const {
  return streamTable[roleOffset[roleIndex] + latticeOrdinal(role.cores, index) * int64_t(role.queues.size()) + queue];
}

namespace {

// Fills the flood's tables for one colour and resolves its streams.
class ColourResolver {
public:
  ColourResolver(const target::Target &target, const Configuration &configuration, std::span<const ElementType> types,
                 Networks &networks)
      : configuration(configuration), types(types), networks(networks), flood(target.rows, target.cols, configuration) {
  }

  absl::Status resolve(int colour, std::span<const int32_t> routerRoles,
                       std::span<const std::pair<int32_t, int16_t>> queues, std::span<const int32_t> bindings) {
    flood.reset(colour);
    for (int32_t r : routerRoles) {
      absl::Status status;
      forEachPoint(configuration.routers[r].routers, [&](const LatticeIndex &, int32_t row, int32_t col) {
        return (status = flood.addRouter(r, row, col)).ok();
      });
      if (!status.ok())
        return status;
    }
    for (auto [role, queue] : queues)
      if (absl::Status status = addQueue(role, queue); !status.ok())
        return status;
    for (int32_t binding : bindings)
      if (absl::Status status = addBinding(binding); !status.ok())
        return status;
    return flood.resolveAll(networks.streams, [&](int32_t stream, const Endpoint &endpoint) {
      if (endpoint.role >= 0)
        networks.streamTable[networks.roleOffset[endpoint.role] +
                             latticeOrdinal(configuration.roles[endpoint.role].cores, endpoint.index) *
                                 int64_t(configuration.roles[endpoint.role].queues.size()) +
                             endpoint.queue] = stream;
    });
  }

private:
  absl::Status addQueue(int32_t roleIndex, int16_t queue) {
    const Role &role = configuration.roles[roleIndex];
    const bool uniform = trafficIsUniform(role);
    std::vector<TrafficItem> items;
    int32_t list = -1;
    absl::Status status;
    forEachPoint(role.cores, [&](const LatticeIndex &index, int32_t row, int32_t col) {
      if (list < 0 || !uniform) {
        absl::StatusOr<CoreTraffic> traffic = coreTraffic(role, index);
        if (!traffic.ok()) {
          status = traffic.status();
          return false;
        }
        list = flood.addTraffic(std::move((*traffic)[queue]));
      }
      Endpoint endpoint;
      endpoint.role = roleIndex;
      endpoint.index = index;
      endpoint.queue = queue;
      endpoint.row = row;
      endpoint.col = col;
      status = flood.addEndpoint(endpoint, Port::Ramp, role.queues[queue].output, list);
      return status.ok();
    });
    return status;
  }

  absl::Status addBinding(int32_t bindingIndex) {
    const IoBinding &binding = configuration.io[bindingIndex];
    absl::Status status;
    forEachPoint(binding.ports, [&](const LatticeIndex &index, int32_t row, int32_t col) {
      int64_t elements = 1;
      for (const Affine &extent : binding.extent)
        elements *= std::max<int64_t>(0, extent.at(index));
      int32_t list = flood.addTraffic(
          {TrafficItem{timing::fabricWords(types.empty() ? ElementType::F32 : types[bindingIndex], elements), 0}});
      Endpoint endpoint;
      endpoint.binding = int16_t(bindingIndex);
      endpoint.index = index;
      endpoint.row = row;
      endpoint.col = col;
      status = flood.addEndpoint(endpoint, binding.side, !binding.output, list);
      return status.ok();
    });
    return status;
  }

  const Configuration &configuration;
  std::span<const ElementType> types;
  Networks &networks;
  RouteFlood flood;
};

} // namespace

absl::StatusOr<Networks> resolveNetworks(const target::Target &target, const Configuration &configuration,
                                         std::span<const ElementType> types) {
  Networks networks;
  int64_t table = 0;
  for (const Role &role : configuration.roles) {
    networks.roleOffset.push_back(table);
    table += role.cores.size() * int64_t(role.queues.size());
  }
  networks.streamTable.assign(table, -1);
  size_t sources = 0, sinks = 0;
  for (const Role &role : configuration.roles)
    for (const Queue &queue : role.queues)
      (queue.output ? sources : sinks) += size_t(role.cores.size());
  for (const IoBinding &binding : configuration.io)
    (binding.output ? sinks : sources) += size_t(binding.ports.size());
  networks.streams.reserve(sources, sinks);

  const int colours = 256;
  std::vector<std::vector<int32_t>> routers(colours), bindings(colours);
  std::vector<std::vector<std::pair<int32_t, int16_t>>> queues(colours);
  for (size_t r = 0; r < configuration.routers.size(); ++r)
    routers[configuration.routers[r].colour].push_back(int32_t(r));
  for (size_t r = 0; r < configuration.roles.size(); ++r)
    for (size_t q = 0; q < configuration.roles[r].queues.size(); ++q)
      queues[configuration.roles[r].queues[q].colour].emplace_back(int32_t(r), int16_t(q));
  for (size_t b = 0; b < configuration.io.size(); ++b)
    bindings[configuration.io[b].colour].push_back(int32_t(b));

  ColourResolver resolver(target, configuration, types, networks);
  for (int colour = 0; colour < colours; ++colour)
    if (!routers[colour].empty() || !queues[colour].empty() || !bindings[colour].empty())
      if (absl::Status status = resolver.resolve(colour, routers[colour], queues[colour], bindings[colour]);
          !status.ok())
        return status;
  return networks;
}

std::vector<ElementType> bindingTypes(const Executable &executable, int configuration) {
  const Configuration &config = executable.configurations[configuration];
  std::vector<ElementType> types(config.io.size(), ElementType::F32);
  for (const Entry &entry : executable.entries)
    for (const Step &step : entry.steps) {
      if (step.configuration != configuration || step.kind != StepKind::Run)
        continue;
      for (size_t b = 0; b < config.io.size(); ++b) {
        const auto &tensors = config.io[b].output ? entry.outputs : entry.inputs;
        if (config.io[b].tensor >= 0 && config.io[b].tensor < int32_t(tensors.size()))
          types[b] = tensors[config.io[b].tensor].type;
      }
      return types;
    }
  return types;
}

} // namespace wsc::emulator
