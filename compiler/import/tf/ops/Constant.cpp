// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors made of few numbers, and random ones. Of a random tensor only the distribution is kept: floor(1 + u) of u in
// [0, 1) is 1 whatever is drawn, which is what dropout comes to in inference; initial values of variables are drawn.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/RandomValues.h"
#include "compiler/import/tf/Registry.h"
#include "compiler/import/tf/Types.h"
#include "dialects/nn/Shape.h"
#include <cmath>

namespace wsc::import::tf {
namespace {

/// Extents in input i, checked.
llvm::SmallVector<int64_t> extentsIn(NodeContext &node, size_t i) {
  std::vector<int64_t> extents = node.constantInts(i, "the shape");
  for (int64_t extent : extents)
    if (extent < 0)
      node.fail(absl::StrCat("the shape ", nn::formatShape(extents), " has a negative extent"));
  if (std::string problem = nn::shapeProblem(extents); !node.failed() && !problem.empty())
    node.fail(absl::StrCat("the shape ", nn::formatShape(extents), " ", problem));
  return llvm::SmallVector<int64_t>(extents.begin(), extents.end());
}

/// A constant number in every place, without a layer where the number is known.
Expression filled(NodeContext &node, llvm::ArrayRef<int64_t> shape, const Expression &number) {
  auto literal = node.layers.literal(number);
  if (!literal || node.failed())
    return number.broadcast(shape);
  if (literal->size() != 1) {
    node.fail(absl::StrCat("the value must be one number, found ", literal->size()));
    return number;
  }
  auto type = mlir::RankedTensorType::get(shape, number.elementType());
  if (type.getNumElements() == 0)
    return {node.layers, node.layers.fromLiteral(Literal::zeros(type))};
  literal->type = mlir::RankedTensorType::get({}, number.elementType());
  return {node.layers, node.layers.fromAttribute(literal->toAttribute().resizeSplat(type))};
}

void fill(NodeContext &node) {
  llvm::SmallVector<int64_t> shape = extentsIn(node, 0);
  if (!node.failed())
    node.setResult(filled(node, shape, node.in(1)));
}

template <int value> void like(NodeContext &node) {
  Expression x = node.in(0);
  if (!node.failed())
    node.setResult(filled(node, x.shape(), x.number(value)));
}

/// Memory that something writes later, or that nothing reads: zeros.
void empty(NodeContext &node) {
  node.ignoreAttributes({"init"});
  llvm::SmallVector<int64_t> shape = extentsIn(node, 0);
  mlir::Type element = node.typeAttribute("dtype", wsc::tf::DT_FLOAT);
  if (!node.failed())
    node.setResult(filled(node, shape, {node.layers, node.layers.scalar(element, 0)}));
}

/// What a branch gives for a result that it does not have.
void fakeParameter(NodeContext &node) {
  mlir::Type element = node.typeAttribute("dtype", wsc::tf::DT_FLOAT);
  const wsc::tf::AttrValue *given = node.find("shape");
  auto shape = given && given->has_shape() ? extentsOf(given->shape()) : std::nullopt;
  if (node.failed())
    return;
  if (!shape || llvm::any_of(*shape, [](int64_t extent) { return extent < 0; }) || !nn::shapeProblem(*shape).empty())
    return node.unsupported("a shape with unknown extents is not supported");
  node.setResult(filled(node, *shape, {node.layers, node.layers.scalar(element, 0)}));
}

/// Key, counter and algorithm of generators: numbers that only they read, which do not need them.
template <bool hasKey, bool hasAlgorithm> void generatorState(NodeContext &node) {
  mlir::Type element = mlir::IntegerType::get(node.layers.builder().getContext(), 64, mlir::IntegerType::Unsigned);
  if (hasKey) {
    node.setResult(0, node.integers({0}, element));
    node.setResult(1, node.integers({0, 0}, element));
  }
  if (hasAlgorithm)
    node.setResult(hasKey ? 2 : 0, Value(node.layers.scalar(node.i32(), 1)));
}

void range(NodeContext &node) {
  Tensor first = node.input(0);
  double start = node.constantScalar(0, "start"), limit = node.constantScalar(1, "limit"),
         delta = node.constantScalar(2, "delta");
  if (node.failed())
    return;
  if (delta == 0)
    return node.fail("delta is 0");
  const double count = std::max(0.0, std::ceil((limit - start) / delta));
  if (!(count <= static_cast<double>(maxConstantElements)))
    return node.fail(absl::StrCat("a range of ", count, " elements is more than ", maxConstantElements));
  node.setResult(countingUp(node.layers, static_cast<int64_t>(count), first.elementType()) * delta + start);
}

void linSpace(NodeContext &node) {
  Tensor first = node.input(0);
  double start = node.constantScalar(0, "start"), stop = node.constantScalar(1, "stop");
  int64_t count = node.constantInt(2, "num");
  if (node.failed())
    return;
  if (count < 1 || count > maxConstantElements)
    return node.fail(absl::StrCat("num = ", count, " is outside [1, ", maxConstantElements, "]"));
  std::vector<double> values(count, start);
  for (int64_t i = 1; i < count; ++i)
    values[i] =
        i == count - 1 ? stop : start + (stop - start) * static_cast<double>(i) / static_cast<double>(count - 1);
  node.setResult(constant(node.layers, {count}, values, first.elementType()));
}

template <Random::Kind kind> void random(NodeContext &node) {
  const int64_t seed = node.intAttribute("seed", 0), second = node.intAttribute("seed2", 0);
  llvm::SmallVector<int64_t> shape = extentsIn(node, 0);
  mlir::Type element = node.typeAttribute("dtype", wsc::tf::DT_FLOAT);
  if (!node.failed())
    node.setResult(
        Value(Random{mlir::RankedTensorType::get(shape, element), kind, seedOf(node.node().name(), seed, second)}));
}

} // namespace

static const Operator table[] = {
    {"Fill", 2, 2, fill},
    {"ZerosLike", 1, 1, like<0>},
    {"OnesLike", 1, 1, like<1>},
    {"Empty", 1, 1, empty},
    {"FakeParam", 0, 0, fakeParameter},
    {"Range", 3, 3, range},
    {"LinSpace", 3, 3, linSpace},
    {"RandomUniform", 1, 1, random<Random::Kind::Uniform>},
    {"RandomStandardNormal", 1, 1, random<Random::Kind::Normal>},
    {"TruncatedNormal", 1, 1, random<Random::Kind::Truncated>},
    {"StatelessRandomUniform", 2, 2, random<Random::Kind::Uniform>},
    {"StatelessRandomUniformV2", 4, 4, random<Random::Kind::Uniform>},
    {"StatelessRandomNormal", 2, 2, random<Random::Kind::Normal>},
    {"StatelessRandomGetKeyCounter", 1, 1, generatorState<true, false>, "key,counter"},
    {"StatelessRandomGetKeyCounterAlg", 1, 1, generatorState<true, true>, "key,counter,alg"},
    {"StatelessRandomGetAlg", 0, 0, generatorState<false, true>},
    {"StatelessRandomNormalV2", 4, 4, random<Random::Kind::Normal>},
    {"StatelessTruncatedNormal", 2, 2, random<Random::Kind::Truncated>},
    {"StatelessTruncatedNormalV2", 4, 4, random<Random::Kind::Truncated>},
};
llvm::ArrayRef<Operator> constantOperators() { return table; }

} // namespace wsc::import::tf
