// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Residents by themselves: living cores of the mesh, each once; inside of SRAM, above what every core needs; a constant
// lies in its section, a part of a variable has its type, and all parts together hold every element of the variable.
//
// The parts of one resident hold elements offset + Σ index[d]·step[d] … + n − 1. Taken in order of the steps' size,
// each dimension prolongs a gapless stretch when its step is no longer than the stretch so far; when it is longer,
// nothing fills the gap, for every later step is longer still. So one resident is judged without looking at its cores.
// Where a variable lies in several, the stretches of all cores are sorted.
#include "runtime/format/verifier/Forms.h"
#include "runtime/format/verifier/Rules.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace wsc::format::verifier {

namespace {

class ResidentRules {
public:
  ResidentRules(const Executable &executable, const Resident &resident, size_t number, Report &report)
      : executable(executable), target(executable.target), resident(resident), number(number), report(report) {}

  // False: the lattice may not be walked.
  bool run() {
    checkPlace();
    if (!checkInMesh(target, resident.cores, name(), report))
      return false;
    checkSource();
    return checkCores();
  }

private:
  std::string name() const { return text("resident ", resident.name.empty() ? text("#", number) : resident.name); }
  void refuse(const char *rule, const std::string &what) { report.add(rule, text(number, what), text(name(), what)); }

  void checkPlace() {
    auto place = [&] { return text(" at bytes ", resident.address, " to ", resident.address + resident.bytes); };
    if (resident.address + resident.bytes > target.sramBytes)
      refuse("sram-overflow",
             text(place(), " ends beyond the SRAM of ", target.sramBytes, " bytes; spread it over more cores"));
    if (const int64_t low = add(target.runtimeReserveBytes, target.stackBytes);
        resident.bytes > 0 && resident.address < low)
      refuse("sram-code", text(place(), " lies in the first ", low, " bytes, taken by runtime (",
                               target.runtimeReserveBytes, ") and stack (", target.stackBytes, ")"));
    if (resident.address % elementBytes(resident.type) != 0)
      refuse("sram-alignment", text(" at address ", resident.address, " is not aligned to its elements of ",
                                    elementBytes(resident.type), " bytes (", elementTypeName(resident.type), ")"));
  }

  bool checkCores() {
    if (!CoreSet::isProduct(resident.cores) && !report.spend(target.numCores()))
      return false;
    const CoreSet cores(resident.cores, target);
    if (cores.size() != resident.cores.size())
      refuse("resident-cores", text(": its lattice lists ", resident.cores.size(), " cores, of which ", cores.size(),
                                    " are different; each may be listed once"));
    for (const target::DeadCore &core : target.deadCores)
      if (cores.holds({core.row, core.col}))
        refuse("dead-core", text(" lies on ", coreName(core.row, core.col), ", which is dead"));
    return true;
  }

  void checkSource() {
    if (resident.section >= 0)
      checkSectionView({executable.sections[size_t(resident.section)], resident.sectionOffset, resident.bytes,
                        resident.type, resident.cores},
                       text("resident ", number), text("constant ", name()), report);
    if (resident.state < 0)
      return;
    const TensorType &variable = executable.states[size_t(resident.state)].tensor;
    if (resident.section >= 0)
      refuse("resident-state",
             text(" is filled from a section and from variable ", variable.name, "; use one of them"));
    if (resident.type != variable.type)
      refuse("resident-type", text(" has elements of type ", elementTypeName(resident.type), ", variable ",
                                   variable.name, " of type ", elementTypeName(variable.type)));
    if (const Extreme first = minimum(resident.stateOffset, resident.cores); first.value < 0)
      refuse("resident-state", text(" begins at element ", verifier::number(first.value), " of variable ",
                                    variable.name, " on ", coreName(resident.cores, first.index), "; the first is 0"));
  }

  const Executable &executable;
  const target::Target &target;
  const Resident &resident;
  size_t number;
  Report &report;
};

int64_t elementsOf(const TensorType &tensor) {
  int64_t elements = 1;
  for (int64_t extent : tensor.shape)
    elements = multiply(elements, extent);
  return elements;
}

int64_t elementsPerCore(const Resident &resident) { return resident.bytes / elementBytes(resident.type); }

using Stretch = std::pair<Wide, Wide>; // first element, one past the last

// The longest gapless stretch from the least element on that the cores of a resident hold together.
Stretch leastStretch(const Resident &resident) {
  Wide begin = resident.stateOffset.constant, length = elementsPerCore(resident);
  std::vector<std::pair<Wide, Wide>> steps; // length of a step, number of steps
  for (int d = 0; d < kMaxDims; ++d) {
    const Wide step = resident.stateOffset.perDim[d], count = resident.cores.dims[d].count - 1;
    begin += std::min<Wide>(0, step * count);
    steps.emplace_back(step < 0 ? -step : step, count);
  }
  std::sort(steps.begin(), steps.end());
  for (auto [step, count] : steps)
    if (count > 0 && step <= length)
      length += step * count;
    else if (count > 0)
      break;
  return {begin, begin + length};
}

// The first element that no core holds; `elements`: there is none. Nullopt when it would take too long.
std::optional<Wide> firstMissing(const Executable &executable, const std::vector<int32_t> &parts, Wide elements,
                                 Report &report) {
  std::vector<Stretch> stretches;
  for (int32_t part : parts) {
    const Resident &resident = executable.residents[size_t(part)];
    if (const Stretch stretch = leastStretch(resident); parts.size() == 1 || stretch == Stretch{0, elements}) {
      stretches.push_back(stretch);
      continue;
    }
    if (!report.spend(resident.cores.size()))
      return std::nullopt;
    const Form offset(resident.stateOffset);
    forEachIndex(resident.cores, dependsOn(offset, resident.cores), [&](const LatticeIndex &index) {
      stretches.emplace_back(offset.at(index), offset.at(index) + elementsPerCore(resident));
      return true;
    });
  }
  std::sort(stretches.begin(), stretches.end());
  Wide missing = 0;
  for (auto [begin, end] : stretches)
    if (begin <= missing)
      missing = std::max(missing, end);
  return std::min(missing, elements);
}

void checkVariable(const Executable &executable, size_t state, const std::vector<int32_t> &parts, Report &report) {
  const TensorType &variable = executable.states[state].tensor;
  const Wide elements = elementsOf(variable);
  if (const std::optional<Wide> missing = firstMissing(executable, parts, elements, report);
      missing && *missing < elements)
    report.add("resident-state", text("variable ", state),
               text("element ", number(*missing), " of variable ", variable.name, ", which has ", number(elements),
                    ", lies on no core; resident ", executable.residents[size_t(parts[0])].name,
                    parts.size() > 1 ? " and its others" : "", " must hold every element"));
  for (const Configuration &configuration : executable.configurations)
    for (const StateBinding &binding : configuration.stateBindings)
      if (size_t(binding.state) == state)
        return report.add("resident-state", text("variable ", state, " bound"),
                          text("variable ", variable.name, " lies in resident ",
                               executable.residents[size_t(parts[0])].name, " and in state buffers of configuration ",
                               configuration.name, "; it can have one place only"));
}

} // namespace

bool checkResidents(const Executable &executable, Report &report) {
  bool sound = true;
  std::vector<std::vector<int32_t>> parts(executable.states.size());
  for (size_t r = 0; r < executable.residents.size() && !report.full(); ++r) {
    const Resident &resident = executable.residents[r];
    sound &= ResidentRules(executable, resident, r, report).run();
    if (resident.state >= 0)
      parts[size_t(resident.state)].push_back(int32_t(r));
  }
  if (!sound || report.full())
    return false;
  for (size_t v = 0; v < parts.size(); ++v)
    if (!parts[v].empty())
      checkVariable(executable, v, parts[v], report);
  return true;
}

} // namespace wsc::format::verifier
