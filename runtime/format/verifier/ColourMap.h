// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything on one colour: which router role serves which core, which cores send and take what, which ports of the wafer are bound. One map is drawn at a time, so
// memory grows with the mesh and not with mesh × colours.
#pragma once

#include "runtime/format/verifier/Report.h"
#include "runtime/format/verifier/WordSequence.h"

#include <map>
#include <span>
#include <tuple>

namespace wsc::format::verifier {

// What the configuration has on each colour, by index.
struct ColourUsers {
  std::vector<int32_t> routers, bindings;
  std::vector<std::pair<int32_t, int32_t>> queues; // role, queue
};
std::vector<ColourUsers> usersByColour(const Configuration &configuration);

// A router on the colour.
struct Node {
  int32_t cell = 0;   // row · cols + col
  int32_t router = 0; // index into Configuration::routers
  int32_t sends = -1, takes = -1; // sequences of the core's output and input queue, -1: the core has none
};

// A bound port of the wafer.
struct EdgePort {
  int32_t binding = -1;
  int32_t sequence = -1;
};

struct Neighbour {
  int32_t row, col;
};
Neighbour neighbour(int32_t row, int32_t col, Port port);
Port opposite(Port port);

class ColourMap {
public:
  // Draws `colour`. `nodeAt` is a table of one entry per core, -1 everywhere; the map's destructor restores that.
  // `bindingBytes`: element bytes of each I/O binding's tensor. Queues on cores without a router, and sequences too long to judge, are reported.
  ColourMap(const Scope &scope, const ColourUsers &users, std::span<const int64_t> bindingBytes, std::vector<int32_t> &nodeAt);
  ~ColourMap();

  const Scope &scope;
  const ColourUsers &users;
  std::vector<Node> nodes;
  std::vector<Segments> sequences;

  bool inMesh(Neighbour place) const;
  int32_t nodeIndex(int32_t row, int32_t col) const { return nodeAt[size_t(row) * cols + col]; }
  int32_t row(const Node &node) const { return node.cell / cols; }
  int32_t col(const Node &node) const { return node.cell % cols; }
  // The binding of an edge router's outer port, or null.
  const EdgePort *edge(int32_t cell, Port side, bool output) const;
  // Calls visit(node, side, output, port) for every bound port that has a router.
  template <typename Visit> void forEachEdge(Visit visit) const {
    for (const auto &[key, port] : edges)
      if (int32_t node = nodeAt[std::get<0>(key)]; node >= 0)
        visit(node, Port(std::get<1>(key)), std::get<2>(key), port);
  }
  // "net x, colour 3, router of core (4, 7)"
  std::string place(const Node &node) const;

private:
  void drawQueues(std::pair<int32_t, int32_t> user);
  void drawBinding(int32_t binding, int64_t bytes);
  void tooLong(const std::string &who);

  std::vector<int32_t> &nodeAt;
  const int32_t rows, cols;
  std::map<std::tuple<int32_t, int, bool>, EdgePort> edges;
};

} // namespace wsc::format::verifier
