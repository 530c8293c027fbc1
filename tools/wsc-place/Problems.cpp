// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each kind of problem is a set of functions; solving and checking are written once over them.
#include "tools/wsc-place/Problems.h"

#include "compiler/solver/Allocation.h"
#include "compiler/solver/Alternatives.h"
#include "compiler/solver/Colouring.h"
#include "compiler/solver/Lines.h"
#include "compiler/solver/Pbqp.h"
#include "compiler/solver/Placement.h"
#include "compiler/solver/Routing.h"
#include "compiler/solver/Sizing.h"
#include "compiler/solver/Text.h"
#include "compiler/solver/contest/Contest.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace wsc::place {

namespace {

std::string line(const char *name, int64_t value, const char *unit) {
  return absl::StrCat(name, " ", value, " ", unit, "\n");
}

std::string statsText(const solver::Stats &stats, const char *what, const char *unit) {
  return line(what, stats.value, unit) + line("bound", stats.lowerBound, unit) +
         absl::StrFormat("gap %.2f %%\n", stats.gapPercent());
}

template <typename P, typename S> struct Kind {
  absl::StatusOr<P> (*parseProblem)(const std::string &);
  absl::StatusOr<S> (*parseSolution)(const std::string &, const P &);
  std::string (*printSolution)(const P &, const S &);
  // The first is the default.
  std::vector<std::pair<std::string, std::function<absl::StatusOr<S>(const P &)>>> algorithms;
  std::function<std::string(const P &, const S &)> report;
  // What a solution must pass beyond verify().
  std::function<absl::Status(const P &, const S &)> accept = [](const P &, const S &) { return absl::OkStatus(); };
};

// What to do with a problem: solve it, check a solution, or list the algorithms there are.
struct Request {
  std::string algorithm;                     // empty: the default
  const std::string *solution = nullptr;     // to check instead of solving
  bool mustBeAccepted = true;                // beyond verify()
  std::vector<std::string> *names = nullptr; // receives the algorithms; nothing else is done
};

constexpr char kSolutionPayload[] = "wsc.place/solution";

// An error about the text of a solution.
absl::Status ofSolution(absl::Status error) {
  error.SetPayload(kSolutionPayload, absl::Cord());
  return error;
}

template <typename P, typename S>
absl::StatusOr<Result> run(const Kind<P, S> &kind, const std::string &problemText, const Request &request) {
  const auto &[algorithm, solutionText, mustBeAccepted, algorithms] = request;
  if (algorithms) {
    for (const auto &[name, solve] : kind.algorithms)
      algorithms->push_back(name);
    return Result{};
  }
  absl::StatusOr<P> problem = kind.parseProblem(problemText);
  if (!problem.ok())
    return problem.status();
  absl::StatusOr<S> solution = absl::InternalError("not solved");
  if (solutionText) {
    solution = kind.parseSolution(*solutionText, *problem);
  } else {
    std::string names;
    for (const auto &[name, solve] : kind.algorithms) {
      if ((algorithm.empty() && names.empty()) || algorithm == name)
        solution = solve(*problem);
      absl::StrAppend(&names, names.empty() ? "" : ", ", name);
    }
    if (absl::IsInternal(solution.status()))
      return absl::InvalidArgumentError(
          absl::StrCat("no algorithm '", algorithm, "' for this kind of problem; there are: ", names));
  }
  absl::Status status = solution.status();
  if (status.ok())
    status = solution->verify(*problem);
  if (status.ok() && mustBeAccepted)
    status = kind.accept(*problem, *solution);
  if (!status.ok())
    return solutionText ? ofSolution(status) : status;
  Result result;
  if (!solutionText)
    result.solution = kind.printSolution(*problem, *solution);
  result.report = kind.report(*problem, *solution);
  return result;
}

absl::StatusOr<Result> runAnyKind(const std::string &problem, const Request &request) {
  std::string kind = solver::problemKind(problem);
  if (kind == "colouring") {
    namespace n = solver::colouring;
    return run<n::Problem, n::Solution>(
        {n::parseProblem,
         n::parseSolution,
         n::printSolution,
         {{"default", n::solve},
          {"first-fit", n::solveFirstFit},
          {"west-first", n::solveWestFirst},
          {"dsatur", n::solveDsatur},
          {"tabu", n::solveTabu}},
         [](const auto &p, const auto &s) { return statsText(n::evaluate(p, s), "value", "colours"); }},
        problem, request);
  }
  if (kind == "sizing") {
    namespace n = solver::sizing;
    return run<n::Problem, n::Solution>({n::parseProblem,
                                         n::parseSolution,
                                         n::printSolution,
                                         {{"exact", n::solve}},
                                         [](const auto &p, const auto &s) {
                                           n::SizingStats stats = n::evaluate(p, s);
                                           return statsText(stats, "value", "cycles") +
                                                  absl::StrCat("columns ", stats.columns, "\n") +
                                                  absl::StrCat("columns-bound ", stats.columnsLowerBound, "\n");
                                         }},
                                        problem, request);
  }
  if (kind == "placement") {
    namespace n = solver::placement;
    return run<n::Problem, n::Solution>(
        {n::parseProblem,
         n::parseSolution,
         n::printSolution,
         {{"default", n::solve},
          {"local-search", [](const n::Problem &p) { return n::solveLocalSearch(p); }},
          {"exact", n::solveExact},
          {"in-order", n::solveInOrder},
          {"restarts", [](const n::Problem &p) { return n::solveRestarts(p, 1); }}},
         [](const auto &p, const auto &s) { return statsText(n::evaluate(p, s), "value", "word-hops"); }},
        problem, request);
  }
  if (kind == "routing") {
    namespace n = solver::routing;
    return run<n::Problem, n::Solution>(
        {n::parseProblem,
         n::parseSolution,
         n::printSolution,
         {{"negotiated", [](const n::Problem &p) { return n::solveNegotiated(p); }}, {"combs", n::solveCombs}},
         [](const auto &p, const auto &s) {
           n::RoutingStats stats = n::evaluate(p, s);
           return statsText(stats, "value", "links") +
                  absl::StrFormat("wire-ratio %.4f\nmost-words %d %s out of (%d, %d)\n"
                                  "links-over-capacity %d\nnets %d\nnets-exact %d of %d\n",
                                  double(stats.value) / double(std::max<int64_t>(1, stats.lowerBound)), stats.mostWords,
                                  n::name(stats.direction), stats.row, stats.col, stats.linksOverCapacity,
                                  p.nets.size(), stats.netsExact, p.nets.size());
         },
         n::checkCapacity},
        problem, request);
  }
  if (kind == "alternatives") {
    namespace n = solver::alternatives;
    return run<n::Problem, n::Solution>({n::parseProblem,
                                         n::parseSolution,
                                         n::printSolution,
                                         {{"negotiated", [](const n::Problem &p) { return n::solve(p); }}},
                                         [](const auto &p, const auto &s) {
                                           n::AlternativesStats stats = n::evaluate(p, s);
                                           return statsText(stats, "value", "words") +
                                                  absl::StrCat("links-over-capacity ", stats.linksOverCapacity,
                                                               "\nitems-off-first ", stats.itemsOffFirst, " of ",
                                                               p.items.size(), "\n");
                                         }},
                                        problem, request);
  }
  if (kind == "allocation") {
    namespace n = solver::allocation;
    return run<n::Problem, n::Solution>({n::parseProblem,
                                         n::parseSolution,
                                         n::printSolution,
                                         {{"first-fit", n::solve}},
                                         [](const auto &p, const auto &s) {
                                           n::AllocationStats stats = n::evaluate(p, s);
                                           return statsText(stats, "value", "bytes") +
                                                  absl::StrCat("preferred-banks ", stats.preferredBanksMet, " of ",
                                                               stats.preferredBanks, "\n");
                                         }},
                                        problem, request);
  }
  if (kind == "lines") {
    namespace n = solver::lines;
    return run<n::Problem, n::Solution>(
        {n::parseProblem,
         n::parseSolution,
         n::printSolution,
         {{"exact", n::solve}},
         [](const auto &p, const auto &s) { return statsText(n::evaluate(p, s), "value", "cores"); }},
        problem, request);
  }
  if (kind == "pbqp") {
    namespace n = solver::pbqp;
    return run<n::Problem, n::Solution>(
        {n::parseProblem,
         n::parseSolution,
         n::printSolution,
         {{"reductions", n::solve}},
         [](const auto &p, const auto &s) { return statsText(n::evaluate(p, s), "value", "cost"); }},
        problem, request);
  }
  return absl::InvalidArgumentError("line 1: expected 'wsc-problem KIND 1' with KIND one of colouring, sizing, "
                                    "placement, routing, alternatives, allocation, lines, pbqp");
}

} // namespace

absl::StatusOr<Result> solveText(const std::string &problem, const std::string &algorithm) {
  return runAnyKind(problem, {.algorithm = algorithm});
}

absl::StatusOr<Result> measureText(const std::string &problem, const std::string &algorithm) {
  return runAnyKind(problem, {.algorithm = algorithm, .mustBeAccepted = false});
}

std::vector<std::string> algorithmsFor(const std::string &problem) {
  std::vector<std::string> names;
  if (!runAnyKind(problem, {.algorithm = "", .names = &names}).ok())
    names.clear();
  return names;
}

bool concernsSolution(const absl::Status &error) { return error.GetPayload(kSolutionPayload).has_value(); }

absl::StatusOr<Result> checkText(const std::string &problem, const std::string &solution) {
  return runAnyKind(problem, {.algorithm = "", .solution = &solution});
}

namespace {

namespace contest = solver::contest;

// Of a verified placement. Grids too large for the solver are scored without bounds.
std::string contestReport(const contest::Problem &problem, const contest::Solution &solution) {
  const absl::StatusOr<contest::Fraction> bound = contest::timeBound(problem);
  const contest::Score score = contest::evaluate(problem, solution);
  // `factor`: of the time in the value. Wires may in principle be as short as nothing.
  auto bounded = [&](const char *name, double value, double factor) {
    std::string text = absl::StrFormat("%s %.12g\n", name, value);
    if (bound.ok())
      absl::StrAppendFormat(&text, "%s-bound %.12g\n", name, factor * bound->value());
    if (bound.ok() && factor > 0)
      absl::StrAppendFormat(&text, "%s-ratio %.4f\n", name, value / (factor * bound->value()));
    return text;
  };
  std::string report = absl::StrFormat("kernels %d\nbox %dx%d\nmemory %.3f\n", score.placed, score.boundingWidth,
                                       score.boundingHeight, score.memory.value()) +
                       bounded("time", score.time.value(), 1) +
                       absl::StrFormat("wire %.12g\n", double(score.doubleWire) / 2);
  report += score.cost ? bounded("cost", *score.cost, double(problem.timeWeight))
                       : std::string("cost none: the formula of the adapters (wadapter > 0) is not public\n");
  return report;
}

} // namespace

absl::StatusOr<Result> checkContest(const std::string &kgraph, const std::string &paint) {
  absl::StatusOr<contest::Problem> problem = contest::parseKgraph(kgraph);
  if (!problem.ok())
    return problem.status();
  absl::StatusOr<contest::Solution> solution = contest::parsePaint(paint, *problem);
  if (!solution.ok())
    return ofSolution(solution.status());
  if (absl::Status status = solution->verify(*problem); !status.ok())
    return ofSolution(status);
  return Result{"", contestReport(*problem, *solution)};
}

absl::StatusOr<Result> solveContest(const std::string &kgraph, const contest::SolveOptions &options) {
  absl::StatusOr<contest::Problem> problem = contest::parseKgraph(kgraph);
  if (!problem.ok())
    return problem.status();
  absl::StatusOr<contest::Solved> solved = contest::solve(*problem, options);
  if (!solved.ok())
    return solved.status();
  if (absl::Status status = solved->solution.verify(*problem); !status.ok())
    return status;
  return Result{contest::printPaint(*problem, solved->solution),
                contestReport(*problem, solved->solution) +
                    absl::StrFormat("steps %d of %d\n", solved->steps, options.steps)};
}

} // namespace wsc::place
