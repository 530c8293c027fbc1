// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small networks of the kinds that are mapped differently: side branches, windows, reductions, attention.
#pragma once

#include "test/models/NetBuilder.h"

#include <cmath>

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

/// Over the last dimension.
inline NetValue layerNorm(NetBuilder &n, const NetValue &x) {
  const int64_t last = x.shape.back();
  return {n.onnx.node("LayerNormalization", {x.name, n.weights({last}, 1), n.weights({last}, 0.5f)}), x.shape};
}

inline NetValue matMul(NetBuilder &n, const NetValue &a, const NetValue &b) {
  NetValue result{n.onnx.node("MatMul", {a.name, b.name}), a.shape};
  result.shape.back() = b.shape.back();
  return result;
}

/// x · w + b over the last dimension.
inline NetValue dense(NetBuilder &n, const NetValue &x, int64_t out) {
  const int64_t in = x.shape.back();
  const NetValue y = matMul(n, x, {n.weights({in, out}, 1.7f / std::sqrt(float(in))), {in, out}});
  return {n.onnx.node("Add", {y.name, n.weights({out}, 0.3f)}), y.shape};
}

/// [1, tokens, width] to the same. Heads of 16 features, a residual around each half, normalised before.
inline NetValue transformerLayer(NetBuilder &n, const NetValue &x) {
  const int64_t tokens = x.shape[1], width = x.shape[2], heads = width / 16;
  auto byHeads = [&](const NetValue &y) { return n.transpose(n.reshape(y, {1, tokens, heads, 16}), {0, 2, 1, 3}); };
  const NetValue normal = layerNorm(n, x);
  const NetValue q = byHeads(dense(n, normal, width)), k = byHeads(dense(n, normal, width)),
                 v = byHeads(dense(n, normal, width));
  const NetValue products = matMul(n, q, n.transpose(k, {0, 1, 3, 2}));
  const NetValue scores{n.onnx.node("Mul", {products.name, n.onnx.floats(n.fresh("scale"), {}, {0.25f})}),
                        products.shape};
  const NetValue weights{n.onnx.node("Softmax", {scores.name}, {Attribute::i("axis", -1)}), scores.shape};
  const NetValue mixed = n.reshape(n.transpose(matMul(n, weights, v), {0, 2, 1, 3}), x.shape);
  const NetValue y = n.binary("Add", x, dense(n, mixed, width));
  return n.binary("Add", y, dense(n, n.unary("Relu", dense(n, layerNorm(n, y), 4 * width)), width));
}

} // namespace wsc::test
