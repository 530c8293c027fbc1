// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What sizing refuses: unknown machines, kernels that fit no rectangle, networks wider than the mesh, and layers
// without a kernel form.
// RUN: wsc-opt --wafer-size=target=mesh-4x4 -verify-diagnostics -split-input-file %s
// RUN: not wsc-opt --wafer-size=target=wse9 -split-input-file %s 2>&1 | FileCheck --check-prefix=TARGET %s

// TARGET: error: {{.*}}wse9
// expected-error @+1 {{kernel matmul0 fits no rectangle: matmul0.mac needs 4009376 bytes on core (0, 0), limit is 49152}}
func.func @weights(%x: tensor<1x4000xf32>) -> tensor<1x3000xf32> {
  %s = wafer.enter %x : tensor<1x4000xf32>
  %y = wafer.kernel "matmul0"(%s) : (tensor<1x4000xf32>) -> tensor<1x3000xf32> {
  ^bb0(%a: tensor<1x4000xf32>):
    %w = nn.constant dense<0.5> : tensor<4000x3000xf32>
    %c = nn.matmul %a, %w : (tensor<1x4000xf32>, tensor<4000x3000xf32>) -> tensor<1x3000xf32>
    wafer.yield %c : tensor<1x3000xf32>
  }
  return %y : tensor<1x3000xf32>
}

// -----
// expected-error @+1 {{no layer takes any row of input_0: what is kept of the layers behind it is padding only}}
func.func @padding_only(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x1x4xf32> {
  %s = wafer.enter %x : tensor<1x2x4x4xf32>
  %p = wafer.kernel "pad"(%s) : (tensor<1x2x4x4xf32>) -> tensor<1x2x6x4xf32> {
  ^bb0(%v: tensor<1x2x4x4xf32>):
    %c = nn.pad %v low [0, 0, 2, 0] high [0, 0, 0, 0] value 0.0 : f32 : (tensor<1x2x4x4xf32>) -> tensor<1x2x6x4xf32>
    wafer.yield %c : tensor<1x2x6x4xf32>
  }
  %y = wafer.kernel "first_row"(%p) : (tensor<1x2x6x4xf32>) -> tensor<1x2x1x4xf32> {
  ^bb0(%v: tensor<1x2x6x4xf32>):
    %c = nn.slice %v starts [0, 0, 0, 0] sizes [1, 2, 1, 4] steps [1, 1, 1, 1] : (tensor<1x2x6x4xf32>) -> tensor<1x2x1x4xf32>
    wafer.yield %c : tensor<1x2x1x4xf32>
  }
  return %y : tensor<1x2x1x4xf32>
}

// -----
// expected-error @+1 {{the kernels need at least 5 columns together, the limit is 4; the widest at their narrowest: k4 1, k3 1, k2 1, k1 1, k0 1; take more columns, fewer kernels or narrower ones}}
func.func @too_wide(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %s = wafer.enter %x : tensor<1x4xf32>
  %a = wafer.kernel "k0"(%s) : (tensor<1x4xf32>) -> tensor<1x4xf32> {
  ^bb0(%v: tensor<1x4xf32>):
    %c = nn.softmax %v axis 1 : tensor<1x4xf32>
    wafer.yield %c : tensor<1x4xf32>
  }
  %b = wafer.kernel "k1"(%a) : (tensor<1x4xf32>) -> tensor<1x4xf32> {
  ^bb0(%v: tensor<1x4xf32>):
    %c = nn.softmax %v axis 1 : tensor<1x4xf32>
    wafer.yield %c : tensor<1x4xf32>
  }
  %d = wafer.kernel "k2"(%b) : (tensor<1x4xf32>) -> tensor<1x4xf32> {
  ^bb0(%v: tensor<1x4xf32>):
    %c = nn.softmax %v axis 1 : tensor<1x4xf32>
    wafer.yield %c : tensor<1x4xf32>
  }
  %e = wafer.kernel "k3"(%d) : (tensor<1x4xf32>) -> tensor<1x4xf32> {
  ^bb0(%v: tensor<1x4xf32>):
    %c = nn.softmax %v axis 1 : tensor<1x4xf32>
    wafer.yield %c : tensor<1x4xf32>
  }
  %f = wafer.kernel "k4"(%e) : (tensor<1x4xf32>) -> tensor<1x4xf32> {
  ^bb0(%v: tensor<1x4xf32>):
    %c = nn.softmax %v axis 1 : tensor<1x4xf32>
    wafer.yield %c : tensor<1x4xf32>
  }
  return %f : tensor<1x4xf32>
}
