// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generator draws names that need quotes, numbers up to 64 bits and every opcode; indices are always in range.
#include "RandomModule.h"

#include <bit>
#include <random>

namespace wsc::emit {
namespace {

using namespace format;

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  CoreModule run() {
    Executable &executable = module.executable;
    constexpr const char *kTargets[] = {"wse1", "wse2", "wse3", "mesh-4x7"};
    executable.target = target::loadTarget(kTargets[upTo(3)]).value();
    if (oneIn(3))
      executable.target.clockGHz *= 0.5; // no longer the built-in description
    executable.execution = oneIn(2) ? "pipelined" : "weight streaming \"two\"\n";
    for (int64_t i = upTo(3); i >= 0; --i)
      module.sections.push_back(section());
    for (int64_t i = upTo(2); i >= 0; --i)
      executable.states.push_back({tensor(name("state")), int32_t(upTo(int64_t(module.sections.size()))) - 1});
    for (int64_t i = upTo(4); i > 0; --i)
      executable.residents.push_back(resident());
    for (int64_t i = upTo(2); i >= 0; --i)
      executable.entries.push_back(entry());
    for (int64_t i = upTo(2); i >= 0; --i)
      executable.configurations.push_back(configuration());
    for (Entry &entry : executable.entries)
      for (int64_t i = 0; i < upTo(4); ++i) {
        Step step{oneIn(2) ? StepKind::Run : StepKind::Configure,
                  int32_t(upTo(int64_t(executable.configurations.size()) - 1)),
                  {}};
        if (step.kind == StepKind::Run && oneIn(3))
          step.count = int32_t(1 + upTo(1000));
        if (step.kind == StepKind::Run && oneIn(3))
          step.first = int32_t(upTo(1000));
        for (int64_t before = 0; before < int64_t(entry.steps.size()); ++before)
          if (oneIn(2))
            step.after.push_back(int32_t(before));
        entry.steps.push_back(step);
      }
    return std::move(module);
  }

private:
  std::mt19937_64 random;
  CoreModule module;
  int numbered = 0;

  int64_t upTo(int64_t most) { return int64_t(random() % uint64_t(most + 1)); }
  bool oneIn(int n) { return upTo(n - 1) == 0; }
  int64_t number() {
    switch (upTo(5)) {
    case 0:
      return 0;
    case 1:
      return int64_t(random());
    default:
      return upTo(2000) - 1000;
    }
  }
  int32_t number32() { return oneIn(8) ? int32_t(random()) : oneIn(3) ? 0 : int32_t(upTo(2000) - 1000); }
  ElementType type() { return ElementType(upTo(kNumElementTypes - 1)); }

  // Plain names, names that need quotes, names that look like others after cleaning.
  std::string name(const char *kind) {
    constexpr const char *kTails[] = {"", ".x", "->pool", " \"quoted\"", "\\", "é", "_", "-"};
    return std::string(kind) + std::to_string(numbered++) + kTails[upTo(7)];
  }

  Lattice lattice() {
    Lattice result;
    result.row = int32_t(upTo(700));
    result.col = int32_t(upTo(900));
    for (int64_t d = 0; d < upTo(4); ++d)
      result.dims[size_t(d)] = {int32_t(upTo(20)) + 1, int32_t(upTo(30)), int32_t(upTo(3)) + 1};
    return result;
  }
  static size_t rank(const Lattice &lattice) {
    size_t count = kMaxDims;
    while (count > 0 && lattice.dims[count - 1] == Lattice::Dim())
      --count;
    return count;
  }
  Affine affine(const Lattice &lattice) {
    Affine result(number());
    for (size_t d = 0; d < rank(lattice); ++d)
      if (oneIn(3))
        result.perDim[d] = number();
    return result;
  }

  TensorType tensor(std::string name) {
    TensorType result{std::move(name), type(), {}};
    for (int64_t d = 0; d < upTo(4); ++d)
      result.shape.push_back(upTo(9));
    return result;
  }

  SectionRecipe section() {
    SectionRecipe recipe;
    recipe.name = name("section");
    recipe.type = type();
    int64_t unit = elementBytes(recipe.type), elements = upTo(40) + 1;
    if (oneIn(2)) {
      recipe.path = oneIn(2) ? "weights.bin" : "a \"b\"/c\\d";
      recipe.sourceOffset = upTo(1 << 20);
      recipe.sourceBytes = elements * unit;
    } else {
      auto bytes = std::make_shared<std::vector<std::byte>>();
      bool equal = oneIn(3);
      for (int64_t i = 0; i < elements * unit; ++i)
        bytes->push_back(recipe.type == ElementType::Bool ? std::byte(equal || oneIn(2))
                                                          : std::byte(equal ? 0x3f : random()));
      recipe.inlineBytes = bytes;
    }
    for (int64_t d = 0; d < upTo(3); ++d) {
      recipe.extents.push_back(1 + upTo(1));
      recipe.strides.push_back(upTo(elements / 8));
    }
    return recipe;
  }

  Resident resident() {
    Resident result;
    result.name = name("resident");
    result.type = type();
    result.cores = lattice();
    result.address = upTo(49152);
    result.bytes = upTo(4000);
    if (oneIn(3)) {
      result.section = int32_t(upTo(int64_t(module.sections.size()) - 1));
      result.sectionOffset = affine(result.cores);
    } else if (oneIn(2)) {
      result.state = int32_t(upTo(int64_t(module.executable.states.size()) - 1));
      result.stateOffset = affine(result.cores);
    }
    return result;
  }

  Entry entry() {
    Entry result;
    result.name = name("entry");
    for (int64_t i = upTo(3); i >= 0; --i)
      result.inputs.push_back(tensor(name("in")));
    for (int64_t i = upTo(2); i >= 0; --i)
      result.outputs.push_back(tensor("same name"));
    return result;
  }

  Operand memory(const Role &role, bool writable, int depth) {
    std::vector<int16_t> candidates;
    for (size_t i = 0; i < role.buffers.size(); ++i)
      if (role.buffers[i].kind != BufferKind::Fifo && (!writable || role.buffers[i].kind != BufferKind::Constant))
        candidates.push_back(int16_t(i));
    Operand operand;
    operand.kind = OperandKind::Memory;
    operand.buffer = candidates[size_t(upTo(int64_t(candidates.size()) - 1))];
    operand.base = affine(role.cores);
    for (int32_t &stride : operand.stride)
      stride = number32();
    for (int k = 0; k < depth; ++k)
      operand.loopStep[size_t(k)] = number32();
    return operand;
  }
  Operand stream(const Role &role, bool output) {
    Operand operand;
    for (size_t i = 0; i < role.buffers.size(); ++i)
      if (role.buffers[i].kind == BufferKind::Fifo && oneIn(2)) {
        operand.kind = OperandKind::Fifo;
        operand.buffer = int16_t(i);
        return operand;
      }
    operand.kind = OperandKind::Queue;
    operand.queue = output ? 1 : 0; // the first two queues of a role are one of each
    return operand;
  }
  Operand immediate() {
    constexpr double kSpecial[] = {0.0, -0.0, 0.1, 1e300, -5e-324, 3.0, 16777217.0, 1.0 / 3};
    Operand operand;
    operand.kind = OperandKind::Immediate;
    operand.immediate = oneIn(2) ? kSpecial[upTo(7)] : std::bit_cast<double>(random());
    return operand;
  }

  Instruction instruction(const Role &role, int depth) {
    Instruction result;
    if (oneIn(12)) {
      result.opcode = Opcode::SendControl;
      result.dst.kind = OperandKind::Queue;
      result.dst.queue = 1;
      result.controlCount = uint8_t(1 + upTo(254));
      return result;
    }
    result.opcode = Opcode(upTo(int64_t(Opcode::Scatter)));
    const OpcodeInfo &info = opcodeInfo(result.opcode);
    constexpr ElementType kFloats[] = {ElementType::F32, ElementType::F16, ElementType::BF16, ElementType::F64};
    result.type = info.floatOnly ? kFloats[upTo(3)] : type();
    if (result.opcode == Opcode::Convert)
      result.sourceType = type();
    if (const ElementType source = type(); oneIn(2) && mayMix(result.opcode, source, result.type)) {
      result.sourceType = source;
      result.mixed = true;
    }
    bool inPlace = info.readsDst || result.opcode == Opcode::Scatter;
    if (result.opcode == Opcode::Move && oneIn(6))
      result.dst.kind = OperandKind::Null;
    else
      result.dst = inPlace || oneIn(2) ? memory(role, true, depth) : stream(role, true);
    auto source = [&] { return oneIn(4) ? immediate() : oneIn(2) ? stream(role, false) : memory(role, false, depth); };
    if (info.sources > 0)
      result.a = result.opcode == Opcode::Gather ? memory(role, false, depth) : source();
    if (info.sources > 1)
      result.b = source();
    for (Affine &extent : result.extent)
      if (oneIn(2))
        extent = affine(role.cores);
    return result;
  }

  Thread thread(const Role &role) {
    Thread result;
    int depth = 0;
    for (int64_t i = upTo(14); i > 0 || depth > 0; --i) {
      Instruction control;
      if (depth < 4 && i > 0 && oneIn(4)) {
        control.opcode = Opcode::Loop;
        control.extent[0] = affine(role.cores);
        ++depth;
        result.push_back(control);
      } else if (depth > 0 && (i <= 0 || oneIn(3))) {
        control.opcode = Opcode::EndLoop;
        --depth;
        result.push_back(control);
      } else {
        result.push_back(instruction(role, depth));
      }
    }
    return result;
  }

  Role role(const Configuration &configuration) {
    Role result;
    result.name = name("role");
    result.kernel = int32_t(upTo(int64_t(configuration.kernels.size()))) - 1;
    result.cores = lattice();
    for (int64_t i = upTo(5); i >= 0; --i) {
      Buffer buffer;
      buffer.name = name("x");
      buffer.kind =
          BufferKind(i == 0 ? 0 : upTo(module.executable.residents.empty() ? 3 : 4)); // one that can be written
      buffer.type = type();
      buffer.address = upTo(49152);
      buffer.bytes = upTo(4000);
      if (buffer.kind == BufferKind::Constant) {
        buffer.section = int32_t(upTo(int64_t(module.sections.size()) - 1));
        buffer.sectionOffset = affine(result.cores);
      } else if (buffer.kind == BufferKind::State) {
        buffer.state = int32_t(upTo(int64_t(module.executable.states.size()) - 1));
      } else if (buffer.kind == BufferKind::Resident) {
        buffer.resident = int32_t(upTo(int64_t(module.executable.residents.size()) - 1));
        buffer.residentOffset = oneIn(2) ? 0 : number();
        buffer.runStep = oneIn(2) ? 0 : number();
      }
      result.buffers.push_back(buffer);
    }
    result.queues.push_back({false, uint8_t(upTo(255)), uint8_t(upTo(255))});
    result.queues.push_back({true, uint8_t(upTo(255)), uint8_t(upTo(255))});
    for (int64_t i = 0; i < upTo(3); ++i)
      result.queues.push_back({oneIn(2), uint8_t(upTo(23)), uint8_t(upTo(7))});
    for (int64_t i = 0; i < upTo(3); ++i)
      result.threads.push_back(thread(result));
    return result;
  }

  Configuration configuration() {
    Configuration result;
    result.name = name("configuration");
    for (int64_t i = 0; i < upTo(3); ++i)
      result.kernels.push_back({name("kernel"), std::vector<std::string>(size_t(upTo(2)), "layer"), number32(),
                                number32(), number32(), number32(), number(), number()});
    for (int64_t i = 0; i < upTo(3); ++i)
      result.nets.push_back({name("net"), number()});
    for (int64_t i = 0; i < upTo(4); ++i)
      result.roles.push_back(role(result));
    for (int64_t i = 0; i < upTo(4); ++i) {
      RouterRole router{lattice(), uint8_t(upTo(255)), int32_t(upTo(int64_t(result.nets.size()))) - 1, {}};
      for (int64_t p = upTo(3); p >= 0; --p)
        router.positions.push_back({Port(upTo(4)), PortMask(1 + upTo(30))});
      result.routers.push_back(router);
    }
    for (int64_t i = 0; i < upTo(3); ++i) {
      IoBinding io;
      io.output = oneIn(2);
      io.tensor = 0; // every entry has one of each
      io.ports = lattice();
      io.side = Port(upTo(3));
      io.colour = uint8_t(upTo(255));
      io.hostOffset = affine(io.ports);
      for (Affine &extent : io.extent)
        if (oneIn(2))
          extent = affine(io.ports);
      for (int64_t &stride : io.stride)
        stride = number();
      io.padded = oneIn(2);
      result.io.push_back(io);
    }
    for (size_t r = result.roles.size(); r > 0; --r)
      for (size_t b = 0; b < result.roles[r - 1].buffers.size(); ++b)
        if (const Buffer &buffer = result.roles[r - 1].buffers[b]; buffer.kind == BufferKind::State) {
          StateBinding binding{buffer.state, int32_t(r - 1), int32_t(b), affine(result.roles[r - 1].cores), {}, {}};
          for (int64_t &extent : binding.extent)
            extent = oneIn(2) ? 1 : number();
          for (int64_t &stride : binding.stride)
            stride = number();
          result.stateBindings.push_back(binding);
        }
    return result;
  }
};

} // namespace

CoreModule randomModule(uint64_t seed) { return Generator(seed).run(); }

CoreModule largeModule(int roles, int instructions) {
  CoreModule module;
  module.executable.target = target::loadTarget("wse2").value();
  module.executable.execution = "pipelined";
  SectionRecipe section;
  section.name = "w";
  section.path = "weights.bin";
  section.sourceBytes = int64_t(1) << 24;
  section.extents = {int64_t(1) << 22};
  section.strides = {1};
  module.sections.push_back(section);
  Configuration configuration;
  configuration.name = "main";
  for (int r = 0; r < roles; ++r) {
    Role role;
    role.name = "role" + std::to_string(r);
    role.cores.row = r % 700;
    role.cores.dims[0] = {56, 13, 0};
    role.cores.dims[1] = {11, 0, 1};
    for (int b = 0; b < 6; ++b) {
      Buffer buffer{"buffer" + std::to_string(b),
                    b == 0 ? BufferKind::Constant : BufferKind::Scratch,
                    ElementType::F32,
                    8192 + 400 * b,
                    400,
                    b == 0 ? 0 : -1,
                    Affine(b == 0 ? 64 * r : 0),
                    -1};
      role.buffers.push_back(buffer);
    }
    role.queues = {{false, 1, 0}, {true, 2, 0}};
    Instruction fma;
    fma.opcode = Opcode::Fma;
    fma.dst.kind = fma.a.kind = fma.b.kind = OperandKind::Memory;
    fma.dst.buffer = 1;
    fma.a.buffer = 0;
    fma.b.buffer = 2;
    fma.dst.stride = {80, 4};
    fma.b.stride = {112, 4};
    fma.extent = {14, 20, 1, 1};
    Thread thread;
    for (int i = 0; i < instructions; ++i) {
      fma.a.base = Affine(4 * i);
      fma.b.base.perDim[1] = r + i;
      thread.push_back(fma);
    }
    role.threads.push_back(thread);
    configuration.roles.push_back(role);
    configuration.routers.push_back({role.cores, uint8_t(r % 20), -1, {{Port::West, 4}}});
  }
  module.executable.configurations.push_back(std::move(configuration));
  return module;
}

} // namespace wsc::emit
