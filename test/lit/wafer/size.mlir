// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizing fills in mapping, layout and prediction of every kernel, a layout for every input, and the rows in use. What it
// chooses is its affair; that the choice covers the channels and gives every stream taken in a FIFO is not.
// RUN: wsc-opt --wafer-size=target=mesh-16x16 %s | FileCheck %s
// RUN: wsc-opt --wafer-size=target=mesh-16x16 %s | wsc-opt --wafer-size=target=mesh-16x16 | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME:    attributes {wafer.bounds = array<i64: {{[0-9]+}}, 22, 10, {{[0-9]+}}>, wafer.rows_used = {{[0-9]+}} : i64}
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: %[[S:.*]] = wafer.enter %{{.*}} {layout = #wafer.layout<tile_rows = {{[0-9]+}}, blocks = [0, {{([0-9]+, )*}}3], order = {{[0-9]+}}>}
  %s = wafer.enter %x : tensor<1x3x8x8xf32>
  // CHECK: %[[A:.*]] = wafer.kernel "conv0"(%[[S]]) attributes {layout = #wafer.layout<tile_rows = {{[0-9]+}}, blocks = [0, {{([0-9]+, )*}}4], order = {{[0-9]+}}>
  // CHECK-SAME: mapping = #wafer.mapping<slice = {{[1-3]}}, column = {{[1-4]}}, {{(bands = [0-9]+, )?}}fifo = [{{[0-9]+}}]>
  // CHECK-SAME: predicted_cycles = {{[1-9][0-9]*}} : i64
  %a = wafer.kernel "conv0"(%s) : (tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%v: tensor<1x3x8x8xf32>):
    %w = nn.constant dense<0.5> : tensor<4x3x3x3xf32>
    %c = nn.conv %v, %w pads [1, 1, 1, 1] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
    wafer.yield %c : tensor<1x4x8x8xf32>
  }
  // CHECK: wafer.kernel "unary1"(%[[A]])
  // CHECK-SAME: fifo = [{{[0-9]+}}]>
  %b = wafer.kernel "unary1"(%a) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%v: tensor<1x4x8x8xf32>):
    %c = nn.unary tanh %v : tensor<1x4x8x8xf32>
    wafer.yield %c : tensor<1x4x8x8xf32>
  }
  // Two streams, two FIFOs.
  // CHECK: wafer.kernel "add2"
  // CHECK-SAME: fifo = [{{[0-9]+}}, {{[0-9]+}}]>
  %d = wafer.kernel "add2"(%a, %b) : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%v: tensor<1x4x8x8xf32>, %u: tensor<1x4x8x8xf32>):
    %c = nn.binary add %v, %u : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    wafer.yield %c : tensor<1x4x8x8xf32>
  }
  return %d : tensor<1x4x8x8xf32>
}
