// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Padding in front of a convolution or pool becomes the layer's own.
// RUN: wsc-opt --nn-fold-padding %s | FileCheck %s

// CHECK-LABEL: func.func @conv
// CHECK-NEXT:    nn.constant
// CHECK-NEXT:    nn.conv %{{.*}} strides [2, 2] pads [1, 0, 2, 2] :
func.func @conv(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x5x4xf32> {
  %w = nn.constant dense<0.5> : tensor<4x4x3x3xf32>
  %p = nn.pad %x low [0, 0, 0, 0] high [0, 0, 1, 1] value 0.0 : f32 : (tensor<1x4x8x8xf32>) -> tensor<1x4x9x9xf32>
  %y = nn.conv %p, %w strides [2, 2] pads [1, 0, 1, 1] : (tensor<1x4x9x9xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x5x4xf32>
  return %y : tensor<1x4x5x4xf32>
}

// CHECK-LABEL: func.func @average
// CHECK-NEXT:    nn.pool avg %{{.*}} kernel [3, 3] pads [1, 1, 1, 1] {count_include_pad}
func.func @average(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %p = nn.pad %x low [0, 0, 1, 1] high [0, 0, 1, 1] value 0.0 : f32 : (tensor<1x4x8x8xf32>) -> tensor<1x4x10x10xf32>
  %y = nn.pool avg %p kernel [3, 3] : (tensor<1x4x10x10xf32>) -> tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// CHECK-LABEL: func.func @maximum
// CHECK-NEXT:    nn.pool max %{{.*}} kernel [2, 2] pads [0, 0, 1, 1] :
func.func @maximum(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %p = nn.pad %x low [0, 0, 0, 0] high [0, 0, 1, 1] value 0xFF800000 : f32 : (tensor<1x4x8x8xf32>) -> tensor<1x4x9x9xf32>
  %y = nn.pool max %p kernel [2, 2] : (tensor<1x4x9x9xf32>) -> tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// Zeros may win a maximum, padding of an average may not count, other values are no padding, and a window must reach
// the input.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-4: nn.pad
func.func @stays(%x: tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x9x9xf32>, tensor<1x4x9x9xf32>, tensor<1x4x9x9xf32>) {
  %w = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
  %p = nn.pad %x low [0, 0, 0, 0] high [0, 0, 1, 1] value 0.0 : f32 : (tensor<1x4x8x8xf32>) -> tensor<1x4x9x9xf32>
  %a = nn.pool max %p kernel [2, 2] : (tensor<1x4x9x9xf32>) -> tensor<1x4x8x8xf32>
  %q = nn.pad %x low [0, 0, 0, 0] high [0, 0, 1, 1] value 0.0 : f32 : (tensor<1x4x8x8xf32>) -> tensor<1x4x9x9xf32>
  %b = nn.pool avg %q kernel [3, 3] pads [1, 1, 1, 1] : (tensor<1x4x9x9xf32>) -> tensor<1x4x9x9xf32>
  %r = nn.pad %x low [0, 0, 0, 0] high [0, 0, 1, 1] value 0.5 : f32 : (tensor<1x4x8x8xf32>) -> tensor<1x4x9x9xf32>
  %c = nn.conv %r, %w : (tensor<1x4x9x9xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x9x9xf32>
  %s = nn.pad %x low [0, 0, 0, 0] high [0, 0, 1, 1] value 0.0 : f32 : (tensor<1x4x8x8xf32>) -> tensor<1x4x9x9xf32>
  %d = nn.conv %s, %w : (tensor<1x4x9x9xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x9x9xf32>
  return %a, %b, %c, %d : tensor<1x4x8x8xf32>, tensor<1x4x9x9xf32>, tensor<1x4x9x9xf32>, tensor<1x4x9x9xf32>
}
