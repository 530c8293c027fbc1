// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-place: solves the text problems of compiler/solver, and checks solutions.
//
// Exit codes: 0 done, 1 no solution found or the solution is refused, 2 wrong usage or unreadable input.
#include "runtime/files/OutputFile.h"
#include "tools/support/CommandLine.h"
#include "tools/support/Progress.h"
#include "tools/wsc-place/Problems.h"

#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

bool readFile(const std::string &path, std::string &text) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf() || file.peek() == std::ifstream::traits_type::eof())) {
    wsc::tools::fail("cannot read " + path);
    return false;
  }
  text = content.str();
  return true;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Example:  wsc-place lanes.txt -o lanes.solution && wsc-place --check lanes.txt lanes.solution\n\n"
               "Solves a text problem of colouring, sizing, placement, routing or SRAM allocation, or a placement of\n"
               "the ISPD 2020 contest (.kgraph to .paint), and prints the solution's value and a lower bound.\n"
               "Exit codes: 0 done, 1 no solution or solution refused, 2 wrong usage or input.",
               "wsc-place");
  wsc::tools::setUp(app);
  std::string problemPath, solutionPath, outputPath, algorithm;
  bool check = false;
  wsc::solver::contest::SolveOptions options;
  app.add_option("PROBLEM", problemPath, "text problem (first line 'wsc-problem KIND 1') or .kgraph file")->required();
  auto *solutionOption = app.add_option("SOLUTION", solutionPath, "with --check: the solution");
  auto *checkOption = app.add_flag("--check", check, "verify and evaluate SOLUTION instead of solving");
  app.add_option("-o,--output", outputPath, "file of the solution found (default: standard output)")
      ->excludes(checkOption);
  app.add_option(
         "--algorithm", algorithm,
         "colouring: default, first-fit, west-first, dsatur, tabu; sizing: exact; placement: default, local-search, "
         "exact, in-order, restarts; routing: negotiated, combs; alternatives: negotiated; allocation: first-fit; "
         "lines: exact; pbqp: reductions")
      ->excludes(checkOption);
  std::string slack = "5";
  std::vector<CLI::Option *> contestOptions{
      app.add_option("--time", options.seconds, ".kgraph: wall clock at most, seconds")
          ->check(CLI::Range(0.01, 1e6))
          ->capture_default_str(),
      app.add_option("--steps", options.steps,
                     ".kgraph: annealing runs at most; the number completed is reported, and equal numbers give equal "
                     "placements, whatever --threads and --time")
          ->check(CLI::Range(1, 1000000))
          ->capture_default_str(),
      app.add_option("--seed", options.seed, ".kgraph: another seed, another placement")->capture_default_str(),
      app.add_option("--threads", options.threads, ".kgraph: host threads")
          ->check(CLI::Range(1, 256))
          ->capture_default_str(),
      app.add_option("--time-slack", slack,
                     ".kgraph: percent by which the time term may exceed its lower bound to shorten wires; none: any, "
                     "for the least cost wherever it is")
          ->check(CLI::Range(0.0, 1e6) | CLI::IsMember({"none"}))
          ->capture_default_str()};
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
  if (contest && !algorithm.empty())
    return wsc::tools::failUsage("--algorithm is for text problems, not for .kgraph files");
  for (const CLI::Option *option : contestOptions)
    if (option->count() > 0 && (!contest || check))
      return wsc::tools::failUsage(option->get_name() + " is for solving .kgraph files");
  options.timeSlack = slack == "none" ? -1 : std::stod(slack) / 100;
  const wsc::files::Output outputs[] = {{"-o", outputPath}};
  const std::string inputs[] = {problemPath, solutionPath};
  if (absl::Status status = wsc::files::checkOutputs(outputs, inputs); !status.ok())
    return wsc::tools::fail(std::string(status.message()));
  const absl::StatusOr<wsc::place::Result> result = [&] {
    const wsc::tools::Progress progress((check ? "checking " : "solving ") + problemPath, false);
    return contest && check ? wsc::place::checkContest(problem, solution)
           : contest        ? wsc::place::solveContest(problem, options)
           : check          ? wsc::place::checkText(problem, solution)
                            : wsc::place::solveText(problem, algorithm);
  }();
  if (!result.ok()) {
    const std::string &path = wsc::place::concernsSolution(result.status()) ? solutionPath : problemPath;
    wsc::tools::fail(path + ": " + std::string(result.status().message()));
    return absl::IsInvalidArgument(result.status()) ? 2 : 1;
  }
  if (check || !outputPath.empty())
    std::cout << result->report;
  else
    std::cout << result->solution;
  if (!check && outputPath.empty())
    std::cerr << result->report;
  if (!outputPath.empty())
    if (absl::Status status = wsc::files::writeWhole(result->solution, outputPath); !status.ok())
      return wsc::tools::fail(std::string(status.message()));
  return 0;
}
