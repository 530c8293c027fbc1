// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Networks in 16 bits: how far they are from f32, and how much faster their multiply-adds are.
#include "compiler/driver/Compiler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

namespace wsc::driver {
namespace {

// A constant of seeded elements, small enough that sums of them are about 1.
std::string weights(const std::string &name, std::vector<int64_t> shape, uint32_t seed) {
  std::mt19937 random(seed);
  int64_t inside = 1;
  for (size_t d = 1; d < shape.size(); ++d)
    inside *= shape[d];
  std::string type;
  for (int64_t extent : shape)
    type += std::to_string(extent) + "x";
  std::ostringstream text;
  const auto print = [&](const auto &self, size_t d) -> void {
    if (d == shape.size()) {
      text << std::scientific << (double(random() >> 8) * 0x1p-23 - 1) / std::sqrt(double(inside));
      return;
    }
    text << "[";
    for (int64_t i = 0; i < shape[d]; ++i) {
      text << (i ? ", " : "");
      self(self, d + 1);
    }
    text << "]";
  };
  print(print, 0);
  return "  %" + name + " = nn.constant dense<" + text.str() + "> : tensor<" + type + "f32>\n";
}

// Convolution, ReLU, pooling, a dense layer.
std::string images() {
  return "func.func @main(%x: tensor<1x2x12x12xf32>) -> tensor<1x10xf32> {\n" + weights("w", {4, 2, 3, 3}, 1) +
         weights("b", {4}, 2) + weights("v", {10, 100}, 3) + R"(
  %0 = nn.conv %x, %w bias %b : (tensor<1x2x12x12xf32>, tensor<4x2x3x3xf32>, tensor<4xf32>) -> tensor<1x4x10x10xf32>
  %1 = nn.unary relu %0 : tensor<1x4x10x10xf32>
  %2 = nn.pool max %1 kernel [2, 2] strides [2, 2] : (tensor<1x4x10x10xf32>) -> tensor<1x4x5x5xf32>
  %3 = nn.reshape %2 : tensor<1x4x5x5xf32> -> tensor<1x100xf32>
  %4 = nn.matmul %3, %v {transpose_rhs} : (tensor<1x100xf32>, tensor<10x100xf32>) -> tensor<1x10xf32>
  return %4 : tensor<1x10xf32>
}
)";
}

// Attention with a residual sum, normalisation, a dense layer.
std::string attention() {
  return "func.func @main(%x: tensor<9x16xf32>) -> tensor<9x7xf32> {\n" + weights("q", {16, 16}, 4) +
         weights("k", {16, 16}, 5) + weights("v", {16, 16}, 6) + weights("o", {16, 7}, 7) + R"(
  %eps = nn.constant dense<1.0e-5> : tensor<f32>
  %0 = nn.matmul %x, %q : (tensor<9x16xf32>, tensor<16x16xf32>) -> tensor<9x16xf32>
  %1 = nn.matmul %x, %k : (tensor<9x16xf32>, tensor<16x16xf32>) -> tensor<9x16xf32>
  %2 = nn.matmul %x, %v : (tensor<9x16xf32>, tensor<16x16xf32>) -> tensor<9x16xf32>
  %3 = nn.matmul %0, %1 {transpose_rhs} : (tensor<9x16xf32>, tensor<9x16xf32>) -> tensor<9x9xf32>
  %4 = nn.softmax %3 axis 1 : tensor<9x9xf32>
  %5 = nn.matmul %4, %2 : (tensor<9x9xf32>, tensor<9x16xf32>) -> tensor<9x16xf32>
  %6 = nn.binary add %5, %x : (tensor<9x16xf32>, tensor<9x16xf32>) -> tensor<9x16xf32>
  %7 = nn.reduce mean %6 axes [1] {keepdims} : (tensor<9x16xf32>) -> tensor<9x1xf32>
  %8 = nn.binary sub %6, %7 : (tensor<9x16xf32>, tensor<9x1xf32>) -> tensor<9x16xf32>
  %9 = nn.binary mul %8, %8 : (tensor<9x16xf32>, tensor<9x16xf32>) -> tensor<9x16xf32>
  %10 = nn.reduce mean %9 axes [1] {keepdims} : (tensor<9x16xf32>) -> tensor<9x1xf32>
  %11 = nn.binary add %10, %eps : (tensor<9x1xf32>, tensor<f32>) -> tensor<9x1xf32>
  %12 = nn.unary sqrt %11 : tensor<9x1xf32>
  %13 = nn.binary div %8, %12 : (tensor<9x16xf32>, tensor<9x1xf32>) -> tensor<9x16xf32>
  %14 = nn.matmul %13, %o : (tensor<9x16xf32>, tensor<16x7xf32>) -> tensor<9x7xf32>
  return %14 : tensor<9x7xf32>
}
)";
}

struct Setting {
  Precision precision;
  bool narrowSums;
  double relativeL2; // that is allowed
};

absl::StatusOr<Compiled> compiled(const std::string &text, Precision precision, bool narrowSums, int samples,
                                  const std::string &target) {
  CompileOptions options;
  options.model = "net.mlir";
  options.content = text;
  options.target = target;
  options.execution = Execution::Phased;
  options.precision = precision;
  options.narrowSums = narrowSums;
  options.precisionSamples = samples;
  return compileToExecutable(options);
}

TEST(Precision, TheErrorIsThatOfTheType) {
  for (const std::string &net : {images(), attention()})
    for (const Setting &setting : {Setting{Precision::F16, false, 1e-3}, Setting{Precision::F16, true, 4e-3},
                                   Setting{Precision::BF16, false, 1e-2}, Setting{Precision::BF16, true, 4e-2},
                                   Setting{Precision::Mixed, false, 1e-3}, Setting{Precision::Mixed, true, 4e-3}}) {
      SCOPED_TRACE(net.substr(0, net.find('{')) + precisionName(setting.precision) +
                   (setting.narrowSums ? " with narrow sums" : ""));
      auto result = compiled(net, setting.precision, setting.narrowSums, 3, "mesh-4x4");
      ASSERT_TRUE(result.ok()) << result.status();
      ASSERT_TRUE(result->report.precision);
      const report::PrecisionFacts &facts = *result->report.precision;
      EXPECT_EQ(facts.unknown, "");
      ASSERT_EQ(facts.outputs.size(), 1u);
      EXPECT_LT(facts.outputs[0].relativeL2, setting.relativeL2);
      EXPECT_GT(facts.outputs[0].relativeL2, 1e-6); // f32 would be closer
      EXPECT_GE(facts.outputs[0].largestValue, facts.outputs[0].largest);
    }
}

TEST(Precision, NumbersBeyondTheRangeAreTold) {
  auto result = compiled(R"(func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = nn.constant dense<1.0e+6> : tensor<f32>
  %0 = nn.binary mul %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = nn.reduce max %0 axes [0] {keepdims} : (tensor<4xf32>) -> tensor<1xf32>
  %2 = nn.binary sub %0, %1 : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
)",
                         Precision::F16, false, 1, "mesh-2x2");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->report.precision->unknown, "output output0 of sample 0 is not finite where it is in fp32: numbers "
                                               "exceed the range of fp16");
}

// Cycles of a chain of products 64 × 128 × 128 on 32 cores: 32,768 multiply-adds each are most of a layer's time. Words
// of sums are f32 whatever the factors.
int64_t cyclesOf(int layers, Precision precision, bool narrowSums) {
  std::string text = "func.func @main(%x0: tensor<64x128xf32>) -> tensor<64x128xf32> {\n";
  for (int i = 0; i < layers; ++i) {
    const std::string from = std::to_string(i), to = std::to_string(i + 1);
    text += weights("w" + from, {128, 128}, uint32_t(i)) + "  %x" + to + " = nn.matmul %x" + from + ", %w" + from +
            " : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>\n";
  }
  text += "  return %x" + std::to_string(layers) + " : tensor<64x128xf32>\n}\n";
  auto result = compiled(text, precision, narrowSums, 0, "mesh-4x8");
  EXPECT_TRUE(result.ok()) << result.status();
  auto session =
      result.ok() ? Session::open(result->executable) : absl::StatusOr<std::unique_ptr<Session>>(result.status());
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok())
    return 0;
  auto timing = (*session)->timing(0);
  EXPECT_TRUE(timing.ok()) << timing.status();
  return timing.ok() ? (*timing)->latencyCycles : 0;
}

// What two products more take: without input and output, which are f32.
TEST(Precision, MultiplyAddsAreFaster) {
  const auto perLayer = [](Precision precision, bool narrowSums) {
    return double(cyclesOf(3, precision, narrowSums) - cyclesOf(1, precision, narrowSums)) / 2;
  };
  const double f32 = perLayer(Precision::F32, false);
  const double wideSums = perLayer(Precision::F16, false), narrowSums = perLayer(Precision::F16, true);
  RecordProperty("fp32", std::to_string(f32));
  RecordProperty("fp16", std::to_string(wideSums));
  RecordProperty("fp16 with fp16 sums", std::to_string(narrowSums));
  EXPECT_GE(f32, 1.6 * wideSums) << f32 << " " << wideSums;
  EXPECT_GE(f32, 2.5 * narrowSums) << f32 << " " << narrowSums;
}

} // namespace
} // namespace wsc::driver
