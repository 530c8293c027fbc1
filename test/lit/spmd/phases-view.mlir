// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transposition has no cores and moves nothing here: the layer behind it reads its operand with other strides. Each of
// two rows takes its columns of x and gives its rows of y.
// RUN: wsc-compile %s --execution phased --target mesh-2x2 --compile-to core -o %t && FileCheck %s --input-file=%t

// CHECK: execution "phased"
// CHECK: role @r0sc0
// CHECK: thread {
// CHECK-NEXT: move %scratch[[X:[^,]*]]{{.*}}, %in0 over [1, 1, 1, 12] : i32
// CHECK-NEXT: max %scratch{{.*}}by 0, 0, 16, 4], %scratch{{.*}}by 0, 0, 4, 12], 0.000000e+00 over [1, 1, 3, 4] : f32
// CHECK-NEXT: move %out0, %scratch{{.*}} over [1, 1, 1, 12] : i32
// CHECK: io input 0 on (0, 0){{.*}} side west {{.*}} host 0 + (0, 3) over [1, 1, 4, 3] strides [0, 0, 6, 1] padded
// CHECK: io output 0 on (0, 0){{.*}} side west {{.*}} host 0 + (0, 12) over [1, 1, 1, 12] {{.*}} padded
// CHECK: entry @main inputs ["x" : tensor<4x6xf32>] outputs ["y" : tensor<6x4xf32>] steps [configure @main.0, run @main.0 after (0)]
func.func @main(%x: tensor<4x6xf32> {nn.name = "x"}) -> (tensor<6x4xf32> {nn.name = "y"}) {
  %t = nn.transpose %x permutation [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %y = nn.unary relu %t : tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}
