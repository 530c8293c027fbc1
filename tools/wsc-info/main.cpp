// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-info: shows what a wafer executable holds. Options choose views, printed in a fixed order; see Views.h.
#include "runtime/emulator/liveness/Liveness.h"
#include "runtime/format/Reader.h"
#include "runtime/format/Verifier.h"
#include "tools/support/CommandLine.h"
#include "tools/support/Progress.h"
#include "tools/wsc-info/Views.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdio>
#include <string>
#include <vector>

using namespace wsc;
using tools::fail;

namespace {

bool parseCore(const std::string &text, int32_t &row, int32_t &col) {
  const char *end = text.data() + text.size();
  auto first = std::from_chars(text.data(), end, row);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',')
    return false;
  auto second = std::from_chars(first.ptr + 1, end, col);
  return second.ec == std::errc() && second.ptr == end;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Example:\n  wsc-info model.wse --kernels --map\n\nShows what a wafer executable holds; without "
               "options, a summary.",
               "wsc-info");
  std::string path, core, net;
  bool kernels = false, map = false, isa = false, verify = false, json = false;
  auto *model = app.add_option("MODEL", path, "the .wse file (optional with --isa)");
  app.add_flag(
      "--kernels", kernels,
      "table of kernels: rectangle, cores, fullest core in bytes, multiply-adds, predicted interval in cycles");
  app.add_flag("--map", map, "floor plan, one letter per kernel");
  app.add_option("--core", core, "program, memory map, queues and router of one core")->type_name("ROW,COL");
  app.add_option("--routes", net, "routers of one net")->type_name("NET");
  app.add_flag("--isa", isa, "the instruction set and how often the roles hold each opcode");
  app.add_flag("--verify", verify,
               "check hardware limits, determinacy, that a run comes to its end, and the hashes of all weights");
  app.add_flag("--json", json, "the summary as JSON");
  tools::setUp(app);
  int32_t row = 0, col = 0;
  bool asksCore = false, asksRoutes = false;
  try {
    app.parse(argc, argv);
    asksCore = app.count("--core") > 0;
    asksRoutes = app.count("--routes") > 0;
    if (asksCore && !parseCore(core, row, col))
      throw CLI::ValidationError("--core", "expected ROW,COL such as 3,12, not \"" + core + "\"");
    if (model->empty() && (!isa || kernels || map || asksCore || asksRoutes || verify || json))
      throw CLI::RequiredError("MODEL");
    if (json && (kernels || map || asksCore || asksRoutes || isa))
      throw CLI::ValidationError("--json", "gives the summary only; it cannot be combined with other views");
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  std::string text;
  format::Executable executable;
  if (!model->empty()) {
    absl::StatusOr<format::Executable> loaded = format::loadExecutable(path, {.verifyWeightHashes = verify});
    if (!loaded.ok())
      return fail(std::string(loaded.status().message()));
    executable = *std::move(loaded);
  }
  if (verify) {
    constexpr size_t limit = 20;
    std::vector<format::Violation> violations;
    absl::Status alive;
    {
      const tools::Progress progress("verifying " + path, false);
      violations = format::findViolations(executable, limit);
      if (violations.empty())
        alive = emulator::checkLiveness(executable);
    }
    for (const format::Violation &violation : violations)
      fail(path + ": " + violation.rule + ": " + violation.message);
    if (violations.size() == limit)
      std::fprintf(stderr, "note: only the first %zu violations are shown\n", limit);
    if (!violations.empty())
      return 1;
    if (!alive.ok())
      return fail(path + ": " + std::string(alive.message()));
    if (!json)
      text += "verified: hardware limits, determinacy, liveness and weight hashes hold\n";
  }
  if (json)
    text += info::jsonView(executable);
  else if (!kernels && !map && !asksCore && !asksRoutes && !isa && !verify)
    text += info::summaryView(executable);
  if (kernels)
    text += info::kernelsView(executable);
  if (map)
    text += info::floorPlanView(executable);
  if (asksCore) {
    auto view = info::coreView(executable, row, col);
    if (!view.ok())
      return fail(path + ": " + std::string(view.status().message()));
    text += *view;
  }
  if (asksRoutes) {
    auto view = info::routesView(executable, net);
    if (!view.ok())
      return fail(path + ": " + std::string(view.status().message()));
    text += *view;
  }
  if (isa)
    text += info::isaView(model->empty() ? nullptr : &executable);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : fail("cannot write to standard output");
}
