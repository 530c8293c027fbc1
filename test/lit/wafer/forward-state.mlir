// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: wsc-opt %s --nn-forward-state | FileCheck %s

nn.variable @v : tensor<2xf32>

// CHECK-LABEL: func.func @f(%arg0: tensor<2xf32>)
// CHECK: %[[FIRST:.*]] = nn.read @v
// CHECK: %[[SUM:.*]] = nn.binary add %[[FIRST]], %[[FIRST]]
// CHECK-NOT: nn.write
// CHECK: %[[NEG:.*]] = nn.unary neg %arg0
// CHECK: nn.write @v, %[[SUM]]
// CHECK-NOT: nn.read
// CHECK: return %[[NEG]], %[[SUM]]
func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = nn.read @v : tensor<2xf32>
  %b = nn.read @v : tensor<2xf32>
  %s = nn.binary add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  nn.write @v, %x : tensor<2xf32>
  %c = nn.read @v : tensor<2xf32>
  %n = nn.unary neg %c : tensor<2xf32>
  nn.write @v, %s : tensor<2xf32>
  %d = nn.read @v : tensor<2xf32>
  return %n, %d : tensor<2xf32>, tensor<2xf32>
}
