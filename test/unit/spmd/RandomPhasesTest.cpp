// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random networks on random meshes: planned, generated, verified, executed on both schedules of the core engine, and
// compared with plain loops that know no distribution. Bits are equal unless a sum of floats may be formed in another
// order; then results lie near the reference in double. The cycle engine comes to its end. WSC_SEED and WSC_CASES
// repeat and widen it.
#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/format/Verifier.h"
#include "test/support/NetworkBuilder.h"
#include "test/support/NetworkReference.h"
#include "test/support/PhasesProgram.h"
#include "test/support/RandomNetwork.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

using namespace wsc;
using namespace wsc::spmd;
using format::ElementType;

namespace {

uint64_t fromEnvironment(const char *name, uint64_t usual) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

bool isFloat(ElementType type) { return numerics::isFloat(type); }

constexpr double kTolerance = 0.05; // of the largest magnitude of the output: halves round a thousandth at each step
constexpr int kSamples = 3;         // the engine repeats what it has written down of the second

using Tensors = std::vector<emulator::HostTensor>;

// A core of each role, in the first and the last iteration of each run.
std::vector<emulator::CorePlace> someCores(const emulator::CoreEngine &engine, const format::Executable &executable) {
  std::vector<emulator::CorePlace> places;
  const auto runs = engine.runs(0);
  for (size_t r = 0; r < runs.size(); ++r)
    for (size_t role = 0; role < executable.configurations[size_t(runs[r].configuration)].roles.size(); ++role)
      for (int32_t iteration : {0, runs[r].count - 1})
        places.push_back({int32_t(r), iteration, int32_t(role), {}});
  return places;
}

// Outputs of samples, of which the last but one is traced, and the traces.
struct Traced {
  std::vector<std::vector<std::byte>> outputs, traces;
};
Traced runTracedBetween(emulator::CoreEngine &engine, const format::Executable &executable,
                        const std::vector<Tensors> &samples) {
  Traced all;
  for (size_t sample = 0; sample < samples.size(); ++sample) {
    Tensors outputs;
    if (sample + 2 == samples.size()) {
      auto traces = engine.runTraced(0, samples[sample], someCores(engine, executable), outputs);
      EXPECT_TRUE(traces.ok()) << traces.status();
      for (const auto &trace : traces.ok() ? *traces : std::vector<emulator::CoreEngine::CoreTrace>())
        for (const auto *parts : {&trace.buffersBefore, &trace.buffersAfter, &trace.queueWords})
          all.traces.insert(all.traces.end(), parts->begin(), parts->end());
    } else {
      auto found = engine.run(0, samples[sample]);
      EXPECT_TRUE(found.ok()) << found.status();
      if (found.ok())
        outputs = *std::move(found);
    }
    for (emulator::HostTensor &output : outputs)
      all.outputs.push_back(std::move(output.bytes));
  }
  return all;
}

// What an engine lets go of when it has written down a configuration is there again for a trace, and for another engine
// with the same store.
void expectTracesBetweenRepeats(const format::Executable &executable, int threads,
                                const std::vector<Tensors> &samples) {
  auto plain = emulator::CoreEngine::create(executable, {.schedule = emulator::Schedule::Worklist});
  ASSERT_TRUE(plain.ok()) << plain.status();
  const Traced want = runTracedBetween(**plain, executable, samples);
  const auto shared = emulator::makePreparedStore();
  for (int engine = 0; engine < 2; ++engine) {
    auto waves = emulator::CoreEngine::create(
        executable, {.threads = threads, .schedule = emulator::Schedule::Waves, .shared = shared});
    ASSERT_TRUE(waves.ok()) << waves.status();
    const Traced found = runTracedBetween(**waves, executable, samples);
    ASSERT_EQ(found.outputs, want.outputs) << "engine " << engine;
    ASSERT_EQ(found.traces, want.traces) << "engine " << engine;
  }
}

struct Outcome {
  bool refused = false;
  std::string why;
  int64_t elements = 0, apart = 0; // of sums of floats: compared, and further from the loops' than rounding explains
};

void runCase(uint64_t seed, Outcome &outcome) {
  test::NetworkOptions options;
  options.states = seed % 3 == 0;
  const Network network = test::drawNetwork(seed, options);
  ASSERT_TRUE(network.check().ok()) << network.check();
  std::mt19937_64 random(seed);
  const int32_t ports = int32_t(std::max(network.inputs.size(), network.outputs.size()));
  const int32_t rows = std::max<int32_t>(ports, int32_t(1 + random() % 7)), cols = int32_t(1 + random() % 7);
  SCOPED_TRACE("seed " + std::to_string(seed) + ", mesh-" + std::to_string(rows) + "x" + std::to_string(cols));
  auto target = target::loadTarget("mesh-" + std::to_string(rows) + "x" + std::to_string(cols));
  ASSERT_TRUE(target.ok());
  std::vector<Views> views;
  views.emplace_back(network);
  // Candidates that are looked at where no usual one fits are as good as these.
  PlanPolicy policy;
  policy.range = seed % 4 < 2 ? CandidateRange::Usual : CandidateRange::All;
  auto plan = planNetwork(network, views[0], *target, {0, 0, rows, cols}, {}, policy);
  if (!plan.ok()) {
    outcome = {true, std::string(plan.status().message())};
    ASSERT_TRUE(absl::IsResourceExhausted(plan.status())) << plan.status();
    return;
  }
  auto generated = generateWith({network}, views, *target, {*plan});
  if (!generated.ok()) {
    outcome = {true, std::string(generated.status().message())};
    ASSERT_TRUE(absl::IsResourceExhausted(generated.status())) << generated.status();
    return;
  }
  auto program = test::inMemory(*std::move(generated));
  ASSERT_TRUE(program.ok()) << program.status();
  for (const auto &violation : format::findViolations(program->executable))
    FAIL() << violation.rule << ": " << violation.message;
  const auto inputsOf = [&](int sample) { return test::drawInputs(seed + uint64_t(sample) * 7919, network); };
  std::vector<emulator::HostTensor> first;
  for (emulator::Schedule schedule : {emulator::Schedule::Units, emulator::Schedule::Worklist}) {
    auto engine =
        emulator::CoreEngine::create(program->executable, {.threads = 1 + int(seed % 2), .schedule = schedule});
    ASSERT_TRUE(engine.ok()) << engine.status();
    // The second sample goes on with the variables that the first one left.
    absl::StatusOr<std::vector<emulator::HostTensor>> outputs;
    for (int sample = 0; sample < kSamples; ++sample) {
      std::vector<emulator::HostTensor> hostInputs;
      for (const auto &input : inputsOf(sample))
        hostInputs.push_back({input});
      outputs = (*engine)->run(0, hostInputs);
      ASSERT_TRUE(outputs.ok()) << outputs.status();
    }
    if (schedule == emulator::Schedule::Units)
      first = *std::move(outputs);
    else
      for (size_t o = 0; o < first.size(); ++o)
        ASSERT_EQ(first[o].bytes, (*outputs)[o].bytes) << "the schedules differ in output " << o;
  }
  std::vector<Tensors> samples; // written down in the second; repeated, traced and repeated again
  for (int sample = 0; sample < kSamples + 2; ++sample)
    for (Tensors &inputs = samples.emplace_back(); const auto &input : inputsOf(sample))
      inputs.push_back({input});
  expectTracesBetweenRepeats(program->executable, 1 + int(seed % 2), samples);
  const bool ordered = !test::reducesFloats(network);
  auto exact = test::evaluate(network, inputsOf(0));
  for (int sample = 1; sample < kSamples && exact.ok(); ++sample)
    exact = test::evaluate(network, inputsOf(sample), exact->states);
  ASSERT_TRUE(exact.ok()) << exact.status();
  for (size_t o = 0; o < first.size(); ++o) {
    const Tensor &tensor = network.tensors[size_t(network.outputs[o].tensor)];
    if (ordered) {
      ASSERT_EQ(first[o].bytes, exact->outputs[o]) << "output " << o << " (" << tensor.name << ")";
      continue;
    }
    const std::vector<double> found = test::valuesOf(tensor.type, first[o].bytes),
                              near = test::valuesOf(tensor.type, exact->outputs[o]);
    double scale = 1;
    for (double value : near)
      if (std::isfinite(value))
        scale = std::max(scale, std::abs(value));
    if (!isFloat(tensor.type))
      continue; // conversions and comparisons of sums may fall on either side
    for (size_t i = 0; i < found.size(); ++i)
      if (std::isfinite(near[i]) && std::isfinite(found[i])) {
        ++outcome.elements;
        outcome.apart += std::abs(found[i] - near[i]) > kTolerance * scale;
      }
  }
  for (size_t c = 0; c < program->executable.configurations.size(); ++c) {
    auto cycles = emulator::runCycles(program->executable, int(c));
    ASSERT_TRUE(cycles.ok()) << cycles.status();
  }
}

TEST(RandomPhases, AgreeWithPlainLoops) {
  const uint64_t seed = fromEnvironment("WSC_SEED", 1), cases = fromEnvironment("WSC_CASES", 300);
  std::printf("seed %llu\n", (unsigned long long)seed);
  uint64_t refused = 0;
  int64_t elements = 0, apart = 0;
  for (uint64_t i = 0; i < cases && !HasFatalFailure(); ++i) {
    Outcome outcome;
    runCase(seed * 1000000 + i, outcome);
    refused += outcome.refused;
    elements += outcome.elements;
    apart += outcome.apart;
  }
  std::printf("%lld of %lld elements behind sums of floats are apart\n", (long long)apart, (long long)elements);
  EXPECT_LE(apart * 200, elements);
  std::printf("%llu of %llu networks refused for want of SRAM\n", (unsigned long long)refused,
              (unsigned long long)cases);
  EXPECT_LE(refused * 20, cases);
}

} // namespace
