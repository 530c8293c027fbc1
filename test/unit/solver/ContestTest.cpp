// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ISPD 2020 contest: published shapes of kernels, a graph of our own with every refusal, and the organisers'
// example where it is present (the folder named by the environment variable WSC_ISPD2020).
#include "compiler/solver/contest/Contest.h"
#include "test/unit/solver/TestUtil.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace wsc::solver::contest;
using wsc::solver::test::message;

namespace {

std::string graphText(const std::string &nodes, const std::string &connections = "") {
  return "(*\ntest=own-graph\nwidth=300\nheight=200\nwdeltat=1\nwlength=2\nwadapter=0\nmemlimit=9000\n*)\n\n(* Node "
         "Definitions *)\n" +
         nodes + "\n(* Connectivity *)\n" + connections;
}

Problem parse(const std::string &text) {
  absl::StatusOr<Problem> problem = parseKgraph(text);
  EXPECT_TRUE(problem.ok()) << message(problem.status());
  return problem.ok() ? *problem : Problem();
}

TEST(Contest, ShapesAsPublished) {
  Problem problem = parse(graphText("dblock[ 1] f=256 h=56 w=56 name='k1'\ncblock[2] f=512 h=56 w=56 name='k02'\n"
                                    "dblock[3]\tf=512 h=28 w=28 name='k3'"));
  ASSERT_EQ(problem.kernels.size(), 3u);
  EXPECT_EQ(problem.kernels[1].name, "k2");
  auto expect = [&](int kernel, const Execution &execution, int height, int width, int time, int memory) {
    Shape shape = shapeOf(problem.kernels[kernel], execution);
    EXPECT_EQ(shape.height, height);
    EXPECT_EQ(shape.width, width);
    EXPECT_EQ(shape.time.value(), time);
    EXPECT_EQ(shape.memory.value(), memory);
  };
  expect(0, {4, 4, {8, 8, 8}, {8, 64, 16}}, 144, 264, 50176, 3264);
  expect(1, {4, 4, {8, 8, 8, 8}, {32, 32, 8, 19}}, 144, 273, 50176, 6144);
  expect(2, {4, 4, {8, 8, 8}, {8, 32, 8}}, 144, 144, 50176, 4160);
}

TEST(Contest, FractionalTimesStayExact) {
  Problem problem = parse(graphText("conv[1] W=5 H=5 R=3 S=3 C=7 K=3 T=2 U=2 name='k1'"));
  ASSERT_EQ(problem.kernels.size(), 1u);
  Shape shape = shapeOf(problem.kernels[0], {2, 5, {7}, {2}});
  EXPECT_EQ(shape.height, 80);
  EXPECT_EQ(shape.width, 6);
  // ⌈5/2⌉·1·1·⌈3/2⌉·9/4 = 13.5; memory 1·1.5·9 + (7/5)(7/2)·1.5 = 20.85
  EXPECT_EQ(shape.time.value(), 13.5);
  EXPECT_DOUBLE_EQ(shape.memory.value(), 20.85);
}

const char *kNodes = "input[0] n=[ 8 8 4 ] name='k0'\nconv[1] W=8 H=8 R=1 S=1 C=4 K=6 T=1 U=1 name='k1'\n"
                     "conv[2] W=8 H=8 R=3 S=3 C=6 K=6 T=1 U=1 name='k2'\noutput[3] n=[8 8 6] name='k3'\n";
const char *kConnections = "input[0]:_ -> conv[1]:x, shape:[8][8][4]\nconv[1]:y\t->\tconv[2]:x, shape:[8][8][6]\n"
                           "conv[2]:y -> output[3]:_, shape:[8][8][6]";

std::string paintText(const std::string &second) {
  return "include \"common.paint\"\nk01 = conv( 8 8 4 6 1 1 1 1 2 2 4 3 )\nk01 : name('k01)\nk01 : place(0 0 R0)\n"
         "k2 = conv( 8 8 6 6 3 3 1 1 2 2 3 2 )\nk2 : name('k2)\nk2 : place(" +
         second + ")\nkmap = union( k01 k2 )";
}

TEST(Contest, ScoresAPlacement) {
  Problem problem = parse(graphText(kNodes, kConnections));
  ASSERT_EQ(problem.kernels.size(), 4u);
  absl::StatusOr<Solution> solution = parsePaint(paintText("9 3 R90"), problem);
  ASSERT_TRUE(solution.ok()) << message(solution.status());
  EXPECT_TRUE(solution->verify(problem).ok()) << message(solution->verify(problem));
  Score score = evaluate(problem, *solution);
  // k1: 9 wide, 20 high at (0, 0); k2 rotated: 16 wide, 6 high at (9, 3). Centres (4.5, 10) and (17, 6).
  EXPECT_EQ(score.placed, 2);
  EXPECT_EQ(score.boundingWidth, 25);
  EXPECT_EQ(score.boundingHeight, 20);
  EXPECT_EQ(score.doubleWire, 33);
  EXPECT_EQ(score.time.value(), 864); // k2: 4·4·2·3·9
  ASSERT_TRUE(score.cost.has_value());
  EXPECT_EQ(*score.cost, 864 + 33);
  absl::StatusOr<Solution> again = parsePaint(printPaint(problem, *solution), problem);
  ASSERT_TRUE(again.ok()) << message(again.status());
  EXPECT_EQ(printPaint(problem, *again), printPaint(problem, *solution));
  problem.adapterWeight = 1;
  EXPECT_FALSE(evaluate(problem, *solution).cost.has_value());
}

TEST(Contest, IllegalPlacementsAreRefused) {
  Problem problem = parse(graphText(kNodes, kConnections));
  ASSERT_EQ(problem.kernels.size(), 4u);
  auto refuse = [&](const std::string &text) {
    absl::StatusOr<Solution> solution = parsePaint(text, problem);
    return solution.ok() ? message(solution->verify(problem)) : message(solution.status());
  };
  EXPECT_EQ(refuse(paintText("8 3 R0")), "kernels k1 and k2 overlap at tile (8, 3)");
  EXPECT_EQ(refuse(paintText("9 3 R0")), "");
  EXPECT_EQ(refuse(paintText("290 3 R90")), "kernel k2 takes tiles [290, 306) x [3, 9) of a grid of 300x200");
  EXPECT_EQ(refuse(paintText("9 -1 R0")), "kernel k2 is placed at (9, -1), outside a grid of 300x200");
  EXPECT_EQ(refuse(paintText("9 3 R45")), "line 7: expected 'R0' before 'R45)'");
  EXPECT_EQ(refuse("k1 = conv( 8 8 4 6 1 1 1 1 2 2 4 3 )\n"), "line 2: k1 is defined but not placed");
  EXPECT_EQ(refuse("k1 = conv( 8 8 4 6 1 1 1 1 2 2 4 3 )\nk1 : place(0 0 R0)"), "kernel k2 has no place");
  EXPECT_EQ(refuse("k1 = conv( 8 8 5 6 1 1 1 1 2 2 4 3 )"), "line 1: k1 has argument 5, in the problem 4");
  EXPECT_EQ(refuse("k1 = conv( 8 8 4 6 1 1 1 1 2 2 0 3 )"), "line 1: c is 0, expected 1 to 16384");
  EXPECT_EQ(refuse("k1 = dblock( 8 8 4 1 1 1 1 1 1 1 1 )"), "line 1: k1 is a dblock, in the problem a conv");
  EXPECT_EQ(refuse("k7 = conv( 8 )"), "line 1: the problem has no kernel 'k7'");
  problem.memoryLimit = 50;
  EXPECT_EQ(refuse(paintText("9 3 R0")), "kernel k2 needs memory 129.000, the limit is 50");
}

TEST(Contest, BrokenGraphsAreRefused) {
  auto refuse = [](const std::string &text) { return message(parseKgraph(text).status()); };
  EXPECT_EQ(refuse(""), "line 1: expected '(*' before ''");
  EXPECT_EQ(refuse("(* width=3 *)"), "line 1: the header lacks 'height'");
  EXPECT_EQ(refuse(graphText("pool[1] name='k1'")), "line 12: unknown kind of node 'pool'");
  EXPECT_EQ(refuse(graphText("dblock[1] f=8 h=2 name='k1'", "dblock[1]:y -> dblock[1]:x")),
            "line 12: dblock k1 lacks 'w'");
  EXPECT_EQ(refuse(graphText(kNodes, "conv[1]:y -> conv[9]:x")),
            "line 18: a connection names conv[9], which is not defined");
  EXPECT_EQ(refuse(graphText("cblock[1] f=8 h=7 w=8 name='k1'")),
            "line 12: k1: f=8 must be a multiple of 4, h and w of 2");
}

TEST(Contest, MutatedFilesNeverCrash) {
  wsc::solver::test::Random random(1);
  const std::string graph = graphText(kNodes, kConnections), paint = paintText("9 3 R90");
  auto mutate = [&](std::string text) {
    for (int m = 0, mutations = random.in(0, 2); m < mutations; ++m) {
      size_t at = size_t(random.in(0, int32_t(text.size()) - 1));
      if (random.in(0, 1))
        text[at] = "0123456789 -[](*)=:'>k"[random.in(0, 21)];
      else
        text.erase(at, size_t(random.in(1, 6)));
    }
    return text;
  };
  int scored = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    absl::StatusOr<Problem> problem = parseKgraph(mutate(graph));
    absl::StatusOr<Solution> solution = absl::InvalidArgumentError("no problem");
    if (problem.ok())
      solution = parsePaint(mutate(paint), *problem);
    bool legal = solution.ok() && solution->verify(*problem).ok();
    if (legal)
      EXPECT_LE(evaluate(*problem, *solution).boundingWidth, problem->width);
    (legal ? scored : refused) += 1;
  }
  std::printf("%d scored, %d refused\n", scored, refused);
  EXPECT_GT(scored, 100);
  EXPECT_GT(refused, 100);
}

std::string readFile(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Contest, OrganisersExample) {
  const char *folder = std::getenv("WSC_ISPD2020");
  if (!folder)
    GTEST_SKIP() << "WSC_ISPD2020 does not name the contest's folder";
  for (char graph : std::string("ADEHIJKMOPQS")) {
    absl::StatusOr<Problem> problem = parseKgraph(readFile(std::string(folder) + "/benchmarks/" + graph + ".kgraph"));
    EXPECT_TRUE(problem.ok()) << graph << ": " << message(problem.status());
  }
  Problem problem = parse(readFile(std::string(folder) + "/benchmarks/D.kgraph"));
  absl::StatusOr<Solution> solution =
      parsePaint(readFile(std::string(folder) + "/example_full-balanced-router.paint"), problem);
  ASSERT_TRUE(solution.ok()) << message(solution.status());
  EXPECT_TRUE(solution->verify(problem).ok()) << message(solution->verify(problem));
  Score score = evaluate(problem, *solution);
  EXPECT_EQ(score.placed, 52);
  EXPECT_EQ(score.boundingWidth, 623);
  EXPECT_EQ(score.boundingHeight, 632);
  EXPECT_EQ(score.time.value(), 56448);
  EXPECT_NEAR(score.memory.value(), 9272.889, 0.0005);
  EXPECT_EQ(score.doubleWire, 10887);
  EXPECT_EQ(*score.cost, 61891.5);
}

} // namespace
