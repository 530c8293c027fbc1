// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products and convolutions are multiply-adds over the reduced iterators, then bias and rounding.
// RUN: wsc-opt --nn-lower-to-nests %s | FileCheck %s

// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG: #[[GROUPED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 * 2 + d5, d3 * 2 + d6, d4 + d7)>
// CHECK-DAG: #[[PERGROUP:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1 * 3 + d2, d5, d6, d7)>
// CHECK-DAG: #[[VOLUME:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d5, d2 + d6, d3 * 2 + d7, d4 + d8 * 2)>
// CHECK-DAG: #[[DEPTHWISE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 + d4, d3 + d5)>

// Halves are summed in f32 and rounded once.
// CHECK-LABEL: func.func @matmul
// CHECK: linalg.fill {{.*}} -> tensor<2x4x3xf32>
// CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], {{.*}}], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK:   arith.extf
// CHECK:   arith.extf
// CHECK:   math.fma
// CHECK: linalg.generic
// CHECK:   arith.addf
// CHECK:   arith.truncf
func.func @matmul(%x: tensor<4x8xf16>, %w: tensor<2x3x8xf16>, %b: tensor<3xf16>) -> tensor<2x4x3xf16> {
  %y = nn.matmul %x, %w bias %b {transpose_rhs} : (tensor<4x8xf16>, tensor<2x3x8xf16>, tensor<3xf16>) -> tensor<2x4x3xf16>
  return %y : tensor<2x4x3xf16>
}

// CHECK-LABEL: func.func @integers
// CHECK:   arith.muli
// CHECK:   arith.addi
func.func @integers(%x: tensor<4x8xi32>, %w: tensor<8x3xi32>) -> tensor<4x3xi32> {
  %y = nn.matmul %x, %w : (tensor<4x8xi32>, tensor<8x3xi32>) -> tensor<4x3xi32>
  return %y : tensor<4x3xi32>
}

// CHECK-LABEL: func.func @grouped
// CHECK: wafer.remap %arg0 [<over [4, 8, 8] from 0 at 0 by [64, 8, 1] to 11 by [100, 10, 1]>] fill 0.0
// CHECK: linalg.generic {indexing_maps = [#[[GROUPED]], #[[PERGROUP]], {{.*}}]
// CHECK: wafer.remap %{{.*}} : (tensor<1x2x3x4x8xf32>) -> tensor<1x6x4x8xf32>
func.func @grouped(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<1x6x4x8xf32> {
  %y = nn.conv %x, %w strides [2, 1] pads [1, 1, 1, 1] groups 2
      : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x8xf32>
  return %y : tensor<1x6x4x8xf32>
}

// One output channel a group: no iterator of its own, no reshape.
// CHECK-LABEL: func.func @depthwise
// CHECK: linalg.generic {indexing_maps = [#[[DEPTHWISE]]
// CHECK-NOT: wafer.remap
// CHECK: return
func.func @depthwise(%x: tensor<1x4x8x8xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %y = nn.conv %x, %w groups 4 : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %y : tensor<1x4x6x6xf32>
}

// Any number of spatial dimensions.
// CHECK-LABEL: func.func @volume
// CHECK: wafer.remap %arg0 [<over [2, 4, 6, 8] from 0 at 0 by [192, 48, 8, 1] to 10 by [400, 80, 10, 1]>]
// CHECK: linalg.generic {indexing_maps = [#[[VOLUME]], {{.*}} outs({{.*}} : tensor<1x3x4x3x6xf32>)
func.func @volume(%x: tensor<1x2x4x6x8xf32>, %w: tensor<3x2x2x3x3xf32>) -> tensor<1x3x4x3x6xf32> {
  %y = nn.conv %x, %w strides [1, 2, 1] dilations [1, 1, 2] pads [0, 1, 0, 1, 1, 2]
      : (tensor<1x2x4x6x8xf32>, tensor<3x2x2x3x3xf32>) -> tensor<1x3x4x3x6xf32>
  return %y : tensor<1x3x4x3x6xf32>
}

// Negative padding takes rows away, here the first of the image.
// CHECK-LABEL: func.func @cropped
// CHECK: wafer.remap %arg0 [<over [6, 8] from 0 at 16 by [8, 1] to 1 by [10, 1]>]
func.func @cropped(%x: tensor<1x1x8x8xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x4x8xf32> {
  %y = nn.conv %x, %w pads [-2, 1, 0, 1] : (tensor<1x1x8x8xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x8xf32>
  return %y : tensor<1x1x4x8xf32>
}

// A sum of nothing.
// CHECK-LABEL: func.func @no_depth
// CHECK: wafer.remap [] fill 0.0{{.*}} -> tensor<4x3xf32>
func.func @no_depth(%x: tensor<4x0xf32>, %w: tensor<0x3xf32>) -> tensor<4x3xf32> {
  %y = nn.matmul %x, %w : (tensor<4x0xf32>, tensor<0x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// Whole numbers are read in the type they were widened from, a constant that fits it too.
// CHECK-LABEL: func.func @narrow
// CHECK: linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<2x3xi8>, tensor<3x2xi8>)
// CHECK: %[[A:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK: %[[B:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.muli %[[A]], %[[B]] : i32
func.func @narrow(%x: tensor<2x3xi8>) -> tensor<2x2xi32> {
  %w = nn.constant dense<[[1, -2], [127, -128], [0, 5]]> : tensor<3x2xi32>
  %0 = nn.cast %x : tensor<2x3xi8> -> tensor<2x3xi32>
  %y = nn.matmul %0, %w : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
  return %y : tensor<2x2xi32>
}

// Two narrow types have no multiply-add in common.
// CHECK-LABEL: func.func @not_narrow
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<2x3xi32>, tensor<3x2xi32>)
func.func @not_narrow(%x: tensor<2x3xui8>, %w: tensor<3x2xi8>) -> tensor<2x2xi32> {
  %0 = nn.cast %x : tensor<2x3xui8> -> tensor<2x3xi32>
  %1 = nn.cast %w : tensor<3x2xi8> -> tensor<3x2xi32>
  %y = nn.matmul %0, %1 : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
  return %y : tensor<2x2xi32>
}
