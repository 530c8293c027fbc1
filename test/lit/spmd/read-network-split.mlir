// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dimensions that reshapes read in parts become several dimensions, in the nests that make them and read them alike.
// RUN: wsc-opt --nn-lower-to-nests --spmd-fuse-nests --spmd-print-network --split-input-file %s -o /dev/null | FileCheck %s

// Heads of an attention: the product has an iterator for query and key, one for the head and one within it.
// CHECK-LABEL: network heads
// CHECK-NEXT: input %x: f32[5, 8]
// CHECK-NEXT: constant %w: f32[8, 2, 3, 4], 768 bytes of m.onnx from 0
// CHECK-NEXT: nest product: over [5, 2, 3, 4], reduced [8] by fma f32 from 0, macs 960
// CHECK-NEXT:   o0 = %x[i0, r0]
// CHECK-NEXT:   o1 = %w[r0, i1, i2, i3]
// CHECK-NEXT:   reduce o0, o1
// CHECK-NEXT:   %product: f32[5, 2, 3, 4] = reduced
// CHECK-NEXT: nest scores: over [3, 5, 5], reduced [4] by fma f32 from 0, macs 300
// CHECK-NEXT:   o0 = %product[i1, 0, i0, r0]
// CHECK-NEXT:   o1 = %product[i2, 1, i0, r0]
// CHECK-NOT: remap
func.func @heads(%x: tensor<5x8xf32> {nn.name = "x"}) -> (tensor<3x5x5xf32> {nn.name = "y"}) {
  %w = nn.constant #nn.weights<"m.onnx", offset = 0, bytes = 768, hash = 0> : tensor<8x24xf32> loc("w")
  %p = nn.matmul %x, %w : (tensor<5x8xf32>, tensor<8x24xf32>) -> tensor<5x24xf32> loc("product")
  %q = nn.slice %p starts [0, 0] sizes [5, 12] steps [1, 1] : (tensor<5x24xf32>) -> tensor<5x12xf32>
  %k = nn.slice %p starts [0, 12] sizes [5, 12] steps [1, 1] : (tensor<5x24xf32>) -> tensor<5x12xf32>
  %0 = nn.reshape %q : tensor<5x12xf32> -> tensor<5x3x4xf32>
  %1 = nn.transpose %0 permutation [1, 0, 2] : (tensor<5x3x4xf32>) -> tensor<3x5x4xf32>
  %2 = nn.reshape %k : tensor<5x12xf32> -> tensor<5x3x4xf32>
  %3 = nn.transpose %2 permutation [1, 2, 0] : (tensor<5x3x4xf32>) -> tensor<3x4x5xf32>
  %s = nn.matmul %1, %3 : (tensor<3x5x4xf32>, tensor<3x4x5xf32>) -> tensor<3x5x5xf32> loc("scores")
  return %s : tensor<3x5x5xf32>
}

// -----
// A dimension of an input stays whole, and with it what walks it.
// CHECK-LABEL: network given
// CHECK: nest sum: over [12], reduced [5] by reduce_add f32 from 0
// CHECK-NEXT:   o0 = %x[r0, i0]
// CHECK: remap
func.func @given(%x: tensor<5x12xf32> {nn.name = "x"}) -> (tensor<3x4xf32> {nn.name = "y"}) {
  %0 = nn.reduce sum %x axes [0] : (tensor<5x12xf32>) -> tensor<12xf32> loc("sum")
  %1 = nn.reshape %0 : tensor<12xf32> -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
