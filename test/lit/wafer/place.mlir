// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strips from west to east in dataflow order: a contraction is as wide as its columns and a feeder, other kernels one
// column. A kernel that has a rectangle keeps its column, and those after it follow.
// RUN: wsc-opt --wafer-place=target=mesh-16x16 %s | FileCheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> attributes {wafer.rows_used = 16 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x4x4xf32>
  // CHECK: wafer.kernel "conv"
  // CHECK-SAME: rect = #wafer.rect<row = 0, col = 0, rows = 16, cols = 3>
  %a = wafer.kernel "conv"(%s) attributes {mapping = #wafer.mapping<slice = 2, column = 2, fifo = [2]>,
      layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  ^bb0(%v: tensor<1x4x4x4xf32>):
    %w = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
    %c = nn.conv %v, %w : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32>
    wafer.yield %c : tensor<1x4x4x4xf32>
  }
  // Pinned three columns further east.
  // CHECK: wafer.kernel "pinned"
  // CHECK-SAME: rect = #wafer.rect<row = 0, col = 6, rows = 16, cols = 1>
  %b = wafer.kernel "pinned"(%a) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>,
      rect = #wafer.rect<row = 0, col = 6, rows = 16, cols = 1>,
      layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  ^bb0(%v: tensor<1x4x4x4xf32>):
    %c = nn.unary tanh %v : tensor<1x4x4x4xf32>
    wafer.yield %c : tensor<1x4x4x4xf32>
  }
  // CHECK: wafer.kernel "last"
  // CHECK-SAME: rect = #wafer.rect<row = 0, col = 7, rows = 16, cols = 1>
  %d = wafer.kernel "last"(%b) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>,
      layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  ^bb0(%v: tensor<1x4x4x4xf32>):
    %c = nn.unary neg %v : tensor<1x4x4x4xf32>
    wafer.yield %c : tensor<1x4x4x4xf32>
  }
  return %d : tensor<1x4x4x4xf32>
}
