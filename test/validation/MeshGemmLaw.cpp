// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/timing/Cost.h"
#include "test/validation/MeshGemm.h"
#include "test/validation/Run.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>

namespace wsc::validation {

absl::StatusOr<MeshGemmTime> meshGemmTime(const std::string &workload, const std::string &parameters,
                                          const target::Target &target, int64_t side, int64_t N) {
  constexpr int64_t kStep = 4, kSmallest = 8;
  const Workload *found = findWorkload(workload);
  if (!found)
    return absl::NotFoundError(absl::StrCat("no workload ", workload));
  if (side % kStep != 0 || side <= 0 || N % side != 0)
    return absl::InvalidArgumentError(absl::StrCat("a product of ", N, " on ", side, " x ", side,
                                                   " cores: the side must be a multiple of ", kStep, " and divide it"));
  auto parsed = Parameters::parse(parameters);
  if (!parsed.ok())
    return parsed.status();
  const format::ElementType type = parsed->dtype();
  const int64_t tile = N / side;
  const int64_t turn = (target.vectorSetupCycles + target.taskStartCycles + timing::fabricWords(type, tile * tile)) /
                       target.hopLatencyCycles;
  MeshGemmTime result;
  result.firstSide = turn + kStep <= kLargestFirst ? std::max(kSmallest, (turn / kStep + 1) * kStep) : kSmallest;
  std::array<int64_t, 4> cycles{};
  for (size_t i = 0; i < cycles.size(); ++i) {
    const int64_t P = result.firstSide + kStep * int64_t(i);
    auto program = buildProgram(*found, absl::StrCat("cores=", P, "x", P, ";N=", tile * P, ";", parameters), target);
    if (!program.ok())
      return program.status();
    auto timed = timeProgram(*program, "cycles");
    if (!timed.ok())
      return timed.status();
    cycles[i] = timed->cycles;
    result.engine = timed->engine;
  }
  const int64_t slope = cycles[1] - cycles[0], bend = cycles[2] - 2 * cycles[1] + cycles[0];
  const auto law = [&](int64_t steps) { return cycles[0] + slope * steps + bend * (steps * (steps - 1) / 2); };
  result.deviationCycles = cycles[3] - law(3);
  result.cycles = double(law((side - result.firstSide) / kStep));
  result.lowerBound = bend != 0 && turn < side && result.firstSide <= turn;
  result.efficiency = double(side) * double(tile * tile * tile) /
                      timing::elementsPerCycle(target, format::Opcode::Fma, type) / result.cycles;
  return result;
}

} // namespace wsc::validation
