// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction over a whole image becomes one over columns, which needs no words of other tiles, and one over rows;
// sums, and means over channels, are convolutions with ones.
// RUN: wsc-opt --nn-decompose-reductions %s | FileCheck %s

// CHECK-LABEL: func.func @mean
// CHECK-SAME:    (%[[X:.*]]: tensor<1x8x7x5xf32>)
func.func @mean(%x: tensor<1x8x7x5xf32>) -> tensor<1x8x1x1xf32> {
  // CHECK: %[[R:.*]] = nn.pool avg %[[X]] kernel [1, 5] : (tensor<1x8x7x5xf32>) -> tensor<1x8x7x1xf32>
  // CHECK: %[[Y:.*]] = nn.pool avg %[[R]] kernel [7, 1] : (tensor<1x8x7x1xf32>) -> tensor<1x8x1x1xf32>
  // CHECK: return %[[Y]]
  %y = nn.reduce mean %x axes [2, 3] {keepdims} : (tensor<1x8x7x5xf32>) -> tensor<1x8x1x1xf32>
  return %y : tensor<1x8x1x1xf32>
}

// CHECK-LABEL: func.func @max_without_keepdims
func.func @max_without_keepdims(%x: tensor<1x8x7x5xf32>) -> tensor<1x8xf32> {
  // CHECK: nn.pool max %{{.*}} kernel [1, 5]
  // CHECK: %[[Y:.*]] = nn.pool max %{{.*}} kernel [7, 1]
  // CHECK: nn.reshape %[[Y]] : tensor<1x8x1x1xf32> -> tensor<1x8xf32>
  %y = nn.reduce max %x axes [2, 3] : (tensor<1x8x7x5xf32>) -> tensor<1x8xf32>
  return %y : tensor<1x8xf32>
}

// CHECK-LABEL: func.func @global_pool
func.func @global_pool(%x: tensor<1x8x7x5xf32>) -> tensor<1x8x1x1xf32> {
  // CHECK: nn.pool avg %{{.*}} kernel [1, 5]
  // CHECK: nn.pool avg %{{.*}} kernel [7, 1]
  %y = nn.pool avg %x kernel [7, 5] : (tensor<1x8x7x5xf32>) -> tensor<1x8x1x1xf32>
  return %y : tensor<1x8x1x1xf32>
}

// CHECK-LABEL: func.func @sum
func.func @sum(%x: tensor<1x8x7x5xf32>) -> tensor<1x8xf32> {
  // CHECK: %[[W:.*]] = nn.constant dense<1.000000e+00> : tensor<8x1x1x5xf32>
  // CHECK: %[[R:.*]] = nn.conv %{{.*}}, %[[W]] groups 8 : (tensor<1x8x7x5xf32>, tensor<8x1x1x5xf32>) -> tensor<1x8x7x1xf32>
  // CHECK: nn.conv %[[R]], %{{.*}} groups 8 : (tensor<1x8x7x1xf32>, tensor<8x1x7x1xf32>) -> tensor<1x8x1x1xf32>
  %y = nn.reduce sum %x axes [2, 3] : (tensor<1x8x7x5xf32>) -> tensor<1x8xf32>
  return %y : tensor<1x8xf32>
}

// CHECK-LABEL: func.func @one_axis
func.func @one_axis(%x: tensor<1x8x7x5xf32>) -> tensor<1x8x5xf32> {
  // CHECK: nn.pool avg %{{.*}} kernel [7, 1] : (tensor<1x8x7x5xf32>) -> tensor<1x8x1x5xf32>
  %y = nn.reduce mean %x axes [2] : (tensor<1x8x7x5xf32>) -> tensor<1x8x5xf32>
  return %y : tensor<1x8x5xf32>
}

// CHECK-LABEL: func.func @minimum
func.func @minimum(%x: tensor<1x8x7x5xf32>) -> tensor<1x8x7x1xf32> {
  // CHECK: %[[N:.*]] = nn.unary neg
  // CHECK: %[[M:.*]] = nn.pool max %[[N]] kernel [1, 5]
  // CHECK: nn.unary neg %[[M]]
  %y = nn.reduce min %x axes [3] {keepdims} : (tensor<1x8x7x5xf32>) -> tensor<1x8x7x1xf32>
  return %y : tensor<1x8x7x1xf32>
}

// CHECK-LABEL: func.func @mean_of_channels
func.func @mean_of_channels(%x: tensor<1x8x7x5xf32>) -> tensor<1x1x7x5xf32> {
  // CHECK: %[[S:.*]] = nn.conv %{{.*}}, %{{.*}} : (tensor<1x8x7x5xf32>, tensor<1x8x1x1xf32>) -> tensor<1x1x7x5xf32>
  // CHECK: nn.binary mul %[[S]]
  %y = nn.reduce mean %x axes [1] {keepdims} : (tensor<1x8x7x5xf32>) -> tensor<1x1x7x5xf32>
  return %y : tensor<1x1x7x5xf32>
}

// CHECK-LABEL: func.func @mean_of_rows
func.func @mean_of_rows(%x: tensor<3x8xf32>) -> tensor<3x1xf32> {
  // CHECK: %[[S:.*]] = nn.matmul %{{.*}} : (tensor<3x8xf32>, tensor<8x1xf32>) -> tensor<3x1xf32>
  // CHECK: nn.binary mul %[[S]]
  %y = nn.reduce mean %x axes [1] {keepdims} : (tensor<3x8xf32>) -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}

// A mean of means is the mean only without padding, and other windows are kernels as they are.
// CHECK-LABEL: func.func @others_stay
func.func @others_stay(%x: tensor<1x8x7x5xf32>) -> (tensor<1x8x3x3xf32>, tensor<1x8x5x3xf32>, tensor<1x7x5xf32>, tensor<1x8xf32>) {
  // CHECK: nn.pool avg %{{.*}} kernel [7, 5] pads [1, 1, 1, 1]
  %a = nn.pool avg %x kernel [7, 5] pads [1, 1, 1, 1] : (tensor<1x8x7x5xf32>) -> tensor<1x8x3x3xf32>
  // CHECK: nn.pool max %{{.*}} kernel [3, 3]
  %b = nn.pool max %x kernel [3, 3] : (tensor<1x8x7x5xf32>) -> tensor<1x8x5x3xf32>
  // CHECK: nn.reduce max %{{.*}} axes [1]
  %c = nn.reduce max %x axes [1] : (tensor<1x8x7x5xf32>) -> tensor<1x7x5xf32>
  // CHECK: nn.reduce prod %{{.*}} axes [2, 3]
  %d = nn.reduce prod %x axes [2, 3] : (tensor<1x8x7x5xf32>) -> tensor<1x8xf32>
  return %a, %b, %c, %d : tensor<1x8x3x3xf32>, tensor<1x8x5x3xf32>, tensor<1x7x5xf32>, tensor<1x8xf32>
}
