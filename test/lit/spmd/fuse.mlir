// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which nests and remaps are joined.
// RUN: wsc-opt --nn-lower-to-nests --spmd-fuse-nests %s | FileCheck %s

// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @chain(%x: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.unary exp %x : tensor<4xf32>
  %1 = nn.binary add %0, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = nn.unary relu %1 : tensor<4xf32>
  return %y : tensor<4xf32>
}

// A reduction takes in what it reads once, also where its axis stays.
// CHECK-LABEL: func.func @variance
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:   arith.subf
// CHECK:   arith.mulf
// CHECK:   arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @variance(%x: tensor<4x8xf32>, %m: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = nn.binary sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %1 = nn.binary mul %0, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = nn.reduce sum %1 axes [1] {keepdims} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

// A contraction would compute the function for every product.
// CHECK-LABEL: func.func @contraction
// CHECK: linalg.generic
// CHECK:   math.tanh
// CHECK: linalg.generic
// CHECK:   math.fma
func.func @contraction(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %0 = nn.unary tanh %x : tensor<4x8xf32>
  %y = nn.matmul %0, %w : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @two_uses
// CHECK-COUNT-3: linalg.generic
func.func @two_uses(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.unary exp %x : tensor<4xf32>
  %1 = nn.unary neg %0 : tensor<4xf32>
  %2 = nn.unary relu %0 : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// Heads: a reshape and a transpose are one remap.
// CHECK-LABEL: func.func @heads
// CHECK-NEXT: wafer.remap %arg0 [<over [3, 5, 4] from 0 at 0 by [4, 12, 1] to 0 by [20, 4, 1]>] : (tensor<5x12xf32>) -> tensor<3x5x4xf32>
// CHECK-NEXT: return
func.func @heads(%x: tensor<5x12xf32>) -> tensor<3x5x4xf32> {
  %0 = nn.reshape %x : tensor<5x12xf32> -> tensor<5x3x4xf32>
  %y = nn.transpose %0 permutation [1, 0, 2] : (tensor<5x3x4xf32>) -> tensor<3x5x4xf32>
  return %y : tensor<3x5x4xf32>
}

// CHECK-LABEL: func.func @there_and_back
// CHECK-NEXT: return %arg0
func.func @there_and_back(%x: tensor<5x12xf32>) -> tensor<5x12xf32> {
  %0 = nn.transpose %x permutation [1, 0] : (tensor<5x12xf32>) -> tensor<12x5xf32>
  %y = nn.transpose %0 permutation [1, 0] : (tensor<12x5xf32>) -> tensor<5x12xf32>
  return %y : tensor<5x12xf32>
}

// Pieces of a concatenation are composed one by one.
// CHECK-LABEL: func.func @concat
// CHECK-NEXT: wafer.remap %arg0 [<over [2, 3] from 0 at 0 by [1, 2] to 0 by [6, 1]>, <over [2, 3] from 0 at 1 by [-1, 2] to 3 by [6, 1]>]
// CHECK-NEXT: return
func.func @concat(%x: tensor<3x2xf32>) -> tensor<2x6xf32> {
  %0 = nn.transpose %x permutation [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %1 = nn.slice %0 starts [1, 0] sizes [2, 3] steps [-1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = nn.concat %0, %1 axis 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// What a sum reads through a gather by numbers that are all the same says nowhere how long it is: the gather stays.
// CHECK-LABEL: func.func @gather_of_one_number
// CHECK: %[[PICKED:.+]] = linalg.generic
// CHECK: tensor.extract %arg0[
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%[[PICKED]]
// CHECK-NOT: linalg.generic
func.func @gather_of_one_number(%x: tensor<1x6x5xf32>) -> tensor<2x6x1xf32> {
  %0 = nn.constant dense<0> : tensor<2x6x5xi64>
  %1 = nn.gather_elements %x, %0 axis 0 : (tensor<1x6x5xf32>, tensor<2x6x5xi64>) -> tensor<2x6x5xf32>
  %y = nn.reduce sum %1 axes [2] {keepdims} : (tensor<2x6x5xf32>) -> tensor<2x6x1xf32>
  return %y : tensor<2x6x1xf32>
}
