// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes gathers from long dimensions out of their nests: the windows' origins, the numbers within each window, and the
// sum over the windows become a constant and two nests; the nest reads the sum in place of the table.
#include "compiler/spmd/network/CheckNode.h"
#include "compiler/spmd/network/Simplify.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

namespace wsc::spmd {

using namespace format;

namespace {

constexpr int64_t kLeastWindow = 32; // elements: shorter ones take more instructions than they save memory
constexpr int64_t kLargeTable = int64_t(64) << 20; // bytes of a table of which few cores should hold the same

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The integers of as many bytes, whose sums keep bits.
ElementType bitsOf(ElementType type) {
  switch (elementBytes(type)) {
  case 1:
    return ElementType::U8;
  case 2:
    return ElementType::U16;
  case 4:
    return ElementType::I32;
  default:
    return ElementType::I64;
  }
}

class GatherSplitter {
public:
  GatherSplitter(Network &network, int64_t mostBytes, int64_t lineCores)
      : network(network), mostBytes(mostBytes), lineCores(int64_t(std::bit_floor(uint64_t(lineCores)))) {}

  void run() {
    std::vector<Node> nodes = std::exchange(network.nodes, {});
    for (Node &node : nodes) {
      if (Nest *nest = std::get_if<Nest>(&node))
        for (size_t k = 0; k < nest->operands.size(); ++k)
          if (isLong(nest->operands[k]))
            split(*nest, k);
      network.nodes.push_back(std::move(node));
    }
  }

private:
  bool isLong(const Access &access) const {
    if (access.gatherDim < 0 || access.gatherCount > 0)
      return false;
    const Tensor &table = network.tensors[size_t(access.tensor)];
    return table.type != ElementType::Bool &&
           table.shape[size_t(access.gatherDim)] * elementBytes(table.type) > mostBytes &&
           table.shape[size_t(access.gatherDim)] >= 2 * kLeastWindow;
  }

  TensorId add(std::string name, ElementType type, std::vector<int64_t> shape) {
    Tensor tensor;
    tensor.name = std::move(name);
    tensor.type = type;
    tensor.shape = std::move(shape);
    network.tensors.push_back(std::move(tensor));
    return TensorId(network.tensors.size() - 1);
  }

  /// p · window for p = 0 … parts − 1.
  TensorId addOrigins(const std::string &name, int64_t parts, int64_t window) {
    const TensorId id = add(name, ElementType::I32, {parts});
    Tensor &origins = network.tensors[size_t(id)];
    origins.kind = Tensor::Kind::Constant;
    auto bytes = std::make_shared<std::vector<std::byte>>(size_t(parts) * 4);
    for (int64_t p = 0; p < parts; ++p) {
      const int32_t origin = int32_t(p * window);
      std::memcpy(bytes->data() + p * 4, &origin, 4);
    }
    origins.source.bytes = int64_t(bytes->size());
    origins.source.inlineBytes = std::move(bytes);
    return id;
  }

  /// The map over the iterators that are kept (`place`: old iterator to new) and one more, the windows.
  static std::vector<Index> mapOver(const std::vector<Index> &map, const std::vector<int32_t> &kept) {
    std::vector<Index> result;
    for (const Index &index : map) {
      Index moved{index.constant, {}};
      for (int32_t k : kept)
        moved.perIterator.push_back(index.perIterator[size_t(k)]);
      moved.perIterator.push_back(0);
      result.push_back(std::move(moved));
    }
    return result;
  }

  static Index only(size_t rank, size_t iterator, int64_t step = 1) {
    Index index{0, std::vector<int64_t>(rank, 0)};
    index.perIterator[iterator] = step;
    return index;
  }

  /// Iterators that one of the maps walks.
  static std::vector<int32_t> walked(const Nest &nest, const std::vector<const std::vector<Index> *> &maps) {
    std::vector<int32_t> iterators;
    for (size_t k = 0; k < nest.extents.size(); ++k)
      for (const std::vector<Index> *map : maps)
        if (std::any_of(map->begin(), map->end(), [&](const Index &index) { return index.perIterator[k] != 0; })) {
          iterators.push_back(int32_t(k));
          break;
        }
    return iterators;
  }

  void split(Nest &nest, size_t operand) {
    const Access access = nest.operands[operand];
    const Access numbers = nest.operands[size_t(access.gatherIndices)];
    const Tensor table = network.tensors[size_t(access.tensor)];
    const int64_t count = table.shape[size_t(access.gatherDim)];
    // A power of two of windows, which divides into blocks for many numbers of cores.
    const int64_t most = std::max(kLeastWindow, std::min(mostBytes / elementBytes(table.type), count / 2));
    int64_t parts = int64_t(std::bit_ceil(uint64_t(ceilDiv(count, most))));
    if (table.elements() * elementBytes(table.type) > kLargeTable)
      parts = std::max(parts, std::min(lineCores, int64_t(std::bit_floor(uint64_t(count / kLeastWindow)))));
    const int64_t window = ceilDiv(count, parts);
    const TensorId origins = addOrigins(table.name + ".origins", parts, window);
    const TensorId local = addNumbers(nest, numbers, origins, count, parts);
    const TensorId sum = addSum(nest, access, numbers, local, window, parts);

    // The nest reads the sum in place of the table.
    std::vector<Index> map = access.map;
    map[size_t(access.gatherDim)].perIterator.assign(nest.extents.size(), 0);
    Access &read = nest.operands[operand];
    read = {};
    read.tensor = sum;
    for (int32_t k : walked(nest, {&map, &numbers.map}))
      read.map.push_back(only(nest.extents.size(), size_t(k)));
    dropUnused(nest, size_t(access.gatherIndices));
  }

  /// Per window, the number within it: clamped to the table, minus the window's origin.
  TensorId addNumbers(const Nest &nest, const Access &numbers, TensorId origins, int64_t count, int64_t parts) {
    const std::vector<int32_t> kept = walked(nest, {&numbers.map});
    Nest made;
    made.name = nest.name;
    for (int32_t k : kept)
      made.extents.push_back(nest.extents[size_t(k)]);
    made.extents.push_back(parts);
    const size_t rank = made.extents.size();
    made.numParallel = int32_t(rank);
    made.operands.resize(2);
    made.operands[0].tensor = numbers.tensor;
    made.operands[0].map = mapOver(numbers.map, kept);
    made.operands[0].padding = numbers.padding;
    made.operands[1].tensor = origins;
    made.operands[1].map = {only(rank, rank - 1)};
    auto op = [&](Opcode opcode, BodyValue a, BodyValue b) {
      made.body.push_back({opcode, ElementType::I32, ElementType::I32, a, b, {}});
    };
    op(Opcode::Max, BodyValue::operand(0), BodyValue::constant(0));
    op(Opcode::Min, BodyValue::operation(0), BodyValue::constant(double(count - 1)));
    op(Opcode::Sub, BodyValue::operation(1), BodyValue::operand(1));
    made.values = {BodyValue::operation(2)};
    made.resultValue = made.values[0];
    made.result = add(network.tensors[size_t(numbers.tensor)].name + ".numbers", ElementType::I32, made.extents);
    const TensorId result = made.result;
    network.nodes.push_back(std::move(made));
    return result;
  }

  TensorId addSum(const Nest &nest, const Access &access, const Access &numbers, TensorId local, int64_t window,
                  int64_t parts) {
    const Tensor table = network.tensors[size_t(access.tensor)];
    std::vector<Index> map = access.map;
    map[size_t(access.gatherDim)] = {0, std::vector<int64_t>(nest.extents.size(), 0)};
    const std::vector<int32_t> kept = walked(nest, {&map, &numbers.map}), named = walked(nest, {&numbers.map});
    Nest made;
    made.name = nest.name;
    for (int32_t k : kept)
      made.extents.push_back(nest.extents[size_t(k)]);
    made.numParallel = int32_t(kept.size());
    made.extents.push_back(parts);
    const size_t rank = made.extents.size();
    made.operands.resize(2);
    Access &gathered = made.operands[0];
    gathered.tensor = access.tensor;
    gathered.map = mapOver(map, kept);
    gathered.map[size_t(access.gatherDim)] = only(rank, rank - 1, window);
    gathered.padding = access.padding;
    gathered.gatherDim = access.gatherDim;
    gathered.gatherIndices = 1;
    gathered.gatherCount = window;
    Access &number = made.operands[1];
    number.tensor = local;
    for (int32_t k : named)
      number.map.push_back(only(rank, size_t(std::find(kept.begin(), kept.end(), k) - kept.begin())));
    number.map.push_back(only(rank, rank - 1));
    const ElementType bits = bitsOf(table.type);
    auto op = [&](std::vector<BodyOp> &ops, BodyOp added) {
      ops.push_back(added);
      return BodyValue::operation(int32_t(made.body.size() + made.finish.size()) - 1);
    };
    auto compare = [&](Opcode opcode, BodyValue a, BodyValue b) {
      return op(made.body, {opcode, ElementType::I32, ElementType::I32, a, b, {}});
    };
    const BodyValue above = compare(Opcode::CompareLe, BodyValue::constant(0), BodyValue::operand(1)),
                    below = compare(Opcode::CompareLt, BodyValue::operand(1), BodyValue::constant(double(window)));
    BodyValue inside = op(made.body, {Opcode::And, ElementType::I32, ElementType::I32, above, below, {}});
    if (bits != ElementType::I32)
      inside = op(made.body, {Opcode::Convert, bits, ElementType::I32, inside, {}, {}});
    BodyValue value = BodyValue::operand(0);
    if (bits != table.type)
      value = op(made.body, {Opcode::Move, bits, table.type, value, {}, {}});
    made.values = {op(made.body, {Opcode::Select, bits, bits, value, BodyValue::constant(0), inside})};
    made.reduction = Reduction{Opcode::ReduceAdd, bits, 0};
    made.resultValue = BodyValue::reduced();
    if (bits != table.type)
      made.resultValue = op(made.finish, {Opcode::Move, table.type, bits, BodyValue::reduced(), {}, {}});
    made.result =
        add(table.name + ".gathered", table.type, {made.extents.begin(), made.extents.begin() + made.numParallel});
    const TensorId result = made.result;
    network.nodes.push_back(std::move(made));
    return result;
  }

  /// Drops an operand that no value names.
  static void dropUnused(Nest &nest, size_t operand) {
    bool isUsed = false;
    auto visit = [&](auto &&change) {
      for (std::vector<BodyOp> *ops : {&nest.body, &nest.finish})
        for (BodyOp &op : *ops) {
          BodyValue *const sources[] = {&op.a, &op.b, &op.c};
          for (int s = 0; s < sourcesOf(op.opcode); ++s)
            change(*sources[s]);
        }
      for (BodyValue &value : nest.values)
        change(value);
      change(nest.resultValue);
    };
    visit(
        [&](BodyValue &value) { isUsed |= value.kind == BodyValue::Kind::Operand && value.index == int32_t(operand); });
    for (const Access &access : nest.operands)
      isUsed |= access.gatherIndices == int32_t(operand);
    if (isUsed)
      return;
    nest.operands.erase(nest.operands.begin() + ptrdiff_t(operand));
    visit([&](BodyValue &value) {
      if (value.kind == BodyValue::Kind::Operand && value.index > int32_t(operand))
        --value.index;
    });
    for (Access &access : nest.operands)
      if (access.gatherIndices > int32_t(operand))
        --access.gatherIndices;
  }

  Network &network;
  const int64_t mostBytes, lineCores;
};

} // namespace

void splitGathers(Network &network, int64_t mostBytes, int64_t lineCores) {
  GatherSplitter(network, mostBytes, lineCores).run();
}

} // namespace wsc::spmd
