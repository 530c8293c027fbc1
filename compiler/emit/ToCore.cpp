// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CoreModule → core IR: one operation per struct, in order. Indices become names, or values where the operation defines
// one.
#include "compiler/emit/Module.h"

#include "dialects/core/CoreDialect.h"

#include "mlir/IR/Verifier.h"

#include <algorithm>
#include <cstring>

using namespace mlir;

namespace wsc::emit {
namespace {

using namespace format;

class ToCore {
public:
  ToCore(MLIRContext &context, const CoreModule &module)
      : module(module), executable(module.executable), builder(&context), loc(UnknownLoc::get(&context)) {}

  OwningOpRef<ModuleOp> run() {
    OwningOpRef<ModuleOp> result = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(result->getBody());
    emitExecutable();
    if (bad || failed(verify(*result)))
      return {};
    return result;
  }

private:
  const CoreModule &module;
  const Executable &executable;
  OpBuilder builder;
  Location loc;
  bool bad = false;

  template <typename... Parts> void error(const Parts &...parts) {
    InFlightDiagnostic diagnostic = emitError(loc);
    (void)(diagnostic << ... << parts);
    bad = true;
  }

  //===- Small things
  //-------------------------------------------------------------------------------------------------===//

  IntegerAttr i32(int64_t value) { return builder.getI32IntegerAttr(int32_t(value)); }
  IntegerAttr i64(int64_t value) { return builder.getI64IntegerAttr(value); }
  StringAttr text(const std::string &value) { return builder.getStringAttr(value); }
  UnitAttr unit(bool isSet) { return isSet ? builder.getUnitAttr() : UnitAttr(); }
  Type type(ElementType value) {
    Type result = core::toMlirType(builder.getContext(), value);
    if (!result) {
      error("element type ", int(value), " does not exist");
      result = builder.getF32Type();
    }
    return result;
  }
  TypeAttr typeAttr(ElementType value) { return TypeAttr::get(type(value)); }

  // Name of items[index]; null when index is -1 and that is allowed.
  template <typename Items, typename NameOf>
  FlatSymbolRefAttr reference(const Items &items, int64_t index, bool optional, const char *what, NameOf nameOf) {
    if (index == -1 && optional)
      return {};
    if (index < 0 || index >= int64_t(items.size())) {
      error(what, " number ", index, " is not there; there are ", items.size());
      return FlatSymbolRefAttr::get(builder.getContext(), "missing");
    }
    return FlatSymbolRefAttr::get(text(nameOf(items[size_t(index)])));
  }
  template <typename Items>
  FlatSymbolRefAttr reference(const Items &items, int64_t index, bool optional, const char *what) {
    return reference(items, index, optional, what, [](const auto &item) { return item.name; });
  }
  FlatSymbolRefAttr stateReference(int64_t index) {
    return reference(executable.states, index, false, "state",
                     [](const StateVariable &state) { return state.tensor.name; });
  }

  template <typename Int, size_t N> static ArrayRef<Int> trimmed(const std::array<Int, N> &values, size_t limit = N) {
    size_t count = std::min(limit, N);
    while (count > 0 && values[count - 1] == 0)
      --count;
    return ArrayRef<Int>(values.data(), count);
  }

  static size_t rank(const Lattice &lattice) {
    size_t count = kMaxDims;
    while (count > 0 && lattice.dims[count - 1] == Lattice::Dim())
      --count;
    return count;
  }
  core::LatticeAttr lattice(const Lattice &value) {
    SmallVector<int32_t, 12> dims;
    for (size_t d = 0; d < rank(value); ++d)
      dims.append({value.dims[d].count, value.dims[d].rowStep, value.dims[d].colStep});
    return core::LatticeAttr::get(builder.getContext(), value.row, value.col, dims);
  }
  core::AffineNumberAttr affine(const Affine &value, size_t rank) {
    return core::AffineNumberAttr::get(builder.getContext(), value.constant, trimmed(value.perDim, rank));
  }
  template <typename Value> ArrayAttr extents(const std::array<Value, kMaxDims> &values, size_t rank) {
    SmallVector<Attribute, kMaxDims> list;
    size_t count = kMaxDims;
    while (count > 0 && Affine(values[count - 1]) == Affine(1))
      --count;
    for (size_t d = 0; d < count; ++d)
      list.push_back(affine(Affine(values[d]), rank));
    return builder.getArrayAttr(list);
  }
  DenseI64ArrayAttr strides(const std::array<int64_t, kMaxDims> &values) {
    return builder.getDenseI64ArrayAttr(trimmed(values));
  }

  // Runs `fill` with the insertion point in the operation's new block.
  template <typename OpT, typename Fill> void body(OpT op, Fill fill) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&op.getBody().emplaceBlock());
    fill();
  }

  //===- Executable
  //---------------------------------------------------------------------------------------------------===//

  void emitExecutable() {
    // The name alone suffices when it stands for the same description.
    std::string json = target::targetJson(executable.target), name = executable.target.name;
    absl::StatusOr<target::Target> known = target::loadTarget(name);
    bool isKnown = known.ok() && target::targetJson(*known) == json;
    auto op = core::ExecutableOp::create(builder, loc, text(isKnown ? name : json), unit(!isKnown),
                                         text(executable.execution));
    body(op, [&] {
      for (const SectionRecipe &section : module.sections)
        emitSection(section);
      for (const StateVariable &state : executable.states)
        core::StateOp::create(builder, loc, text(state.tensor.name), TypeAttr::get(tensor(state.tensor)),
                              reference(module.sections, state.initialSection, true, "section"));
      for (const Resident &resident : executable.residents)
        emitResident(resident);
      for (const Configuration &configuration : executable.configurations)
        body(core::ConfigurationOp::create(builder, loc, text(configuration.name)),
             [&] { emitConfiguration(configuration); });
      for (const Entry &entry : executable.entries)
        emitEntry(entry);
    });
  }

  Type tensor(const TensorType &value) {
    for (int64_t extent : value.shape)
      if (extent < 0) {
        error("tensor ", value.name, " has the negative extent ", extent);
        return builder.getF32Type();
      }
    return RankedTensorType::get(value.shape, type(value.type));
  }

  void emitSection(const SectionRecipe &recipe) {
    Attribute source =
        core::FileAttr::get(builder.getContext(), text(recipe.path), recipe.sourceOffset, recipe.sourceBytes, 0);
    if (recipe.inlineBytes) {
      source = inlineElements(recipe, *recipe.inlineBytes);
    } else if (recipe.make) {
      auto made = sectionContent(recipe);
      if (!made.ok())
        error("section ", recipe.name, ": ", std::string(made.status().message()));
      else
        source = inlineElements(recipe, *made);
    }
    core::SectionOp::create(builder, loc, text(recipe.name), source, builder.getDenseI64ArrayAttr(recipe.extents),
                            builder.getDenseI64ArrayAttr(recipe.strides), i64(recipe.elementOffset),
                            typeAttr(recipe.type));
  }

  Attribute inlineElements(const SectionRecipe &recipe, const std::vector<std::byte> &bytes) {
    int64_t unit = std::max<int64_t>(1, elementBytes(recipe.type)), count = int64_t(bytes.size()) / unit;
    if (count * unit != int64_t(bytes.size()))
      error("section ", recipe.name, " has ", bytes.size(), " inline bytes, no multiple of its element");
    auto tensorType = RankedTensorType::get({count}, type(recipe.type));
    if (recipe.type == ElementType::Bool) {
      SmallVector<bool> values;
      for (std::byte value : bytes)
        values.push_back(value != std::byte(0));
      return DenseElementsAttr::get(tensorType, values);
    }
    ArrayRef<char> raw(reinterpret_cast<const char *>(bytes.data()), size_t(count * unit));
    // Equal elements are stored once.
    bool isSplat = count > 1 && std::memcmp(raw.data(), raw.data() + unit, raw.size() - size_t(unit)) == 0;
    return DenseElementsAttr::getFromRawBuffer(tensorType, isSplat ? raw.take_front(size_t(unit)) : raw);
  }

  void emitResident(const Resident &resident) {
    const size_t dims = rank(resident.cores);
    const bool isConstant = resident.section != -1, isState = resident.state != -1;
    core::ResidentOp::create(builder, loc, text(resident.name), i64(resident.bytes), typeAttr(resident.type),
                             lattice(resident.cores), i64(resident.address),
                             reference(module.sections, resident.section, true, "section"),
                             isConstant ? affine(resident.sectionOffset, dims) : core::AffineNumberAttr(),
                             isState ? stateReference(resident.state) : FlatSymbolRefAttr(),
                             isState ? affine(resident.stateOffset, dims) : core::AffineNumberAttr());
  }

  void emitEntry(const Entry &entry) {
    auto names = [&](const std::vector<TensorType> &tensors) {
      SmallVector<Attribute> list;
      for (const TensorType &value : tensors)
        list.push_back(text(value.name));
      return builder.getArrayAttr(list);
    };
    auto types = [&](const std::vector<TensorType> &tensors) {
      SmallVector<Attribute> list;
      for (const TensorType &value : tensors)
        list.push_back(TypeAttr::get(tensor(value)));
      return builder.getArrayAttr(list);
    };
    SmallVector<Attribute> steps;
    for (const Step &step : entry.steps) {
      FlatSymbolRefAttr name = reference(executable.configurations, step.configuration, false, "configuration");
      steps.push_back(core::StepAttr::get(builder.getContext(), step.kind == StepKind::Configure, name.getAttr(),
                                          step.count, step.first, step.after));
    }
    core::EntryOp::create(builder, loc, text(entry.name), names(entry.inputs), types(entry.inputs),
                          names(entry.outputs), types(entry.outputs), builder.getArrayAttr(steps));
  }

  //===- Configuration
  //------------------------------------------------------------------------------------------------===//

  void emitConfiguration(const Configuration &configuration) {
    for (const Kernel &kernel : configuration.kernels) {
      SmallVector<Attribute> layers;
      for (const std::string &layer : kernel.layers)
        layers.push_back(text(layer));
      core::KernelOp::create(builder, loc, text(kernel.name), i32(kernel.row), i32(kernel.col), i32(kernel.rows),
                             i32(kernel.cols), builder.getArrayAttr(layers), i64(kernel.macs),
                             i64(kernel.predictedIntervalCycles));
    }
    for (const Net &net : configuration.nets)
      core::NetOp::create(builder, loc, text(net.name), i64(net.wordsPerSample));
    for (const Role &role : configuration.roles)
      body(core::RoleOp::create(builder, loc, text(role.name),
                                reference(configuration.kernels, role.kernel, true, "kernel"), lattice(role.cores)),
           [&] { emitRole(role); });
    for (const RouterRole &router : configuration.routers) {
      SmallVector<int32_t> positions;
      for (const SwitchPosition &position : router.positions)
        positions.append({int32_t(position.input), int32_t(position.outputs)});
      core::RouterOp::create(builder, loc, i32(router.colour), reference(configuration.nets, router.net, true, "net"),
                             lattice(router.routers), builder.getDenseI32ArrayAttr(positions));
    }
    for (const IoBinding &io : configuration.io)
      core::IoOp::create(builder, loc, unit(io.output), i32(io.tensor), lattice(io.ports), i32(int32_t(io.side)),
                         i32(io.colour), affine(io.hostOffset, rank(io.ports)), extents(io.extent, rank(io.ports)),
                         strides(io.stride), unit(io.padded));
    for (const StateBinding &binding : configuration.stateBindings)
      emitBinding(configuration, binding);
  }

  void emitBinding(const Configuration &configuration, const StateBinding &binding) {
    FlatSymbolRefAttr role = reference(configuration.roles, binding.role, false, "role");
    if (bad)
      return;
    const Role &target = configuration.roles[size_t(binding.role)];
    if (binding.buffer < 0 || binding.buffer >= int32_t(target.buffers.size()))
      return error("role ", target.name, " has no buffer number ", binding.buffer);
    core::BindOp::create(
        builder, loc, stateReference(binding.state), role, text(target.buffers[size_t(binding.buffer)].name),
        affine(binding.hostOffset, rank(target.cores)), extents(binding.extent, 0), strides(binding.stride));
  }

  //===- Role
  //---------------------------------------------------------------------------------------------------------===//

  void emitRole(const Role &role) {
    size_t dims = rank(role.cores);
    SmallVector<Value> buffers, queues;
    for (const Buffer &buffer : role.buffers)
      buffers.push_back(emitBuffer(buffer, dims));
    for (const Queue &queue : role.queues) {
      core::AffineNumberAttr begin, words;
      IntegerAttr period;
      if (queue.filter.period != 0) {
        begin = affine(queue.filter.begin, dims);
        words = affine(queue.filter.words, dims);
        period = i64(queue.filter.period);
      }
      queues.push_back(core::QueueOp::create(builder, loc, core::StreamType::get(builder.getContext()),
                                             unit(queue.output), i32(queue.index), i32(queue.colour), begin, words,
                                             period));
    }
    for (const Thread &thread : role.threads)
      body(core::ThreadOp::create(builder, loc), [&] { emitThread(role, thread, dims, buffers, queues); });
  }

  Value emitBuffer(const Buffer &buffer, size_t dims) {
    MLIRContext *context = builder.getContext();
    if (buffer.kind == BufferKind::Fifo)
      return core::FifoOp::create(builder, loc, core::StreamType::get(context), text(buffer.name), i64(buffer.address),
                                  i64(buffer.bytes), typeAttr(buffer.type));
    const char *kind = "scratch";
    FlatSymbolRefAttr section, state, resident;
    int64_t residentOffset = 0, runStep = 0;
    core::AffineNumberAttr offset;
    if (buffer.kind == BufferKind::Constant) {
      kind = "constant";
      section = reference(module.sections, buffer.section, false, "section");
      offset = affine(buffer.sectionOffset, dims);
    } else if (buffer.kind == BufferKind::State) {
      kind = "state";
      state = stateReference(buffer.state);
    } else if (buffer.kind == BufferKind::Resident) {
      kind = "resident";
      resident = reference(executable.residents, buffer.resident, false, "resident");
      residentOffset = buffer.residentOffset;
      runStep = buffer.runStep;
    }
    return core::BufferOp::create(builder, loc, core::MemoryType::get(context), text(buffer.name), text(kind), section,
                                  offset, state, resident, i64(residentOffset), i64(runStep), i64(buffer.address),
                                  i64(buffer.bytes), typeAttr(buffer.type));
  }

  void emitThread(const Role &role, const Thread &thread, size_t dims, ArrayRef<Value> buffers,
                  ArrayRef<Value> queues) {
    int depth = 0;
    for (const Instruction &instruction : thread) {
      if (instruction.opcode == Opcode::Loop) {
        auto loop = core::LoopOp::create(builder, loc, affine(instruction.extent[0], dims));
        builder.setInsertionPointToStart(&loop.getBody().emplaceBlock());
        ++depth;
      } else if (instruction.opcode == Opcode::EndLoop) {
        if (depth-- == 0)
          return error("role ", role.name, " ends a loop that it has not begun");
        builder.setInsertionPointAfter(builder.getInsertionBlock()->getParentOp());
      } else {
        emitInstruction(role, instruction, dims, buffers, queues);
      }
    }
    if (depth != 0)
      error("role ", role.name, " has a loop without an end");
  }

  void emitInstruction(const Role &role, const Instruction &instruction, size_t dims, ArrayRef<Value> buffers,
                       ArrayRef<Value> queues) {
    SmallVector<Value, 3> values;
    SmallVector<Attribute, 3> operands;
    auto add = [&](const Operand &operand) {
      bool isQueue = operand.kind == OperandKind::Queue, isMemory = operand.kind == OperandKind::Memory;
      ArrayRef<Value> all = isQueue ? queues : buffers;
      int index = isQueue ? operand.queue : operand.buffer;
      if (isQueue || isMemory || operand.kind == OperandKind::Fifo) {
        if (index < 0 || size_t(index) >= all.size())
          return error("role ", role.name, " has no ", isQueue ? "queue" : "buffer", " number ", index);
        values.push_back(all[size_t(index)]);
      }
      MLIRContext *context = builder.getContext();
      if (isMemory)
        operands.push_back(core::OperandAttr::getMemory(affine(operand.base, dims), trimmed(operand.stride),
                                                        trimmed(operand.loopStep)));
      else if (operand.kind == OperandKind::Immediate)
        operands.push_back(core::OperandAttr::getImmediate(context, operand.immediate));
      else if (operand.kind == OperandKind::None)
        error("role ", role.name, ": `", opcodeInfo(instruction.opcode).name, "` lacks an operand");
      else
        operands.push_back(core::OperandAttr::getKindOnly(
            context, operand.kind == OperandKind::Null ? core::OperandAttr::Null : core::OperandAttr::Stream));
    };
    const OpcodeInfo &info = opcodeInfo(instruction.opcode);
    add(instruction.dst);
    if (info.sources > 0)
      add(instruction.a);
    if (info.sources > 1)
      add(instruction.b);
    if (bad)
      return;
    if (instruction.opcode == Opcode::SendControl) {
      if (values.empty())
        return error("role ", role.name, ": `send_control` needs an output queue");
      core::SendControlOp::create(builder, loc, values[0], i32(instruction.controlCount), i32(instruction.priority));
      return;
    }
    const bool twoTypes = instruction.opcode == Opcode::Convert || instruction.mixed;
    TypeAttr sourceType = twoTypes ? typeAttr(instruction.sourceType) : TypeAttr();
    core::InstructionOp::create(builder, loc, values,
                                builder.getStringAttr(StringRef(info.name.data(), info.name.size())),
                                builder.getArrayAttr(operands), extents(instruction.extent, dims),
                                typeAttr(instruction.type), sourceType, i32(instruction.priority));
  }
};

} // namespace

OwningOpRef<ModuleOp> toCoreIR(MLIRContext &context, const CoreModule &module) {
  context.loadDialect<core::CoreDialect>();
  return ToCore(context, module).run();
}

} // namespace wsc::emit
