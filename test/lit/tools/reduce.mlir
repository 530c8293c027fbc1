// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: wsc-reduce
// Of three functions the one with the operation that the script looks for is left.
// RUN: wsc-reduce %s -reduction-tree='traversal-mode=0 test=%S/Inputs/has-reshape.sh' | FileCheck %s
// Passes of the project reduce as well: two reshapes become one.
// RUN: wsc-reduce %s -opt-reduction-pass='opt-pass=canonicalize test=%S/Inputs/has-reshape.sh' | FileCheck %s --check-prefix=PASS

// CHECK-NOT: @before
// CHECK: func.func @kept
// CHECK: nn.reshape
// CHECK-NOT: @after

// PASS-LABEL: func.func @kept
// PASS: nn.reshape
// PASS-NOT: nn.reshape
func.func @before(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

func.func @kept(%x: tensor<2x6xf32>) -> tensor<4x3xf32> {
  %0 = nn.reshape %x : tensor<2x6xf32> -> tensor<12xf32>
  %1 = nn.reshape %0 : tensor<12xf32> -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

func.func @after(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
