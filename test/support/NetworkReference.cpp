// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every tensor is a vector of 64-bit payloads (numerics/Elements.h). A nest walks its parallel iterators, and for each
// of their points the reduction iterators, like the digits of an odometer.
#include "test/support/NetworkReference.h"

#include "runtime/numerics/Elements.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <fstream>

namespace wsc::test {

using format::ElementType;
using format::Opcode;
using spmd::Access;
using spmd::BodyOp;
using spmd::BodyValue;
using spmd::Nest;
using spmd::Network;
using spmd::Piece;
using spmd::Remap;
using spmd::Tensor;

namespace {

using Payloads = std::vector<uint64_t>;
using Point = std::vector<int64_t>;

int64_t product(const std::vector<int64_t> &extents, size_t begin, size_t end) {
  int64_t count = 1;
  for (size_t i = begin; i < end; ++i)
    count *= extents[i];
  return count;
}
int64_t elementsOf(const std::vector<int64_t> &shape) { return product(shape, 0, shape.size()); }

// The next point of iterators [begin, end); back to zero behind the last.
void advance(Point &point, const std::vector<int64_t> &extents, size_t begin, size_t end) {
  for (size_t i = end; i-- > begin;) {
    if (++point[i] < extents[i])
      return;
    point[i] = 0;
  }
}

Payloads load(const std::vector<std::byte> &bytes, ElementType stored, ElementType computed) {
  auto size = size_t(format::elementBytes(stored));
  Payloads result(bytes.size() / size);
  for (size_t i = 0; i < result.size(); ++i) {
    uint64_t element = numerics::loadElement(bytes.data() + i * size, stored);
    result[i] = stored == computed ? element : numerics::convertElement(element, stored, computed);
  }
  return result;
}

std::vector<std::byte> store(const Payloads &payloads, ElementType type) {
  auto size = size_t(format::elementBytes(type));
  std::vector<std::byte> bytes(payloads.size() * size);
  for (size_t i = 0; i < payloads.size(); ++i)
    numerics::storeElement(bytes.data() + i * size, type, payloads[i]);
  return bytes;
}

absl::Status expectBytes(const std::string &what, int64_t bytes, ElementType type, const std::vector<int64_t> &shape) {
  int64_t needed = elementsOf(shape) * format::elementBytes(type);
  if (bytes == needed)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " has ", bytes, " bytes, its shape needs ", needed, " of ",
                                                 std::string(format::elementTypeName(type))));
}

// The bytes of a source; zeros where it names none.
absl::StatusOr<std::vector<std::byte>> bytesOf(const std::string &what, const spmd::ElementSource &source,
                                               ElementType wanted, const std::vector<int64_t> &shape) {
  const ElementType type = source.stored.value_or(wanted);
  std::vector<std::byte> bytes(size_t(elementsOf(shape) * format::elementBytes(type)));
  if (source.inlineBytes) {
    bytes = *source.inlineBytes;
  } else if (source.bytes > 0) {
    bytes.resize(size_t(source.bytes));
    std::ifstream file(source.path, std::ios::binary);
    file.seekg(source.offset);
    if (!file.read(reinterpret_cast<char *>(bytes.data()), source.bytes))
      return absl::NotFoundError(
          absl::StrCat(what, ": file ", source.path, " has no ", source.bytes, " bytes at offset ", source.offset));
  }
  if (absl::Status status = expectBytes(what, int64_t(bytes.size()), type, shape); !status.ok())
    return status;
  return type == wanted ? bytes : spmd::convertElements(bytes, type, wanted);
}

class Evaluator {
public:
  Evaluator(const Network &network, Arithmetic arithmetic)
      : network(network), arithmetic(arithmetic), values(network.tensors.size()) {}

  absl::StatusOr<NetworkValues> run(const std::vector<std::vector<std::byte>> &inputs,
                                    const std::vector<std::vector<std::byte>> &states) {
    std::vector<Payloads> before(network.states.size());
    if (absl::Status status = takeInputs(inputs); !status.ok())
      return status;
    if (absl::Status status = takeConstants(); !status.ok())
      return status;
    if (absl::Status status = takeStates(states, before); !status.ok())
      return status;
    for (const spmd::Node &node : network.nodes)
      if (auto nest = std::get_if<Nest>(&node))
        evaluateNest(*nest);
      else
        evaluateRemap(std::get<Remap>(node));
    NetworkValues result;
    for (const spmd::NamedTensor &output : network.outputs)
      result.outputs.push_back(store(values[size_t(output.tensor)], typeOf(output.tensor)));
    for (size_t s = 0; s < network.states.size(); ++s) {
      const spmd::State &state = network.states[s];
      const Payloads &after = state.written >= 0 ? values[size_t(state.written)] : before[s];
      result.states.push_back(store(after, computed(state.type)));
    }
    return result;
  }

private:
  const Network &network;
  Arithmetic arithmetic;
  std::vector<Payloads> values; // per tensor

  ElementType computed(ElementType type) const { return computedType(type, arithmetic); }
  const Tensor &tensor(spmd::TensorId id) const { return network.tensors[size_t(id)]; }
  ElementType typeOf(spmd::TensorId id) const { return computed(tensor(id).type); }

  absl::Status takeInputs(const std::vector<std::vector<std::byte>> &inputs) {
    if (inputs.size() != network.inputs.size())
      return absl::InvalidArgumentError(
          absl::StrCat(inputs.size(), " inputs are given, the network has ", network.inputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor &input = tensor(network.inputs[i].tensor);
      std::string what = absl::StrCat("input ", network.inputs[i].name);
      if (absl::Status status = expectBytes(what, int64_t(inputs[i].size()), input.type, input.shape); !status.ok())
        return status;
      values[size_t(network.inputs[i].tensor)] = load(inputs[i], input.type, computed(input.type));
    }
    return absl::OkStatus();
  }

  absl::Status takeConstants() {
    for (size_t t = 0; t < network.tensors.size(); ++t) {
      const Tensor &constant = network.tensors[t];
      if (constant.kind != Tensor::Kind::Constant)
        continue;
      auto bytes = bytesOf(absl::StrCat("constant ", constant.name), constant.source, constant.type, constant.shape);
      if (!bytes.ok())
        return bytes.status();
      values[t] = load(*bytes, constant.type, computed(constant.type));
    }
    return absl::OkStatus();
  }

  absl::Status takeStates(const std::vector<std::vector<std::byte>> &states, std::vector<Payloads> &before) {
    if (!states.empty() && states.size() != network.states.size())
      return absl::InvalidArgumentError(
          absl::StrCat(states.size(), " states are given, the network has ", network.states.size()));
    for (size_t s = 0; s < network.states.size(); ++s) {
      const spmd::State &state = network.states[s];
      std::string what = absl::StrCat("state ", state.name);
      if (states.empty()) {
        auto bytes = bytesOf(what, state.initial, state.type, state.shape);
        if (!bytes.ok())
          return bytes.status();
        before[s] = load(*bytes, state.type, computed(state.type));
      } else {
        ElementType type = computed(state.type);
        if (absl::Status status = expectBytes(what, int64_t(states[s].size()), type, state.shape); !status.ok())
          return status;
        before[s] = load(states[s], type, type);
      }
      if (state.read >= 0)
        values[size_t(state.read)] = before[s];
    }
    return absl::OkStatus();
  }

  uint64_t read(const Nest &nest, const Access &access, const Point &point) const {
    const std::vector<int64_t> &shape = tensor(access.tensor).shape;
    int64_t position = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t at = access.map[d].constant;
      for (size_t k = 0; k < point.size(); ++k)
        at += access.map[d].perIterator[k] * point[k];
      if (int32_t(d) == access.gatherDim) {
        const Access &indices = nest.operands[size_t(access.gatherIndices)];
        int64_t number = numerics::integerValue(read(nest, indices, point), tensor(indices.tensor).type);
        at = access.gatherCount > 0 ? at + std::clamp<int64_t>(number, 0, access.gatherCount - 1)
                                    : std::clamp<int64_t>(number, 0, std::max<int64_t>(shape[d] - 1, 0));
      }
      if (at < 0 || at >= shape[d])
        return numerics::encodeImmediate(access.padding, typeOf(access.tensor));
      position = position * shape[d] + at;
    }
    return values[size_t(access.tensor)][size_t(position)];
  }

  // What a body sees at one point.
  struct Frame {
    const Nest &nest;
    const Point &point;
    Payloads operations;
    uint64_t reduced = 0;
  };

  // `type`: of an immediate.
  uint64_t valueOf(const Frame &frame, const BodyValue &value, ElementType type) const {
    switch (value.kind) {
    case BodyValue::Kind::Operand:
      return read(frame.nest, frame.nest.operands[size_t(value.index)], frame.point);
    case BodyValue::Kind::Operation:
      return frame.operations[size_t(value.index)];
    case BodyValue::Kind::Reduced:
      return frame.reduced;
    case BodyValue::Kind::Immediate:
      break;
    }
    return numerics::encodeImmediate(value.immediate, type);
  }

  void apply(Frame &frame, const std::vector<BodyOp> &ops) const {
    for (const BodyOp &op : ops) {
      ElementType type = computed(op.type), sourceType = computed(op.sourceType);
      int sources = format::opcodeInfo(op.opcode).sources;
      bool three = op.opcode == Opcode::Fma || op.opcode == Opcode::Select;
      uint64_t a = valueOf(frame, op.a, computed(op.taken()));
      uint64_t b = sources == 2 ? valueOf(frame, op.b, type) : 0;
      uint64_t c = three ? valueOf(frame, op.c, type) : 0;
      if (op.opcode == Opcode::Move && op.type != op.sourceType) { // the bits of the stored types
        if (sourceType != op.sourceType)
          a = numerics::convertElement(a, sourceType, op.sourceType);
        frame.operations.push_back(op.type == type ? a : numerics::convertElement(a, op.type, type));
        continue;
      }
      uint64_t result = op.opcode == Opcode::Select ? numerics::applyScalar(op.opcode, type, b, a, c)
                                                    : numerics::applyScalar(op.opcode, type, c, a, b, sourceType);
      frame.operations.push_back(result);
    }
  }

  ElementType typeOf(const Nest &nest, const BodyValue &value, ElementType ofImmediates) const {
    switch (value.kind) {
    case BodyValue::Kind::Operand:
      return typeOf(nest.operands[size_t(value.index)].tensor);
    case BodyValue::Kind::Operation:
      return computed(size_t(value.index) < nest.body.size()
                          ? nest.body[size_t(value.index)].type
                          : nest.finish[size_t(value.index) - nest.body.size()].type);
    case BodyValue::Kind::Reduced:
      return computed(nest.reduction->type);
    case BodyValue::Kind::Immediate:
      break;
    }
    return ofImmediates;
  }

  void reduce(Frame &frame, Point &point) const {
    const Nest &nest = frame.nest;
    const spmd::Reduction &reduction = *nest.reduction;
    ElementType type = computed(reduction.type);
    auto numParallel = size_t(nest.numParallel), rank = nest.extents.size();
    frame.reduced = numerics::encodeImmediate(reduction.initial, type);
    for (int64_t left = product(nest.extents, numParallel, rank); left > 0; --left) {
      frame.operations.clear();
      apply(frame, nest.body);
      uint64_t a = valueOf(frame, nest.values[0], type);
      uint64_t b = reduction.opcode == Opcode::Fma ? valueOf(frame, nest.values[1], type) : 0;
      frame.reduced = numerics::applyScalar(reduction.opcode, type, frame.reduced, a, b);
      advance(point, nest.extents, numParallel, rank);
    }
    frame.operations.assign(nest.body.size(), 0);
    apply(frame, nest.finish);
  }

  void evaluateNest(const Nest &nest) {
    auto numParallel = size_t(nest.numParallel);
    ElementType type = typeOf(nest.result), valueType = typeOf(nest, nest.resultValue, type);
    Payloads results(size_t(product(nest.extents, 0, numParallel)));
    Point point(nest.extents.size(), 0);
    for (uint64_t &result : results) {
      Frame frame{nest, point, {}, 0};
      if (nest.reduction)
        reduce(frame, point);
      else
        apply(frame, nest.body);
      result = valueOf(frame, nest.resultValue, type);
      if (valueType != type)
        result = numerics::convertElement(result, valueType, type);
      advance(point, nest.extents, 0, numParallel);
    }
    values[size_t(nest.result)] = std::move(results);
  }

  void evaluateRemap(const Remap &remap) {
    const Tensor &result = tensor(remap.result);
    Payloads elements(size_t(elementsOf(result.shape)), numerics::encodeImmediate(remap.fill, typeOf(remap.result)));
    for (const Piece &piece : remap.pieces) {
      std::vector<int64_t> extents;
      for (const Piece::Digit &digit : piece.digits)
        extents.push_back(digit.extent);
      Point point(extents.size(), 0);
      for (int64_t left = elementsOf(extents); left > 0; --left) {
        int64_t source = piece.sourceOffset, place = piece.resultOffset;
        for (size_t k = 0; k < point.size(); ++k) {
          source += point[k] * piece.digits[k].sourceStride;
          place += point[k] * piece.digits[k].resultStride;
        }
        elements[size_t(place)] = values[size_t(piece.source)][size_t(source)];
        advance(point, extents, 0, extents.size());
      }
    }
    values[size_t(remap.result)] = std::move(elements);
  }
};

} // namespace

ElementType computedType(ElementType type, Arithmetic arithmetic) {
  return arithmetic == Arithmetic::Double && numerics::isFloat(type) ? ElementType::F64 : type;
}

absl::StatusOr<NetworkValues> evaluate(const Network &network, const std::vector<std::vector<std::byte>> &inputs,
                                       const std::vector<std::vector<std::byte>> &states, Arithmetic arithmetic) {
  return Evaluator(network, arithmetic).run(inputs, states);
}

} // namespace wsc::test
