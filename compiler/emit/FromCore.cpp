// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Core IR → CoreModule. The IR is verified first, so that names resolve and operands fit their opcodes; what is left is
// translation, with names and values turned back into indices.
#include "compiler/emit/Module.h"

#include "dialects/core/CoreDialect.h"

#include "absl/strings/str_cat.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace wsc::emit {
namespace {

using namespace format;

// Inline elements are held in memory; more belong in a file.
constexpr int64_t kMaxInlineElements = int64_t(1) << 26;

using Indices = llvm::DenseMap<StringAttr, int32_t>;

int32_t lookUp(const Indices &indices, FlatSymbolRefAttr name) {
  if (!name)
    return -1;
  auto it = indices.find(name.getAttr());
  return it == indices.end() ? -1 : it->second;
}

void add(Indices &indices, StringAttr name) { indices.try_emplace(name, int32_t(indices.size())); }

ElementType element(Type type) { return core::toElementType(type).value_or(ElementType::F32); }

Affine affine(core::AffineNumberAttr number) {
  Affine result(number.getConstant());
  llvm::copy(number.getSteps().take_front(kMaxDims), result.perDim.begin());
  return result;
}

Lattice lattice(core::LatticeAttr attr) {
  Lattice result;
  result.row = attr.getRow();
  result.col = attr.getCol();
  ArrayRef<int32_t> dims = attr.getDims();
  for (size_t d = 0; d < dims.size() / 3; ++d)
    result.dims[d] = {dims[3 * d], dims[3 * d + 1], dims[3 * d + 2]};
  return result;
}

void extents(ArrayAttr list, std::array<Affine, kMaxDims> &result) {
  for (auto [d, extent] : llvm::enumerate(list))
    result[d] = affine(cast<core::AffineNumberAttr>(extent));
}

TensorType tensor(StringAttr name, Type type) {
  auto ranked = cast<RankedTensorType>(type);
  return {name.str(), element(ranked.getElementType()), std::vector<int64_t>(ranked.getShape())};
}

class FromCore {
public:
  absl::StatusOr<CoreModule> run(core::ExecutableOp op) {
    Executable &executable = module.executable;
    absl::StatusOr<target::Target> target = op.getJson()
                                                ? target::parseTarget(op.getTarget().str(), "target of core.executable")
                                                : target::loadTarget(op.getTarget().str());
    if (!target.ok())
      return target.status();
    executable.target = *std::move(target);
    executable.execution = op.getExecution().str();
    Region &body = op.getBody();
    for (auto section : body.getOps<core::SectionOp>()) {
      add(sections, section.getNameAttr());
      if (absl::Status status = translate(section); !status.ok())
        return status;
    }
    for (auto state : body.getOps<core::StateOp>()) {
      add(states, state.getNameAttr());
      executable.states.push_back(
          {tensor(state.getNameAttr(), state.getType()), lookUp(sections, state.getInitAttr())});
    }
    for (auto resident : body.getOps<core::ResidentOp>()) {
      add(residents, resident.getNameAttr());
      executable.residents.push_back(translate(resident));
    }
    for (auto configuration : body.getOps<core::ConfigurationOp>()) {
      add(configurations, configuration.getNameAttr());
      if (absl::Status status = translate(configuration); !status.ok())
        return status;
    }
    for (auto entry : body.getOps<core::EntryOp>())
      translate(entry);
    return std::move(module);
  }

private:
  CoreModule module;
  Indices sections, states, residents, configurations;

  absl::Status translate(core::SectionOp op) {
    SectionRecipe recipe;
    recipe.name = op.getName().str();
    recipe.type = element(op.getElementType());
    recipe.extents = std::vector<int64_t>(op.getExtents());
    recipe.strides = std::vector<int64_t>(op.getStrides());
    recipe.elementOffset = int64_t(op.getOffset());
    if (auto file = dyn_cast<core::FileAttr>(op.getSource())) {
      recipe.path = file.getPath().str();
      recipe.sourceOffset = file.getOffset();
      recipe.sourceBytes = file.getBytes();
    } else {
      if (int64_t elements = cast<ElementsAttr>(op.getSource()).getNumElements(); elements > kMaxInlineElements)
        return absl::OutOfRangeError(absl::StrCat("section ", recipe.name, " has ", elements,
                                                  " inline elements, limit is ", kMaxInlineElements,
                                                  "; use #core.file, or stride 0 for equal elements"));
      recipe.inlineBytes = inlineBytes(op.getSource(), recipe.type);
      if (!recipe.inlineBytes)
        return absl::NotFoundError(
            absl::StrCat("section ", recipe.name, ": the text holds no bytes for its dense_resource"));
    }
    if (absl::StatusOr<int64_t> bytes = sectionBytes(recipe); !bytes.ok())
      return bytes.status();
    module.sections.push_back(std::move(recipe));
    return absl::OkStatus();
  }

  static std::shared_ptr<const std::vector<std::byte>> inlineBytes(Attribute source, ElementType type) {
    auto result = std::make_shared<std::vector<std::byte>>();
    auto append = [&](ArrayRef<char> raw, int64_t times) {
      const auto *begin = reinterpret_cast<const std::byte *>(raw.data());
      for (int64_t i = 0; i < times; ++i)
        result->insert(result->end(), begin, begin + raw.size());
    };
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(source)) {
      AsmResourceBlob *blob = resource.getRawHandle().getBlob();
      int64_t bytes = resource.getType().getNumElements() * elementBytes(type);
      if (!blob || int64_t(blob->getData().size()) != bytes)
        return nullptr;
      append(blob->getData(), 1);
    } else if (auto dense = cast<DenseElementsAttr>(source); type == ElementType::Bool) {
      for (bool value : dense.getValues<bool>())
        result->push_back(std::byte(value));
    } else {
      append(dense.getRawData(), dense.isSplat() ? dense.getNumElements() : 1);
    }
    return result;
  }

  Resident translate(core::ResidentOp op) {
    Resident resident;
    resident.name = op.getName().str();
    resident.type = element(op.getElementType());
    resident.cores = lattice(op.getCores());
    resident.address = int64_t(op.getAddress());
    resident.bytes = int64_t(op.getBytes());
    resident.section = lookUp(sections, op.getSectionAttr());
    resident.state = lookUp(states, op.getStateAttr());
    if (op.getSectionOffset())
      resident.sectionOffset = affine(*op.getSectionOffset());
    if (op.getStateOffset())
      resident.stateOffset = affine(*op.getStateOffset());
    return resident;
  }

  void translate(core::EntryOp op) {
    Entry entry;
    entry.name = op.getName().str();
    for (auto [name, type] : llvm::zip(op.getInputNames(), op.getInputTypes()))
      entry.inputs.push_back(tensor(cast<StringAttr>(name), cast<TypeAttr>(type).getValue()));
    for (auto [name, type] : llvm::zip(op.getOutputNames(), op.getOutputTypes()))
      entry.outputs.push_back(tensor(cast<StringAttr>(name), cast<TypeAttr>(type).getValue()));
    for (Attribute attr : op.getSteps()) {
      auto step = cast<core::StepAttr>(attr);
      entry.steps.push_back({step.getConfigure() ? StepKind::Configure : StepKind::Run,
                             lookUp(configurations, FlatSymbolRefAttr::get(step.getConfiguration())),
                             std::vector<int32_t>(step.getAfter()), step.getCount(), step.getFirst()});
    }
    module.executable.entries.push_back(std::move(entry));
  }

  absl::Status translate(core::ConfigurationOp op) {
    Configuration configuration;
    configuration.name = op.getName().str();
    Indices kernels, nets, roles;
    for (auto kernel : op.getBody().getOps<core::KernelOp>()) {
      add(kernels, kernel.getNameAttr());
      Kernel result{kernel.getName().str(),    {},
                    int32_t(kernel.getRow()),  int32_t(kernel.getCol()),
                    int32_t(kernel.getRows()), int32_t(kernel.getCols()),
                    int64_t(kernel.getMacs()), int64_t(kernel.getPredicted())};
      for (Attribute layer : kernel.getLayers())
        result.layers.push_back(cast<StringAttr>(layer).str());
      configuration.kernels.push_back(std::move(result));
    }
    for (auto net : op.getBody().getOps<core::NetOp>()) {
      add(nets, net.getNameAttr());
      configuration.nets.push_back({net.getName().str(), int64_t(net.getWords())});
    }
    for (auto role : op.getBody().getOps<core::RoleOp>()) {
      add(roles, role.getNameAttr());
      if (absl::Status status = translate(role, lookUp(kernels, role.getKernelAttr()), configuration); !status.ok())
        return status;
    }
    for (auto router : op.getBody().getOps<core::RouterOp>()) {
      RouterRole result{
          lattice(router.getRouters()), uint8_t(router.getColour()), lookUp(nets, router.getNetAttr()), {}};
      ArrayRef<int32_t> positions = router.getPositions();
      for (size_t i = 0; i < positions.size(); i += 2)
        result.positions.push_back({Port(positions[i]), PortMask(positions[i + 1])});
      configuration.routers.push_back(std::move(result));
    }
    for (auto io : op.getBody().getOps<core::IoOp>()) {
      IoBinding result;
      result.output = io.getOutput();
      result.tensor = int32_t(io.getTensor());
      result.ports = lattice(io.getPorts());
      result.side = Port(io.getSide());
      result.colour = uint8_t(io.getColour());
      result.hostOffset = affine(io.getHost());
      extents(io.getExtents(), result.extent);
      llvm::copy(io.getStrides(), result.stride.begin());
      result.padded = io.getPadded();
      configuration.io.push_back(result);
    }
    for (auto bind : op.getBody().getOps<core::BindOp>())
      translate(bind, lookUp(roles, bind.getRoleAttr()), configuration);
    module.executable.configurations.push_back(std::move(configuration));
    return absl::OkStatus();
  }

  void translate(core::BindOp op, int32_t role, Configuration &configuration) {
    StateBinding result;
    result.state = lookUp(states, op.getStateAttr());
    result.role = role;
    const std::vector<Buffer> &buffers = configuration.roles[size_t(role)].buffers;
    while (buffers[size_t(result.buffer)].name != op.getBuffer().str())
      ++result.buffer;
    result.hostOffset = affine(op.getHost());
    for (auto [d, extent] : llvm::enumerate(op.getExtents()))
      result.extent[d] = cast<core::AffineNumberAttr>(extent).getConstant();
    llvm::copy(op.getStrides(), result.stride.begin());
    configuration.stateBindings.push_back(result);
  }

  absl::Status translate(core::RoleOp op, int32_t kernel, Configuration &configuration) {
    Role role;
    role.name = op.getName().str();
    role.kernel = kernel;
    role.cores = lattice(op.getCores());
    llvm::DenseMap<Value, int16_t> values; // index into buffers or queues
    auto isFull = [&](size_t count) { return count > size_t(INT16_MAX); };
    for (Operation &nested : op.getBody().front()) {
      if (auto buffer = dyn_cast<core::BufferOp>(nested)) {
        values[buffer.getMemory()] = int16_t(role.buffers.size());
        role.buffers.push_back(translate(buffer));
      } else if (auto fifo = dyn_cast<core::FifoOp>(nested)) {
        values[fifo.getStream()] = int16_t(role.buffers.size());
        Buffer &result = role.buffers.emplace_back();
        result.name = fifo.getName().str();
        result.kind = BufferKind::Fifo;
        result.type = element(fifo.getElementType());
        result.address = int64_t(fifo.getAddress());
        result.bytes = int64_t(fifo.getBytes());
      } else if (auto queue = dyn_cast<core::QueueOp>(nested)) {
        values[queue.getStream()] = int16_t(role.queues.size());
        Filter filter;
        if (queue.getFilterPeriod())
          filter = {int64_t(*queue.getFilterPeriod()), affine(*queue.getFilterBegin()),
                    affine(*queue.getFilterWords())};
        role.queues.push_back({queue.getOutput(), uint8_t(queue.getColour()), uint8_t(queue.getIndex()), filter});
      } else if (auto thread = dyn_cast<core::ThreadOp>(nested)) {
        append(thread.getBody().front(), values, role.threads.emplace_back());
      }
      if (isFull(role.buffers.size()) || isFull(role.queues.size()))
        return absl::OutOfRangeError(
            absl::StrCat("role ", role.name, " has more than ", int(INT16_MAX), " buffers or queues"));
    }
    configuration.roles.push_back(std::move(role));
    return absl::OkStatus();
  }

  Buffer translate(core::BufferOp op) {
    Buffer buffer;
    buffer.name = op.getName().str();
    buffer.type = element(op.getElementType());
    buffer.address = int64_t(op.getAddress());
    buffer.bytes = int64_t(op.getBytes());
    if (op.getKind() == "constant") {
      buffer.kind = BufferKind::Constant;
      buffer.section = lookUp(sections, op.getSectionAttr());
      buffer.sectionOffset = affine(*op.getSectionOffset());
    } else if (op.getKind() == "state") {
      buffer.kind = BufferKind::State;
      buffer.state = lookUp(states, op.getStateAttr());
    } else if (op.getKind() == "resident") {
      buffer.kind = BufferKind::Resident;
      buffer.resident = lookUp(residents, op.getResidentAttr());
      buffer.residentOffset = int64_t(op.getResidentOffset());
      buffer.runStep = int64_t(op.getRunStep());
    }
    return buffer;
  }

  void append(Block &block, const llvm::DenseMap<Value, int16_t> &values, Thread &thread) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<core::LoopOp>(op)) {
        Instruction begin, end;
        begin.opcode = Opcode::Loop;
        begin.extent[0] = affine(loop.getCount());
        end.opcode = Opcode::EndLoop;
        thread.push_back(begin);
        append(loop.getBody().front(), values, thread);
        thread.push_back(end);
      } else if (auto send = dyn_cast<core::SendControlOp>(op)) {
        Instruction instruction;
        instruction.opcode = Opcode::SendControl;
        instruction.dst.kind = OperandKind::Queue;
        instruction.dst.queue = values.lookup(send.getQueue());
        instruction.controlCount = uint8_t(send.getCount());
        instruction.priority = uint8_t(send.getPriority());
        thread.push_back(instruction);
      } else if (auto instruction = dyn_cast<core::InstructionOp>(op)) {
        thread.push_back(translate(instruction, values));
      }
    }
  }

  static Instruction translate(core::InstructionOp op, const llvm::DenseMap<Value, int16_t> &values) {
    Instruction instruction;
    instruction.opcode = findOpcode(std::string_view(op.getOpcode().data(), op.getOpcode().size()))->opcode;
    instruction.type = element(op.getElementType());
    if (op.getSourceType())
      instruction.sourceType = element(*op.getSourceType());
    instruction.mixed = op.getSourceType() && instruction.opcode != Opcode::Convert;
    instruction.priority = uint8_t(op.getPriority());
    extents(op.getExtents(), instruction.extent);
    Operand *const operands[] = {&instruction.dst, &instruction.a, &instruction.b};
    size_t next = 0;
    for (auto [i, attr] : llvm::enumerate(op.getOperandList())) {
      auto from = cast<core::OperandAttr>(attr);
      Operand &to = *operands[i];
      switch (from.getKind()) {
      case core::OperandAttr::Memory:
        to.kind = OperandKind::Memory;
        to.buffer = values.lookup(op.getReferences()[next++]);
        to.base = affine(from.getBase());
        llvm::copy(from.getStrides(), to.stride.begin());
        llvm::copy(from.getLoopSteps(), to.loopStep.begin());
        break;
      case core::OperandAttr::Stream: {
        Value value = op.getReferences()[next++];
        bool isQueue = value.getDefiningOp<core::QueueOp>() != nullptr;
        to.kind = isQueue ? OperandKind::Queue : OperandKind::Fifo;
        (isQueue ? to.queue : to.buffer) = values.lookup(value);
        break;
      }
      case core::OperandAttr::Immediate:
        to.kind = OperandKind::Immediate;
        to.immediate = from.getImmediate();
        break;
      case core::OperandAttr::Null:
        to.kind = OperandKind::Null;
        break;
      }
    }
    return instruction;
  }
};

} // namespace

absl::StatusOr<CoreModule> fromCoreIR(ModuleOp module) {
  std::string messages;
  {
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
      if (messages.empty())
        messages = diagnostic.str();
      return success();
    });
    if (failed(verify(module)))
      return absl::InvalidArgumentError(absl::StrCat("core IR does not verify: ", messages));
  }
  auto executables = llvm::to_vector(module.getOps<core::ExecutableOp>());
  if (executables.size() != 1)
    return absl::InvalidArgumentError(
        absl::StrCat("the module holds ", executables.size(), " core.executable operations, needed is one"));
  return FromCore().run(executables[0]);
}

} // namespace wsc::emit
