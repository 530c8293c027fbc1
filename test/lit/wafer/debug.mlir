// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes tell what they decide, and nothing unless they are asked.
// RUN: wsc-opt %s --pass-pipeline='builtin.module(func.func(wafer-form-kernels,wafer-size{target=mesh-16x16},wafer-place{target=mesh-16x16},wafer-route{target=mesh-16x16}))' --debug-only=wafer-form-kernels,wafer-size,wafer-place,wafer-route -o %t.mlir 2>&1 | FileCheck %s
// RUN: wsc-opt %s --pass-pipeline='builtin.module(func.func(wafer-form-kernels,wafer-size{target=mesh-16x16},wafer-place{target=mesh-16x16},wafer-route{target=mesh-16x16}))' -o %t.quiet.mlir 2>&1 | FileCheck --allow-empty --check-prefix=QUIET %s
// RUN: cmp %t.mlir %t.quiet.mlir
// RUN: wsc-opt %s --nn-lower-to-nests --spmd-fuse-nests --debug-only=spmd-fuse-nests -o %t.nests.mlir 2>&1 | FileCheck --check-prefix=FUSE %s
// CHECK: conv0 holds{{.*}} nn.conv nn.unary
// CHECK: sizes 1 kernels in {{[0-9]+}} columns: {{[0-9]+}} cycles predicted
// CHECK: conv0 lies at column 0
// CHECK: lanes take {{[0-9]+}} colours
// QUIET-NOT: {{.}}
// FUSE: goes into its reader
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = nn.constant dense<1.0> : tensor<4x3x1x1xf32>
  %c = nn.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %r = nn.unary relu %c : tensor<1x4x8x8xf32>
  %s = nn.unary neg %r : tensor<1x4x8x8xf32>
  return %s : tensor<1x4x8x8xf32>
}
