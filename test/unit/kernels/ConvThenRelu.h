// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small network plan, unsized: a convolution, then a relu as a kernel of its own.
#pragma once

#include "compiler/kernels/network/Spec.h"

namespace wsc::kernels {

inline ConstantView zeros(int64_t count) {
  ConstantView view;
  view.inlineBytes = std::make_shared<const std::vector<std::byte>>(size_t(count * 4));
  return view;
}

/// A convolution of kh × kw, with `padTop` rows of padding above and below.
inline NetworkPlan convThenRelu(const Plane &in, int64_t outChannels, int64_t kernelH, int64_t kernelW, int64_t strideH,
                                int64_t padTop = 0) {
  NetworkPlan plan;
  plan.inputs = {{"x", format::ElementType::F32, {1, in.channels, in.rows, in.width}}};
  plan.streams.resize(3);
  plan.kernels.resize(2);
  plan.streams[0].name = "x";
  plan.streams[0].layout.plane = in;
  plan.streams[0].consumers = {0};
  plan.streams[0].input = StreamPlan::Host{0, 0, 1, in.rows * in.width, 0, in.width, 1};
  Plane out{outChannels, (in.rows + 2 * padTop - kernelH) / strideH + 1, in.width - kernelW + 1};
  for (int k : {0, 1}) {
    KernelSpec &spec = plan.kernels[k].spec;
    spec.name = k == 0 ? "conv" : "relu";
    spec.out = out;
    spec.inputs = {{{k}}};
    spec.outStream = k + 1;
    plan.streams[k + 1].name = spec.name;
    plan.streams[k + 1].layout.plane = out;
    plan.streams[k + 1].layout.blockBegin = {0, outChannels};
    plan.streams[k + 1].producer = k;
  }
  plan.streams[0].layout.blockBegin = {0, in.channels};
  plan.streams[1].consumers = {1};
  plan.streams[2].outputs = {StreamPlan::Host{0, 0, 1, out.rows * out.width, 0, out.width, 1}};
  plan.outputs = {{"y", format::ElementType::F32, {1, out.channels, out.rows, out.width}}};
  KernelSpec &conv = plan.kernels[0].spec;
  conv.kind = KernelKind::Contraction;
  conv.contraction.kernelH = kernelH;
  conv.contraction.kernelW = kernelW;
  conv.contraction.strideH = strideH;
  conv.contraction.padTop = padTop;
  conv.contraction.weights = zeros(outChannels * in.channels * kernelH * kernelW);
  conv.contraction.weightStrideOut = in.channels * kernelH * kernelW;
  conv.contraction.weightStrideIn = kernelH * kernelW;
  conv.contraction.weightStrideH = kernelW;
  conv.contraction.weightStrideW = 1;
  KernelSpec &relu = plan.kernels[1].spec;
  relu.kind = KernelKind::Elementwise;
  TileOp maximum;
  maximum.opcode = format::Opcode::Max;
  maximum.operands.resize(2);
  maximum.operands[0].kind = TileOperand::Kind::Value;
  relu.tileOps = {maximum};
  return plan;
}

} // namespace wsc::kernels
