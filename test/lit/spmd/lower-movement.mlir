// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers that only move elements are one remap each; a gather is a nest that extracts from its table.
// RUN: wsc-opt --nn-lower-to-nests %s | FileCheck %s

// CHECK-LABEL: func.func @reshape
// CHECK-NEXT: wafer.remap %arg0 [<over [6] from 0 at 0 by [1] to 0 by [1]>] :
func.func @reshape(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %y = nn.reshape %x : tensor<2x3xf32> -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// A constant is reshaped where it is.
// CHECK-LABEL: func.func @reshape_constant
// CHECK: nn.constant #nn.weights<"m.bin", offset = 0, bytes = 24, hash = 0> : tensor<3x2xf32>
// CHECK-NOT: wafer.remap
// CHECK: return
func.func @reshape_constant() -> tensor<3x2xf32> {
  %x = nn.constant #nn.weights<"m.bin", offset = 0, bytes = 24, hash = 0> : tensor<2x3xf32>
  %y = nn.reshape %x : tensor<2x3xf32> -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @transpose
// CHECK-NEXT: wafer.remap %arg0 [<over [3, 2] from 0 at 0 by [1, 3] to 0 by [2, 1]>] :
func.func @transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %y = nn.transpose %x permutation [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @slice
// CHECK-NEXT: wafer.remap %arg0 [<over [2, 3] from 0 at 3 by [4, -1] to 0 by [3, 1]>] :
func.func @slice(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
  %y = nn.slice %x starts [0, 3] sizes [2, 3] steps [1, -1] : (tensor<2x4xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @pad
// CHECK-NEXT: wafer.remap %arg0 [<over [2, 3] from 0 at 0 by [3, 1] to 1 by [6, 1]>] fill 7 : i32 :
func.func @pad(%x: tensor<2x3xi32>) -> tensor<2x6xi32> {
  %y = nn.pad %x low [0, 1] high [0, 2] value 7 : i32 : (tensor<2x3xi32>) -> tensor<2x6xi32>
  return %y : tensor<2x6xi32>
}

// CHECK-LABEL: func.func @concat
// CHECK-NEXT: wafer.remap %arg0, %arg1 [<over [2, 3] from 0 at 0 by [3, 1] to 0 by [4, 1]>, <over [2] from 1 at 0 by [1] to 3 by [4]>] :
func.func @concat(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>) -> tensor<2x4xf32> {
  %y = nn.concat %a, %b axis 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @broadcast_to
// CHECK-NEXT: wafer.remap %arg0 [<over [4, 3] from 0 at 0 by [0, 1] to 0 by [3, 1]>] :
func.func @broadcast_to(%x: tensor<1x3xf32>) -> tensor<4x3xf32> {
  %y = nn.broadcast_to %x : tensor<1x3xf32> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @gather
// CHECK:   arith.trunci %{{.*}} : i64 to i32
// CHECK: linalg.generic
// CHECK:   %[[I:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK:   %[[D:.*]] = linalg.index 1
// CHECK:   tensor.extract %arg0[%[[I]], %[[D]]] : tensor<9x4xf32>
func.func @gather(%table: tensor<9x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  %y = nn.gather %table, %i axis 0 : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
