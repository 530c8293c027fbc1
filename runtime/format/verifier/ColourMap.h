// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything on one colour: which router role serves which core, which cores send and take what, which ports of the
// wafer are bound. One colour is drawn at a time, in the memory of the one before.
//
// Neighbouring routers of a row that do the same are one node where one of them can stand for all: they only hand words
// on along the row (and to their cores), or have no links along the row at all and face nodes of the same columns above
// and below. So a map grows with rows and roles, not with cores; the gathers of a row, where every core adds words of
// its own, stay one node a core.
#pragma once

#include "runtime/format/Ports.h"
#include "runtime/format/verifier/Report.h"
#include "runtime/format/verifier/Runs.h"
#include "runtime/format/verifier/WordSequence.h"

#include <array>
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

// Union of the ports of all switch positions of a router role.
struct RouterPorts {
  PortMask inputs = 0, outputs = 0;
};
constexpr int kSides = kNumPorts - 1; // North, South, East, West
constexpr unsigned kAllSides = (1u << kSides) - 1;

// What a filter lets through: `words` of every `period`; a period of 0: all.
struct Passage {
  int64_t period = 0, words = 0;
};

// Routers of one role in a run, whose cores send and take the same.
struct Node {
  Run run;
  int32_t router = 0;             // index into Configuration::routers
  int32_t sends = -1, takes = -1; // sequences of the cores' output and input queues, -1: they have none
  // The node that holds the neighbour of the run's first router (East: of its last) on each side; -1: the neighbour has
  // no router on the colour, or lies outside the mesh.
  std::array<int32_t, kSides> next{-1, -1, -1, -1};
};

// A bound port of the wafer.
struct EdgePort {
  int32_t binding = -1;
  int32_t sequence = -1;
};

class ColourMap {
public:
  // `ports`: of each router role. `bindingBytes`: element bytes of each I/O binding's tensor.
  ColourMap(const Scope &scope, std::span<const RouterPorts> ports, std::span<const int64_t> bindingBytes);

  // Draws what is on a colour, in place of what was drawn before. Queues on cores without a router, and sequences too
  // long to judge, are reported.
  void draw(const ColourUsers &users);

  const Scope &scope;
  const std::span<const RouterPorts> ports;
  std::vector<Node> nodes; // by row and column
  std::vector<Segments> sequences;
  std::vector<Passage> filters; // by sequence, of the input queues that take it

  // The node that holds core (row, col); -1: none.
  int32_t nodeIndex(int32_t row, int32_t col) const;
  // Whether the node lies on the mesh's edge at `side`.
  bool atEdge(const Node &node, Port side) const {
    switch (side) {
    case Port::North:
      return node.run.row == 0;
    case Port::South:
      return node.run.row == rows - 1;
    case Port::East:
      return node.run.colEnd == cols;
    case Port::West:
      return node.run.colBegin == 0;
    case Port::Ramp:
      break;
    }
    return false;
  }
  // The binding of the outer port of an edge node's first router, or null.
  const EdgePort *edge(const Node &node, Port side, bool output) const;
  // Calls visit(node, side, output, port) for every bound port that has a router.
  template <typename Visit> void forEachEdge(Visit visit) const {
    for (const auto &[key, port] : edges)
      if (int32_t node = nodeIndex(std::get<0>(key), std::get<1>(key)); node >= 0)
        visit(node, Port(std::get<2>(key)), std::get<3>(key), port);
  }
  // "net x, colour 3, router of core (4, 7)": the node's first router, or (East) its last.
  std::string place(const Node &node, Port side = Port::West) const;

private:
  struct RouterRun {
    Run run;
    int32_t router;
  };
  // A queue on a run of cores.
  struct QueueRun {
    Run run;
    int32_t sequence;
    std::pair<int32_t, int32_t> user; // role, queue
    int32_t routedCores = 0;          // that have a router on the colour
  };

  void drawQueue(std::pair<int32_t, int32_t> user);
  void drawBinding(int32_t binding, int64_t bytes);
  void drawRouters(const ColourUsers &users);
  void addPiece(const Node &piece);
  void link();
  void checkRouted(const std::vector<QueueRun> &queues);
  int32_t intern(const Segments &segments, const Passage &filter = {});
  void tooLong(const std::string &who);
  std::string queueName(std::pair<int32_t, int32_t> user) const;

  const std::span<const int64_t> bindingBytes;
  const int32_t rows, cols;
  std::vector<RouterRun> routers;
  std::vector<QueueRun> sent, taken;
  std::vector<Node> pieces; // of router runs, before they are cut into nodes
  RowSorter<RouterRun> routerSorter;
  RowSorter<QueueRun> queueSorter;
  std::vector<bool> cutAt; // columns where runs with links to other rows end
  std::vector<int32_t> firstOfRow;
  std::map<std::vector<std::pair<int64_t, int64_t>>, int32_t> interned;
  std::map<std::tuple<int32_t, int32_t, int, bool>, EdgePort> edges; // by row, column, side, output
};

} // namespace wsc::format::verifier
