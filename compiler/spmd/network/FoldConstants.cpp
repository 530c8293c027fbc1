// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes nests and remaps of constants with the arithmetic of cores (docs/Numerics.md), one element after another in
// the order a core takes, so the bits are those that a core would give.
#include "compiler/spmd/network/CheckNode.h"
#include "compiler/spmd/network/Simplify.h"

#include "runtime/numerics/Elements.h"

#include <algorithm>
#include <fstream>
#include <optional>

namespace wsc::spmd {

using format::ElementType;
using format::Opcode;

namespace {

using Bytes = std::vector<std::byte>;

/// The elements of a constant; null if its file cannot be read.
std::shared_ptr<const Bytes> bytesOf(const Tensor &constant) {
  const ElementSource &source = constant.source;
  std::shared_ptr<const Bytes> stored = source.inlineBytes;
  if (!stored) {
    auto bytes = std::make_shared<Bytes>(size_t(source.bytes));
    std::ifstream file(source.path, std::ios::binary);
    file.seekg(source.offset);
    file.read(reinterpret_cast<char *>(bytes->data()), source.bytes);
    if (!file)
      return nullptr;
    stored = std::move(bytes);
  }
  return source.stored ? std::make_shared<const Bytes>(convertElements(*stored, *source.stored, constant.type))
                       : stored;
}

/// Calls visit(index) for every index tuple below the extents, in row-major order.
template <typename Visit>
void forEachIndex(const std::vector<int64_t> &extents, size_t from, std::vector<int64_t> &index, Visit visit) {
  if (from == extents.size())
    return visit();
  for (index[from] = 0; index[from] < extents[from]; ++index[from])
    forEachIndex(extents, from + 1, index, visit);
  index[from] = 0;
}

class NestValue {
public:
  NestValue(const Network &network, const Nest &nest) : network(network), nest(nest), operands(nest.operands.size()) {}

  bool load() {
    for (const Access &access : nest.operands)
      elements.push_back(bytesOf(network.tensors[size_t(access.tensor)]));
    return std::find(elements.begin(), elements.end(), nullptr) == elements.end();
  }

  Bytes compute() {
    const Tensor &result = network.tensors[size_t(nest.result)];
    const size_t width = size_t(format::elementBytes(result.type));
    Bytes bytes(size_t(result.elements()) * width);
    std::byte *next = bytes.data();
    const std::vector<int64_t> parallel(nest.extents.begin(), nest.extents.begin() + nest.numParallel);
    index.assign(nest.extents.size(), 0);
    operations.assign(nest.body.size() + nest.finish.size(), 0);
    forEachIndex(parallel, 0, index, [&] {
      computeElement();
      numerics::storeElement(next, result.type, value(nest.resultValue, result.type));
      next += width;
    });
    return bytes;
  }

private:
  void computeElement() {
    if (!nest.reduction) {
      readOperands();
      run(nest.body, 0);
      return;
    }
    const Reduction &reduction = *nest.reduction;
    reduced = numerics::encodeImmediate(reduction.initial, reduction.type);
    forEachIndex(nest.extents, size_t(nest.numParallel), index, [&] {
      readOperands();
      run(nest.body, 0);
      const uint64_t a = value(nest.values[0], reduction.type);
      const uint64_t b = nest.values.size() > 1 ? value(nest.values[1], reduction.type) : 0;
      reduced = numerics::applyScalar(reduction.opcode, reduction.type, reduced, a, b);
    });
    readOperands();
    run(nest.finish, nest.body.size());
  }

  void readOperands() {
    for (size_t i = 0; i < operands.size(); ++i)
      if (nest.operands[i].gatherDim < 0)
        operands[i] = read(i);
    for (size_t i = 0; i < operands.size(); ++i)
      if (nest.operands[i].gatherDim >= 0)
        operands[i] = read(i);
  }

  uint64_t read(size_t operand) const {
    const Access &access = nest.operands[operand];
    const Tensor &tensor = network.tensors[size_t(access.tensor)];
    int64_t number = 0;
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      int64_t at = access.map[d].constant;
      for (size_t k = 0; k < index.size(); ++k)
        at += access.map[d].perIterator[k] * index[k];
      if (int32_t(d) == access.gatherDim)
        at = access.placeOf(at, numerics::integerValue(operands[size_t(access.gatherIndices)], ElementType::I32),
                            tensor.shape[d]);
      if (at < 0 || at >= tensor.shape[d])
        return numerics::encodeImmediate(access.padding, tensor.type);
      number = number * tensor.shape[d] + at;
    }
    return numerics::loadElement(elements[operand]->data() + number * format::elementBytes(tensor.type), tensor.type);
  }

  uint64_t value(const BodyValue &value, ElementType type) const {
    switch (value.kind) {
    case BodyValue::Kind::Operand:
      return operands[size_t(value.index)];
    case BodyValue::Kind::Operation:
      return operations[size_t(value.index)];
    case BodyValue::Kind::Immediate:
      return numerics::encodeImmediate(value.immediate, type);
    case BodyValue::Kind::Reduced:
      return reduced;
    }
    return 0;
  }

  void run(const std::vector<BodyOp> &ops, size_t first) {
    for (size_t i = 0; i < ops.size(); ++i) {
      const BodyOp &op = ops[i];
      const uint64_t a = value(op.a, op.taken());
      const int sources = sourcesOf(op.opcode);
      const uint64_t b = sources > 1 ? value(op.b, op.type) : 0, c = sources > 2 ? value(op.c, op.type) : 0;
      operations[first + i] = op.opcode == Opcode::Select
                                  ? numerics::applyScalar(op.opcode, op.type, b, a, c)
                                  : numerics::applyScalar(op.opcode, op.type, c, a, b, op.sourceType);
    }
  }

  const Network &network;
  const Nest &nest;
  std::vector<std::shared_ptr<const Bytes>> elements; // per operand
  std::vector<int64_t> index;                         // per iterator
  std::vector<uint64_t> operands, operations;
  uint64_t reduced = 0;
};

std::optional<Bytes> valueOf(const Network &network, const Nest &nest) {
  NestValue value(network, nest);
  return value.load() ? std::optional(value.compute()) : std::nullopt;
}

std::optional<Bytes> valueOf(const Network &network, const Remap &remap) {
  const Tensor &result = network.tensors[size_t(remap.result)];
  const size_t width = size_t(format::elementBytes(result.type));
  Bytes bytes(size_t(result.elements()) * width);
  for (size_t at = 0; at < bytes.size(); at += width)
    numerics::storeElement(bytes.data() + at, result.type, numerics::encodeImmediate(remap.fill, result.type));
  for (const Piece &piece : remap.pieces) {
    const auto source = bytesOf(network.tensors[size_t(piece.source)]);
    if (!source)
      return std::nullopt;
    std::vector<int64_t> extents, index(piece.digits.size());
    for (const Piece::Digit &digit : piece.digits)
      extents.push_back(digit.extent);
    forEachIndex(extents, 0, index, [&] {
      int64_t from = piece.sourceOffset, to = piece.resultOffset;
      for (size_t k = 0; k < index.size(); ++k) {
        from += index[k] * piece.digits[k].sourceStride;
        to += index[k] * piece.digits[k].resultStride;
      }
      std::copy_n(source->data() + from * int64_t(width), width, bytes.data() + to * int64_t(width));
    });
  }
  return bytes;
}

/// Whether a node reads constants alone, and few enough elements that computing them takes seconds at most. Large
/// weights are left to cores and to views; what is computed here, such as which updates hit which element, may be
/// large.
bool isSmallConstant(const Network &network, const Node &node) {
  constexpr int64_t kMostElements = 1 << 23, kMostSteps = 1 << 24, kMostOfModel = 1 << 16;
  const auto isConstant = [&](TensorId id) {
    const Tensor &tensor = network.tensors[size_t(id)];
    return tensor.kind == Tensor::Kind::Constant &&
           tensor.elements() <= (tensor.source.path.empty() ? kMostElements : kMostOfModel);
  };
  if (const auto *remap = std::get_if<Remap>(&node))
    return network.tensors[size_t(remap->result)].elements() <= kMostOfModel &&
           std::all_of(remap->pieces.begin(), remap->pieces.end(),
                       [&](const Piece &piece) { return isConstant(piece.source); });
  const auto &nest = std::get<Nest>(node);
  int64_t steps = 1;
  for (int64_t extent : nest.extents)
    if (__builtin_mul_overflow(steps, extent, &steps))
      return false;
  return network.tensors[size_t(nest.result)].elements() <= kMostElements && steps <= kMostSteps &&
         std::all_of(nest.operands.begin(), nest.operands.end(),
                     [&](const Access &access) { return isConstant(access.tensor); });
}

/// The constant that a nest does nothing but convert, each element in its place; null if it does anything else.
const Tensor *convertedConstant(const Network &network, const Node &node) {
  const auto *nest = std::get_if<Nest>(&node);
  if (!nest || nest->reduction || nest->operands.size() != 1 || nest->body.size() != 1 ||
      nest->body[0].opcode != Opcode::Convert || nest->body[0].a.kind != BodyValue::Kind::Operand ||
      nest->resultValue.kind != BodyValue::Kind::Operation)
    return nullptr;
  const Access &access = nest->operands[0];
  const Tensor &tensor = network.tensors[size_t(access.tensor)];
  if (tensor.kind != Tensor::Kind::Constant || tensor.source.stored || access.gatherDim >= 0 ||
      tensor.shape != nest->extents)
    return nullptr;
  for (size_t d = 0; d < access.map.size(); ++d)
    for (size_t k = 0; k < nest->extents.size(); ++k)
      if (access.map[d].constant != 0 || access.map[d].perIterator[k] != (d == k))
        return nullptr;
  return &tensor;
}

} // namespace

void foldConstants(Network &network) {
  std::vector<Node> kept;
  for (Node &node : network.nodes) {
    if (const Tensor *from = convertedConstant(network, node)) {
      Tensor &tensor = network.tensors[size_t(std::get<Nest>(node).result)];
      tensor.kind = Tensor::Kind::Constant;
      tensor.source = from->source;
      tensor.source.stored = from->type;
      continue;
    }
    std::optional<Bytes> value;
    if (isSmallConstant(network, node))
      value = std::visit([&](const auto &each) { return valueOf(network, each); }, node);
    if (!value) {
      kept.push_back(std::move(node));
      continue;
    }
    Tensor &tensor = network.tensors[size_t(std::visit([](const auto &each) { return each.result; }, node))];
    tensor.kind = Tensor::Kind::Constant;
    tensor.source.bytes = int64_t(value->size());
    tensor.source.inlineBytes = std::make_shared<const Bytes>(std::move(*value));
  }
  network.nodes = std::move(kept);
}

} // namespace wsc::spmd
