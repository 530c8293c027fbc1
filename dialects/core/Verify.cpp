// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structure of everything but instructions: names are unique and not empty, references resolve, lattices and numbers
// are sane. Hardware limits are not judged here; that is runtime/format/Verifier.h.
#include "dialects/core/CoreDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace wsc::core {

namespace {

// Dimensions of a lattice; affine numbers of its owner may have at most as many steps.
int64_t rankOf(LatticeAttr lattice) { return int64_t(lattice.getDims().size() / 3); }

LogicalResult checkLattice(Operation *op, LatticeAttr lattice) {
  ArrayRef<int32_t> dims = lattice.getDims();
  if (dims.size() % 3 || dims.size() > 12)
    return op->emitOpError() << "lattice has " << dims.size() / 3 << " dimensions, limit is 4";
  int64_t firstRow = lattice.getRow(), firstCol = lattice.getCol();
  for (size_t i = 0; i < dims.size(); i += 3) {
    int64_t count = dims[i], rowStep = dims[i + 1], colStep = dims[i + 2];
    if (count < 1)
      return op->emitOpError() << "lattice dimension " << i / 3 << " has count " << count << ", must be at least 1";
    if (count > 1 && rowStep == 0 && colStep == 0)
      return op->emitOpError() << "lattice dimension " << i / 3 << " repeats the same core " << count << " times";
    firstRow += std::min<int64_t>(0, rowStep * (count - 1));
    firstCol += std::min<int64_t>(0, colStep * (count - 1));
  }
  if (firstRow < 0 || firstCol < 0)
    return op->emitOpError() << "lattice reaches row " << firstRow << ", column " << firstCol << "; both start at 0";
  return success();
}

LogicalResult checkSteps(Operation *op, StringRef what, AffineNumberAttr number, int64_t rank) {
  if (int64_t(number.getSteps().size()) > rank)
    return op->emitOpError() << what << " has " << number.getSteps().size() << " steps, but the lattice has " << rank
                             << " dimensions";
  return success();
}

LogicalResult checkExtents(Operation *op, ArrayAttr extents, DenseI64ArrayAttr strides, int64_t rank) {
  if (extents.size() > 4 || strides.size() > 4)
    return op->emitOpError() << "has " << extents.size() << " extents and " << strides.size() << " strides, limit is 4";
  for (Attribute extent : extents) {
    auto number = dyn_cast<AffineNumberAttr>(extent);
    if (!number)
      return op->emitOpError() << "extent " << extent << " is no affine number";
    if (failed(checkSteps(op, "extent", number, rank)))
      return failure();
  }
  return success();
}

LogicalResult checkColour(Operation *op, int64_t colour) {
  if (colour < 0 || colour > 255)
    return op->emitOpError() << "colour " << colour << " must be 0 to 255";
  return success();
}

// Operations of one kind in a block, by name. Names of different kinds do not collide.
template <typename OpT> class Names {
public:
  LogicalResult collect(Block &block, StringRef kind) {
    for (OpT op : block.getOps<OpT>()) {
      if (op.getNameAttr().getValue().empty())
        return op.emitOpError() << "needs a name";
      if (auto [it, isNew] = byName.try_emplace(op.getNameAttr(), op); !isNew) {
        InFlightDiagnostic diagnostic = op.emitOpError() << "is the second " << kind << " named " << op.getNameAttr();
        diagnostic.attachNote(it->second.getLoc()) << "the first is here";
        return diagnostic;
      }
    }
    return success();
  }
  OpT find(StringAttr name) const { return byName.lookup(name); }
  LogicalResult resolve(Operation *user, StringRef kind, StringAttr name) const {
    if (!byName.count(name))
      return user->emitOpError() << "refers to " << kind << " @" << name.getValue() << ", which is not there";
    return success();
  }
  LogicalResult resolve(Operation *user, StringRef kind, FlatSymbolRefAttr name) const {
    return name ? resolve(user, kind, name.getAttr()) : success();
  }

private:
  llvm::DenseMap<StringAttr, OpT> byName;
};

template <typename... Allowed> LogicalResult checkContents(Operation *parent, Block &block) {
  for (Operation &op : block)
    if (!isa<Allowed...>(op))
      return op.emitOpError() << "does not belong directly in `" << parent->getName() << "`";
  return success();
}

} // namespace

//===- Single operations
//----------------------------------------------------------------------------------------------===//

LogicalResult SectionOp::verify() {
  if (!toElementType(getElementType()))
    return emitOpError() << "element type " << getElementType() << " is none of " << kElementTypes;
  if (auto inlined = dyn_cast<ElementsAttr>(getSource())) {
    if (inlined.getElementType() != getElementType())
      return emitOpError() << "inline elements are " << inlined.getElementType() << ", the section's are "
                           << getElementType();
    if (!isa<DenseElementsAttr, DenseResourceElementsAttr>(inlined))
      return emitOpError("inline elements must be `dense` or `dense_resource`");
  } else if (!isa<FileAttr>(getSource())) {
    return emitOpError("source must be `#core.file` or `dense` elements");
  }
  if (getExtents().size() > 8 || getStrides().size() != getExtents().size())
    return emitOpError() << "has " << getExtents().size() << " extents and " << getStrides().size()
                         << " strides; there must be equally many, at most 8";
  for (int64_t extent : getExtents())
    if (extent < 0)
      return emitOpError() << "extent " << extent << " is negative";
  return success();
}

static LogicalResult checkTensor(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getEncoding() || !toElementType(tensor.getElementType()))
    return op->emitOpError() << "type " << type << " must be a tensor of static shape of one of " << kElementTypes;
  return success();
}

LogicalResult StateOp::verify() { return checkTensor(*this, getType()); }

LogicalResult EntryOp::verify() {
  if (getInputNames().size() != getInputTypes().size() || getOutputNames().size() != getOutputTypes().size())
    return emitOpError("needs a name and a type for each tensor");
  for (ArrayAttr types : {getInputTypes(), getOutputTypes()})
    for (Attribute type : types)
      if (failed(checkTensor(*this, cast<TypeAttr>(type).getValue())))
        return failure();
  for (auto [index, attr] : llvm::enumerate(getSteps())) {
    auto step = dyn_cast<StepAttr>(attr);
    if (!step)
      return emitOpError() << "step " << index << " is no #core.step";
    if (step.getCount() < 1 || (step.getConfigure() && step.getCount() != 1))
      return emitOpError() << "step " << index << " is to be done " << step.getCount()
                           << " times; a configuration runs at least once, and is put in place once";
    if (step.getFirst() < 0 || (step.getConfigure() && step.getFirst() != 0))
      return emitOpError() << "step " << index << " begins with iteration " << step.getFirst()
                           << "; runs begin with one from 0, and only they have iterations";
    for (int32_t before : step.getAfter())
      if (before < 0 || size_t(before) >= index)
        return emitOpError() << "step " << index << " waits for step " << before
                             << "; it can wait for earlier steps only";
  }
  return success();
}

LogicalResult RouterOp::verify() {
  if (failed(checkLattice(*this, getRouters())) || failed(checkColour(*this, getColour())))
    return failure();
  if (getPositions().empty() || getPositions().size() % 2)
    return emitOpError("needs at least one switch position");
  for (size_t i = 0; i < getPositions().size(); i += 2)
    if (getPositions()[i] < 0 || getPositions()[i] > 4 || getPositions()[i + 1] < 1 || getPositions()[i + 1] > 31)
      return emitOpError() << "switch position " << i / 2 << " names ports that do not exist";
  return success();
}

LogicalResult IoOp::verify() {
  if (failed(checkLattice(*this, getPorts())) || failed(checkColour(*this, getColour())))
    return failure();
  if (getTensor() < 0)
    return emitOpError() << "tensor number " << getTensor() << " is negative";
  if (getSide() < 0 || getSide() > 3)
    return emitOpError("side must be north, south, east or west");
  int64_t rank = rankOf(getPorts());
  if (failed(checkSteps(*this, "host", getHost(), rank)))
    return failure();
  return checkExtents(*this, getExtents(), getStridesAttr(), rank);
}

LogicalResult BindOp::verify() {
  for (Attribute extent : getExtents())
    if (auto number = dyn_cast<AffineNumberAttr>(extent); !number || !number.getSteps().empty())
      return emitOpError("extents must be the same on all cores");
  return checkExtents(*this, getExtents(), getStridesAttr(), 0);
}

static LogicalResult checkStretch(Operation *op, int64_t address, int64_t bytes) {
  if (address < 0 || bytes < 0)
    return op->emitOpError() << "lies at byte " << address << " with " << bytes << " bytes; neither may be negative";
  return success();
}

LogicalResult ResidentOp::verify() {
  if (!toElementType(getElementType()))
    return emitOpError() << "element type " << getElementType() << " is none of " << kElementTypes;
  if (failed(checkLattice(*this, getCores())) || failed(checkStretch(*this, getAddress(), getBytes())))
    return failure();
  if (getSection() && getState())
    return emitOpError("is filled from a section and from a variable; it can have one of them");
  if (getSection().has_value() != getSectionOffset().has_value() ||
      getState().has_value() != getStateOffset().has_value())
    return emitOpError("needs an offset where it has a section or a variable, and only there");
  for (auto [what, offset] :
       {std::pair("section offset", getSectionOffset()), std::pair("first element", getStateOffset())})
    if (offset && failed(checkSteps(*this, what, *offset, rankOf(getCores()))))
      return failure();
  return success();
}

LogicalResult BufferOp::verify() {
  bool isConstant = getKind() == "constant", isState = getKind() == "state", isWindow = getKind() == "resident";
  if (!isConstant && !isState && !isWindow && getKind() != "scratch")
    return emitOpError() << "kind \"" << getKind() << "\" is none of scratch, constant, state, resident";
  if (isWindow != getResident().has_value())
    return emitOpError() << (isWindow ? "a window needs its resident: `of @resident`" : "only a window has a resident");
  if (!isWindow && (getResidentOffset() != 0 || getRunStep() != 0))
    return emitOpError("only a window has an offset and a step");
  if (isConstant != getSection().has_value() || isConstant != getSectionOffset().has_value())
    return emitOpError() << (isConstant ? "a constant needs its section: `from @section[offset]`"
                                        : "only a constant has a section");
  if (isState != getState().has_value())
    return emitOpError() << (isState ? "a state buffer needs its variable: `of @variable`"
                                     : "only a state buffer has a variable");
  return checkStretch(*this, getAddress(), getBytes());
}

LogicalResult FifoOp::verify() { return checkStretch(*this, getAddress(), getBytes()); }

LogicalResult QueueOp::verify() {
  if (getIndex() < 0 || getIndex() > 255)
    return emitOpError() << "number " << getIndex() << " must be 0 to 255";
  if (getFilterPeriod() && getOutput())
    return emitOpError("is an output queue; only words that arrive pass a filter");
  if (getFilterPeriod() && int64_t(*getFilterPeriod()) < 1)
    return emitOpError() << "filter has the period " << *getFilterPeriod() << ", at least 1 is needed";
  return checkColour(*this, getColour());
}

//===- Operations with a body
//-----------------------------------------------------------------------------------------===//

LogicalResult ThreadOp::verifyRegions() {
  return checkContents<LoopOp, InstructionOp, SendControlOp>(*this, getBody().front());
}
LogicalResult LoopOp::verifyRegions() {
  return checkContents<LoopOp, InstructionOp, SendControlOp>(*this, getBody().front());
}

LogicalResult RoleOp::verifyRegions() {
  Block &block = getBody().front();
  if (failed(checkContents<BufferOp, FifoOp, QueueOp, ThreadOp>(*this, block)) ||
      failed(checkLattice(*this, getCores())))
    return failure();
  llvm::DenseSet<StringAttr> names;
  for (Operation &op : block) {
    StringAttr name;
    if (auto buffer = dyn_cast<BufferOp>(op))
      name = buffer.getNameAttr();
    else if (auto fifo = dyn_cast<FifoOp>(op))
      name = fifo.getNameAttr();
    else
      continue;
    if (name.getValue().empty())
      return op.emitOpError() << "needs a name";
    if (!names.insert(name).second)
      return op.emitOpError() << "is the second buffer named " << name << " in role @" << getName();
  }
  int64_t rank = rankOf(getCores());
  WalkResult result = getBody().walk([&](Operation *op) {
    LogicalResult ok = success();
    if (auto buffer = dyn_cast<BufferOp>(op); buffer && buffer.getSectionOffset()) {
      ok = checkSteps(op, "section offset", *buffer.getSectionOffset(), rank);
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      ok = checkSteps(op, "trip count", loop.getCount(), rank);
    } else if (auto instruction = dyn_cast<InstructionOp>(op)) {
      for (Attribute attr : instruction.getOperandList())
        if (succeeded(ok))
          ok = checkSteps(op, "base", cast<OperandAttr>(attr).getBase(), rank);
      for (Attribute extent : instruction.getExtents())
        if (succeeded(ok))
          ok = checkSteps(op, "extent", cast<AffineNumberAttr>(extent), rank);
    }
    return failed(ok) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ConfigurationOp::verifyRegions() {
  Block &block = getBody().front();
  Names<KernelOp> kernels;
  Names<NetOp> nets;
  Names<RoleOp> roles;
  if (failed(checkContents<KernelOp, NetOp, RoleOp, RouterOp, IoOp, BindOp>(*this, block)) ||
      failed(kernels.collect(block, "kernel")) || failed(nets.collect(block, "net")) ||
      failed(roles.collect(block, "role")))
    return failure();
  for (RoleOp role : block.getOps<RoleOp>())
    if (failed(kernels.resolve(role, "kernel", role.getKernelAttr())))
      return failure();
  for (RouterOp router : block.getOps<RouterOp>())
    if (failed(nets.resolve(router, "net", router.getNetAttr())))
      return failure();
  for (BindOp bind : block.getOps<BindOp>()) {
    if (failed(roles.resolve(bind, "role", bind.getRoleAttr())))
      return failure();
    RoleOp role = roles.find(bind.getRoleAttr().getAttr());
    bool isThere = llvm::any_of(role.getBody().getOps<BufferOp>(), [&](BufferOp buffer) {
      return buffer.getNameAttr() == bind.getBufferAttr() && buffer.getStateAttr() == bind.getStateAttr();
    });
    if (!isThere)
      return bind.emitOpError() << "role @" << role.getName() << " has no buffer \"" << bind.getBuffer()
                                << "\" of state @" << bind.getState();
    if (failed(checkSteps(bind, "host", bind.getHost(), rankOf(role.getCores()))))
      return failure();
  }
  return success();
}

// Every input and output of the configuration is a tensor of the entry that runs it.
static LogicalResult checkTensorNumbers(EntryOp entry, ConfigurationOp configuration) {
  for (IoOp io : configuration.getBody().getOps<IoOp>()) {
    size_t count = io.getOutput() ? entry.getOutputNames().size() : entry.getInputNames().size();
    if (size_t(io.getTensor()) >= count)
      return io.emitOpError() << "is " << (io.getOutput() ? "output " : "input ") << io.getTensor() << ", but entry @"
                              << entry.getName() << " has " << count;
  }
  return success();
}

LogicalResult ExecutableOp::verifyRegions() {
  Block &block = getBody().front();
  Names<SectionOp> sections;
  Names<StateOp> states;
  Names<ResidentOp> residents;
  Names<ConfigurationOp> configurations;
  Names<EntryOp> entries;
  if (failed(checkContents<SectionOp, StateOp, ResidentOp, ConfigurationOp, EntryOp>(*this, block)) ||
      failed(sections.collect(block, "section")) || failed(states.collect(block, "state")) ||
      failed(residents.collect(block, "resident")) || failed(configurations.collect(block, "configuration")) ||
      failed(entries.collect(block, "entry")))
    return failure();
  for (StateOp state : block.getOps<StateOp>())
    if (failed(sections.resolve(state, "section", state.getInitAttr())))
      return failure();
  for (ResidentOp resident : block.getOps<ResidentOp>())
    if (failed(sections.resolve(resident, "section", resident.getSectionAttr())) ||
        failed(states.resolve(resident, "state", resident.getStateAttr())))
      return failure();
  for (ConfigurationOp configuration : block.getOps<ConfigurationOp>())
    for (RoleOp role : configuration.getBody().getOps<RoleOp>())
      for (BufferOp buffer : role.getBody().getOps<BufferOp>())
        if (failed(sections.resolve(buffer, "section", buffer.getSectionAttr())) ||
            failed(states.resolve(buffer, "state", buffer.getStateAttr())) ||
            failed(residents.resolve(buffer, "resident", buffer.getResidentAttr())))
          return failure();
  for (EntryOp entry : block.getOps<EntryOp>())
    for (Attribute attr : entry.getSteps()) {
      auto step = cast<StepAttr>(attr);
      if (failed(configurations.resolve(entry, "configuration", step.getConfiguration())))
        return failure();
      if (!step.getConfigure() && failed(checkTensorNumbers(entry, configurations.find(step.getConfiguration()))))
        return failure();
    }
  return success();
}

} // namespace wsc::core
