// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executables of phases by hand: a mesh whose cores take tensors from the north edge of a row and give them to the
// south, and one entry that runs configurations one after another; runs of them on every schedule, and replays of all
// their cores.
#pragma once

#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/Interpreter.h"
#include "runtime/emulator/LatticeWalk.h"
#include "test/unit/support/ProgramBuilder.h"

#include <cstring>
#include <gtest/gtest.h>

namespace wsc::testing {

using Floats = std::vector<float>;

inline emulator::HostTensor tensorOf(const Floats &values) {
  const auto *bytes = reinterpret_cast<const std::byte *>(values.data());
  return {{bytes, bytes + values.size() * sizeof(float)}};
}
inline Floats floatsOf(const emulator::HostTensor &tensor) {
  Floats values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

inline format::Lattice rectangle(int32_t row, int32_t col, int32_t rows, int32_t cols) {
  format::Lattice lattice;
  lattice.row = row;
  lattice.col = col;
  lattice.dims[2] = {rows, 1, 0};
  lattice.dims[3] = {cols, 0, 1};
  return lattice;
}

// A row of `cols` cores under phases, one entry.
class PhaseProgram : public ExecutableBuilder {
public:
  explicit PhaseProgram(int32_t cols) : cols(cols) {
    auto target = target::loadTarget("mesh-1x" + std::to_string(cols));
    EXPECT_TRUE(target.ok()) << target.status();
    result.target = *target;
    result.execution = "phased";
    result.configurations.clear();
    result.entries.emplace_back().name = "main";
  }
  format::Entry &entry() { return result.entries[0]; }

  // A configuration that runs `count` times after those before it.
  PhaseProgram &phase(const std::string &name, int32_t count = 1) {
    nextConfiguration(name);
    const auto number = int32_t(result.configurations.size()) - 1, steps = int32_t(entry().steps.size());
    entry().steps.push_back({format::StepKind::Configure, number, {}});
    if (steps > 0)
      entry().steps.back().after = {steps - 1};
    entry().steps.push_back({format::StepKind::Run, number, {steps}, count});
    return *this;
  }

  // Runs configuration `number` once more: `count` iterations from number `first` on.
  PhaseProgram &again(int32_t number, int32_t count, int32_t first) {
    const auto steps = int32_t(entry().steps.size());
    entry().steps.push_back({format::StepKind::Configure, number, {steps - 1}});
    entry().steps.push_back({format::StepKind::Run, number, {steps}, count, first});
    return *this;
  }

  // The last configuration passes `elements` to or from each core of the row on `colour`; core k's begin at element
  // k·step.
  format::IoBinding &lanes(bool output, int32_t tensor, uint8_t colour, int64_t elements, int64_t step) {
    const format::Port port = output ? format::Port::South : format::Port::North;
    format::IoBinding binding;
    binding.output = output;
    binding.tensor = tensor;
    binding.ports = rectangle(0, 0, 1, cols);
    binding.side = port;
    binding.colour = colour;
    binding.extent[3] = elements;
    binding.stride[3] = 1;
    binding.hostOffset.perDim[3] = step;
    configuration().io.push_back(binding);
    format::RouterRole router;
    router.routers = rectangle(0, 0, 1, cols);
    router.colour = colour;
    const auto mask = [](format::Port p) { return format::PortMask(1 << int(p)); };
    router.positions = {output ? format::SwitchPosition{format::Port::Ramp, mask(port)}
                               : format::SwitchPosition{port, mask(format::Port::Ramp)}};
    configuration().routers.push_back(router);
    return configuration().io.back();
  }

  const int32_t cols;
};

inline std::unique_ptr<emulator::CoreEngine> engineOf(const format::Executable &executable, emulator::Schedule schedule,
                                                      int threads = 2) {
  auto engine = emulator::CoreEngine::create(executable, {threads, schedule});
  EXPECT_TRUE(engine.ok()) << engine.status();
  return engine.ok() ? *std::move(engine) : nullptr;
}

inline std::vector<Floats> runOn(emulator::CoreEngine &engine, const std::vector<Floats> &inputs) {
  std::vector<emulator::HostTensor> tensors;
  for (const Floats &input : inputs)
    tensors.push_back(tensorOf(input));
  auto outputs = engine.run(0, tensors);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  std::vector<Floats> values;
  if (outputs.ok())
    for (const emulator::HostTensor &output : *outputs)
      values.push_back(floatsOf(output));
  return values;
}

// Every core in every iteration of every run does what the scalar interpreter does.
inline void expectReplays(emulator::CoreEngine &engine, const format::Executable &executable,
                          const std::vector<Floats> &inputs) {
  std::vector<emulator::CorePlace> places;
  const auto runs = engine.runs(0);
  for (size_t r = 0; r < runs.size(); ++r)
    for (int32_t i = 0; i < runs[r].count; ++i) {
      const auto &roles = executable.configurations[size_t(runs[r].configuration)].roles;
      for (size_t role = 0; role < roles.size(); ++role)
        emulator::forEachPoint(roles[role].cores, [&](const format::LatticeIndex &index, int32_t, int32_t) {
          places.push_back({int32_t(r), i, int32_t(role), index});
          return true;
        });
    }
  std::vector<emulator::HostTensor> tensors, outputs;
  for (const Floats &input : inputs)
    tensors.push_back(tensorOf(input));
  auto traces = engine.runTraced(0, tensors, places, outputs);
  ASSERT_TRUE(traces.ok()) << traces.status();
  for (size_t p = 0; p < places.size(); ++p) {
    const emulator::CoreEngine::CoreTrace &trace = (*traces)[p];
    const format::Role &role =
        executable.configurations[size_t(runs[size_t(places[p].run)].configuration)].roles[size_t(trace.role)];
    std::vector<std::vector<std::byte>> received = trace.queueWords;
    for (size_t q = 0; q < role.queues.size(); ++q)
      if (role.queues[q].output)
        received[q].clear();
    auto run = emulator::interpretCore(executable, role, trace.index, {trace.buffersBefore}, received,
                                       runs[size_t(places[p].run)].first + places[p].iteration);
    ASSERT_TRUE(run.ok()) << run.status();
    for (size_t b = 0; b < role.buffers.size(); ++b)
      EXPECT_EQ(run->image.buffers[b], trace.buffersAfter[b])
          << role.name << ", buffer " << role.buffers[b].name << ", run " << places[p].run << ", iteration "
          << places[p].iteration;
    for (size_t q = 0; q < role.queues.size(); ++q)
      if (role.queues[q].output)
        EXPECT_EQ(run->queueWords[q], trace.queueWords[q]) << role.name << ", queue " << q;
  }
}

} // namespace wsc::testing
