// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The streams of a configuration for the wave schedule: its queue ends numbered, and for every sink the stretches of
// sources that it sees.
//
// Words exist once, where their source puts them: a sink reads them there, so a multicast to a thousand cores copies
// nothing. The ends of streams are *ports*: the queues of all cores, in the order of Networks::streamTable, and behind
// them the lanes of io bindings.
//
// Only runs in waves need them, not what is repeated (RecordedRuns.h). They are large, so they are let go when a
// configuration has been recorded, and made again for a run that is traced.
#pragma once

#include "runtime/emulator/WavePlan.h"

#include <memory>
#include <mutex>

namespace wsc::emulator {

// Words [begin, begin + count) of what the source at `port` sends.
struct WaveSegment {
  int32_t port, begin, count;
};

struct WaveLane {
  int32_t binding = 0, port = 0;
  format::LatticeIndex index{};
  int64_t words = 0;
};

struct WaveStreams {
  int64_t ports = 0;
  int64_t words = 0; // of all sources in a sample

  std::vector<int32_t> portStream;      // -1: it moves no words
  std::vector<int32_t> portComposition; // of a sink
  std::vector<int32_t> portSource;      // of a sink that sees all words of one source and no others: that one; else -1
  std::vector<uint32_t> streamSources, streamSinks; // per stream: the first; one more than there are streams
  std::vector<int32_t> sources;                     // ports
  // Per stream: when every sink has taken as many words as were sent, nobody needs these any more.
  std::vector<bool> streamDrains;
  struct Sink {
    int32_t port, core; // core -1: a lane
  };
  std::vector<Sink> sinks;
  std::vector<uint32_t>
      compositionSegments; // per composition: first of its segments; one more than there are compositions
  std::vector<WaveSegment> segments;
  std::vector<WaveLane> inputs, outputs;

  std::span<const WaveSegment> composition(int32_t c) const {
    return {segments.data() + compositionSegments[size_t(c)], segments.data() + compositionSegments[size_t(c) + 1]};
  }
  std::span<const int32_t> sourcesOf(int32_t stream) const {
    return {sources.data() + streamSources[size_t(stream)], sources.data() + streamSources[size_t(stream) + 1]};
  }
  std::span<const Sink> sinksOf(int32_t stream) const {
    return {sinks.data() + streamSinks[size_t(stream)], sinks.data() + streamSinks[size_t(stream) + 1]};
  }
};

// Errors: more than 2^31 ports, or words of a stream.
absl::StatusOr<WaveStreams> layStreams(const format::Configuration &configuration, const Networks &networks,
                                       const WavePlan &plan);

// Streams that engines share as long as one of them needs them; from several threads.
class WaveStreamStore {
public:
  using Shared = std::shared_ptr<const WaveStreams>;

  // The first ones are kept for whoever asks first.
  explicit WaveStreamStore(Shared made) : unasked(std::move(made)) {}
  // `make` is called where nobody has them any more.
  template <typename Make> absl::StatusOr<Shared> get(Make make) {
    const std::lock_guard lock(mutex);
    Shared streams = unasked ? std::exchange(unasked, nullptr) : last.lock();
    if (!streams) {
      absl::StatusOr<WaveStreams> made = make();
      if (!made.ok())
        return made.status();
      streams = std::make_shared<const WaveStreams>(*std::move(made));
    }
    last = streams;
    return streams;
  }

private:
  std::mutex mutex;
  Shared unasked;
  std::weak_ptr<const WaveStreams> last;
};

} // namespace wsc::emulator
