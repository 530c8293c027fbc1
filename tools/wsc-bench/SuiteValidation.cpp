// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suite `validation`: for every row of a table of published measurements, the program of its workload is built from the
// row's parameters, run for its time and compared.
#include "runtime/format/Writer.h"
#include "runtime/session/TensorFile.h"
#include "test/validation/MeshGemm.h"
#include "test/validation/Run.h"
#include "tools/wsc-bench/Bench.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <filesystem>
#include <system_error>

namespace wsc::bench {

namespace {

struct Count {
  int rows = 0, within = 0;
  void add(bool isWithin) { ++rows, within += isWithin; }
  std::string text() const { return absl::StrCat(within, " of ", rows); }
};

// Row names are file names; what could leave the folder becomes '_'.
std::string fileName(const std::string &id) {
  std::string name;
  for (char c : id)
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_' ? c : '_';
  return name + ".wse";
}

absl::Status validate(const std::string &path, const Options &options, Results &results) {
  absl::StatusOr<std::string> text = readFile(path);
  if (!text.ok())
    return text.status();
  auto rows = validation::parsePublished(*text, path);
  if (!rows.ok())
    return rows.status();
  absl::Status all = absl::OkStatus();
  std::vector<std::string> without;
  Count any, unfitted;
  std::map<std::string, Count> families;
  for (const validation::PublishedRow &row : *rows) {
    if (!validation::findWorkload(row.workload)) {
      without.push_back(absl::StrCat(row.id, " (", row.workload, ")"));
      continue;
    }
    auto made = validation::reproduce(row);
    if (!made.ok()) {
      any.add(false);
      unfitted.add(false);
      families[absl::StrCat(row.arch, " ", row.workload)].add(false);
      const std::string message = absl::StrCat(row.id, ": ", std::string(made.status().message()));
      results.note(message);
      all.Update(absl::Status(made.status().code(), message));
      continue;
    }
    any.add(made->within);
    if (!made->fitted)
      unfitted.add(made->within);
    families[absl::StrCat(row.arch, " ", row.workload)].add(made->within);
    std::vector<std::string> remarks{absl::StrCat(
        made->timed.engine, " engine: ", made->timed.cycles,
        made->program.measure.of == validation::Measure::Of::Interval ? " cycles an interval" : " cycles")};
    if (!made->program.measure.how.empty())
      remarks.push_back(absl::StrCat(made->program.measure.how, " (", made->program.measure.added > 0 ? "+" : "",
                                     made->program.measure.added, ")"));
    if (made->fitted)
      remarks.push_back("constants fitted to it");
    if (!made->program.note.empty())
      remarks.push_back(made->program.note);
    results.add({row.id,
                 made->timed.value,
                 row.unit,
                 {},
                 row.published,
                 Result::Reproduced{row.tolerance, made->error, made->within, absl::StrJoin(remarks, "; ")}});
    if (options.keep.empty())
      continue;
    const std::string file = (std::filesystem::path(options.keep) / fileName(row.id)).string();
    if (absl::Status written = format::writeExecutable(made->program.executable, {}, file); !written.ok())
      return written;
  }
  results.note(
      absl::StrCat(any.text(), " rows within tolerance; ", unfitted.text(), " of those no constant was fitted to"));
  for (const auto &[family, count] : families)
    results.note(absl::StrCat("  ", family, ": ", count.text()));
  if (!without.empty())
    results.note(absl::StrCat("no workload for ", without.size(), " rows: ", absl::StrJoin(without, ", ")));
  return all;
}

// Matrix products of the sizes of WaferLLM (arXiv 2502.04563) in fp16 on 720 x 720 cores of wse2.
absl::Status meshProducts(Results &results) {
  constexpr int64_t kSide = 720;
  const struct {
    const char *name, *workload, *parameters;
  } kAlgorithms[] = {{"summa", "gemm_summa", "dtype=f16"},
                     {"summa-pipelined", "gemm_summa", "dtype=f16;steps=pipelined"},
                     {"cannon", "gemm_cannon", "dtype=f16"},
                     {"ring", "gemm_ring", "dtype=f16"}};
  auto target = target::loadTarget("wse2");
  if (!target.ok())
    return target.status();
  for (const int64_t N : {4320, 8640, 17280, 43200})
    for (const auto &algorithm : kAlgorithms) {
      auto time = validation::meshGemmTime(algorithm.workload, algorithm.parameters, *target, kSide, N);
      if (!time.ok())
        return time.status();
      const std::string name = absl::StrCat("mesh-gemm.", N, ".", algorithm.name);
      results.add({name + ".efficiency", time->efficiency, "", 1, {}});
      results.add({name + ".cycles", time->cycles, "cycles", {}, {}});
      if (time->lowerBound)
        results.note(absl::StrCat(name, ": at least these cycles, at most this efficiency"));
      if (time->deviationCycles != 0)
        results.note(absl::StrCat(name, ": the fourth mesh misses the law by ", time->deviationCycles, " cycles"));
    }
  results.note(absl::StrCat("mesh-gemm: ", kSide, " x ", kSide,
                            " cores by the law of the cycle engine's runs on four smaller meshes ",
                            "(test/validation/MeshGemm.h)"));
  return absl::OkStatus();
}

} // namespace

absl::Status runValidation(const Options &options, Results &results) {
  if (!options.keep.empty()) {
    std::error_code code;
    std::filesystem::create_directories(options.keep, code);
    if (code)
      return absl::UnavailableError(absl::StrCat(options.keep, ": cannot be made a folder: ", code.message()));
  }
  absl::Status all = absl::OkStatus();
  for (const std::string &path : options.paths)
    all.Update(validate(path, options, results));
  if (options.meshGemm)
    all.Update(meshProducts(results));
  return all;
}

} // namespace wsc::bench
