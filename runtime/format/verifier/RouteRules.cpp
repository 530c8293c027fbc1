// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Routes connected end to end, one colour at a time: what a router sends to a neighbour the neighbour takes from there, and the reverse; what goes to or comes from RAMP has
// an input or output queue on the core; what leaves the mesh is bound to a tensor. Each router compares the union of its ports with its four neighbours'.
#include "runtime/format/verifier/RouteRules.h"

#include "runtime/format/verifier/Rules.h"

namespace wsc::format::verifier {

namespace {

constexpr Port kSides[] = {Port::North, Port::South, Port::East, Port::West};
PortMask bit(Port port) { return PortMask(1u << unsigned(port)); }

void checkSide(const ColourMap &map, std::span<const RouterPorts> ports, const Node &node, Port side) {
  const RouterPorts &own = ports[node.router];
  bool sends = own.outputs & bit(side), takes = own.inputs & bit(side);
  Neighbour next = neighbour(map.row(node), map.col(node), side);
  auto refuse = [&](const char *what, const std::string &reason) {
    map.scope.report.add("route-open", text(node.router, portName(side), what),
                         text(map.place(node), ": ", what, " ", portName(side), " but ", reason));
  };
  if (!map.inMesh(next)) {
    const EdgePort *out = map.edge(node.cell, side, true), *in = map.edge(node.cell, side, false);
    if (sends != (out != nullptr))
      refuse(sends ? "sends words" : "sends nothing", sends ? "the mesh ends there and no output binding takes them"
                                                          : "an output binding waits there; route the colour to that port");
    if (takes != (in != nullptr))
      refuse(takes ? "takes words from" : "takes nothing from", takes ? "the mesh ends there and no input binding feeds it"
                                                                      : "an input binding feeds that port; route the colour from there");
    return;
  }
  if (!sends && !takes)
    return;
  int32_t other = map.nodeIndex(next.row, next.col);
  std::string name = coreName(next.row, next.col);
  if (other < 0)
    return refuse(sends ? "sends words" : "takes words from", text("the router of ", name, " has no settings on that colour"));
  const RouterPorts &theirs = ports[map.nodes[other].router];
  if (sends && !(theirs.inputs & bit(opposite(side))))
    refuse("sends words", text("the router of ", name, " never takes from ", portName(opposite(side))));
  if (takes && !(theirs.outputs & bit(opposite(side))))
    refuse("takes words from", text("the router of ", name, " never sends to ", portName(opposite(side))));
}

void checkRamp(const ColourMap &map, std::span<const RouterPorts> ports, const Node &node) {
  const RouterPorts &own = ports[node.router];
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
  std::vector<int32_t> nodeAt(scope.target().numCores(), -1);
  int64_t budget = kMostSteps;
  for (const ColourUsers &users : usersByColour(scope.configuration)) {
    if (scope.report.full())
      return;
    size_t before = scope.report.size();
    ColourMap map(scope, users, bytes, nodeAt);
    for (const Node &node : map.nodes) {
      for (Port side : kSides)
        checkSide(map, ports, node, side);
      checkRamp(map, ports, node);
    }
    if (scope.report.size() == before)
      checkWords(map, ports, budget);
  }
}

} // namespace wsc::format::verifier
