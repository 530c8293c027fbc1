// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Figures as a table and as JSON; the machine they were measured on; the models a suite is given.
#include "tools/wsc-bench/Bench.h"

#include "runtime/format/Disassembly.h"
#include "tools/support/CommandLine.h"
#include "tools/support/Json.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <thread>

namespace wsc::bench {

namespace json = llvm::json;

namespace {

std::string shown(std::optional<double> value) {
  if (!value)
    return "";
  return *value == std::floor(*value) && std::abs(*value) < 1e15 ? absl::StrFormat("%.0f", *value)
                                                                 : absl::StrFormat("%.5g", *value);
}

// "  analytic, settled", "  cycle, 3100 to 3400".
std::string told(const std::optional<Result::Interval> &interval) {
  if (!interval)
    return "";
  return absl::StrCat("  ", interval->engine,
                      interval->settled ? ", settled"
                                        : absl::StrFormat(", %.0f to %.0f", interval->low, interval->high));
}

json::Value optional(std::optional<double> value) { return value ? tools::number(*value) : json::Value(nullptr); }

} // namespace

void Results::add(Result result) {
  if (!quiet && result.reproduced) {
    if (all.empty() || !all.back().reproduced)
      std::printf("%-28s %14s %14s %-8s %9s %9s  %s\n", "row", "published", "ours", "unit", "error", "tolerance",
                  "within");
    std::printf("%-28s %14s %14s %-8s %+8.2f%% %8.4g%%  %-6s %s\n", result.name.c_str(),
                shown(result.reference).c_str(), shown(result.value).c_str(), result.unit.c_str(),
                100 * result.reproduced->error, 100 * result.reproduced->tolerance,
                result.reproduced->within ? "yes" : "NO", format::printable(result.reproduced->remark).c_str());
    std::fflush(stdout);
  } else if (!quiet) {
    if (all.empty() || all.back().reproduced)
      std::printf("%-52s %16s %-10s %16s %16s\n", "figure", "value", "unit", "bound", "reference");
    std::printf("%-52s %16s %-10s %16s %16s%s\n", result.name.c_str(), shown(result.value).c_str(), result.unit.c_str(),
                shown(result.bound).c_str(), shown(result.reference).c_str(), told(result.interval).c_str());
    std::fflush(stdout);
  }
  all.push_back(std::move(result));
}

void Results::note(const std::string &text) const {
  if (!quiet)
    std::printf("note: %s\n", format::printable(text).c_str());
}

json::Value Results::json(const std::string &suite) const {
  json::Array rows;
  for (const Result &result : all) {
    json::Object row{{"name", tools::text(result.name)},
                     {"value", tools::number(result.value)},
                     {"unit", tools::text(result.unit)},
                     {"bound", optional(result.bound)},
                     {"reference", optional(result.reference)}};
    if (result.reproduced) {
      row["tolerance"] = tools::number(result.reproduced->tolerance);
      row["error"] = tools::number(result.reproduced->error);
      row["within_tolerance"] = result.reproduced->within;
    }
    if (result.interval) {
      row["engine"] = result.interval->engine;
      row["interval_settled"] = result.interval->settled;
      row["interval_low"] = tools::number(result.interval->low);
      row["interval_high"] = tools::number(result.interval->high);
    }
    rows.push_back(std::move(row));
  }
  return json::Object{{"suite", suite}, {"machine", machine()}, {"results", std::move(rows)}};
}

std::string machine() {
  std::string processor = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos) {
      processor = line.substr(line.find(": ") + 2);
      break;
    }
  struct sysinfo memory{};
  sysinfo(&memory);
  utsname system{};
  uname(&system);
  return tools::text(absl::StrFormat("%s, %d threads, %d GiB, %s %s", processor, std::thread::hardware_concurrency(),
                                     int64_t(memory.totalram) * memory.mem_unit >> 30, system.sysname, system.release));
}

absl::Status findModels(const std::vector<std::string> &paths, bool needsData, std::vector<tools::Case> &models) {
  for (const std::string &path : paths) {
    std::error_code code;
    if (std::filesystem::is_regular_file(path, code) && !needsData) {
      tools::Case model;
      const std::filesystem::path file(path);
      // model.onnx is named by its folder.
      model.name = file.filename() == "model.onnx"
                       ? std::filesystem::absolute(file, code).parent_path().filename().string()
                       : file.stem().string();
      model.model = path;
      models.push_back(std::move(model));
      continue;
    }
    auto cases = tools::findCases(path);
    if (!cases.ok())
      return cases.status();
    const size_t before = models.size();
    for (tools::Case &model : *cases)
      if (!model.model.empty() && (!needsData || !model.dataSets.empty()))
        models.push_back(std::move(model));
    if (models.size() == before)
      return absl::NotFoundError(absl::StrCat(path, ": no folder with model.onnx",
                                              needsData ? " and test_data_set_0" : "", " at or below it"));
  }
  return absl::OkStatus();
}

int fail(const absl::Status &status) { return tools::fail(std::string(status.message())); }

} // namespace wsc::bench
