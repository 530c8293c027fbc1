// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution of few channels on a wide image sets the interval while columns are left over: it is cut into parts
// along its width. Negative padding leaves each part the columns it makes; what follows the convolution is cut with it,
// what stands before it is not.
// RUN: wsc-opt --wafer-size=target=mesh-24x12 %s | FileCheck %s
// RUN: wsc-opt --wafer-size=target=mesh-24x2 %s | FileCheck --check-prefix=NARROW %s
// RUN: wsc-opt --wafer-size="target=mesh-24x12 equal-columns" %s | FileCheck --check-prefix=NARROW %s

// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = wafer.enter
// CHECK: %[[A:.*]] = wafer.kernel "conv0.0"(%[[S]]) attributes {layers = ["c", "r"]
// CHECK:   %[[X:.*]] = nn.unary abs %{{.*}} : tensor<1x6x6x64xf32>
// CHECK:   nn.conv %[[X]], {{.*}} pads [1, 1, 1, -31] {{.*}} -> tensor<1x4x6x32xf32>
// CHECK:   nn.unary relu {{.*}} : tensor<1x4x6x32xf32>
// CHECK: %[[B:.*]] = wafer.kernel "conv0.1"(%[[S]])
// CHECK:   pads [1, -31, 1, 1] {{.*}} -> tensor<1x4x6x32xf32>
// CHECK: %[[Y:.*]] = wafer.kernel "conv0.join"(%[[A]], %[[B]])
// CHECK:   nn.concat %{{.*}}, %{{.*}} axis 3 : (tensor<1x4x6x32xf32>, tensor<1x4x6x32xf32>) -> tensor<1x4x6x64xf32>
// CHECK: return %[[Y]]
// NARROW-NOT: conv0.0
func.func @main(%x: tensor<1x6x6x64xf32>) -> tensor<1x4x6x64xf32> {
  %s = wafer.enter %x : tensor<1x6x6x64xf32>
  %y = wafer.kernel "conv0"(%s) attributes {layers = ["c", "r"]} : (tensor<1x6x6x64xf32>) -> tensor<1x4x6x64xf32> {
  ^bb0(%a: tensor<1x6x6x64xf32>):
    %w = nn.constant dense<0.5> : tensor<4x6x3x3xf32>
    %u = nn.unary abs %a : tensor<1x6x6x64xf32>
    %c = nn.conv %u, %w pads [1, 1, 1, 1] : (tensor<1x6x6x64xf32>, tensor<4x6x3x3xf32>) -> tensor<1x4x6x64xf32>
    %r = nn.unary relu %c : tensor<1x4x6x64xf32>
    wafer.yield %r : tensor<1x4x6x64xf32>
  }
  return %y : tensor<1x4x6x64xf32>
}
