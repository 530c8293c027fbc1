// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Diagonals of matrices: vectors laid on them, and taken from them. Diagonal k has its elements at (i, i + k). Several
// of them are the rows of a matrix as wide as the longest, the uppermost first; shorter ones are aligned left or right.
// All places are known, so each operator picks elements by number from its operands laid flat, the padding behind them.
// The main diagonal of a square matrix is a choice by row and column, or a slice.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"
#include <algorithm>

namespace wsc::import::tf {
namespace {

using Extents = llvm::SmallVector<int64_t>;

struct Band {
  int64_t lower = 0, upper = 0; ///< numbers of the diagonals
  int64_t rows = 0, columns = 0;
  bool upperLeft = true, lowerLeft = true; ///< alignment of diagonals above and below the main one

  int64_t length(int64_t k) const {
    return std::min(rows + std::min<int64_t>(k, 0), columns - std::max<int64_t>(k, 0));
  }
  int64_t longest() const {
    int64_t most = 0;
    for (int64_t k = lower; k <= upper; ++k)
      most = std::max(most, length(k));
    return most;
  }
  /// Column of the first element of a diagonal among the rows of diagonals.
  int64_t shift(int64_t k) const {
    const bool isLeft = (k >= 0 && upperLeft) || (k <= 0 && lowerLeft);
    return isLeft ? 0 : longest() - length(k);
  }
  int64_t count() const { return upper - lower + 1; }
};

/// Reads input i, one number of a diagonal or two, and the alignment.
Band readBand(NodeContext &node, size_t i, const char *usualAlignment) {
  Band band;
  if (i < node.inputCount()) {
    auto k = node.known(i, "the numbers of the diagonals");
    if (node.failed() || k->isFloat() || k->size() < 1 || k->size() > 2) {
      node.fail("the numbers of the diagonals must be one integer or two");
      return band;
    }
    band.lower = k->ints.front();
    band.upper = k->ints.back();
  }
  const std::string align = node.stringAttribute("align", usualAlignment);
  if (align != "LEFT_RIGHT" && align != "RIGHT_LEFT" && align != "LEFT_LEFT" && align != "RIGHT_RIGHT")
    node.fail(absl::StrCat("align '", align, "' is none of LEFT_RIGHT, RIGHT_LEFT, LEFT_LEFT, RIGHT_RIGHT"));
  band.upperLeft = align.rfind("LEFT", 0) == 0;
  band.lowerLeft = align.size() > 4 && align.substr(align.size() - 4) == "LEFT";
  return band;
}

bool isInside(NodeContext &node, const Band &band) {
  if (!node.failed() && (band.lower > band.upper || band.lower <= -std::max<int64_t>(band.rows, 1) ||
                         band.upper >= std::max<int64_t>(band.columns, 1)))
    node.fail(absl::StrCat("diagonals ", band.lower, " to ", band.upper, " are not in a matrix of ", band.rows, " x ",
                           band.columns));
  if (!node.failed() &&
      nn::elementCount({band.rows, band.columns}).value_or(maxConstantElements + 1) > maxConstantElements)
    node.fail(absl::StrCat("a matrix of ", band.rows, " x ", band.columns, " has more than ", maxConstantElements,
                           " elements"));
  return !node.failed();
}

const char *usualAlignment(NodeContext &node) {
  return node.node().op().find("V3") != std::string::npos ? "RIGHT_LEFT" : "LEFT_LEFT";
}

/// Elements of `parts`, which are [batch, n], laid behind each other, by number.
Expression pickedFrom(NodeContext &node, llvm::ArrayRef<Expression> parts, llvm::ArrayRef<int64_t> numbers,
                      llvm::ArrayRef<int64_t> shape) {
  Expression flat = parts.size() == 1 ? parts[0] : concat(parts, 1);
  return node.failed() ? flat : picked(flat, 1, numbers).reshape(shape);
}

/// The padding as one more element of each row.
Expression paddingOf(NodeContext &node, size_t i, const Expression &like, int64_t batch) {
  return (i < node.inputCount() ? node.in(i) : like.number(0)).broadcast({batch, 1});
}

/// Whether it is the main diagonal of a square matrix.
bool isMain(const Band &band) { return band.lower == 0 && band.upper == 0 && band.rows == band.columns; }

/// i1 [extent, extent]: the main diagonal.
Expression mainPlaces(NodeContext &node, int64_t extent) {
  Expression numbers = countingUp(node.layers, extent, node.i32());
  return equal(numbers.reshape({extent, 1}), numbers);
}

/// diagonal, (k, rows, columns, padding)
void matrixDiag(NodeContext &node) {
  Expression x = node.in(0);
  Band band = readBand(node, 1, usualAlignment(node));
  int64_t rows = -1, columns = -1;
  if (node.inputCount() > 3) {
    rows = node.constantInt(2, "num_rows");
    columns = node.constantInt(3, "num_cols");
  }
  if (node.failed())
    return;
  const bool isOne = band.lower == band.upper;
  if (x.rank() < (isOne ? 1 : 2) || (!isOne && x.shape()[x.rank() - 2] != band.count()))
    return node.fail(
        absl::StrCat("diagonals ", nn::formatShape(x.shape()), " do not fit numbers ", band.lower, " to ", band.upper));
  const int64_t width = x.shape().back();
  // The smallest matrix that holds them; where only one extent is given the other is the least.
  const int64_t leastRows = width - std::min<int64_t>(band.upper, 0),
                leastColumns = width + std::max<int64_t>(band.lower, 0);
  band.rows = rows < 0 && columns < 0 ? std::max(leastRows, leastColumns) : rows < 0 ? leastRows : rows;
  band.columns = rows < 0 && columns < 0 ? std::max(leastRows, leastColumns) : columns < 0 ? leastColumns : columns;
  if (!isInside(node, band))
    return;
  if (band.longest() != width)
    return node.fail(absl::StrCat("the longest diagonal has ", band.longest(), " elements, the rows given ", width));
  if (isMain(band))
    return node.setResult(
        select(mainPlaces(node, width), x.unsqueeze(x.rank()), node.inputCount() > 4 ? node.in(4) : x.number(0)));
  Extents outer(x.shape().drop_back(isOne ? 1 : 2)), shape(outer);
  const int64_t batch = productOf(outer), given = band.count() * width;
  std::vector<int64_t> numbers(static_cast<size_t>(band.rows * band.columns), given);
  for (int64_t k = band.lower; k <= band.upper; ++k)
    for (int64_t i = 0; i < band.length(k); ++i)
      numbers[(i + std::max<int64_t>(-k, 0)) * band.columns + i + std::max<int64_t>(k, 0)] =
          (band.upper - k) * width + band.shift(k) + i;
  shape.append({band.rows, band.columns});
  node.setResult(pickedFrom(node, {x.reshape({batch, given}), paddingOf(node, 4, x, batch)}, numbers, shape));
}

/// input, (k, padding)
void matrixDiagPart(NodeContext &node) {
  Expression x = node.in(0);
  Band band = readBand(node, 1, usualAlignment(node));
  if (node.failed())
    return;
  if (x.rank() < 2)
    return node.fail(absl::StrCat("needs matrices, found ", nn::formatShape(x.shape())));
  band.rows = x.shape()[x.rank() - 2];
  band.columns = x.shape()[x.rank() - 1];
  if (!isInside(node, band))
    return;
  Extents shape(x.shape().drop_back(2));
  const int64_t batch = productOf(shape), all = band.rows * band.columns, width = band.longest();
  std::vector<int64_t> numbers(static_cast<size_t>(band.count() * width), all);
  for (int64_t k = band.lower; k <= band.upper; ++k)
    for (int64_t i = 0; i < band.length(k); ++i)
      numbers[(band.upper - k) * width + band.shift(k) + i] =
          (i + std::max<int64_t>(-k, 0)) * band.columns + i + std::max<int64_t>(k, 0);
  if (band.lower != band.upper)
    shape.push_back(band.count());
  shape.push_back(width);
  if (isMain(band))
    return node.setResult(x.reshape({batch, all}).slice(1, 0, width, width + 1).reshape(shape));
  node.setResult(pickedFrom(node, {x.reshape({batch, all}), paddingOf(node, 2, x, batch)}, numbers, shape));
}

/// input, diagonal, (k)
void matrixSetDiag(NodeContext &node) {
  Expression x = node.in(0), values = node.in(1);
  Band band = readBand(node, 2, usualAlignment(node));
  if (node.failed())
    return;
  if (x.rank() >= 2) {
    band.rows = x.shape()[x.rank() - 2];
    band.columns = x.shape()[x.rank() - 1];
  }
  if (!isInside(node, band))
    return;
  Extents expected(x.shape().drop_back(std::min<int64_t>(2, x.rank())));
  const int64_t batch = productOf(expected), all = band.rows * band.columns, width = band.longest();
  if (band.lower != band.upper)
    expected.push_back(band.count());
  expected.push_back(width);
  if (x.rank() < 2 || values.shape() != llvm::ArrayRef<int64_t>(expected))
    return node.fail(
        absl::StrCat("diagonal ", nn::formatShape(values.shape()), " does not fit ", nn::formatShape(x.shape())));
  if (isMain(band))
    return node.setResult(select(mainPlaces(node, width), values.unsqueeze(values.rank()), x));
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < all; ++i)
    numbers.push_back(i);
  for (int64_t k = band.lower; k <= band.upper; ++k)
    for (int64_t i = 0; i < band.length(k); ++i)
      numbers[(i + std::max<int64_t>(-k, 0)) * band.columns + i + std::max<int64_t>(k, 0)] =
          all + (band.upper - k) * width + band.shift(k) + i;
  node.setResult(
      pickedFrom(node, {x.reshape({batch, all}), values.reshape({batch, band.count() * width})}, numbers, x.shape()));
}

/// [shape] as [shape, shape] with zeros where the two places differ.
void diag(NodeContext &node) {
  Expression x = node.in(0);
  if (node.failed())
    return;
  const int64_t count = x.size();
  Extents shape(x.shape());
  shape.append(x.shape().begin(), x.shape().end());
  node.setResult(select(mainPlaces(node, count), x.reshape({count, 1}), 0).reshape(shape));
}

/// [shape, shape] at equal places.
void diagPart(NodeContext &node) {
  Expression x = node.in(0);
  if (node.failed())
    return;
  const int64_t half = x.rank() / 2;
  Extents shape(x.shape().take_front(half));
  if (x.rank() % 2 != 0 || x.shape().drop_front(half) != llvm::ArrayRef<int64_t>(shape) || x.size() == 0)
    return node.fail(absl::StrCat(nn::formatShape(x.shape()), " is not twice the same shape"));
  const int64_t count = productOf(shape);
  node.setResult(x.reshape({count * count}).slice(0, 0, count, count + 1).reshape(shape));
}

} // namespace

static const Operator table[] = {
    {"Diag", 1, 1, diag},
    {"DiagPart", 1, 1, diagPart},
    {"MatrixDiag", 1, 1, matrixDiag},
    {"MatrixDiagV2", 5, 5, matrixDiag},
    {"MatrixDiagV3", 5, 5, matrixDiag},
    {"MatrixDiagPart", 1, 1, matrixDiagPart},
    {"MatrixDiagPartV2", 3, 3, matrixDiagPart},
    {"MatrixDiagPartV3", 3, 3, matrixDiagPart},
    {"MatrixSetDiag", 2, 2, matrixSetDiag},
    {"MatrixSetDiagV2", 3, 3, matrixSetDiag},
    {"MatrixSetDiagV3", 3, 3, matrixSetDiag},
};
llvm::ArrayRef<Operator> diagonalOperators() { return table; }

} // namespace wsc::import::tf
