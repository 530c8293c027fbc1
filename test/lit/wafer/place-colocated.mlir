// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A co-located kernel lies on the first column of its host, whose feeders do its work: it takes none of the columns.
// RUN: wsc-opt --wafer-place=target=mesh-8x8 %s | FileCheck %s
// RUN: wsc-opt --wafer-place=target=mesh-8x8 --wafer-route=target=mesh-8x8 %s | FileCheck %s --check-prefix=LANES

// CHECK: wafer.kernel "join"
// CHECK-SAME: colocated = true
// CHECK-SAME: rect = #wafer.rect<row = 0, col = 0, rows = 8, cols = 1>
// CHECK: wafer.kernel "point"
// CHECK-SAME: rect = #wafer.rect<row = 0, col = 0, rows = 8, cols = 3>

// Four tiles are four lanes; they leave for the edge, not for the host.
// LANES: wafer.kernel "join"
// LANES-SAME: lane_colours = array<i32: {{[0-9]+, [0-9]+, [0-9]+, [0-9]+}}>
func.func @dense_layer(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> (tensor<1x4x4x2xf32>, tensor<1x8x4x2xf32>) attributes {wafer.rows_used = 8 : i64} {
  %a = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x4x2xf32>
  %b = wafer.enter %y {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x4x2xf32>
  %j = wafer.kernel "join"(%a, %b) attributes {mapping = #wafer.mapping<slice = 4, column = 8, colocated = true, fifo = [2, 2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 8], order = 1>}
      : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x8x4x2xf32> {
  ^bb0(%u: tensor<1x4x4x2xf32>, %v: tensor<1x4x4x2xf32>):
    %c = nn.concat %u, %v axis 1 : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x8x4x2xf32>
    wafer.yield %c : tensor<1x8x4x2xf32>
  }
  %p = wafer.kernel "point"(%j) attributes {mapping = #wafer.mapping<slice = 4, column = 2, fifo = [1]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x8x4x2xf32>) -> tensor<1x4x4x2xf32> {
  ^bb0(%v: tensor<1x8x4x2xf32>):
    %w = nn.constant dense<0.5> : tensor<4x8x1x1xf32>
    %c = nn.conv %v, %w : (tensor<1x8x4x2xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x4x2xf32>
    wafer.yield %c : tensor<1x4x4x2xf32>
  }
  return %p, %j : tensor<1x4x4x2xf32>, tensor<1x8x4x2xf32>
}
