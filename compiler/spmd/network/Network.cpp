// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Network::check: tensors first, then every node in order against the tensors defined so far, outputs and states last.
#include "compiler/spmd/network/Network.h"

#include "compiler/spmd/network/CheckNode.h"

#include "runtime/numerics/Arrays.h"
#include "runtime/numerics/Elements.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace wsc::spmd {

namespace {

absl::Status invalid(const std::string &where, const std::string &what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

absl::Status checkSource(const std::string &where, const ElementSource &source, format::ElementType type,
                         int64_t elements) {
  int64_t expectedBytes = 0;
  if (__builtin_mul_overflow(elements, format::elementBytes(source.stored.value_or(type)), &expectedBytes))
    return invalid(where, "has 2^63 or more bytes where it is stored");
  if (source.inlineBytes) {
    if (int64_t(source.inlineBytes->size()) != expectedBytes)
      return invalid(where, absl::StrCat("has ", source.inlineBytes->size(),
                                         " bytes in memory, its type and shape need ", expectedBytes));
    return absl::OkStatus();
  }
  if (source.path.empty() && expectedBytes > 0)
    return invalid(where, "has no elements: neither a file nor bytes in memory");
  if (source.offset < 0 || source.bytes != expectedBytes)
    return invalid(where, absl::StrCat("takes ", source.bytes, " bytes of ", source.path, " from ", source.offset,
                                       ", its type and shape need ", expectedBytes));
  return absl::OkStatus();
}

/// Elements of a shape; -1 if an extent is negative or there are 2^63 or more.
int64_t countElements(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count))
      return -1;
  return count;
}

absl::Status checkTensor(const Network &network, size_t id) {
  const Tensor &tensor = network.tensors[id];
  const std::string where = absl::StrCat("tensor ", id, " (", tensor.name, ")");
  const int64_t bytesEach = format::elementBytes(tensor.type);
  int64_t bytes = countElements(tensor.shape);
  if (bytesEach == 0)
    return invalid(where, absl::StrCat("has the unknown element type ", int(tensor.type)));
  if (bytes < 0 || __builtin_mul_overflow(bytes, bytesEach, &bytes))
    return invalid(where,
                   absl::StrCat("shape ", shapeText(tensor.shape), " has a negative extent, or 2^63 or more bytes"));
  switch (tensor.kind) {
  case Tensor::Kind::Input:
    if (tensor.input < 0 || size_t(tensor.input) >= network.inputs.size() ||
        network.inputs[size_t(tensor.input)].tensor != TensorId(id))
      return invalid(where, absl::StrCat("is said to be input ", tensor.input, ", which is not this tensor"));
    return absl::OkStatus();
  case Tensor::Kind::Constant:
    return checkSource(where, tensor.source, tensor.type, tensor.elements());
  case Tensor::Kind::Value:
    return absl::OkStatus();
  }
  return invalid(where, absl::StrCat("has the unknown kind ", int(tensor.kind)));
}

/// One side of a state: the tensor has its type and shape.
absl::Status checkStateTensor(const Network &network, const State &state, TensorId id, const char *what) {
  const std::string where = absl::StrCat("state ", state.name);
  if (id < 0 || size_t(id) >= network.tensors.size())
    return invalid(where, absl::StrCat(what, " tensor ", id, ", there are ", network.tensors.size()));
  const Tensor &tensor = network.tensors[size_t(id)];
  if (tensor.type != state.type || tensor.shape != state.shape)
    return invalid(where,
                   absl::StrCat("of type ", typeText(state.type), shapeText(state.shape), " ", what, " tensor ", id,
                                " (", tensor.name, ") of type ", typeText(tensor.type), shapeText(tensor.shape)));
  return absl::OkStatus();
}

} // namespace

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d)
    absl::StrAppend(&text, d ? ", " : "", shape[d]);
  return text + "]";
}

std::string typeText(format::ElementType type) { return std::string(format::elementTypeName(type)); }
std::string opcodeText(format::Opcode opcode) { return std::string(format::opcodeInfo(opcode).name); }

void convertElements(const std::byte *elements, int64_t count, format::ElementType from, format::ElementType to,
                     std::byte *out) {
  using format::ElementType;
  const int64_t before = format::elementBytes(from), after = format::elementBytes(to);
  if (from == ElementType::F32 && (to == ElementType::F16 || to == ElementType::BF16)) { // weights by the million
    constexpr int64_t kChunk = 512;
    std::array<float, kChunk> wide;
    std::array<uint16_t, kChunk> narrow;
    for (int64_t done = 0; done < count; done += kChunk) {
      const auto part = size_t(std::min(kChunk, count - done));
      std::memcpy(wide.data(), elements + done * before, part * sizeof(float));
      (to == ElementType::F16 ? numerics::f32ToF16Array : numerics::f32ToBF16Array)(narrow.data(), wide.data(), part);
      std::memcpy(out + done * after, narrow.data(), part * sizeof(uint16_t));
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    numerics::storeElement(out + i * after, to,
                           numerics::convertElement(numerics::loadElement(elements + i * before, from), from, to));
}

std::vector<std::byte> convertElements(const std::vector<std::byte> &elements, format::ElementType from,
                                       format::ElementType to) {
  const size_t count = elements.size() / size_t(format::elementBytes(from));
  std::vector<std::byte> result(count * size_t(format::elementBytes(to)));
  convertElements(elements.data(), int64_t(count), from, to, result.data());
  return result;
}

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

absl::Status Network::check() const {
  for (size_t id = 0; id < tensors.size(); ++id)
    if (absl::Status status = checkTensor(*this, id); !status.ok())
      return status;

  std::vector<bool> defined(tensors.size());
  for (size_t id = 0; id < tensors.size(); ++id)
    defined[id] = tensors[id].kind != Tensor::Kind::Value;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorId id = inputs[i].tensor;
    if (id < 0 || size_t(id) >= tensors.size() || tensors[size_t(id)].kind != Tensor::Kind::Input ||
        tensors[size_t(id)].input != int32_t(i))
      return invalid(absl::StrCat("input ", inputs[i].name), absl::StrCat("tensor ", id, " is not input ", i));
  }
  for (const State &state : states) {
    if (state.read < 0)
      continue;
    if (absl::Status status = checkStateTensor(*this, state, state.read, "is read as"); !status.ok())
      return status;
    if (defined[size_t(state.read)])
      return invalid(absl::StrCat("state ", state.name),
                     absl::StrCat("is read as tensor ", state.read, ", which has another origin too"));
    defined[size_t(state.read)] = true;
  }

  for (const Node &node : nodes) {
    absl::Status status = checkNode(*this, node, defined);
    if (!status.ok())
      return status;
    defined[size_t(std::visit([](const auto &each) { return each.result; }, node))] = true;
  }

  for (const NamedTensor &output : outputs)
    if (output.tensor < 0 || size_t(output.tensor) >= tensors.size() || !defined[size_t(output.tensor)])
      return invalid(absl::StrCat("output ", output.name), absl::StrCat("tensor ", output.tensor, " is not computed"));
  for (const State &state : states) {
    const int64_t count = countElements(state.shape);
    if (count < 0 || format::elementBytes(state.type) == 0)
      return invalid(absl::StrCat("state ", state.name), "has a negative extent or an unknown element type");
    if (state.initial.inlineBytes || !state.initial.path.empty())
      if (absl::Status status = checkSource(absl::StrCat("state ", state.name), state.initial, state.type, count);
          !status.ok())
        return status;
    if (state.written < 0)
      continue;
    if (absl::Status status = checkStateTensor(*this, state, state.written, "becomes"); !status.ok())
      return status;
    if (!defined[size_t(state.written)])
      return invalid(absl::StrCat("state ", state.name),
                     absl::StrCat("becomes tensor ", state.written, ", which is not computed"));
  }
  return absl::OkStatus();
}

} // namespace wsc::spmd
