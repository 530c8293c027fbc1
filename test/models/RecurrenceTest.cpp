// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recurrent layers are loops on the wafer: however many steps a sequence has, cores hold the programs of one step.
#include "test/models/ModelCheck.h"

#include "runtime/format/MemoryMap.h"

namespace wsc::test {
namespace {

struct Layer {
  const char *type;
  int64_t gates;
  const char *direction = "forward";
  bool lengths = false;
  bool linearBeforeReset = false; // GRU
};

OnnxBuilder modelOf(const Layer &layer, int64_t steps) {
  constexpr int64_t kInputs = 12, kHidden = 16;
  const int64_t directions = std::string(layer.direction) == "bidirectional" ? 2 : 1;
  NetBuilder net(3);
  const NetValue x = net.input("x", {steps, 1, kInputs});
  std::vector<std::string> inputs{x.name, net.weights({directions, layer.gates * kHidden, kInputs}, 0.5f),
                                  net.weights({directions, layer.gates * kHidden, kHidden}, 0.5f),
                                  net.weights({directions, 2 * layer.gates * kHidden}, 0.5f)};
  if (layer.lengths)
    inputs.push_back(
        net.onnx.weights("lengths", {1}, std::vector<int32_t>{int32_t(steps) - 2}, wsc::onnx::TensorProto::INT32));
  std::vector<Attribute> attributes{Attribute::i("hidden_size", kHidden), Attribute::s("direction", layer.direction)};
  if (layer.linearBeforeReset)
    attributes.push_back(Attribute::i("linear_before_reset", 1));
  net.onnx.nodeWithOutputs(layer.type, inputs, {"y", "h"}, attributes);
  net.onnx.output("y");
  net.onnx.output("h");
  return net.onnx;
}

struct Program {
  int64_t bytes = 0; // of code that a core holds at most, over all configurations
  size_t configurations = 0;
  int64_t cycles = 0; // of a sample
};

/// The outputs are those of the reference.
Program programOf(const Layer &layer, int64_t steps) {
  TemporaryFolder folder;
  EXPECT_TRUE(modelOf(layer, steps).write(folder / "model.onnx"));
  const absl::Status compiled = compileModel(folder / "model.onnx", "mesh-8x8", folder / "model.wse",
                                             {kernels::Effort::Default, 1, 1}, driver::Execution::Phased);
  EXPECT_TRUE(compiled.ok()) << compiled;
  auto session = Session::open(folder / "model.wse", {.threads = 1});
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok())
    return {};
  const format::Executable &executable = (*session)->executable();
  const Inputs inputs = randomInputs(executable.entries[0], 5);
  const auto wanted = referenceOutputs(folder / "model.onnx", executable.entries[0], inputs);
  auto outputs = (*session)->run(0, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  for (size_t o = 0; outputs.ok() && o < wanted.size(); ++o)
    EXPECT_LE(relativeL2((*outputs)[o], wanted[o]), 1e-5) << executable.entries[0].outputs[o].name;
  const auto timing = (*session)->cycles(0, {.threads = 1});
  EXPECT_TRUE(timing.ok()) << timing.status();
  Program program{0, executable.configurations.size(), timing.ok() ? timing->latencyCycles : 0};
  for (const format::Configuration &configuration : executable.configurations) {
    int64_t most = 0;
    for (const format::Role &role : configuration.roles)
      most = std::max(most, format::codeBytes(executable.target, role));
    program.bytes += most;
  }
  return program;
}

TEST(Recurrence, CodeDoesNotGrowWithTheSteps) {
  for (const Layer &layer : {Layer{"LSTM", 4}, Layer{"LSTM", 4, "bidirectional"}, Layer{"GRU", 3, "reverse"},
                             Layer{"RNN", 1}, Layer{"LSTM", 4, "forward", true}}) {
    SCOPED_TRACE(std::string(layer.type) + " " + layer.direction + (layer.lengths ? ", lengths" : ""));
    // Sequences of other lengths may lie on other cores, and their ways in and out then differ by a move or two, or by
    // a configuration where their words meet. What steps do is the same.
    const Program brief = programOf(layer, 5), few = programOf(layer, 50), many = programOf(layer, 100);
    std::printf("  %s %s: code of a core, 5 steps %lld bytes, 50 steps %lld bytes, 100 steps %lld bytes\n", layer.type,
                layer.direction, (long long)brief.bytes, (long long)few.bytes, (long long)many.bytes);
    EXPECT_GT(brief.bytes, 0);
    EXPECT_LE(few.configurations, brief.configurations + 1);
    EXPECT_LE(many.configurations, few.configurations);
    EXPECT_LE(double(many.bytes), 1.1 * double(few.bytes));
    EXPECT_LE(few.bytes, 2 * brief.bytes); // 10 times the steps
  }
}

// Gates that a step reads one by one lie where it wants them, with those that other nests read: a step of three gates
// and one product is as quick as one of four.
TEST(Recurrence, StepsOfFewerGatesAreAsQuick) {
  const int64_t four = programOf({"LSTM", 4}, 40).cycles;
  const int64_t three = programOf({.type = "GRU", .gates = 3, .linearBeforeReset = true}, 40).cycles;
  std::printf("  40 steps of an LSTM %lld cycles, of a GRU %lld\n", (long long)four, (long long)three);
  EXPECT_LE(three, four);
}

} // namespace
} // namespace wsc::test
