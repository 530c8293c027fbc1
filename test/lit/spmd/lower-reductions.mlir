// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over axes and windows, softmax and normalisation.
// RUN: wsc-opt --nn-lower-to-nests %s | FileCheck %s

// CHECK-DAG: #[[KEPT:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5)>
// CHECK-DAG: #[[TAPS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>

// An axis that stays is a parallel iterator of extent 1.
// CHECK-LABEL: func.func @mean
// CHECK: linalg.generic {indexing_maps = [#[[KEPT]], {{.*}}], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: outs({{.*}} : tensor<2x1xf32>)
// CHECK:   arith.extf
// CHECK:   arith.addf
// CHECK: linalg.generic
// CHECK:   arith.constant 5.000000e+00
// CHECK:   arith.divf
// CHECK:   arith.truncf
func.func @mean(%x: tensor<2x5xf16>) -> tensor<2x1xf16> {
  %y = nn.reduce mean %x axes [1] {keepdims} : (tensor<2x5xf16>) -> tensor<2x1xf16>
  return %y : tensor<2x1xf16>
}

// CHECK-LABEL: func.func @least
// CHECK: arith.constant -1 : i8
// CHECK: arith.minui
func.func @least(%x: tensor<2x5xui8>) -> tensor<2xui8> {
  %y = nn.reduce min %x axes [1] : (tensor<2x5xui8>) -> tensor<2xui8>
  return %y : tensor<2xui8>
}

// Padding never wins; an empty tensor tells linalg the window's extents.
// CHECK-LABEL: func.func @max_pool
// CHECK: wafer.remap %arg0 {{.*}} fill 0xFF800000 : f32
// CHECK: %[[TAPS_OF:.*]] = tensor.empty() : tensor<3x3xi8>
// CHECK: linalg.generic {indexing_maps = [#[[WINDOW]], #[[TAPS]], {{.*}}]
// CHECK:   arith.maximumf
func.func @max_pool(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32> {
  %y = nn.pool max %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}

// Windows at the border have fewer elements.
// CHECK-LABEL: func.func @average_pool
// CHECK: nn.constant dense<{{\[\[}}4.{{.*}}, 6.{{.*}}], [6.{{.*}}, 9.{{.*}}]]> : tensor<2x2xf32>
// CHECK: arith.divf
func.func @average_pool(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %y = nn.pool avg %x kernel [3, 3] strides [2, 2] pads [1, 1, 0, 0] : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  return %y : tensor<1x2x2x2xf32>
}

// A sum is divided by nothing; of a window over time alone.
// CHECK-LABEL: func.func @sum_pool
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<1x2x3xf32>)
// CHECK:   arith.addf
// CHECK-NOT: arith.divf
// CHECK: return
func.func @sum_pool(%x: tensor<1x2x8xf32>) -> tensor<1x2x3xf32> {
  %y = nn.pool sum %x kernel [3] strides [2] dilations [1] pads [0, 0] : (tensor<1x2x8xf32>) -> tensor<1x2x3xf32>
  return %y : tensor<1x2x3xf32>
}

// CHECK-LABEL: func.func @softmax
// CHECK:   arith.maximumf
// CHECK:   arith.subf
// CHECK:   math.exp
// CHECK:   arith.addf
// CHECK:   arith.divf
func.func @softmax(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %y = nn.softmax %x axis 1 : tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @log_softmax
// CHECK:   math.exp
// CHECK:   arith.addf
// CHECK:   math.log
// CHECK:   arith.subf
// CHECK:   arith.subf
func.func @log_softmax(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %y = nn.softmax %x axis 1 {log} : tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// The factor is computed once for each channel.
// CHECK-LABEL: func.func @batch_norm
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<4xf32>)
// CHECK:   math.sqrt
// CHECK: linalg.generic
// CHECK:   math.fma
func.func @batch_norm(%x: tensor<1x4x8x8xf32>, %s: tensor<4xf32>) -> tensor<1x4x8x8xf32> {
  %y = nn.batch_norm %x, %s, %s, %s, %s : tensor<1x4x8x8xf32>, tensor<4xf32>
  return %y : tensor<1x4x8x8xf32>
}
