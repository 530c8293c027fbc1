// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wafer-form-kernels: walks the layers in order; each layer that no kernel holds yet begins one and takes along the
// elementwise layers behind it.
#include "passes/wafer/Constants.h"
#include "passes/wafer/NetworkIR.h"
#include "passes/wafer/Passes.h"
#include "passes/wafer/Planes.h"
#include "passes/wafer/ReadKernel.h"
#include "passes/wafer/StateGroups.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "wafer-form-kernels"

using namespace mlir;

namespace wsc::wafer {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/wafer/Passes.h.inc"

namespace {

bool isMainLayer(Operation *op) {
  // Windows have a kernel form over images only, sums over windows none.
  if (isa<nn::ConvOp, nn::PoolOp>(op) && cast<RankedTensorType>(op->getOperand(0).getType()).getRank() != 4)
    return false;
  if (auto pool = dyn_cast<nn::PoolOp>(op); pool && pool.getKind() == nn::PoolKind::Sum)
    return false;
  return isa<nn::ConvOp, nn::MatmulOp, nn::PoolOp, nn::SoftmaxOp, nn::ConcatOp, nn::SliceOp, nn::PadOp>(op) ||
         isElementwise(op);
}
/// Whether kernels may hold the operation, or leave it as it is.
bool hasKernelForm(Operation &op) {
  return isMainLayer(&op) || isMovement(&op) || isa<nn::ConstantOp, nn::ReadOp, nn::WriteOp, func::ReturnOp>(op);
}
/// Whether elementwise layers may follow in the same kernel.
bool takesFollowers(Operation *op) { return !isa<nn::SoftmaxOp, nn::ConcatOp>(op); }
/// Elementwise layers that a convolution takes in with its input, at most: its feeders have little time for each word.
constexpr size_t kMostBeforeConv = 3;

/// The name of the layer in the imported model, or its mnemonic.
std::string layerName(Operation *op) {
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    return name.getName().str();
  return op->getName().stripDialect().str();
}

class KernelFormer {
public:
  explicit KernelFormer(func::FuncOp func) : func(func) {}

  LogicalResult run() {
    Block &block = func.getBody().front();
    if (failed(refuseUnknown(block)))
      return failure();
    if (failed(formStateKernels(block)))
      return failure();
    SmallVector<Operation *> layers;
    for (Operation &op : block)
      if (isMainLayer(&op))
        layers.push_back(&op);
    for (Operation *layer : layers)
      if (!held.contains(layer))
        formKernel(layer);
    auto ret = cast<func::ReturnOp>(block.getTerminator());
    finishOutputs(ret);
    eraseDead(block);
    if (!sortTopologically(&block))
      return func.emitError("kernels wait for each other");
    return success();
  }

private:
  LogicalResult refuseUnknown(Block &block) {
    llvm::MapVector<StringRef, std::pair<int, Operation *>> unknown;
    for (Operation &op : block) {
      if (hasKernelForm(op))
        continue;
      auto &entry = unknown[op.getName().getStringRef()];
      if (entry.first++ == 0)
        entry.second = &op;
    }
    if (unknown.empty())
      return success();
    InFlightDiagnostic diagnostic = func.emitError("layers without a kernel form: ");
    bool first = true;
    for (auto &[name, entry] : unknown) {
      diagnostic << (first ? "" : ", ") << name << " (" << entry.first << ", first " << layerName(entry.second) << ")";
      first = false;
    }
    return diagnostic;
  }

  /// The stream `value` comes from: through reshapes that keep the plane; a matmul reads any rearranged image in place.
  Value streamRoot(Value value, Operation *user) {
    if (isa<nn::MatmulOp>(user)) {
      Value root = movementRoot(value);
      if (!isa<BlockArgument>(root))
        return root;
    }
    while (auto reshape = value.getDefiningOp<nn::ReshapeOp>()) {
      if (isa<BlockArgument>(movementRoot(value)) ||
          !preservesPlane(cast<RankedTensorType>(reshape.getInput().getType()),
                          cast<RankedTensorType>(reshape.getType())))
        break;
      value = reshape.getInput();
    }
    return value;
  }

  /// An argument that is a result too goes through a kernel; one without a plane, as the image of its last two
  /// dimensions.
  Value passed(Value value, OpBuilder &builder) {
    auto type = cast<RankedTensorType>(value.getType());
    Value image = value;
    if (!planeOf(type) && type.getRank() > 2 && type.getNumElements() > 0) {
      int64_t rows = type.getDimSize(type.getRank() - 2), width = type.getShape().back();
      auto shape =
          RankedTensorType::get({1, type.getNumElements() / (rows * width), rows, width}, type.getElementType());
      image = nn::ReshapeOp::create(builder, value.getLoc(), shape, value);
    }
    Value result = createPass(builder, entered(image, builder), "pass" + Twine(numKernels++)).getResult();
    return image == value ? result : nn::ReshapeOp::create(builder, value.getLoc(), type, result).getResult();
  }

  /// A value that comes straight from the function's arguments enters the wafer.
  Value entered(Value value, OpBuilder &builder) {
    if (!isa<BlockArgument>(movementRoot(value)) || value.getDefiningOp<EnterOp>())
      return value;
    Value &enter = enters[value];
    if (!enter) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfterValue(value);
      enter = EnterOp::create(builder, value.getLoc(), value.getType(), value, LayoutAttr(), DenseI32ArrayAttr(),
                              DenseI32ArrayAttr());
    }
    return enter;
  }

  /// The layer that alone takes `value`, if it is elementwise and all else it takes is constant; its result has the
  /// same type.
  static Operation *soleElementwiseUser(Value value) {
    if (!value.hasOneUse())
      return nullptr;
    Operation *user = *value.getUsers().begin();
    bool constantsOnly = isElementwise(user) && llvm::all_of(user->getOperands(), [&](Value operand) {
                           return operand == value || isConstant(operand);
                         });
    return constantsOnly && user->getResult(0).getType() == value.getType() ? user : nullptr;
  }

  /// Whether all constants of an elementwise layer are scalars or one element per channel.
  static bool constantsPerChannel(Operation *layer) {
    return isa<nn::BatchNormOp>(layer) || llvm::all_of(layer->getOperands(), [](Value operand) {
             ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.getType()).getShape();
             return !isConstant(operand) || llvm::all_of(shape.take_back(2), [](int64_t dim) { return dim == 1; });
           });
  }

  /// The elementwise layers from `layer` on, if a convolution takes them in: layers on one stream and constants that
  /// are scalars or one element per channel, of which nobody else needs anything.
  static SmallVector<Operation *> layersBeforeConv(Operation *layer) {
    SmallVector<Operation *> chain;
    if (!isElementwise(layer) || llvm::count_if(layer->getOperands(), [](Value v) { return !isConstant(v); }) != 1)
      return chain;
    for (Operation *next = layer; next; next = soleElementwiseUser(next->getResult(0))) {
      if (chain.size() == kMostBeforeConv || !constantsPerChannel(next))
        return {};
      chain.push_back(next);
    }
    Value result = chain.back()->getResult(0);
    auto conv = result.hasOneUse() ? dyn_cast<nn::ConvOp>(*result.getUsers().begin()) : nn::ConvOp();
    auto stream = llvm::find_if(layer->getOperands(), [](Value v) { return !isConstant(v); });
    const bool taken =
        conv && conv.getInput() == result && conv.getGroups() == 1 && (*stream).getType() == result.getType();
    return taken ? chain : SmallVector<Operation *>();
  }

  /// A stream that is joined with itself goes through a kernel of its own: a core takes it once.
  void copyRepeated(nn::ConcatOp concat) {
    llvm::DenseSet<Value> seen;
    OpBuilder builder(concat);
    for (OpOperand &operand : concat->getOpOperands())
      if (Value root = streamRoot(operand.get(), concat); !isConstant(root) && !seen.insert(root).second)
        operand.set(createPass(builder, entered(root, builder), "pass" + Twine(numKernels++)).getResult());
  }

  void formKernel(Operation *first) {
    if (auto concat = dyn_cast<nn::ConcatOp>(first))
      copyRepeated(concat);
    SmallVector<Operation *> group = layersBeforeConv(first);
    Operation *layer = group.empty() ? first : *group.back()->getResult(0).getUsers().begin();
    group.push_back(layer);
    Value result = layer->getResult(0);
    if (takesFollowers(layer))
      while (Operation *next = soleElementwiseUser(result)) {
        group.push_back(next);
        result = next->getResult(0);
      }
    held.insert(group.begin(), group.end());

    OpBuilder builder(group.back());
    SmallVector<Value> inputs;
    llvm::MapVector<Value, Value> rootOf; // stream → value in the IR that enters the kernel
    for (Value operand : first->getOperands()) {
      if (isConstant(operand))
        continue;
      Value root = streamRoot(operand, first);
      if (!rootOf.count(root))
        rootOf[root] = entered(root, builder);
    }
    SmallVector<Attribute> layerNames;
    for (Operation *op : group)
      layerNames.push_back(builder.getStringAttr(layerName(op)));
    for (auto &[root, value] : rootOf)
      inputs.push_back(value);
    std::string name = (layer->getName().stripDialect() + Twine(numKernels++)).str();
    OperationState state(layer->getLoc(), KernelOp::getOperationName());
    state.addOperands(inputs);
    state.addTypes(result.getType());
    state.addAttribute("name", builder.getStringAttr(name));
    state.addAttribute("layers", builder.getArrayAttr(layerNames));
    state.addRegion();
    auto kernel = cast<KernelOp>(builder.create(state));

    Block &body = kernel.getBody().emplaceBlock();
    IRMapping mapping;
    for (auto &[root, value] : rootOf)
      mapping.map(root, body.addArgument(root.getType(), layer->getLoc()));
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    for (Operation *op : group) {
      for (Value operand : op->getOperands())
        cloneInto(operand, mapping, inside);
      inside.clone(*op, mapping);
    }
    YieldOp::create(inside, layer->getLoc(), mapping.lookup(result));
    result.replaceUsesWithIf(kernel.getResult(),
                             [&](OpOperand &use) { return !llvm::is_contained(group, use.getOwner()); });
  }

  /// Clones constants and movements behind `value` into the region.
  void cloneInto(Value value, IRMapping &mapping, OpBuilder &inside) {
    if (mapping.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      cloneInto(operand, mapping, inside);
    inside.clone(*op, mapping);
  }

  /// Kernels on the cores of variables. Reads, writes and layers that nobody else needs go.
  LogicalResult formStateKernels(Block &block) {
    auto groups = groupState(block);
    if (failed(groups))
      return failure();
    OpBuilder builder(block.getTerminator());
    SmallVector<std::pair<StateGroup *, KernelOp>> formed;
    for (StateGroup &group : *groups)
      formed.push_back({&group, formStateKernel(group, builder)});
    for (auto &[group, kernel] : formed)
      if (group->result)
        replaceResult(*group, kernel);
    for (StateGroup &group : *groups)
      if (group.write)
        group.write.erase();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (op.use_empty() && (isa<nn::ReadOp>(op) || isElementwise(&op)))
        op.erase();
    return success();
  }

  KernelOp formStateKernel(StateGroup &group, OpBuilder &builder) {
    auto holds = [&](Operation *op) {
      return op && (op == group.read.getOperation() || llvm::is_contained(group.layers, op));
    };
    llvm::MapVector<Value, Value> rootOf;
    SmallVector<Operation *> ops;
    if (group.read)
      ops.push_back(group.read);
    ops.append(group.layers.begin(), group.layers.end());
    if (group.write)
      ops.push_back(group.write);
    SmallVector<Attribute> layerNames;
    for (Operation *op : ops) {
      layerNames.push_back(builder.getStringAttr(layerName(op)));
      for (Value operand : op->getOperands())
        if (!isConstant(operand) && !holds(operand.getDefiningOp())) {
          Value root = streamRoot(operand, op);
          if (!rootOf.count(root))
            rootOf[root] = entered(root, builder);
        }
    }
    OperationState state(ops.front()->getLoc(), KernelOp::getOperationName());
    for (auto &[root, value] : rootOf)
      state.addOperands(value);
    if (group.result)
      state.addTypes(group.result.getType());
    state.addAttribute("name", builder.getStringAttr(group.name));
    state.addAttribute("layers", builder.getArrayAttr(layerNames));
    state.addRegion();
    auto kernel = cast<KernelOp>(builder.create(state));
    Block &body = kernel.getBody().emplaceBlock();
    IRMapping mapping;
    for (auto &[root, value] : rootOf)
      mapping.map(root, body.addArgument(root.getType(), kernel.getLoc()));
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    for (Operation *op : ops) {
      for (Value operand : op->getOperands())
        cloneInto(operand, mapping, inside);
      inside.clone(*op, mapping);
    }
    SmallVector<Value> yielded;
    if (group.result)
      yielded.push_back(mapping.lookup(group.result));
    YieldOp::create(inside, kernel.getLoc(), TypeRange(), yielded);
    return kernel;
  }

  /// Users of a state kernel's result take it from there; writes are about to go.
  void replaceResult(StateGroup &group, KernelOp kernel) {
    group.result.replaceUsesWithIf(kernel.getResult(), [&](OpOperand &use) {
      return use.getOwner()->getBlock() == kernel->getBlock() && !isa<nn::WriteOp>(use.getOwner());
    });
  }

  /// An output that is an input, or a stream that is an output already, leaves through a kernel of its own.
  void finishOutputs(func::ReturnOp ret) {
    llvm::DenseSet<Value> seen;
    OpBuilder builder(ret);
    for (OpOperand &operand : ret->getOpOperands()) {
      Value root = movementRoot(operand.get());
      if (isa<BlockArgument>(root) && !operand.get().getDefiningOp<EnterOp>())
        operand.set(passed(operand.get(), builder));
      else if (!seen.insert(root).second)
        operand.set(createPass(builder, root, "pass" + Twine(numKernels++))
                        .getResult()); // same element order: a second copy of the stream
      else
        continue;
    }
  }

  void eraseDead(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (op.use_empty() && !isa<func::ReturnOp>(op) && !(isa<KernelOp>(op) && op.getNumResults() == 0))
        op.erase();
  }

  func::FuncOp func;
  llvm::DenseSet<Operation *> held;
  llvm::DenseMap<Value, Value> enters;
  int numKernels = 0;
};

} // namespace

void cutUnknownLayers(func::FuncOp func) {
  Block &block = func.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (hasKernelForm(op))
      continue;
    for (Value result : op.getResults()) {
      const unsigned index = func.getNumArguments();
      if (failed(func.insertArgument(index, result.getType(), {}, op.getLoc())))
        return;
      result.replaceAllUsesWith(func.getArgument(index));
    }
    op.erase();
  }
}

namespace {

struct FormKernelsPass : impl::FormKernelsBase<FormKernelsPass> {
  void tell() {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      llvm::dbgs() << kernel.getName() << " holds";
      for (Operation &layer : kernel.getBody().front().without_terminator())
        llvm::dbgs() << " " << layer.getName();
      llvm::dbgs() << "\n";
    }
  }
  void runOnOperation() override {
    if (getOperation().isExternal() || failed(KernelFormer(getOperation()).run()))
      return signalPassFailure();
    LLVM_DEBUG(tell());
  }
};

} // namespace
} // namespace wsc::wafer
