// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that take tensors apart and put them together.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"
#include <algorithm>

namespace wsc::import::tf {
namespace {

using Extents = llvm::SmallVector<int64_t>;

void transpose(NodeContext &node) {
  Expression x = node.in(0);
  std::vector<int64_t> permutation = node.normalizedAxes(node.constantInts(1, "the permutation"), x.rank());
  if (node.failed())
    return;
  if (static_cast<int64_t>(permutation.size()) != x.rank())
    return node.fail(
        absl::StrCat("permutation ", nn::formatShape(permutation), " does not fit ", nn::formatShape(x.shape())));
  node.setResult(x.transpose(permutation));
}

/// Inputs [first, last) one after another.
void join(NodeContext &node, size_t first, size_t last, size_t axisInput) {
  std::vector<Expression> parts;
  for (size_t i = first; i < last; ++i)
    parts.push_back(node.in(i));
  int64_t axis = node.normalizedAxis(node.constantInt(axisInput, "the axis"), parts.empty() ? 0 : parts[0].rank());
  if (node.failed())
    return;
  node.setResult(parts.size() == 1 ? parts[0] : concat(parts, axis));
}
void concatV2(NodeContext &node) { join(node, 0, node.inputCount() - 1, node.inputCount() - 1); }
void concatOf(NodeContext &node) { join(node, 1, node.inputCount(), 0); }

void parallelConcat(NodeContext &node) {
  node.ignoreAttributes({"shape"});
  std::vector<Expression> parts;
  for (size_t i = 0; i < node.inputCount(); ++i)
    parts.push_back(node.in(i));
  if (!node.failed())
    node.setResult(parts.size() == 1 ? parts[0] : concat(parts, 0));
}

void pack(NodeContext &node) {
  int64_t axis = node.intAttribute("axis", 0);
  std::vector<Expression> parts;
  for (size_t i = 0; i < node.inputCount(); ++i)
    parts.push_back(node.in(i));
  axis = node.normalizedAxis(axis, parts[0].rank() + 1);
  if (node.failed())
    return;
  for (Expression &part : parts) {
    if (part.shape() != node.in(0).shape())
      return node.fail(
          absl::StrCat("packs shapes ", nn::formatShape(node.in(0).shape()), " and ", nn::formatShape(part.shape())));
    part = part.unsqueeze(axis);
  }
  node.setResult(parts.size() == 1 ? parts[0] : concat(parts, axis));
}

constexpr int64_t mostParts = 65536;

void unpack(NodeContext &node) {
  Expression x = node.in(0);
  int64_t axis = node.normalizedAxis(node.intAttribute("axis", 0), x.rank());
  int64_t count = node.intAttribute("num", node.failed() ? 0 : x.shape()[axis]);
  if (node.failed())
    return;
  if (count != x.shape()[axis])
    return node.fail(absl::StrCat("num = ", count, " is not the extent ", x.shape()[axis], " of axis ", axis));
  if (count > mostParts)
    return node.fail(absl::StrCat("takes ", count, " parts; at most ", mostParts, " are possible"));
  for (int64_t i = 0; i < count && !node.failed(); ++i)
    node.setResult(static_cast<size_t>(i), x.slice(axis, i, 1).squeeze(axis));
}

void splitInto(NodeContext &node, const Expression &x, int64_t axis, llvm::ArrayRef<int64_t> sizes) {
  int64_t start = 0;
  for (size_t i = 0; i < sizes.size() && !node.failed(); ++i) {
    node.setResult(i, x.slice(axis, start, sizes[i]));
    start += sizes[i];
  }
}

void split(NodeContext &node) {
  Expression x = node.in(1);
  int64_t axis = node.normalizedAxis(node.constantInt(0, "the axis"), x.rank());
  int64_t count = node.intAttribute("num_split", 1);
  if (node.failed())
    return;
  if (count < 1 || count > mostParts || x.shape()[axis] % count != 0)
    return node.fail(absl::StrCat("extent ", x.shape()[axis], " does not split into ", count, " equal parts; at most ",
                                  mostParts, " are possible"));
  splitInto(node, x, axis, Extents(count, x.shape()[axis] / count));
}

/// One of the sizes may be -1: what the others leave.
void splitV(NodeContext &node) {
  Expression x = node.in(0);
  std::vector<int64_t> sizes = node.constantInts(1, "the sizes");
  int64_t axis = node.normalizedAxis(node.constantInt(2, "the axis"), x.rank());
  node.ignoreAttributes({"num_split"});
  if (node.failed())
    return;
  int64_t sum = 0, unknown = -1;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == -1 && unknown < 0)
      unknown = static_cast<int64_t>(i);
    else if (sizes[i] < 0 || __builtin_add_overflow(sum, sizes[i], &sum))
      return node.fail(absl::StrCat("sizes ", nn::formatShape(sizes), " are not valid"));
  if (unknown >= 0 && sum <= x.shape()[axis])
    sizes[unknown] = x.shape()[axis] - sum;
  else if (sum != x.shape()[axis])
    return node.fail(absl::StrCat("sizes ", nn::formatShape(sizes), " do not divide extent ", x.shape()[axis]));
  splitInto(node, x, axis, sizes);
}

void slice(NodeContext &node) {
  Tensor x = node.input(0);
  std::vector<int64_t> begin = node.constantInts(1, "begin"), size = node.constantInts(2, "size");
  if (node.failed())
    return;
  if (static_cast<int64_t>(begin.size()) != x.rank() || begin.size() != size.size())
    return node.fail(absl::StrCat("begin ", nn::formatShape(begin), " and size ", nn::formatShape(size), " do not fit ",
                                  nn::formatShape(x.shape())));
  for (size_t d = 0; d < size.size(); ++d) {
    if (size[d] == -1 && begin[d] >= 0)
      size[d] = x.shape()[d] - begin[d];
    if (begin[d] < 0 || size[d] < 0 || begin[d] > x.shape()[d] - size[d])
      return node.fail(absl::StrCat("begin ", nn::formatShape(begin), " and size ", nn::formatShape(size),
                                    " are not inside ", nn::formatShape(x.shape())));
  }
  node.setResult(Value(node.layers.slice(x, begin, size, Extents(size.size(), 1))));
}

void pad(NodeContext &node) {
  Expression x = node.in(0);
  auto pads = node.known(1, "the paddings");
  double value = node.inputCount() > 2 ? node.constantScalar(2, "the value") : 0;
  if (node.failed())
    return;
  if (pads->isFloat() || pads->size() != 2 * x.rank())
    return node.fail(
        absl::StrCat("paddings ", nn::formatShape(pads->type.getShape()), " do not fit ", nn::formatShape(x.shape())));
  Extents low, high;
  for (int64_t d = 0; d < x.rank(); ++d) {
    low.push_back(pads->ints[2 * d]);
    high.push_back(pads->ints[2 * d + 1]);
    if (low.back() < 0 || high.back() < 0)
      return node.fail(absl::StrCat("paddings of dimension ", d, " are negative: ", low.back(), " and ", high.back()));
  }
  node.setResult(Value(node.layers.pad(x, low, high, value)));
}

/// Elements around a tensor mirrored, the edge itself left out (REFLECT) or taken twice (SYMMETRIC).
void mirrorPad(NodeContext &node) {
  Expression x = node.in(0);
  std::string mode = node.stringAttribute("mode", "REFLECT");
  auto pads = node.known(1, "the paddings");
  if (node.failed())
    return;
  const int64_t skipped = mode == "REFLECT" ? 1 : 0;
  if ((mode != "REFLECT" && mode != "SYMMETRIC") || pads->isFloat() || pads->size() != 2 * x.rank())
    return node.fail(absl::StrCat("mode '", mode, "' or paddings ", nn::formatShape(pads->type.getShape()),
                                  " do not fit ", nn::formatShape(x.shape())));
  for (int64_t d = 0; d < x.rank(); ++d) {
    const int64_t low = pads->ints[2 * d], high = pads->ints[2 * d + 1], extent = x.shape()[d];
    if (low < 0 || high < 0 || std::max(low, high) > extent - skipped)
      return node.fail(absl::StrCat("paddings ", low, " and ", high, " of dimension ", d, " are outside [0, ",
                                    extent - skipped, "]"));
    std::vector<int64_t> numbers;
    for (int64_t i = low; i-- > 0;)
      numbers.push_back(i + skipped);
    for (int64_t i = 0; i < extent; ++i)
      numbers.push_back(i);
    for (int64_t i = 0; i < high; ++i)
      numbers.push_back(extent - 1 - skipped - i);
    if (low + high > 0)
      x = picked(x, d, numbers);
  }
  node.setResult(x);
}

void tile(NodeContext &node) {
  Expression x = node.in(0);
  std::vector<int64_t> multiples = node.constantInts(1, "the multiples");
  if (node.failed())
    return;
  if (static_cast<int64_t>(multiples.size()) != x.rank())
    return node.fail(
        absl::StrCat("multiples ", nn::formatShape(multiples), " do not fit ", nn::formatShape(x.shape())));
  Extents split, wide, joined;
  for (int64_t d = 0; d < x.rank(); ++d) {
    int64_t extent = 0;
    if (multiples[d] < 0 || __builtin_mul_overflow(multiples[d], x.shape()[d], &extent))
      return node.fail(absl::StrCat("multiples ", nn::formatShape(multiples), " are not valid"));
    split.append({1, x.shape()[d]});
    wide.append({multiples[d], x.shape()[d]});
    joined.push_back(extent);
  }
  node.setResult(x.reshape(split).broadcast(wide).reshape(joined));
}

void reverse(NodeContext &node) {
  Expression x = node.in(0);
  for (int64_t axis : node.normalizedAxes(node.constantInts(1, "the axes"), x.rank()))
    x = x.reverse(axis);
  node.setResult(x);
}

/// Elements move on by `shift`, round the end to the start.
void roll(NodeContext &node) {
  Expression x = node.in(0);
  std::vector<int64_t> shifts = node.constantInts(1, "the shifts"), axes = node.constantInts(2, "the axes");
  if (!node.failed() && shifts.size() != axes.size())
    return node.fail(absl::StrCat("has ", shifts.size(), " shifts and ", axes.size(), " axes"));
  for (size_t i = 0; i < axes.size() && !node.failed(); ++i) {
    const int64_t axis = node.normalizedAxis(axes[i], x.rank());
    if (node.failed() || x.shape()[axis] == 0)
      continue;
    const int64_t extent = x.shape()[axis], shift = ((shifts[i] % extent) + extent) % extent;
    if (shift != 0)
      x = concat({x.slice(axis, extent - shift, shift), x.slice(axis, 0, extent - shift)}, axis);
  }
  node.setResult(x);
}

/// Of the last two dimensions the elements from `lower` diagonals below to `upper` above; negative ones: all.
void bandPart(NodeContext &node) {
  Expression x = node.in(0);
  int64_t lower = node.constantInt(1, "num_lower"), upper = node.constantInt(2, "num_upper");
  if (node.failed())
    return;
  if (x.rank() < 2)
    return node.fail(absl::StrCat("needs matrices, found ", nn::formatShape(x.shape())));
  const int64_t rows = x.shape()[x.rank() - 2], columns = x.shape()[x.rank() - 1];
  Expression row = countingUp(node.layers, rows, node.i32()).reshape({rows, 1});
  Expression column = countingUp(node.layers, columns, node.i32());
  if (lower >= 0)
    x = select(lessEqual(row - static_cast<double>(std::min(lower, rows)), column), x, x.filled(0));
  if (upper >= 0)
    x = select(lessEqual(column, row + static_cast<double>(std::min(upper, columns))), x, x.filled(0));
  node.setResult(x);
}

/// Mirrored borders added back to the elements they were taken from.
void mirrorPadGrad(NodeContext &node) {
  Expression x = node.in(0);
  std::string mode = node.stringAttribute("mode", "REFLECT");
  auto pads = node.known(1, "the paddings");
  if (node.failed())
    return;
  const int64_t skipped = mode == "REFLECT" ? 1 : 0;
  if ((mode != "REFLECT" && mode != "SYMMETRIC") || pads->isFloat() || pads->size() != 2 * x.rank())
    return node.fail(absl::StrCat("mode '", mode, "' or paddings ", nn::formatShape(pads->type.getShape()),
                                  " do not fit ", nn::formatShape(x.shape())));
  for (int64_t d = 0; d < x.rank(); ++d) {
    const int64_t low = pads->ints[2 * d], high = pads->ints[2 * d + 1], extent = x.shape()[d];
    if (low < 0 || high < 0 || low > extent || high > extent - low ||
        std::max(low, high) > extent - low - high - skipped)
      return node.fail(
          absl::StrCat("paddings ", low, " and ", high, " of dimension ", d, " do not fit extent ", extent));
    const int64_t inner = extent - low - high;
    Expression sum = x.slice(d, low, inner);
    if (low > 0)
      sum = sum + x.slice(d, 0, low).reverse(d).pad(d, skipped, inner - low - skipped);
    if (high > 0)
      sum = sum + x.slice(d, low + inner, high).reverse(d).pad(d, inner - high - skipped, skipped);
    x = sum;
  }
  node.setResult(x);
}

/// Rows of x changed at the indices, which are known.
template <bool adds, bool negated = false> void inplace(NodeContext &node) {
  Expression x = node.in(0), rows = node.in(2);
  std::vector<int64_t> indices = node.constantInts(1, "the indices");
  if (node.failed())
    return;
  Extents expected(x.shape());
  if (!expected.empty())
    expected[0] = static_cast<int64_t>(indices.size());
  if (x.rank() < 1 || rows.shape() != llvm::ArrayRef<int64_t>(expected))
    return node.fail(absl::StrCat("rows ", nn::formatShape(rows.shape()), " at ", indices.size(),
                                  " indices do not fit ", nn::formatShape(x.shape())));
  const int64_t extent = x.shape()[0];
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t at = indices[i] < 0 ? indices[i] + extent : indices[i];
    if (at < 0 || at >= extent)
      return node.fail(absl::StrCat("index ", indices[i], " is outside [", -extent, ", ", extent, ")"));
    Expression row = rows.slice(0, static_cast<int64_t>(i), 1), old = x.slice(0, at, 1);
    std::vector<Expression> parts{adds ? (negated ? old - row : old + row) : row};
    if (at > 0)
      parts.insert(parts.begin(), x.slice(0, 0, at));
    if (at + 1 < extent)
      parts.push_back(x.slice(0, at + 1, extent - at - 1));
    x = parts.size() == 1 ? parts[0] : concat(parts, 0);
  }
  node.setResult(x);
}

/// The cross product along the last dimension, which is 3.
void cross(NodeContext &node) {
  Expression a = node.in(0), b = node.in(1);
  if (node.failed())
    return;
  const int64_t last = a.rank() - 1;
  if (a.rank() < 1 || a.shape() != b.shape() || a.shape()[last] != 3)
    return node.fail(absl::StrCat("vectors ", nn::formatShape(a.shape()), " and ", nn::formatShape(b.shape()),
                                  " are not two alike of 3 elements"));
  auto turned = [&](const Expression &x, int64_t by) { return picked(x, last, {by % 3, (by + 1) % 3, (by + 2) % 3}); };
  node.setResult(turned(a, 1) * turned(b, 2) - turned(a, 2) * turned(b, 1));
}

} // namespace

static const Operator table[] = {
    {"Transpose", 2, 2, transpose},
    {"ConjugateTranspose", 2, 2, transpose},
    {"ConcatV2", 2, anyInputs, concatV2},
    {"Concat", 2, anyInputs, concatOf},
    {"Pack", 1, anyInputs, pack},
    {"Unpack", 1, 1, unpack},
    {"Split", 2, 2, split},
    {"SplitV", 3, 3, splitV},
    {"Slice", 3, 3, slice},
    {"Pad", 2, 2, pad},
    {"PadV2", 3, 3, pad},
    {"MirrorPad", 2, 2, mirrorPad},
    {"Tile", 2, 2, tile},
    {"ReverseV2", 2, 2, reverse},
    {"Roll", 3, 3, roll},
    {"MatrixBandPart", 3, 3, bandPart},
    {"MirrorPadGrad", 2, 2, mirrorPadGrad},
    {"InplaceUpdate", 3, 3, inplace<false>},
    {"InplaceAdd", 3, 3, inplace<true>},
    {"InplaceSub", 3, 3, inplace<true, true>},
    {"Cross", 2, 2, cross},
    {"ParallelConcat", 1, anyInputs, parallelConcat},
};
llvm::ArrayRef<Operator> movementOperators() { return table; }

} // namespace wsc::import::tf
