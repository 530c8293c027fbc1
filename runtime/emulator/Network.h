// Streams of a configuration, resolved from router settings: who sends, who receives, in which order.
//
// The settings of routers are followed from every source (an output queue or an input port of the wafer) to every sink (an input queue or an output
// port). Per sample the words a sink sees are a fixed concatenation of segments of its sources; that composition is found once, by moving word counts
// (not words) through the switches.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace wsc::emulator {

// One core: its role and lattice index, found by position.
struct CoreRef {
  int32_t role = -1;
  format::LatticeIndex index{};
};

// A sender or receiver of a stream. core: role ≥ 0 and a queue; port: role = -1 and an IoBinding.
struct Endpoint {
  int32_t role = -1;
  format::LatticeIndex index{}; // in the role's lattice, or in the binding's ports lattice
  int32_t queue = -1;           // index into Role::queues, or
  int32_t binding = -1;         // index into Configuration::io
  int32_t row = 0, col = 0;
  int64_t wordsPerSample = 0;   // data words it sends or takes per sample
};

// A stretch of a stream: words [begin, begin+count) of what source `source` sends per sample.
struct Segment {
  int32_t source = 0;
  int64_t begin = 0, count = 0;
};

struct Stream {
  uint8_t colour = 0;
  int32_t net = -1;
  std::vector<Endpoint> sources, sinks;
  // What each sink sees per sample. Most streams deliver the same words to all sinks: then there is one composition, shared.
  std::vector<std::vector<Segment>> compositions;
  std::vector<int32_t> sinkComposition;            // per sink: index into compositions
  std::vector<int32_t> sinkHops;                   // per sink: router-to-router hops from its furthest source
  int64_t linkWordsPerSample = 0;                  // word-hops over links, for statistics
};

struct Networks {
  std::vector<Stream> streams;
  // streamOf[role][queue] is looked up by lattice index: see streamAt.
  int32_t streamAt(const format::Role &role, int32_t roleIndex, const format::LatticeIndex &index, int32_t queue) const;

  // Dense tables behind streamAt: offset of each role's cores, then [core ordinal][queue].
  std::vector<int64_t> roleOffset;
  std::vector<int32_t> streamTable;
};

// Resolves every stream of `configuration`. Errors name the net, colour and router: a route that ends nowhere, two routes into one port, switches that do
// not return to their first position, words sent ≠ words received.
absl::StatusOr<Networks> resolveNetworks(const target::Target &target, const format::Configuration &configuration);

} // namespace wsc::emulator
