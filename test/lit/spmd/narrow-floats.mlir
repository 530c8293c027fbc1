// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is stored in 16 bits, and which bodies compute in it.
// RUN: wsc-opt %s --nn-lower-to-nests --spmd-fuse-nests --spmd-narrow-floats --cse \
// RUN:   | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: wsc-opt %s --nn-lower-to-nests --spmd-fuse-nests --spmd-narrow-floats="type=bf16" --cse \
// RUN:   | FileCheck %s --check-prefix=BF16
// RUN: wsc-opt %s --nn-lower-to-nests --spmd-fuse-nests --spmd-narrow-floats="contractions-only=true" --cse \
// RUN:   | FileCheck %s --check-prefixes=CHECK,SOME
// RUN: wsc-opt %s --nn-lower-to-nests --spmd-fuse-nests --spmd-narrow-floats="narrow-sums=true" --cse \
// RUN:   | FileCheck %s --check-prefix=SUMS
// RUN: not wsc-opt %s --spmd-narrow-floats="type=f8" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WRONG
// WRONG: cannot store floats as f8; types are f16 and bf16

// Factors are narrow, sums are f32, arguments and results keep their types. What stands between two products is
// rounded once, behind the bias; the last sum is not rounded at all.
// CHECK-LABEL: func.func @products(
// CHECK-SAME: tensor<3x2xf32>) -> tensor<4x2xf32>
// CHECK: ins({{.*}} : tensor<4x8xf16>, tensor<8x3xf16>) outs({{.*}} : tensor<4x3xf32>)
// CHECK:   math.fma {{.*}} : f32
// CHECK: ins({{.*}} : tensor<4x3xf32>, tensor<3xf32>) outs({{.*}} : tensor<4x3xf16>)
// CHECK:   arith.addf {{.*}} : f32
// CHECK-NEXT: arith.truncf
// CHECK: ins({{.*}} : tensor<4x3xf16>, tensor<3x2xf16>) outs({{.*}} : tensor<4x2xf32>)
// CHECK-NOT: arith.truncf
// CHECK: return
// BF16-LABEL: func.func @products(
// BF16: ins({{.*}} : tensor<4x8xbf16>, tensor<8x3xbf16>) outs({{.*}} : tensor<4x3xf32>)
// SUMS-LABEL: func.func @products(
// SUMS: ins({{.*}} : tensor<4x8xf16>, tensor<8x3xf16>) outs({{.*}} : tensor<4x3xf16>)
// SUMS:   math.fma {{.*}} : f16
// SUMS: ins({{.*}} : tensor<4x3xf16>, tensor<3x2xf16>) outs({{.*}} : tensor<4x2xf16>)
// SUMS: arith.extf
// SUMS-NEXT: linalg.yield
// SUMS-NEXT: tensor<4x2xf32>
func.func @products(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %v: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %b = nn.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = nn.matmul %x, %w bias %b : (tensor<4x8xf32>, tensor<8x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %1 = nn.matmul %0, %v : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// Constants beyond the range of f16 become its largest numbers.
// CHECK-LABEL: func.func @large_constants(
// CHECK: nn.constant dense<{{.*}}-6.550400e+04, 5.000000e-01
func.func @large_constants(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = nn.constant dense<[[1.0, 2.0], [-1.0e9, 0.5]]> : tensor<2x2xf32>
  %0 = nn.matmul %x, %w : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// One operation that rounds, minima and signs beside it: the bits are those of f16 operations. Two that round go on in
// f32. In products only, what others read too stays as it is, with a narrow copy.
// CHECK-LABEL: func.func @bodies(
// ALL: arith.addf {{.*}} : f16
// ALL-NEXT: arith.maximumf {{.*}} : f16
// ALL-NEXT: linalg.yield {{.*}} : f16
// ALL: arith.addf {{.*}} : f32
// ALL-NEXT: math.exp {{.*}} : f32
// ALL-NEXT: arith.truncf
// SOME: arith.maximumf {{.*}} : f32
// SOME-NEXT: linalg.yield {{.*}} : f32
// SOME: arith.truncf
// SOME-NEXT: linalg.yield {{.*}} : f16
// SOME: math.exp {{.*}} : f32
// SOME-NEXT: arith.truncf
// SOME-NEXT: linalg.yield {{.*}} : f16
func.func @bodies(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = nn.transpose %x permutation [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = nn.binary add %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = nn.unary relu %1 : tensor<4x4xf32>
  %3 = nn.binary add %2, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = nn.unary exp %3 : tensor<4x4xf32>
  %5 = nn.matmul %2, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = nn.matmul %4, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5, %6 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Maxima of stored elements are of their type; sums and what is computed from them alone stay in f32.
// CHECK-LABEL: func.func @statistics(
// ALL: arith.maximumf %{{.*}} : f16
// ALL: ins({{.*}} : tensor<4x4xf16>) outs({{.*}} : tensor<4x1xf32>)
// ALL: ins({{.*}} : tensor<4x1xf32>) outs({{.*}} : tensor<4x1xf32>)
// ALL:   arith.divf
// ALL-NEXT: linalg.yield
// SOME-NOT: f16
// CHECK: return
func.func @statistics(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.transpose %x permutation [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = nn.reduce max %0 axes [1] {keepdims} : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %2 = nn.binary sub %0, %1 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %3 = nn.reduce mean %2 axes [1] {keepdims} : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %4 = nn.binary sub %2, %3 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// What only products read through a maximum and a reshape is narrow before it.
// CHECK-LABEL: func.func @pooled(
// CHECK: math.exp
// CHECK: arith.truncf
// CHECK: arith.maximumf %{{.*}} : f16
// CHECK-NEXT: linalg.yield %{{.*}} : f16
// CHECK: ins({{.*}} : tensor<1x4xf16>, tensor<4x2xf16>)
func.func @pooled(%x: tensor<1x4x2x2xf32>, %w: tensor<4x2xf32>) -> tensor<1x2xf32> {
  %0 = nn.unary exp %x : tensor<1x4x2x2xf32>
  %1 = nn.binary add %0, %x : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %2 = nn.unary exp %1 : tensor<1x4x2x2xf32>
  %3 = nn.pool max %2 kernel [2, 2] : (tensor<1x4x2x2xf32>) -> tensor<1x4x1x1xf32>
  %4 = nn.reshape %3 : tensor<1x4x1x1xf32> -> tensor<1x4xf32>
  %5 = nn.matmul %4, %w : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  return %5 : tensor<1x2xf32>
}

// Types other than f32 stay.
// CHECK-LABEL: func.func @integers(
// CHECK-NOT: f16
// CHECK: return
func.func @integers(%x: tensor<4x4xi32>, %y: tensor<4x4xf64>) -> (tensor<4x4xi32>, tensor<4x4xf64>) {
  %0 = nn.matmul %x, %x : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  %1 = nn.matmul %y, %y : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  return %0, %1 : tensor<4x4xi32>, tensor<4x4xf64>
}
