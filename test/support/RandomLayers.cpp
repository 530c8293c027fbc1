// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/support/RandomLayers.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace wsc::test {

using format::ElementType;
using format::Opcode;
using spmd::Access;
using spmd::BodyValue;
using spmd::Index;
using spmd::Nest;
using spmd::TensorId;

namespace {

using Shape = std::vector<int64_t>;

int64_t product(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

// What an index is made of, before the number of iterators is known.
struct Term {
  int64_t constant = 0;
  std::vector<std::pair<size_t, int64_t>> iterators; // number, factor
};

Access access(TensorId tensor, const std::vector<Term> &terms, size_t numIterators) {
  Access result;
  result.tensor = tensor;
  for (const Term &term : terms) {
    Index index;
    index.constant = term.constant;
    index.perIterator.assign(numIterators, 0);
    for (auto [iterator, factor] : term.iterators)
      index.perIterator[iterator] += factor;
    result.map.push_back(std::move(index));
  }
  return result;
}

// Dimension d is iterator iterators[d].
Access plain(TensorId tensor, const std::vector<size_t> &iterators, size_t numIterators) {
  std::vector<Term> terms;
  for (size_t iterator : iterators)
    terms.push_back({0, {{iterator, 1}}});
  return access(tensor, terms, numIterators);
}

Nest nestWith(const Shape &parallel, const Shape &reduced) {
  Nest nest;
  nest.extents = parallel;
  nest.extents.insert(nest.extents.end(), reduced.begin(), reduced.end());
  nest.numParallel = int32_t(parallel.size());
  return nest;
}

} // namespace

std::vector<int64_t> LayerDrawer::drawShape() {
  Shape shape;
  for (int64_t d = draw.in(0, options.maxRank); d > 0; --d) {
    const int64_t extent = draw.oneIn(8) ? 1 : draw.in(1, options.maxExtent);
    shape.push_back(product(shape) * extent > options.maxElements ? 1 : extent);
  }
  return shape;
}

TensorId LayerDrawer::tensorOf(const Shape &shape, ElementType type) {
  std::vector<TensorId> matching;
  for (TensorId id : pool)
    if (shapeOf(id) == shape)
      matching.push_back(id);
  if (!matching.empty() && draw.oneIn(2))
    return draw.of(matching);
  if (draw.oneIn(4))
    return net.input(name("in"), type, shape);
  return net.constant(name("w"), type, shape, drawElements(draw, type, product(shape), options.specials));
}

Access LayerDrawer::broadcast(const Shape &extents, size_t numIterators, ElementType type) {
  std::vector<size_t> iterators;
  for (size_t k = 0; k < extents.size(); ++k)
    if (!draw.oneIn(3))
      iterators.push_back(k);
  if (draw.oneIn(4))
    std::reverse(iterators.begin(), iterators.end());
  Shape shape;
  std::vector<Term> terms;
  for (size_t k : iterators) {
    const bool fixed = draw.oneIn(6);
    shape.push_back(fixed ? 1 : extents[k]);
    terms.push_back(fixed ? Term{} : Term{0, {{k, 1}}});
  }
  return access(tensorOf(shape, type), terms, numIterators);
}

void LayerDrawer::finish(Nest nest, bool fma) {
  std::vector<ElementType> operandTypes;
  for (const Access &operand : nest.operands)
    operandTypes.push_back(typeOf(operand.tensor));
  RandomBody body(draw, nest, operandTypes);
  ElementType type = draw.oneIn(4) ? draw.of(types) : typeOf(nest.operands[0].tensor);
  for (int64_t ops = fma ? draw.in(0, 1) : draw.in(0, 3); ops > 0; --ops)
    body.operation(draw.oneIn(5) ? draw.of(types) : type);
  if (size_t(nest.numParallel) < nest.extents.size()) {
    static const std::vector<Opcode> opcodes{Opcode::ReduceAdd, Opcode::ReduceMul, Opcode::ReduceMin, Opcode::ReduceMax,
                                             Opcode::Fma};
    spmd::Reduction reduction;
    reduction.opcode = fma ? Opcode::Fma : draw.of(opcodes);
    reduction.type = type;
    reduction.initial = neutralOf(reduction.opcode, type);
    nest.values = {fma ? converted(nest, 0, type) : body.value(type)};
    if (reduction.opcode == Opcode::Fma) {
      nest.values.push_back(fma ? converted(nest, 1, type) : body.value(type));
      nest.macs = product(nest.extents);
    }
    nest.reduction = reduction;
    body.finish();
    for (int64_t ops = draw.oneIn(2) ? draw.in(1, 2) : 0; ops > 0; --ops)
      body.operation(draw.oneIn(5) ? draw.of(types) : type);
    if (!nest.finish.empty())
      type = nest.finish.back().type;
    nest.resultValue = body.value(type);
  } else {
    if (!nest.body.empty())
      type = nest.body.back().type;
    nest.resultValue = body.value(type);
    nest.values = {nest.resultValue};
  }
  nest.name = name("nest");
  nest.result = net.value(name("y"), type, Shape(nest.extents.begin(), nest.extents.begin() + nest.numParallel));
  pool.push_back(nest.result);
  net.add(std::move(nest));
}

BodyValue LayerDrawer::converted(Nest &nest, int32_t operand, ElementType type) {
  const ElementType from = typeOf(nest.operands[size_t(operand)].tensor);
  if (from == type)
    return BodyValue::operand(operand);
  nest.body.push_back(convertOp(from, type, BodyValue::operand(operand)));
  return BodyValue::operation(int32_t(nest.body.size()) - 1);
}

template <typename T> void LayerDrawer::shuffle(std::vector<T> &items) {
  for (size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[size_t(draw.in(0, int64_t(i) - 1))]);
}

void LayerDrawer::elementwise() {
  const TensorId x = fromPool();
  const Shape shape = shapeOf(x);
  Nest nest = nestWith(shape, {});
  std::vector<size_t> iterators(shape.size());
  std::iota(iterators.begin(), iterators.end(), 0);
  nest.operands = {plain(x, iterators, shape.size())};
  for (int64_t others = draw.in(0, 2); others > 0; --others)
    nest.operands.push_back(broadcast(Shape(nest.extents), nest.extents.size(), draw.of(types)));
  finish(std::move(nest), false);
}

void LayerDrawer::reduction() {
  const TensorId x = fromPool();
  const Shape shape = shapeOf(x);
  Shape parallel, reduced;
  std::vector<bool> isReduced;
  for (int64_t extent : shape) {
    isReduced.push_back(draw.oneIn(2));
    (isReduced.back() ? reduced : parallel).push_back(extent);
  }
  Nest nest = nestWith(parallel, reduced);
  std::vector<size_t> iterators;
  size_t nextParallel = 0, nextReduced = parallel.size();
  for (size_t d = 0; d < shape.size(); ++d)
    iterators.push_back(isReduced[d] ? nextReduced++ : nextParallel++);
  nest.operands = {plain(x, iterators, nest.extents.size())};
  if (draw.oneIn(2))
    nest.operands.push_back(
        broadcast(draw.oneIn(2) ? parallel : Shape(nest.extents), nest.extents.size(), draw.of(types)));
  finish(std::move(nest), false);
}

void LayerDrawer::contraction() {
  const TensorId x = fromPool();
  const Shape shape = shapeOf(x);
  enum Kind { Batch, Rows, Sum };
  std::vector<Kind> kinds;
  for (size_t d = 0; d < shape.size(); ++d)
    kinds.push_back(Kind(draw.in(0, 5) < 1 ? 0 : draw.in(1, 2)));
  struct Dim {
    int64_t extent;
    int fromX; // dimension of x, -1: a column
    bool inW;
  };
  std::vector<Dim> parallel, reduced;
  for (size_t d = 0; d < shape.size(); ++d)
    (kinds[d] == Sum ? reduced : parallel).push_back({shape[d], int(d), kinds[d] != Rows});
  for (int64_t columns = draw.in(0, 2), points = product(shape); columns > 0; --columns) {
    const int64_t extent = draw.in(1, options.maxExtent);
    if (points * extent > options.maxPoints || parallel.size() >= 5)
      break;
    points *= extent;
    parallel.push_back({extent, -1, true});
  }
  shuffle(parallel);
  shuffle(reduced);
  Shape parallelExtents, reducedExtents, wShape;
  for (const Dim &dim : parallel)
    parallelExtents.push_back(dim.extent);
  for (const Dim &dim : reduced)
    reducedExtents.push_back(dim.extent);
  if (product(parallelExtents) > options.maxElements)
    return elementwise();
  Nest nest = nestWith(parallelExtents, reducedExtents);
  std::vector<size_t> xIterators(shape.size()), wIterators;
  std::vector<Dim> all = parallel;
  all.insert(all.end(), reduced.begin(), reduced.end());
  for (size_t k = 0; k < all.size(); ++k) {
    if (all[k].fromX >= 0)
      xIterators[size_t(all[k].fromX)] = k;
    if (all[k].inW)
      wIterators.push_back(k);
  }
  shuffle(wIterators);
  for (size_t k : wIterators)
    wShape.push_back(all[k].extent);
  nest.operands = {plain(x, xIterators, all.size()),
                   plain(tensorOf(wShape, draw.oneIn(4) ? draw.of(types) : typeOf(x)), wIterators, all.size())};
  if (draw.oneIn(3)) // a bias
    nest.operands.push_back(broadcast(parallelExtents, all.size(), draw.of(types)));
  finish(std::move(nest), true);
}

void LayerDrawer::window() {
  const TensorId x = fromPool();
  const Shape shape = shapeOf(x);
  if (shape.empty())
    return elementwise();
  Shape parallel, reduced;
  struct Walk {
    int64_t constant = 0, outFactor = 1, tapFactor = 0;
    bool summed = false, window = false;
  };
  std::vector<Walk> walks;
  int64_t windows = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    Walk walk;
    const bool must = windows == 0 && d + 1 == shape.size();
    if (must || (windows < 2 && draw.oneIn(2))) {
      ++windows;
      walk.window = true;
      const int64_t taps = draw.in(1, 3), stride = draw.in(1, 2), dilation = draw.oneIn(3) ? 2 : 1;
      const int64_t before = draw.in(0, 2), after = draw.in(0, 2), reach = (taps - 1) * dilation + 1;
      const int64_t room = shape[d] + before + after - reach;
      walk.constant = -before;
      walk.outFactor = stride;
      walk.tapFactor = dilation;
      parallel.push_back(room < 0 ? 1 : room / stride + 1);
      reduced.push_back(taps);
    } else {
      walk.summed = draw.oneIn(3);
      (walk.summed ? reduced : parallel).push_back(shape[d]);
    }
    walks.push_back(walk);
  }
  if (product(parallel) > options.maxElements || product(parallel) * product(reduced) > options.maxPoints)
    return elementwise();
  const bool convolution = draw.oneIn(2) && product(parallel) * 3 <= options.maxElements;
  if (convolution) // channels of the result
    parallel.insert(parallel.begin(), draw.in(1, 3));
  Nest nest = nestWith(parallel, reduced);
  std::vector<Term> terms;
  size_t nextParallel = convolution ? 1 : 0, nextReduced = parallel.size();
  for (const Walk &walk : walks) {
    Term term{walk.constant, {}};
    if (!walk.summed)
      term.iterators.push_back({nextParallel++, walk.outFactor});
    if (walk.summed || walk.window)
      term.iterators.push_back({nextReduced++, walk.window ? walk.tapFactor : 1});
    terms.push_back(term);
  }
  Access source = access(x, terms, nest.extents.size());
  source.padding = draw.oneIn(2) ? 0 : double(draw.in(-3, 3));
  nest.operands = {source};
  if (convolution) {
    std::vector<size_t> iterators{0};
    Shape weights{parallel[0]};
    for (size_t k = parallel.size(); k < nest.extents.size(); ++k) {
      iterators.push_back(k);
      weights.push_back(nest.extents[k]);
    }
    nest.operands.push_back(plain(tensorOf(weights, typeOf(x)), iterators, nest.extents.size()));
  }
  finish(std::move(nest), convolution);
}

void LayerDrawer::gather() {
  const TensorId table = fromPool();
  const Shape shape = shapeOf(table);
  if (shape.empty())
    return elementwise();
  const auto dim = size_t(draw.in(0, int64_t(shape.size()) - 1));
  Shape numbersShape;
  for (int64_t d = draw.in(1, 2); d > 0; --d)
    numbersShape.push_back(draw.in(1, options.maxExtent));
  Shape parallel = numbersShape;
  std::vector<Term> terms(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    if (d != dim) {
      terms[d].iterators = {{parallel.size(), 1}};
      parallel.push_back(shape[d]);
    }
  if (product(parallel) > options.maxElements)
    return elementwise();
  Nest nest = nestWith(parallel, {});
  Access source = access(table, terms, parallel.size());
  source.gatherDim = int32_t(dim);
  source.gatherIndices = 1;
  std::vector<double> numbers;
  for (int64_t i = product(numbersShape); i > 0; --i)
    numbers.push_back(double(draw.in(-2, shape[dim] + 1)));
  const TensorId indices = draw.oneIn(2) ? net.input(name("numbers"), ElementType::I32, numbersShape)
                                         : net.constant(name("numbers"), ElementType::I32, numbersShape, numbers);
  std::vector<size_t> iterators(numbersShape.size());
  std::iota(iterators.begin(), iterators.end(), 0);
  nest.operands = {source, plain(indices, iterators, parallel.size())};
  finish(std::move(nest), false);
}

void LayerDrawer::state(TensorId read) {
  const Shape shape = shapeOf(read);
  const ElementType type = typeOf(read);
  Nest nest = nestWith(shape, {});
  nest.name = name("nest");
  std::vector<size_t> iterators(shape.size());
  std::iota(iterators.begin(), iterators.end(), 0);
  nest.operands = {plain(read, iterators, shape.size()), broadcast(shape, shape.size(), type)};
  const BodyValue step = converted(nest, 1, type);
  nest.body.push_back(bodyOp(Opcode::Add, type, BodyValue::operand(0), step));
  nest.resultValue = BodyValue::operation(int32_t(nest.body.size()) - 1);
  nest.values = {nest.resultValue};
  nest.result = net.value(name("after"), type, shape);
  net.network.states.push_back({name("state"), type, shape, {}, read, nest.result});
  net.add(std::move(nest));
}

} // namespace wsc::test
