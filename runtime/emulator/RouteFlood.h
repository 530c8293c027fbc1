// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The routers of one colour as dense tables over the mesh, and the resolution of their connected components into
// streams.
#pragma once

#include "runtime/emulator/Network.h"
#include "runtime/emulator/QueueTraffic.h"

#include "absl/status/status.h"

#include <functional>
#include <string>
#include <vector>

namespace wsc::emulator {

class RouteFlood {
public:
  RouteFlood(int32_t rows, int32_t cols, const format::Configuration &configuration);

  // Empties the tables and begins `colour`.
  void reset(int colour);
  absl::Status addRouter(int32_t routerRole, int32_t row, int32_t col);
  // Keeps a list of traffic items; returns its number for addEndpoint.
  int32_t addTraffic(std::vector<TrafficItem> items);
  // A source (words enter the router at `port`) or sink (words leave it there). Its wordsPerSample is set from the
  // traffic.
  absl::Status addEndpoint(Endpoint endpoint, format::Port port, bool source, int32_t traffic);

  // Appends a stream per connected component that has sources; `bind` is told every endpoint's stream.
  absl::Status resolveAll(StreamTable &streams, const std::function<void(int32_t, const Endpoint &)> &bind);

private:
  struct Site { // an endpoint in the tables
    Endpoint endpoint;
    int32_t traffic;
    int32_t router;
    format::Port port;
    bool resolved;
  };
  // A rope of words: leaf (segment of a source) or concatenation of two ropes. Immutable, so that multicasts share it.
  struct Rope {
    int32_t left, right; // right < 0: leaf, left = source
    int32_t begin;
    int64_t words;
  };
  struct Item { // in a router's input queue: a rope, or a control word (control > 0)
    int32_t rope, control, next;
  };
  struct Local { // a router of the component under work
    int32_t router;
    int32_t role;
    int32_t position;
    int32_t hops;
    bool queued;
    int32_t head[format::kNumPorts], tail[format::kNumPorts];
  };

  int32_t neighbour(int32_t router, int port) const; // -1: off the mesh
  const Site *siteAt(const std::vector<int32_t> &table, int32_t router, int port) const;
  int32_t siteNumber(bool source, int32_t router, int port) const;
  bool accepts(int32_t router, int port) const;
  bool emits(int32_t router, int port) const;
  absl::Status collect(int32_t start);
  void visit(int32_t router);
  absl::Status resolveTree(int64_t &linkWords);
  absl::Status simulate(int64_t &linkWords);
  absl::Status deliver(int32_t local, int port, int32_t rope, int32_t control, int64_t &linkWords);
  void push(int32_t local, int port, int32_t rope, int32_t control);
  int32_t leaf(int32_t source, int64_t begin, int64_t words);
  int32_t concat(int32_t a, int32_t b);
  std::vector<Segment> flatten(int32_t rope) const;
  absl::Status finish(StreamTable &streams, int64_t linkWords,
                      const std::function<void(int32_t, const Endpoint &)> &bind);
  void findHops();
  void orderSources();
  std::string place(int32_t router) const;
  std::string siteName(const Site &site) const;

  const int32_t rows, cols;
  const format::Configuration &configuration;
  int colour = 0;

  // Per router of the mesh: its router role, its RAMP source and sink, its local number in the component under work.
  std::vector<int32_t> roleAt, sourceAt, sinkAt, localAt;
  std::vector<int32_t> touched; // routers to clear at reset
  std::vector<Site> sources, sinks;
  // Endpoints at outer ports: (router · ports + port) → site, sorted.
  std::vector<std::pair<int64_t, int32_t>> portSources, portSinks;
  std::vector<std::vector<TrafficItem>> traffic;

  // The component under work.
  std::vector<Local> locals;
  std::vector<int32_t> componentSources, componentSinks;
  std::vector<int32_t> sinkRope; // per site in `sinks`
  std::vector<Rope> ropes;
  std::vector<Item> items;
  std::vector<int32_t> work;
};

} // namespace wsc::emulator
