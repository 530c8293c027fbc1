// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suite `place`: every line of a solution's report is a figure; the bound stands beside the value. Text problems and
// .kgraph files of the ISPD 2020 contest.
#include "runtime/session/TensorFile.h"
#include "tools/wsc-bench/Bench.h"
#include "tools/wsc-place/Problems.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace wsc::bench {

namespace {

absl::Status benchPlace(const std::string &path, const Options &options, Results &results) {
  absl::StatusOr<std::string> problem = readFile(path);
  if (!problem.ok())
    return problem.status();
  const std::string name = std::filesystem::path(path).stem().string();
  const auto start = std::chrono::steady_clock::now();
  solver::contest::SolveOptions contest;
  contest.seed = options.seed;
  contest.threads = options.threads;
  contest.seconds = options.seconds;
  absl::StatusOr<place::Result> solved = std::filesystem::path(path).extension() == ".kgraph"
                                             ? place::solveContest(*problem, contest)
                                             : place::solveText(*problem, "");
  if (!solved.ok())
    return absl::Status(solved.status().code(), absl::StrCat(path, ": ", std::string(solved.status().message())));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // "NAME NUMBER [UNIT…]"; "NAME-bound" or "bound" belongs to what came before.
  std::vector<Result> figures;
  for (const auto &view : absl::StrSplit(solved->report, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(std::string(view), ' ');
    if (words.size() < 2)
      continue;
    char *end = nullptr;
    const double value = std::strtod(words[1].c_str(), &end);
    if (end == words[1].c_str() || *end != 0)
      continue;
    if (!figures.empty() && (words[0] == "bound" || absl::StrCat(name, ".", words[0]) == figures.back().name + "-bound"))
      figures.back().bound = value;
    else if (words.size() == 4 && words[2] == "of") // of how many
      figures.push_back({absl::StrCat(name, ".", words[0]), value, "", std::strtod(words[3].c_str(), nullptr), {}});
    else
      figures.push_back({absl::StrCat(name, ".", words[0]), value, words.size() > 2 ? words[2] : std::string(), {}, {}});
  }
  for (Result &figure : figures)
    results.add(std::move(figure));
  results.add({name + ".seconds", seconds, "s", {}, {}});
  return absl::OkStatus();
}

} // namespace

absl::Status runPlace(const Options &options, Results &results) {
  absl::Status all = absl::OkStatus();
  for (const std::string &path : options.paths)
    all.Update(benchPlace(path, options, results));
  return all;
}

} // namespace wsc::bench
