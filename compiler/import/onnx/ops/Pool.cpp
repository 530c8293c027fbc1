// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MaxPool, AveragePool and their global forms.
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Windows.h"
#include "llvm/ADT/STLExtras.h"

namespace wsc::import {

static void pool(NodeContext &node, nn::PoolKind kind) {
  Tensor x = node.input(0);
  SpatialWindow window = readWindow(node, x, node.intsAttribute("kernel_shape"), /*pooling=*/true);
  bool countIncludePad = kind == nn::PoolKind::Avg && node.intAttribute("count_include_pad", 0) != 0;
  node.ignoreAttributes({"storage_order"}); // tells how indices are numbered, and those are refused as a second result
  if (countIncludePad && window.overhangs)
    return node.unsupported("count_include_pad together with a ceil_mode that adds windows is not supported: the divisor would "
                            "differ at the border");
  if (node.failed())
    return;
  Tensor y = node.layers.pool(kind, liftSpatial(node, x), window.kernel, window.window, countIncludePad);
  node.setResult(lowerSpatial(node, y, x));
}

static void maxPool(NodeContext &node) { pool(node, nn::PoolKind::Max); }
static void averagePool(NodeContext &node) { pool(node, nn::PoolKind::Avg); }

static void globalPool(NodeContext &node, nn::ReduceKind kind) {
  Tensor x = node.input(0);
  if (x.rank() < 3)
    return node.fail("needs a tensor with spatial dimensions, rank 3 or more");
  node.setResult(node.layers.reduce(kind, x, llvm::to_vector(llvm::seq<int64_t>(2, x.rank())), /*keepdims=*/true));
}

static void globalAveragePool(NodeContext &node) { globalPool(node, nn::ReduceKind::Mean); }
static void globalMaxPool(NodeContext &node) { globalPool(node, nn::ReduceKind::Max); }

static const Operator table[] = {
    {"MaxPool", 1, newestOpset, 1, 1, maxPool},
    {"AveragePool", 1, newestOpset, 1, 1, averagePool},
    {"GlobalAveragePool", 1, newestOpset, 1, 1, globalAveragePool},
    {"GlobalMaxPool", 1, newestOpset, 1, 1, globalMaxPool},
};
llvm::ArrayRef<Operator> poolOperators() { return table; }

} // namespace wsc::import
