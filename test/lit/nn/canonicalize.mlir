// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: wsc-opt --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @reshapes
// CHECK-NEXT:    %[[R:.*]] = nn.reshape %arg0 : tensor<2x6xf32> -> tensor<4x3xf32>
// CHECK-NEXT:    return %[[R]], %arg0
func.func @reshapes(%x: tensor<2x6xf32>) -> (tensor<4x3xf32>, tensor<2x6xf32>) {
  %0 = nn.reshape %x : tensor<2x6xf32> -> tensor<12xf32>
  %1 = nn.reshape %0 : tensor<12xf32> -> tensor<4x3xf32>
  %2 = nn.reshape %0 : tensor<12xf32> -> tensor<2x6xf32>
  return %1, %2 : tensor<4x3xf32>, tensor<2x6xf32>
}

// A reshape of weights is another view of the same bytes.
// CHECK-LABEL: func.func @weights
// CHECK-NEXT:    nn.constant #nn.weights<"w", offset = 8, bytes = 24, hash = 5> : tensor<3x2xf32>
// CHECK-NEXT:    return
func.func @weights() -> tensor<3x2xf32> {
  %0 = nn.constant #nn.weights<"w", offset = 8, bytes = 24, hash = 5> : tensor<6xf32>
  %1 = nn.reshape %0 : tensor<6xf32> -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @transposes
// CHECK-NEXT:    %[[T:.*]] = nn.transpose %arg0 permutation [1, 2, 0]
// CHECK-NEXT:    return %[[T]], %arg0
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<3x4x2xf32>, tensor<2x3x4xf32>) {
  %0 = nn.transpose %x permutation [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = nn.transpose %0 permutation [2, 0, 1] : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  %2 = nn.transpose %1 permutation [2, 0, 1] : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  return %1, %2 : tensor<3x4x2xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @identities
// CHECK-NEXT:    %[[R:.*]] = nn.unary relu %arg0
// CHECK-NEXT:    return %[[R]], %arg0
func.func @identities(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = nn.unary relu %x : tensor<2x3xf32>
  %1 = nn.unary relu %0 : tensor<2x3xf32>
  %2 = nn.unary neg %x : tensor<2x3xf32>
  %3 = nn.unary neg %2 : tensor<2x3xf32>
  %4 = nn.slice %3 starts [0, 0] sizes [2, 3] steps [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = nn.pad %4 low [0, 0] high [0, 0] value 0.0 : f32 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = nn.concat %5 axis 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = nn.cast %6 : tensor<2x3xf32> -> tensor<2x3xf32>
  %8 = nn.broadcast_to %7 : tensor<2x3xf32> -> tensor<2x3xf32>
  return %1, %8 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @bitcasts
// CHECK-NEXT:    return %arg0
func.func @bitcasts(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = nn.bitcast %x : tensor<3xf32> -> tensor<3xi32>
  %1 = nn.bitcast %0 : tensor<3xi32> -> tensor<3xui32>
  %2 = nn.bitcast %1 : tensor<3xui32> -> tensor<3xf32>
  return %2 : tensor<3xf32>
}
