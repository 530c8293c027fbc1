// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a sample core by core and element by element: threads take turns, block on queues and FIFOs and go on when words
// arrive. Stream buffers hold a whole sample, so nothing ever waits for space. Slow; takes any determinate program,
// also those whose cores wait for each other in circles.
#include "runtime/emulator/EngineParts.h"

#include "runtime/emulator/HostWords.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/ScalarExecutor.h"

#include "absl/strings/str_cat.h"

#include <cstring>
#include <deque>

namespace wsc::emulator {

using namespace format;

namespace {

struct Core {
  int32_t role = -1;
  int64_t ordinal = 0;
  LatticeIndex index{};
  std::vector<std::byte> scratch;
  std::vector<std::byte *> buffers;
  std::vector<QueuePort> queues;
  std::vector<FifoPort> fifos;
  std::vector<ThreadCursor> threads;
  std::vector<bool> done;
  bool queued = false;
};

// The words one end of a stream sends or takes, and how many of them are there.
struct End {
  std::vector<std::byte> words;
  int64_t count = 0;
  int32_t core = -1, queue = -1; // or a lane of a binding
};

class WorklistRunner {
public:
  explicit WorklistRunner(const SampleContext &context) : context(context), prepared(context.prepared) {}

  absl::Status run() {
    makeCores();
    makeStreams();
    while (!work.empty()) {
      const int32_t c = work.front();
      work.pop_front();
      cores[c].queued = false;
      step(c);
    }
    for (const Core &core : cores)
      for (size_t t = 0; t < core.done.size(); ++t)
        if (!core.done[t]) {
          const Role &role = prepared.configuration->roles[core.role];
          const auto [row, col] = latticePosition(role.cores, core.index);
          return absl::FailedPreconditionError(absl::StrCat("the program stops: core (", row, ", ", col, "), role ",
                                                            role.name, ", thread ", t, " waits at instruction ",
                                                            core.threads[t].pc, " for words that never come"));
        }
    for (size_t s = 0; s < streams.size(); ++s) {
      const Stream stream = prepared.networks.streams[s];
      for (size_t k = 0; k < stream.sinks.size(); ++k)
        if (stream.sinks[k].role < 0) {
          const IoBinding &binding = prepared.configuration->io[stream.sinks[k].binding];
          unpackLane(binding, stream.sinks[k].index, prepared.bindingTypes[stream.sinks[k].binding],
                     streams[s].sinks[k].words.data(), context.outputs[binding.tensor]);
        }
    }
    finishTraces();
    return absl::OkStatus();
  }

private:
  struct StreamEnds {
    std::vector<End> sources, sinks;
  };

  void makeCores() {
    for (size_t r = 0; r < prepared.configuration->roles.size(); ++r) {
      const Role &role = prepared.configuration->roles[r];
      const RoleProgram &program = prepared.programs[r];
      firstCore.push_back(int32_t(cores.size()));
      int64_t ordinal = 0;
      forEachPoint(role.cores, [&](const LatticeIndex &index, int32_t, int32_t) {
        Core core;
        core.role = int32_t(r);
        core.ordinal = ordinal++;
        core.index = index;
        core.scratch.resize(size_t(program.scratchBytes + kSlackBytes));
        core.buffers.resize(role.buffers.size());
        bindBuffers(context, int32_t(r), core.ordinal, index, core.scratch.data(), core.buffers.data());
        core.queues.resize(role.queues.size());
        for (QueuePort &port : core.queues)
          port.limit = 0;
        core.fifos.resize(role.buffers.size());
        core.threads.resize(role.threads.size());
        core.done.assign(role.threads.size(), false);
        if (auto it = context.traces.find({core.role, core.ordinal}); it != context.traces.end())
          traceBefore(core, *it->second);
        cores.push_back(std::move(core));
        return true;
      });
    }
    for (size_t c = 0; c < cores.size(); ++c)
      enqueue(int32_t(c));
  }

  void makeStreams() {
    for (const Stream &stream : prepared.networks.streams) {
      StreamEnds ends;
      auto add = [&](const Endpoint &endpoint, std::vector<End> &list) {
        End end;
        end.words.resize(size_t(endpoint.wordsPerSample * 4 + kSlackBytes));
        if (endpoint.role >= 0) {
          end.core = firstCore[endpoint.role] +
                     int32_t(latticeOrdinal(prepared.configuration->roles[endpoint.role].cores, endpoint.index));
          end.queue = endpoint.queue;
          cores[end.core].queues[end.queue].data = end.words.data(); // moves of the vector keep the address
        }
        list.push_back(std::move(end));
      };
      for (const Endpoint &source : stream.sources) {
        add(source, ends.sources);
        if (source.role < 0) {
          const IoBinding &binding = prepared.configuration->io[source.binding];
          packLane(binding, source.index, prepared.bindingTypes[source.binding], context.inputs[binding.tensor],
                   ends.sources.back().words.data());
          ends.sources.back().count = source.wordsPerSample;
        }
      }
      for (const Endpoint &sink : stream.sinks)
        add(sink, ends.sinks);
      streams.push_back(std::move(ends));
    }
    for (size_t s = 0; s < streams.size(); ++s)
      pump(int32_t(s));
  }

  void enqueue(int32_t core) {
    if (core < 0 || cores[core].queued)
      return;
    cores[core].queued = true;
    work.push_back(core);
  }

  // Carries words that have been sent on to the sinks that see them next.
  void pump(int32_t s) {
    const Stream stream = prepared.networks.streams[s];
    StreamEnds &ends = streams[s];
    for (size_t k = 0; k < ends.sinks.size(); ++k) {
      End &sink = ends.sinks[k];
      const int64_t before = sink.count;
      int64_t at = 0;
      for (const Segment &segment : stream.compositions[size_t(stream.sinkComposition[k])]) {
        const End &source = ends.sources[segment.source];
        const int64_t have = std::min<int64_t>(segment.count, source.count - segment.begin);
        const int64_t from = std::max<int64_t>(0, sink.count - at);
        if (have > from) {
          std::memcpy(sink.words.data() + (at + from) * 4, source.words.data() + (segment.begin + from) * 4,
                      size_t((have - from) * 4));
          sink.count = at + have;
        }
        if (have < segment.count)
          break;
        at += segment.count;
      }
      if (sink.count > before && sink.core >= 0) {
        cores[sink.core].queues[sink.queue].limit = sink.count;
        enqueue(sink.core);
      }
    }
  }

  void step(int32_t c) {
    Core &core = cores[c];
    const Role &role = prepared.configuration->roles[core.role];
    CoreFrame frame{&role, core.index, core.buffers.data(), core.queues.data(), core.fifos.data()};
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t t = 0; t < core.threads.size(); ++t) {
        if (core.done[t])
          continue;
        ThreadCursor &cursor = core.threads[t];
        const ThreadCursor before = cursor;
        core.done[t] = runThreadScalar(role.threads[t], frame, cursor);
        progress |= core.done[t] || cursor != before;
      }
    }
    const int64_t table = prepared.networks.roleOffset[core.role] + core.ordinal * int64_t(role.queues.size());
    for (size_t q = 0; q < role.queues.size(); ++q) {
      const int32_t s = prepared.networks.streamTable[table + int64_t(q)];
      if (!role.queues[q].output || s < 0)
        continue;
      for (End &source : streams[s].sources)
        if (source.core == c && source.queue == int32_t(q) && source.count != core.queues[q].visible) {
          source.count = core.queues[q].visible;
          pump(s);
        }
    }
  }

  std::vector<std::byte> bufferImage(const Core &core, size_t b) const {
    const Buffer &buffer = prepared.configuration->roles[core.role].buffers[b];
    if (buffer.kind == BufferKind::Fifo)
      return ringImage(buffer, core.buffers[b], core.fifos[b].pushed);
    return {core.buffers[b], core.buffers[b] + buffer.bytes};
  }

  void traceBefore(const Core &core, CoreEngine::CoreTrace &trace) const {
    trace = CoreEngine::CoreTrace{};
    trace.role = core.role;
    trace.index = core.index;
    for (size_t b = 0; b < core.buffers.size(); ++b)
      trace.buffersBefore.push_back(bufferImage(core, b));
  }

  void finishTraces() const {
    for (const Core &core : cores)
      if (auto it = context.traces.find({core.role, core.ordinal}); it != context.traces.end()) {
        for (size_t b = 0; b < core.buffers.size(); ++b)
          it->second->buffersAfter.push_back(bufferImage(core, b));
        for (const QueuePort &port : core.queues)
          it->second->queueWords.emplace_back(port.data, port.data + port.position * 4);
      }
  }

  const SampleContext &context;
  const PreparedConfiguration &prepared;
  std::vector<Core> cores;
  std::vector<int32_t> firstCore; // per role
  std::vector<StreamEnds> streams;
  std::deque<int32_t> work;
};

} // namespace

absl::Status runWorklist(const SampleContext &context) { return WorklistRunner(context).run(); }

} // namespace wsc::emulator
