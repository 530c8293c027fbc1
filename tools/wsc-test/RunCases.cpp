// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All cases: some at a time, each in a child; lines are printed in the order of the cases whatever ends first.
#include "runtime/files/OutputFile.h"
#include "runtime/format/Disassembly.h"
#include "runtime/session/TensorFile.h"
#include "runtime/target/Target.h"
#include "tools/support/Child.h"
#include "tools/support/CommandLine.h"
#include "tools/support/Json.h"
#include "tools/wsc-test/Test.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <optional>
#include <regex>
#include <set>
#include <thread>
#include <unistd.h>

namespace wsc::test_tool {

namespace json = llvm::json;

namespace {

// Why a case cannot be judged; empty if it can.
std::string skipReason(const tools::Case &test) {
  if (test.model.empty())
    return "no model.onnx, graph.pb or SavedModel";
  if (test.dataSets.empty())
    return "no test_data_set_0";
  std::error_code code;
  for (const std::string &folder : test.dataSets)
    for (const char *name : {"output_0.pb", "output_0.npy"})
      if (std::filesystem::exists(folder + "/" + name, code))
        return "";
  return "no expected outputs (output_0.pb) in its data sets";
}

json::Object withoutRun(const char *status, const std::string &reason) {
  return json::Object{{"status", status},
                      {"where", "-"},
                      {"max_error", nullptr},
                      {"relative_l2", nullptr},
                      {"reason", tools::text(reason)},
                      {"data_sets", 0},
                      {"outputs", json::Array()}};
}

// The last words of a child that did not come to its end.
std::string lastWords(const std::string &errors) {
  for (std::vector<std::string> lines = absl::StrSplit(errors, '\n'); !lines.empty(); lines.pop_back())
    if (const std::string &line = lines.back();
        line.find("ssertion") != std::string::npos || line.find("rror") != std::string::npos)
      return ": " + line;
  return "";
}

json::Object judge(const tools::Case &test, const Options &options, const std::string &temporary) {
  if (const std::string reason = skipReason(test); !reason.empty())
    return withoutRun("SKIP", reason);
  const std::string executable = temporary + "/model.wse";
  auto child = tools::runChild({tools::ownPath(), kOneCase, requestFor(test, options, executable)}, options.timeout);
  if (!child.ok())
    return withoutRun("FAIL", std::string(child.status().message()));
  std::string stage = "starting";
  std::optional<json::Object> outcome;
  for (const auto &view : absl::StrSplit(child->output, '\n')) {
    const std::string line(view);
    if (line.rfind("stage ", 0) == 0)
      stage = line.substr(6);
    else if (!line.empty() && line[0] == '{')
      if (auto object = tools::parseObject(line); object.ok())
        outcome = *std::move(object);
  }
  json::Object result;
  if (child->timedOut)
    result = withoutRun("FAIL", absl::StrCat("time-out: not done after ", options.timeout, " s, while ", stage));
  else if (!child->ok() || !outcome)
    result = withoutRun("FAIL", absl::StrCat("crash: ", child->describe(), " while ", stage, lastWords(child->errors)));
  else
    result = std::move(*outcome);
  result["seconds"] = child->seconds;
  return result;
}

absl::StatusOr<std::set<std::string>> readList(const std::string &path) {
  absl::StatusOr<std::string> content = readFile(path);
  if (!content.ok())
    return content.status();
  std::set<std::string> names;
  for (const auto &view : absl::StrSplit(*content, '\n')) {
    std::string line(view);
    line = line.substr(0, line.find('#'));
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string::npos)
      names.insert(line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1));
  }
  return names;
}

class Report {
public:
  Report(const Options &options, size_t cases) : options(options), waiting(cases) {}

  // Cases end in any order; what can be printed in order is.
  void done(size_t index, const tools::Case &test, json::Object result) {
    std::lock_guard<std::mutex> lock(mutex);
    result["name"] = tools::text(test.name);
    result["folder"] = tools::text(test.folder);
    waiting[index] = std::move(result);
    ++ended;
    for (; next < waiting.size() && waiting[next]; ++next)
      print(*waiting[next]);
    if (isatty(STDERR_FILENO) && !options.quiet)
      std::fprintf(stderr, "\r%zu of %zu%s", ended, waiting.size(), ended == waiting.size() ? "\n" : "");
  }

  int counts[3] = {0, 0, 0}; // passed, failed, skipped

  json::Value json() {
    json::Array cases;
    for (auto &result : waiting)
      cases.push_back(std::move(*result));
    return json::Object{{"target", options.target},
                        {"engine", options.engine},
                        {"rtol", options.rtol},
                        {"atol", options.atol},
                        {"l2", options.l2 < 0 ? json::Value(nullptr) : json::Value(options.l2)},
                        {"passed", counts[0]},
                        {"failed", counts[1]},
                        {"skipped", counts[2]},
                        {"cases", std::move(cases)}};
  }

private:
  static std::string error(const json::Object &result, const char *key) {
    const json::Value *value = result.get(key);
    return value && value->kind() != json::Value::Null ? absl::StrFormat("%.3g", tools::toNumber(value, 0))
                                                       : std::string("-");
  }

  void print(const json::Object &result) {
    const std::string status = result.getString("status").value_or("FAIL").str();
    ++counts[status == "PASS" ? 0 : status == "SKIP" ? 2 : 1];
    if (options.quiet && status != "FAIL")
      return;
    const std::string reason = result.getString("reason").value_or("").str();
    std::printf("%s %s %s %s %s%s%s\n", status.c_str(), result.getString("name")->str().c_str(),
                result.getString("where").value_or("-").str().c_str(), error(result, "max_error").c_str(),
                error(result, "relative_l2").c_str(), reason.empty() ? "" : " ", format::printable(reason).c_str());
    if (const json::Array *outputs = result.getArray("outputs"); outputs && options.verbose)
      for (const json::Value &output : *outputs)
        std::printf("  data set %lld: %s\n", (long long)output.getAsObject()->getInteger("data_set").value_or(0),
                    output.getAsObject()->getString("text").value_or("").str().c_str());
    std::fflush(stdout);
  }

  const Options &options;
  std::mutex mutex;
  std::vector<std::optional<json::Object>> waiting;
  size_t next = 0, ended = 0;
};

// The cases of all folders that --filter and --list leave; names no folder has are added as cases without a folder.
absl::StatusOr<std::vector<tools::Case>> choose(const Options &options, std::vector<std::string> &missing) {
  std::vector<tools::Case> chosen;
  std::set<std::string> listed, seen;
  if (!options.list.empty()) {
    auto names = readList(options.list);
    if (!names.ok())
      return names.status();
    listed = *std::move(names);
  }
  const std::regex filter(options.filter);
  size_t all = 0;
  for (const std::string &folder : options.folders) {
    auto cases = tools::findCases(folder);
    if (!cases.ok())
      return cases.status();
    all += cases->size();
    for (tools::Case &test : *cases) {
      if (!options.list.empty()) {
        const std::string last = test.name.substr(test.name.rfind('/') + 1);
        const std::string name = listed.count(test.name) ? test.name : last;
        if (!listed.count(name))
          continue;
        seen.insert(name);
      }
      if (options.filter.empty() || std::regex_search(test.name, filter))
        chosen.push_back(std::move(test));
    }
  }
  std::set_difference(listed.begin(), listed.end(), seen.begin(), seen.end(), std::back_inserter(missing));
  if (chosen.empty() && missing.empty())
    return absl::NotFoundError(
        all == 0 ? std::string("no folder with model.onnx, graph.pb or test_data_set_0 below the given ones")
                 : absl::StrCat("--filter and --list leave none of ", all, " cases"));
  return chosen;
}

int fail(const absl::Status &status) { return tools::fail(std::string(status.message())); }

} // namespace

int runCases(const Options &given) {
  Options options = given;
  const files::Output outputs[] = {{"--json", options.json}};
  const std::string inputs[] = {options.list, options.target};
  if (absl::Status status = files::checkOutputs(outputs, inputs); !status.ok())
    return fail(status);
  if (options.threads == 0)
    options.threads = std::max(1, int(std::thread::hardware_concurrency()) / options.jobs);
  if (auto target = target::loadTarget(options.target); !target.ok())
    return fail(target.status());
  std::vector<std::string> missing;
  auto cases = choose(options, missing);
  if (!cases.ok())
    return fail(cases.status());
  tools::TemporaryFolder temporary;
  if (temporary.path.empty())
    return fail(absl::ResourceExhaustedError("cannot make a temporary folder; TMPDIR names where"));

  Report report(options, cases->size() + missing.size());
  std::atomic<size_t> nextCase = 0;
  const auto worker = [&](int number) {
    const std::string own = absl::StrCat(temporary.path, "/", number);
    std::error_code code;
    for (size_t i; (i = nextCase++) < cases->size();) {
      std::filesystem::create_directory(own, code);
      json::Object result = judge((*cases)[i], options, own);
      std::filesystem::remove_all(own, code); // also what a killed child left half-written
      report.done(i, (*cases)[i], std::move(result));
    }
  };
  std::vector<std::thread> workers;
  for (int number = 0; number < options.jobs; ++number)
    workers.emplace_back(worker, number);
  for (std::thread &thread : workers)
    thread.join();
  for (size_t i = 0; i < missing.size(); ++i) {
    tools::Case test;
    test.name = missing[i];
    report.done(cases->size() + i, test,
                withoutRun("FAIL", absl::StrCat("named in ", options.list, ", but not among the folders searched")));
  }
  std::printf("%d passed, %d failed, %d skipped\n", report.counts[0], report.counts[1], report.counts[2]);
  if (!options.json.empty())
    if (absl::Status status = tools::writeJson(report.json(), options.json); !status.ok())
      return fail(status);
  return std::fflush(stdout) == 0 && report.counts[1] == 0 ? 0 : 1;
}

} // namespace wsc::test_tool
