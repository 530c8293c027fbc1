// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/validation/Run.h"

#include "runtime/emulator/Timing.h"
#include "runtime/emulator/cycle/CycleEngine.h"

#include "absl/strings/str_cat.h"

#include <cctype>
#include <cmath>

namespace wsc::validation {

namespace {

// Larger meshes are solved, not run: the cycle engine holds tens of KiB for a core.
constexpr int64_t kMostCoresRun = 16384;
// Iterations come to rest within the first half; the interval is the mean over the second.
constexpr int kSamples = 24;

// Whether the text names the row: not as a part of another's name.
bool namesRow(const std::string &text, const std::string &id) {
  const auto inName = [&](size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '-');
  };
  for (size_t at = text.find(id); at != std::string::npos; at = text.find(id, at + 1))
    if (!inName(at + id.size()) && (at == 0 || !inName(at - 1)))
      return true;
  return false;
}

} // namespace

absl::StatusOr<Timed> timeProgram(const Program &program, const std::string &unit) {
  double perCycle = 1;
  const double clock = program.measure.clockGHz > 0 ? program.measure.clockGHz : program.executable.target.clockGHz;
  if (unit == "us")
    perCycle = 1e-3 / clock;
  else if (unit == "ns")
    perCycle = 1 / clock;
  else if (unit != "cycles")
    return absl::InvalidArgumentError(absl::StrCat("unit ", unit, " is none of: cycles, us, ns"));
  const bool interval = program.measure.of == Measure::Of::Interval;
  int64_t cores = 0;
  for (const format::Role &role : program.executable.configurations[0].roles)
    cores += role.cores.size();
  Timed timed;
  if (cores <= kMostCoresRun) {
    auto run = emulator::runCycles(program.executable, 0, {.samples = interval ? kSamples : 1});
    if (!run.ok())
      return run.status();
    timed.engine = "cycle";
    timed.cycles = interval ? run->intervalCycles : run->latencyCycles;
  } else {
    auto networks = emulator::resolveNetworks(program.executable.target, program.executable.configurations[0]);
    if (!networks.ok())
      return networks.status();
    auto timing = emulator::analyseTiming(program.executable, 0, *networks, interval ? 0 : 1);
    if (!timing.ok())
      return timing.status();
    timed.engine = "analytic";
    timed.cycles = interval ? timing->intervalCycles : timing->latencyCycles;
  }
  timed.value = double(timed.cycles + program.measure.added) * perCycle;
  return timed;
}

absl::StatusOr<Reproduction> reproduce(const PublishedRow &row) {
  const Workload *workload = findWorkload(row.workload);
  if (!workload)
    return absl::NotFoundError(absl::StrCat("no workload ", row.workload));
  auto target = target::loadTarget(row.arch);
  if (!target.ok())
    return target.status();
  auto program = buildProgram(*workload, row.parameters, *target);
  if (!program.ok())
    return program.status();
  auto timed = timeProgram(*program, row.unit);
  if (!timed.ok())
    return timed.status();
  Reproduction result{*timed, *std::move(program)};
  result.error = timed->value / row.published - 1;
  result.within = std::abs(result.error) <= row.tolerance;
  result.fitted = namesRow(target->json, row.id);
  return result;
}

} // namespace wsc::validation
