// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes networks (compiler/spmd/network/Network.h) by hand for tests.
//
//   NetworkBuilder net;
//   auto x = net.input("x", ElementType::F32, {2, 3});
//   auto w = net.constant("w", ElementType::F32, {3, 4}, {…});
//   auto y = net.value("y", ElementType::F32, {2, 4});
//   Nest nest = nestOver({2, 4, 3}, 2, y);                 // iterators m, n and the reduced k
//   nest.operands = {read(x, {{1, 0, 0}, {0, 0, 1}}),      // x[m, k]: one row of coefficients per dimension
//                    read(w, {{0, 0, 1}, {0, 1, 0}})};     // w[k, n]
//   …
//   net.add(nest);
//   net.output(y);
#pragma once

#include "compiler/spmd/network/Network.h"
#include "runtime/numerics/Elements.h"

#include <memory>
#include <string>
#include <vector>

namespace wsc::test {

/// Elements of `type` as bytes; values are rounded to it.
inline std::vector<std::byte> elementsOf(format::ElementType type, const std::vector<double> &values) {
  auto size = size_t(format::elementBytes(type));
  std::vector<std::byte> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i)
    numerics::storeElement(bytes.data() + i * size, type, numerics::encodeImmediate(values[i], type));
  return bytes;
}

inline std::vector<double> valuesOf(format::ElementType type, const std::vector<std::byte> &bytes) {
  auto size = size_t(format::elementBytes(type));
  std::vector<double> values;
  for (size_t at = 0; at + size <= bytes.size(); at += size)
    values.push_back(numerics::doubleOf(
        numerics::convertElement(numerics::loadElement(bytes.data() + at, type), type, format::ElementType::F64)));
  return values;
}

/// An access with one row of iterator coefficients per dimension of the tensor, and optionally their constants.
inline spmd::Access read(spmd::TensorId tensor, const std::vector<std::vector<int64_t>> &coefficients,
                         const std::vector<int64_t> &constants = {}) {
  spmd::Access access;
  access.tensor = tensor;
  for (size_t d = 0; d < coefficients.size(); ++d)
    access.map.push_back({constants.empty() ? 0 : constants[d], coefficients[d]});
  return access;
}

/// A nest without operands and body; its result is that of `result`.
inline spmd::Nest nestOver(std::vector<int64_t> extents, int32_t numParallel, spmd::TensorId result) {
  spmd::Nest nest;
  nest.name = "nest";
  nest.extents = std::move(extents);
  nest.numParallel = numParallel;
  nest.result = result;
  return nest;
}

/// Sums of operand 0 over the reduced iterators; operands are still to be given.
inline spmd::Nest sumOver(std::vector<int64_t> extents, int32_t numParallel, format::ElementType type,
                          spmd::TensorId result) {
  spmd::Nest nest = nestOver(std::move(extents), numParallel, result);
  nest.reduction = spmd::Reduction{format::Opcode::ReduceAdd, type, 0};
  nest.values = {spmd::BodyValue::operand(0)};
  nest.resultValue = spmd::BodyValue::reduced();
  return nest;
}

inline spmd::BodyOp bodyOp(format::Opcode opcode, format::ElementType type, spmd::BodyValue a, spmd::BodyValue b = {},
                           spmd::BodyValue c = {}) {
  spmd::BodyOp op;
  op.opcode = opcode;
  op.type = op.sourceType = type;
  op.a = a;
  op.b = b;
  op.c = c;
  return op;
}
inline spmd::BodyOp convertOp(format::ElementType from, format::ElementType to, spmd::BodyValue a) {
  spmd::BodyOp op = bodyOp(format::Opcode::Convert, to, a);
  op.sourceType = from;
  return op;
}

class NetworkBuilder {
public:
  spmd::Network network;

  NetworkBuilder() { network.name = "main"; }

  spmd::TensorId input(const std::string &name, format::ElementType type, std::vector<int64_t> shape) {
    spmd::TensorId id = tensor(name, type, std::move(shape), spmd::Tensor::Kind::Input);
    network.tensors.back().input = int32_t(network.inputs.size());
    network.inputs.push_back({name, id});
    return id;
  }
  spmd::TensorId constant(const std::string &name, format::ElementType type, std::vector<int64_t> shape,
                          std::vector<std::byte> bytes) {
    spmd::TensorId id = tensor(name, type, std::move(shape), spmd::Tensor::Kind::Constant);
    spmd::ElementSource &source = network.tensors.back().source;
    source.bytes = int64_t(bytes.size());
    source.inlineBytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return id;
  }
  spmd::TensorId constant(const std::string &name, format::ElementType type, std::vector<int64_t> shape,
                          const std::vector<double> &values) {
    return constant(name, type, std::move(shape), elementsOf(type, values));
  }
  spmd::TensorId value(const std::string &name, format::ElementType type, std::vector<int64_t> shape) {
    return tensor(name, type, std::move(shape), spmd::Tensor::Kind::Value);
  }
  void add(spmd::Node node) { network.nodes.push_back(std::move(node)); }
  void output(spmd::TensorId id) { network.outputs.push_back({network.tensors[size_t(id)].name, id}); }

private:
  spmd::TensorId tensor(const std::string &name, format::ElementType type, std::vector<int64_t> shape,
                        spmd::Tensor::Kind kind) {
    spmd::Tensor result;
    result.name = name;
    result.type = type;
    result.shape = std::move(shape);
    result.kind = kind;
    network.tensors.push_back(std::move(result));
    return spmd::TensorId(network.tensors.size() - 1);
  }
};

} // namespace wsc::test
