// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise layers are one nest each; operands broadcast by their maps, splat constants stand in the body.
// RUN: wsc-opt --nn-lower-to-nests %s | FileCheck %s

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d0, 0)>

// CHECK-LABEL: func.func @broadcast
// CHECK: linalg.generic {indexing_maps = [#[[COLUMN]], #[[ROW]], #[[ID]]], iterator_types = ["parallel", "parallel"]}
// CHECK:   arith.addf
func.func @broadcast(%a: tensor<2x1xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %y = nn.binary add %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @splat
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<4xf32>)
// CHECK:   %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK:   arith.mulf %{{.*}}, %[[HALF]]
func.func @splat(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = nn.constant dense<0.5> : tensor<f32>
  %y = nn.binary mul %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Bodies are signless; unsigned tensors choose unsigned operations.
// CHECK-LABEL: func.func @unsigned
// CHECK:   builtin.unrealized_conversion_cast %{{.*}} : ui8 to i8
// CHECK:   arith.divui {{.*}} : i8
// CHECK:   builtin.unrealized_conversion_cast %{{.*}} : i8 to ui8
func.func @unsigned(%a: tensor<4xui8>, %b: tensor<4xui8>) -> tensor<4xui8> {
  %y = nn.binary div %a, %b : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %y : tensor<4xui8>
}

// A shift to the right copies the sign where there is one.
// CHECK-LABEL: func.func @shifts
// CHECK:   arith.shli {{.*}} : i16
// CHECK:   arith.shrui {{.*}} : i16
// CHECK:   arith.shrsi {{.*}} : i16
func.func @shifts(%a: tensor<4xui16>, %b: tensor<4xi16>) -> (tensor<4xui16>, tensor<4xi16>) {
  %0 = nn.binary shift_left %a, %a : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xui16>
  %1 = nn.binary shift_right %0, %a : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xui16>
  %2 = nn.binary shift_right %b, %b : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi16>
  return %1, %2 : tensor<4xui16>, tensor<4xi16>
}

// The remainder has the sign of the dividend; `mod` moves it to the divisor's side.
// CHECK-LABEL: func.func @mod
// CHECK:   %[[R:.*]] = arith.remf
// CHECK:   %[[SUM:.*]] = arith.addf %[[R]]
// CHECK:   arith.select %{{.*}}, %[[SUM]], %[[R]]
func.func @mod(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.binary mod %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @cast
// CHECK:   arith.cmpf une
// CHECK:   linalg.yield %{{.*}} : i1
func.func @cast(%x: tensor<4xf32>) -> tensor<4xi1> {
  %y = nn.cast %x : tensor<4xf32> -> tensor<4xi1>
  return %y : tensor<4xi1>
}

// Integers of one width differ in their type alone.
// CHECK-LABEL: func.func @bits
// CHECK:   arith.bitcast %{{.*}} : f32 to i32
// CHECK: linalg.generic
// CHECK-NOT: arith.
// CHECK: return
func.func @bits(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = nn.bitcast %x : tensor<4xf32> -> tensor<4xui32>
  %1 = nn.bitcast %0 : tensor<4xui32> -> tensor<4xi32>
  return %1 : tensor<4xi32>
}

// CHECK-LABEL: func.func @empty
// CHECK-NEXT: wafer.remap [] : () -> tensor<0x4xf32>
func.func @empty(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %y = nn.unary exp %x : tensor<0x4xf32>
  return %y : tensor<0x4xf32>
}
