// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: wsc-opt --nn-flatten-rows %s | FileCheck %s

// The reshapes between two layers vanish.
// CHECK-LABEL: func.func @elementwise
// CHECK-SAME:    %[[X:.*]]: tensor<3x4x5xf32>, %[[Y:.*]]: tensor<5xf32>
// CHECK-DAG:     %[[R:.*]] = nn.reshape %[[X]] : tensor<3x4x5xf32> -> tensor<12x5xf32>
// CHECK:         %[[A:.*]] = nn.binary add %[[R]], %[[Y]] : (tensor<12x5xf32>, tensor<5xf32>) -> tensor<12x5xf32>
// CHECK-NEXT:    %[[B:.*]] = nn.unary relu %[[A]] : tensor<12x5xf32>
// CHECK-NEXT:    %[[C:.*]] = nn.reshape %[[B]] : tensor<12x5xf32> -> tensor<3x4x5xf32>
// CHECK-NEXT:    return %[[C]]
func.func @elementwise(%x: tensor<3x4x5xf32>, %y: tensor<5xf32>) -> tensor<3x4x5xf32> {
  %0 = nn.binary add %x, %y : (tensor<3x4x5xf32>, tensor<5xf32>) -> tensor<3x4x5xf32>
  %1 = nn.unary relu %0 : tensor<3x4x5xf32>
  return %1 : tensor<3x4x5xf32>
}

// CHECK-LABEL: func.func @product_and_softmax
// CHECK-SAME:    %[[X:.*]]: tensor<2x3x4xf32>, %[[W:.*]]: tensor<4x5xf32>
// CHECK-NEXT:    %[[R:.*]] = nn.reshape %[[X]] : tensor<2x3x4xf32> -> tensor<6x4xf32>
// CHECK-NEXT:    %[[P:.*]] = nn.matmul %[[R]], %[[W]] : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT:    nn.softmax %[[P]] axis 1 : tensor<6x5xf32>
func.func @product_and_softmax(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = nn.matmul %x, %w : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  %1 = nn.softmax %0 axis 2 : tensor<2x3x5xf32>
  return %1 : tensor<2x3x5xf32>
}

// An operand of a shape of its own, another axis, and what has a plane stay as they are.
// CHECK-LABEL: func.func @unchanged
// CHECK-NOT:     nn.reshape
// CHECK:         return
func.func @unchanged(%x: tensor<3x4x5xf32>, %y: tensor<4x5xf32>, %z: tensor<1x3x4x5xf32>) -> (tensor<3x4x5xf32>, tensor<3x4x5xf32>, tensor<1x3x4x5xf32>) {
  %0 = nn.binary add %x, %y : (tensor<3x4x5xf32>, tensor<4x5xf32>) -> tensor<3x4x5xf32>
  %1 = nn.softmax %x axis 1 : tensor<3x4x5xf32>
  %2 = nn.unary relu %z : tensor<1x3x4x5xf32>
  return %0, %1, %2 : tensor<3x4x5xf32>, tensor<3x4x5xf32>, tensor<1x3x4x5xf32>
}
