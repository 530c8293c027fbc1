// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum over an axis that is spread over two columns: the input as its reader wants it, the local part, and a reduction
// in the group of two: a chain to its last core, which sends the result back.
// RUN: wsc-compile %s --execution phased --target mesh-1x4 --compile-to core -o %t && FileCheck %s --input-file=%t

// Core 0 adds up its half, sends the sum along the chain and takes the result.
// CHECK: role @r0c0
// CHECK: reduce_add [[MINE:%scratch\[[0-9]+\]]], {{.*}} over [1, 1, 1, 1024] : f32
// CHECK: move %out{{[0-9]}}, {{.*}} : f32
// CHECK-NEXT: move {{%scratch.*}}, %in{{[0-9]}} : f32

// Core 1 skips the words of core 0, takes its own, adds its sum to the one that comes and sends the result back.
// CHECK: role @r0c1
// CHECK: move null, %in0 over [1, 1, 1, 2048] : i32
// CHECK-NEXT: move %scratch{{.*}}, %in0 over [1, 1, 1, 2048] : i32
// CHECK: exp
// CHECK-NEXT: reduce_add {{.*}} over [1, 1, 1, 1024] : f32
// CHECK: add [[ALL:%scratch.*]], %in1, %scratch{{.*}} : f32
// CHECK-NEXT: move %out0, [[ALL]] : f32
func.func @main(%x: tensor<1x4096xf32> {nn.name = "x"}) -> (tensor<1xf32> {nn.name = "y"}) {
  %e = nn.unary exp %x : tensor<1x4096xf32>
  %y = nn.reduce sum %e axes [1] : (tensor<1x4096xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}
