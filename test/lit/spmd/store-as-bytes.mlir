// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of storage types are bytes: floats their bits, integers their values.
// RUN: wsc-opt --split-input-file --verify-diagnostics --nn-store-as-bytes %s | FileCheck %s

// CHECK-LABEL: func.func @movement
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xui8>) -> tensor<4x2xui8>
// CHECK: %[[T:.*]] = nn.transpose %[[X]] permutation [1, 0] : (tensor<2x3xui8>) -> tensor<3x2xui8>
// CHECK: nn.pad %[[T]] low [1, 0] high [0, 0] value 120 : ui8
// CHECK-NOT: nn.bitcast
func.func @movement(%x: tensor<2x3xf8E4M3FN>) -> tensor<4x2xui8> {
  %0 = nn.transpose %x permutation [1, 0] : (tensor<2x3xf8E4M3FN>) -> tensor<3x2xf8E4M3FN>
  %1 = nn.pad %0 low [1, 0] high [0, 0] value 2.560000e+02 : f8E4M3FN : (tensor<3x2xf8E4M3FN>) -> tensor<4x2xf8E4M3FN>
  %2 = nn.bitcast %1 : tensor<4x2xf8E4M3FN> -> tensor<4x2xui8>
  return %2 : tensor<4x2xui8>
}

// -----
// CHECK-LABEL: func.func @constants
// CHECK: nn.constant dense<[7, -8, -1]> : tensor<3xi8>
// CHECK: nn.constant dense<[7, 8, 15]> : tensor<3xui8>
// CHECK: nn.constant dense<[2, 13]> : tensor<2xui8>
// CHECK: nn.constant #nn.weights<"m.bin", offset = 3, bytes = 4, hash = 0> : tensor<4xui8>
func.func @constants() -> (tensor<3xi4>, tensor<3xui4>, tensor<2xf4E2M1FN>, tensor<4xf8E5M2>) {
  %0 = nn.constant dense<[7, -8, -1]> : tensor<3xi4>
  %1 = nn.constant dense<[7, 8, 15]> : tensor<3xui4>
  %2 = nn.constant dense<[1.0, -3.0]> : tensor<2xf4E2M1FN>
  %3 = nn.constant #nn.weights<"m.bin", offset = 3, bytes = 4, hash = 0> : tensor<4xf8E5M2>
  return %0, %1, %2, %3 : tensor<3xi4>, tensor<3xui4>, tensor<2xf4E2M1FN>, tensor<4xf8E5M2>
}

// -----
func.func @arithmetic(%x: tensor<2xf8E5M2>) -> tensor<2xf8E5M2> {
  // expected-error @+1 {{takes no elements of the storage type 'f8E5M2'; convert them before}}
  %y = linalg.add ins(%x, %x : tensor<2xf8E5M2>, tensor<2xf8E5M2>) outs(%x : tensor<2xf8E5M2>) -> tensor<2xf8E5M2>
  return %y : tensor<2xf8E5M2>
}
