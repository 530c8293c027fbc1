// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The region is read in order. Values are one of: a stream input (possibly concatenated or reshaped), the result of the
// main layer, a result of an elementwise layer, or a constant.
#include "passes/wafer/ReadKernel.h"

#include "dialects/nn/Nn.h"
#include "passes/wafer/Constants.h"
#include "passes/wafer/Planes.h"
#include "passes/wafer/ReadWindow.h"
#include "passes/wafer/StateUses.h"

#include "llvm/ADT/DenseMap.h"

#include <cmath>

using namespace mlir;

namespace wsc::wafer {

using format::Opcode;
using kernels::KernelKind;
using kernels::KernelSpec;
using kernels::Plane;
using kernels::TileOp;
using kernels::TileOperand;

namespace {

class KernelReader {
public:
  KernelReader(KernelOp op, ArrayRef<int32_t> streams) : op(op) {
    for (auto [argument, stream] : llvm::zip(op.getBody().front().getArguments(), streams))
      streamInputs[argument] = kernels::KernelInput{{stream}};
  }

  FailureOr<KernelSpec> read() {
    spec.name = op.getName().str();
    if (ArrayAttr layers = op.getLayersAttr())
      for (Attribute layer : layers)
        spec.layers.push_back(cast<StringAttr>(layer).str());
    auto uses = findStateUses(op);
    if (failed(uses))
      return failure();
    Type type = op.getResult() ? op.getResult().getType() : uses->type;
    auto plane = planeOf(type);
    if (!plane || !cast<RankedTensorType>(type).getElementType().isF32())
      return op.emitOpError("has no plane: ")
             << type << " is neither [1, C, H, W] nor [B, F] of f32; " << kernels::kPhasedHasNoLimit;
    if (plane->elements() == 0)
      return op.emitOpError("makes no elements: ") << type << "; leave the layer out of the graph";
    spec.out = *plane;
    if (uses->type && failed(beginState(*uses)))
      return failure();
    Value result;
    for (Operation &layer : op.getBody().front()) {
      if (auto yield = dyn_cast<YieldOp>(layer)) {
        result = yield.getValue();
        break;
      }
      if (failed(readLayer(&layer)))
        return failure();
    }
    // A kernel that only moves (concatenation, FIFO): its input is its result.
    if (result && !tileValues.count(result) && failed(tileOperand(result, op)))
      return failure();
    if (spec.state)
      spec.state->outValue = result ? tileValues[result] : -1;
    return std::move(spec);
  }

private:
  /// Numbers the streams and the old value, before any operation.
  LogicalResult beginState(StateUses uses) {
    spec.state.emplace();
    for (BlockArgument argument : op.getBody().getArguments()) {
      auto plane = planeOf(argument.getType());
      bool broadcast = plane && (plane->channels == spec.out.channels || plane->channels == 1) &&
                       (plane->rows == spec.out.rows || plane->rows == 1) &&
                       (plane->width == spec.out.width || plane->width == 1);
      if (!broadcast)
        return op.emitOpError("takes a stream of type ")
               << argument.getType() << " that does not lie over its variable of type " << uses.type;
      tileValues[argument] = numValues++;
      spec.inputs.push_back(streamInputs[argument]);
    }
    if (uses.read)
      spec.state->readValue = tileValues[uses.read.getResult()] = numValues++;
    return success();
  }

  LogicalResult readWrite(nn::WriteOp write) {
    if (!isConstant(write.getValue())) {
      if (failed(tileOperand(write.getValue(), write)))
        return failure();
      spec.state->writeValue = tileValues[write.getValue()];
      return success();
    }
    auto constant = writtenConstant(write);
    if (failed(constant))
      return failure();
    spec.state->writeConstant = std::move(*constant);
    return success();
  }

  LogicalResult readLayer(Operation *layer) {
    if (isa<nn::ConstantOp, nn::ReadOp>(layer))
      return success();
    if (auto write = dyn_cast<nn::WriteOp>(layer))
      return readWrite(write);
    if (auto concat = dyn_cast<nn::ConcatOp>(layer))
      return readConcat(concat);
    if (isMovement(layer)) {
      Value from = layer->getOperand(0), to = layer->getResult(0);
      if (isConstant(to))
        return success();
      bool keeps = isa<nn::ReshapeOp>(layer) &&
                   preservesPlane(cast<RankedTensorType>(from.getType()), cast<RankedTensorType>(to.getType()));
      if (auto it = streamInputs.find(from); it != streamInputs.end() && keeps)
        streamInputs[to] = kernels::KernelInput(it->second);
      else if (auto tile = tileValues.find(from); tile != tileValues.end() && keeps)
        tileValues[to] = int32_t(tile->second);
      return success(); // other movements are seen through by the matmul that takes them
    }
    if (isWindowLayer(layer))
      return readWindow(layer);
    if (auto matmul = dyn_cast<nn::MatmulOp>(layer))
      return readMatmul(matmul);
    if (auto softmax = dyn_cast<nn::SoftmaxOp>(layer)) {
      auto type = cast<RankedTensorType>(softmax.getType());
      if (softmax.getAxis() != 1 || (type.getRank() != 2 && type.getRank() != 4))
        return softmax.emitOpError("is mapped along axis 1 of [B, F] or [1, C, H, W] only");
      spec.kind = KernelKind::Softmax;
      spec.softmax.logarithm = softmax.getLog();
      return setMain(softmax.getInput(), softmax.getResult(), layer);
    }
    if (auto norm = dyn_cast<nn::BatchNormOp>(layer))
      return readBatchNorm(norm);
    if (isa<nn::UnaryOp, nn::BinaryOp>(layer))
      return readElementwise(layer);
    return layer->emitOpError("has no kernel form yet");
  }

  LogicalResult readConcat(nn::ConcatOp concat) {
    const bool image = cast<RankedTensorType>(concat.getType()).getRank() == 4;
    if (concat.getAxis() != 1 && !(image && concat.getAxis() == 3))
      return concat.emitOpError("is mapped along axis 1 (channels)")
             << (image ? " and axis 3 (width)" : "") << " only, got axis " << concat.getAxis();
    kernels::KernelInput joined;
    joined.alongWidth = concat.getAxis() == 3;
    for (Value input : concat.getInputs()) {
      auto it = streamInputs.find(input);
      if (it == streamInputs.end())
        return concat.emitOpError("must join streams the kernel takes in");
      if (it->second.streams.size() > 1 && it->second.alongWidth != joined.alongWidth)
        return concat.emitOpError("joins along axis ")
               << concat.getAxis() << " what is joined along another; let a kernel of its own do that";
      joined.streams.insert(joined.streams.end(), it->second.streams.begin(), it->second.streams.end());
    }
    streamInputs[concat.getResult()] = std::move(joined);
    return success();
  }

  /// What the elementwise layers read so far compute of a stream is what a convolution takes in.
  LogicalResult takeInputOps(Operation *layer) {
    int uses = 0; // of the stream, whose words come once
    for (const TileOp &step : spec.tileOps)
      for (const TileOperand &operand : step.operands) {
        uses += operand.kind == TileOperand::Kind::Value && operand.value == 0;
        if (operand.kind == TileOperand::Kind::PerPixel)
          return layer->emitOpError("takes what an elementwise layer computes with a constant per pixel; before a "
                                    "convolution constants must be scalars or one element per channel");
      }
    if (uses != 1)
      return layer->emitOpError("takes what elementwise layers compute that use their stream ")
             << uses << " times; before a convolution it can be used once";
    spec.inputOps = std::exchange(spec.tileOps, {});
    tileValues.clear();
    return success();
  }

  /// The main layer's input becomes input 0, its result tile value 0.
  LogicalResult setMain(Value input, Value result, Operation *layer) {
    auto stream = streamInputs.find(input);
    auto computed = tileValues.find(input);
    if (stream != streamInputs.end() && stream->second.alongWidth)
      return layer->emitOpError("takes streams that are joined along the width; let a kernel of its own join them");
    if (stream != streamInputs.end() && spec.inputs.empty())
      spec.inputs.push_back(stream->second);
    else if (hasMain || spec.kind != KernelKind::Contraction || spec.inputs.size() != 1 ||
             computed == tileValues.end() || computed->second != numValues - 1)
      return layer->emitOpError("must be the first layer of its kernel and take a stream");
    else if (failed(takeInputOps(layer)))
      return failure();
    hasMain = true;
    tileValues[result] = 0;
    numValues = 1;
    return success();
  }

  /// A layer that slides over an image, and the operation that finishes its result, if there is one.
  LogicalResult readWindow(Operation *layer) {
    std::optional<TileOp> finish;
    if (failed(readWindowLayer(layer, spec, finish)) ||
        failed(setMain(layer->getOperand(0), layer->getResult(0), layer)))
      return failure();
    if (finish) {
      spec.tileOps.push_back(*std::move(finish));
      tileValues[layer->getResult(0)] = numValues++;
    }
    return success();
  }

  LogicalResult readMatmul(nn::MatmulOp matmul) {
    auto lhsType = cast<RankedTensorType>(matmul.getLhs().getType());
    auto rhsType = cast<RankedTensorType>(matmul.getRhs().getType());
    auto weights = constantView(matmul.getRhs());
    if (!weights || rhsType.getRank() != 2 || lhsType.getRank() != 2)
      return matmul.emitOpError("is mapped for [M, K] times constant f32 [K, N] only");
    int64_t k = lhsType.getDimSize(1), n = rhsType.getDimSize(matmul.getTransposeRhs() ? 0 : 1);
    int64_t strideK = matmul.getTransposeRhs() ? 1 : n, strideN = matmul.getTransposeRhs() ? k : 1;
    kernels::Contraction &c = spec.contraction;
    spec.kind = KernelKind::Contraction;
    spec.macs = lhsType.getDimSize(0) * k * n;
    c.weights = *weights;
    c.matrixProduct = true;
    c.weightStrideOut = strideN;
    if (failed(readBias(matmul.getBias(), c.bias, matmul)))
      return failure();
    if (streamInputs.count(matmul.getLhs())) {
      c.weightStrideIn = strideK;
      return setMain(matmul.getLhs(), matmul.getResult(), matmul);
    }
    // A flattened image: a convolution whose window is the whole plane. Where (channel, row, column) lies along K gives
    // the weights' strides.
    Value root = movementRoot(matmul.getLhs());
    auto host = hostOfOutput(matmul.getLhs());
    auto plane = planeOf(root.getType());
    if (!streamInputs.count(root) || !host || !plane || host->channelInner != 1 || lhsType.getDimSize(0) != 1)
      return matmul.emitOpError("takes a rearranged tensor that cannot be read in place");
    c.kernelH = plane->rows;
    c.kernelW = plane->width;
    c.weightStrideIn = host->strideChannelOuter * strideK;
    c.weightStrideH = host->strideRow * strideK;
    c.weightStrideW = host->strideColumn * strideK;
    return setMain(root, matmul.getResult(), matmul);
  }

  LogicalResult readBatchNorm(nn::BatchNormOp norm) {
    auto scale = constantParameters(norm.getScale(), norm), bias = constantParameters(norm.getBias(), norm),
         mean = constantParameters(norm.getMean(), norm), variance = constantParameters(norm.getVariance(), norm);
    if (failed(scale) || failed(bias) || failed(mean) || failed(variance))
      return failure();
    std::vector<double> factor(scale->size()), shift(scale->size());
    for (size_t i = 0; i < factor.size(); ++i) {
      factor[i] = (*scale)[i] / std::sqrt((*variance)[i] + norm.getEpsilon().convertToDouble());
      shift[i] = (*bias)[i] - (*mean)[i] * factor[i];
    }
    if (failed(tileOperand(norm.getInput(), norm)))
      return failure();
    int32_t value = tileValues[norm.getInput()];
    for (auto [opcode, constants] : {std::pair(Opcode::Mul, &factor), std::pair(Opcode::Add, &shift)}) {
      TileOp step;
      step.opcode = opcode;
      step.operands.resize(2);
      step.operands[0].kind = TileOperand::Kind::Value;
      step.operands[0].value = value;
      step.operands[1].kind = TileOperand::Kind::PerChannel;
      step.operands[1].constant = inlineConstant(*constants);
      spec.tileOps.push_back(std::move(step));
      value = numValues++;
    }
    tileValues[norm.getResult()] = value;
    return success();
  }

  FailureOr<std::vector<double>> constantParameters(Value value, Operation *layer) {
    if (!isConstant(value))
      return layer->emitOpError("needs constant parameters");
    return constantValues(value);
  }

  LogicalResult readElementwise(Operation *layer) {
    auto opcode = opcodeOf(layer);
    if (!opcode)
      return layer->emitOpError("has no kernel form yet");
    // Number stream inputs before the operation's own value.
    for (Value operand : layer->getOperands())
      if (!isConstant(operand) && !broadcastsInPlane(operand.getType(), layer->getResult(0).getType()))
        return layer->emitOpError("broadcasts ")
               << operand.getType() << " along other dimensions than its plane's; reshape it to the rank of "
               << layer->getResult(0).getType();
    for (Value operand : layer->getOperands())
      if (!isConstant(operand) && failed(tileOperand(operand, layer)))
        return failure();
    TileOp step;
    step.opcode = *opcode;
    for (Value operand : layer->getOperands()) {
      TileOperand out;
      if (isConstant(operand)) {
        if (failed(readConstantOperand(operand, layer, out)))
          return failure();
      } else {
        out.kind = TileOperand::Kind::Value;
        out.value = tileValues[operand];
      }
      step.operands.push_back(std::move(out));
    }
    if (isa<nn::UnaryOp>(layer) && cast<nn::UnaryOp>(layer).getKind() == nn::UnaryKind::Relu)
      step.operands.emplace_back(); // maximum with the scalar 0
    spec.tileOps.push_back(std::move(step));
    tileValues[layer->getResult(0)] = numValues++;
    return success();
  }

  /// A constant operand that broadcasts along all of the plane, all but channels, or channels only.
  LogicalResult readConstantOperand(Value operand, Operation *layer, TileOperand &out) {
    auto type = cast<RankedTensorType>(operand.getType());
    auto resultType = cast<RankedTensorType>(layer->getResult(0).getType());
    if (!type.getElementType().isF32())
      return layer->emitOpError("needs an f32 constant, got ") << type;
    if (type.getNumElements() == 1) {
      auto values = constantValues(operand);
      if (failed(values))
        return failure();
      out.kind = TileOperand::Kind::Scalar;
      out.scalar = values->front();
      return success();
    }
    SmallVector<int64_t> shape(resultType.getRank() - type.getRank(), 1);
    llvm::append_range(shape, type.getShape());
    auto plane = planeOf(RankedTensorType::get(shape, type.getElementType()));
    if (plane && plane->rows == 1 && plane->width == 1) {
      out.kind = TileOperand::Kind::PerChannel;
    } else if (plane && plane->channels == 1 && plane->rows == spec.out.rows && plane->width == spec.out.width) {
      out.kind = TileOperand::Kind::PerPixel;
    } else {
      return layer->emitOpError("takes a constant of type ")
             << type << "; constants must be scalars, one element per channel, or one per pixel";
    }
    out.constant = *constantView(operand);
    return success();
  }

  /// Makes `value` a tile value: a stream input of an elementwise kernel gets the next input number.
  LogicalResult tileOperand(Value value, Operation *layer) {
    if (tileValues.count(value))
      return success();
    auto it = streamInputs.find(value);
    if (it == streamInputs.end())
      return layer->emitOpError("takes a value the kernel does not have");
    if (spec.kind != KernelKind::Elementwise || !spec.tileOps.empty())
      return layer->emitOpError("takes a second stream after the kernel's first layer");
    tileValues[value] = numValues++;
    spec.inputs.push_back(it->second);
    return success();
  }

  KernelOp op;
  KernelSpec spec;
  llvm::DenseMap<Value, kernels::KernelInput> streamInputs;
  llvm::DenseMap<Value, int32_t> tileValues;
  int32_t numValues = 0;
  bool hasMain = false;
};

} // namespace

FailureOr<KernelSpec> readKernel(KernelOp op, ArrayRef<int32_t> streams) { return KernelReader(op, streams).read(); }

} // namespace wsc::wafer
