// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/validation/Run.h"

#include "runtime/emulator/Timing.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <cmath>

namespace wsc::validation {

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
  auto networks = emulator::resolveNetworks(program.executable.target, program.executable.configurations[0]);
  if (!networks.ok())
    return networks.status();
  auto timing = emulator::analyseTiming(program.executable, 0, *networks, interval ? 0 : 1);
  if (!timing.ok())
    return timing.status();
  Timed timed;
  timed.engine = "analytic";
  timed.cycles = interval ? timing->intervalCycles : timing->latencyCycles;
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
  result.fitted = absl::StrContains(target->json, row.id);
  return result;
}

} // namespace wsc::validation
