// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a sample level by level; the bundles of a level go to threads as they become free. Which thread runs a bundle
// changes nothing but which scratch it uses.
#include "runtime/emulator/EngineParts.h"

#include "runtime/emulator/HostWords.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/Pages.h"

#include "absl/strings/str_cat.h"

#include <atomic>
#include <cstring>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace wsc::emulator {

using namespace format;

namespace {

struct Worker {
  Pages scratch, local;
  std::vector<std::byte *> buffers;
  std::vector<QueuePort> queues;
  std::vector<FifoPort> fifos;
  std::vector<std::vector<std::byte>> pieced; // per queue: words put together from pieces
};

} // namespace

struct UnitRunner::Impl {
  explicit Impl(int threads)
      : threads(threads > 0 ? threads : oneapi::tbb::this_task_arena::max_concurrency()), arena(this->threads),
        workers(size_t(this->threads)) {}

  std::byte *address(const WordPlace &place, Worker &worker) const {
    return (place.kind() == WordPlace::Local ? worker.local.get() : common.get()) + place.value() * 4;
  }

  bool prepare(const PreparedConfiguration &prepared) {
    int64_t scratch = 64;
    size_t buffers = 1, queues = 1;
    for (const RoleProgram &program : prepared.programs) {
      scratch = std::max(scratch, program.scratchBytes + kSlackBytes);
      buffers = std::max(buffers, program.role->buffers.size());
      queues = std::max(queues, program.role->queues.size());
    }
    if (!common.need(prepared.schedule.commonWords * 4 + 256))
      return false;
    for (Worker &worker : workers) {
      if (!worker.scratch.need(scratch) || !worker.local.need(prepared.schedule.localWords * 4 + 256))
        return false;
      worker.buffers.resize(std::max(worker.buffers.size(), buffers));
      worker.fifos.resize(std::max(worker.fifos.size(), buffers));
      worker.queues.resize(std::max(worker.queues.size(), queues));
      worker.pieced.resize(std::max(worker.pieced.size(), queues));
    }
    return true;
  }

  void runUnit(const SampleContext &context, const ScheduledUnit &unit, Worker &worker) {
    const PreparedConfiguration &prepared = context.prepared;
    const RoleProgram &program = prepared.programs[unit.role];
    const Role &role = *program.role;
    const size_t numQueues = role.queues.size();
    CoreFrame frame;
    frame.role = &role;
    frame.index = latticeIndex(role.cores, unit.first);
    frame.buffers = worker.buffers.data();
    frame.queues = worker.queues.data();
    frame.fifos = worker.fifos.data();
    const WordPlace *places =
        prepared.schedule.portPlace.data() + prepared.networks.roleOffset[unit.role] + unit.first * int64_t(numQueues);
    for (int32_t c = 0; c < unit.count; ++c, places += numQueues) {
      for (size_t q = 0; q < numQueues; ++q) {
        QueuePort &port = worker.queues[q];
        port = QueuePort{};
        if (places[q].kind() == WordPlace::Pieced)
          port.data = putTogether(prepared.schedule.pieces[places[q].value()], worker, worker.pieced[q]);
        else if (places[q].kind() != WordPlace::None)
          port.data = address(places[q], worker);
      }
      if (!context.traces.empty())
        if (auto it = context.traces.find({unit.role, unit.first + c}); it != context.traces.end())
          traceCore(context, unit.role, unit.first + c, frame.index, {worker.queues.data(), numQueues}, *it->second);
      if (c == 0 || program.affineConstants || program.hasState)
        bindBuffers(context, unit.role, unit.first + c, frame.index, worker.scratch.get(), worker.buffers.data());
      std::fill_n(worker.fifos.begin(), role.buffers.size(), FifoPort{});
      if (!runCore(program, context.kernels, frame, worker.scratch.get(), c == 0))
        stuckRole.store(unit.role, std::memory_order_relaxed);
      ++frame.index[kMaxDims - 1];
    }
  }

  std::byte *putTogether(const std::vector<Piece> &pieces, Worker &worker, std::vector<std::byte> &words) {
    int64_t total = 0;
    for (const Piece &piece : pieces)
      total += piece.words;
    if (int64_t(words.size()) < total * 4 + kSlackBytes)
      words.resize(size_t(total * 4 + kSlackBytes));
    std::byte *to = words.data();
    for (const Piece &piece : pieces) {
      std::memcpy(to, address(piece.place, worker), size_t(piece.words * 4));
      to += piece.words * 4;
    }
    return words.data();
  }

  void runBundle(const SampleContext &context, uint32_t bundle, Worker &worker) {
    const auto &b = context.prepared.bundles[bundle];
    for (uint32_t t = b.taskBegin; t < b.taskEnd; ++t) {
      const ScheduledTask &task = context.prepared.schedule.tasks[t];
      for (uint32_t u = task.unitBegin; u < task.unitEnd; ++u)
        runUnit(context, context.prepared.schedule.units[u], worker);
    }
  }

  void runLevels(const SampleContext &context) {
    const PreparedConfiguration &prepared = context.prepared;
    for (size_t level = 0; level + 1 < prepared.levelBundles.size(); ++level) {
      const uint32_t begin = prepared.levelBundles[level], end = prepared.levelBundles[level + 1];
      if (threads == 1 || prepared.levelIsSmall[level]) {
        for (uint32_t b = begin; b < end; ++b)
          runBundle(context, b, workers[0]);
      } else {
        oneapi::tbb::parallel_for(
            begin, end, uint32_t(1),
            [&](uint32_t b) {
              runBundle(context, b, workers[size_t(oneapi::tbb::this_task_arena::current_thread_index())]);
            },
            oneapi::tbb::simple_partitioner());
      }
    }
  }

  int threads;
  oneapi::tbb::task_arena arena;
  std::vector<Worker> workers;
  Pages common;
  std::atomic<int32_t> stuckRole{-1};
};

UnitRunner::UnitRunner(int threads) : impl(std::make_unique<Impl>(threads)) {}
UnitRunner::~UnitRunner() = default;

absl::Status UnitRunner::run(const SampleContext &context) {
  const PreparedConfiguration &prepared = context.prepared;
  if (!impl->prepare(prepared))
    return absl::ResourceExhaustedError("no memory for the arenas of a configuration");
  for (const IoLane &lane : prepared.schedule.inputs) {
    const IoBinding &binding = prepared.configuration->io[lane.binding];
    packLane(binding, lane.index, prepared.bindingTypes[lane.binding], context.inputs[binding.tensor],
             impl->address(lane.place, impl->workers[0]));
  }
  if (impl->threads == 1)
    impl->runLevels(context);
  else
    impl->arena.execute([&] { impl->runLevels(context); });
  if (const int32_t role = impl->stuckRole.exchange(-1); role >= 0)
    return absl::FailedPreconditionError(
        absl::StrCat("role ", prepared.configuration->roles[role].name,
                     ": a core cannot finish its sample: a thread waits for elements that never come, or "
                     "a FIFO is not left empty"));
  for (const IoLane &lane : prepared.schedule.outputs) {
    const IoBinding &binding = prepared.configuration->io[lane.binding];
    const std::byte *words = lane.place.kind() == WordPlace::Pieced
                                 ? impl->putTogether(prepared.schedule.pieces[lane.place.value()], impl->workers[0],
                                                     impl->workers[0].pieced[0])
                                 : impl->address(lane.place, impl->workers[0]);
    unpackLane(binding, lane.index, prepared.bindingTypes[lane.binding], words, context.outputs[binding.tensor]);
  }
  return absl::OkStatus();
}

void bindBuffers(const SampleContext &context, int32_t roleIndex, int64_t ordinal, const LatticeIndex &index,
                 std::byte *scratch, std::byte **buffers) {
  const RoleProgram &program = context.prepared.programs[roleIndex];
  const Role &role = *program.role;
  for (size_t b = 0; b < role.buffers.size(); ++b) {
    const Buffer &buffer = role.buffers[b];
    if (buffer.kind == BufferKind::Constant) // read-only by contract; the verifier refuses programs that write it
      buffers[b] = const_cast<std::byte *>(context.prepared.executable->sections[buffer.section].bytes.data()) +
                   buffer.sectionOffset.at(index);
    else if (buffer.kind == BufferKind::State)
      buffers[b] = context.states.core(roleIndex, int32_t(b), ordinal);
    else if (buffer.kind == BufferKind::Resident)
      buffers[b] = context.residents.window(context.prepared.windows[size_t(roleIndex)][b], ordinal, context.iteration);
    else
      buffers[b] = scratch + program.bufferOffset[b];
  }
}

} // namespace wsc::emulator
