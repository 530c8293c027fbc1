// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws the map of one colour from the lattices of router roles, roles and I/O bindings. Cores whose word sequence does not depend on the lattice point share one.
#include "runtime/format/verifier/ColourMap.h"

namespace wsc::format::verifier {

std::vector<ColourUsers> usersByColour(const Configuration &configuration) {
  std::vector<ColourUsers> users(256);
  for (size_t r = 0; r < configuration.routers.size(); ++r)
    users[configuration.routers[r].colour].routers.push_back(int32_t(r));
  for (size_t r = 0; r < configuration.roles.size(); ++r)
    for (size_t q = 0; q < configuration.roles[r].queues.size(); ++q)
      users[configuration.roles[r].queues[q].colour].queues.emplace_back(int32_t(r), int32_t(q));
  for (size_t b = 0; b < configuration.io.size(); ++b)
    users[configuration.io[b].colour].bindings.push_back(int32_t(b));
  return users;
}

Neighbour neighbour(int32_t row, int32_t col, Port port) {
  switch (port) {
  case Port::North:
    return {row - 1, col};
  case Port::South:
    return {row + 1, col};
  case Port::East:
    return {row, col + 1};
  case Port::West:
    return {row, col - 1};
  case Port::Ramp:
    break;
  }
  return {row, col};
}

Port opposite(Port port) {
  switch (port) {
  case Port::North:
    return Port::South;
  case Port::South:
    return Port::North;
  case Port::East:
    return Port::West;
  case Port::West:
    return Port::East;
  case Port::Ramp:
    break;
  }
  return Port::Ramp;
}

ColourMap::ColourMap(const Scope &scope, const ColourUsers &users, std::span<const int64_t> bindingBytes, std::vector<int32_t> &nodeAt)
    : scope(scope), users(users), nodeAt(nodeAt), rows(scope.target().rows), cols(scope.target().cols) {
  int64_t total = 0;
  for (int32_t r : users.routers) {
    int64_t size = 1;
    for (const Lattice::Dim &dim : scope.configuration.routers[r].routers.dims)
      size *= dim.count;
    total += size;
  }
  nodes.reserve(size_t(total));
  for (int32_t r : users.routers)
    forEachCore(scope.configuration.routers[r].routers, [&](int32_t row, int32_t col, const LatticeIndex &) {
      int32_t cell = row * cols + col;
      nodeAt[cell] = int32_t(nodes.size());
      nodes.push_back({cell, r});
    });
  for (auto user : users.queues)
    drawQueues(user);
  for (int32_t binding : users.bindings)
    drawBinding(binding, bindingBytes[binding]);
}

ColourMap::~ColourMap() {
  for (const Node &node : nodes)
    nodeAt[node.cell] = -1;
}

bool ColourMap::inMesh(Neighbour place) const { return place.row >= 0 && place.col >= 0 && place.row < rows && place.col < cols; }

const EdgePort *ColourMap::edge(int32_t cell, Port side, bool output) const {
  auto found = edges.find({cell, int(side), output});
  return found == edges.end() ? nullptr : &found->second;
}

std::string ColourMap::place(const Node &node) const {
  return text(scope.routerName(node.router), ", router of ", coreName(row(node), col(node)));
}

void ColourMap::tooLong(const std::string &who) {
  scope.report.add("words-budget", who,
                   text(who, ": what passes per sample cannot be judged, it has more than ", kMostSegments,
                        " changes between words, padded words and control words, or more than 2^62 words; use fewer control words"));
}

void ColourMap::drawQueues(std::pair<int32_t, int32_t> user) {
  const Role &role = scope.configuration.roles[user.first];
  const Queue &queue = role.queues[user.second];
  WordSequence words(role, user.second);
  auto name = [&] {
    return text(scope.roleName(user.first), ", ", queue.output ? "output" : "input", " queue of colour ", int32_t(queue.colour));
  };
  int32_t shared = -1;
  forEachCore(role.cores, [&](int32_t row, int32_t col, const LatticeIndex &index) {
    int32_t node = nodeIndex(row, col);
    if (node < 0) {
      scope.report.add("route-ramp", text(user.first, "/", user.second),
                       text(name(), ": ", coreName(row, col), " has no router settings on that colour; route the colour there"));
      return;
    }
    int32_t sequence = shared;
    if (scope.report.full())
      return;
    if (sequence < 0) {
      sequence = int32_t(sequences.size());
      sequences.emplace_back();
      if (!words.at(index, sequences.back()))
        tooLong(name());
      scope.report.spend(words.length() + 16 * int64_t(sequences.back().size()));
      if (words.dependsOn() == 0)
        shared = sequence;
    }
    (queue.output ? nodes[node].sends : nodes[node].takes) = sequence;
  });
}

void ColourMap::drawBinding(int32_t b, int64_t bytes) {
  const IoBinding &binding = scope.configuration.io[b];
  forEachCore(binding.ports, [&](int32_t row, int32_t col, const LatticeIndex &index) {
    std::string name = text("I/O binding #", b, ", ", portName(binding.side), " port of ", coreName(row, col), ", colour ", int32_t(binding.colour));
    int64_t elements = 1;
    for (const Affine &extent : binding.extent)
      elements = multiply(elements, int64_t(std::clamp<Wide>(Form(extent).at(index), 0, kMost)));
    EdgePort port{b, int32_t(sequences.size())};
    sequences.emplace_back();
    append(sequences.back(), segmentOf(elements, bytes));
    if (totalWords(sequences.back()) >= kMost)
      tooLong(name);
    if (!edges.emplace(std::tuple(row * cols + col, int(binding.side), binding.output), port).second)
      scope.report.add("io-port-shared", text(b),
                       text(name, " carries two ", binding.output ? "outputs" : "inputs", " on that colour; use another colour or port"));
    if (nodeIndex(row, col) < 0)
      scope.report.add("route-open", name, text(name, ": the router has no settings on that colour"));
  });
}

} // namespace wsc::format::verifier
