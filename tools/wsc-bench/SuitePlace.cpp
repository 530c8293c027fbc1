// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suite `place`: every line of a solution's report is a figure; the bound stands beside the value. Text problems,
// solved by every algorithm of their kind, and .kgraph files of the ISPD 2020 contest.
#include "runtime/session/TensorFile.h"
#include "tools/wsc-bench/Bench.h"
#include "tools/wsc-place/Problems.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace wsc::bench {

namespace {

// Adds the figures of one solution under `name`.
void addFigures(const std::string &name, const place::Result &solved, double seconds, Results &results) {
  // "NAME NUMBER [UNIT…]"; "NAME-bound" or "bound" belongs to what came before.
  std::vector<Result> figures;
  for (const auto &view : absl::StrSplit(solved.report, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(std::string(view), ' ');
    if (words.size() < 2)
      continue;
    char *end = nullptr;
    const double value = std::strtod(words[1].c_str(), &end);
    if (end == words[1].c_str() || *end != 0)
      continue;
    if (!figures.empty() &&
        (words[0] == "bound" || absl::StrCat(name, ".", words[0]) == figures.back().name + "-bound"))
      figures.back().bound = value;
    else if (words.size() == 4 && words[2] == "of") // of how many
      figures.push_back({absl::StrCat(name, ".", words[0]), value, "", std::strtod(words[3].c_str(), nullptr), {}});
    else
      figures.push_back(
          {absl::StrCat(name, ".", words[0]), value, words.size() > 2 ? words[2] : std::string(), {}, {}});
  }
  for (Result &figure : figures)
    results.add(std::move(figure));
  results.add({name + ".seconds", seconds, "s", {}, {}});
}

absl::Status benchPlace(const std::string &path, const Options &options, Results &results) {
  absl::StatusOr<std::string> problem = readFile(path);
  if (!problem.ok())
    return problem.status();
  const std::string name = std::filesystem::path(path).stem().string();
  auto measure = [&](const std::string &figures, auto solve) -> absl::Status {
    const auto start = std::chrono::steady_clock::now();
    absl::StatusOr<place::Result> solved = solve();
    if (!solved.ok())
      return absl::Status(solved.status().code(), absl::StrCat(path, ": ", std::string(solved.status().message())));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    addFigures(figures, *solved, seconds, results);
    return absl::OkStatus();
  };
  if (std::filesystem::path(path).extension() == ".kgraph") {
    solver::contest::SolveOptions contest;
    contest.seed = options.seed;
    contest.threads = options.threads;
    contest.seconds = options.seconds;
    return measure(name, [&] { return place::solveContest(*problem, contest); });
  }
  const std::vector<std::string> algorithms = place::algorithmsFor(*problem);
  if (algorithms.empty())
    return measure(name, [&] { return place::solveText(*problem, ""); }); // says what is wrong
  absl::Status first = absl::OkStatus(); // of the default, whose figures carry the problem's name alone
  for (const std::string &algorithm : algorithms) {
    const bool isDefault = &algorithm == &algorithms.front();
    absl::Status status = measure(isDefault ? name : absl::StrCat(name, ".", algorithm),
                                  [&] { return place::measureText(*problem, algorithm); });
    if (isDefault)
      first = status;
    else if (!status.ok()) // for smaller problems only
      results.note(absl::StrCat(algorithm, ": ", std::string(status.message())));
  }
  return first;
}

} // namespace

// A file is itself; a folder stands for the problems at and below it, by name.
static std::vector<std::string> problemsAt(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error))
    return {path};
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(path, error)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".kgraph")
      files.push_back(entry.path().string());
    else if (absl::StatusOr<std::string> text = readFile(entry.path().string());
             extension == ".txt" && text.ok() && text->rfind("wsc-problem ", 0) == 0)
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::Status runPlace(const Options &options, Results &results) {
  absl::Status all = absl::OkStatus();
  for (const std::string &path : options.paths) {
    const std::vector<std::string> files = problemsAt(path);
    if (files.empty())
      all.Update(absl::InvalidArgumentError(
          absl::StrCat(path, " holds no problems: .kgraph files, or .txt files that begin with 'wsc-problem'")));
    for (const std::string &file : files)
      all.Update(benchPlace(file, options, results));
  }
  return all;
}

} // namespace wsc::bench
