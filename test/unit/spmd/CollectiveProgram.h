// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of collectives for tests: cores hold words of their own, one phase of collectives fills a result buffer,
// which is read back core by core after a run of the core engine; the cycle engine says how long it takes.
#pragma once

#include "compiler/spmd/phases/Assemble.h"
#include "compiler/spmd/phases/Phase.h"
#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/format/Verifier.h"
#include "test/support/PhasesProgram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

namespace wsc::test {

class CollectiveProgram {
public:
  explicit CollectiveProgram(int32_t rows, int32_t cols) : rectangle{0, 0, rows, cols} {}

  const spmd::Rectangle rectangle;
  spmd::Phase phase;
  format::Entry entry; // tensors that the phase's ports name
  spmd::Code &code() { return phase.code; }

  /// Constant words on each core.
  int16_t source(int64_t words, const std::function<int32_t(int32_t row, int32_t col, int64_t word)> &value) {
    std::vector<std::byte> data;
    for (int32_t r = 0; r < rectangle.rows; ++r)
      for (int32_t c = 0; c < rectangle.cols; ++c)
        for (int64_t i = 0; i < words; ++i) {
          const int32_t word = value(r, c, i);
          const auto *bytes = reinterpret_cast<const std::byte *>(&word);
          data.insert(data.end(), bytes, bytes + sizeof word);
        }
    const int32_t resident = constants.add("held", format::ElementType::I32, rectangle, rectangle.rows, rectangle.cols,
                                           words, std::move(data));
    return buffer(resident);
  }

  /// The buffer to be read back; with `clears`, -1 wherever the collectives do not write.
  int16_t result(int64_t words, bool clears = true) {
    format::Resident resident;
    resident.name = "result";
    resident.type = format::ElementType::I32;
    resident.bytes = words * 4;
    resident.cores.dims[spmd::kRowDim] = {rectangle.rows, rectangle.rows > 1 ? 1 : 0, 0};
    resident.cores.dims[spmd::kColDim] = {rectangle.cols, 0, rectangle.cols > 1 ? 1 : 0};
    constants.residents.push_back(resident);
    const int16_t made = buffer(int32_t(constants.residents.size()) - 1);
    if (clears)
      code().append(spmd::instruction(format::Opcode::Move, format::ElementType::I32, {words},
                                      spmd::memory(made, 0, {4}), spmd::immediate(-1)),
                    {});
    return made;
  }

  absl::StatusOr<PhasesProgram> make() {
    auto target = target::loadTarget("mesh-" + std::to_string(rectangle.rows) + "x" + std::to_string(rectangle.cols));
    if (!target.ok())
      return target.status();
    spmd::EntryPhases phases;
    phases.entry = entry;
    phases.entry.name = "collectives";
    phases.phases.push_back(std::move(phase));
    auto generated = assemble({std::move(phases)}, {}, rectangle, *target, std::move(constants));
    if (!generated.ok())
      return generated.status();
    return inMemory(*std::move(generated));
  }

private:
  int16_t buffer(int32_t resident) {
    format::Buffer made;
    made.resident = resident;
    made.name = constants.residents[size_t(resident)].name;
    made.kind = format::BufferKind::Resident;
    made.type = format::ElementType::I32;
    made.bytes = constants.residents[size_t(resident)].bytes;
    code().buffers.push_back(made);
    return int16_t(code().buffers.size() - 1);
  }

  spmd::ConstantTable constants;
};

struct CollectiveRun {
  std::map<std::pair<int32_t, int32_t>, std::vector<int32_t>> results; // by row and column
  int64_t cycles = 0;
};

/// Verifies the program, runs it on both engines.
inline CollectiveRun runCollectives(const format::Executable &executable) {
  CollectiveRun run;
  for (const auto &violation : format::findViolations(executable))
    ADD_FAILURE() << violation.rule << ": " << violation.message;
  auto engine = emulator::CoreEngine::create(executable, {.threads = 1});
  EXPECT_TRUE(engine.ok()) << engine.status();
  if (!engine.ok() || testing::Test::HasFailure())
    return run;
  std::vector<emulator::CorePlace> cores;
  const format::Configuration &configuration = executable.configurations[0];
  for (size_t r = 0; r < configuration.roles.size(); ++r)
    emulator::forEachPoint(configuration.roles[r].cores, [&](const format::LatticeIndex &index, int32_t, int32_t) {
      cores.push_back({0, 0, int32_t(r), index});
      return true;
    });
  std::vector<emulator::HostTensor> outputs;
  auto traces = (*engine)->runTraced(0, {}, cores, outputs);
  EXPECT_TRUE(traces.ok()) << traces.status();
  if (!traces.ok())
    return run;
  for (const auto &trace : *traces) {
    const format::Role &role = configuration.roles[size_t(trace.role)];
    for (size_t b = 0; b < role.buffers.size(); ++b)
      if (role.buffers[b].name == "result") {
        std::vector<int32_t> words(trace.buffersAfter[b].size() / 4);
        std::memcpy(words.data(), trace.buffersAfter[b].data(), words.size() * 4);
        run.results[emulator::latticePosition(role.cores, trace.index)] = std::move(words);
      }
  }
  auto cycles = emulator::runCycles(executable, 0);
  EXPECT_TRUE(cycles.ok()) << cycles.status();
  if (cycles.ok())
    run.cycles = cycles->endCycle;
  return run;
}

} // namespace wsc::test
