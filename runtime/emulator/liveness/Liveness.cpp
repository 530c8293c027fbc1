// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configurations that count the same are found by a text of all that a count depends on: lattices, routes, queues,
// FIFOs, and of instructions operands' kinds, extents and types. The text decides, not a hash of it.
#include "runtime/emulator/liveness/Liveness.h"

#include "runtime/base/SideBySide.h"
#include "runtime/emulator/Network.h"
#include "runtime/emulator/liveness/Run.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdint>
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

void add(const LivenessStats &one, LivenessStats &sum) {
  sum.configurations += one.configurations;
  sum.cores += one.cores;
  sum.threads += one.threads;
  sum.turns += one.turns;
  sum.flows += one.flows;
  sum.routerSteps += one.routerSteps;
  sum.bytes = std::max(sum.bytes, one.bytes);
}

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
  std::vector<absl::Status> results(numbers.size());
  std::vector<LivenessStats> counts(numbers.size());
  runSideBySide(
      numbers.size(), threads, options.mostBytes,
      [&](size_t i) { return estimateBytes(executable.configurations[size_t(numbers[i])]); },
      [&](size_t i) {
        results[i] = checkLiveness(executable, numbers[i], options, &counts[i]);
        return results[i].ok();
      });
  // Up to the first one (by number) that fails.
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (stats)
      add(counts[i], *stats);
    if (!results[i].ok())
      return results[i];
  }
  return absl::OkStatus();
}

} // namespace wsc::emulator
