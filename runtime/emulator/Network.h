// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams of a configuration, resolved from router settings: who sends, who receives, in which order.
//
// The settings of routers are followed from every source (an output queue or an input port of the wafer) to every sink
// (an input queue or an output port). Per sample the words a sink sees are a fixed concatenation of segments of its
// sources; that composition is found once, by moving word counts (not words) through the switches. A full wafer has a
// million streams, most of them with one source and one sink, so everything lies in flat arrays and a Stream is a view.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace wsc::emulator {

// A sender or receiver of a stream. core: role ≥ 0 and a queue; port: role = -1 and an IoBinding.
struct Endpoint {
  int32_t role = -1;
  format::LatticeIndex index{}; // in the role's lattice, or in the binding's ports lattice
  int16_t queue = -1;           // index into Role::queues, or
  int16_t binding = -1;         // index into Configuration::io
  int32_t row = 0, col = 0;
  int64_t wordsPerSample = 0; // data words it sends or takes per sample
};

// A stretch of a stream: words [begin, begin+count) of what source `source` sends per sample.
struct Segment {
  int32_t source = 0;
  int32_t begin = 0, count = 0;
  bool operator==(const Segment &) const = default;
};

// The compositions of one stream: `[k]` is the list of segments in the order a sink sees them.
class Compositions {
public:
  Compositions() = default;
  Compositions(const Segment *segments, std::span<const uint32_t> begins) : segments(segments), begins(begins) {}
  size_t size() const { return begins.empty() ? 0 : begins.size() - 1; }
  std::span<const Segment> operator[](size_t k) const { return {segments + begins[k], segments + begins[k + 1]}; }

private:
  const Segment *segments = nullptr;
  std::span<const uint32_t> begins; // one more than there are compositions
};

struct Stream {
  uint8_t colour = 0;
  int32_t net = -1;
  std::span<const Endpoint> sources, sinks; // sources in the order in which the first sink's router sees their words
  // What each sink sees per sample, behind its filter. Most streams deliver the same words to all sinks: then there is
  // one composition, shared.
  Compositions compositions;
  std::span<const int32_t> sinkComposition; // per sink: index into compositions
  std::span<const int32_t> sinkHops;        // per sink: router-to-router hops from its furthest source
  int64_t linkWordsPerSample = 0;           // word-hops over links, for statistics
};

// All streams in flat arrays. Streams are appended one at a time: begin(), then sources, sinks and compositions.
class StreamTable {
public:
  size_t size() const { return records.size() - 1; }
  Stream operator[](size_t i) const;

  class Iterator {
  public:
    Iterator(const StreamTable *table, size_t i) : table(table), i(i) {}
    Stream operator*() const { return (*table)[i]; }
    Iterator &operator++() { return ++i, *this; }
    bool operator!=(const Iterator &other) const { return i != other.i; }

  private:
    const StreamTable *table;
    size_t i;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

  // Room for so many sources and sinks in all.
  void reserve(size_t sources, size_t sinks);
  void append(uint8_t colour, int32_t net, std::span<const Endpoint> sources, std::span<const Endpoint> sinks,
              const std::vector<std::vector<Segment>> &compositions, std::span<const int32_t> sinkComposition,
              std::span<const int32_t> sinkHops, int64_t linkWords);

private:
  struct Record {
    uint32_t source = 0, sink = 0, composition = 0;
    int32_t net = -1;
    int64_t linkWords = 0;
    uint8_t colour = 0;
  };
  std::vector<Record> records{Record{}}; // the last one holds the ends
  std::vector<Endpoint> sources, sinks;
  std::vector<Segment> segments;
  std::vector<uint32_t> compositionBegin{}; // per stream: one more entry than it has compositions
  std::vector<int32_t> sinkComposition, sinkHops;
};

struct Networks {
  StreamTable streams;
  // The stream at queue `queue` of a core; -1 when the queue moves no words.
  int32_t streamAt(const format::Role &role, int32_t roleIndex, const format::LatticeIndex &index, int32_t queue) const;

  // Dense tables behind streamAt: offset of each role's cores, then [core ordinal][queue].
  std::vector<int64_t> roleOffset;
  std::vector<int32_t> streamTable;
};

// Resolves every stream of `configuration`. Errors name the net, colour and router: a route that ends nowhere, two
// routes into one port, switches that do not return to their first position, words sent ≠ words received.
// `bindingTypes`: element type of each IoBinding's tensor (empty: all F32); see bindingTypes below.
absl::StatusOr<Networks> resolveNetworks(const target::Target &target, const format::Configuration &configuration,
                                         std::span<const format::ElementType> bindingTypes = {});

// The element types of a configuration's bindings, from the first entry that runs it.
std::vector<format::ElementType> bindingTypes(const format::Executable &executable, int configuration);

} // namespace wsc::emulator
