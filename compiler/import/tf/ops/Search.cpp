// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places in sorted sequences, counts of values, segments by number, and operators whose result's extent depends on
// values, which are therefore known while importing: Where, Unique, ListDiff, DynamicPartition.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "compiler/import/common/Scatter.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"
#include <algorithm>
#include <map>

namespace wsc::import::tf {
namespace {

using Extents = llvm::SmallVector<int64_t>;

/// sorted [rows, n], values [rows, m]: how many of a row's numbers are less, or with `upper` no greater.
template <bool upper> void bound(NodeContext &node) {
  mlir::Type element = node.typeAttribute("out_type", wsc::tf::DT_INT32);
  Expression sorted = node.in(0), values = node.in(1);
  if (node.failed())
    return;
  if (sorted.rank() != 2 || values.rank() != 2 || sorted.shape()[0] != values.shape()[0])
    return node.fail(absl::StrCat("sequences ", nn::formatShape(sorted.shape()), " and values ",
                                  nn::formatShape(values.shape()), " are no matrices with the same rows"));
  Expression row = sorted.unsqueeze(1), value = values.unsqueeze(2);
  Expression isBefore = upper ? lessEqual(row, value) : less(row, value);
  node.setResult(sumOver(isBefore.cast(node.i32()), {2}, /*keepdims=*/false).cast(element));
}

/// How many boundaries lie at or below each number.
void bucketize(NodeContext &node) {
  const std::vector<double> boundaries = node.floatsAttribute("boundaries");
  Expression x = node.in(0);
  if (node.failed())
    return;
  mlir::Type element = x.isFloat() ? x.elementType() : node.layers.builder().getF32Type();
  x = x.cast(element);
  Expression count = x.filled(0).cast(node.i32());
  if (!boundaries.empty()) {
    Expression steps =
        constant(node.layers, {static_cast<int64_t>(boundaries.size())}, llvm::ArrayRef<double>(boundaries), element);
    count = sumOver(lessEqual(steps, x.unsqueeze(x.rank())).cast(node.i32()), {x.rank()}, /*keepdims=*/false);
  }
  node.setResult(count);
}

/// values, size, weights: how often each number below `size` occurs, or the weights of its places added up.
template <bool isDense> void bincount(NodeContext &node) {
  const bool isBinary = isDense && node.boolAttribute("binary_output", false);
  Expression x = node.in(0), weights = node.in(2);
  const int64_t size = node.constantInt(1, "the size");
  if (node.failed())
    return;
  if (size < 0 || size > maxConstantElements || x.isFloat())
    return node.fail(absl::StrCat("the size ", size, " is outside [0, ", maxConstantElements, "]"));
  if (!isDense || x.rank() == 0)
    x = x.reshape({x.size()});
  if (x.rank() > 2 || (weights.size() > 0 && weights.size() != x.size()))
    return node.fail(
        absl::StrCat("weights ", nn::formatShape(weights.shape()), " do not fit ", nn::formatShape(x.shape())));
  Expression isHit =
      equal(x.unsqueeze(x.rank()), numbersAlong(node.layers, size, x.rank(), x.rank() + 1, x.elementType()));
  Expression share = isHit.cast(weights.elementType());
  if (weights.size() > 0 && !isBinary)
    share = select(isHit, weights.reshape(x.shape()).unsqueeze(x.rank()), 0);
  Expression count = isBinary ? reduceAny(nn::ReduceKind::Max, share, {x.rank() - 1}, /*keepdims=*/false)
                              : sumOver(share, {x.rank() - 1}, /*keepdims=*/false);
  node.setResult(count);
}

/// indices, shape, values, default
void sparseToDense(NodeContext &node) {
  node.ignoreAttributes({"validate_indices"});
  Expression indices = node.in(0), values = node.in(2), filler = node.in(3);
  std::vector<int64_t> shape = node.constantInts(1, "the shape");
  if (node.failed())
    return;
  if (indices.rank() == 0)
    indices = indices.reshape({1, 1});
  if (indices.rank() == 1)
    indices = indices.unsqueeze(1);
  for (int64_t extent : shape)
    if (extent < 0)
      return node.fail(absl::StrCat("the shape ", nn::formatShape(shape), " has a negative extent"));
  if (indices.rank() != 2 || indices.shape()[1] != static_cast<int64_t>(shape.size()) || values.rank() > 1)
    return node.fail(absl::StrCat("indices ", nn::formatShape(indices.shape()), " and values ",
                                  nn::formatShape(values.shape()), " do not fit ", nn::formatShape(shape)));
  node.setResult(scatterSlices(filler.broadcast(shape), indices, values.broadcast({indices.shape()[0]}), "none"));
}

/// The n-th least element of the last axis.
void orderStatistic(NodeContext &node) {
  const int64_t k = node.intAttribute("k", 1);
  Expression x = node.in(0);
  if (node.failed())
    return;
  const int64_t axis = x.rank() - 1, extent = x.rank() > 0 ? x.shape()[axis] : 0;
  if (k < 1 || k > extent)
    return node.fail(absl::StrCat("k = ", k, " is outside [1, ", extent, "], the extent of the last axis"));
  node.setResult(sortedAlong(x, axis, k, /*largest=*/false).values.slice(axis, k - 1, 1).squeeze(axis));
}

/// log Σ e^x over the elements up to each, as sums of differences from the greatest so far; before the first element
/// stands the least number of the type.
void cumulativeLogSumExp(NodeContext &node) {
  const bool exclusive = node.boolAttribute("exclusive", false), reverse = node.boolAttribute("reverse", false);
  Expression x = node.in(0);
  const int64_t axis = node.normalizedAxis(node.constantInt(1, "the axis"), x.rank());
  if (node.failed())
    return;
  const int64_t extent = x.shape()[axis];
  Expression least = x.number(-3.4028234663852886e38);
  Expression terms = x.unsqueeze(axis);
  // [..., places, terms, ...]: term t counts at place p.
  Expression place = numbersAlong(node.layers, extent, axis, x.rank() + 1, node.i32()),
             term = numbersAlong(node.layers, extent, axis + 1, x.rank() + 1, node.i32());
  if (reverse)
    std::swap(place, term);
  Expression counts = exclusive ? less(term, place) : lessEqual(term, place);
  Expression masked = select(counts, terms, least), greatest = maxOver(masked, {axis + 1});
  Expression sum = sumOver(select(counts, exp(terms - greatest), 0), {axis + 1});
  Expression isEmpty = lessEqual(sum, 0);
  node.setResult(select(isEmpty, least, log(select(isEmpty, 1, sum)) + greatest).squeeze(axis + 1));
}

constexpr int64_t mostGroups = 65536;

/// The places of each number below `count`; others have none.
std::vector<std::vector<int64_t>> placesByNumber(llvm::ArrayRef<int64_t> numbers, int64_t count) {
  std::vector<std::vector<int64_t>> places(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] >= 0 && numbers[i] < count)
      places[static_cast<size_t>(numbers[i])].push_back(static_cast<int64_t>(i));
  return places;
}

/// Rows with the same number reduced; the numbers are known and say how many segments there are. A segment without rows
/// is 0, of a product 1. The V2 operators give the neutral number of minimum and maximum.
template <nn::ReduceKind kind> void segments(NodeContext &node) {
  Expression x = node.in(0);
  std::vector<int64_t> ids = node.constantInts(1, "the segment numbers");
  int64_t count = 0;
  for (int64_t id : ids)
    count = std::max(count, std::min(id, mostGroups) + 1);
  if (node.inputCount() > 2)
    count = node.constantInt(2, "num_segments");
  if (node.failed())
    return;
  if (x.rank() < 1 || x.shape()[0] != static_cast<int64_t>(ids.size()) || count < 0 || count > mostGroups)
    return node.fail(
        absl::StrCat(ids.size(), " segment numbers for ", count, " segments do not fit ", nn::formatShape(x.shape())));
  std::vector<Expression> parts;
  for (const std::vector<int64_t> &rows : placesByNumber(ids, count)) {
    if (node.failed())
      return;
    Extents shape(x.shape());
    shape[0] = 1;
    const bool isV2 = node.inputCount() > 2;
    Expression nothing = isV2 && kind == nn::ReduceKind::Max   ? lowest(node.layers, x.elementType())
                         : isV2 && kind == nn::ReduceKind::Min ? highest(node.layers, x.elementType())
                                                               : x.number(kind == nn::ReduceKind::Prod ? 1 : 0);
    parts.push_back(rows.empty() ? nothing.broadcast(shape) : reduce(kind, picked(x, 0, rows), {0}));
  }
  if (!node.failed())
    node.setResult(parts.empty() ? x.slice(0, 0, 0) : parts.size() == 1 ? parts[0] : concat(parts, 0));
}

/// Elements of a known tensor as numbers.
std::vector<double> numbersOf(const Literal &literal) {
  return literal.isFloat() ? literal.floats : std::vector<double>(literal.ints.begin(), literal.ints.end());
}

/// The places of what is not 0, in row-major order.
void where(NodeContext &node) {
  auto x = node.known(0, "what Where looks at");
  if (node.failed())
    return;
  const std::vector<double> values = numbersOf(*x);
  const llvm::ArrayRef<int64_t> shape = x->type.getShape();
  std::vector<int64_t> places;
  int64_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0)
      continue;
    ++count;
    auto rest = static_cast<int64_t>(i);
    std::vector<int64_t> place(shape.size());
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      place[d] = rest % shape[d];
    places.insert(places.end(), place.begin(), place.end());
  }
  node.setResult(constant(node.layers, {count, static_cast<int64_t>(shape.size())}, places));
}

/// Distinct elements in the order of their first place, and for each element its number among them.
void unique(NodeContext &node) {
  mlir::Type element = node.typeAttribute("out_idx", wsc::tf::DT_INT32);
  auto x = node.known(0, "what Unique looks at");
  if (node.failed())
    return;
  if (x->type.getRank() != 1)
    return node.unsupported("tensors of other ranks than 1 are not supported");
  const std::vector<double> values = numbersOf(*x);
  std::map<double, int64_t> seen;
  std::vector<int64_t> first, number, counts;
  for (size_t i = 0; i < values.size(); ++i) {
    auto [at, isNew] = seen.emplace(values[i], static_cast<int64_t>(first.size()));
    if (isNew) {
      first.push_back(static_cast<int64_t>(i));
      counts.push_back(0);
    }
    number.push_back(at->second);
    ++counts[at->second];
  }
  node.setResult(0, picked(node.in(0), 0, first));
  node.setResult(1, node.integers(number, element));
  node.setResult(2, node.integers(counts, element));
}

/// Elements of the first tensor that the second does not have, and their places.
void listDiff(NodeContext &node) {
  mlir::Type element = node.typeAttribute("out_idx", wsc::tf::DT_INT32);
  auto x = node.known(0, "the list"), y = node.known(1, "what is taken away");
  if (node.failed())
    return;
  const std::vector<double> values = numbersOf(*x), others = numbersOf(*y);
  std::vector<int64_t> kept;
  for (size_t i = 0; i < values.size(); ++i)
    if (!llvm::is_contained(others, values[i]))
      kept.push_back(static_cast<int64_t>(i));
  node.setResult(0, picked(node.in(0).reshape({x->size()}), 0, kept));
  node.setResult(1, node.integers(kept, element));
}

/// Rows by the number of the part that each belongs to.
void dynamicPartition(NodeContext &node) {
  const int64_t parts = node.intAttribute("num_partitions", 1);
  Expression x = node.in(0);
  auto numbers = node.known(1, "the partitions");
  if (node.failed())
    return;
  const int64_t rank = numbers->type.getRank();
  if (numbers->isFloat() || rank > x.rank() || numbers->type.getShape() != x.shape().take_front(rank) || parts < 1 ||
      parts > mostGroups)
    return node.fail(absl::StrCat("partitions ", nn::formatShape(numbers->type.getShape()), " do not fit ",
                                  nn::formatShape(x.shape())));
  for (int64_t number : numbers->ints)
    if (number < 0 || number >= parts)
      return node.fail(absl::StrCat("partition ", number, " is outside [0, ", parts, ")"));
  Extents shape{numbers->size()};
  shape.append(x.shape().begin() + rank, x.shape().end());
  Expression rows = x.reshape(shape);
  const auto places = placesByNumber(numbers->ints, parts);
  for (size_t part = 0; part < places.size() && !node.failed(); ++part)
    node.setResult(part, picked(rows, 0, places[part]));
}

} // namespace

static const Operator table[] = {
    {"LowerBound", 2, 2, bound<false>},
    {"UpperBound", 2, 2, bound<true>},
    {"Bucketize", 1, 1, bucketize},
    {"Bincount", 3, 3, bincount<false>},
    {"DenseBincount", 3, 3, bincount<true>},
    {"SparseToDense", 4, 4, sparseToDense},
    {"KthOrderStatistic", 1, 1, orderStatistic},
    {"CumulativeLogsumexp", 2, 2, cumulativeLogSumExp},
    {"SegmentMax", 2, 2, segments<nn::ReduceKind::Max>},
    {"SegmentMin", 2, 2, segments<nn::ReduceKind::Min>},
    {"SegmentProd", 2, 2, segments<nn::ReduceKind::Prod>},
    {"SegmentMean", 2, 2, segments<nn::ReduceKind::Mean>},
    {"SegmentSumV2", 3, 3, segments<nn::ReduceKind::Sum>},
    {"SegmentMaxV2", 3, 3, segments<nn::ReduceKind::Max>},
    {"SegmentMinV2", 3, 3, segments<nn::ReduceKind::Min>},
    {"SegmentProdV2", 3, 3, segments<nn::ReduceKind::Prod>},
    {"Where", 1, 1, where},
    {"Unique", 1, 1, unique, "y,idx"},
    {"UniqueV2", 2, 2, unique, "y,idx"},
    {"UniqueWithCounts", 1, 1, unique, "y,idx,count"},
    {"ListDiff", 2, 2, listDiff, "out,idx"},
    {"DynamicPartition", 2, 2, dynamicPartition},
};
llvm::ArrayRef<Operator> searchOperators() { return table; }

} // namespace wsc::import::tf
