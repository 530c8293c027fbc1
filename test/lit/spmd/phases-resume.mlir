// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phased compilation stops at nests and at core programs, and goes on from their text; the executable has the same bytes.
// RUN: rm -rf %t && mkdir -p %t
// RUN: wsc-compile %s --execution phased --target mesh-4x4 --quiet -o %t/direct.wse
// RUN: wsc-compile %s --compile-to nests --target mesh-4x4 -o %t/nests.mlir
// RUN: FileCheck %s --input-file=%t/nests.mlir
// RUN: wsc-compile %t/nests.mlir --target mesh-4x4 --quiet -o %t/nests.wse && cmp %t/direct.wse %t/nests.wse
// RUN: wsc-compile %s --execution phased --compile-to core --target mesh-4x4 -o %t/core.mlir
// RUN: wsc-compile %t/core.mlir --quiet -o %t/core.wse && cmp %t/direct.wse %t/core.wse

// CHECK: linalg.generic
// CHECK: math.fma
// CHECK-NOT: nn.matmul
func.func @main(%x: tensor<6x8xf32> {nn.name = "x"}, %z: tensor<8x5xf32> {nn.name = "z"}) -> (tensor<6x5xf32> {nn.name = "y"}) {
  %p = nn.matmul %x, %z : (tensor<6x8xf32>, tensor<8x5xf32>) -> tensor<6x5xf32>
  %y = nn.unary tanh %p : tensor<6x5xf32>
  return %y : tensor<6x5xf32>
}
