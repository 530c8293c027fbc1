// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transposition has no cores and moves nothing here: the layer behind it reads its operand with other strides. Elements enter
// and leave flat over the west port's row.
// RUN: wsc-compile %s --execution phased --target mesh-2x2 --compile-to core -o %t && FileCheck %s --input-file=%t

// CHECK: execution "phased"
// CHECK: role @r0c0
// CHECK: thread {
// CHECK-NEXT: move %scratch[[X:[^,]*]]{{.*}}, %in0 over [1, 1, 1, 24] : i32
// CHECK-NEXT: max %scratch{{.*}}by 0, 0, 16, 4], %scratch{{.*}}by 0, 0, 4, 24], 0.000000e+00 over [1, 1, 6, 4] : f32
// CHECK-NEXT: move %out0, %scratch{{.*}} over [1, 1, 1, 24] : i32
// CHECK: io input 0 on (0, 0) side west {{.*}} padded
// CHECK: entry @main inputs ["x" : tensor<4x6xf32>] outputs ["y" : tensor<6x4xf32>] steps [configure @main.0, run @main.0 after (0)]
func.func @main(%x: tensor<4x6xf32> {nn.name = "x"}) -> (tensor<6x4xf32> {nn.name = "y"}) {
  %t = nn.transpose %x permutation [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %y = nn.unary relu %t : tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}
