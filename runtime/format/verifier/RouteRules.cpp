// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Routes connected end to end, one colour at a time: what a router sends to a neighbour the neighbour takes from there,
// and the reverse; what goes to or comes from RAMP has an input or output queue on the core; what leaves the mesh is
// bound to a tensor. Each node of the map compares the union of its ports with its four neighbours'.
#include "runtime/format/verifier/RouteRules.h"

#include "runtime/format/verifier/Rules.h"

#include <bit>

namespace wsc::format::verifier {

namespace {

PortMask bit(Port port) { return PortMask(1u << unsigned(port)); }

void refuseSide(const ColourMap &map, const Node &node, Port side, const char *what, const std::string &reason) {
  map.scope.report.add("route-open", text(node.router, portName(side), what),
                       text(map.place(node, side), ": ", what, " ", portName(side), " but ", reason));
}

// One that the router uses. A node's routers do the same and face the same, so its first (eastwards its last) is
// judged.
void checkSide(const ColourMap &map, const Node &node, Port side) {
  const RouterPorts &own = map.ports[node.router];
  bool sends = own.outputs & bit(side), takes = own.inputs & bit(side);
  if (map.atEdge(node, side)) {
    if (sends && !map.edge(node, side, true))
      refuseSide(map, node, side, "sends words", "the mesh ends there and no output binding takes them");
    if (takes && !map.edge(node, side, false))
      refuseSide(map, node, side, "takes words from", "the mesh ends there and no input binding feeds it");
    return;
  }
  auto name = [&] {
    int32_t row = node.run.row + (side == Port::South) - (side == Port::North);
    return coreName(row, side == Port::East   ? node.run.colEnd
                         : side == Port::West ? node.run.colBegin - 1
                                              : node.run.colBegin);
  };
  int32_t other = node.next[int(side)];
  if (other < 0)
    return refuseSide(map, node, side, sends ? "sends words" : "takes words from",
                      text("the router of ", name(), " has no settings on that colour"));
  const RouterPorts &theirs = map.ports[map.nodes[other].router];
  if (sends && !(theirs.inputs & bit(opposite(side))))
    refuseSide(map, node, side, "sends words",
               text("the router of ", name(), " never takes from ", portName(opposite(side))));
  if (takes && !(theirs.outputs & bit(opposite(side))))
    refuseSide(map, node, side, "takes words from",
               text("the router of ", name(), " never sends to ", portName(opposite(side))));
}

// A bound port whose router does not use it.
void checkBound(const ColourMap &map, const Node &node, Port side, bool output) {
  const RouterPorts &own = map.ports[node.router];
  if ((output ? own.outputs : own.inputs) & bit(side))
    return;
  refuseSide(map, node, side, output ? "sends nothing" : "takes nothing from",
             output ? "an output binding waits there; route the colour to that port"
                    : "an input binding feeds that port; route the colour from there");
}

void checkRamp(const ColourMap &map, const Node &node) {
  const RouterPorts &own = map.ports[node.router];
  bool delivers = own.outputs & bit(Port::Ramp), collects = own.inputs & bit(Port::Ramp);
  auto refuse = [&](const char *what) {
    map.scope.report.add("route-ramp", text(node.router, what), text(map.place(node), ": ", what));
  };
  if (delivers && node.takes < 0)
    refuse("delivers to RAMP, but the core has no input queue on that colour");
  if (!delivers && node.takes >= 0)
    refuse("the core has an input queue on that colour, but no switch position delivers to RAMP");
  if (collects && node.sends < 0)
    refuse("takes from RAMP, but the core has no output queue on that colour");
  if (!collects && node.sends >= 0)
    refuse("the core has an output queue on that colour, but no switch position takes from RAMP");
}

// Element bytes of the tensors of all bindings, as far as an entry says them; IoRules judges the rest.
std::vector<int64_t> bindingBytes(const Scope &scope) {
  const Executable &executable = scope.executable;
  int32_t number = int32_t(&scope.configuration - executable.configurations.data());
  std::vector<int64_t> bytes(scope.configuration.io.size(), 4);
  for (const Entry &entry : executable.entries)
    for (const Step &step : entry.steps) {
      if (step.kind != StepKind::Run || step.configuration != number)
        continue;
      for (size_t b = 0; b < bytes.size(); ++b) {
        const IoBinding &binding = scope.configuration.io[b];
        const auto &tensors = binding.output ? entry.outputs : entry.inputs;
        if (binding.tensor >= 0 && size_t(binding.tensor) < tensors.size())
          bytes[b] = elementBytes(tensors[binding.tensor].type);
      }
    }
  return bytes;
}

} // namespace

void checkColours(const Scope &scope) {
  std::vector<RouterPorts> ports;
  for (const RouterRole &router : scope.configuration.routers) {
    RouterPorts all;
    for (const SwitchPosition &position : router.positions) {
      all.inputs |= bit(position.input);
      all.outputs |= position.outputs;
    }
    ports.push_back(all);
  }
  std::vector<int64_t> bytes = bindingBytes(scope);
  int64_t budget = kMostSteps;
  ColourMap map(scope, ports, bytes);
  for (const ColourUsers &users : usersByColour(scope.configuration)) {
    if (scope.report.full())
      return;
    if (users.routers.empty() && users.queues.empty() && users.bindings.empty())
      continue;
    size_t before = scope.report.size();
    map.draw(users);
    for (const Node &node : map.nodes) {
      const RouterPorts &own = ports[size_t(node.router)];
      for (unsigned sides = (own.inputs | own.outputs) & kAllSides; sides != 0; sides &= sides - 1)
        checkSide(map, node, Port(std::countr_zero(sides)));
      checkRamp(map, node);
    }
    map.forEachEdge([&](int32_t node, Port side, bool output, const EdgePort &) {
      checkBound(map, map.nodes[node], side, output);
    });
    if (scope.report.size() == before)
      checkWords(map, budget);
  }
}

} // namespace wsc::format::verifier
