// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Einsum.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

void product(NodeContext &node, bool transposeA, bool transposeB) {
  Expression a = node.in(0), b = node.in(1);
  if (node.failed())
    return;
  if (a.rank() < 2 || b.rank() < 2)
    return node.fail(
        absl::StrCat("needs matrices, found ", nn::formatShape(a.shape()), " and ", nn::formatShape(b.shape())));
  node.setResult(matmul(transposeA ? a.transposed() : a, b, transposeB));
}

void matMul(NodeContext &node) {
  bool a = node.boolAttribute("transpose_a", false), b = node.boolAttribute("transpose_b", false);
  product(node, a, b);
}

void batchMatMul(NodeContext &node) {
  bool a = node.boolAttribute("adj_x", false), b = node.boolAttribute("adj_y", false);
  product(node, a, b);
}

/// The matrices' zeros are only a hint.
void sparseMatMul(NodeContext &node) {
  node.ignoreAttributes({"a_is_sparse", "b_is_sparse"});
  matMul(node);
}

void einsumOf(NodeContext &node) {
  std::string equation = node.stringAttribute("equation", "");
  std::vector<Expression> inputs;
  for (size_t i = 0; i < node.inputCount(); ++i)
    inputs.push_back(node.in(i));
  if (!node.failed())
    node.setResult(einsum(node.layers, equation, inputs));
}

} // namespace

static const Operator table[] = {
    {"MatMul", 2, 2, matMul},
    {"SparseMatMul", 2, 2, sparseMatMul},
    {"BatchMatMul", 2, 2, batchMatMul},
    {"BatchMatMulV2", 2, 2, batchMatMul},
    {"BatchMatMulV3", 2, 2, batchMatMul},
    {"Einsum", 1, anyInputs, einsumOf},
};
llvm::ArrayRef<Operator> contractionOperators() { return table; }

} // namespace wsc::import::tf
