// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/wafer/NetworkIR.h"

#include "compiler/kernels/mapping/MapNetwork.h"
#include "compiler/kernels/network/CoLocation.h"
#include "compiler/kernels/network/Tiling.h"
#include "passes/wafer/Planes.h"
#include "passes/wafer/ReadKernel.h"
#include "passes/wafer/Variables.h"

#include "dialects/nn/Nn.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

using namespace mlir;

namespace wsc::wafer {

using kernels::KernelPlan;
using kernels::StreamPlan;

std::optional<format::ElementType> elementTypeOf(Type type) {
  using format::ElementType;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF64())
    return ElementType::F64;
  if (type.isInteger(1))
    return ElementType::Bool;
  if (type.isInteger(32))
    return ElementType::I32;
  if (type.isInteger(64))
    return ElementType::I64;
  if (type.isUnsignedInteger(8))
    return ElementType::U8;
  if (type.isSignlessInteger(8))
    return ElementType::I8;
  return std::nullopt;
}

namespace {

class NetworkReader {
public:
  NetworkReader(func::FuncOp func, Phase phase) : func(func), phase(phase) {}

  FailureOr<NetworkIR> read() {
    network.plan.name = func.getName().str();
    if (failed(readSignature()) || failed(readModuleVariables()))
      return failure();
    bool sound = true;
    for (Operation &op : func.getBody().front())
      if ((sound || !isa<func::ReturnOp>(op)) && failed(readOp(&op))) {
        if (phase != Phase::Kernels)
          return failure();
        // Layers without a form are told of in one go: those behind this one are read all the same.
        sound = false;
        broken.insert(op.result_begin(), op.result_end());
      }
    if (!sound)
      return failure();
    if (phase >= Phase::Sized) {
      auto rowsUsed = func->getAttrOfType<IntegerAttr>(WaferDialect::getRowsUsedAttrName());
      if (!rowsUsed || rowsUsed.getInt() < 1)
        return func.emitOpError("needs the attribute ") << WaferDialect::getRowsUsedAttrName() << ": size it first";
      if (rowsUsed.getInt() > target::kMaxMeshSide)
        return func.emitOpError("has ") << WaferDialect::getRowsUsedAttrName() << " = " << rowsUsed.getInt()
                                        << ", no mesh has more than " << target::kMaxMeshSide << " rows";
      network.plan.grid.rowsUsed = rowsUsed.getInt();
      if (auto spare = func->getAttrOfType<IntegerAttr>(WaferDialect::getRowsSpareAttrName())) {
        if (spare.getInt() < 0 || spare.getInt() > target::kMaxMeshSide - rowsUsed.getInt())
          return func.emitOpError("has ")
                 << WaferDialect::getRowsSpareAttrName() << " = " << spare.getInt() << ", must be 0 to "
                 << target::kMaxMeshSide - rowsUsed.getInt() << " below " << rowsUsed.getInt() << " rows in use";
        network.plan.grid.rowsSpare = spare.getInt();
      }
      for (const kernels::VariablePlan &variable : network.plan.variables)
        if (variable.rows != rowsUsed.getInt())
          return func.emitOpError("spreads tiles over ")
                 << rowsUsed.getInt() << " rows, variable " << variable.tensor.name << " over " << variable.rows;
      kernels::findLiveRows(network.plan);
      kernels::findPitches(network.plan);
      if (failed(readCoLocated()))
        return failure();
      for (auto [op, plan] : llvm::zip(network.kernelOps, network.plan.kernels)) {
        int64_t tiles = network.plan.streams[plan.spec.outStream].layout.numTiles();
        if (plan.mapping.bands * plan.mapping.slices > network.plan.grid.groupRows(tiles))
          return op.emitOpError("has ") << plan.mapping.bands * plan.mapping.slices << " channel slices for each of "
                                        << tiles << " tiles, more than the " << rowsUsed.getInt()
                                        << " rows in use hold; use larger slices or tiles";
      }
      kernels::layOutLanes(network.plan);
      if (phase >= Phase::Routed)
        for (auto [op, stream] : llvm::zip(network.streamOps, network.plan.streams))
          if (int64_t(stream.laneColours.size()) != stream.layout.numLanes())
            return op->emitOpError("has ")
                   << stream.layout.numLanes() << " lanes but " << stream.laneColours.size() << " lane_colours";
    }
    return std::move(network);
  }

private:
  LogicalResult readSignature() {
    auto readTypes = [&](TypeRange types, bool result, std::vector<format::TensorType> &out) -> LogicalResult {
      for (auto [i, type] : llvm::enumerate(types)) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        auto element = tensor ? elementTypeOf(tensor.getElementType()) : std::nullopt;
        if (!element)
          return func.emitOpError(result ? "result " : "argument ")
                 << i << " of type " << type << " cannot cross the wafer's edge";
        auto name = result ? func.getResultAttrOfType<StringAttr>(i, nn::NnDialect::getNameAttrName())
                           : func.getArgAttrOfType<StringAttr>(i, nn::NnDialect::getNameAttrName());
        out.push_back({name ? name.str() : (result ? "output_" : "input_") + std::to_string(i), *element,
                       tensor.getShape().vec()});
      }
      return success();
    };
    if (failed(readTypes(func.getArgumentTypes(), false, network.plan.inputs)))
      return failure();
    return readTypes(func.getResultTypes(), true, network.plan.outputs);
  }

  /// Which kernels run on the feeders of others.
  LogicalResult readCoLocated() {
    for (auto [index, op] : llvm::enumerate(network.kernelOps)) {
      if (!op.getMappingAttr().getCoLocated())
        continue;
      const int32_t host = kernels::hostFor(network.plan, int32_t(index));
      if (host < 0)
        return op.emitOpError(
            "is a co-located kernel, but has no host: it must join channels of streams, and the first to take the "
            "result be a contraction of single pixels, all with the same tiles");
      kernels::setHost(network.plan, int32_t(index), host);
      const KernelPlan &coLocated = network.plan.kernels[index], &plan = network.plan.kernels[size_t(host)];
      if (plan.mapping.bands != 1 || plan.mapping.streamed)
        return op.emitOpError("is a co-located kernel of ")
               << plan.spec.name << ", which must have one band and not be streamed";
      if (coLocated.mapping.channelsPerSlice != plan.mapping.channelsPerSlice || coLocated.mapping.columns != 1)
        return op.emitOpError("has slices of ")
               << coLocated.mapping.channelsPerSlice << " channels and columns: " << coLocated.mapping.columns
               << "; as a co-located kernel of " << plan.spec.name << " it has slices of "
               << plan.mapping.channelsPerSlice << " channels and one column";
      if (phase >= Phase::Placed && coLocated.placement.col != plan.placement.col)
        return op.emitOpError("lies at column ")
               << coLocated.placement.col << ", its host " << plan.spec.name << " at column " << plan.placement.col;
    }
    return success();
  }

  /// The module's variables. From phase sized on they must have their places.
  LogicalResult readModuleVariables() {
    auto module = func->getParentOfType<ModuleOp>();
    auto variables = module ? readVariables(module)
                            : FailureOr<std::vector<kernels::VariablePlan>>(std::vector<kernels::VariablePlan>());
    if (failed(variables))
      return failure();
    network.plan.variables = std::move(*variables);
    if (phase >= Phase::Sized)
      return requirePlaces(func, network.plan);
    return success();
  }

  LogicalResult readOp(Operation *op) {
    if (auto enter = dyn_cast<EnterOp>(op))
      return readEnter(enter);
    if (auto kernel = dyn_cast<KernelOp>(op))
      return readKernelOp(kernel);
    if (auto ret = dyn_cast<func::ReturnOp>(op))
      return readReturn(ret);
    if (isMovement(op))
      return success();
    return op->emitOpError("is not part of a mapped network: form kernels first");
  }

  static LogicalResult refusePlane(Operation *op) {
    return op->emitOpError("has no plane: ")
           << op->getResult(0).getType() << " is neither [1, C, H, W] nor [B, F]; " << kernels::kPhasedHasNoLimit;
  }

  /// A new stream for the result of `op`.
  FailureOr<int32_t> addStream(Operation *op, std::string name, LayoutAttr layout, DenseI32ArrayAttr colours,
                               DenseI32ArrayAttr via, const kernels::VariablePlan *variable = nullptr) {
    StreamPlan stream;
    stream.name = std::move(name);
    if (via)
      stream.wantedTurns = via.asArrayRef();
    stream.layout.silent = op->getNumResults() == 0;
    auto plane = stream.layout.silent ? std::optional(variable->plane) : planeOf(op->getResult(0).getType());
    if (!plane)
      return refusePlane(op);
    stream.layout.plane = *plane;
    stream.layout.blockBegin = {0, plane->channels};
    if (phase >= Phase::Sized) {
      if (!layout || layout.getBlocks().back() != plane->channels)
        return op->emitOpError("needs a layout over its ") << plane->channels << " channels: size it first";
      stream.layout.tileRows = layout.getTileRows();
      stream.layout.blockBegin = layout.getBlocks().vec();
      stream.layout.orderModulus = layout.getOrder();
      if (variable && layout.getTileRows() != variable->tileRows)
        return op->emitOpError("has tiles of ") << layout.getTileRows() << " rows, its variable "
                                                << variable->tensor.name << " of " << variable->tileRows;
    }
    if (phase >= Phase::Routed) {
      if (!colours)
        return op->emitOpError("needs lane_colours: route it first");
      for (int32_t colour : colours.asArrayRef())
        stream.laneColours.push_back(uint8_t(colour));
    }
    int32_t index = int32_t(network.plan.streams.size());
    if (!stream.layout.silent)
      streamOf[op->getResult(0)] = index;
    network.plan.streams.push_back(std::move(stream));
    network.streamOps.push_back(op);
    return index;
  }

  LogicalResult readEnter(EnterOp enter) {
    auto argument = dyn_cast<BlockArgument>(movementRoot(enter.getInput()));
    if (!planeOf(enter.getType()) && argument)
      return enter.emitError("input ") << network.plan.inputs[argument.getArgNumber()].name
                                       << " has no plane: " << enter.getType()
                                       << " is neither [1, C, H, W] nor [B, F]; " << kernels::kPhasedHasNoLimit;
    auto host = hostOfInput(enter.getInput());
    if (!argument)
      return enter.emitOpError("must take an argument of the function, at most reshaped or transposed");
    if (!host)
      return enter.emitOpError(
                 "takes elements in an order that no lane can be fed in: the reshapes and transposes of argument ")
             << argument.getArgNumber() << " may leave channels with two strides, rows and columns with one each";
    if (!cast<RankedTensorType>(argument.getType()).getElementType().isF32())
      return enter.emitOpError("takes ") << argument.getType() << "; only f32 inputs are mapped";
    // An argument may enter in several element orders; nets have names of their own.
    std::string name = network.plan.inputs[argument.getArgNumber()].name;
    if (int before = entersOf[argument]++)
      name += "." + std::to_string(before);
    auto stream =
        addStream(enter, std::move(name), enter.getLayoutAttr(), enter.getLaneColoursAttr(), enter.getViaAttr());
    if (failed(stream))
      return failure();
    host->tensor = int32_t(argument.getArgNumber());
    network.plan.streams[*stream].input = *host;
    return success();
  }

  LogicalResult readKernelOp(KernelOp op) {
    SmallVector<int32_t> streams;
    bool readable = true;
    for (Value input : op.getInputs()) {
      if (broken.contains(movementRoot(input))) {
        readable = false;
        streams.push_back(-1);
        continue;
      }
      auto it = streamOf.find(input);
      if (it == streamOf.end() && streamOf.count(movementRoot(input)))
        return op.emitOpError("takes a stream that ")
               << input.getDefiningOp()->getName().getStringRef()
               << " rearranges between kernels; elements change places at the network's edges only";
      if (it == streamOf.end())
        return isMovement(input.getDefiningOp())
                   ? op.emitOpError("takes ")
                         << movementRoot(input).getType() << " as " << input.getType()
                         << ": a reshape or transpose between kernels must leave elements at their places"
                   : op.emitOpError("takes a value that is no stream");
      streams.push_back(it->second);
    }
    auto spec = readKernel(op, streams);
    if (failed(spec))
      return failure();
    if (!readable) {
      broken.insert(op->result_begin(), op->result_end());
      return success();
    }
    KernelPlan plan;
    plan.spec = std::move(*spec);
    if (PinAttr pin = op.getPinAttr()) {
      plan.pinnedColumns = pin.getColumns();
      plan.placement.col = int32_t(pin.getCol().value_or(-1));
    }
    int32_t index = int32_t(network.plan.kernels.size());
    const kernels::VariablePlan *variable = nullptr;
    if (plan.spec.state) {
      plan.spec.state->variable = variableOf(op);
      variable = &network.plan.variables[plan.spec.state->variable];
    }
    auto out =
        addStream(op, op.getName().str(), op.getLayoutAttr(), op.getLaneColoursAttr(), op.getViaAttr(), variable);
    if (failed(out))
      return failure();
    plan.spec.outStream = *out;
    network.plan.streams[*out].producer = index;
    for (const kernels::KernelInput &input : plan.spec.inputs)
      for (int32_t stream : input.streams)
        network.plan.streams[stream].consumers.push_back(index);
    if (phase >= Phase::Sized && failed(readMapping(op, plan)))
      return failure();
    if (phase >= Phase::Placed) {
      RectAttr rect = op.getRectAttr();
      if (!rect)
        return op.emitOpError("needs a rect: place it first");
      if (rect.getCols() != plan.width() || rect.getRow() != 0)
        return op.emitOpError("has a rectangle of ")
               << rect.getCols() << " columns from row " << rect.getRow() << ", its mapping covers " << plan.width()
               << " columns from row 0";
      if (variable && rect.getCol() != variable->col)
        return op.emitOpError("lies at column ")
               << rect.getCol() << ", its variable " << variable->tensor.name << " at column " << variable->col;
      plan.placement.col = int32_t(rect.getCol());
    }
    if (phase >= Phase::Routed && plan.spec.kind == kernels::KernelKind::Contraction) {
      ColoursAttr colours = op.getColoursAttr();
      if (!colours)
        return op.emitOpError("needs colours: route it first");
      plan.colours.row = uint8_t(colours.getRow());
      plan.colours.chain = {uint8_t(colours.getChain()[0]), uint8_t(colours.getChain()[1])};
    }
    if (ArrayAttr turns = op.getTurnsAttr(); turns && phase >= Phase::Routed) {
      if (turns.size() != plan.mapping.fifoSamples.size())
        return op.emitOpError("takes ") << plan.mapping.fifoSamples.size() << " streams, it has turns for "
                                        << turns.size();
      for (auto of : turns.getAsRange<DenseI32ArrayAttr>())
        plan.turns.push_back(of.asArrayRef());
    }
    network.plan.kernels.push_back(std::move(plan));
    network.kernelOps.push_back(op);
    return success();
  }

  /// The variable of a state kernel; the module has it, or the symbol's verifier has failed before.
  int32_t variableOf(KernelOp op) {
    StringRef name;
    op.getBody().walk([&](Operation *layer) {
      if (auto read = dyn_cast<nn::ReadOp>(layer))
        name = read.getVariable();
      else if (auto write = dyn_cast<nn::WriteOp>(layer))
        name = write.getVariable();
    });
    int32_t index = 0;
    while (network.plan.variables[index].tensor.name != name)
      ++index;
    return index;
  }

  LogicalResult readMapping(KernelOp op, KernelPlan &plan) {
    MappingAttr mapping = op.getMappingAttr();
    if (!mapping)
      return op.emitOpError("needs a mapping: size it first");
    bool contraction = plan.spec.kind == kernels::KernelKind::Contraction;
    int64_t sliced = plan.spec.out.channels, components = 0;
    for (const kernels::KernelInput &input : plan.spec.inputs)
      components += int64_t(input.streams.size());
    if (contraction)
      sliced = kernels::inputPlane(network.plan, plan.spec, 0).channels;
    kernels::Mapping &m = plan.mapping;
    m.channelsPerSlice = mapping.getSlice();
    m.channelsPerColumn = mapping.getColumn();
    m.bands = contraction ? mapping.getBands() : 1;
    m.feederChannels = contraction ? mapping.getFeeder() : 0;
    m.columns = kernels::columnsFor(plan.spec.out.channels, m.bands, m.channelsPerColumn, m.feederChannels);
    if (!contraction && mapping.getBands() > 1)
      return op.emitOpError("has ") << mapping.getBands() << " bands; only contractions have more than one";
    if (!contraction && mapping.getFeeder() > 0)
      return op.emitOpError("has a feeder that makes ")
             << mapping.getFeeder() << " channels; only contractions have feeders";
    if (const int64_t last = plan.spec.out.channels - (m.bands - 1) * m.bandChannels(); last < m.feederChannels)
      return op.emitOpError("has feeders that make ")
             << m.feederChannels << " channels, its last band has " << std::max<int64_t>(0, last);
    if (!contraction) {
      if (m.columns > 1 && (plan.spec.state || plan.spec.kind == kernels::KernelKind::Softmax))
        return op.emitOpError("has ") << m.columns << " columns; kernels on a variable's cores and softmax have one";
      sliced = std::min(sliced, m.channelsPerColumn);
    }
    m.slices = kernels::ceilDiv(sliced, mapping.getSlice());
    m.fifoSamples = mapping.getFifo().vec();
    m.streamed = mapping.getStreamed();
    m.exitsNear = mapping.getExitsNear();
    if (m.exitsNear && (plan.spec.kind != kernels::KernelKind::Window || m.columns == 1 || components != 1))
      return op.emitOpError("has exits near its inputs; only windows of several columns that take one stream may");
    if (int64_t(m.fifoSamples.size()) != components)
      return op.emitOpError("takes ") << components << " streams, its mapping has " << m.fifoSamples.size() << " FIFOs";
    if (plan.spec.state) {
      const kernels::VariablePlan &variable = network.plan.variables[plan.spec.state->variable];
      if (m.channelsPerSlice != variable.channelsPerSlice)
        return op.emitOpError("has slices of ") << m.channelsPerSlice << " channels, its variable "
                                                << variable.tensor.name << " of " << variable.channelsPerSlice;
    }
    if (const kernels::Window &window = plan.spec.window; !window.ofSingleChannels()) {
      for (auto [what, channels] : {std::pair("slices", m.channelsPerSlice), std::pair("columns", m.channelsPerColumn)})
        if (!window.dividesEvenly(channels))
          return op.emitOpError("has ") << what << " of " << channels << " output channels; its groups of "
                                        << window.groupOut << " ask for whole groups or equal parts of one";
      if (m.channelsPerSlice < window.groupOut && m.channelsPerColumn % m.channelsPerSlice != 0)
        return op.emitOpError("has slices of ")
               << m.channelsPerSlice << " channels that do not divide its columns of " << m.channelsPerColumn;
    }
    const kernels::StreamLayout &layout = network.plan.streams[plan.spec.outStream].layout;
    int64_t unit = contraction ? m.channelsPerColumn : m.channelsPerSlice;
    int64_t shares = contraction ? m.bands : m.columns, share = contraction ? m.bandChannels() : m.channelsPerColumn;
    for (int64_t block = 1; block < layout.numBlocks(); ++block) {
      const int64_t inShare = layout.blockBegin[block] % share;
      if (contraction ? inShare != m.columnBegin(m.columnOf(inShare)) : inShare % unit != 0)
        return op.emitOpError("has a channel block that begins at ")
               << layout.blockBegin[block] << ", not at a multiple of " << unit << " channels"
               << (m.feederComputes() ? " from the feeder's " + std::to_string(m.feederChannels) : "")
               << (shares > 1 ? contraction ? " in its band" : " in its column" : "");
    }
    for (int64_t begin = share; begin < shares * share; begin += share)
      if (!llvm::is_contained(layout.blockBegin, begin))
        return op.emitOpError("has no channel block that begins at ")
               << begin << ", where a " << (contraction ? "band" : "column") << " does: each lane leaves from one";
    plan.predictedIntervalCycles = op.getPredictedCycles().value_or(0);
    return success();
  }

  LogicalResult readReturn(func::ReturnOp ret) {
    for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
      auto it = streamOf.find(movementRoot(value));
      auto host = hostOfOutput(value);
      if (it == streamOf.end())
        return ret.emitOpError("operand ") << i << " must be a kernel's result, at most reshaped or transposed";
      if (!host)
        return ret.emitOpError("operand ") << i << " of type " << value.getType()
                                           << " rearranges a kernel's result of type " << movementRoot(value).getType()
                                           << " in a way lanes cannot leave in: a channel may fall into two "
                                              "dimensions, a row and a column into one";
      host->tensor = int32_t(i);
      network.plan.streams[it->second].outputs.push_back(*host);
    }
    return success();
  }

  func::FuncOp func;
  Phase phase;
  llvm::DenseMap<Value, int> entersOf; // enter operations of each argument so far
  NetworkIR network;
  llvm::DenseMap<Value, int32_t> streamOf;
  llvm::DenseSet<Value> broken; // results of operations that have no form, and what depends on them
};

template <typename Op> void setLayout(Op op, const kernels::StreamLayout &layout) {
  op.setLayoutAttr(LayoutAttr::get(op.getContext(), layout.tileRows, layout.blockBegin, layout.orderModulus));
}

template <typename Op> void setLaneColours(Op op, const StreamPlan &stream) {
  SmallVector<int32_t> colours(stream.laneColours.begin(), stream.laneColours.end());
  op.setLaneColoursAttr(DenseI32ArrayAttr::get(op.getContext(), colours));
}

} // namespace

LogicalResult requirePlaces(func::FuncOp func, const kernels::NetworkPlan &plan) {
  for (const kernels::VariablePlan &variable : plan.variables)
    if (variable.col < 0)
      return func.emitOpError("needs a place for variable ")
             << variable.tensor.name << ": run wafer-lay-out-state first";
  return success();
}

FailureOr<NetworkIR> readNetwork(func::FuncOp func, Phase phase) { return NetworkReader(func, phase).read(); }

void writeSizes(func::FuncOp func, NetworkIR &network) {
  Builder builder(func.getContext());
  func->setAttr(WaferDialect::getRowsUsedAttrName(), builder.getI64IntegerAttr(network.plan.grid.rowsUsed));
  if (network.plan.grid.rowsSpare)
    func->setAttr(WaferDialect::getRowsSpareAttrName(), builder.getI64IntegerAttr(*network.plan.grid.rowsSpare));
  const kernels::IntervalBounds &bounds = network.plan.bounds;
  func->setAttr(WaferDialect::getBoundsAttrName(),
                builder.getDenseI64ArrayAttr({bounds.sizing, bounds.multiplyAdds, bounds.io, bounds.largestKernel}));
  for (auto [op, plan] : llvm::zip(network.kernelOps, network.plan.kernels)) {
    op.setMappingAttr(MappingAttr::get(op.getContext(), plan.mapping.channelsPerSlice, plan.mapping.channelsPerColumn,
                                       plan.mapping.fifoSamples, plan.mapping.streamed, plan.mapping.bands,
                                       plan.mapping.exitsNear, plan.mapping.feederChannels, plan.host >= 0));
    op.setPredictedCyclesAttr(builder.getI64IntegerAttr(plan.predictedIntervalCycles));
  }
  for (auto [op, stream] : llvm::zip(network.streamOps, network.plan.streams)) {
    if (auto enter = dyn_cast<EnterOp>(op))
      setLayout(enter, stream.layout);
    else
      setLayout(cast<KernelOp>(op), stream.layout);
  }
}

KernelOp createKernel(OpBuilder &builder, Location loc, ValueRange streams, Type type, const Twine &name,
                      llvm::function_ref<Value(OpBuilder &, ValueRange)> make) {
  OperationState state(loc, KernelOp::getOperationName());
  state.addOperands(streams);
  state.addTypes(type);
  state.addAttribute("name", builder.getStringAttr(name));
  state.addRegion();
  auto kernel = cast<KernelOp>(builder.create(state));
  Block &body = kernel.getBody().emplaceBlock();
  for (Value stream : streams)
    body.addArgument(stream.getType(), loc);
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  YieldOp::create(inside, loc, make(inside, body.getArguments()));
  return kernel;
}

KernelOp createPass(OpBuilder &builder, Value stream, const Twine &name) {
  return createKernel(builder, stream.getLoc(), stream, stream.getType(), name,
                      [](OpBuilder &, ValueRange arguments) { return arguments.front(); });
}

void insertPasses(NetworkIR &network, ArrayRef<kernels::PassRequest> requests) {
  std::map<int32_t, int> count; // of passes before each consumer, for names
  for (const kernels::PassRequest &request : requests) {
    KernelOp consumer = network.kernelOps[request.consumer];
    Value stream = network.streamOps[request.stream]->getResult(0);
    OpBuilder builder(consumer);
    std::string name = (consumer.getName() + ".from." + network.plan.streams[request.stream].name).str();
    if (int again = count[request.consumer]++)
      name += "." + std::to_string(again);
    KernelOp pass = createPass(builder, stream, name);
    consumer->replaceUsesOfWith(stream, pass.getResult());
  }
}

void writePlaces(NetworkIR &network) {
  for (auto [op, plan] : llvm::zip(network.kernelOps, network.plan.kernels))
    op.setRectAttr(RectAttr::get(op.getContext(), 0, plan.placement.col, network.plan.grid.height(), plan.width()));
}

void writeRoutes(NetworkIR &network) {
  for (auto [op, plan] : llvm::zip(network.kernelOps, network.plan.kernels)) {
    SmallVector<Attribute> turns;
    for (const std::vector<int32_t> &of : plan.turns)
      turns.push_back(DenseI32ArrayAttr::get(op.getContext(), of));
    op.setTurnsAttr(turns.empty() ? nullptr : ArrayAttr::get(op.getContext(), turns));
  }
  for (auto [op, plan] : llvm::zip(network.kernelOps, network.plan.kernels))
    if (plan.spec.kind == kernels::KernelKind::Contraction) {
      int64_t chain[] = {plan.colours.chain[0], plan.colours.chain[1]};
      op.setColoursAttr(ColoursAttr::get(op.getContext(), plan.colours.row, chain));
    }
  for (auto [op, stream] : llvm::zip(network.streamOps, network.plan.streams)) {
    if (auto enter = dyn_cast<EnterOp>(op))
      setLaneColours(enter, stream);
    else
      setLaneColours(cast<KernelOp>(op), stream);
  }
}

} // namespace wsc::wafer
