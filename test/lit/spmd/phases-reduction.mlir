// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum over an axis that is spread over four columns: the input as its reader wants it, the local part, and a reduction
// in the group of four: a chain to its first core, which sends the result back to all.
// RUN: wsc-compile %s --execution phased --target mesh-1x4 --compile-to core -o %t && FileCheck %s --input-file=%t

// Core 0 adds up its quarter, adds the sum of the others that comes along the chain, and sends the whole back.
// CHECK: role @r0c0
// CHECK: reduce_add %scratch{{\[}}[[AT:[0-9]+]]], {{.*}} over [1, 1, 1, 1024] : f32
// CHECK-NEXT: add %scratch{{\[}}[[ALL:[0-9]+]] by 0, 0, 0, 4], %in1, %scratch{{\[}}[[AT]] by 0, 0, 0, 4] : f32
// CHECK-NEXT: move %out0, %scratch{{\[}}[[ALL]] by 0, 0, 0, 4] : f32

// Core 1 skips the words of core 0, takes its own and skips the rest; it adds its sum to the one that comes.
// CHECK: role @r0c1
// CHECK: move null, %in0 over [1, 1, 1, 1024] : i32
// CHECK-NEXT: move %scratch{{.*}}, %in0 over [1, 1, 1, 1024] : i32
// CHECK-NEXT: move null, %in0 over [1, 1, 1, 2048] : i32
// CHECK: exp
// CHECK-NEXT: reduce_add {{.*}} over [1, 1, 1, 1024] : f32
// CHECK-NEXT: add %out0, %in1, %scratch{{.*}} : f32
// CHECK-NEXT: move %scratch{{.*}}, %in2 : f32

// Core 3 begins the chain and takes the result.
// CHECK: role @r0c3
// CHECK: reduce_add %scratch{{\[}}[[LAST:[0-9]+]]], {{.*}} over [1, 1, 1, 1024] : f32
// CHECK-NEXT: move %out0, %scratch{{\[}}[[LAST]] by
// CHECK-NEXT: move %scratch{{.*}}, %in1 : f32
func.func @main(%x: tensor<1x4096xf32> {nn.name = "x"}) -> (tensor<1xf32> {nn.name = "y"}) {
  %e = nn.unary exp %x : tensor<1x4096xf32>
  %y = nn.reduce sum %e axes [1] : (tensor<1x4096xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}
