// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every op and attribute of the wafer dialect, printed and read again.
// RUN: wsc-opt %s | wsc-opt | FileCheck %s
// RUN: wsc-opt --mlir-print-op-generic %s | wsc-opt | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME:    attributes {wafer.rows_used = 16 : i64}
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> attributes {wafer.rows_used = 16 : i64} {
  // CHECK: %[[S:.*]] = wafer.enter %{{.*}} {lane_colours = array<i32: 1, 2>, layout = #wafer.layout<tile_rows = 4, blocks = [0, 3], order = 2>} : tensor<1x3x8x8xf32>
  %s = wafer.enter %x {lane_colours = array<i32: 1, 2>, layout = #wafer.layout<tile_rows = 4, blocks = [0, 3], order = 2>} : tensor<1x3x8x8xf32>
  // CHECK: %[[R:.*]] = wafer.kernel "conv0"(%[[S]]) attributes {
  // CHECK-SAME: colours = #wafer.colours<row = 3, chain = [4, 5]>
  // CHECK-SAME: lane_colours = array<i32: 6, 7, 8, 9>
  // CHECK-SAME: layers = ["conv1", "relu1"]
  // CHECK-SAME: layout = #wafer.layout<tile_rows = 4, blocks = [0, 2, 4], order = 1>
  // CHECK-SAME: mapping = #wafer.mapping<slice = 1, column = 2, fifo = [8]>
  // CHECK-SAME: predicted_cycles = 321 : i64
  // CHECK-SAME: rect = #wafer.rect<row = 0, col = 2, rows = 16, cols = 3>
  // CHECK-SAME: } : (tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %r = wafer.kernel "conv0"(%s) attributes {
      layers = ["conv1", "relu1"], mapping = #wafer.mapping<slice = 1, column = 2, fifo = [8]>,
      layout = #wafer.layout<tile_rows = 4, blocks = [0, 2, 4], order = 1>, predicted_cycles = 321 : i64,
      rect = #wafer.rect<row = 0, col = 2, rows = 16, cols = 3>, colours = #wafer.colours<row = 3, chain = [4, 5]>,
      lane_colours = array<i32: 6, 7, 8, 9>} : (tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: ^bb0(%[[A:.*]]: tensor<1x3x8x8xf32>):
  ^bb0(%a: tensor<1x3x8x8xf32>):
    %w = nn.constant dense<0.5> : tensor<4x3x1x1xf32>
    // CHECK: %[[C:.*]] = nn.conv %[[A]]
    %c = nn.conv %a, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
    // CHECK: %[[Y:.*]] = nn.unary relu %[[C]]
    %y = nn.unary relu %c : tensor<1x4x8x8xf32>
    // CHECK: wafer.yield %[[Y]] : tensor<1x4x8x8xf32>
    wafer.yield %y : tensor<1x4x8x8xf32>
  }
  // A kernel without attributes, and one that takes two streams.
  // CHECK: wafer.kernel "add1"(%[[R]], %[[R]]) : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %d = wafer.kernel "add1"(%r, %r) : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>, %b: tensor<1x4x8x8xf32>):
    %y = nn.binary add %a, %b : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    wafer.yield %y : tensor<1x4x8x8xf32>
  }
  return %d : tensor<1x4x8x8xf32>
}

// What a mapping may say beyond slices, columns and FIFOs, alone and together.
// CHECK: func.func private @mappings() attributes {
// CHECK-SAME: a = #wafer.mapping<slice = 1, column = 2, bands = 2, fifo = [8]>
// CHECK-SAME: b = #wafer.mapping<slice = 1, column = 2, exits_near = true, fifo = [8]>
// CHECK-SAME: c = #wafer.mapping<slice = 1, column = 2, fifo = [8], streamed = true>
// CHECK-SAME: d = #wafer.mapping<slice = 1, column = 2, bands = 2, exits_near = true, fifo = [8], streamed = true>
// CHECK-SAME: e = #wafer.mapping<slice = 1, column = 2, feeder = 1, bands = 2, fifo = [8]>
func.func private @mappings() attributes {
    a = #wafer.mapping<slice = 1, column = 2, bands = 2, fifo = [8]>,
    b = #wafer.mapping<slice = 1, column = 2, exits_near = true, fifo = [8]>,
    c = #wafer.mapping<slice = 1, column = 2, fifo = [8], streamed = true>,
    d = #wafer.mapping<slice = 1, column = 2, bands = 2, exits_near = true, fifo = [8], streamed = true>,
    e = #wafer.mapping<slice = 1, column = 2, feeder = 1, bands = 2, fifo = [8]>}
