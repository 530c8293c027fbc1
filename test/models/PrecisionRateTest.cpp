// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers of multiply-adds in 16 bits against f32, in cycles of the cycle engine: what the narrow operands save is
// there when the whole phase is counted, not only their issue slots.
#include "test/models/ModelCheck.h"

#include "compiler/driver/Compiler.h"

#include <cstdio>
#include <fstream>

namespace wsc::test {
namespace {

class PrecisionRate : public ::testing::Test {
protected:
  /// Of a sample, without changes of configuration; −1 after an error.
  int64_t cycles(driver::Precision precision, bool narrowSums) {
    driver::CompileOptions options;
    options.model = folder / "model.onnx";
    options.target = folder / "target.json";
    options.execution = driver::Execution::Phased;
    options.precision = precision;
    options.narrowSums = narrowSums;
    options.precisionSamples = 0;
    options.output = folder / "model.wse";
    const auto compiled = driver::compileToExecutable(options);
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    if (!compiled.ok())
      return -1;
    auto session = Session::open(compiled->executable, {.threads = 1});
    const auto timing = session.ok() ? (*session)->timing(0) : session.status();
    EXPECT_TRUE(timing.ok()) << timing.status();
    int64_t sum = 0, predicted = 0;
    for (const auto &part : timing.ok() ? (*timing)->parts : std::vector<emulator::TimingPart>())
      if (part.kind == emulator::TimingPart::Kind::Run)
        sum += part.cycles();
    for (const format::Configuration &configuration : compiled->executable->content.configurations)
      predicted += configuration.kernels[0].predictedIntervalCycles;
    EXPECT_NEAR(double(predicted), double(sum), 0.1 * double(sum));
    return sum;
  }

  void expectQuicker(const std::string &name, const OnnxBuilder &model) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(model.write(folder / "model.onnx"));
    std::ofstream(folder / "target.json")
        << R"({"base": "wse2", "name": "four", "rows": 2, "cols": 2, "sram_bytes": 262144})";
    const int64_t wide = cycles(driver::Precision::Model, false), narrow = cycles(driver::Precision::F16, false),
                  narrowest = cycles(driver::Precision::F16, true);
    ASSERT_GT(narrowest, 0);
    std::printf("  %-12s f32 %lld cycles, fp16 %.2f times as quick, with sums in fp16 %.2f times\n", name.c_str(),
                (long long)wide, double(wide) / double(narrow), double(wide) / double(narrowest));
    EXPECT_GE(double(wide) / double(narrow), 1.6);
    EXPECT_GE(double(wide) / double(narrowest), 2.5);
  }

  static std::vector<float> numbers(int64_t count) {
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(float(i * 37 % 251 - 125) / 256);
    return values;
  }

  TemporaryFolder folder;
};

TEST_F(PrecisionRate, MatMul) {
  OnnxBuilder b;
  b.input("x", {96, 128});
  b.output(b.node("MatMul", {"x", b.floats("w", {128, 96}, numbers(128 * 96))}, {}, "y"));
  expectQuicker("MatMul", b);
}

/// Its weights lie with the reduced dimension last, and are turned.
TEST_F(PrecisionRate, GemmWithTransposedWeights) {
  OnnxBuilder b;
  b.input("x", {96, 128});
  b.output(b.node("Gemm", {"x", b.floats("w", {96, 128}, numbers(96 * 128))}, {Attribute::i("transB", 1)}, "y"));
  expectQuicker("Gemm", b);
}

TEST_F(PrecisionRate, Conv) {
  OnnxBuilder b;
  b.input("x", {1, 8, 34, 34});
  b.output(b.node("Conv", {"x", b.floats("w", {16, 8, 3, 3}, numbers(16 * 8 * 9))}, {}, "y"));
  expectQuicker("Conv", b);
}

} // namespace
} // namespace wsc::test
