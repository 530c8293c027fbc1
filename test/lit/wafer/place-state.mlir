// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: wsc-opt %s --wafer-form-kernels --wafer-lay-out-state=target=mesh-8x8 --wafer-size=target=mesh-8x8 --wafer-place=target=mesh-8x8 --wafer-route=target=mesh-8x8 > %t
// RUN: FileCheck %s < %t
// RUN: wsc-opt %t | FileCheck %s

// Columns from the east, in order; addresses at the end of SRAM; the same grid for all functions.
// CHECK: nn.variable @image {wafer.state = #wafer.state<tile_rows = 2, slice = 2, rows = [[ROWS:[0-9]+]], col = 6, address = [[A:[0-9]+]]>}
// CHECK: nn.variable @bias {wafer.state = #wafer.state<tile_rows = 1, slice = 1, rows = [[ROWS]], col = 7, address = 49144>}
nn.variable @image : tensor<1x4x8x8xf32>
nn.variable @bias : tensor<4xf32>

// CHECK-LABEL: func.func @store
// CHECK-SAME: wafer.rows_used = [[ROWS]]
// CHECK: wafer.kernel "image.state"
// CHECK-SAME: lane_colours = array<i32>
// CHECK-SAME: mapping = #wafer.mapping<slice = 2, column = 4
// CHECK-SAME: rect = #wafer.rect<row = 0, col = 6, rows = [[ROWS]], cols = 1>
func.func @store(%x: tensor<1x4x8x8xf32>) {
  nn.write @image, %x : tensor<1x4x8x8xf32>
  return
}

// CHECK-LABEL: func.func @load
// CHECK-SAME: wafer.rows_used = [[ROWS]]
// CHECK-DAG: wafer.kernel "image.state"{{.*}} col = 6
// CHECK-DAG: wafer.kernel "bias.state"{{.*}} col = 7
func.func @load() -> (tensor<1x4x8x8xf32>, tensor<4xf32>) {
  %0 = nn.read @image : tensor<1x4x8x8xf32>
  %1 = nn.read @bias : tensor<4xf32>
  return %0, %1 : tensor<1x4x8x8xf32>, tensor<4xf32>
}
