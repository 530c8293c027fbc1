// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the rule families in order. A family that finds the ground missing (an index out of range, a lattice outside the
// mesh) keeps those that stand on it from running.
#include "runtime/format/Verifier.h"

#include "runtime/format/verifier/Rules.h"

namespace wsc::format {

using namespace verifier;

static void checkConfiguration(const Scope &scope) {
  bool inMesh = checkMesh(scope);
  bool drawable = inMesh && checkOverlaps(scope);
  bool walkable = true;
  for (size_t r = 0; r < scope.configuration.roles.size() && !scope.report.full(); ++r) {
    RoleScope role{scope, scope.configuration.roles[r], int32_t(r)};
    checkSram(role);
    checkWindows(role);
    if (!checkPrograms(role)) {
      walkable = false;
      continue;
    }
    checkOperands(role);
    if (!inMesh)
      continue; // lattices may be without bound
    checkMemory(role);
    checkSharing(role);
  }
  checkStates(scope);
  if (inMesh && scope.residentCores.size() == scope.executable.residents.size())
    checkOccupants(scope);
  bool switchable = checkSwitches(scope);
  if (drawable && walkable && switchable && !scope.report.full())
    checkColours(scope);
}

std::vector<Violation> findViolations(const Executable &executable, size_t limit) {
  Report report(limit);
  if (checkIndices(executable, report)) {
    checkEntries(executable, report);
    const Lives lives(executable, report);
    std::vector<CoreSet> residentCores;
    if (checkResidents(executable, report)) {
      for (const Resident &resident : executable.residents)
        residentCores.emplace_back(resident.cores, executable.target);
      checkNeighbours(executable, lives, residentCores, report);
    }
    for (const Configuration &configuration : executable.configurations) {
      if (report.full())
        break;
      checkConfiguration({executable, configuration, report, lives, residentCores});
    }
  }
  return report.take();
}

absl::Status verifyExecutable(const Executable &executable) {
  std::vector<Violation> violations = findViolations(executable);
  if (violations.empty())
    return absl::OkStatus();
  std::string message = "the executable breaks rules of its target " + executable.target.name + ":";
  for (const Violation &violation : violations)
    message += "\n  [" + violation.rule + "] " + violation.message;
  return absl::FailedPreconditionError(message);
}

} // namespace wsc::format
