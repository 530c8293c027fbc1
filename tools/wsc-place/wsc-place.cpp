// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-place: solves the text problems of compiler/solver, and checks solutions.
//
// Exit codes: 0 done, 1 no solution found or the solution is refused, 2 wrong usage or unreadable input.
#include "tools/wsc-place/Problems.h"

#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>
#include <sstream>

namespace {

bool readFile(const std::string &path, std::string &text) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf() || file.peek() == std::ifstream::traits_type::eof())) {
    std::cerr << "wsc-place: cannot read " << path << "\n";
    return false;
  }
  text = content.str();
  return true;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Example:  wsc-place lanes.txt -o lanes.solution && wsc-place --check lanes.txt lanes.solution\n\n"
               "Solves a text problem of colouring, sizing, placement, routing or SRAM allocation and prints the\n"
               "solution's value, a lower bound and the gap between them. --check also takes placements of the ISPD "
               "2020 contest (.kgraph, .paint).\n"
               "Exit codes: 0 done, 1 no solution or solution refused, 2 wrong usage or input.");
  std::string problemPath, solutionPath, outputPath, algorithm;
  bool check = false;
  app.add_option("PROBLEM", problemPath,
                 "text problem (first line 'wsc-problem KIND 1'), or with --check a .kgraph file")
      ->required();
  auto *solutionOption = app.add_option("SOLUTION", solutionPath, "with --check: the solution");
  auto *checkOption = app.add_flag("--check", check, "verify and evaluate SOLUTION instead of solving");
  app.add_option("-o,--output", outputPath, "file of the solution found (default: standard output)")
      ->excludes(checkOption);
  app.add_option("--algorithm", algorithm,
                 "colouring: default, first-fit, west-first, dsatur; sizing: exact; placement: default, local-search, "
                 "exact, in-order; "
                 "routing: "
                 "combs; allocation: first-fit")
      ->excludes(checkOption);
  checkOption->needs(solutionOption);
  solutionOption->needs(checkOption);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  std::string problem, solution;
  if (!readFile(problemPath, problem) || (check && !readFile(solutionPath, solution)))
    return 2;
  bool contest = problemPath.size() > 7 && problemPath.compare(problemPath.size() - 7, 7, ".kgraph") == 0;
  if (contest && !check) {
    std::cerr << "wsc-place: " << problemPath << ": contest placements can be checked, not solved; use --check\n";
    return 2;
  }
  absl::StatusOr<wsc::place::Result> result = contest ? wsc::place::checkContest(problem, solution)
                                              : check ? wsc::place::checkText(problem, solution)
                                                      : wsc::place::solveText(problem, algorithm);
  if (!result.ok()) {
    std::cerr << "wsc-place: " << problemPath << ": " << std::string(result.status().message()) << "\n";
    return absl::IsInvalidArgument(result.status()) ? 2 : 1;
  }
  if (check || !outputPath.empty())
    std::cout << result->report;
  else
    std::cout << result->solution;
  if (!check && outputPath.empty())
    std::cerr << result->report;
  if (!outputPath.empty()) {
    std::ofstream file(outputPath, std::ios::binary);
    if (!(file << result->solution) || !file.flush()) {
      std::cerr << "wsc-place: cannot write " << outputPath << "\n";
      return 2;
    }
  }
  return 0;
}
