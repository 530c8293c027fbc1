// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum over an axis that is spread over the columns, on a row of four cores: the input, a line gather in turns that brings every core
// its columns of all rows, the local part, and a chain from core to core.
// RUN: wsc-compile %s --execution phased --target mesh-1x4 --compile-to core -o %t && FileCheck %s --input-file=%t

// Core 1 skips the words of the core before it, takes its own, and skips the rest.
// CHECK: role @r0c1
// CHECK: move null, %in0 over [1, 1, 1, 512] : i32
// CHECK-NEXT: move [[OWN:%scratch\[[0-9]+ by 0, 0, 0, 4\]]], %in0 over [1, 1, 1, 512] : i32
// CHECK-NEXT: move null, %in0 over [1, 1, 1, 1024] : i32
//
// Its own words go to their place in the line; forward come those of core 0, then it has the turn; backward those of cores 3 and 2.
// CHECK-NEXT: move %scratch{{.*}}, [[OWN]] over [1, 1, 1, 512] : i32
// CHECK-NEXT: move %scratch{{.*}}, [[FORWARD:%in[0-9]]] over [1, 1, 1, 512] : i32
// CHECK-NEXT: move %[[OUT:out[0-9]]], [[OWN]] over [1, 1, 1, 512] : i32
// CHECK-NEXT: send_control %[[OUT]], 2
// CHECK-NEXT: move %scratch{{.*}}by 0, 0, -2048, 4], %in{{[0-9]}} over [1, 1, 2, 512] : i32
// CHECK-NEXT: move %[[BACK:out[0-9]]], [[OWN]] over [1, 1, 1, 512] : i32
// CHECK-NEXT: send_control %[[BACK]], 1
//
// It selects 32 of each row's 128 columns, computes, and adds its sums to those that come along the chain.
// CHECK-NEXT: move %scratch{{.*}}by 0, 0, 128, 4], %scratch[{{[0-9]+}} by 0, 0, 512, 4] over [1, 1, 16, 32] : f32
// CHECK: exp
// CHECK-NEXT: reduce_add {{.*}} over [1, 1, 16, 32] : f32
// CHECK-NEXT: add %out{{[0-9]}}, %in{{[0-9]}}, %scratch{{.*}} over [1, 1, 1, 16] : f32
func.func @main(%x: tensor<16x128xf32> {nn.name = "x"}) -> (tensor<16xf32> {nn.name = "y"}) {
  %e = nn.unary exp %x : tensor<16x128xf32>
  %y = nn.reduce sum %e axes [1] : (tensor<16x128xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}
