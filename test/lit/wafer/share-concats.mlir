// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nn-share-concats: a concatenation that begins like an earlier one takes its result; one of many operands is cut into halves.
// RUN: wsc-opt %s --nn-share-concats | FileCheck %s

// CHECK-LABEL: @prefix
// CHECK: %[[A:.*]] = nn.concat %arg0, %arg1 axis 1
// CHECK: %[[B:.*]] = nn.concat %[[A]], %arg2 axis 1
// CHECK: return %[[A]], %[[B]]
func.func @prefix(%x: tensor<1x4x2x2xf32>, %f: tensor<1x1x2x2xf32>, %g: tensor<1x1x2x2xf32>)
    -> (tensor<1x5x2x2xf32>, tensor<1x6x2x2xf32>) {
  %a = nn.concat %x, %f axis 1 : (tensor<1x4x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x5x2x2xf32>
  %b = nn.concat %x, %f, %g axis 1 : (tensor<1x4x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x6x2x2xf32>
  return %a, %b : tensor<1x5x2x2xf32>, tensor<1x6x2x2xf32>
}

// Another axis is another concatenation.
// CHECK-LABEL: @other_axis
// CHECK: nn.concat %arg0, %arg1 axis 1
// CHECK: nn.concat %arg0, %arg1, %arg0 axis 2
func.func @other_axis(%x: tensor<1x4x2x2xf32>, %f: tensor<1x4x2x2xf32>) -> (tensor<1x8x2x2xf32>, tensor<1x4x6x2xf32>) {
  %a = nn.concat %x, %f axis 1 : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x8x2x2xf32>
  %b = nn.concat %x, %f, %x axis 2 : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x6x2xf32>
  return %a, %b : tensor<1x8x2x2xf32>, tensor<1x4x6x2xf32>
}

// CHECK-LABEL: @many
// CHECK: %[[L:.*]] = nn.concat %arg0, %arg1 axis 1
// CHECK: %[[R:.*]] = nn.concat %arg2, %arg3, %arg4 axis 1
// CHECK: nn.concat %[[L]], %[[R]] axis 1
func.func @many(%a: tensor<1x1x2x2xf32>, %b: tensor<1x1x2x2xf32>, %c: tensor<1x1x2x2xf32>, %d: tensor<1x1x2x2xf32>,
                %e: tensor<1x1x2x2xf32>) -> tensor<1x5x2x2xf32> {
  %r = nn.concat %a, %b, %c, %d, %e axis 1 : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>,
      tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x5x2x2xf32>
  return %r : tensor<1x5x2x2xf32>
}
