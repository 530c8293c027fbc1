// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements by index and elements at indices: gathers, scatters, slices with strides, one-hot, segments. TensorFlow's
// indices are not negative.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "compiler/import/common/Scatter.h"
#include "compiler/import/tf/Registry.h"
#include "compiler/import/tf/ops/StridedSlice.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

using Extents = llvm::SmallVector<int64_t>;

/// nn's indices are i32 or i64.
Expression asIndex(NodeContext &node, const Expression &indices) {
  return indices && indices.elementType().getIntOrFloatBitWidth() < 32 ? indices.cast(node.i32()) : indices;
}

void gatherAlong(NodeContext &node, Expression x, int64_t axis, int64_t batch) {
  Expression indices = asIndex(node, node.in(1));
  axis = node.normalizedAxis(axis, x.rank());
  batch = batch < 0 ? batch + indices.rank() : batch;
  if (node.failed())
    return;
  if (batch < 0 || batch > indices.rank() || batch > axis ||
      x.shape().take_front(batch) != indices.shape().take_front(batch))
    return node.fail(absl::StrCat("batch_dims ", batch, " and axis ", axis, " do not fit ", nn::formatShape(x.shape()),
                                  " and indices ", nn::formatShape(indices.shape())));
  Extents result(x.shape().take_front(axis));
  result.append(indices.shape().begin() + batch, indices.shape().end());
  result.append(x.shape().begin() + axis + 1, x.shape().end());
  const int64_t extent = x.shape()[axis];
  if (batch == 0) {
    auto known = node.layers.literal(indices);
    if (!known || known->isFloat())
      return node.setResult(gather(x, indices, axis));
    for (int64_t index : known->ints)
      if (index < 0 || index >= extent)
        return node.fail(absl::StrCat("index ", index, " is outside [0, ", extent, ")"));
    return node.setResult(picked(x, axis, known->ints).reshape(result));
  }
  // [batch, outer, extent, inner] by [batch, places]: flat numbers batch · extent + index of [batch · extent, outer,
  // inner].
  const int64_t batches = productOf(x.shape().take_front(batch)),
                places = indices.size() / std::max<int64_t>(batches, 1);
  const int64_t outer = productOf(x.shape().slice(batch, axis - batch)),
                inner = productOf(x.shape().drop_front(axis + 1));
  Expression rows =
      x.reshape({batches, outer, extent, inner}).transpose({0, 2, 1, 3}).reshape({batches * extent, outer, inner});
  Expression flat = indices.reshape({batches, places}) +
                    numbersAlong(node.layers, batches, 0, 2, indices.elementType()) * static_cast<double>(extent);
  node.setResult(gather(rows, flat, 0).transpose({0, 2, 1, 3}).reshape(result));
}

void gatherOf(NodeContext &node) {
  node.ignoreAttributes({"validate_indices"});
  gatherAlong(node, node.in(0), 0, 0);
}
void gatherV2(NodeContext &node) {
  int64_t batch = node.intAttribute("batch_dims", 0), axis = node.constantInt(2, "the axis");
  if (!node.failed())
    gatherAlong(node, node.in(0), axis, batch);
}
void resourceGather(NodeContext &node) {
  node.ignoreAttributes({"validate_indices"});
  int64_t batch = node.intAttribute("batch_dims", 0);
  gatherAlong(node, node.in(0), batch, batch);
}

/// Each last dimension of the indices holds numbers along the first dimensions of x.
void gatherNd(NodeContext &node) {
  Expression x = node.in(0), indices = asIndex(node, node.in(1));
  if (node.failed())
    return;
  const int64_t depth = indices.rank() > 0 ? indices.shape().back() : 0, last = indices.rank() - 1;
  if (indices.rank() < 1 || depth > x.rank())
    return node.fail(
        absl::StrCat("indices ", nn::formatShape(indices.shape()), " do not fit ", nn::formatShape(x.shape())));
  Extents places(indices.shape().drop_back(1)), flatShape{productOf(x.shape().take_front(depth))};
  Expression flat = indices.number(0).broadcast(places);
  for (int64_t d = 0; d < depth; ++d)
    flat = flat * static_cast<double>(x.shape()[d]) + indices.slice(last, d, 1).squeeze(last);
  flatShape.append(x.shape().begin() + depth, x.shape().end());
  node.setResult(gather(x.reshape(flatShape), flat, 0));
}

bool fitsScatter(NodeContext &node, llvm::ArrayRef<int64_t> shape, const Expression &indices,
                 const Expression &updates) {
  const int64_t depth = indices.rank() > 0 ? indices.shape().back() : 0;
  bool fits = indices.rank() > 0 && depth <= static_cast<int64_t>(shape.size());
  if (fits) {
    Extents expected(indices.shape().drop_back(1));
    expected.append(shape.begin() + depth, shape.end());
    fits = updates.shape() == llvm::ArrayRef<int64_t>(expected);
  }
  if (!fits)
    node.fail(absl::StrCat("indices ", nn::formatShape(indices.shape()), " and updates ",
                           nn::formatShape(updates.shape()), " do not fit ", nn::formatShape(shape)));
  return fits;
}

/// Updates added up in a tensor of zeros.
void scatterNd(NodeContext &node) {
  node.ignoreAttributes({"bad_indices_policy"});
  Expression indices = asIndex(node, node.in(0)), updates = node.in(1);
  std::vector<int64_t> shape = node.constantInts(2, "the shape");
  if (node.failed() || !fitsScatter(node, shape, indices, updates))
    return;
  node.setResult(scatterSlices(updates.number(0).broadcast(shape), indices, updates, "add"));
}

void scatterInto(NodeContext &node, const char *reduction, bool negated = false) {
  node.ignoreAttributes({"bad_indices_policy"});
  Expression x = node.in(0), indices = asIndex(node, node.in(1)), updates = node.in(2);
  if (node.failed() || !fitsScatter(node, x.shape(), indices, updates))
    return;
  node.setResult(scatterSlices(x, indices, negated ? -updates : updates, reduction));
}

/// on where the number along the new axis is the index, off elsewhere; no place is on for an index outside.
void oneHot(NodeContext &node) {
  Expression indices = node.in(0), on = node.in(2), off = node.in(3);
  int64_t depth = node.constantInt(1, "depth");
  int64_t axis = node.intAttribute("axis", -1);
  if (node.machine.likeTensorFlowJs())
    axis = -1;
  axis = node.normalizedAxis(axis, indices.rank() + 1);
  if (node.failed())
    return;
  if (depth < 0 || depth > maxConstantElements)
    return node.fail(absl::StrCat("depth ", depth, " is outside [0, ", maxConstantElements, "]"));
  Expression isOn =
      equal(indices.unsqueeze(axis), numbersAlong(node.layers, depth, axis, indices.rank() + 1, indices.elementType()));
  node.setResult(select(isOn, on, off));
}

/// Sums of the rows of each segment. Rows with a negative number take no part.
void segmentSum(NodeContext &node) {
  Expression x = node.in(0), ids = node.in(1);
  int64_t segments = 0;
  if (node.inputCount() > 2) {
    segments = node.constantInt(2, "num_segments");
  } else if (auto known = node.known(1, "the segment numbers"); known && !known->isFloat()) {
    for (int64_t id : known->ints)
      segments = std::max(segments, id + 1);
  }
  if (node.failed())
    return;
  if (segments < 0 || segments > maxConstantElements || ids.rank() > x.rank() ||
      x.shape().take_front(ids.rank()) != ids.shape())
    return node.fail(absl::StrCat("segment numbers ", nn::formatShape(ids.shape()), " (", segments,
                                  " segments) do not fit ", nn::formatShape(x.shape())));
  const int64_t rows = ids.size(), inner = productOf(x.shape().drop_front(ids.rank()));
  Expression isIn =
      equal(countingUp(node.layers, segments, ids.elementType()).reshape({segments, 1}), ids.reshape({1, rows}));
  Extents result{segments};
  result.append(x.shape().begin() + ids.rank(), x.shape().end());
  node.setResult(matmul(isIn.cast(x.elementType()), x.reshape({rows, inner})).reshape(result));
}

/// The same with a product, minimum or maximum, which of no rows is the element type's neutral number.
template <nn::ReduceKind kind> void segmentReduce(NodeContext &node) {
  Expression x = node.in(0), ids = node.in(1);
  const int64_t segments = node.constantInt(2, "num_segments");
  if (node.failed())
    return;
  if (segments < 0 || segments > maxConstantElements || ids.rank() > x.rank() ||
      x.shape().take_front(ids.rank()) != ids.shape())
    return node.fail(absl::StrCat("segment numbers ", nn::formatShape(ids.shape()), " (", segments,
                                  " segments) do not fit ", nn::formatShape(x.shape())));
  const int64_t rows = ids.size(), inner = productOf(x.shape().drop_front(ids.rank()));
  Expression isIn =
      equal(countingUp(node.layers, segments, ids.elementType()).reshape({segments, 1, 1}), ids.reshape({1, rows, 1}));
  Expression neutral = kind == nn::ReduceKind::Prod  ? x.number(1)
                       : kind == nn::ReduceKind::Min ? highest(node.layers, x.elementType())
                                                     : lowest(node.layers, x.elementType());
  Extents result{segments};
  result.append(x.shape().begin() + ids.rank(), x.shape().end());
  node.setResult(
      reduceAny(kind, select(isIn, x.reshape({1, rows, inner}), neutral), {1}, /*keepdims=*/false).reshape(result));
}

/// Of each sequence the first `length` steps in reverse, the others as they are.
void reverseSequence(NodeContext &node) {
  Expression x = node.in(0), lengths = node.in(1);
  int64_t time = node.normalizedAxis(node.intAttribute("seq_dim", 0), x.rank());
  int64_t batch = node.normalizedAxis(node.intAttribute("batch_dim", 0), x.rank());
  if (node.failed())
    return;
  if (time == batch || lengths.rank() != 1 || lengths.size() != x.shape()[batch])
    return node.fail(absl::StrCat("seq_dim ", time, ", batch_dim ", batch, " and lengths ",
                                  nn::formatShape(lengths.shape()), " do not fit ", nn::formatShape(x.shape())));
  const int64_t steps = x.shape()[time], count = x.shape()[batch];
  Extents order{time, batch}, back(x.rank());
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != time && d != batch)
      order.push_back(d);
  for (int64_t d = 0; d < x.rank(); ++d)
    back[order[d]] = d;
  Expression moved = x.transpose(order);
  Expression step = numbersAlong(node.layers, steps, 0, 2, lengths.elementType()), length = lengths.unsqueeze(0);
  Expression source = select(less(step, length), length - step - 1, step);
  Expression flat = source * static_cast<double>(count) + numbersAlong(node.layers, count, 1, 2, lengths.elementType());
  Extents joined{steps * count}, shape(moved.shape());
  joined.append(moved.shape().begin() + 2, moved.shape().end());
  node.setResult(gather(moved.reshape(joined), asIndex(node, flat), 0).reshape(shape).transpose(back));
}

/// Places of the result by known numbers; the last tensor that names a place gives it.
void dynamicStitch(NodeContext &node) {
  const size_t count = node.inputCount() / 2;
  std::vector<Expression> rows;
  std::vector<int64_t> source;
  int64_t at = 0;
  for (size_t i = 0; i < count && !node.failed(); ++i) {
    auto indices = node.known(i, "the indices");
    Expression data = node.in(count + i);
    if (node.failed())
      return;
    if (indices->isFloat())
      return node.fail("the indices are not whole numbers");
    const auto places = indices->type.getShape();
    if (data.shape().take_front(places.size()) != places)
      return node.fail(absl::StrCat("data ", nn::formatShape(data.shape()), " does not begin with the shape ",
                                    nn::formatShape(places), " of its indices"));
    Extents shape{indices->size()};
    shape.append(data.shape().begin() + places.size(), data.shape().end());
    rows.push_back(data.reshape(shape));
    for (int64_t k = 0; k < indices->size(); ++k) {
      const int64_t place = indices->ints[k];
      if (place < 0 || place > maxConstantElements)
        return node.fail(absl::StrCat("index ", place, " is outside [0, ", maxConstantElements, "]"));
      if (static_cast<int64_t>(source.size()) <= place)
        source.resize(place + 1, -1);
      source[place] = at++;
    }
  }
  if (node.failed() || llvm::is_contained(source, -1))
    return node.unsupported("leaves places of its result without a value, which is not supported");
  node.setResult(picked(concat(rows, 0), 0, source));
}

void stridedSlice(NodeContext &node) {
  Tensor x = node.input(0);
  StridedBox box = readStridedBox(node, x.shape(), 1);
  if (!node.failed())
    node.setResult(Expression(node.layers, node.layers.slice(x, box.starts, box.sizes, box.steps)).reshape(box.shape));
}

/// The gradient's elements at the places that the slice took, zeros elsewhere.
void stridedSliceGrad(NodeContext &node) {
  std::vector<int64_t> shape = node.constantInts(0, "the shape");
  for (int64_t extent : shape)
    if (extent < 0 || extent >= (int64_t{1} << 31))
      return node.fail(absl::StrCat("the shape ", nn::formatShape(shape), " has an extent outside [0, 2^31)"));
  StridedBox box = readStridedBox(node, shape, 1);
  Expression dy = node.in(4);
  if (node.failed())
    return;
  if (dy.shape() != llvm::ArrayRef<int64_t>(box.shape))
    return node.fail(
        absl::StrCat("the gradient ", nn::formatShape(dy.shape()), " is not the slice's ", nn::formatShape(box.shape)));
  Expression x = dy.reshape(box.sizes);
  for (int64_t d = 0; d < x.rank() && !node.failed(); ++d) {
    int64_t start = box.starts[d], step = box.steps[d];
    const int64_t size = box.sizes[d];
    if (step < 0) {
      x = x.reverse(d);
      start += (size - 1) * step;
      step = -step;
    }
    if (step > 1 && size > 0 && !node.failed()) { // zeros between neighbours
      Extents wide(x.shape());
      wide[d] *= step;
      x = x.unsqueeze(d + 1).pad(d + 1, 0, step - 1).reshape(wide).slice(d, 0, wide[d] - step + 1);
    }
    if (node.failed())
      return;
    x = x.pad(d, start, shape[d] - start - x.shape()[d]);
  }
  node.setResult(x);
}

} // namespace

static const Operator table[] = {
    {"Gather", 2, 2, gatherOf},
    {"GatherV2", 3, 3, gatherV2},
    {"ResourceGather", 2, 2, resourceGather},
    {"GatherNd", 2, 2, gatherNd},
    {"ScatterNd", 3, 3, scatterNd},
    {"TensorScatterUpdate", 3, 3, [](NodeContext &node) { scatterInto(node, "none"); }},
    {"TensorScatterAdd", 3, 3, [](NodeContext &node) { scatterInto(node, "add"); }},
    {"TensorScatterSub", 3, 3, [](NodeContext &node) { scatterInto(node, "add", true); }},
    {"TensorScatterMin", 3, 3, [](NodeContext &node) { scatterInto(node, "min"); }},
    {"TensorScatterMax", 3, 3, [](NodeContext &node) { scatterInto(node, "max"); }},
    {"OneHot", 4, 4, oneHot},
    {"SegmentSum", 2, 2, segmentSum},
    {"UnsortedSegmentSum", 3, 3, segmentSum},
    {"UnsortedSegmentProd", 3, 3, segmentReduce<nn::ReduceKind::Prod>},
    {"UnsortedSegmentMin", 3, 3, segmentReduce<nn::ReduceKind::Min>},
    {"UnsortedSegmentMax", 3, 3, segmentReduce<nn::ReduceKind::Max>},
    {"ReverseSequence", 2, 2, reverseSequence},
    {"DynamicStitch", 2, anyInputs, dynamicStitch},
    {"ParallelDynamicStitch", 2, anyInputs, dynamicStitch},
    {"StridedSlice", 4, 4, stridedSlice},
    {"StridedSliceGrad", 5, 5, stridedSliceGrad},
};
llvm::ArrayRef<Operator> gatherOperators() { return table; }

} // namespace wsc::import::tf
