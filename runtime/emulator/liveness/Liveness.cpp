// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configurations that count the same are found by a text of all that a count depends on: lattices, routes, queues,
// FIFOs, and of instructions operands' kinds, extents and types. The text decides, not a hash of it.
#include "runtime/emulator/liveness/Liveness.h"

#include "runtime/emulator/Network.h"
#include "runtime/emulator/liveness/Run.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace wsc::emulator {

using namespace format;

namespace {

class Counts {
public:
  explicit Counts(const Executable &executable, int number) {
    const Configuration &configuration = executable.configurations[size_t(number)];
    put(configuration.roles.size());
    for (const Role &role : configuration.roles)
      add(role);
    put(configuration.routers.size());
    for (const RouterRole &router : configuration.routers) {
      add(router.routers);
      put(router.colour);
      put(router.positions.size());
      for (const SwitchPosition &position : router.positions) {
        put(position.input);
        put(position.outputs);
      }
    }
    const std::vector<ElementType> types = bindingTypes(executable, number);
    put(configuration.io.size());
    for (size_t b = 0; b < configuration.io.size(); ++b) {
      const IoBinding &binding = configuration.io[b];
      put(binding.output);
      add(binding.ports);
      put(binding.side);
      put(binding.colour);
      put(types[b]);
      for (const Affine &extent : binding.extent)
        add(extent);
    }
  }
  std::string text;

private:
  template <typename T> void put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    text.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void add(const Affine &affine) {
    put(affine.constant);
    for (int64_t factor : affine.perDim)
      put(factor);
  }
  void add(const Lattice &lattice) {
    put(lattice.row);
    put(lattice.col);
    for (const Lattice::Dim &dim : lattice.dims) {
      put(dim.count);
      put(dim.rowStep);
      put(dim.colStep);
    }
  }
  void add(const Role &role) {
    add(role.cores);
    put(role.buffers.size());
    for (const Buffer &buffer : role.buffers) {
      const bool fifo = buffer.kind == BufferKind::Fifo;
      put(fifo);
      put(fifo ? buffer.bytes / std::max<int64_t>(1, elementBytes(buffer.type)) : 0);
    }
    put(role.queues.size());
    for (const Queue &queue : role.queues) {
      put(queue.output);
      put(queue.colour);
      put(queue.index);
      put(queue.filter.period);
      add(queue.filter.begin);
      add(queue.filter.words);
    }
    put(role.threads.size());
    for (const format::Thread &thread : role.threads) {
      put(thread.size());
      for (const Instruction &instruction : thread)
        add(instruction);
    }
  }
  void add(const Instruction &instruction) {
    put(instruction.opcode);
    put(instruction.type);
    put(instruction.sourceType);
    put(instruction.mixed);
    put(instruction.controlCount);
    for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b}) {
      put(operand->kind);
      put(operand->kind == OperandKind::Fifo ? operand->buffer : int16_t(-1));
      put(operand->queue);
    }
    for (const Affine &extent : instruction.extent)
      add(extent);
  }
};

} // namespace

absl::Status checkLiveness(const Executable &executable, int number, const LivenessOptions &options,
                           LivenessStats *stats) {
  if (number < 0 || number >= int(executable.configurations.size()))
    return absl::InvalidArgumentError(
        absl::StrCat("configuration ", number, " does not exist; there are ", executable.configurations.size()));
  auto layout = liveness::layOut(executable, number);
  if (!layout.ok())
    return layout.status();
  LivenessStats unused;
  LivenessStats &counts = stats ? *stats : unused;
  const absl::Status status = liveness::Run(**layout, options, counts).run();
  ++counts.configurations;
  counts.cores += int64_t((*layout)->cores.size());
  counts.threads += int64_t((*layout)->threads.size());
  counts.bytes = std::max(counts.bytes, (*layout)->bytes());
  return status;
}

namespace {

// About what Layout::bytes() will be.
int64_t estimateBytes(const Configuration &configuration) {
  int64_t bytes = 0;
  for (const Role &role : configuration.roles) {
    int64_t each = sizeof(liveness::Core) + int64_t(role.threads.size() * sizeof(liveness::Thread));
    for (const Queue &queue : role.queues)
      each += queue.output ? sizeof(liveness::Sender) : sizeof(liveness::Input) + sizeof(int32_t);
    bytes += each * std::max<int64_t>(0, role.cores.size());
  }
  for (const RouterRole &router : configuration.routers)
    bytes += std::max<int64_t>(0, router.routers.size()) *
             int64_t(sizeof(int32_t) + (router.positions.size() > 1 ? sizeof(liveness::Switch) : 0));
  return bytes;
}

// Checks configurations side by side, as many as there is memory for, up to the first one (by number) that fails.
class SideBySide {
public:
  SideBySide(const Executable &executable, const LivenessOptions &options, const std::vector<int> &numbers)
      : executable(executable), options(options), numbers(numbers), results(numbers.size()), stats(numbers.size()) {}

  absl::Status run(size_t threads, LivenessStats *sum) {
    std::vector<std::thread> helpers;
    for (size_t i = 1; i < std::min(threads, numbers.size()); ++i)
      helpers.emplace_back([this] { work(); });
    work();
    for (std::thread &helper : helpers)
      helper.join();
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (sum)
        add(stats[i], *sum);
      if (!results[i].ok())
        return results[i];
    }
    return absl::OkStatus();
  }

private:
  void work() {
    std::unique_lock lock(mutex);
    while (next < numbers.size() && next < failed) {
      const size_t i = next;
      const int64_t bytes = estimateBytes(executable.configurations[size_t(numbers[i])]);
      if (running > 0 && held + bytes > options.mostBytes) {
        ended.wait(lock);
        continue;
      }
      ++next;
      ++running;
      held += bytes;
      lock.unlock();
      absl::Status status = checkLiveness(executable, numbers[i], options, &stats[i]);
      lock.lock();
      --running;
      held -= bytes;
      if (!status.ok())
        failed = std::min(failed, i);
      results[i] = std::move(status);
      ended.notify_all();
    }
  }

  static void add(const LivenessStats &one, LivenessStats &sum) {
    sum.configurations += one.configurations;
    sum.cores += one.cores;
    sum.threads += one.threads;
    sum.turns += one.turns;
    sum.flows += one.flows;
    sum.routerSteps += one.routerSteps;
    sum.bytes = std::max(sum.bytes, one.bytes);
  }

  const Executable &executable;
  const LivenessOptions &options;
  const std::vector<int> &numbers;
  std::vector<absl::Status> results;
  std::vector<LivenessStats> stats;
  std::mutex mutex;
  std::condition_variable ended; // of a check
  size_t next = 0, running = 0, failed = SIZE_MAX;
  int64_t held = 0; // bytes of those that run
};

} // namespace

absl::Status checkLiveness(const Executable &executable, const LivenessOptions &options, LivenessStats *stats) {
  std::set<std::string> checked;
  std::vector<int> numbers;
  int64_t repeated = 0;
  for (int c = 0; c < int(executable.configurations.size()); ++c)
    if (checked.insert(Counts(executable, c).text).second)
      numbers.push_back(c);
    else
      ++repeated;
  checked.clear();
  if (stats)
    stats->repeated += repeated;
  const size_t threads = options.threads > 0 ? size_t(options.threads) : std::thread::hardware_concurrency();
  return SideBySide(executable, options, numbers).run(threads, stats);
}

} // namespace wsc::emulator
