// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ground every other rule stands on: enumerators and indices in range, counts positive, coefficients small enough
// for exact arithmetic. The loader checks indices as well; executables built in memory come here directly.
#include "runtime/format/verifier/Forms.h"
#include "runtime/format/verifier/Rules.h"

namespace wsc::format::verifier {

namespace {

constexpr int64_t kMostCores = int64_t(1) << 26;
constexpr int64_t kMostElements = int64_t(1) << 48;

class Indices {
public:
  Indices(const Executable &executable, Report &report) : executable(executable), report(report) {}

  bool run() {
    size_t before = report.size();
    checkTarget();
    for (const StateVariable &state : executable.states) {
      where = text("state variable ", state.tensor.name);
      tensor(state.tensor);
      within("initial section", state.initialSection, -1, executable.sections.size());
    }
    for (size_t r = 0; r < executable.residents.size(); ++r)
      checkResident(executable.residents[r], r);
    for (const Entry &entry : executable.entries)
      checkEntry(entry);
    for (const Configuration &configuration : executable.configurations)
      checkConfiguration(configuration);
    return report.size() == before;
  }

private:
  void fail(const char *rule, const std::string &what) {
    std::string message = text(where, ": ", what);
    report.add(rule, message, message);
  }
  void within(const char *what, int64_t value, int64_t low, size_t end) {
    if (value < low || value >= int64_t(end))
      fail("index", text(what, " is ", value, ", legal are ", low, " to ", int64_t(end) - 1));
  }
  void bounded(const char *what, int64_t value, int64_t low, int64_t high) {
    if (value < low || value > high)
      fail("range", text(what, " is ", value, ", legal are ", low, " to ", high));
  }
  void affine(const char *what, const Affine &value) {
    bounded(what, value.constant, -kMostCoefficient, kMostCoefficient);
    for (int64_t step : value.perDim)
      bounded(what, step, -kMostCoefficient, kMostCoefficient);
  }
  void lattice(const Lattice &value) {
    for (const Lattice::Dim &dim : value.dims)
      bounded("a lattice count", dim.count, 1, kMostExtent);
  }
  void tensor(const TensorType &value) {
    within("element type", int64_t(value.type), 0, kNumElementTypes);
    Wide elements = 1;
    for (int64_t extent : value.shape) {
      bounded("a tensor extent", extent, 0, kMostElements);
      elements = std::min<Wide>(elements * std::max<int64_t>(extent, 0), kMost);
    }
    bounded("the number of elements", int64_t(elements), 0, kMostElements);
  }

  void checkTarget() {
    const target::Target &target = executable.target;
    where = text("target ", target.name);
    auto positive = [&](const char *what, int64_t value, int64_t high) {
      if (value < 1 || value > high)
        fail("target", text(what, " is ", value, ", legal are 1 to ", high));
    };
    auto natural = [&](const char *what, int64_t value) {
      if (value < 0 || value > kMostElements)
        fail("target", text(what, " is ", value, ", legal are 0 to ", kMostElements));
    };
    positive("rows", target.rows, kMostCores);
    positive("cols", target.cols, kMostCores);
    positive("rows * cols", int64_t(target.rows) * target.cols, kMostCores);
    positive("SRAM bytes", target.sramBytes, kMostElements);
    positive("colours", target.colours, 256);
    positive("switch positions", target.switchPositions, 256);
    positive("descriptors per operand kind", target.descriptorsPerOperandKind, kMostExtent);
    natural("runtime reserve bytes", target.runtimeReserveBytes);
    natural("stack bytes", target.stackBytes);
    natural("instruction bytes", target.instructionBytes);
    natural("descriptor bytes", target.descriptorBytes);
    natural("background operations", target.backgroundOperations);
    natural("task ids", target.taskIds);
  }

  void checkResident(const Resident &resident, size_t number) {
    where = text("resident ", resident.name, " #", number);
    within("element type", int64_t(resident.type), 0, kNumElementTypes);
    lattice(resident.cores);
    bounded("address", resident.address, 0, kMostElements);
    bounded("bytes", resident.bytes, 0, kMostElements);
    within("section", resident.section, -1, executable.sections.size());
    within("state", resident.state, -1, executable.states.size());
    affine("section offset", resident.sectionOffset);
    affine("state offset", resident.stateOffset);
  }

  void checkEntry(const Entry &entry) {
    where = text("entry ", entry.name);
    for (const TensorType &type : entry.inputs)
      tensor(type);
    for (const TensorType &type : entry.outputs)
      tensor(type);
    for (size_t s = 0; s < entry.steps.size(); ++s) {
      const Step &step = entry.steps[s];
      where = text("entry ", entry.name, ", step ", s);
      within("kind", int64_t(step.kind), 0, size_t(StepKind::Run) + 1);
      within("configuration", step.configuration, 0, executable.configurations.size());
      for (int32_t after : step.after)
        within("a step to wait for", after, 0, entry.steps.size());
    }
  }

  void checkConfiguration(const Configuration &configuration) {
    for (size_t r = 0; r < configuration.roles.size(); ++r) {
      const Role &role = configuration.roles[r];
      where = text("configuration ", configuration.name, ", role ", role.name, " #", r);
      within("kernel", role.kernel, -1, configuration.kernels.size());
      checkRole(role);
    }
    for (size_t r = 0; r < configuration.routers.size(); ++r) {
      const RouterRole &router = configuration.routers[r];
      where = text("configuration ", configuration.name, ", router role #", r);
      lattice(router.routers);
      within("net", router.net, -1, configuration.nets.size());
      for (const SwitchPosition &position : router.positions) {
        within("input port", int64_t(position.input), 0, kNumPorts);
        bounded("output ports", position.outputs, 0, (1 << kNumPorts) - 1);
      }
    }
    for (size_t b = 0; b < configuration.io.size(); ++b) {
      const IoBinding &binding = configuration.io[b];
      where = text("configuration ", configuration.name, ", I/O binding #", b);
      lattice(binding.ports);
      within("side", int64_t(binding.side), 0, kNumPorts);
      affine("host offset", binding.hostOffset);
      for (const Affine &extent : binding.extent)
        affine("an extent", extent);
      for (int64_t stride : binding.stride)
        bounded("a stride", stride, -kMostCoefficient, kMostCoefficient);
    }
    for (size_t b = 0; b < configuration.stateBindings.size(); ++b) {
      const StateBinding &binding = configuration.stateBindings[b];
      where = text("configuration ", configuration.name, ", state binding #", b);
      within("state", binding.state, 0, executable.states.size());
      within("role", binding.role, 0, configuration.roles.size());
      if (binding.role >= 0 && size_t(binding.role) < configuration.roles.size())
        within("buffer", binding.buffer, 0, configuration.roles[binding.role].buffers.size());
      affine("host offset", binding.hostOffset);
      for (int d = 0; d < kMaxDims; ++d) {
        bounded("an extent", binding.extent[d], 0, kMostExtent);
        bounded("a stride", binding.stride[d], -kMostCoefficient, kMostCoefficient);
      }
    }
  }

  void checkRole(const Role &role) {
    lattice(role.cores);
    std::string place = where;
    for (size_t b = 0; b < role.buffers.size(); ++b) {
      const Buffer &buffer = role.buffers[b];
      where = text(place, ", buffer ", buffer.name, " #", b);
      within("kind", int64_t(buffer.kind), 0, size_t(BufferKind::Resident) + 1);
      within("element type", int64_t(buffer.type), 0, kNumElementTypes);
      bounded("address", buffer.address, 0, kMostElements);
      bounded("bytes", buffer.bytes, 0, kMostElements);
      if (buffer.kind == BufferKind::Constant)
        within("section", buffer.section, 0, executable.sections.size());
      if (buffer.kind == BufferKind::State)
        within("state", buffer.state, 0, executable.states.size());
      if (buffer.kind == BufferKind::Resident)
        within("resident", buffer.resident, 0, executable.residents.size());
      bounded("resident offset", buffer.residentOffset, -kMostElements, kMostElements);
      bounded("run step", buffer.runStep, -kMostElements, kMostElements);
      affine("section offset", buffer.sectionOffset);
    }
    for (size_t q = 0; q < role.queues.size(); ++q) {
      where = text(place, ", queue #", q);
      bounded("the filter's period", role.queues[q].filter.period, 0, kMostElements);
      affine("the filter's first word", role.queues[q].filter.begin);
      affine("the filter's words", role.queues[q].filter.words);
    }
    for (size_t t = 0; t < role.threads.size(); ++t)
      for (size_t i = 0; i < role.threads[t].size(); ++i) {
        const Instruction &instruction = role.threads[t][i];
        // Building the place is dear beside the checks; only a faulty instruction is named.
        if (soundInstruction(instruction, role))
          continue;
        where = text(place, ", thread ", t, ", instruction ", i);
        nameFault(instruction, role);
      }
  }

  static bool soundAffine(const Affine &value) {
    auto small = [](int64_t v) { return v >= -kMostCoefficient && v <= kMostCoefficient; };
    bool all = small(value.constant);
    for (int64_t step : value.perDim)
      all &= small(step);
    return all;
  }
  static bool soundOperand(const Operand &operand, const Role &role) {
    if (operand.kind > OperandKind::Null || !soundAffine(operand.base))
      return false;
    if (operand.kind == OperandKind::Memory || operand.kind == OperandKind::Fifo)
      return operand.buffer >= 0 && size_t(operand.buffer) < role.buffers.size();
    return operand.kind != OperandKind::Queue || (operand.queue >= 0 && size_t(operand.queue) < role.queues.size());
  }
  static bool soundInstruction(const Instruction &instruction, const Role &role) {
    bool sound = int(instruction.opcode) < kNumOpcodes && int(instruction.type) < kNumElementTypes &&
                 int(instruction.sourceType) < kNumElementTypes;
    for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
      sound = sound && soundOperand(*operand, role);
    for (const Affine &extent : instruction.extent)
      sound = sound && soundAffine(extent);
    return sound;
  }
  void nameFault(const Instruction &instruction, const Role &role) {
    within("opcode", int64_t(instruction.opcode), 0, kNumOpcodes);
    within("element type", int64_t(instruction.type), 0, kNumElementTypes);
    within("source type", int64_t(instruction.sourceType), 0, kNumElementTypes);
    for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b}) {
      within("operand kind", int64_t(operand->kind), 0, size_t(OperandKind::Null) + 1);
      affine("an operand's base", operand->base);
      if (operand->kind == OperandKind::Memory || operand->kind == OperandKind::Fifo)
        within("an operand's buffer", operand->buffer, 0, role.buffers.size());
      if (operand->kind == OperandKind::Queue)
        within("an operand's queue", operand->queue, 0, role.queues.size());
    }
    for (const Affine &extent : instruction.extent)
      affine("an extent", extent);
  }

  const Executable &executable;
  Report &report;
  std::string where;
};

} // namespace

bool checkIndices(const Executable &executable, Report &report) { return Indices(executable, report).run(); }

} // namespace wsc::format::verifier
