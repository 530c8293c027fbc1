// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution without groups is a contraction; one in groups, a pool, a slice and padding are windows.
#include "passes/wafer/ReadWindow.h"

#include "dialects/nn/Nn.h"
#include "passes/wafer/Constants.h"
#include "passes/wafer/Planes.h"

#include <array>
#include <limits>
#include <tuple>

using namespace mlir;

namespace wsc::wafer {

using format::Opcode;
using kernels::KernelKind;
using kernels::KernelSpec;
using kernels::TileOp;
using kernels::TileOperand;
using kernels::Window;

LogicalResult readBias(Value bias, std::optional<kernels::ConstantView> &view, Operation *layer) {
  if (!bias)
    return success();
  view = constantView(bias);
  return view ? success() : layer->emitOpError("needs a constant f32 bias");
}

namespace {

/// Sum over output positions of the taps of one window axis that fall on the input.
int64_t validTaps(int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad, int64_t in) {
  int64_t taps = 0;
  for (int64_t o = 0; o < out; ++o)
    for (int64_t k = 0; k < kernel; ++k) {
      int64_t i = o * stride - pad + k * dilation;
      taps += i >= 0 && i < in;
    }
  return taps;
}

LogicalResult readConv(nn::ConvOp conv, KernelSpec &spec) {
  auto weightType = cast<RankedTensorType>(conv.getWeight().getType());
  auto inType = cast<RankedTensorType>(conv.getInput().getType());
  auto outType = cast<RankedTensorType>(conv.getType());
  auto weights = constantView(conv.getWeight());
  if (!weights)
    return conv.emitOpError("needs constant f32 weights");
  int64_t outChannels = weightType.getDimSize(0), perGroup = weightType.getDimSize(1);
  int64_t kh = weightType.getDimSize(2), kw = weightType.getDimSize(3), groups = int64_t(conv.getGroups());
  ArrayRef<int64_t> strides = conv.getStrides(), dilations = conv.getDilations(), pads = conv.getPads();
  int64_t reach = (kh - 1) * dilations[0] + 1;
  if (pads[0] >= reach || (outType.getDimSize(2) - 1) * strides[0] - pads[0] >= inType.getDimSize(2))
    return conv.emitOpError("has rows that see padding only: pads ")
           << pads[0] << " above and " << pads[2] << " below, the kernel reaches over " << reach
           << " rows; pad the result instead";
  spec.macs = validTaps(outType.getDimSize(2), kh, strides[0], dilations[0], pads[0], inType.getDimSize(2)) *
              validTaps(outType.getDimSize(3), kw, strides[1], dilations[1], pads[1], inType.getDimSize(3)) * perGroup *
              outChannels;
  if (groups == 1) {
    kernels::Contraction &c = spec.contraction;
    spec.kind = KernelKind::Contraction;
    c = {kh,           kw,      strides[0], strides[1],  dilations[0],
         dilations[1], pads[0], pads[1],    *weights,    perGroup * kh * kw,
         kh * kw,      kw,      1,          std::nullopt};
    if (failed(readBias(conv.getBias(), c.bias, conv)))
      return failure();
  } else {
    Window &w = spec.window;
    spec.kind = KernelKind::Window;
    w = {Window::Kind::Convolution, kh, kw, strides[0], strides[1], dilations[0], dilations[1], pads[0], pads[1]};
    w.groupIn = perGroup;
    w.groupOut = outChannels / groups;
    w.weights = *weights;
    w.weightStrideOut = perGroup * kh * kw;
    w.weightStrideIn = kh * kw;
    w.weightStrideH = kw;
    w.weightStrideW = 1;
    if (failed(readBias(conv.getBias(), w.bias, conv)))
      return failure();
  }
  return success();
}

void readPool(nn::PoolOp pool, KernelSpec &spec, std::optional<TileOp> &finish) {
  auto inType = cast<RankedTensorType>(pool.getInput().getType());
  ArrayRef<int64_t> kernel = pool.getKernel(), strides = pool.getStrides(), dilations = pool.getDilations(),
                    pads = pool.getPads();
  spec.kind = KernelKind::Window;
  bool average = pool.getKind() == nn::PoolKind::Avg;
  spec.window = {average ? Window::Kind::Sum : Window::Kind::Max,
                 kernel[0],
                 kernel[1],
                 strides[0],
                 strides[1],
                 dilations[0],
                 dilations[1],
                 pads[0],
                 pads[1]};
  if (!average) {
    spec.window.padValue = -std::numeric_limits<double>::infinity();
    return;
  }
  TileOp scale;
  scale.opcode = Opcode::Mul;
  scale.operands.resize(2);
  scale.operands[0].kind = TileOperand::Kind::Value;
  bool padded = llvm::any_of(pads, [](int64_t pad) { return pad != 0; });
  if (!padded || pool.getCountIncludePad()) {
    scale.operands[1].scalar = 1.0 / double(kernel[0] * kernel[1]);
  } else {
    auto outType = cast<RankedTensorType>(pool.getType());
    auto count = [&](int d, int64_t o) {
      return validTaps(1, kernel[d], strides[d], dilations[d], pads[d] - o * strides[d], inType.getDimSize(2 + d));
    };
    std::vector<double> reciprocals;
    for (int64_t y = 0; y < outType.getDimSize(2); ++y)
      for (int64_t x = 0; x < outType.getDimSize(3); ++x)
        reciprocals.push_back(1.0 / double(count(0, y) * count(1, x)));
    scale.operands[1].kind = TileOperand::Kind::PerPixel;
    scale.operands[1].constant = inlineConstant(reciprocals);
  }
  finish = std::move(scale);
}

LogicalResult readSlice(nn::SliceOp slice, KernelSpec &spec) {
  auto dims = planeDims(cast<RankedTensorType>(slice.getType()).getRank());
  if (!dims)
    return slice.emitOpError("has no plane: ")
           << slice.getType() << " is neither [1, C, H, W] nor [B, F]; " << kernels::kPhasedHasNoLimit;
  std::array<int64_t, 3> start{}, step{1, 1, 1};
  for (int i = 0; i < 3; ++i)
    if (int d = (*dims)[i]; d >= 0) {
      start[i] = slice.getStarts()[d];
      step[i] = slice.getSizes()[d] > 1 ? slice.getSteps()[d] : 1;
      if (step[i] < 1)
        return slice.emitOpError("walks backwards along dimension ") << d << "; only forwards has a kernel form";
    }
  if (step[0] != 1)
    return slice.emitOpError("takes one of every ")
           << step[0] << " channels; only neighbouring channels have a kernel form";
  spec.kind = KernelKind::Window;
  spec.window.kind = Window::Kind::Copy;
  spec.window.firstChannel = start[0];
  std::tie(spec.window.strideH, spec.window.strideW) = std::pair(step[1], step[2]);
  std::tie(spec.window.padTop, spec.window.padLeft) = std::pair(-start[1], -start[2]);
  return success();
}

LogicalResult readPad(nn::PadOp pad, KernelSpec &spec) {
  auto type = cast<RankedTensorType>(pad.getInput().getType());
  auto dims = planeDims(type.getRank());
  if (!dims)
    return pad.emitOpError("has no plane: ")
           << type << " is neither [1, C, H, W] nor [B, F]; " << kernels::kPhasedHasNoLimit;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (d != (*dims)[1] && d != (*dims)[2] && (pad.getLow()[d] != 0 || pad.getHigh()[d] != 0))
      return pad.emitOpError("pads dimension ") << d << "; only rows and columns of images have a kernel form";
  auto value = dyn_cast<FloatAttr>(pad.getValue());
  if (!value)
    return pad.emitOpError("needs an f32 value");
  auto low = [&](int i) { return (*dims)[i] < 0 ? 0 : pad.getLow()[(*dims)[i]]; };
  spec.kind = KernelKind::Window;
  spec.window.kind = Window::Kind::Copy;
  spec.window.padTop = low(1);
  spec.window.padLeft = low(2);
  spec.window.padValue = value.getValueAsDouble();
  return success();
}

} // namespace

bool isWindowLayer(Operation *layer) { return isa<nn::ConvOp, nn::PoolOp, nn::SliceOp, nn::PadOp>(layer); }

LogicalResult readWindowLayer(Operation *layer, KernelSpec &spec, std::optional<TileOp> &finish) {
  if (auto conv = dyn_cast<nn::ConvOp>(layer))
    return readConv(conv, spec);
  if (auto slice = dyn_cast<nn::SliceOp>(layer))
    return readSlice(slice, spec);
  if (auto pad = dyn_cast<nn::PadOp>(layer))
    return readPad(pad, spec);
  readPool(cast<nn::PoolOp>(layer), spec, finish);
  return success();
}

} // namespace wsc::wafer
