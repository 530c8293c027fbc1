// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random networks keep the rules of Network.h, are the same for the same seed, and hold every kind of node.
#include "test/support/RandomNetwork.h"
#include "runtime/numerics/Elements.h"
#include "test/support/NetworkReference.h"
#include "test/support/Seed.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

using namespace wsc;
using namespace wsc::test;
using format::ElementType;
using format::Opcode;
using spmd::Access;
using spmd::Nest;
using spmd::Network;
using spmd::Piece;
using spmd::Remap;

namespace {

int64_t elementsOf(const spmd::Tensor &tensor) {
  int64_t count = 1;
  for (int64_t extent : tensor.shape)
    count *= extent;
  return count;
}

void expectRules(const Network &network, const Nest &nest) {
  const spmd::Tensor &result = network.tensors[size_t(nest.result)];
  EXPECT_EQ(result.shape, std::vector<int64_t>(nest.extents.begin(), nest.extents.begin() + nest.numParallel));
  EXPECT_EQ(nest.reduction.has_value(), size_t(nest.numParallel) < nest.extents.size());
  for (const Access &operand : nest.operands) {
    EXPECT_EQ(operand.map.size(), network.tensors[size_t(operand.tensor)].shape.size());
    for (const spmd::Index &index : operand.map)
      EXPECT_EQ(index.perIterator.size(), nest.extents.size());
    if (operand.gatherDim >= 0) {
      const Access &numbers = nest.operands[size_t(operand.gatherIndices)];
      EXPECT_EQ(network.tensors[size_t(numbers.tensor)].type, ElementType::I32);
    }
  }
  for (const std::vector<spmd::BodyOp> *ops : {&nest.body, &nest.finish})
    for (const spmd::BodyOp &op : *ops)
      EXPECT_TRUE(numerics::isDefined(op.opcode, op.type));
}

// Every piece stays inside its tensors, and no element is placed twice.
void expectRules(const Network &network, const Remap &remap) {
  std::vector<bool> placed(size_t(elementsOf(network.tensors[size_t(remap.result)])), false);
  for (const Piece &piece : remap.pieces) {
    const int64_t sources = elementsOf(network.tensors[size_t(piece.source)]);
    std::vector<std::pair<int64_t, int64_t>> points{{piece.sourceOffset, piece.resultOffset}};
    for (const Piece::Digit &digit : piece.digits) {
      std::vector<std::pair<int64_t, int64_t>> next;
      for (auto [source, place] : points)
        for (int64_t j = 0; j < digit.extent; ++j)
          next.emplace_back(source + j * digit.sourceStride, place + j * digit.resultStride);
      points = std::move(next);
    }
    for (auto [source, place] : points) {
      ASSERT_TRUE(source >= 0 && source < sources && place >= 0 && place < int64_t(placed.size()));
      EXPECT_FALSE(placed[size_t(place)]);
      placed[size_t(place)] = true;
    }
  }
}

} // namespace

TEST(RandomNetwork, KeepsTheRules) {
  NetworkOptions options;
  options.states = true;
  std::map<std::string, int> kinds;
  const uint64_t first = wsc::test::seedOf(1);
  for (uint64_t seed = first; seed < first + 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Network network = drawNetwork(seed, options);
    ASSERT_FALSE(network.nodes.empty());
    EXPECT_FALSE(network.outputs.empty() && network.states.empty());
    std::vector<bool> known(network.tensors.size());
    for (size_t t = 0; t < known.size(); ++t)
      known[t] = network.tensors[t].kind != spmd::Tensor::Kind::Value;
    for (const spmd::State &state : network.states)
      known[size_t(state.read)] = true;
    for (const spmd::Node &node : network.nodes) {
      if (auto nest = std::get_if<Nest>(&node)) {
        expectRules(network, *nest);
        for (const Access &operand : nest->operands) {
          EXPECT_TRUE(known[size_t(operand.tensor)]);
          kinds["gather"] += operand.gatherDim >= 0;
          for (const spmd::Index &index : operand.map)
            kinds["window"] += std::count_if(index.perIterator.begin(), index.perIterator.end(),
                                             [](int64_t factor) { return factor != 0; }) > 1;
        }
        EXPECT_FALSE(known[size_t(nest->result)]);
        known[size_t(nest->result)] = true;
        kinds[nest->reduction ? "reduction" : "elementwise"] += 1;
        kinds["contraction"] += nest->macs > 0;
        kinds["finish"] += !nest->finish.empty();
      } else {
        const auto &remap = std::get<Remap>(node);
        expectRules(network, remap);
        known[size_t(remap.result)] = true;
        kinds["remap"] += 1;
        kinds["concatenation"] += remap.pieces.size() > 1;
      }
    }
    const auto inputs = drawInputs(seed, network);
    auto values = evaluate(network, inputs);
    ASSERT_TRUE(values.ok()) << values.status();
    auto wide = evaluate(network, inputs, {}, Arithmetic::Double);
    ASSERT_TRUE(wide.ok()) << wide.status();
    EXPECT_EQ(wide->outputs.size(), values->outputs.size());
  }
  for (const char *kind :
       {"gather", "window", "reduction", "elementwise", "contraction", "finish", "remap", "concatenation"})
    EXPECT_GT(kinds[kind], 40) << kind;
}

TEST(RandomNetwork, IsTheSameForTheSameSeed) {
  const uint64_t first = wsc::test::seedOf(1);
  for (uint64_t seed = first; seed < first + 50; ++seed) {
    const Network one = drawNetwork(seed), other = drawNetwork(seed);
    ASSERT_EQ(one.nodes.size(), other.nodes.size());
    auto values = evaluate(one, drawInputs(seed, one)), again = evaluate(other, drawInputs(seed, other));
    ASSERT_TRUE(values.ok() && again.ok());
    EXPECT_EQ(values->outputs, again->outputs);
  }
}

TEST(RandomNetwork, KeepsToTheTypesAskedFor) {
  NetworkOptions options;
  options.types = {ElementType::F32};
  const uint64_t first = wsc::test::seedOf(1);
  for (uint64_t seed = first; seed < first + 50; ++seed) {
    const Network network = drawNetwork(seed, options);
    for (const spmd::Tensor &tensor : network.tensors)
      EXPECT_TRUE(tensor.type == ElementType::F32 || tensor.name.starts_with("numbers")) << tensor.name;
  }
}

TEST(RandomNetwork, NeutralValuesChangeNothing) {
  Draw draw(1);
  for (ElementType type : elementTypes())
    for (Opcode opcode : {Opcode::ReduceAdd, Opcode::ReduceMul, Opcode::ReduceMin, Opcode::ReduceMax}) {
      const uint64_t neutral = numerics::encodeImmediate(neutralOf(opcode, type), type);
      const auto size = size_t(format::elementBytes(type));
      const std::vector<std::byte> elements = drawElements(draw, type, 20, false);
      for (size_t i = 0; i < 20; ++i) {
        const uint64_t element = numerics::loadElement(elements.data() + i * size, type);
        EXPECT_EQ(numerics::applyScalar(opcode, type, neutral, element, 0), element);
      }
    }
}
