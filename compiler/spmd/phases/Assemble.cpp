// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors that several phases name become residents; scratch of a phase is packed into one arena; then one allocation over
// the whole entry gives addresses: constants live for ever, tensors from the first to the last phase that names them, arenas
// for their phase.
#include "compiler/spmd/phases/Assemble.h"

#include "compiler/solver/Allocation.h"
#include "compiler/spmd/program/PackScratch.h"
#include "compiler/spmd/roles/Roles.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

Lattice wholeLattice(const Rectangle &rectangle) {
  Lattice lattice;
  lattice.dims[kRowDim] = {rectangle.rows, rectangle.rows > 1 ? 1 : 0, 0};
  lattice.dims[kColDim] = {rectangle.cols, 0, rectangle.cols > 1 ? 1 : 0};
  return lattice;
}

int64_t codeBytes(const target::Target &target, const Role &role) {
  int64_t bytes = 0;
  for (const Thread &thread : role.threads)
    for (const Instruction &instruction : thread) {
      bytes += target.instructionBytes;
      for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
        bytes += operand->kind == OperandKind::Memory ? target.descriptorBytes : 0;
    }
  return bytes;
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

class EntryMaker {
public:
  EntryMaker(Entry entry, const Rectangle &rectangle, const target::Target &target, std::vector<Phase> &phases,
             ConstantTable &constants, GeneratedProgram &program)
      : entry(std::move(entry)), rectangle(rectangle), target(target), phases(phases), constants(constants), program(program) {}

  absl::Status make() {
    findTensors();
    for (Phase &phase : phases) {
      auto packed = packScratch(phase.code, target, target.usableSramBytes());
      if (!packed.ok())
        return packed.status();
      // Until addresses are known a buffer's place in its phase stands for it.
      for (size_t b = 0; b < phase.code.buffers.size(); ++b)
        phase.code.buffers[b].address = int64_t(b);
    }
    if (absl::Status status = makeConfigurations(); !status.ok())
      return status;
    if (absl::Status status = allocate(); !status.ok())
      return status;
    finish();
    return absl::OkStatus();
  }

private:
  struct Life {
    int32_t first = INT32_MAX, last = -1;
  };

  /// Tensors named in several phases become residents of the entry.
  void findTensors() {
    std::map<TensorId, Life> lives;
    for (size_t p = 0; p < phases.size(); ++p)
      for (const auto &[tensor, buffer] : phases[p].buffers) {
        lives[tensor].first = std::min(lives[tensor].first, int32_t(p));
        lives[tensor].last = std::max(lives[tensor].last, int32_t(p));
      }
    for (const auto &[tensor, life] : lives) {
      if (life.first == life.last)
        continue;
      const int32_t number = int32_t(constants.residents.size());
      Resident resident;
      bool first = true;
      for (Phase &phase : phases) {
        auto found = phase.buffers.find(tensor);
        if (found == phase.buffers.end())
          continue;
        Buffer &buffer = phase.code.buffers[size_t(found->second)];
        buffer.kind = BufferKind::Resident;
        buffer.resident = number;
        if (first) {
          resident.name = absl::StrCat(buffer.name, "#", number);
          resident.type = buffer.type;
          resident.bytes = buffer.bytes;
          resident.cores = wholeLattice(rectangle);
        }
        first = false;
      }
      constants.residents.push_back(std::move(resident));
      tensorLives[number] = life;
    }
  }

  absl::Status makeConfigurations() {
    auto colours = familyColours(target);
    if (!colours.ok())
      return colours.status();
    for (size_t p = 0; p < phases.size(); ++p) {
      Configuration configuration;
      configuration.name = absl::StrCat(entry.name, ".", p);
      Kernel kernel;
      kernel.name = absl::StrCat("phase ", p);
      kernel.layers = phases[p].layers;
      kernel.rows = rectangle.rows;
      kernel.cols = rectangle.cols;
      kernel.macs = phases[p].macs;
      kernel.predictedIntervalCycles = phases[p].estimatedCycles;
      configuration.kernels.push_back(std::move(kernel));
      if (absl::Status status = makeRoles(target, rectangle, phases[p].code, 0, configuration); !status.ok())
        return absl::Status(status.code(), absl::StrCat("phase ", p, ": ", std::string(status.message())));
      for (const PortUse &use : phases[p].ports)
        configuration.io.push_back(
            bindingOf(use, rectangle, (*colours)[size_t(use.output ? Family::Output : Family::Input)]));
      configurations.push_back(std::move(configuration));
    }
    return absl::OkStatus();
  }

  absl::Status allocate() {
    solver::allocation::Problem problem;
    int64_t code = 0;
    for (const Configuration &configuration : configurations)
      for (const Role &role : configuration.roles)
        code = std::max(code, codeBytes(target, role));
    problem.begin = (target.runtimeReserveBytes + target.stackBytes + code + 7) / 8 * 8;
    problem.limit = target.sramBytes;
    if (problem.begin > problem.limit)
      return absl::ResourceExhaustedError(absl::StrCat("a phase's code takes ", code, " bytes of a core; the target leaves ",
                                                       target.usableSramBytes(), " to programs"));
    for (size_t r = 0; r < constants.residents.size(); ++r) {
      solver::allocation::Buffer buffer;
      buffer.name = constants.residents[r].name;
      buffer.bytes = constants.residents[r].bytes;
      buffer.alignment = 8;
      if (auto life = tensorLives.find(int32_t(r)); life != tensorLives.end()) {
        buffer.lifeBegin = life->second.first;
        buffer.lifeEnd = life->second.last + 1;
      }
      problem.buffers.push_back(std::move(buffer));
    }
    std::vector<std::vector<size_t>> scratch(phases.size()); // per phase and buffer: its number in the problem
    for (size_t p = 0; p < phases.size(); ++p)
      for (const Buffer &held : phases[p].code.buffers) {
        scratch[p].push_back(problem.buffers.size());
        if (held.kind != BufferKind::Scratch)
          continue;
        solver::allocation::Buffer buffer;
        buffer.name = absl::StrCat(held.name, " of phase ", p);
        buffer.bytes = held.bytes;
        buffer.alignment = 64;
        buffer.lifeBegin = int64_t(p);
        buffer.lifeEnd = int64_t(p) + 1;
        problem.buffers.push_back(std::move(buffer));
      }
    auto solution = solver::allocation::solve(problem);
    if (!solution.ok())
      return absl::Status(solution.status().code(),
                          absl::StrCat("the SRAM of a core does not hold entry ", entry.name, ": ",
                                       std::string(solution.status().message())));
    for (size_t r = 0; r < constants.residents.size(); ++r)
      constants.residents[r].address = solution->addressOf[r];
    for (size_t p = 0; p < phases.size(); ++p)
      for (Role &role : configurations[p].roles)
        for (Buffer &buffer : role.buffers)
          buffer.address = buffer.kind == BufferKind::Resident
                               ? constants.residents[size_t(buffer.resident)].address
                               : solution->addressOf[scratch[p][size_t(buffer.address)]];
    return absl::OkStatus();
  }

  void finish() {
    Executable &executable = program.executable;
    const int32_t firstResident = int32_t(executable.residents.size()), firstSection = int32_t(program.sections.size());
    const int32_t firstConfiguration = int32_t(executable.configurations.size());
    for (Resident &resident : constants.residents) {
      if (resident.section >= 0)
        resident.section += firstSection;
      executable.residents.push_back(std::move(resident));
    }
    for (emit::SectionRecipe &section : constants.sections)
      program.sections.push_back(std::move(section));
    for (size_t p = 0; p < configurations.size(); ++p) {
      for (Role &role : configurations[p].roles)
        for (Buffer &buffer : role.buffers)
          if (buffer.resident >= 0)
            buffer.resident += firstResident;
      const int32_t number = firstConfiguration + int32_t(p), step = int32_t(entry.steps.size());
      Step configure{StepKind::Configure, number, {}}, run{StepKind::Run, number, {step}};
      if (step > 0)
        configure.after.push_back(step - 1);
      entry.steps.push_back(std::move(configure));
      entry.steps.push_back(std::move(run));
      executable.configurations.push_back(std::move(configurations[p]));
    }
    executable.entries.push_back(std::move(entry));
  }

  Entry entry;
  const Rectangle &rectangle;
  const target::Target &target;
  std::vector<Phase> &phases;
  ConstantTable &constants;
  GeneratedProgram &program;
  std::map<int32_t, Life> tensorLives; // by resident
  std::vector<Configuration> configurations;
};

} // namespace

absl::Status assembleEntry(Entry entry, const Rectangle &rectangle, const target::Target &target, std::vector<Phase> phases,
                           ConstantTable constants, GeneratedProgram &program) {
  return EntryMaker(std::move(entry), rectangle, target, phases, constants, program).make();
}

} // namespace wsc::spmd
