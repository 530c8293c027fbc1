// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the function once in order. Every value becomes a tensor when it is first read, so constants, fills and
// variables that nests have taken in otherwise never appear.
#include "passes/spmd/ReadNetwork.h"

#include "compiler/spmd/network/Simplify.h"
#include "passes/spmd/ElementTypes.h"
#include "passes/spmd/LayerName.h"
#include "passes/spmd/ReadNest.h"
#include "passes/spmd/RemapPieces.h"

#include "dialects/nn/Nn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"

#include "absl/strings/str_cat.h"

#include <cstring>
#include <map>

using namespace mlir;

namespace wsc::spmd {

namespace {

/// Little-endian elements, one byte for an i1.
ElementSource inlineSource(DenseElementsAttr dense) {
  const size_t width = std::max<size_t>(1, dense.getElementType().getIntOrFloatBitWidth() / 8);
  auto bytes = std::make_shared<std::vector<std::byte>>(size_t(dense.getNumElements()) * width);
  size_t at = 0;
  const auto append = [&](const APInt &bits) {
    const uint64_t word = bits.getZExtValue();
    std::memcpy(bytes->data() + at, &word, width);
    at += width;
  };
  if (isa<FloatType>(dense.getElementType()))
    for (const APFloat &element : dense.getValues<APFloat>())
      append(element.bitcastToAPInt());
  else
    for (const APInt &element : dense.getValues<APInt>())
      append(element);
  ElementSource source;
  source.bytes = int64_t(bytes->size());
  source.inlineBytes = std::move(bytes);
  return source;
}

/// A constant's or variable's value; nothing if it has another form than #nn.weights and dense elements.
std::optional<ElementSource> sourceOf(Attribute value) {
  if (auto weights = dyn_cast<nn::WeightsAttr>(value)) {
    ElementSource source;
    source.path = weights.getFile().str();
    source.offset = int64_t(weights.getOffset());
    source.bytes = int64_t(weights.getBytes());
    return source;
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return inlineSource(dense);
  return std::nullopt;
}

class NetworkReader {
public:
  explicit NetworkReader(func::FuncOp function) : function(function) {}

  FailureOr<Network> read() {
    network.name = function.getName().str();
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return function.emitError() << "needs one block to be a network";
    for (BlockArgument argument : function.getArguments())
      if (failed(readInput(argument)))
        return failure();
    for (Operation &op : function.getBody().front())
      if (failed(readOp(op)))
        return failure();
    return std::move(network);
  }

private:
  FailureOr<Tensor> describe(Value value, std::string name) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    auto element = type ? elementTypeOf(type.getElementType()) : std::nullopt;
    if (!element || !type.hasStaticShape())
      return emitError(value.getLoc()) << "has a value of type " << value.getType()
                                       << "; cores hold statically shaped tensors of f16, bf16, f32, f64, integers of "
                                          "8 to 64 bits and i1";
    Tensor tensor;
    tensor.name = std::move(name);
    tensor.type = *element;
    tensor.shape.assign(type.getShape().begin(), type.getShape().end());
    return tensor;
  }

  FailureOr<TensorId> add(Value value, std::string name) {
    FailureOr<Tensor> tensor = describe(value, std::move(name));
    if (failed(tensor))
      return failure();
    network.tensors.push_back(*tensor);
    return tensors[value] = TensorId(network.tensors.size()) - 1;
  }

  std::string externalName(DictionaryAttr attributes, StringRef otherwise, unsigned number) {
    auto name = attributes ? attributes.getAs<StringAttr>(nn::NnDialect::getNameAttrName()) : StringAttr();
    return name ? name.getValue().str() : absl::StrCat(otherwise.str(), number);
  }

  LogicalResult readInput(BlockArgument argument) {
    const unsigned number = argument.getArgNumber();
    const std::string name = externalName(function.getArgAttrDict(number), "input", number);
    FailureOr<TensorId> id = add(argument, name);
    if (failed(id))
      return failure();
    network.tensors.back().kind = Tensor::Kind::Input;
    network.tensors.back().input = int32_t(number);
    network.inputs.push_back({name, *id});
    return success();
  }

  /// The tensor of a value that is read: made where it is a constant or a fill and was not read before.
  FailureOr<TensorId> tensorOf(Value value) {
    if (auto it = tensors.find(value); it != tensors.end())
      return it->second;
    Operation *op = value.getDefiningOp();
    if (isa<tensor::EmptyOp>(op))
      return op->emitError() << "has no elements to read; only what is computed without them may write over it";
    if (auto fill = fillOf(value); fill && isa<linalg::FillOp>(op)) {
      Remap remap;
      remap.name = nodeName(op);
      if (failed(setFill(remap, fill, value)))
        return failure();
      return addNode(std::move(remap), value);
    }
    Attribute constant;
    if (auto nnConstant = dyn_cast<nn::ConstantOp>(op))
      constant = nnConstant.getValue();
    else if (auto arithConstant = dyn_cast<arith::ConstantOp>(op))
      constant = arithConstant.getValue();
    auto source = constant ? sourceOf(constant) : std::nullopt;
    if (!source)
      return op->emitError() << "is no part of a network of nests; run nn-lower-to-nests before";
    FailureOr<TensorId> id = add(value, nodeName(op));
    if (failed(id))
      return failure();
    network.tensors.back().kind = Tensor::Kind::Constant;
    network.tensors.back().source = std::move(*source);
    return id;
  }

  std::string nodeName(Operation *op) {
    std::string name = layerName(op->getLoc());
    return name.empty() ? absl::StrCat(op->getName().getStringRef().str(), network.nodes.size()) : name;
  }

  template <typename NodeType> FailureOr<TensorId> addNode(NodeType node, Value result) {
    FailureOr<TensorId> id = add(result, node.name);
    if (failed(id))
      return failure();
    node.result = *id;
    network.nodes.push_back(std::move(node));
    return id;
  }

  /// The constant of no dimensions that is this element.
  TensorId constantOf(const Element &element) {
    auto [found, isNew] = constants.try_emplace({int(element.type), element.bits}, TensorId(network.tensors.size()));
    if (!isNew)
      return found->second;
    Tensor tensor;
    tensor.name = absl::StrCat("constant", network.tensors.size());
    tensor.type = element.type;
    tensor.kind = Tensor::Kind::Constant;
    auto bytes = std::make_shared<std::vector<std::byte>>(size_t(format::elementBytes(element.type)));
    std::memcpy(bytes->data(), &element.bits, bytes->size());
    tensor.source.bytes = int64_t(bytes->size());
    tensor.source.inlineBytes = std::move(bytes);
    network.tensors.push_back(std::move(tensor));
    return found->second;
  }

  /// The fill of a remap that makes `result`; one that is nothing but a fill which no immediate is repeats a constant.
  LogicalResult setFill(Remap &remap, Attribute fill, Value result) {
    const auto type = cast<RankedTensorType>(result.getType());
    const auto elementType = elementTypeOf(type.getElementType());
    if (!elementType)
      return success(); // refused with the tensor
    const Element element = elementOf(fill, *elementType);
    if (element.immediate) {
      remap.fill = *element.immediate;
    } else if (remap.pieces.empty()) {
      Piece &all = remap.pieces.emplace_back();
      all.source = constantOf(element);
      all.digits = {{type.getNumElements(), 0, 1}};
    } else {
      return emitError(result.getLoc()) << "fills with " << fill
                                        << ", which is no immediate of a core as these are f64 numbers; fill with one";
    }
    return success();
  }

  LogicalResult readRemap(wafer::RemapOp op) {
    Remap remap;
    remap.name = nodeName(op);
    for (wafer::PieceAttr from : op.getPieceRange()) {
      FailureOr<TensorId> source = tensorOf(op.getSources()[unsigned(from.getOperand())]);
      if (failed(source))
        return failure();
      remap.pieces.push_back(pieceOf(from));
      remap.pieces.back().source = *source;
    }
    if (Attribute fill = op.getFillAttr(); fill && failed(setFill(remap, fill, op.getResult())))
      return failure();
    return addNode(std::move(remap), op.getResult());
  }

  /// The state of a variable; made where the function first names it.
  FailureOr<State *> stateOf(Operation *op, FlatSymbolRefAttr name) {
    for (State &state : network.states)
      if (state.name == name.getValue())
        return &state;
    auto variable = SymbolTable::lookupNearestSymbolFrom<nn::VariableOp>(op, name);
    auto type = variable ? dyn_cast<RankedTensorType>(variable.getType()) : RankedTensorType();
    auto element = type ? elementTypeOf(type.getElementType()) : std::nullopt;
    if (!element)
      return op->emitError() << "names variable " << name << ", which has no form on cores";
    State state;
    state.name = name.getValue().str();
    state.type = *element;
    state.shape.assign(type.getShape().begin(), type.getShape().end());
    if (auto initial = variable.getInitialAttr())
      if (auto source = sourceOf(initial))
        state.initial = std::move(*source);
    network.states.push_back(std::move(state));
    return &network.states.back();
  }

  /// A read before all writes is the value before the sample, one after a write what was written.
  LogicalResult readVariable(nn::ReadOp op) {
    FailureOr<State *> state = stateOf(op, op.getVariableAttr());
    if (failed(state))
      return failure();
    TensorId &value = (*state)->written >= 0 ? (*state)->written : (*state)->read;
    if (value >= 0) {
      tensors[op.getResult()] = value;
      return success();
    }
    FailureOr<TensorId> id = add(op.getResult(), (*state)->name);
    if (succeeded(id))
      value = *id;
    return id;
  }

  LogicalResult writeVariable(nn::WriteOp op) {
    FailureOr<State *> state = stateOf(op, op.getVariableAttr());
    FailureOr<TensorId> value = tensorOf(op.getValue());
    if (failed(state) || failed(value))
      return failure();
    (*state)->written = *value;
    return success();
  }

  LogicalResult readReturn(Operation &op) {
    for (auto [i, value] : llvm::enumerate(op.getOperands())) {
      FailureOr<TensorId> id = tensorOf(value);
      if (failed(id))
        return failure();
      network.outputs.push_back({externalName(function.getResultAttrDict(unsigned(i)), "output", unsigned(i)), *id});
    }
    return success();
  }

  LogicalResult readOp(Operation &op) {
    if (isa<linalg::GenericOp>(op)) {
      FailureOr<Nest> nest = readNest(
          &op, [&](Value value) { return tensorOf(value); }, [&](const Element &each) { return constantOf(each); });
      if (failed(nest))
        return failure();
      nest->name = nodeName(&op);
      return addNode(std::move(*nest), op.getResult(0));
    }
    if (auto remap = dyn_cast<wafer::RemapOp>(op))
      return readRemap(remap);
    if (auto read = dyn_cast<nn::ReadOp>(op))
      return readVariable(read);
    if (auto write = dyn_cast<nn::WriteOp>(op))
      return writeVariable(write);
    if (isa<func::ReturnOp>(op))
      return readReturn(op);
    if (isa<nn::ConstantOp, arith::ConstantOp, tensor::EmptyOp, linalg::FillOp, UnrealizedConversionCastOp>(op))
      return success(); // taken up where they are read
    return op.emitError() << "is no part of a network of nests; run nn-lower-to-nests before";
  }

  func::FuncOp function;
  Network network;
  llvm::DenseMap<Value, TensorId> tensors;
  std::map<std::pair<int, uint64_t>, TensorId> constants; // of no dimensions, by type and bits
};

} // namespace

absl::StatusOr<Network> readNetwork(func::FuncOp function) {
  std::string first; // diagnostic
  ScopedDiagnosticHandler handler(function.getContext(), [&](Diagnostic &diagnostic) {
    if (first.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      const std::string name = layerName(diagnostic.getLocation());
      first = (name.empty() ? "" : "layer " + name + ": ") + diagnostic.str();
    }
    return failure(); // for whoever else listens
  });
  FailureOr<Network> network = NetworkReader(function).read();
  if (failed(network))
    return absl::InvalidArgumentError(first);
  simplify(*network);
  if (absl::Status status = network->check(); !status.ok()) {
    function.emitError() << std::string(status.message());
    return status;
  }
  return std::move(*network);
}

} // namespace wsc::spmd
