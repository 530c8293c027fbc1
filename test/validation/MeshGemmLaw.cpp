// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/timing/Cost.h"
#include "test/validation/MeshGemm.h"
#include "test/validation/Run.h"

#include "absl/strings/str_cat.h"

#include <array>

namespace wsc::validation {

absl::StatusOr<MeshGemmTime> meshGemmTime(const std::string &workload, const std::string &parameters,
                                          const target::Target &target, int64_t side, int64_t N) {
  constexpr std::array<int64_t, 4> kSides{8, 12, 16, 20};
  const Workload *found = findWorkload(workload);
  if (!found)
    return absl::NotFoundError(absl::StrCat("no workload ", workload));
  if (side % 4 != 0 || N % side != 0)
    return absl::InvalidArgumentError(absl::StrCat("a product of ", N, " on ", side, " x ", side,
                                                   " cores: the side must be a multiple of 4 and divide it"));
  const int64_t tile = N / side;
  std::array<int64_t, 4> cycles{};
  MeshGemmTime result;
  for (size_t i = 0; i < kSides.size(); ++i) {
    auto program = buildProgram(
        *found, absl::StrCat("cores=", kSides[i], "x", kSides[i], ";N=", tile * kSides[i], ";", parameters), target);
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
  result.cycles = double(law((side - kSides[0]) / 4));
  result.stepCycles = result.cycles / double(side);
  const double rate = timing::elementsPerCycle(target, format::Opcode::Fma, format::ElementType::F16);
  result.efficiency = double(side) * double(tile * tile * tile) / rate / result.cycles;
  return result;
}

} // namespace wsc::validation
