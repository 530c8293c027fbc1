// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// State variables and entry points, from nn text to values on the emulator. Expected values are computed here, bit for
// bit.
#include "test/unit/state/Program.h"

#include "tools/wsc-run/Run.h"

#include <cstdio>

namespace wsc::test {
namespace {

std::string exampleText() {
  std::ifstream file(std::string(WSC_SOURCE_DIR) + "/examples/counter/counter.mlir");
  return {std::istreambuf_iterator<char>(file), {}};
}

int wscRun(std::vector<std::string> arguments, std::string *error = nullptr) {
  arguments.insert(arguments.begin(), "wsc-run");
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  run::Options options;
  int status = run::parseOptions(int(argv.size()), argv.data(), options);
  if (status < 0)
    status = run::runTool(options);
  testing::internal::GetCapturedStdout();
  std::string text = testing::internal::GetCapturedStderr();
  if (error)
    *error = text;
  else
    EXPECT_EQ(status, 0) << text;
  return status;
}

Floats ramp(size_t count, float begin, float step) {
  Floats values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = begin + step * float(i);
  return values;
}

Floats add(const Floats &a, const Floats &b) {
  Floats sum(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    sum[i] = a[i] + b[i];
  return sum;
}

TEST(State, CounterKeepsItsSumOverFiles) {
  for (const char *target : {"mesh-8x8", "wse2"}) {
    Program program(exampleText(), target);
    ASSERT_TRUE(program.ok()) << program.status;
    const Folder &folder = program.folder;
    Floats sum(4, 0.0f);
    for (int i = 0; i < 3; ++i) {
      Floats x = ramp(4, 0.1f * float(i + 1), 1.7f);
      sum = add(sum, x);
      ASSERT_TRUE(writeNpz(std::vector{tensorOf({"x", format::ElementType::F32, {1, 4}}, x)}, folder / "x.npz").ok());
      std::vector<std::string> arguments{folder / "m.wse", "--entry",        "step",    "--input",  folder / "x.npz",
                                         "--state-out",    folder / "s.npz", "--quiet", "--replay", "8"};
      if (i > 0)
        arguments.insert(arguments.end(), {"--state-in", folder / "s.npz"});
      wscRun(arguments);
    }
    wscRun({folder / "m.wse", "--entry", "read", "--state-in", folder / "s.npz", "--output", folder / "out.npz",
            "--quiet"});
    auto out = readNpz(folder / "out.npz");
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ(floatsOf(out->at(0)), sum) << target;

    // Samples of one call follow each other in the variable too.
    for (int i = 0; i < 3; ++i)
      for (size_t k = 0; k < sum.size(); ++k)
        sum[k] += 0.5f + float(k);
    ASSERT_TRUE(
        writeNpz(std::vector{tensorOf({"x", format::ElementType::F32, {1, 4}}, ramp(4, 0.5f, 1))}, folder / "x.npz")
            .ok());
    wscRun({folder / "m.wse", "--entry", "step", "--samples", "3", "--input", folder / "x.npz", "--state-in",
            folder / "s.npz", "--state-out", folder / "s.npz", "--quiet"});
    auto states = readNpz(folder / "s.npz");
    ASSERT_TRUE(states.ok()) << states.status();
    EXPECT_EQ(floatsOf(states->at(0)), sum) << target;

    // A file without the variable, or with one of another shape, is refused.
    std::string error;
    ASSERT_TRUE(
        writeNpz(std::vector{tensorOf({"other", format::ElementType::F32, {1, 4}}, sum)}, folder / "wrong.npz").ok());
    EXPECT_EQ(wscRun({folder / "m.wse", "--entry", "read", "--state-in", folder / "wrong.npz"}, &error), 1);
    EXPECT_NE(error.find("no state variable other; there are: total"), std::string::npos) << error;
    ASSERT_TRUE(
        writeNpz(std::vector{tensorOf({"total", format::ElementType::F32, {4}}, sum)}, folder / "wrong.npz").ok());
    EXPECT_EQ(wscRun({folder / "m.wse", "--entry", "read", "--state-in", folder / "wrong.npz"}, &error), 1);
    EXPECT_NE(error.find("state variable total is"), std::string::npos) << error;
  }
}

TEST(State, CounterInOneSession) {
  Program program(exampleText());
  ASSERT_TRUE(program.ok()) << program.status;
  Floats a = ramp(4, 0.3f, 1.1f), b = ramp(4, -2, 0.7f);
  program.run("step", {a});
  program.run("step", {b});
  EXPECT_EQ(program.run("read"), std::vector<Floats>{add(add(Floats(4, 0.0f), a), b)});
  EXPECT_EQ(program.run("read").at(0), program.state("total"));
}

TEST(State, AllFunctionsFindAVariableInTheSamePlace) {
  Program program(exampleText());
  ASSERT_TRUE(program.ok()) << program.status;
  const auto &configurations = program.session->executable().configurations;
  ASSERT_EQ(configurations.size(), 2u);
  EXPECT_EQ(placesOf(configurations[0]).size(), 4u);
  EXPECT_EQ(placesOf(configurations[0]), placesOf(configurations[1]));
}

TEST(State, InfoShowsStatesAndEntries) {
  Program program(exampleText());
  ASSERT_TRUE(program.ok()) << program.status;
  std::string text;
  FILE *pipe = popen((std::string(WSC_TOOLS_DIR) + "/wsc-info --json " + (program.folder / "m.wse")).c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  for (int c; (c = fgetc(pipe)) != EOF;)
    text += char(c);
  EXPECT_EQ(pclose(pipe), 0);
  for (const char *part : {R"("name": "step")", R"("name": "read")",
                           R"("states": [{"name": "total", "type": "f32", "shape": [1, 4], "initialised": true}])"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
}

TEST(State, ImageWithInitialValue) {
  // 5 channels and 8 rows fall unevenly on slices and tiles.
  std::string initial;
  Floats value(5 * 8 * 3);
  for (int c = 0, i = 0; c < 5; ++c) {
    initial += c ? ", [" : "[";
    for (int h = 0; h < 8; ++h) {
      initial += h ? ", [" : "[";
      for (int w = 0; w < 3; ++w, ++i) {
        value[size_t(i)] = float(i) * 0.25f - 3;
        initial += (w ? ", " : "") + std::to_string(value[size_t(i)]);
      }
      initial += "]";
    }
    initial += "]";
  }
  Program program("nn.variable @image : tensor<1x5x8x3xf32> = dense<[[" + initial + R"(]]> : tensor<1x5x8x3xf32>
    func.func @add(%x: tensor<1x5x8x3xf32>, %b: tensor<1x5x1x1xf32>) -> tensor<1x5x8x3xf32> {
      %old = nn.read @image : tensor<1x5x8x3xf32>
      %s = nn.binary add %old, %x : (tensor<1x5x8x3xf32>, tensor<1x5x8x3xf32>) -> tensor<1x5x8x3xf32>
      %t = nn.binary mul %s, %b : (tensor<1x5x8x3xf32>, tensor<1x5x1x1xf32>) -> tensor<1x5x8x3xf32>
      nn.write @image, %t : tensor<1x5x8x3xf32>
      return %old : tensor<1x5x8x3xf32>
    })");
  ASSERT_TRUE(program.ok()) << program.status;
  EXPECT_EQ(program.state("image"), value);
  Floats x = ramp(value.size(), 1.1f, 0.3f), b = ramp(5, 0.5f, 0.75f);
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(program.run("add", {x, b}), std::vector<Floats>{value});
    for (size_t i = 0; i < value.size(); ++i)
      value[i] = (value[i] + x[i]) * b[i / 24];
    EXPECT_EQ(program.state("image"), value) << call;
  }
}

TEST(State, EveryShapeIsStoredAndLoaded) {
  for (const std::vector<int64_t> &shape : std::vector<std::vector<int64_t>>{
           {}, {1}, {7}, {2, 3}, {1, 90}, {13, 40}, {1, 3, 1, 5}, {1, 1, 9, 4}, {1, 20, 17, 3}, {1, 2, 30, 1}}) {
    std::string type = "tensor<";
    size_t count = 1;
    for (int64_t extent : shape) {
      type += std::to_string(extent) + "x";
      count *= size_t(extent);
    }
    type += "f32>";
    SCOPED_TRACE(type);
    Floats pattern(count);
    std::string bytes;
    char digits[16];
    for (size_t i = 0; i < count; ++i) {
      pattern[i] = float(i) + 0.5f;
      uint32_t bits;
      std::memcpy(&bits, &pattern[i], 4);
      for (int k = 0; k < 4; ++k) {
        std::snprintf(digits, sizeof digits, "%02X", bits >> (8 * k) & 0xFF);
        bytes += digits;
      }
    }
    Program program("nn.variable @v : " + type + "\nfunc.func @store(%x: " + type + ") {\n nn.write @v, %x : " + type +
                    "\n return\n}\nfunc.func @load() -> " + type + " {\n %0 = nn.read @v : " + type +
                    "\n return %0 : " + type + "\n}\nfunc.func @pattern() {\n %0 = nn.constant dense<\"0x" + bytes +
                    "\"> : " + type + "\n nn.write @v, %0 : " + type + "\n return\n}\nfunc.func @other(%x: " + type +
                    ") -> " + type + " {\n %0 = nn.unary neg %x : " + type + "\n return %0 : " + type + "\n}\n");
    ASSERT_TRUE(program.ok()) << program.status;
    EXPECT_EQ(program.run("load").at(0), Floats(count, 0.0f));
    Floats x = ramp(count, 3, -0.125f);
    program.run("store", {x});
    program.run("other", {x});
    EXPECT_EQ(program.state("v"), x);
    EXPECT_EQ(program.run("load").at(0), x);
    program.run("pattern");
    EXPECT_EQ(program.run("load").at(0), pattern);
    const auto &configurations = program.session->executable().configurations;
    EXPECT_EQ(placesOf(configurations[0]), placesOf(configurations[1]));
    EXPECT_EQ(placesOf(configurations[0]), placesOf(configurations[2]));
  }
}

TEST(State, RunningAverageReturnsTheNewValue) {
  Program program(R"(
    nn.variable @average : tensor<1x6xf32>
    func.func @update(%x: tensor<1x6xf32>) -> tensor<1x6xf32> {
      %keep = nn.constant dense<0.9> : tensor<f32>
      %take = nn.constant dense<0.1> : tensor<f32>
      %old = nn.read @average : tensor<1x6xf32>
      %a = nn.binary mul %old, %keep : (tensor<1x6xf32>, tensor<f32>) -> tensor<1x6xf32>
      %b = nn.binary mul %x, %take : (tensor<1x6xf32>, tensor<f32>) -> tensor<1x6xf32>
      %new = nn.binary add %a, %b : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32>
      nn.write @average, %new : tensor<1x6xf32>
      return %new : tensor<1x6xf32>
    })");
  ASSERT_TRUE(program.ok()) << program.status;
  EXPECT_EQ(program.session->executable().configurations[0].kernels.size(), 1u);
  Floats average(6, 0.0f);
  for (int call = 0; call < 4; ++call) {
    Floats x = ramp(6, float(call), 1.3f);
    for (size_t i = 0; i < 6; ++i)
      average[i] = average[i] * 0.9f + x[i] * 0.1f;
    EXPECT_EQ(program.run("update", {x}), std::vector<Floats>{average}) << call;
  }
}

TEST(State, SwapOfTwoVariables) {
  Program program(R"(
    nn.variable @u : tensor<3xf32> = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    nn.variable @v : tensor<3xf32> = dense<[4.0, 5.0, 6.0]> : tensor<3xf32>
    func.func @swap() {
      %u = nn.read @u : tensor<3xf32>
      %v = nn.read @v : tensor<3xf32>
      nn.write @u, %v : tensor<3xf32>
      nn.write @v, %u : tensor<3xf32>
      return
    }
    func.func @reset() {
      %zero = nn.constant dense<0.0> : tensor<3xf32>
      %ramp = nn.constant dense<[7.0, 8.0, 9.0]> : tensor<3xf32>
      nn.write @u, %zero : tensor<3xf32>
      nn.write @v, %ramp : tensor<3xf32>
      return
    })");
  ASSERT_TRUE(program.ok()) << program.status;
  program.run("swap");
  EXPECT_EQ(program.state("u"), (Floats{4, 5, 6}));
  EXPECT_EQ(program.state("v"), (Floats{1, 2, 3}));
  program.run("swap");
  EXPECT_EQ(program.state("u"), (Floats{1, 2, 3}));
  program.run("reset");
  EXPECT_EQ(program.state("u"), (Floats{0, 0, 0}));
  EXPECT_EQ(program.state("v"), (Floats{7, 8, 9}));
}

TEST(State, RecurrenceThroughAMatrixProduct) {
  // h := max(h·W + x, 0), a step of a recurrent network: the old value flows west, the product back east. Whole
  // numbers: sums are exact in any order.
  Program program(R"(
    nn.variable @h : tensor<1x3xf32>
    func.func @step(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
      %w = nn.constant dense<[[1.0, 2.0, 0.0], [0.0, -1.0, 1.0], [1.0, 0.0, 2.0]]> : tensor<3x3xf32>
      %h = nn.read @h : tensor<1x3xf32>
      %p = nn.matmul %h, %w : (tensor<1x3xf32>, tensor<3x3xf32>) -> tensor<1x3xf32>
      %s = nn.binary add %p, %x : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
      %r = nn.unary relu %s : tensor<1x3xf32>
      nn.write @h, %r : tensor<1x3xf32>
      return %r : tensor<1x3xf32>
    })");
  ASSERT_TRUE(program.ok()) << program.status;
  const float w[3][3] = {{1, 2, 0}, {0, -1, 1}, {1, 0, 2}};
  Floats h(3, 0.0f);
  for (int call = 0; call < 5; ++call) {
    Floats x = ramp(3, float(call) - 2, 1), next = x;
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i)
        next[j] += h[i] * w[i][j];
      next[j] = std::max(next[j], 0.0f);
    }
    h = next;
    EXPECT_EQ(program.run("step", {x}), std::vector<Floats>{h}) << call;
  }
}

TEST(State, ImageReadByAConvolutionAndWrittenByAPool) {
  Program program(R"(
    nn.variable @seen : tensor<1x2x8x8xf32>
    func.func @step(%x: tensor<1x2x16x16xf32>) -> tensor<1x3x8x8xf32> {
      %w = nn.constant dense<1.0> : tensor<3x2x3x3xf32>
      %old = nn.read @seen : tensor<1x2x8x8xf32>
      %y = nn.conv %old, %w pads [1, 1, 1, 1] : (tensor<1x2x8x8xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x8x8xf32>
      %p = nn.pool max %x kernel [2, 2] strides [2, 2] : (tensor<1x2x16x16xf32>) -> tensor<1x2x8x8xf32>
      nn.write @seen, %p : tensor<1x2x8x8xf32>
      return %y : tensor<1x3x8x8xf32>
    })",
                  "mesh-24x24");
  ASSERT_TRUE(program.ok()) << program.status;
  Floats seen(2 * 8 * 8, 0.0f);
  for (int call = 0; call < 2; ++call) {
    Floats x(2 * 16 * 16), expected(3 * 8 * 8, 0.0f);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = float(int(i * 37 + size_t(call) * 11) % 23 - 9);
    for (int o = 0; o < 3; ++o)
      for (int h = 0; h < 8; ++h)
        for (int c = 0; c < 2; ++c)
          for (int w = 0; w < 8; ++w)
            for (int dy = -1; dy <= 1; ++dy)
              for (int dx = -1; dx <= 1; ++dx)
                if (h + dy >= 0 && h + dy < 8 && w + dx >= 0 && w + dx < 8)
                  expected[size_t(o * 64 + h * 8 + w)] += seen[size_t(c * 64 + (h + dy) * 8 + w + dx)];
    EXPECT_EQ(program.run("step", {x}), std::vector<Floats>{expected}) << call;
    for (int c = 0; c < 2; ++c)
      for (int h = 0; h < 8; ++h)
        for (int w = 0; w < 8; ++w) {
          const float *at = &x[size_t(c * 256 + h * 32 + w * 2)];
          seen[size_t(c * 64 + h * 8 + w)] = std::max(std::max(at[0], at[1]), std::max(at[16], at[17]));
        }
    EXPECT_EQ(program.state("seen"), seen) << call;
  }
}

TEST(State, KernelsOfOneNameInTwoFunctionsKeepTheirOwnWeights) {
  Program program(R"(
    func.func @double(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %w = nn.constant dense<[[2.0, 0.0], [0.0, 2.0]]> : tensor<2x2xf32>
      %y = nn.matmul %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
      return %y : tensor<1x2xf32>
    }
    func.func @triple(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %w = nn.constant dense<[[3.0, 0.0], [0.0, 3.0]]> : tensor<2x2xf32>
      %y = nn.matmul %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
      return %y : tensor<1x2xf32>
    })");
  ASSERT_TRUE(program.ok()) << program.status;
  EXPECT_EQ(program.run("double", {{1, 5}}), (std::vector<Floats>{{2, 10}}));
  EXPECT_EQ(program.run("triple", {{1, 5}}), (std::vector<Floats>{{3, 15}}));
}

TEST(State, EveryPhaseResumesToTheSameExecutable) {
  Program program(exampleText());
  ASSERT_TRUE(program.ok()) << program.status;
  auto bytes = [](const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  int phases = 0;
  for (const auto &file : std::filesystem::directory_iterator(program.folder / "phases")) {
    driver::CompileOptions options;
    options.model = file.path();
    options.output = program.folder / "again.wse";
    options.target = "mesh-12x12";
    std::string stem = file.path().stem();
    options.from = driver::findPhase(stem.substr(stem.find('-') + 1));
    ASSERT_TRUE(options.from) << stem;
    auto report = driver::compile(options);
    ASSERT_TRUE(report.ok()) << stem << ": " << report.status();
    EXPECT_EQ(bytes(program.folder / "again.wse"), bytes(program.folder / "m.wse")) << stem;
    ++phases;
  }
  EXPECT_EQ(phases, 7);
}

} // namespace
} // namespace wsc::test
