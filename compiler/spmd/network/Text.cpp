// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/network/Text.h"

#include "compiler/spmd/network/CheckNode.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <charconv>
#include <map>

namespace wsc::spmd {

namespace {

/// The shortest decimals that are this number again.
std::string numberText(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value).ptr};
}

class Printer {
public:
  explicit Printer(const Network &network) : network(network) {
    std::map<std::string, int> count;
    for (const Tensor &tensor : network.tensors)
      ++count[tensor.name];
    for (size_t id = 0; id < network.tensors.size(); ++id)
      names.push_back(absl::StrCat("%", network.tensors[id].name,
                                   count[network.tensors[id].name] > 1 ? absl::StrCat("#", id) : ""));
  }

  std::string print() {
    absl::StrAppend(&text, "network ", network.name, "\n");
    for (size_t id = 0; id < network.tensors.size(); ++id)
      printLeaf(network.tensors[id], TensorId(id));
    for (const State &state : network.states)
      absl::StrAppend(&text, "variable ", state.name, ": ", typeText(state.type), shapeText(state.shape),
                      source(state.initial), state.read < 0 ? "" : ", read as " + name(state.read),
                      state.written < 0 ? "" : ", becomes " + name(state.written), "\n");
    for (const Node &node : network.nodes)
      std::visit([&](const auto &each) { printNode(each); }, node);
    for (const NamedTensor &output : network.outputs)
      absl::StrAppend(&text, "output ", output.name, " = ", name(output.tensor), "\n");
    return text;
  }

private:
  const std::string &name(TensorId id) const { return names[size_t(id)]; }
  std::string typed(TensorId id) const {
    const Tensor &tensor = network.tensors[size_t(id)];
    return absl::StrCat(name(id), ": ", typeText(tensor.type), shapeText(tensor.shape));
  }
  static std::string source(const ElementSource &source) {
    const std::string stored = source.stored ? absl::StrCat(", stored as ", typeText(*source.stored)) : "";
    if (source.inlineBytes)
      return absl::StrCat(", ", source.inlineBytes->size(), " bytes", stored);
    if (source.path.empty())
      return "";
    return absl::StrCat(", ", source.bytes, " bytes of ", source.path, " from ", source.offset, stored);
  }

  void printLeaf(const Tensor &tensor, TensorId id) {
    if (tensor.kind == Tensor::Kind::Input)
      absl::StrAppend(&text, "input ", typed(id), "\n");
    if (tensor.kind == Tensor::Kind::Constant)
      absl::StrAppend(&text, "constant ", typed(id), source(tensor.source), "\n");
  }

  static std::string index(const Index &index, int32_t numParallel) {
    std::string text;
    const auto add = [&](int64_t factor, const std::string &what) {
      if (factor == 0)
        return;
      absl::StrAppend(&text, text.empty() ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ");
      const int64_t magnitude = factor < 0 ? -factor : factor;
      absl::StrAppend(&text, what.empty()     ? absl::StrCat(magnitude)
                             : magnitude == 1 ? what
                                              : absl::StrCat(magnitude, "*", what));
    };
    for (size_t k = 0; k < index.perIterator.size(); ++k)
      add(index.perIterator[k],
          k < size_t(numParallel) ? absl::StrCat("i", k) : absl::StrCat("r", k - size_t(numParallel)));
    add(index.constant, "");
    return text.empty() ? "0" : text;
  }

  static std::string value(const BodyValue &value) {
    switch (value.kind) {
    case BodyValue::Kind::Operand:
      return absl::StrCat("o", value.index);
    case BodyValue::Kind::Operation:
      return absl::StrCat("v", value.index);
    case BodyValue::Kind::Immediate:
      return numberText(value.immediate);
    case BodyValue::Kind::Reduced:
      return "reduced";
    }
    return "?";
  }

  void printOperation(const BodyOp &op, size_t number) {
    absl::StrAppend(&text, "  v", number, " = ", opcodeText(op.opcode), " ", typeText(op.type), " ");
    if (op.opcode == format::Opcode::Convert || op.taken() != op.type)
      absl::StrAppend(&text, "from ", typeText(op.sourceType), " ");
    absl::StrAppend(&text, value(op.a));
    const int sources = sourcesOf(op.opcode);
    absl::StrAppend(&text, sources > 1 ? ", " + value(op.b) : "", sources > 2 ? ", " + value(op.c) : "", "\n");
  }

  void printNode(const Nest &nest) {
    const auto middle = nest.extents.begin() + nest.numParallel;
    absl::StrAppend(&text, "nest ", nest.name, ": over ", shapeText({nest.extents.begin(), middle}));
    if (nest.reduction)
      absl::StrAppend(&text, ", reduced ", shapeText({middle, nest.extents.end()}), " by ",
                      opcodeText(nest.reduction->opcode), " ", typeText(nest.reduction->type), " from ",
                      numberText(nest.reduction->initial));
    absl::StrAppend(&text, nest.macs ? absl::StrCat(", macs ", nest.macs) : "", "\n");
    for (size_t i = 0; i < nest.operands.size(); ++i) {
      const Access &access = nest.operands[i];
      std::vector<std::string> indices;
      for (size_t d = 0; d < access.map.size(); ++d)
        if (int32_t(d) != access.gatherDim)
          indices.push_back(index(access.map[d], nest.numParallel));
        else if (access.gatherCount == 0)
          indices.push_back(absl::StrCat("o", access.gatherIndices));
        else
          indices.push_back(absl::StrCat(index(access.map[d], nest.numParallel), " + o", access.gatherIndices, " < ",
                                         access.gatherCount));
      absl::StrAppend(&text, "  o", i, " = ", name(access.tensor), "[", absl::StrJoin(indices, ", "), "]",
                      access.padding != 0 ? " padding " + numberText(access.padding) : "", "\n");
    }
    for (size_t i = 0; i < nest.body.size(); ++i)
      printOperation(nest.body[i], i);
    if (nest.reduction)
      absl::StrAppend(&text, "  reduce ", value(nest.values[0]),
                      nest.values.size() > 1 ? ", " + value(nest.values[1]) : "", "\n");
    for (size_t i = 0; i < nest.finish.size(); ++i)
      printOperation(nest.finish[i], nest.body.size() + i);
    absl::StrAppend(&text, "  ", typed(nest.result), " = ", value(nest.resultValue), "\n");
  }

  void printNode(const Remap &remap) {
    absl::StrAppend(&text, "remap ", remap.name, ":");
    for (const Piece &piece : remap.pieces) {
      std::vector<int64_t> extents, from, to;
      for (const Piece::Digit &digit : piece.digits) {
        extents.push_back(digit.extent);
        from.push_back(digit.sourceStride);
        to.push_back(digit.resultStride);
      }
      absl::StrAppend(&text, &piece == &remap.pieces[0] ? "" : ",", " over ", shapeText(extents), " from ",
                      name(piece.source), " at ", piece.sourceOffset, " by ", shapeText(from), " to ",
                      piece.resultOffset, " by ", shapeText(to));
    }
    absl::StrAppend(&text, " fill ", numberText(remap.fill), "\n  ", typed(remap.result), "\n");
  }

  const Network &network;
  std::vector<std::string> names;
  std::string text;
};

} // namespace

std::string printNetwork(const Network &network) { return Printer(network).print(); }

} // namespace wsc::spmd
