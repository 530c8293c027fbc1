// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The waves of a sample, and what comes before and after them.
#include "runtime/emulator/WaveRunner.h"

#include "runtime/emulator/CoreScratch.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/RecordedRuns.h"
#include "runtime/emulator/WaveGroup.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr size_t kCoresForThreads = 32; // fewer are not worth a second thread
constexpr size_t kSinksForThreads = 512, kStreamsForThreads = 512;
constexpr size_t kCoresAhead = 16, kStreamsAhead = 8; // that are fetched while others are at work
constexpr size_t kLineBytes = 64;                     // of a cache
constexpr size_t kCoresInTurn = 256;                  // of each thread
// How cores of a wave go on: they wait for all that they need before they send, then do whole operations; they do whole
// operations at once, as far as words go; they do parts of operations.
enum class Manner { Patient, Eager, InParts };

constexpr size_t kSortedShare = 16; // of all cores: more are put in order by going through all

} // namespace

struct WaveRunner::Impl {
  explicit Impl(int wanted) : team(wanted), recorded(team, state) {}

  // Memory for a run of the plan; `record`: that is repeated, or null.
  absl::Status reserve(const SampleContext &context, const WavePlan &plan, const WaveRecord *record) {
    int64_t scratch = 64, slots = 64;
    size_t buffers = 1, queues = 1;
    for (const WaveRole &role : plan.roles) {
      scratch = std::max(scratch, role.program->scratchBytes + kSlackBytes);
      buffers = std::max(buffers, role.role->buffers.size());
      queues = std::max(queues, role.role->queues.size());
      if (role.kept.moves())
        slots = std::max(slots, WaveGroup::kMostBytes + role.scratchBytes + kSlackBytes);
    }
    const std::byte *const scratchBefore = state.scratch.get(), *const fifosBefore = state.fifoArea.get();
    bool room = (record ? state.arena.hold(record->arenaBytes)
                        : state.arena.reset(state.streams->words, int64_t(state.streams->sources.size()),
                                            plan.keptBytes, team.threads)) &&
                state.scratch.need(plan.scratchBytes + 256) &&
                state.fifoArea.need(plan.fifoBytes + 256, Pages::Size::Small);
    if (state.scratch.get() != scratchBefore || state.fifoArea.get() != fifosBefore)
      bound = nullptr; // its buffers are gone
    team.takeChunksBack();
    for (WaveWorker &worker : team.workers) {
      room = room && worker.scratch.need(scratch, Pages::Size::Small) && worker.slots.need(slots, Pages::Size::Small);
      worker.queues.resize(std::max(worker.queues.size(), queues));
      worker.fifos.resize(std::max(worker.fifos.size(), buffers));
    }
    if (room)
      return absl::OkStatus();
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for configuration ", context.prepared.configuration->name, ": ",
                     record ? record->arenaBytes : state.streams->words * 4, " bytes of words and ",
                     plan.scratchBytes + plan.fifoBytes, " bytes of SRAM"));
  }

  absl::Status prepare(const SampleContext &context, const WavePlan &plan) {
    if (absl::Status status = reserve(context, plan, nullptr); !status.ok())
      return status;
    state.index.resize(size_t(plan.cores));
    state.isKept.assign(size_t(plan.cores), true);
    state.kept.assign(size_t(plan.cores), nullptr);
    state.threads.assign(size_t(plan.threads), WaveThread{});
    state.fifos.assign(size_t(plan.fifos), FifoPort{});
    state.buffers.resize(size_t(plan.buffers));
    state.ports.assign(size_t(state.streams->ports), WavePort{});
    streamChanged = std::vector<std::atomic<uint8_t>>(state.streams->streamSinks.size());
    streamTaken = std::vector<std::atomic<uint8_t>>(state.streams->streamSinks.size());
    holder.assign(state.streams->streamSinks.size(), 0);
    coreListed = std::vector<std::atomic<uint8_t>>(size_t(plan.cores));
    corePartly = std::vector<std::atomic<uint8_t>>(size_t(plan.cores));
    for (size_t r = 0; r < plan.roles.size(); ++r)
      bindRole(context, plan.roles[r], int32_t(r), &plan == bound && context.traces.empty());
    bound = &plan;
    for (const WaveLane &lane : state.streams->inputs) {
      WavePort &port = state.ports[size_t(lane.port)];
      std::byte *words = port.room(state.arena, team.workers[0].chunks, lane.words);
      bringIn(context, lane, words);
      port.position = port.there = int32_t(lane.words);
      recorded.noteInput(lane, words);
    }
    return absl::OkStatus();
  }

  // `again`: the last run was of the same configuration. Only windows and states may have moved since; scratch of cores
  // that are traced must be back in their own areas.
  void bindRole(const SampleContext &context, const WaveRole &role, int32_t number, bool again) {
    const auto cores = size_t(role.role->cores.size());
    const size_t buffers = role.role->buffers.size();
    const std::vector<WindowPlace> &windows = context.prepared.windows[size_t(number)];
    if (again) {
      for (size_t b = 0; b < buffers; ++b) {
        std::byte **pointer = state.buffers.data() + size_t(role.buffer) + b;
        const bool moves = windows[b].resident >= 0 && windows[b].runStep != 0;
        for (size_t ordinal = 0; ordinal < cores; ++ordinal, pointer += buffers)
          if (moves)
            *pointer = context.residents.window(windows[b], int64_t(ordinal), context.iteration);
          else if (role.role->buffers[b].kind == BufferKind::State)
            *pointer = context.states.core(number, int32_t(b), int64_t(ordinal));
          else
            break;
      }
      return;
    }
    team.forAll(cores, kCoresForThreads, [&](WaveWorker &, size_t ordinal) {
      LatticeIndex &index = state.index[size_t(role.core) + ordinal];
      index = latticeIndex(role.role->cores, int64_t(ordinal));
      std::byte **pointers = state.buffers.data() + size_t(role.buffer) + ordinal * buffers;
      bindBuffers(context, number, int64_t(ordinal), index, state.scratch.get(), pointers);
      for (size_t b = 0; b < buffers; ++b) {
        const BufferKind kind = role.role->buffers[b].kind;
        if (kind == BufferKind::Scratch)
          pointers[b] =
              state.scratch.get() + role.scratch + int64_t(ordinal) * role.scratchBytes + role.bufferOffset[b];
        else if (kind == BufferKind::Fifo)
          pointers[b] = state.fifoArea.get() + role.fifoArea + int64_t(ordinal) * role.fifoBytes + role.bufferOffset[b];
      }
    });
  }

  void runCore(const SampleContext &context, const WavePlan &plan, WaveWorker &worker, const WaveRole &role,
               int32_t core, bool partly) {
    if (worker.recorder)
      worker.recorder->beginGroup(0);
    if (role.kept.moves() && !isTraced(context, plan, role, core))
      CoreScratch(state, role, core).unpack(state.threads[size_t(role.thread + core - role.core)].pc, worker);
    WaveCore run(context, plan, state, worker, role, core, partly);
    run.run();
    note(worker, role, core, run.sentOn(), run.takenFrom(), run.couldDoPart());
  }

  // Lists the streams that a core sent on or took from.
  void note(WaveWorker &worker, const WaveRole &role, int32_t core, uint64_t sent, uint64_t taken, bool partAhead) {
    if (partAhead && !corePartly[size_t(core)].exchange(1, std::memory_order_relaxed))
      worker.partly.push_back(core);
    if ((sent | taken) == 0)
      return;
    const size_t queues = role.role->queues.size(), first = size_t(role.port) + size_t(core - role.core) * queues;
    for (size_t q = 0; q < queues; ++q) {
      const int32_t stream = state.streams->portStream[first + q];
      if (stream < 0)
        continue;
      if (role.role->queues[q].output) {
        if (sent >> (q & 63) & 1 && !streamChanged[size_t(stream)].exchange(1, std::memory_order_relaxed))
          worker.sentOn.push_back(stream);
      } else if (taken >> (q & 63) & 1 && state.streams->streamDrains[size_t(stream)] &&
                 state.ports[first + q].position == state.ports[first + q].there &&
                 !streamTaken[size_t(stream)].exchange(1, std::memory_order_relaxed)) {
        worker.takenFrom.push_back(stream);
      }
    }
  }

  void runGroup(WaveWorker &worker, WaveGroup &group) {
    if (group.all().empty())
      return;
    group.run();
    for (const WaveGroup::Member &member : group.all())
      note(worker, group.roleOfAll(), member.core, member.sent, member.taken, member.partAhead);
    group.clear();
  }

  // Brings what the wave schedule knows of a core into the caches.
  void prefetchCore(const WaveRole &role, int32_t core) const {
    const int64_t ordinal = core - role.core;
    const auto lines = [](const auto *first, size_t count) {
      const auto *begin = reinterpret_cast<const std::byte *>(first);
      const auto *end = reinterpret_cast<const std::byte *>(first + count);
      for (; begin < end; begin += kLineBytes)
        __builtin_prefetch(begin);
    };
    const size_t queues = role.role->queues.size(), port = size_t(role.port) + size_t(ordinal) * queues;
    const size_t buffers = role.role->buffers.size();
    lines(state.threads.data() + role.thread + ordinal * int64_t(role.threads.size()), role.threads.size());
    lines(state.ports.data() + port, queues);
    lines(state.streams->portStream.data() + port, queues);
    lines(state.streams->portSource.data() + port, queues);
    lines(state.buffers.data() + size_t(role.buffer) + size_t(ordinal) * buffers, buffers);
    lines(state.index.data() + core, 1);
  }

  // Runs cores, which are in ascending order, in groups where their roles have one thread. `patient`: they wait before
  // they have to (WaveOp::needs).
  void runCores(const SampleContext &context, const WavePlan &plan, WaveWorker &worker, std::span<const int32_t> cores,
                bool patient) {
    WaveGroup group(context, plan, state, worker, patient);
    auto r = size_t(plan.roleOf(cores.front()));
    for (size_t i = 0; i < cores.size(); ++i) {
      const int32_t core = cores[i];
      if (i + kCoresAhead < cores.size() &&
          cores[i + kCoresAhead] < plan.roles[r].core + plan.roles[r].role->cores.size())
        prefetchCore(plan.roles[r], cores[i + kCoresAhead]);
      while (r + 1 < plan.roles.size() && core >= plan.roles[r + 1].core)
        ++r;
      const WaveRole &role = plan.roles[r];
      if (role.threads.size() == 1 && group.add(role, core))
        continue;
      runGroup(worker, group);
      if (role.threads.size() != 1 || !group.add(role, core))
        runCore(context, plan, worker, role, core, false);
    }
    runGroup(worker, group);
  }

  // Tells the sinks of a stream what has come; lists the cores that can go on.
  void deliver(WaveWorker &worker, int32_t stream) {
    streamChanged[size_t(stream)].store(0, std::memory_order_relaxed);
    for (const WaveStreams::Sink &sink : state.streams->sinksOf(stream)) {
      WavePort &port = state.ports[size_t(sink.port)];
      const std::span<const WaveSegment> segments =
          state.streams->composition(state.streams->portComposition[size_t(sink.port)]);
      int32_t there = port.there;
      while (size_t(port.arriving) < segments.size()) {
        const WaveSegment &segment = segments[size_t(port.arriving)];
        const int32_t come = std::clamp(state.ports[size_t(segment.port)].there - segment.begin, 0, segment.count);
        there = port.arrivingBase + come;
        if (come < segment.count)
          break;
        port.arrivingBase += segment.count;
        ++port.arriving;
      }
      if (there == port.there)
        continue;
      port.there = there;
      if (sink.core < 0 || port.wanted == kNobodyWaits)
        continue;
      if (there >= port.wanted) {
        if (!coreListed[size_t(sink.core)].exchange(1, std::memory_order_relaxed))
          worker.ready.push_back(sink.core);
      } else if (!corePartly[size_t(sink.core)].exchange(1, std::memory_order_relaxed)) {
        worker.partly.push_back(sink.core);
      }
    }
  }

  // Takes the chunks of a stream's sources back if all sinks have all that was sent.
  void drain(WaveWorker &worker, int32_t stream) {
    streamTaken[size_t(stream)].store(0, std::memory_order_relaxed);
    const std::span<const WaveStreams::Sink> sinks = state.streams->sinksOf(stream);
    const auto waits = [&](const WaveStreams::Sink &sink) {
      const WavePort &port = state.ports[size_t(sink.port)];
      return port.position != port.there;
    };
    int32_t &last = holder[size_t(stream)]; // the sink that was waited for the last time is asked first
    if (waits(sinks[size_t(last)]))
      return;
    for (size_t k = 0; k < sinks.size(); ++k)
      if (waits(sinks[k])) {
        last = int32_t(k);
        return;
      }
    const std::span<const int32_t> sources = state.streams->sourcesOf(stream);
    int64_t sent = 0;
    for (int32_t source : sources) {
      const WavePort &port = state.ports[size_t(source)];
      if (port.position != port.there) // in the middle of an operation
        return;
      sent += port.position;
    }
    if (sources.size() > 1)
      for (const WaveStreams::Sink &sink : sinks)
        if (state.ports[size_t(sink.port)].position != sent)
          return;
    for (int32_t source : sources)
      for (WaveChunk *next = std::exchange(state.ports[size_t(source)].chunk, nullptr); next;)
        if (WaveChunk *done = std::exchange(next, next->older); !done->stays())
          worker.release(done);
  }

  template <typename List> void collect(std::vector<int32_t> WaveWorker::*list, List &all) {
    for (WaveWorker &worker : team.workers) {
      all.insert(all.end(), (worker.*list).begin(), (worker.*list).end());
      (worker.*list).clear();
    }
  }

  // The cores that can go on, in ascending order. `others`: more than these are listed.
  void collectReady(const WavePlan &plan, std::vector<int32_t> &wave, bool others) {
    collect(&WaveWorker::ready, wave);
    if (others || wave.size() * kSortedShare < size_t(plan.cores)) {
      std::sort(wave.begin(), wave.end());
      return;
    }
    size_t count = 0;
    for (int32_t core = 0; core < plan.cores; ++core)
      if (coreListed[size_t(core)].load(std::memory_order_relaxed))
        wave[count++] = core;
  }

  void runWaves(const SampleContext &context, const WavePlan &plan) {
    std::vector<int32_t> wave(size_t(plan.cores)), streams, taken, partly; // in ascending order
    std::iota(wave.begin(), wave.end(), 0);
    std::vector<std::vector<int32_t>> waiting; // lists of cores that can go on, each in descending order
    for (const WaveLane &lane : state.streams->inputs)
      streams.push_back(state.streams->portStream[size_t(lane.port)]);
    deliverAll(streams);
    for (WaveWorker &worker : team.workers)
      worker.ready.clear(); // all cores are in the first wave
    // Cores of the last wave, if its manner was eager.
    std::vector<int32_t> stuck;
    bool all = false;
    for (Manner manner = Manner::Patient;;) {
      for (int32_t core : wave)
        (manner == Manner::Patient ? coreListed : corePartly)[size_t(core)].store(0, std::memory_order_relaxed);
      if (manner == Manner::InParts)
        team.forAll(wave.size(), kCoresForThreads, [&](WaveWorker &worker, size_t i) {
          runCore(context, plan, worker, plan.roles[size_t(plan.roleOf(wave[i]))], wave[i], true);
        });
      else
        team.forRanges(
            wave.size(), 2 * kCoresForThreads, kCoresForThreads, [&](WaveWorker &worker, size_t begin, size_t end) {
              runCores(context, plan, worker, std::span(wave).subspan(begin, end - begin), manner == Manner::Patient);
            });
      recorded.endWave();
      streams.clear();
      collect(&WaveWorker::sentOn, streams);
      deliverAll(streams);
      taken.clear();
      collect(&WaveWorker::takenFrom, taken);
      if (context.traces.empty()) // they show all words
        team.forAll(taken.size(), kStreamsForThreads, [&](WaveWorker &worker, size_t i) { drain(worker, taken[i]); });
      team.giveReleased();
      const bool moved = !streams.empty() || !taken.empty();
      stuck.clear();
      if (manner == Manner::Eager && !moved)
        stuck.swap(wave);
      all = all && !moved;
      wave.clear();
      collectReady(plan, wave, !waiting.empty());
      collect(&WaveWorker::partly, partly);
      takeTurn(wave, waiting);
      if (!wave.empty()) {
        manner = Manner::Patient;
        continue;
      }
      manner = stuck.empty() ? Manner::Eager : Manner::InParts;
      wave.swap(stuck.empty() ? partly : stuck);
      partly.clear();
      std::erase_if(wave, [&](int32_t core) { return isDone(plan.roles[size_t(plan.roleOf(core))], core); });
      if (wave.empty() && !std::exchange(all, true))
        unfinished(plan, wave);
      if (wave.empty())
        return;
      std::sort(wave.begin(), wave.end());
    }
  }

  // Leaves in `wave` those who go on now, in ascending order: of the ones that came last, so many that what they send
  // is still in the caches when it is taken, and that many of them do the same.
  void takeTurn(std::vector<int32_t> &wave, std::vector<std::vector<int32_t>> &waiting) const {
    const size_t most = kCoresInTurn * size_t(team.threads);
    if (waiting.empty() && wave.size() <= most)
      return;
    if (!wave.empty()) {
      std::reverse(wave.begin(), wave.end());
      waiting.push_back(std::move(wave));
    }
    wave.clear();
    std::vector<int32_t> &last = waiting.back();
    const auto count = int64_t(std::min(most, last.size()));
    wave.assign(last.rbegin(), last.rbegin() + count);
    last.resize(last.size() - size_t(count));
    if (last.empty())
      waiting.pop_back();
  }

  // Cores that are not done: some may wait before they have to (WaveOp::needs).
  void unfinished(const WavePlan &plan, std::vector<int32_t> &wave) const {
    for (const WaveRole &role : plan.roles)
      for (int32_t core = int32_t(role.core); core < role.core + role.role->cores.size(); ++core)
        if (!isDone(role, core))
          wave.push_back(core);
  }
  bool isDone(const WaveRole &role, int32_t core) const {
    const WaveThread *threads = state.threads.data() + role.thread + (core - role.core) * int64_t(role.threads.size());
    for (size_t t = 0; t < role.threads.size(); ++t)
      if (size_t(threads[t].pc) < role.threads[t].size())
        return false;
    return true;
  }

  void deliverAll(const std::vector<int32_t> &streams) {
    size_t sinks = 0;
    for (int32_t stream : streams)
      sinks += state.streams->streamSinks[size_t(stream) + 1] - state.streams->streamSinks[size_t(stream)];
    team.forAll(streams.size(), sinks < kSinksForThreads ? streams.size() + 1 : 2, [&](WaveWorker &worker, size_t i) {
      if (i + 2 * kStreamsAhead < streams.size())
        __builtin_prefetch(&state.streams->sinks[state.streams->streamSinks[size_t(streams[i + 2 * kStreamsAhead])]]);
      if (i + kStreamsAhead < streams.size())
        __builtin_prefetch(&state.ports[size_t(state.streams->sinksOf(streams[i + kStreamsAhead]).front().port)]);
      deliver(worker, streams[i]);
    });
  }

  absl::Status finish(const SampleContext &context, const WavePlan &plan) {
    for (const WaveRole &role : plan.roles)
      for (int64_t ordinal = 0; ordinal < role.role->cores.size(); ++ordinal) {
        const auto where = [&] {
          const auto [row, col] = latticePosition(role.role->cores, state.index[size_t(role.core + ordinal)]);
          return absl::StrCat("core (", row, ", ", col, "), role ", role.role->name);
        };
        for (size_t t = 0; t < role.threads.size(); ++t) {
          const WaveThread &thread = state.threads[size_t(role.thread + ordinal * int64_t(role.threads.size())) + t];
          if (size_t(thread.pc) < role.threads[t].size())
            return absl::FailedPreconditionError(absl::StrCat(
                "the program stops: ", where(), ", thread ", t, " waits at instruction ",
                instructionNumber(role.role->threads[t], *role.threads[t][size_t(thread.pc)].op, thread.pc),
                " for words that never come"));
        }
        for (size_t f = 0; f < role.fifos.size(); ++f)
          if (const FifoPort &fifo = state.fifos[size_t(role.fifo + ordinal * int64_t(role.fifos.size())) + f];
              fifo.pushed != fifo.popped)
            return absl::FailedPreconditionError(
                absl::StrCat(where(), ": FIFO ", role.role->buffers[size_t(role.fifos[f])].name, " is left with ",
                             fifo.pushed - fifo.popped, " bytes after the sample"));
      }
    std::vector<std::byte> words;
    std::vector<WaveRecord::Piece> pieces;
    for (const WaveLane &lane : state.streams->outputs) {
      words.clear();
      pieces.clear();
      forReceived(lane.port, [&](const WavePort::Piece &piece, int64_t count) {
        words.insert(words.end(), piece.data, piece.data + count * 4);
        pieces.push_back({piece.data - state.arena.memory().get(), count});
      });
      bringOut(context, lane, words);
      recorded.noteOutput(lane, pieces);
    }
    return absl::OkStatus();
  }

  static int64_t instructionNumber(const Thread &thread, const DecodedOp &op, int32_t pc) {
    const bool own =
        !thread.empty() && op.instruction >= thread.data() && op.instruction < thread.data() + thread.size();
    return own ? op.instruction - thread.data() : pc;
  }

  // All words of a sink that have come.
  template <typename Visit> void forReceived(int32_t port, Visit visit) {
    if (state.streams->portStream[size_t(port)] < 0)
      return;
    int64_t left = state.ports[size_t(port)].there;
    for (const WaveSegment &segment : state.streams->composition(state.streams->portComposition[size_t(port)])) {
      const int64_t count = std::min<int64_t>(left, segment.count);
      forSent(segment.port, segment.begin, count, visit);
      left -= count;
    }
  }

  // `count` words of a source from number `begin` on.
  template <typename Visit> void forSent(int32_t source, int64_t begin, int64_t count, Visit visit) {
    for (int64_t at = begin; at < begin + count;) {
      const WavePort::Piece piece = state.ports[size_t(source)].piece(at);
      const int64_t here = std::min(piece.words, begin + count - at);
      visit(piece, here);
      at += here;
    }
  }

  // Buffers as they are, FIFOs as rings.
  std::vector<std::vector<std::byte>> imageOf(const WaveRole &role, int64_t ordinal) const {
    std::vector<std::vector<std::byte>> image;
    for (size_t b = 0; b < role.role->buffers.size(); ++b) {
      const Buffer &buffer = role.role->buffers[b];
      const std::byte *bytes = state.buffers[size_t(role.buffer) + size_t(ordinal) * role.role->buffers.size() + b];
      if (buffer.kind == BufferKind::Fifo)
        image.push_back(ringImage(
            buffer, bytes,
            state.fifos[size_t(role.fifo + ordinal * int64_t(role.fifos.size()) + role.fifoOfBuffer[b])].pushed));
      else
        image.emplace_back(bytes, bytes + buffer.bytes);
    }
    return image;
  }

  void traceBefore(const SampleContext &context, const WavePlan &plan) {
    for (const auto &[key, trace] : context.traces) {
      const WaveRole &role = plan.roles[size_t(key.first)];
      std::memset(state.scratch.get() + role.scratch + key.second * role.scratchBytes, 0, size_t(role.scratchBytes));
      std::memset(state.fifoArea.get() + role.fifoArea + key.second * role.fifoBytes, 0, size_t(role.fifoBytes));
      *trace = CoreEngine::CoreTrace{};
      trace->role = key.first;
      trace->index = state.index[size_t(role.core + key.second)];
      trace->buffersBefore = imageOf(role, key.second);
    }
  }

  void traceAfter(const SampleContext &context, const WavePlan &plan) {
    for (const auto &[key, trace] : context.traces) {
      const WaveRole &role = plan.roles[size_t(key.first)];
      trace->buffersAfter = imageOf(role, key.second);
      for (size_t q = 0; q < role.role->queues.size(); ++q) {
        const auto port = int32_t(role.port + key.second * int64_t(role.role->queues.size()) + int64_t(q));
        std::vector<std::byte> &words = trace->queueWords.emplace_back();
        const auto append = [&](const WavePort::Piece &piece, int64_t count) {
          words.insert(words.end(), piece.data, piece.data + count * 4);
        };
        if (!role.role->queues[q].output)
          forReceived(port, append);
        else if (state.streams->portStream[size_t(port)] >= 0)
          forSent(port, 0, state.ports[size_t(port)].position, append);
      }
    }
  }

  absl::Status run(const SampleContext &context) {
    const WavePlan &plan = *context.prepared.waves;
    if (const WaveRecord *record = recorded.find(context)) {
      letGo(context);
      absl::Status status = reserve(context, plan, record);
      if (status.ok())
        recorded.run(context, *record);
      return status;
    }
    absl::StatusOr<WaveStreamStore::Shared> streams = recorded.streams(context);
    if (!streams.ok())
      return streams.status();
    state.streams = *std::move(streams);
    recorded.begin(context);
    absl::Status status = prepare(context, plan);
    if (status.ok()) {
      traceBefore(context, plan);
      runWaves(context, plan);
      status = finish(context, plan);
    }
    if (status.ok())
      traceAfter(context, plan);
    if (recorded.end(context, status.ok()))
      letGo(context);
    return status;
  }

  // What only waves need of a configuration that is recorded.
  void letGo(const SampleContext &context) {
    recorded.letGo(context);
    if (bound != context.prepared.waves.get())
      return;
    bound = nullptr;
    state.forgetRun();
    freeAll(streamChanged, streamTaken, coreListed, corePartly, holder);
    trimHeap();
  }

  WaveTeam team;
  WaveState state;
  const WavePlan *bound = nullptr; // whose buffers `state` points to
  RecordedRuns recorded;
  // Set while a stream, a core is in the list it would be put into.
  std::vector<std::atomic<uint8_t>> streamChanged, streamTaken, coreListed, corePartly;
  std::vector<int32_t> holder; // per stream: a sink that has words to take
};

WaveRunner::WaveRunner(int threads) : impl(std::make_unique<Impl>(threads)) {}
WaveRunner::~WaveRunner() = default;

absl::Status WaveRunner::run(const SampleContext &context) {
  if (impl->team.threads == 1)
    return impl->run(context);
  absl::Status status;
  impl->team.arena.execute([&] { status = impl->run(context); });
  return status;
}

} // namespace wsc::emulator
