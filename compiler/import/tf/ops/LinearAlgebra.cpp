// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Systems of linear equations and factors of small matrices [..., n, n], a layer or more for each row: elimination with
// the greatest pivot (Gauss and Jordan), substitution, Cholesky's factor, systems of three diagonals.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

constexpr int64_t mostRows = 64;

/// [batch, n, n] of an input; its outer dimensions go to `outer`.
Expression squares(NodeContext &node, size_t i, llvm::SmallVector<int64_t> &outer) {
  Expression a = node.in(i);
  if (node.failed())
    return a;
  const int64_t n = a.rank() < 2 ? 0 : a.shape().back();
  if (a.rank() < 2 || a.shape()[a.rank() - 2] != n || n < 1) {
    node.fail(absl::StrCat("needs square matrices, found ", nn::formatShape(a.shape())));
    return a;
  }
  if (n > mostRows) {
    node.unsupported(absl::StrCat("matrices of ", n, " rows are not supported; at most ", mostRows, " are"));
    return a;
  }
  outer.assign(a.shape().begin(), a.shape().end() - 2);
  return a.reshape({productOf(outer), n, n});
}

/// Right-hand sides [batch, n, m] of the same batch.
Expression sides(NodeContext &node, size_t i, const Expression &a, const llvm::SmallVector<int64_t> &outer) {
  Expression b = node.in(i);
  if (node.failed())
    return b;
  const int64_t n = a.shape()[1];
  llvm::SmallVector<int64_t> shape(outer);
  shape.append({n, b.rank() < 2 ? 0 : b.shape().back()});
  if (b.rank() < 2 || b.shape() != llvm::ArrayRef<int64_t>(shape)) {
    node.fail(absl::StrCat("right-hand sides ", nn::formatShape(b.shape()), " do not fit matrices of ", n, " rows"));
    return b;
  }
  return b.reshape({a.shape()[0], n, shape.back()});
}

Expression identityOf(NodeContext &node, const Expression &a) {
  Expression numbers = countingUp(node.layers, a.shape()[1], node.i32());
  return equal(numbers.unsqueeze(1), numbers).cast(a.elementType()).broadcast(a.shape());
}

/// a⁻¹ · b by elimination below and above each pivot.
Expression eliminated(NodeContext &node, const Expression &a, const Expression &b) {
  const int64_t n = a.shape()[1];
  Expression rows = concat({a, b}, 2);
  Expression numbers = countingUp(node.layers, n, node.i32()).reshape({1, n, 1});
  for (int64_t k = 0; k < n && !node.failed(); ++k) {
    Expression size = select(less(numbers, static_cast<double>(k)), -1, abs(rows.slice(2, k, 1)));
    Expression isPivot = equal(numbers, extremeIndex(size, 1, /*greatest=*/true, /*last=*/false));
    Expression pivotRow = sumOver(select(isPivot, rows, 0), {1}), row = rows.slice(1, k, 1);
    rows = select(isPivot, row, rows); // exchanged; row k follows
    Expression scaled = pivotRow / pivotRow.slice(2, k, 1);
    rows = select(equal(numbers, static_cast<double>(k)), scaled, rows - rows.slice(2, k, 1) * scaled);
  }
  return node.failed() ? b : rows.slice(2, n, b.shape()[2]);
}

void matrixInverse(NodeContext &node) {
  const bool adjoint = node.boolAttribute("adjoint", false);
  llvm::SmallVector<int64_t> outer;
  Expression a = squares(node, 0, outer);
  if (node.failed())
    return;
  Expression inverse = eliminated(node, adjoint ? a.transposed() : a, identityOf(node, a));
  node.setResult(inverse.reshape(node.input(0).shape()));
}

void matrixSolve(NodeContext &node) {
  const bool adjoint = node.boolAttribute("adjoint", false);
  llvm::SmallVector<int64_t> outer;
  Expression a = squares(node, 0, outer);
  Expression b = sides(node, 1, a, outer);
  if (!node.failed())
    node.setResult(eliminated(node, adjoint ? a.transposed() : a, b).reshape(node.input(1).shape()));
}

/// x with lower · x = b, row by row.
Expression substituted(NodeContext &node, const Expression &lower, const Expression &b) {
  const int64_t n = lower.shape()[1];
  std::optional<Expression> solved;
  for (int64_t i = 0; i < n && !node.failed(); ++i) {
    Expression row = b.slice(1, i, 1), pivot = lower.slice(1, i, 1).slice(2, i, 1);
    if (solved)
      row = row - matmul(lower.slice(1, i, 1).slice(2, 0, i), *solved);
    row = row / pivot;
    solved = solved ? concat({*solved, row}, 1) : row;
  }
  return node.failed() ? b : *solved;
}

void triangularSolve(NodeContext &node) {
  bool isLower = node.boolAttribute("lower", true);
  const bool adjoint = node.boolAttribute("adjoint", false);
  llvm::SmallVector<int64_t> outer;
  Expression a = squares(node, 0, outer);
  Expression b = sides(node, 1, a, outer);
  if (node.failed())
    return;
  if (adjoint) {
    a = a.transposed();
    isLower = !isLower;
  }
  Expression x =
      isLower ? substituted(node, a, b) : substituted(node, a.reverse(1).reverse(2), b.reverse(1)).reverse(1);
  node.setResult(x.reshape(node.input(1).shape()));
}

/// The lower factor, column by column.
void cholesky(NodeContext &node) {
  llvm::SmallVector<int64_t> outer;
  Expression a = squares(node, 0, outer);
  if (node.failed())
    return;
  const int64_t n = a.shape()[1];
  std::vector<Expression> columns;
  for (int64_t k = 0; k < n && !node.failed(); ++k) {
    Expression column = a.slice(2, k, 1).slice(1, k, n - k);
    if (k > 0) {
      Expression done = concat(columns, 2).slice(1, k, n - k);
      column = column - matmul(done, done.slice(1, 0, 1), /*transposeRhs=*/true);
    }
    columns.push_back((column * rsqrt(column.slice(1, 0, 1))).pad(1, k, 0));
  }
  if (!node.failed())
    node.setResult((n == 1 ? columns[0] : concat(columns, 2)).reshape(node.input(0).shape()));
}

void determinant(NodeContext &node) {
  llvm::SmallVector<int64_t> outer;
  Expression rows = squares(node, 0, outer);
  if (node.failed())
    return;
  const int64_t n = rows.shape()[1];
  Expression numbers = countingUp(node.layers, n, node.i32()).reshape({1, n, 1});
  Expression product = rows.number(1);
  for (int64_t k = 0; k < n && !node.failed(); ++k) {
    Expression size = select(less(numbers, static_cast<double>(k)), -1, abs(rows.slice(2, k, 1)));
    Expression place = extremeIndex(size, 1, /*greatest=*/true, /*last=*/false), isPivot = equal(numbers, place);
    Expression pivotRow = sumOver(select(isPivot, rows, 0), {1}), pivot = pivotRow.slice(2, k, 1);
    product = product * select(equal(place, static_cast<double>(k)), pivot, -pivot);
    rows = select(isPivot, rows.slice(1, k, 1), rows);
    Expression below = rows - rows.slice(2, k, 1) * pivotRow / select(equal(pivot, 0), 1, pivot);
    rows = select(less(numbers, static_cast<double>(k + 1)), rows, below);
  }
  node.setResult(product.reshape(outer));
}

/// Diagonals [..., 1, n] above, on and below the main one, right-hand side [..., n, m].
void tridiagonalProduct(NodeContext &node) {
  Expression upper = node.in(0), main = node.in(1), lower = node.in(2), x = node.in(3);
  if (node.failed())
    return;
  const int64_t axis = x.rank() - 2, n = x.rank() < 2 ? 0 : x.shape()[axis];
  for (const Expression *diagonal : {&upper, &main, &lower})
    if (n < 1 || diagonal->rank() != x.rank() || diagonal->shape().back() != n || diagonal->shape()[axis] != 1)
      return node.fail(absl::StrCat("a diagonal ", nn::formatShape(diagonal->shape()), " does not fit ",
                                    nn::formatShape(x.shape())));
  Expression next = x.slice(axis, 1, n - 1).pad(axis, 0, 1), last = x.slice(axis, 0, n - 1).pad(axis, 1, 0);
  node.setResult(upper.transposed() * next + main.transposed() * x + lower.transposed() * last);
}

/// diagonals [..., 3, n]: above, on and below the main one; Thomas' elimination.
void tridiagonalSolve(NodeContext &node) {
  node.ignoreAttributes({"partial_pivoting", "perturb_singular"});
  Expression diagonals = node.in(0), b = node.in(1);
  if (node.failed())
    return;
  const int64_t axis = b.rank() - 2, n = b.rank() < 2 ? 0 : b.shape()[axis];
  if (n < 1 || diagonals.rank() != b.rank() || diagonals.shape()[axis] != 3 || diagonals.shape().back() != n)
    return node.fail(
        absl::StrCat("diagonals ", nn::formatShape(diagonals.shape()), " do not fit ", nn::formatShape(b.shape())));
  if (n > 4 * mostRows)
    return node.unsupported(absl::StrCat(n, " rows are not supported; at most ", 4 * mostRows, " are"));
  auto at = [&](int64_t which, int64_t i) { return diagonals.slice(axis, which, 1).slice(axis + 1, i, 1); };
  std::vector<Expression> factors, rows;
  for (int64_t i = 0; i < n && !node.failed(); ++i) {
    Expression pivot = i == 0 ? at(1, i) : at(1, i) - at(2, i) * factors.back();
    Expression row = b.slice(axis, i, 1);
    rows.push_back((i == 0 ? row : row - at(2, i) * rows.back()) / pivot);
    factors.push_back(at(0, i) / pivot);
  }
  for (int64_t i = n - 1; i-- > 0 && !node.failed();)
    rows[i] = rows[i] - factors[i] * rows[i + 1];
  if (!node.failed())
    node.setResult(n == 1 ? rows[0] : concat(rows, axis));
}

} // namespace

static const Operator table[] = {
    {"MatrixInverse", 1, 1, matrixInverse},
    {"MatrixSolve", 2, 2, matrixSolve},
    {"MatrixTriangularSolve", 2, 2, triangularSolve},
    {"MatrixDeterminant", 1, 1, determinant},
    {"Cholesky", 1, 1, cholesky},
    {"TridiagonalMatMul", 4, 4, tridiagonalProduct},
    {"TridiagonalSolve", 2, 2, tridiagonalSolve},
};
llvm::ArrayRef<Operator> linearAlgebraOperators() { return table; }

} // namespace wsc::import::tf
