// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The validation programs compute what their names say: the core engine's values on small meshes against plain loops.
// Operands are small whole numbers, so that every order of sums is exact and values are equal, not close.
#include "runtime/emulator/CoreEngine.h"
#include "test/unit/support/ProgramBuilder.h"
#include "test/validation/Run.h"

#include <gtest/gtest.h>

#include <random>

namespace wsc::validation {
namespace {

using Numbers = std::vector<double>;

Numbers random(size_t n, uint32_t seed, int scale = 1) {
  std::mt19937 rng(seed);
  std::uniform_int_distribution<int> whole(-3, 3);
  Numbers numbers(n);
  for (double &number : numbers)
    number = whole(rng) * scale;
  return numbers;
}

// A program with its variables as numbers.
class Executed {
public:
  Executed(const std::string &workload, const std::string &parameters, const std::string &target = "wse2") {
    SCOPED_TRACE(workload + " " + parameters);
    auto description = target::loadTarget(target);
    EXPECT_TRUE(description.ok()) << description.status();
    auto built = buildProgram(*findWorkload(workload), parameters, *description);
    EXPECT_TRUE(built.ok()) << built.status();
    if (!built.ok())
      return;
    program = *std::move(built);
    auto made = emulator::CoreEngine::create(program.executable, {1, emulator::Schedule::Units});
    EXPECT_TRUE(made.ok()) << made.status();
    if (made.ok())
      engine = *std::move(made);
    // It also comes to an end with the target's queues.
    auto time = timeProgram(program, "cycles");
    EXPECT_TRUE(time.ok()) << time.status();
  }
  const format::TensorType &type(const std::string &name) const {
    return program.executable.states[index(name)].tensor;
  }
  size_t size(const std::string &name) const { return size_t(type(name).elements()); }
  void set(const std::string &name, const Numbers &numbers) {
    ASSERT_EQ(numbers.size(), size(name)) << name;
    ASSERT_TRUE(engine->writeState(int(index(name)), {testing::bytesOf(type(name).type, numbers)}).ok());
  }
  Numbers get(const std::string &name) const {
    return testing::valuesOf(type(name).type, engine->readState(int(index(name))).bytes);
  }
  Numbers fill(const std::string &name, uint32_t seed, int scale = 1) {
    const Numbers numbers = random(size(name), seed, scale);
    set(name, numbers);
    return numbers;
  }
  void run() {
    auto outputs = engine->run(0, {});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
  }

  Program program;
  std::unique_ptr<emulator::CoreEngine> engine;

private:
  size_t index(const std::string &name) const {
    const auto &states = program.executable.states;
    for (size_t i = 0; i < states.size(); ++i)
      if (states[i].tensor.name == name)
        return i;
    ADD_FAILURE() << "no variable " << name;
    return 0;
  }
};

// Column sums of [rows][columns].
Numbers columnSums(const Numbers &x, size_t columns) {
  Numbers sums(columns, 0);
  for (size_t i = 0; i < x.size(); ++i)
    sums[i % columns] += x[i];
  return sums;
}

TEST(Values, ReducesLeaveTheSumAtTheRoot) {
  for (const std::string dtype : {"f32", "f16"})
    for (const auto &[workload, parameters, columns] :
         std::vector<std::tuple<std::string, std::string, size_t>>{{"reduce_1d_chain", "P=2;B=1", 1},
                                                                   {"reduce_1d_chain", "P=9;B=7", 7},
                                                                   {"reduce_1d_two_phase", "P=12;B=5;group=4", 5},
                                                                   {"reduce_1d_two_phase", "P=11;B=5;group=3", 5},
                                                                   {"reduce_1d_two_phase", "P=10;B=3;group=3", 3},
                                                                   {"reduce_1d_two_phase", "P=6;B=4;group=1", 4},
                                                                   {"reduce_1d_two_phase", "P=6;B=4;group=9", 4},
                                                                   {"reduce_1d_two_phase_total", "P=13;B=2;group=5", 2},
                                                                   {"reduce_1d_tree", "P=16;B=6", 6},
                                                                   {"reduce_1d_tree", "P=13;B=6", 6},
                                                                   {"reduce_1d_tree", "P=22;B=6;radix=3", 6}}) {
      Executed run(workload, parameters + ";dtype=" + dtype);
      const Numbers x = run.fill("x", 1);
      run.run();
      Numbers root = run.get("x");
      root.resize(columns);
      EXPECT_EQ(root, columnSums(x, columns)) << workload << " " << parameters << " " << dtype;
    }
}

TEST(Values, BroadcastAndAllReduceReachEveryCore) {
  for (const std::string parameters :
       {"P=2;B=3", "P=7;B=5", "P=8;B=5;levels=1", "P=20;B=4;levels=3", "P=9;B=4;algorithm=pipelined"}) {
    Executed run("all_reduce", parameters);
    const Numbers x = run.fill("x", 2);
    run.run();
    const size_t columns = size_t(run.type("x").shape[1]);
    const Numbers sums = columnSums(x, columns), all = run.get("x");
    for (size_t i = 0; i < all.size(); ++i)
      ASSERT_EQ(all[i], sums[i % columns]) << parameters << ", element " << i;
  }
  Executed run("broadcast", "P=6;B=9");
  const Numbers x = run.fill("x", 3);
  run.run();
  const Numbers all = run.get("x");
  for (size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(all[i], x[i % 9]) << "element " << i;
}

TEST(Values, MessagesArriveUnchanged) {
  Executed relay("relay_chain", "stages=5;words=9", "wse3");
  const Numbers x = relay.fill("x", 4);
  relay.run();
  const Numbers blocks = relay.get("x");
  for (size_t i = 0; i < blocks.size(); ++i)
    ASSERT_EQ(blocks[i], x[i % 9]) << "element " << i;
  for (const std::string measure : {"trace", "tsc", "tsc, round of a probe program"}) {
    Executed message("message", "words=3;hops=4;measure=" + measure, "wse3");
    const Numbers sent = message.fill("x", 5);
    message.run();
    const Numbers got = message.get("x");
    EXPECT_TRUE(std::equal(got.begin(), got.begin() + 3, sent.begin() + 4 * 3)) << measure;
  }
}

TEST(Values, VectorInstructionsInAllForms) {
  for (const std::string form : {"one instruction", "loop of 4-element instructions", "map over 4-element tiles"})
    for (const auto &[op, value] : std::vector<std::pair<std::string, double (*)(double, double)>>{
             {"add", [](double y, double x) { return y + x; }},
             {"mul", [](double y, double x) { return y * x; }},
             {"fma", [](double y, double x) { return y + x * 0.5; }},
             {"copy", [](double, double x) { return x; }}})
      for (const size_t stride : {1, 3}) {
        Executed run("vector", "op=" + op + ";dtype=f16;n=18;form=" + form + ";stride=" + std::to_string(stride),
                     "wse3");
        const Numbers x = run.fill("x", 6), y = run.fill("y", 7);
        run.run();
        const Numbers got = run.get("y");
        for (size_t i = 0; i < got.size(); ++i)
          ASSERT_EQ(got[i], value(y[i], x[i * stride])) << op << ", " << form << ", element " << i;
      }
}

TEST(Values, MatrixVectorProducts) {
  for (const auto &[M, N] : {std::pair<size_t, size_t>{5, 7}, {12, 4}, {1, 1}}) {
    Executed run("gemv_one_core", "M=" + std::to_string(M) + ";N=" + std::to_string(N) + ";dtype=f16", "wse3");
    const Numbers a = run.fill("A", 8), x = run.fill("x", 9);
    Numbers y = run.fill("y", 10);
    run.run();
    for (size_t m = 0; m < M; ++m)
      for (size_t n = 0; n < N; ++n)
        y[m] += a[m * N + n] * x[n];
    EXPECT_EQ(run.get("y"), y) << M << " x " << N;
  }
  for (const std::string allreduce : {"k-tree", "pipelined"}) {
    // Two rows of four cores; 10 elements make tiles of 5 x 3.
    Executed run("gemv_mesh", "n=10;cores=2x4;simulated_rows=2;dtype=f16;allreduce=" + allreduce);
    const Numbers a = run.fill("A", 11), x = run.fill("x", 12);
    run.run();
    const Numbers y = run.get("y");
    for (size_t r = 0; r < 2; ++r)
      for (size_t m = 0; m < 5; ++m) {
        double sum = 0;
        for (size_t c = 0; c < 4; ++c)
          for (size_t n = 0; n < 3; ++n)
            sum += a[((r * 4 + c) * 3 + n) * 5 + m] * x[c * 3 + n];
        for (size_t c = 0; c < 4; ++c)
          ASSERT_EQ(y[(r * 4 + c) * 5 + m], sum) << allreduce << ", row " << r << ", column " << c;
      }
  }
}

TEST(Values, ProductWithChainedPartialSums) {
  for (const std::string cores : {"1x1", "2x3", "4x2"})
    for (const std::string layout : {"A column-strided in SRAM, banks=same", "A column-contiguous in SRAM"}) {
      Executed run("gemm", "cores=" + cores + ";M=5;N=7;K=9;dtype=f32;layout=" + layout + "; partial sums chained");
      const Numbers a = run.fill("A", 13), b = run.fill("B", 14);
      run.run();
      Numbers c(7 * 5, 0); // by columns, as A and B are
      for (size_t n = 0; n < 7; ++n)
        for (size_t k = 0; k < 9; ++k)
          for (size_t m = 0; m < 5; ++m)
            c[n * 5 + m] += a[k * 5 + m] * b[n * 9 + k];
      EXPECT_EQ(run.get("C"), c) << cores << " " << layout;
    }
}

// Place on the mesh of member `m` of a ring.
size_t placeOf(const std::string &workload, size_t m, size_t P) {
  if (workload != "gemm_ring")
    return m;
  return m < (P + 1) / 2 ? 2 * m : 2 * (P - m) - 1;
}

TEST(Values, MeshProducts) {
  for (const auto &[workload, more] : std::vector<std::pair<std::string, std::string>>{
           {"gemm_cannon", ""}, {"gemm_ring", ""}, {"gemm_summa", ""}, {"gemm_summa", ";steps=pipelined"}})
    for (const size_t P : {2, 3, 4, 5})
      for (const size_t t : {1, 3}) {
        Executed run(workload, "cores=" + std::to_string(P) + "x" + std::to_string(P) + ";N=" + std::to_string(P * t) +
                                   ";dtype=f16" + more);
        const size_t N = P * t;
        const Numbers a = random(N * N, 15), b = random(N * N, 16);
        // Core (i, j) of the torus begins with tiles A(i, s) and B(s, j): SUMMA s = j and i, shifts s = i + j.
        Numbers as(N * N), bs(N * N), c(N * N, 0);
        const auto element = [&](size_t i, size_t j, size_t m, size_t n) {
          return ((placeOf(workload, i, P) * P + placeOf(workload, j, P)) * t + m) * t + n;
        };
        for (size_t i = 0; i < P; ++i)
          for (size_t j = 0; j < P; ++j)
            for (size_t m = 0; m < t; ++m)
              for (size_t n = 0; n < t; ++n) {
                const bool shifts = workload != "gemm_summa";
                as[element(i, j, m, n)] = a[(i * t + m) * N + (shifts ? (i + j) % P : j) * t + n];
                bs[element(i, j, m, n)] = b[((shifts ? (i + j) % P : i) * t + m) * N + j * t + n];
                for (size_t k = 0; k < N; ++k)
                  c[element(i, j, m, n)] += a[(i * t + m) * N + k] * b[k * N + j * t + n];
              }
        run.set("A", as);
        run.set("B", bs);
        run.run();
        EXPECT_EQ(run.get("C"), c) << workload << more << ", " << P << " x " << P << " cores, tiles of " << t;
      }
}

// Two iterations on the whole grid, zeros outside.
Numbers stencilReference(Numbers grid, int rows, int cols, int radius) {
  for (int iteration = 0; iteration < 2; ++iteration) {
    Numbers next(grid.size());
    const auto at = [&](int r, int c) {
      return r < 0 || c < 0 || r >= rows || c >= cols ? 0 : grid[size_t(r * cols + c)];
    };
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) {
        double sum = 0.5 * at(r, c);
        for (int d = 1; d <= radius; ++d)
          sum += 0.125 / d * (at(r - d, c) + at(r, c - d)) - 0.0625 / d * (at(r + d, c) + at(r, c + d));
        next[size_t(r * cols + c)] = sum;
      }
    grid = next;
  }
  return grid;
}

TEST(Values, StencilIterations) {
  struct Case {
    int A, B, radius, rows, cols;
    std::string target, dtype;
  };
  for (const Case &c :
       {Case{1, 1, 1, 4, 3, "wse2", "f32"}, Case{3, 2, 2, 3, 3, "wse2", "f32"}, Case{2, 3, 1, 1, 4, "wse3", "f32"},
        Case{1, 2, 2, 5, 4, "wse2", "f32"},  // frames from beyond the neighbour
        Case{9, 12, 2, 2, 3, "wse3", "f32"}, // multiplication and addition, edges longer than the queues
        Case{1, 1, 2, 1, 1, "wse2", "f32"}}) {
    Executed run("star_stencil",
                 "tile=" + std::to_string(c.A) + "x" + std::to_string(c.B) + ";radius=" + std::to_string(c.radius) +
                     ";dtype=" + c.dtype + ";cores=" + std::to_string(c.rows) + "x" + std::to_string(c.cols),
                 c.target);
    const int height = c.rows * c.A, width = c.cols * c.B;
    const Numbers grid = random(size_t(height * width), 17, 1024); // exact through two iterations
    const int framedRows = int(run.type("u").shape[2]), pitch = int(run.type("u").shape[3]);
    const auto element = [&](int row, int col) {
      const int core = row / c.A * c.cols + col / c.B;
      return size_t((core * framedRows + c.radius + row % c.A) * pitch + c.radius + col % c.B);
    };
    Numbers u(run.size("u"), 0);
    for (int row = 0; row < height; ++row)
      for (int col = 0; col < width; ++col)
        u[element(row, col)] = grid[size_t(row * width + col)];
    run.set("u", u);
    run.run();
    run.run();
    const Numbers got = run.get("u"), want = stencilReference(grid, height, width, c.radius);
    for (int row = 0; row < height; ++row)
      for (int col = 0; col < width; ++col)
        ASSERT_EQ(got[element(row, col)], want[size_t(row * width + col)])
            << c.A << "x" << c.B << " radius " << c.radius << " on " << c.rows << " x " << c.cols << ", point " << row
            << ", " << col;
  }
}

} // namespace
} // namespace wsc::validation
