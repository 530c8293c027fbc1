// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a table of measurements, made here: laws of the programs worked out by hand, and what is refused.
#include "test/validation/MeshGemm.h"
#include "test/validation/Run.h"

#include <gtest/gtest.h>

namespace wsc::validation {
namespace {

constexpr const char *kHeader = "id,arch,kind,workload,parameters,published,unit,tolerance,note\n";

absl::StatusOr<Reproduction> row(const std::string &line) {
  auto rows = parsePublished(kHeader + line + "\n", "table");
  if (!rows.ok())
    return rows.status();
  return reproduce(rows->front());
}

// The figure of a workload in cycles; -1 if it cannot be had.
double cycles(const std::string &arch, const std::string &workload, const std::string &parameters) {
  auto made = row("x," + arch + ",sim," + workload + ",\"" + parameters + "\",100,cycles,0.1,");
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? made->timed.value : -1;
}

// wse2: set-up 7, hop 1, ramp 2, loop 13, task start 3. A stage of a reduce: ramp, hop, ramp and the slot.
TEST(Laws, Reduce) {
  for (const int P : {2, 17, 200})
    for (const int B : {1, 100, 3000})
      EXPECT_EQ(cycles("wse2", "reduce_1d_chain", "P=" + std::to_string(P) + ";B=" + std::to_string(B)),
                B + 6 * (P - 1))
          << P << ", " << B;
  // Groups of 4: three stages, then four of 4 hops; the heads begin a second instruction: set-up and task start.
  EXPECT_EQ(cycles("wse2", "reduce_1d_two_phase", "P=20;B=100;group=4"), 2 * 100 + 3 * 6 + 10 + 4 * 9);
  EXPECT_EQ(cycles("wse2", "reduce_1d_two_phase_total", "P=20;B=100;group=4"),
            cycles("wse2", "reduce_1d_two_phase", "P=20;B=100;group=4") + 7 + 187);
}

// wse3: set-up 7, hop 2, ramp 2, task start 3, time stamps 13.
TEST(Laws, RelayAndMessage) {
  for (const int stages : {1, 2, 9})
    for (const int words : {1, 64, 500})
      EXPECT_EQ(cycles("wse3", "relay_chain", "stages=" + std::to_string(stages) + ";words=" + std::to_string(words)),
                stages * (7 + words + 1 + 2 + 2 + 2 + 3) + 13)
          << stages << ", " << words;
  EXPECT_EQ(cycles("wse3", "message", "words=8;hops=5;measure=trace, any"), 8 + 1 + 4 + 5 * 2 + 3);
  EXPECT_EQ(cycles("wse3", "message", "words=8;hops=5;measure=tsc, any"), 7 + 8 + 1 + 4 + 5 * 2 + 3 + 13);
  const double near = cycles("wse3", "message", "words=1;hops=1;measure=tsc, round of a probe program");
  EXPECT_EQ(cycles("wse3", "message", "words=1;hops=40;measure=tsc, round of a probe program"), near + 39 * 2);
}

TEST(Laws, Vector) {
  EXPECT_EQ(cycles("wse3", "vector", "op=add;dtype=f16;n=1000"), 7 + 250);
  EXPECT_EQ(cycles("wse3", "vector", "op=fma;dtype=f32;n=1000"), 7 + 2000);
  EXPECT_EQ(cycles("wse2", "vector", "op=fma;dtype=f32;n=1000"), 7 + 1000);
  EXPECT_EQ(cycles("wse2", "vector", "op=fma;dtype=f32;n=1000;banks=same"), 7 + 2000);
  EXPECT_EQ(cycles("wse3", "vector", "op=fma;dtype=f16;n=320;form=loop of 32-element instructions"), 10 * (7 + 7 + 8));
  EXPECT_EQ(cycles("wse3", "vector", "op=fma;dtype=f16;n=320;form=map over 32-element tiles"), 10 * (7 + 8));
  EXPECT_EQ(cycles("wse3", "vector", "op=copy;dtype=f16;n=1000;stride=5"), 7 + 500);
  // Two threads share the slots: a batch of products, a batch of sums.
  EXPECT_EQ(cycles("wse3", "gemv_one_core", "M=20;N=40;dtype=f16"), 2 * (7 + 20 * 40 / 4));
}

// 3 columns of C: a loop, a multiplication, 3 turns of the inner loop; then 15 words over a chain of two.
TEST(Laws, ProductWithChainedPartialSums) {
  EXPECT_EQ(cycles("wse2", "gemm", "cores=2x1;M=5;N=3;K=8;dtype=f32;layout=A column-strided in SRAM, banks=same"),
            3 * (13 + (7 + 6) + 3 * (13 + 7 + 10)) + 7 + 15 + 6);
}

TEST(Laws, StencilDependsOnNeitherMeshNorIteration) {
  for (const std::string arch : {"wse2", "wse3"})
    for (const std::string tile : {"tile=2x2;radius=1", "tile=6x6;radius=2"}) {
      const double small = cycles(arch, "star_stencil", tile + ";cores=4x4"),
                   large = cycles(arch, "star_stencil", tile + ";cores=11x9");
      EXPECT_NEAR(large, small, 0.02 * small) << arch << " " << tile;
    }
}

// The tree's distance is half the row, the pipeline's stages are all of it.
TEST(Laws, TreeAllReduceIsThreeTimesAsFastOnALongRow) {
  const std::string mesh = "n=16384;cores=750x750;dtype=f16";
  EXPECT_GE(cycles("wse2", "gemv_mesh", mesh + ";allreduce=pipelined"), 3 * cycles("wse2", "gemv_mesh", mesh));
}

TEST(Laws, MeshProductsFollowTheirPolynomial) {
  auto target = target::loadTarget("wse2");
  ASSERT_TRUE(target.ok());
  double summa = 0, cannon = 0, ring = 0;
  for (auto [workload, cycles] :
       {std::pair<std::string, double *>{"gemm_summa", &summa}, {"gemm_cannon", &cannon}, {"gemm_ring", &ring}}) {
    auto time = meshGemmTime(workload, "dtype=f16", *target, 720, 1440);
    ASSERT_TRUE(time.ok()) << time.status();
    EXPECT_EQ(time->deviationCycles, 0) << workload;
    *cycles = time->cycles;
  }
  EXPECT_LT(ring, cannon);
  EXPECT_LT(2 * ring, summa);
  // The law against larger meshes, where distances are longer than tiles.
  for (const std::string workload : {"gemm_summa", "gemm_cannon", "gemm_ring"}) {
    auto law = meshGemmTime(workload, "dtype=f16", *target, 32, 64);
    ASSERT_TRUE(law.ok()) << law.status();
    EXPECT_FALSE(law->lowerBound) << workload;
    EXPECT_EQ(law->cycles, cycles("wse2", workload, "cores=32x32;N=64;dtype=f16")) << workload;
  }
}

TEST(Rows, ErrorIsRelativeAndJudgedByTheTolerance) {
  auto made = row("row-7,wse2,sim,reduce_1d_chain,P=11;B=40,125,cycles,0.2,");
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_DOUBLE_EQ(made->timed.value, 100);
  EXPECT_DOUBLE_EQ(made->error, -0.2);
  EXPECT_EQ(made->timed.engine, "cycle");
  EXPECT_FALSE(made->fitted);
  EXPECT_FALSE(row("row-7,wse2,sim,reduce_1d_chain,P=11;B=40,125,cycles,0.19,")->within);
  // In time: at the row's clock or the target's.
  EXPECT_DOUBLE_EQ(row("a,wse2,hw,gemv_mesh,n=8;cores=2x2;clock=2 GHz,1,ns,0.1,")->timed.value,
                   cycles("wse2", "gemv_mesh", "n=8;cores=2x2") / 2);
}

TEST(Rows, NamesOfFittedRowsAreMarked) {
  EXPECT_TRUE(row("relay-N1-B64,wse3,sim,relay_chain,stages=1;words=64,97,cycles,0.04,")->fitted);
  EXPECT_FALSE(row("relay-N1-B6,wse3,sim,relay_chain,stages=1;words=64,97,cycles,0.04,")->fitted);
}

TEST(Rows, WhatIsWrongIsNamed) {
  const auto message = [](const std::string &line) { return std::string(row(line).status().message()); };
  const auto expect = [&](const std::string &line, const std::string &words) {
    EXPECT_NE(message(line).find(words), std::string::npos) << line << ": " << message(line);
  };
  expect("a,wse2,sim,llm_layer,x=1,1,cycles,0.1,", "no workload llm_layer");
  expect("a,wse9,sim,vector,op=add;n=4,1,cycles,0.1,", "wse9");
  expect("a,wse2,sim,vector,op=add,1,cycles,0.1,", "parameter n is missing");
  expect("a,wse2,sim,vector,op=dot;n=4,1,cycles,0.1,", "op=dot");
  expect("a,wse2,sim,vector,op=add;n=4;form=spiral,1,cycles,0.1,", "form=spiral");
  expect("a,wse2,sim,vector,op=add;n=4;colour=red,1,cycles,0.1,", "colour=red");
  expect("a,wse2,sim,vector,op=add;n=100000,1,cycles,0.1,", "sram-overflow");
  expect("a,wse2,sim,vector,op=add;n=4,1,furlongs,0.1,", "unit furlongs");
  expect("a,wse2,sim,star_stencil,tile=90x90;radius=1,1,cycles,0.1,", "tile 90x90");
  expect("a,wse2,sim,reduce_1d_tree,P=512;B=8,1,cycles,0.1,", "radix");
  expect("a,wse2,sim,message,words=1;hops=1;measure=guess,1,cycles,0.1,", "measure=guess");
  expect("a,wse2,sim,vector,op=add;n=4,many,cycles,0.1,", "table, line 2");
}

TEST(Rows, QuotedFieldsAndMissingColumns) {
  auto rows = parsePublished(
      "arch,id,workload,kind,parameters,published,unit,tolerance\nwse2,\"a \"\"b\"\"\",w,sim,\"p=1, 2\",3,us,0.5\n",
      "table");
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ((*rows)[0].id, "a \"b\"");
  EXPECT_EQ((*rows)[0].parameters, "p=1, 2");
  EXPECT_NE(std::string(parsePublished("id,arch\n", "table").status().message()).find("no column kind"),
            std::string::npos);
}

} // namespace
} // namespace wsc::validation
