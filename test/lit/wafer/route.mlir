// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every lane gets a colour, and a contraction three of its own; the skip connection's lanes pass over the convolution on
// colours it does not use. The result is read again and compiles.
// RUN: wsc-opt --wafer-route=target=mesh-16x16 %s | FileCheck %s
// RUN: wsc-opt --wafer-route=target=mesh-16x16 %s -o %t.mlir
// RUN: wsc-compile %t.mlir --target mesh-16x16 --quiet -o %t.wse
// RUN: wsc-run %t.wse --random 1 --replay 20 | FileCheck --check-prefix=VALUES %s

// VALUES: replay {{.*}} agree with the scalar interpreter

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> attributes {wafer.rows_used = 16 : i64} {
  // Four tiles, four lanes, on four rows: they may share a colour where they do not meet.
  // CHECK: wafer.enter %{{.*}} {lane_colours = array<i32: {{[0-9]+, [0-9]+, [0-9]+, [0-9]+}}>
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x4x4xf32>
  // CHECK: wafer.kernel "conv"
  // CHECK-SAME: colours = #wafer.colours<row = {{[0-9]+}}, chain = [{{[0-9]+, [0-9]+}}]>
  // Two channel blocks, eight lanes.
  // CHECK-SAME: lane_colours = array<i32: {{([0-9]+, ){7}[0-9]+}}>
  %a = wafer.kernel "conv"(%s) attributes {mapping = #wafer.mapping<slice = 2, column = 2, fifo = [2]>,
      rect = #wafer.rect<row = 0, col = 0, rows = 16, cols = 3>,
      layout = #wafer.layout<tile_rows = 1, blocks = [0, 2, 4], order = 1>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  ^bb0(%v: tensor<1x4x4x4xf32>):
    %w = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
    %c = nn.conv %v, %w : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32>
    wafer.yield %c : tensor<1x4x4x4xf32>
  }
  // CHECK: wafer.kernel "add"
  // CHECK-NOT: colours = #wafer.colours
  // CHECK-SAME: lane_colours = array<i32: {{[0-9]+, [0-9]+, [0-9]+, [0-9]+}}>
  %b = wafer.kernel "add"(%a, %s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2, 8]>,
      rect = #wafer.rect<row = 0, col = 5, rows = 16, cols = 1>,
      layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  ^bb0(%v: tensor<1x4x4x4xf32>, %u: tensor<1x4x4x4xf32>):
    %c = nn.binary add %v, %u : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
    wafer.yield %c : tensor<1x4x4x4xf32>
  }
  return %b : tensor<1x4x4x4xf32>
}
