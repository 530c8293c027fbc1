// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suite `emulate`: for each model one child with one thread, one with several and, where it is there, ONNX Runtime with
// one. Their samples take turns, so that whatever else the machine does falls on all of them alike; each pair has a
// ratio, and the median of the ratios is told.
#include "tools/support/Child.h"
#include "tools/support/Json.h"
#include "tools/wsc-bench/Bench.h"
#include "tools/wsc-bench/OrtScript.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace wsc::bench {

namespace json = llvm::json;

namespace {

constexpr double kMostRelativeL2 = 1e-3; // of an output, against the data set

using Child = std::unique_ptr<tools::Dialogue>;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<double> ratios(const std::vector<double> &a, const std::vector<double> &b) {
  std::vector<double> result;
  for (size_t i = 0; i < a.size(); ++i)
    result.push_back(a[i] / b[i]);
  return result;
}

class EmulateBench {
public:
  EmulateBench(const tools::Case &model, const Options &options, Results &results)
      : model(model), options(options), results(results) {}

  absl::Status run() {
    if (folder.path.empty())
      return absl::ResourceExhaustedError("cannot make a temporary folder; TMPDIR names where");
    auto compiled = compileInChild(model, options, executable());
    if (!compiled.ok())
      return compiled.status();
    add("compile.seconds", compiled->seconds, "s");
    add("compile.peak_rss", double(compiled->peakRssBytes), "bytes");
    json::Object facts, factsMany;
    auto one = startEmulator(1, facts);
    if (!one.ok())
      return one.status();
    absl::StatusOr<Child> many = Child();
    if (options.threads > 1)
      many = startEmulator(options.threads, factsMany);
    if (!many.ok())
      return many.status();
    Child ort = startOrt();
    addFacts(facts);

    std::vector<double> secondsOne, secondsMany, secondsOrt;
    for (int k = 0; k < options.samples; ++k)
      for (auto [child, seconds, unit] :
           {std::tuple(one->get(), &secondsOne, 1.0), std::tuple(ort.get(), &secondsOrt, 1e-3),
            std::tuple(many->get(), &secondsMany, 1.0)}) {
        if (!child)
          continue;
        auto answer = child->ask(absl::StrCat(k));
        if (!answer.ok())
          return answer.status();
        seconds->push_back(std::strtod(answer->c_str(), nullptr) * unit);
      }
    std::optional<double> reference;
    if (ort)
      reference = median(secondsOrt);
    results.add({model.name + ".sample.seconds.threads1", median(secondsOne), "s", {}, reference});
    if (ort)
      add("sample.ratio_to_onnxruntime.threads1", median(ratios(secondsOne, secondsOrt)), "ratio");
    if (*many) {
      const std::string suffix = absl::StrCat(".threads", options.threads);
      add("sample.seconds" + suffix, median(secondsMany), "s");
      results.add({model.name + ".sample.speedup" + suffix,
                   median(ratios(secondsOne, secondsMany)),
                   "ratio",
                   double(options.threads),
                   {}});
    }
    if (absl::Status status = addPeak(**one, 1); !status.ok())
      return status;
    return *many ? addPeak(**many, options.threads) : absl::OkStatus();
  }

private:
  std::string executable() const { return folder.path + "/model.wse"; }
  static bool wantsOrt() { return std::getenv("ORT_NODE_ROOT") && *std::getenv("ORT_NODE_ROOT"); }

  void add(const std::string &figure, double value, const std::string &unit, std::optional<double> bound = {}) {
    results.add({absl::StrCat(model.name, ".", figure), value, unit, bound, {}});
  }

  absl::StatusOr<Child> startEmulator(int threads, json::Object &facts) {
    const json::Object request{{"executable", executable()},
                               {"data_set", model.dataSets.front()},
                               {"threads", threads},
                               {"seed", int64_t(options.seed)},
                               {"samples", options.samples},
                               {"l2", kMostRelativeL2},
                               {"dump", threads == 1 && wantsOrt() ? folder.path : std::string()}};
    auto child = tools::Dialogue::start({tools::ownPath(), kEmulateOne, tools::print(json::Object(request))});
    if (!child.ok())
      return child.status();
    auto line = (*child)->read();
    if (!line.ok())
      return line.status();
    auto object = tools::parseObject(*line);
    if (!object.ok())
      return object.status();
    facts = *std::move(object);
    return child;
  }

  // Null, with a note, where ONNX Runtime is not there or cannot run the model.
  Child startOrt() {
    if (!wantsOrt()) {
      results.note("ONNX Runtime is not timed: ORT_NODE_ROOT is not set");
      return nullptr;
    }
    auto child = tools::Dialogue::start(
        {"node", "--input-type=module", "-e", kOrtScript, model.model, folder.path + "/inputs.json", "1"});
    absl::StatusOr<std::string> line = child.ok() ? (*child)->read() : child.status();
    if (line.ok() && *line == "ready")
      return *std::move(child);
    results.note(absl::StrCat("ONNX Runtime is not timed: ", line.ok() ? *line : std::string(line.status().message())));
    return nullptr;
  }

  void addFacts(const json::Object &facts) {
    const auto value = [&](const char *key) { return tools::toNumber(facts.get(key), 0); };
    add("load.seconds", value("load_seconds"), "s");
    add("timing.seconds", value("timing_seconds"), "s");
    add("max_error", value("max_error"), "");
    add("relative_l2", value("relative_l2"), "ratio", kMostRelativeL2);
    const double bound = std::ceil(std::max(value("bound_fma_cycles"), value("bound_input_cycles")));
    add("bound.multiply_adds", value("bound_fma_cycles"), "cycles");
    add("bound.input", value("bound_input_cycles"), "cycles");
    for (const char *figure : {"latency", "interval"}) {
      const double cycles = value(absl::StrCat(figure, "_cycles").c_str());
      add(figure, cycles, "cycles", bound);
      add(absl::StrCat(figure, ".ratio_to_bound"), bound > 0 ? cycles / bound : 0, "ratio");
    }
    add("cores_fma", value("cores_total") > 0 ? 100 * value("cores_fma") / value("cores_total") : 0, "%");
    add("multiply_adds", value("macs_executed"), "", value("macs_network"));
    if (value("macs_network") > 0)
      add("multiply_adds.ratio_to_network", value("macs_executed") / value("macs_network"), "ratio");
  }

  absl::Status addPeak(tools::Dialogue &child, int threads) {
    auto rest = child.finish();
    if (!rest.ok())
      return rest.status();
    add(absl::StrCat("peak_rss.threads", threads), std::strtod(rest->c_str(), nullptr), "bytes");
    return absl::OkStatus();
  }

  const tools::Case &model;
  const Options &options;
  Results &results;
  tools::TemporaryFolder folder;
};

} // namespace

absl::Status runEmulate(const Options &options, Results &results) {
  return forModels(options.paths, true,
                   [&](const tools::Case &model) { return EmulateBench(model, options, results).run(); });
}

} // namespace wsc::bench
