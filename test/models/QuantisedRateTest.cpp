// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products and convolutions of whole numbers run as multiply-adds of 8 bits onto 32, at the rate that the target gives
// them.
#include "test/models/ModelCheck.h"

#include "compiler/driver/Compiler.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/QueueTraffic.h"
#include "runtime/timing/Cost.h"

#include <cstdio>
#include <fstream>

namespace wsc::test {
namespace {

using wsc::onnx::TensorProto;

/// The multiply-adds of an executable, on all its cores.
struct MultiplyAdds {
  int64_t narrow = 0, other = 0; // elements from 8 bits onto i32; of any other types
  int64_t batchSlots = 0;        // issue slots in which the narrow ones stream, without what banks add
  int64_t bankSlots = 0;         // that operands which begin in the same bank add
  int64_t cycles = 0;            // of a sample, without changes of configuration
};

class QuantisedRate : public ::testing::Test {
protected:
  static std::vector<int8_t> numbers(int64_t count) {
    std::vector<int8_t> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(int8_t(i * 37 % 251 - 125));
    return values;
  }

  MultiplyAdds measure(const OnnxBuilder &model, const std::string &target) {
    MultiplyAdds found;
    EXPECT_TRUE(model.write(folder / "model.onnx"));
    driver::CompileOptions options;
    options.model = folder / "model.onnx";
    options.target = target;
    options.execution = driver::Execution::Phased;
    options.output = folder / "model.wse";
    const auto compiled = driver::compileToExecutable(options);
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    if (!compiled.ok())
      return found;
    const format::Executable &executable = compiled->executable->content;
    for (const format::Configuration &configuration : executable.configurations)
      for (const format::Role &role : configuration.roles)
        emulator::forEachPoint(role.cores, [&](const format::LatticeIndex &index, int32_t, int32_t) {
          add(executable.target, role, index, found);
          return true;
        });
    auto session = Session::open(compiled->executable, {.threads = 1});
    EXPECT_TRUE(session.ok()) << session.status();
    const auto timing = (*session)->timing(0);
    EXPECT_TRUE(timing.ok()) << timing.status();
    for (const emulator::TimingPart &part : (*timing)->parts)
      if (part.kind == emulator::TimingPart::Kind::Run)
        found.cycles += part.cycles();
    return found;
  }

  /// Mesh of one core, whose multiply-adds of 8 bits have that rate (0: the derived one).
  std::string oneCore(double rate) {
    const std::string path = folder / "target.json";
    std::ofstream(path) << "{\"base\": \"wse2\", \"name\": \"one\", \"rows\": 1, \"cols\": 1, \"sram_bytes\": 262144"
                        << (rate > 0 ? ", \"fma_per_cycle_i8\": " + std::to_string(rate) : "") << "}";
    return path;
  }

  /// `multiplyAdds`: how many the model has. Twice the rate takes half the slots.
  void expectRates(const std::string &name, const OnnxBuilder &model, int64_t multiplyAdds) {
    SCOPED_TRACE(name);
    // 8 a cycle are 4 onto i32, of which SRAM takes 2; 2 a cycle are 1 onto i32.
    const MultiplyAdds quick = measure(model, oneCore(0)), slow = measure(model, oneCore(2));
    std::printf(
        "  %-22s %lld multiply-adds of 8 bits, %lld others; %lld slots and %lld for banks, %lld cycles; at half "
        "the rate %lld and %lld, %lld cycles\n",
        name.c_str(), (long long)quick.narrow, (long long)quick.other, (long long)quick.batchSlots,
        (long long)quick.bankSlots, (long long)quick.cycles, (long long)slow.batchSlots, (long long)slow.bankSlots,
        (long long)slow.cycles);
    EXPECT_GE(quick.narrow, multiplyAdds);
    EXPECT_EQ(quick.other, 0);
    EXPECT_NEAR(double(quick.batchSlots), double(quick.narrow) / 2, 0.02 * double(quick.narrow));
    EXPECT_NEAR(double(slow.batchSlots), double(slow.narrow), 0.02 * double(slow.narrow));
    EXPECT_NEAR(double(slow.cycles - quick.cycles),
                double(slow.batchSlots + slow.bankSlots - quick.batchSlots - quick.bankSlots),
                0.02 * double(quick.cycles));
  }

  TemporaryFolder folder;

private:
  static void add(const target::Target &target, const format::Role &role, const format::LatticeIndex &index,
                  MultiplyAdds &found) {
    for (const format::Thread &thread : role.threads) {
      std::vector<int64_t> trips{1};
      for (const format::Instruction &instruction : thread) {
        if (instruction.opcode == format::Opcode::Loop)
          trips.push_back(trips.back() * std::max<int64_t>(0, instruction.extent[0].at(index)));
        else if (instruction.opcode == format::Opcode::EndLoop)
          trips.pop_back();
        else if (instruction.opcode == format::Opcode::Fma) {
          const int64_t elements = emulator::instructionElements(instruction, index);
          const bool isNarrow = instruction.type == format::ElementType::I32 && instruction.mixed &&
                                format::elementBytes(instruction.sourceType) == 1;
          (isNarrow ? found.narrow : found.other) += trips.back() * elements;
          if (!isNarrow)
            continue;
          const int64_t slots =
              trips.back() * timing::instructionSlots(target, role, instruction, index, elements).stream;
          const bool conflicts = timing::instructionRate(target, role, instruction, index).bankConflict;
          found.batchSlots += conflicts ? slots / 2 : slots;
          found.bankSlots += conflicts ? slots / 2 : 0;
        }
      }
    }
  }
};

TEST_F(QuantisedRate, MatMulInteger) {
  OnnxBuilder b;
  b.input("x", {64, 48}, TensorProto::INT8);
  b.output(b.node("MatMulInteger", {"x", b.weights("w", {48, 64}, numbers(48 * 64), TensorProto::INT8)}, {}, "y"));
  expectRates("MatMulInteger", b, 64 * 48 * 64);
}

TEST_F(QuantisedRate, ConvInteger) {
  OnnxBuilder b;
  b.input("x", {1, 8, 18, 18}, TensorProto::INT8);
  b.output(
      b.node("ConvInteger", {"x", b.weights("w", {16, 8, 3, 3}, numbers(16 * 8 * 9), TensorProto::INT8)}, {}, "y"));
  expectRates("ConvInteger", b, 16 * 16 * 16 * 8 * 9);
}

TEST_F(QuantisedRate, QLinearMatMul) {
  OnnxBuilder b;
  b.input("x", {64, 48}, TensorProto::INT8);
  const std::string scale = b.floats("scale", {}, {0.01f}),
                    zero = b.weights("zero", {}, std::vector<int8_t>{0}, TensorProto::INT8);
  b.output(b.node("QLinearMatMul",
                  {"x", scale, zero, b.weights("w", {48, 64}, numbers(48 * 64), TensorProto::INT8), scale, zero,
                   b.floats("step", {}, {0.5f}), zero},
                  {}, "y"));
  expectRates("QLinearMatMul", b, 64 * 48 * 64);
}

/// As exporters write it: layers in f32 between conversions from and to 8 bits.
TEST_F(QuantisedRate, LayersBetweenConversions) {
  OnnxBuilder b;
  b.input("x", {64, 48});
  const std::string scale = b.floats("scale", {}, {1.0f / 64}),
                    zero = b.weights("zero", {}, std::vector<int8_t>{0}, TensorProto::INT8);
  const std::string x = b.node("DequantizeLinear", {b.node("QuantizeLinear", {"x", scale, zero}), scale, zero});
  const std::string w =
      b.node("DequantizeLinear", {b.weights("w", {48, 64}, numbers(48 * 64), TensorProto::INT8), scale, zero});
  const std::string y = b.node("MatMul", {x, w});
  b.output(b.node("DequantizeLinear", {b.node("QuantizeLinear", {y, b.floats("step", {}, {0.5f}), zero}),
                                       b.floats("step2", {}, {0.5f}), zero}));
  expectRates("MatMul of a QDQ model", b, 64 * 48 * 64);
}

} // namespace
} // namespace wsc::test
