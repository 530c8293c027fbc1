// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text formats: every kept problem is solved, printed, read back and checked; broken texts are refused with their
// line; mutated texts crash nothing.
#include "compiler/solver/Text.h"
#include "compiler/solver/Allocation.h"
#include "compiler/solver/Alternatives.h"
#include "compiler/solver/Colouring.h"
#include "compiler/solver/Lines.h"
#include "compiler/solver/Pbqp.h"
#include "compiler/solver/Placement.h"
#include "compiler/solver/Routing.h"
#include "compiler/solver/Sizing.h"
#include "test/unit/solver/TestUtil.h"
#include "tools/wsc-place/Problems.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace wsc;
using wsc::solver::test::message;

namespace {

// By path below the folder of problems; those of contests and those that have no solution are other tests' concern.
std::map<std::string, std::string> keptProblems() {
  std::map<std::string, std::string> texts;
  for (const std::string folder : {"", "networks", "random"})
    for (const auto &entry : std::filesystem::directory_iterator(std::filesystem::path(WSC_PROBLEMS_DIR) / folder)) {
      if (!entry.is_regular_file() || entry.path().extension() != ".txt")
        continue;
      std::ifstream file(entry.path());
      std::ostringstream text;
      text << file.rdbuf();
      texts[(std::filesystem::path(folder) / entry.path().filename()).string()] = text.str();
    }
  return texts;
}

// Printed problem of a text of any kind; empty if it does not parse.
std::string reprint(const std::string &text) {
  std::string kind = solver::problemKind(text);
  auto print = [](const auto &problem, auto printProblem) {
    return problem.ok() ? printProblem(*problem) : std::string();
  };
  if (kind == "colouring")
    return print(solver::colouring::parseProblem(text), solver::colouring::printProblem);
  if (kind == "sizing")
    return print(solver::sizing::parseProblem(text), solver::sizing::printProblem);
  if (kind == "placement")
    return print(solver::placement::parseProblem(text), solver::placement::printProblem);
  if (kind == "routing")
    return print(solver::routing::parseProblem(text), solver::routing::printProblem);
  if (kind == "alternatives")
    return print(solver::alternatives::parseProblem(text), solver::alternatives::printProblem);
  if (kind == "allocation")
    return print(solver::allocation::parseProblem(text), solver::allocation::printProblem);
  if (kind == "lines")
    return print(solver::lines::parseProblem(text), solver::lines::printProblem);
  if (kind == "pbqp")
    return print(solver::pbqp::parseProblem(text), solver::pbqp::printProblem);
  return "";
}

TEST(Text, KeptProblemsRoundTripAndTheirSolutionsPass) {
  std::map<std::string, std::string> texts = keptProblems();
  std::map<std::string, int> ofKind;
  size_t bytes = 0;
  for (const auto &[name, text] : texts) {
    SCOPED_TRACE(name);
    ++ofKind[solver::problemKind(text)];
    bytes += text.size();
    std::string printed = reprint(text);
    EXPECT_NE(printed, "");
    EXPECT_EQ(reprint(printed), printed);
    absl::StatusOr<place::Result> solved = place::solveText(text, "");
    ASSERT_TRUE(solved.ok()) << message(solved.status());
    absl::StatusOr<place::Result> checked = place::checkText(text, solved->solution);
    ASSERT_TRUE(checked.ok()) << message(checked.status());
    EXPECT_EQ(checked->report, solved->report);
    // Every algorithm finds a solution that passes verify().
    const std::vector<std::string> algorithms = place::algorithmsFor(text);
    EXPECT_FALSE(algorithms.empty());
    for (const std::string &algorithm : algorithms) {
      absl::StatusOr<place::Result> measured = place::measureText(text, algorithm);
      const bool forSmaller = message(measured.status()).find("the exact algorithm takes up to") != std::string::npos;
      EXPECT_TRUE(measured.ok() || forSmaller) << algorithm << ": " << message(measured.status());
    }
    // The printed problem is the same problem.
    absl::StatusOr<place::Result> again = place::solveText(printed, "");
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->solution, solved->solution);
    // "value V …" and "bound B …": what is reached, and what no solution can beat.
    long long value = -1, bound = -1;
    ASSERT_EQ(std::sscanf(solved->report.c_str(), "value %lld %*s bound %lld", &value, &bound), 2) << solved->report;
    EXPECT_LE(bound, value);
    EXPECT_GT(bound, 0);
  }
  for (const char *kind :
       {"sizing", "placement", "routing", "alternatives", "colouring", "allocation", "lines", "pbqp"})
    EXPECT_GE(ofKind[kind], 3) << kind;
  EXPECT_LT(bytes, 1'000'000u);
}

TEST(Text, EveryFieldSurvivesPrinting) {
  for (const char *text : {
           "wsc-problem colouring 1\nmesh 8 9\ncolours 4 2\nitem \"a b\" fixed 7\nrect 1 6 2 3 step 2\nitem x\n",
           "wsc-problem sizing 1\ncolumns 10\nsram 99\nkernel k\ncandidate 1 2 3 \"\"\n",
           "wsc-problem placement 1\nmesh 4 5\nkernel a 3 2 pin 1\nkernel b 4 1\nedge 0 1 77\nedge 0 1 5 east\n",
           "wsc-problem routing 1\nmesh 4 5\ncapacity 6\nfixed 0 1 3 1 5\nnet \"q\\\"\\\\\\n#\" 1 2 3\nsink 4 0 2\n",
           "wsc-problem alternatives 1\nmesh 4 5\ncapacity 6\nfixed 0 1 3 1 5\nitem i\noption \"\" 3\nload 1 1 1 "
           "4 7\n",
           "wsc-problem pbqp 1\nnode \"a b\" 1 2\nnode c 3\nedge 0 1 4 5\nedge 1 0 6 7\n",
           "wsc-problem lines 1\nmesh 4 5\ndead 1 2\ndead-row 3\ndead-col 0\n",
           "wsc-problem allocation 1\nrange 1 90\nbanks 32\nbuffer b 5 align 4 bank 2 life -3 9\nbuffer c 6 life 2 "
           "forever\n",
       })
    EXPECT_EQ(reprint(text), text);
}

TEST(Text, WordsCommentsAndBlankLines) {
  EXPECT_EQ(
      reprint("# leading comment\n\n  wsc-problem\tsizing 1 # kind\r\ncolumns 3\r\n\nkernel a#b\ncandidate 1 1 1 t"),
      "wsc-problem sizing 1\ncolumns 3\nkernel a\ncandidate 1 1 1 t\n");
}

TEST(Text, BrokenTextsAreRefusedWithTheirLine) {
  auto error = [](const std::string &text) { return message(place::solveText(text, "").status()); };
  std::string head = "wsc-problem placement 1\n";
  EXPECT_EQ(error(""), "line 1: expected 'wsc-problem KIND 1' with KIND one of colouring, sizing, placement, routing, "
                       "alternatives, allocation, lines, pbqp");
  EXPECT_EQ(error(head + "mesh 4\n"), "line 2: 'mesh' lacks its columns");
  EXPECT_EQ(error(head + "\n# c\nmesh 4 x\n"), "line 4: columns is 'x', expected an integer");
  EXPECT_EQ(error(head + "mesh 4 5 6\n"), "line 2: unexpected '6' after 'mesh'");
  EXPECT_EQ(error(head + "mesh 4 9999999999\n"), "line 2: columns is 9999999999, expected -2147483648 to 2147483647");
  EXPECT_EQ(error(head + "mesch 4 5\n"), "line 2: unknown keyword 'mesch', expected 'mesh', 'kernel' or 'edge'");
  EXPECT_EQ(error(head + "kernel \"a 1 1\n"), "line 2: a quoted word does not end on its line");
  EXPECT_EQ(error("wsc-problem routing 1\nsink 1 2 3\n"), "line 2: 'sink' before the first 'net'");
  std::string problem = head + "mesh 2 9\nkernel a 1 1\nkernel b 1 2\n";
  auto solutionError = [&](const std::string &text) { return message(place::checkText(problem, text).status()); };
  EXPECT_EQ(solutionError("wsc-solution routing 1\n"),
            "line 1: the first line is 'wsc-solution routing 1', expected 'wsc-solution placement 1'");
  EXPECT_EQ(solutionError("wsc-solution placement 1\nkernel b 0 0\n"),
            "line 2: kernel 'b' stands where the problem has 'a'");
  EXPECT_EQ(solutionError("wsc-solution placement 1\nkernel a 0 0\nkernel b 0 1\nkernel c 0 5\n"),
            "line 4: kernel 'c' is one more than the problem has, 2");
  EXPECT_EQ(solutionError("wsc-solution placement 1\nkernel a 0 0\n"),
            "placement: solution has 1 places for 2 kernels");
  EXPECT_EQ(
      message(place::solveText(problem, "magic").status()),
      "no algorithm 'magic' for this kind of problem; there are: default, local-search, exact, in-order, restarts");
}

// What check() refuses is told with the line that makes it so.
TEST(Text, IllFormedProblemsAreRefusedWithTheirLine) {
  const std::pair<const char *, const char *> cases[] = {
      {"sizing 1\ncolumns 4\nkernel a\nkernel b\ncandidate 1 2 3 t\n", "line 3: sizing: kernel a has no candidates"},
      {"sizing 1\ncolumns -4\nkernel a\ncandidate 1 2 3 t\n",
       "line 2: sizing: column limit -4 must be between 0 and 1099511627776"},
      {"sizing 1\ncolumns 4\nkernel a\ncandidate 1 2 3 t\ncandidate 1 -2 3 u\n",
       "line 5: sizing: kernel a, candidate u: -2 cycles must be between 0 and 1099511627776"},
      {"placement 1\nkernel a 1 1\n", "line 1: placement: mesh 0x0 must have 1 to 65536 rows and columns"},
      {"placement 1\nmesh 4 9\nkernel a 1 1\nkernel b 5 1\n",
       "line 4: placement: kernel b has 5x1 cores, the mesh 4x9"},
      {"placement 1\nmesh 4 9\nkernel a 1 2 pin 3\nkernel b 1 2 pin 4\n",
       "line 4: placement: kernels a and b are both pinned to column 4"},
      {"placement 1\nmesh 4 9\nkernel a 1 1\nkernel b 1 1\nedge 0 1 5 east\nedge 1 0 5 east\nedge 0 1 6\n",
       "line 6: placement: eastward edge b -> a closes a circle; in a circle some edge must flow west"},
      {"routing 1\nmesh 4 9\nnet n 1 2 3\nsink 9 0 1\n",
       "line 4: routing: net n has sink column 9 rows 0 to 1; it must be non-empty, inside mesh 4x9"},
      {"routing 1\nmesh 4 9\nnet n 1 2 3\n", "line 3: routing: net n has no sinks"},
      {"alternatives 1\nmesh 4 9\ncapacity 5\nitem i\noption o -1\n",
       "line 5: alternatives: item i: option o costs -1 links, must be 0 to 2^24"},
      {"colouring 1\nmesh 4 9\ncolours 1 2 1\n", "line 3: colouring: colour 1 is listed twice"},
      {"allocation 1\nrange 0 64\nbuffer w 8 align 3\n",
       "line 3: allocation: buffer w has alignment 3, must be a power of two up to 1099511627776"},
      {"pbqp 1\nnode a 1 2\nnode b 3\nedge 0 1 4\n",
       "line 4: pbqp: edge 0 1 has 1 costs, its nodes have 2 pairs of options"},
      {"lines 1\nmesh 4 9\ndead 4 0\n", "line 3: dead core (4, 0) lies outside the mesh of 4 x 9"},
  };
  for (const auto &[text, expected] : cases)
    EXPECT_EQ(message(place::solveText(std::string("wsc-problem ") + text, "").status()), expected);
}

TEST(Text, MutatedTextsNeverCrash) {
  solver::test::Random random(1);
  int parsed = 0, refused = 0;
  for (const auto &[name, text] : keptProblems())
    for (int round = 0; round < 300 && text.size() < 1000; ++round) {
      std::string mutated = text;
      for (int m = 0, mutations = random.in(1, 3); m < mutations; ++m) {
        size_t at = size_t(random.in(25, int32_t(mutated.size()) - 1));
        if (random.in(0, 1))
          mutated[at] = "0123456789 -\n\"#x"[random.in(0, 15)];
        else
          mutated.erase(at, size_t(random.in(1, 5)));
      }
      // Numbers stay short, so that no mesh of millions of routers slows the test down.
      if (reprint(mutated).find("0000000") != std::string::npos)
        continue;
      absl::StatusOr<place::Result> result = place::solveText(mutated, "");
      if (result.ok())
        EXPECT_TRUE(place::checkText(mutated, result->solution).ok());
      (result.ok() ? parsed : refused) += 1;
    }
  std::printf("%d solved, %d refused\n", parsed, refused);
  EXPECT_GT(parsed, 50);
  EXPECT_GT(refused, 50);
}

} // namespace
