// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors that several phases name become residents; buses end where nobody takes part any more; copies that only
// rename go; scratch of a phase is packed into one arena. Then one allocation over the whole entry gives addresses:
// constants live for ever, tensors from the first to the last phase that names them, and all through a loop one of
// whose phases does, arenas for their phase.
#include "compiler/spmd/phases/Assemble.h"

#include "compiler/solver/Allocation.h"
#include "compiler/spmd/collectives/ShortBuses.h"
#include "compiler/spmd/plan/PortBox.h"
#include "compiler/spmd/program/Banks.h"
#include "compiler/spmd/program/EarlySlices.h"
#include "compiler/spmd/program/MergeCopies.h"
#include "compiler/spmd/program/PackScratch.h"
#include "compiler/spmd/roles/Roles.h"
#include "runtime/format/MemoryMap.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

constexpr int64_t kWorthABank = 256; // elements walked beside others in a run: for fewer the room is worth more

Lattice wholeLattice(const Rectangle &rectangle) {
  Lattice lattice;
  lattice.dims[kRowDim] = {rectangle.rows, rectangle.rows > 1 ? 1 : 0, 0};
  lattice.dims[kColDim] = {rectangle.cols, 0, rectangle.cols > 1 ? 1 : 0};
  return lattice;
}

IoBinding bindingOf(const PortUse &use, const Rectangle &rectangle, uint8_t colour) {
  IoBinding binding;
  binding.output = use.output;
  binding.tensor = use.tensor;
  binding.ports.row = use.rowBegin;
  const int32_t rows = use.rowEnd - use.rowBegin;
  binding.ports.dims[kRowDim] = {rows, rows > 1 ? 1 : 0, 0};
  binding.side = Port::West;
  binding.colour = colour;
  binding.padded = true;
  const int64_t each = use.elementsPerCore, cols = rectangle.cols;
  // Input: column 0 first; output: the last column first.
  binding.hostOffset = Affine(use.output ? (cols - 1) * each : 0);
  binding.hostOffset.perDim[kRowDim] = rows > 1 ? cols * each : 0;
  binding.extent = {Affine(1), Affine(1), Affine(cols), Affine(each)};
  binding.stride = {0, 0, use.output ? -each : each, 1};
  return binding;
}

/// One lane for each row; lattice dimensions for the digits of the row.
IoBinding boxBinding(const PortUse &use, uint8_t colour) {
  const Sharding &box = *use.box;
  IoBinding binding;
  binding.output = use.output;
  binding.tensor = use.tensor;
  binding.ports.row = use.rowBegin;
  binding.side = Port::West;
  binding.colour = colour;
  binding.padded = true;
  int64_t unit = 1;
  for (const DimSharding &dim : box.dims)
    for (const MeshDigit &digit : dim.mesh)
      if (digit.axis == Axis::Row)
        unit = std::max(unit, digit.modulus > 0 ? digit.modulus : digit.divisor);
  const int32_t groups = int32_t(box.rectangle.rows / unit);
  binding.ports.dims[1] = {groups, groups > 1 ? int32_t(unit) : 0, 0};
  binding.ports.dims[2] = {int32_t(unit), unit > 1 ? 1 : 0, 0};
  int64_t stride = 1;
  for (size_t d = box.dims.size(); d-- > 0; stride *= box.shape[d]) {
    binding.hostOffset.constant += box.dims[d].base * stride;
    for (const MeshDigit &digit : box.dims[d].mesh)
      if (digit.axis == Axis::Row)
        binding.hostOffset.perDim[digit.modulus > 0 ? 2 : 1] += digit.step * stride;
  }
  const std::vector<PortLoop> loops = portLoops(box).value_or(std::vector<PortLoop>());
  int64_t cores = use.output ? box.rectangle.cols : 1; // of an output the last column comes first
  for (size_t i = 0; i < loops.size(); ++i) {
    const size_t dim = kMaxDims - loops.size() + i;
    binding.extent[dim] = Affine(loops[i].count);
    binding.stride[dim] = loops[i].stride;
    if (cores > 1) {
      binding.hostOffset.constant += (loops[i].count - 1) * loops[i].stride;
      binding.stride[dim] = -loops[i].stride;
      cores /= loops[i].count;
    }
  }
  if (groups <= 1)
    binding.hostOffset.perDim[1] = 0;
  return binding;
}

class Assembler {
public:
  Assembler(std::vector<EntryPhases> &entries, const Rectangle &rectangle, const target::Target &target,
            ConstantTable &constants)
      : entries(entries), rectangle(rectangle), target(target), constants(constants) {
    for (size_t e = 0; e < entries.size(); ++e)
      for (size_t p = 0; p < entries[e].phases.size(); ++p)
        all.push_back({&entries[e].phases[p], absl::StrCat(entries[e].entry.name, ".", p), rectangleOf(entries[e], p)});
  }

  absl::StatusOr<GeneratedProgram> make() {
    findTensors();
    for (Named &named : all) {
      shortenBuses(named.phase->code, named.rectangle);
      const MergedCopies merged = mergeCopies(named.phase->code, named.rectangle, target);
      named.phase->estimatedCycles = std::max<int64_t>(0, named.phase->estimatedCycles - merged.savedCycles);
      takeSlicesEarly(named.phase->code);
    }
    chooseBanks();
    for (Named &named : all) {
      auto packed = packScratch(named.phase->code, target, target.usableSramBytes(), [&](const Buffer &buffer) {
        return buffer.kind == BufferKind::Resident ? bankOf[size_t(buffer.resident)] : BankConflicts::kAny;
      });
      if (!packed.ok())
        return packed.status();
      // Until addresses are known a buffer's place in its phase stands for it.
      for (size_t b = 0; b < named.phase->code.buffers.size(); ++b)
        named.phase->code.buffers[b].address = int64_t(b);
    }
    if (absl::Status status = makeConfigurations(); !status.ok())
      return status;
    absl::Status status = allocate(true);
    if (absl::IsResourceExhausted(status))
      status = allocate(false);
    if (!status.ok())
      return status;
    layTiles();
    return finish();
  }

private:
  struct Named {
    Phase *phase;
    std::string name;
    Rectangle rectangle; // of whose cores the code speaks
  };
  struct Life {
    int32_t first = INT32_MAX, last = -1; // numbers in `all`
  };

  static bool isOnTiles(const EntryPhases &entry, size_t phase) {
    return entry.onTiles && phase >= entry.onTiles->begin && phase < entry.onTiles->end;
  }
  Rectangle rectangleOf(const EntryPhases &entry, size_t phase) const {
    return isOnTiles(entry, phase) ? entry.onTiles->tiling.tile : rectangle;
  }

  void layTiles() {
    size_t first = 0;
    for (const EntryPhases &entry : entries) {
      if (const auto &on = entry.onTiles) {
        const TileLayer layer(on->tiling, constants.residents, on->residentBegin, on->residentEnd);
        for (size_t p = on->begin; p < on->end; ++p) {
          layer.lay(configurations[first + p]);
          Kernel &kernel = configurations[first + p].kernels[0];
          kernel.macs *= on->tiling.tiles();
          absl::StrAppend(&kernel.name, " on ", on->tiling.rows, " x ", on->tiling.cols, " tiles");
        }
      }
      first += entry.phases.size();
    }
  }

  /// Tensors named in several phases of an entry become residents.
  void findTensors() {
    int32_t begin = 0;
    for (EntryPhases &entry : entries) {
      std::map<TensorId, Life> lives;
      for (size_t p = 0; p < entry.phases.size(); ++p)
        for (const auto &[tensor, buffer] : entry.phases[p].buffers) {
          lives[tensor].first = std::min(lives[tensor].first, begin + int32_t(p));
          lives[tensor].last = std::max(lives[tensor].last, begin + int32_t(p));
        }
      for (auto &[tensor, life] : lives)
        if (life.first != life.last) {
          // Phases of a loop take turns.
          auto isSameLoop = [&](int32_t a, int32_t b) {
            const int32_t loop = entry.phases[size_t(a - begin)].loop;
            return loop >= 0 && loop == entry.phases[size_t(b - begin)].loop;
          };
          while (life.first > begin && isSameLoop(life.first, life.first - 1))
            --life.first;
          if (!entry.order.empty())
            life = {begin, begin + int32_t(entry.phases.size()) - 1};
          while (life.last + 1 < begin + int32_t(entry.phases.size()) && isSameLoop(life.last, life.last + 1))
            ++life.last;
          keep(entry, tensor, life);
        }
      begin += int32_t(entry.phases.size());
    }
  }

  void keep(EntryPhases &entry, TensorId tensor, const Life &life) {
    const int32_t number = int32_t(constants.residents.size());
    Resident resident;
    for (Phase &phase : entry.phases) {
      auto found = phase.buffers.find(tensor);
      if (found == phase.buffers.end())
        continue;
      Buffer &buffer = phase.code.buffers[size_t(found->second)];
      buffer.kind = BufferKind::Resident;
      buffer.resident = number;
      resident.name = absl::StrCat(buffer.name, "#", number);
      resident.type = buffer.type;
      resident.bytes = std::max(resident.bytes, buffer.bytes); // a window may be a part of it
      resident.cores = wholeLattice(rectangle);
    }
    constants.residents.push_back(std::move(resident));
    tensorLives[number] = life;
  }

  /// Residents that instructions walk beside another buffer begin in a bank of their own choice.
  void chooseBanks() {
    const size_t scratch = constants.residents.size(); // one member for all: its banks are chosen later
    BankConflicts conflicts(target, scratch + 1);
    for (Named &named : all) {
      Code &code = named.phase->code;
      conflicts.add(
          code,
          [&](int16_t buffer) {
            const Buffer &held = code.buffers[size_t(buffer)];
            return held.kind == BufferKind::Resident ? held.resident : int(scratch);
          },
          named.phase->count);
    }
    std::vector<int> given(scratch, BankConflicts::kAny);
    given.push_back(BankConflicts::kNever);
    bankOf = conflicts.choose(std::move(given), kWorthABank);
  }

  absl::Status makeConfigurations() {
    for (const Named &named : all) {
      const Phase &phase = *named.phase;
      auto colours = familyColours(target, phase.code);
      if (!colours.ok())
        return absl::Status(colours.status().code(),
                            absl::StrCat("phase ", named.name, ": ", std::string(colours.status().message())));
      Configuration configuration;
      configuration.name = named.name;
      Kernel kernel;
      kernel.name = absl::StrCat("phase ", named.name);
      kernel.layers = phase.layers;
      kernel.rows = rectangle.rows;
      kernel.cols = rectangle.cols;
      kernel.macs = phase.macs;
      kernel.predictedIntervalCycles = phase.estimatedCycles;
      configuration.kernels.push_back(std::move(kernel));
      if (absl::Status status = makeRoles(target, named.rectangle, phase.code, 0, configuration); !status.ok())
        return absl::Status(status.code(), absl::StrCat("phase ", named.name, ": ", std::string(status.message())));
      for (const PortUse &use : phase.ports) {
        const int16_t family = phase.code.findFamily(use.output ? outputRoute() : inputRoute());
        const uint8_t colour = (*colours)[size_t(family)];
        configuration.io.push_back(use.box ? boxBinding(use, colour) : bindingOf(use, rectangle, colour));
      }
      configurations.push_back(std::move(configuration));
    }
    return absl::OkStatus();
  }

  /// `withBanks`: residents begin in their banks, which may take more room.
  absl::Status allocate(bool withBanks) {
    solver::allocation::Problem problem;
    int64_t code = 0;
    for (const Configuration &configuration : configurations)
      for (const Role &role : configuration.roles)
        code = std::max(code, codeBytes(target, role));
    problem.begin = (target.runtimeReserveBytes + target.stackBytes + code + 7) / 8 * 8;
    problem.limit = target.sramBytes;
    if (problem.begin > problem.limit)
      return absl::ResourceExhaustedError(absl::StrCat("a phase's code takes ", code,
                                                       " bytes of a core; the target leaves ", target.usableSramBytes(),
                                                       " to programs"));
    const int64_t round = int64_t(target.sramBanks) * target.sramAccessBytes;
    std::vector<int64_t> lead(constants.residents.size(), 0); // bytes up to the resident's bank
    for (size_t r = 0; r < constants.residents.size(); ++r) {
      solver::allocation::Buffer buffer;
      buffer.name = constants.residents[r].name;
      buffer.alignment = 8;
      if (withBanks && bankOf[r] >= 0) {
        buffer.alignment = std::max<int64_t>(8, round);
        lead[r] = bankOf[r] * target.sramAccessBytes;
      }
      buffer.bytes = lead[r] + constants.residents[r].bytes;
      if (auto life = tensorLives.find(int32_t(r)); life != tensorLives.end()) {
        buffer.lifeBegin = life->second.first;
        buffer.lifeEnd = life->second.last + 1;
      }
      problem.buffers.push_back(std::move(buffer));
    }
    std::vector<std::vector<size_t>> scratch(all.size()); // per phase and buffer: its number in the problem
    for (size_t p = 0; p < all.size(); ++p)
      for (const Buffer &held : all[p].phase->code.buffers) {
        scratch[p].push_back(problem.buffers.size());
        if (held.kind != BufferKind::Scratch)
          continue;
        solver::allocation::Buffer buffer;
        buffer.name = absl::StrCat(held.name, " of phase ", all[p].name);
        buffer.bytes = held.bytes;
        buffer.alignment = 64;
        buffer.lifeBegin = int64_t(p);
        buffer.lifeEnd = int64_t(p) + 1;
        problem.buffers.push_back(std::move(buffer));
      }
    auto solution = solver::allocation::solve(problem);
    if (!solution.ok()) {
      absl::Status status(
          solution.status().code(),
          absl::StrCat("the SRAM of a core does not hold the tensors, constants and scratch of all phases: ",
                       std::string(solution.status().message()), "; use a target with more cores or more SRAM"));
      solver::allocation::setMissingBytes(status, solver::allocation::missingBytes(solution.status()));
      return status;
    }
    for (size_t r = 0; r < constants.residents.size(); ++r)
      constants.residents[r].address = solution->addressOf[r] + lead[r];
    for (size_t p = 0; p < all.size(); ++p)
      for (Role &role : configurations[p].roles)
        for (Buffer &buffer : role.buffers)
          buffer.address = buffer.kind == BufferKind::Resident
                               ? constants.residents[size_t(buffer.resident)].address
                               : solution->addressOf[scratch[p][size_t(buffer.address)]];
    return absl::OkStatus();
  }

  static void addStep(Entry &entry, int32_t configuration, int32_t count, int32_t first) {
    const auto step = int32_t(entry.steps.size());
    Step configure{StepKind::Configure, configuration, {}};
    if (step > 0)
      configure.after.push_back(step - 1);
    entry.steps.push_back(std::move(configure));
    entry.steps.push_back({StepKind::Run, configuration, {step}, count, first});
  }

  static void addSteps(EntryPhases &entry, int32_t number, size_t first, size_t last) {
    for (size_t begin = first, end; begin < last; begin = end) {
      const int32_t loop = entry.phases[begin].loop;
      for (end = begin + 1; loop >= 0 && end < last && entry.phases[end].loop == loop;)
        ++end;
      const int32_t count = entry.phases[begin].count;
      if (end == begin + 1)
        addStep(entry.entry, number + int32_t(begin), count, 0);
      else // phases of a loop take turns
        for (int32_t i = 0; i < count; ++i)
          for (size_t p = begin; p < end; ++p)
            addStep(entry.entry, number + int32_t(p), 1, i);
    }
  }

  GeneratedProgram finish() {
    GeneratedProgram program;
    Executable &executable = program.executable;
    executable.target = target;
    executable.execution = "phased";
    executable.residents = std::move(constants.residents);
    program.sections = std::move(constants.sections);
    for (EntryPhases &entry : entries) {
      const auto number = int32_t(executable.configurations.size());
      if (entry.order.empty())
        entry.order = {{0, entry.phases.size()}};
      for (const auto &[begin, end] : entry.order)
        addSteps(entry, number, begin, end);
      for (size_t p = 0; p < entry.phases.size(); ++p)
        executable.configurations.push_back(std::move(configurations[executable.configurations.size()]));
      executable.entries.push_back(std::move(entry.entry));
    }
    return program;
  }

  std::vector<EntryPhases> &entries;
  const Rectangle &rectangle;
  const target::Target &target;
  ConstantTable &constants;
  std::vector<Named> all;
  std::map<int32_t, Life> tensorLives; // by resident
  std::vector<int> bankOf;             // per resident: in which it begins, -1: any
  std::vector<Configuration> configurations;
};

} // namespace

absl::StatusOr<GeneratedProgram> assemble(std::vector<EntryPhases> entries, std::vector<StateVariable> states,
                                          const Rectangle &rectangle, const target::Target &target,
                                          ConstantTable constants) {
  auto program = Assembler(entries, rectangle, target, constants).make();
  if (program.ok())
    program->executable.states = std::move(states);
  return program;
}

} // namespace wsc::spmd
