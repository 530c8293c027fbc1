// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/validation/Mesh.h"

#include "runtime/format/Verifier.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::validation {

using namespace format;

namespace {

// A run of columns in a row.
struct Run {
  int32_t first = 0, count = 1, step = 0;
  bool operator==(const Run &) const = default;
};

std::vector<Run> runsOf(const std::vector<int32_t> &columns) {
  std::vector<Run> runs;
  for (size_t i = 0; i < columns.size();) {
    Run run{columns[i], 1, 0};
    if (i + 1 < columns.size())
      run.step = columns[i + 1] - columns[i];
    while (i + size_t(run.count) < columns.size() &&
           columns[i + size_t(run.count)] - columns[i + size_t(run.count) - 1] == run.step)
      ++run.count;
    if (run.count == 1)
      run.step = 0;
    // Two columns far apart are no run if the second begins a longer one.
    if (run.count == 2 && i + 2 < columns.size())
      run = {columns[i], 1, 0};
    runs.push_back(run);
    i += size_t(run.count);
  }
  return runs;
}

} // namespace

std::vector<Lattice> latticesOf(std::vector<Place> places) {
  std::map<int32_t, std::vector<int32_t>> byRow;
  for (const Place &place : places)
    byRow[place.row].push_back(place.col);
  // Rows with the same columns go together.
  std::map<std::vector<int32_t>, std::vector<int32_t>> rowsOf;
  for (auto &[row, columns] : byRow) {
    std::sort(columns.begin(), columns.end());
    rowsOf[columns].push_back(row);
  }
  std::vector<Lattice> lattices;
  for (const auto &[columns, rows] : rowsOf)
    for (const Run &down : runsOf(rows))
      for (const Run &along : runsOf(columns)) {
        Lattice lattice;
        lattice.row = down.first;
        lattice.col = along.first;
        lattice.dims[2] = {down.count, down.step, 0};
        lattice.dims[3] = {along.count, 0, along.step};
        lattices.push_back(lattice);
      }
  std::sort(lattices.begin(), lattices.end(),
            [](const Lattice &a, const Lattice &b) { return std::pair(a.row, a.col) < std::pair(b.row, b.col); });
  return lattices;
}

Core::Core(Mesh &mesh, std::string name) : RoleBuilder(mesh.builder, std::move(name)), mesh(mesh) {}

Op Core::part(int variable, const std::string &name, const Part &part) {
  int64_t elements = 1;
  for (int64_t extent : part.extent)
    elements *= extent;
  bindings.push_back({variable, int32_t(role.buffers.size()), part});
  return state(name, mesh.builder.result.states[size_t(variable)].tensor.type, elements, variable);
}

int Mesh::variable(const std::string &name, ElementType type, std::vector<int64_t> shape) {
  StateVariable state;
  state.tensor = {name, type, std::move(shape)};
  builder.result.states.push_back(std::move(state));
  return int(builder.result.states.size()) - 1;
}

void Mesh::place(int32_t row, int32_t col, Core &core) {
  Kind kind{core.build(), core.banks, core.bindings, {{row, col}}};
  kind.role.cores = {};
  for (Kind &known : kinds)
    if (known.role == kind.role && known.banks == kind.banks && known.bindings == kind.bindings) {
      known.places.push_back({row, col});
      return;
    }
  kinds.push_back(std::move(kind));
}

int32_t &Mesh::settingAt(uint8_t colour, Place at) {
  std::vector<int32_t> &plane = settings[colour];
  if (plane.empty())
    plane.assign(size_t(rows) * size_t(cols), -1);
  return plane[size_t(at.row) * size_t(cols) + size_t(at.col)];
}

void Mesh::switched(uint8_t colour, Place at, std::vector<SwitchPosition> positions) {
  int32_t &setting = settingAt(colour, at);
  if (setting >= 0)
    fault.Update(
        absl::InternalError(absl::StrCat("two settings for colour ", int(colour), " at (", at.row, ", ", at.col, ")")));
  const auto same = std::find(tables.begin(), tables.end(), positions);
  setting = int32_t(same - tables.begin());
  if (same == tables.end())
    tables.push_back(std::move(positions));
}

void Mesh::route(uint8_t colour, Place at, Port input, PortMask outputs) {
  int32_t &setting = settingAt(colour, at);
  if (setting >= 0) {
    const SwitchPosition &known = tables[size_t(setting)][0];
    if (known.input != input)
      fault.Update(
          absl::InternalError(absl::StrCat("two inputs for colour ", int(colour), " at (", at.row, ", ", at.col, ")")));
    outputs |= known.outputs;
    setting = -1;
  }
  switched(colour, at, {{input, outputs}});
}

void Mesh::path(uint8_t colour, Place from, Place to, bool drop) {
  Port input = Port::Ramp;
  Place at = from;
  while (!(at == to)) {
    Port output = Port::East, entry = Port::West;
    Place next = at;
    if (at.col != to.col) {
      next.col += at.col < to.col ? 1 : -1;
      if (next.col < at.col)
        output = Port::West, entry = Port::East;
    } else {
      next.row += at.row < to.row ? 1 : -1;
      output = next.row < at.row ? Port::North : Port::South;
      entry = next.row < at.row ? Port::South : Port::North;
    }
    route(colour, at, input, PortMask(bit(output) | (drop && !(at == from) ? bit(Port::Ramp) : 0)));
    at = next;
    input = entry;
  }
  route(colour, at, input, bit(Port::Ramp));
}

// SRAM from the bottom: runtime, stack, code, then the buffers, each in the bank it asks for.
void Mesh::layOut(Kind &kind) {
  int64_t address = target.runtimeReserveBytes + target.stackBytes;
  for (const Thread &thread : kind.role.threads)
    for (const Instruction &instruction : thread) {
      address += target.instructionBytes;
      for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
        address += operand->kind == OperandKind::Memory ? target.descriptorBytes : 0;
    }
  const int64_t access = target.sramAccessBytes;
  for (size_t b = 0; b < kind.role.buffers.size(); ++b) {
    address = (address + access - 1) / access * access;
    const Core::BankChoice choice = b < kind.banks.size() ? kind.banks[b] : Core::BankChoice{};
    const int64_t from = choice.beside >= 0 ? kind.role.buffers[size_t(choice.beside)].address / access : 0;
    while (choice.number >= 0 && address / access % target.sramBanks != (from + choice.number) % target.sramBanks)
      address += access;
    kind.role.buffers[b].address = address;
    address += kind.role.buffers[b].bytes;
  }
}

absl::StatusOr<Executable> Mesh::finish() {
  if (!fault.ok())
    return fault;
  Executable &executable = builder.result;
  executable.target = target;
  executable.execution = "pipelined";
  Configuration &configuration = executable.configurations[0];
  configuration.name = "main";
  for (Kind &kind : kinds) {
    layOut(kind);
    for (const Lattice &lattice : latticesOf(kind.places)) {
      Role role = kind.role;
      role.cores = lattice;
      for (const Core::Binding &binding : kind.bindings) {
        StateBinding state;
        state.state = binding.variable;
        state.role = int32_t(configuration.roles.size());
        state.buffer = binding.buffer;
        const Part &part = binding.part;
        state.hostOffset = Affine(part.offset + part.perRow * lattice.row + part.perCol * lattice.col);
        for (size_t d = 0; d < kMaxDims; ++d)
          state.hostOffset.perDim[d] = part.perRow * lattice.dims[d].rowStep + part.perCol * lattice.dims[d].colStep;
        int64_t dense = 1;
        for (size_t i = part.extent.size(), d = kMaxDims; i-- > 0;) {
          --d;
          state.extent[d] = part.extent[i];
          state.stride[d] = part.stride.empty() ? dense : part.stride[i];
          dense *= part.extent[i];
        }
        configuration.stateBindings.push_back(state);
      }
      configuration.roles.push_back(std::move(role));
    }
  }
  for (const auto &[colour, plane] : settings) {
    configuration.nets.push_back({absl::StrCat("colour ", int(colour)), 0});
    std::map<int32_t, std::vector<Place>> places;
    for (int32_t row = 0; row < rows; ++row)
      for (int32_t col = 0; col < cols; ++col)
        if (const int32_t setting = plane[size_t(row) * size_t(cols) + size_t(col)]; setting >= 0)
          places[setting].push_back({row, col});
    for (const auto &[setting, where] : places)
      for (const Lattice &lattice : latticesOf(where)) {
        RouterRole router;
        router.routers = lattice;
        router.colour = colour;
        router.net = int32_t(configuration.nets.size()) - 1;
        router.positions = tables[size_t(setting)];
        configuration.routers.push_back(std::move(router));
      }
  }
  Entry entry;
  entry.name = "main";
  entry.steps = {{StepKind::Configure, 0, {}}, {StepKind::Run, 0, {0}}};
  executable.entries.push_back(std::move(entry));
  if (absl::Status verified = verifyExecutable(executable); !verified.ok())
    return verified;
  return std::move(executable);
}

} // namespace wsc::validation
