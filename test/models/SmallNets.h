// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small networks of the kinds that are mapped differently: side branches, windows, reductions, attention.
#pragma once

#include "test/models/NetBuilder.h"

namespace wsc::test {

/// Convolutions with a side branch that joins again, pools, a dense layer.
inline OnnxBuilder branchedNet() {
  NetBuilder net(8);
  NetValue x = net.input("x", {1, 3, 10, 8});
  NetValue y = net.unary("Sigmoid", net.conv(x, 6, {.pads = {1, 1, 1, 1}}));
  NetValue z =
      net.averagePool(net.conv(y, 6, {.pads = {1, 1, 1, 1}}, 6), {.strides = {1, 1}, .pads = {1, 1, 1, 1}}, false);
  y = net.averagePool(net.binary("Add", y, z), {.kernel = {2, 2}, .strides = {2, 2}}, true);
  net.output(net.gemm(net.flatten(y), 10));
  return std::move(net.onnx);
}

/// Two convolutions with pools, two dense layers.
inline OnnxBuilder lenetLike() {
  NetBuilder net(9);
  NetValue x = net.input("x", {1, 1, 14, 14});
  x = net.maxPool(net.unary("Relu", net.conv(x, 4, {.kernel = {5, 5}, .pads = {2, 2, 2, 2}})),
                  {.kernel = {2, 2}, .strides = {2, 2}});
  x = net.maxPool(net.unary("Relu", net.conv(x, 8, {.kernel = {3, 3}})), {.kernel = {2, 2}, .strides = {2, 2}});
  x = net.unary("Relu", net.gemm(net.flatten(x), 12));
  net.output(net.gemm(x, 10));
  return std::move(net.onnx);
}

/// Attention of one head over 6 tokens of 16 features with a residual, a normalisation by hand, two dense layers.
inline OnnxBuilder encoderLike() {
  NetBuilder net(10);
  NetValue x = net.input("x", {6, 16});
  const NetValue q = net.gemm(x, 16), k = net.gemm(x, 16), v = net.gemm(x, 16);
  const NetValue scores{net.onnx.node("MatMul", {q.name, net.transpose(k, {1, 0}).name}), {6, 6}};
  const NetValue mixed{net.onnx.node("MatMul", {net.softmax(scores).name, v.name}), {6, 16}};
  x = net.binary("Add", x, mixed);
  const NetValue centred = net.binary("Sub", x, net.reduce("ReduceMean", x, {1}));
  const NetValue spread = net.reduce("ReduceMean", net.binary("Mul", centred, centred), {1});
  x = net.binary("Div", centred, net.unary("Sqrt", net.withConstant("Add", spread, {1})));
  net.output(net.binary("Add", x, net.gemm(net.unary("Relu", net.gemm(x, 24)), 16)));
  return std::move(net.onnx);
}

} // namespace wsc::test
