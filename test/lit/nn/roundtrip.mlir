// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: wsc-opt %s | wsc-opt | FileCheck %s
// RUN: wsc-opt --mlir-print-op-generic %s | wsc-opt | FileCheck %s

// CHECK: nn.variable @hidden : tensor<1x10xf32> = dense<0.000000e+00> : tensor<1x10xf32>
nn.variable @hidden : tensor<1x10xf32> = dense<0.0> : tensor<1x10xf32>
// CHECK: nn.variable @empty : tensor<1x10xf32>
nn.variable @empty : tensor<1x10xf32>

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<1x3x8x8xf32> {nn.name = "x"}
// CHECK-SAME:    {nn.name = "y"}
func.func @main(%x: tensor<1x3x8x8xf32> {nn.name = "x"}, %i: tensor<2x7xi64>) -> (tensor<1x10xf32> {nn.name = "y"}) {
  // CHECK: %[[W:.*]] = nn.constant #nn.weights<"model.onnx", offset = 96, bytes = 432, hash = 18446744073709551615> : tensor<4x3x3x3xf32>
  %w = nn.constant #nn.weights<"model.onnx", offset = 96, bytes = 432, hash = 18446744073709551615> : tensor<4x3x3x3xf32>
  %b = nn.constant dense<1.0> : tensor<4xf32>
  // CHECK: %[[C:.*]] = nn.conv %{{.*}}, %[[W]] bias %{{.*}} strides [2, 2] pads [1, 1, 1, 1] :
  %c = nn.conv %x, %w bias %b strides [2, 2] pads [1, 1, 1, 1]
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  // Negative padding takes columns away.
  // CHECK: nn.conv %{{.*}}, %[[W]] pads [1, -3, 1, 1] :
  %cut = nn.conv %x, %w pads [1, -3, 1, 1] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x4xf32>
  // CHECK: nn.batch_norm %[[C]], {{.*}} {epsilon = 1.000000e-03 : f64}
  %n = nn.batch_norm %c, %b, %b, %b, %b {epsilon = 1.0e-3} : tensor<1x4x4x4xf32>, tensor<4xf32>
  // CHECK: nn.pool avg %{{.*}} kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] {count_include_pad} :
  %p = nn.pool avg %n kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] {count_include_pad}
      : (tensor<1x4x4x4xf32>) -> tensor<1x4x2x2xf32>
  // CHECK: nn.unary relu %{{.*}} : tensor<1x4x2x2xf32>
  %r = nn.unary relu %p : tensor<1x4x2x2xf32>
  // CHECK: nn.reduce mean %{{.*}} axes [2, 3] {keepdims} :
  %m = nn.reduce mean %r axes [2, 3] {keepdims} : (tensor<1x4x2x2xf32>) -> tensor<1x4x1x1xf32>
  %f = nn.reshape %m : tensor<1x4x1x1xf32> -> tensor<1x4xf32>
  %v = nn.constant dense<0.5> : tensor<10x4xf32>
  // CHECK: %[[Z:.*]] = nn.matmul %{{.*}}, %{{.*}} {transpose_rhs} :
  %z = nn.matmul %f, %v {transpose_rhs} : (tensor<1x4xf32>, tensor<10x4xf32>) -> tensor<1x10xf32>
  // CHECK: nn.softmax %[[Z]] axis 1 {log} : tensor<1x10xf32>
  %y = nn.softmax %z axis 1 {log} : tensor<1x10xf32>
  %cls = nn.constant dense<3> : tensor<2x4xi64>
  // CHECK: nn.gather %[[Z]], %{{.*}} axis 0 :
  %g = nn.gather %z, %i axis 0 : (tensor<1x10xf32>, tensor<2x7xi64>) -> tensor<2x7x10xf32>
  // CHECK: nn.gather_elements %{{.*}}, %{{.*}} axis 0 :
  %ge = nn.gather_elements %v, %cls axis 0 : (tensor<10x4xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>
  // CHECK: nn.concat %[[Z]], %[[Z]] axis 1 :
  %cc = nn.concat %z, %z axis 1 : (tensor<1x10xf32>, tensor<1x10xf32>) -> tensor<1x20xf32>
  // CHECK: nn.pad %[[Z]] low [0, 1] high [0, 2] value 0.000000e+00 : f32 :
  %pp = nn.pad %z low [0, 1] high [0, 2] value 0.0 : f32 : (tensor<1x10xf32>) -> tensor<1x13xf32>
  // CHECK: nn.slice %[[Z]] starts [0, 3] sizes [1, 4] steps [1, -1] :
  %s = nn.slice %z starts [0, 3] sizes [1, 4] steps [1, -1] : (tensor<1x10xf32>) -> tensor<1x4xf32>
  // CHECK: nn.transpose %[[Z]] permutation [1, 0] :
  %t = nn.transpose %z permutation [1, 0] : (tensor<1x10xf32>) -> tensor<10x1xf32>
  // CHECK: nn.cast %[[Z]] : tensor<1x10xf32> -> tensor<1x10xf16>
  %h = nn.cast %z : tensor<1x10xf32> -> tensor<1x10xf16>
  // CHECK: nn.broadcast_to %[[Z]] : tensor<1x10xf32> -> tensor<5x10xf32>
  %o = nn.broadcast_to %z : tensor<1x10xf32> -> tensor<5x10xf32>
  // CHECK: %[[H:.*]] = nn.read @hidden : tensor<1x10xf32>
  %old = nn.read @hidden : tensor<1x10xf32>
  // CHECK: nn.write @hidden, %{{.*}} : tensor<1x10xf32>
  nn.write @hidden, %y : tensor<1x10xf32>
  // CHECK: %[[L:.*]] = nn.binary less %[[Z]], %[[H]] : (tensor<1x10xf32>, tensor<1x10xf32>) -> tensor<1x10xi1>
  %less = nn.binary less %z, %old : (tensor<1x10xf32>, tensor<1x10xf32>) -> tensor<1x10xi1>
  // CHECK: nn.select %[[L]], %[[Z]], %[[H]] :
  %e = nn.select %less, %z, %old : (tensor<1x10xi1>, tensor<1x10xf32>, tensor<1x10xf32>) -> tensor<1x10xf32>
  return %e : tensor<1x10xf32>
}

// Windows over any number of spatial dimensions; other than two state all attributes.
// CHECK-LABEL: func.func @windows
func.func @windows(%x: tensor<2x3x6x7x8xf32>, %w: tensor<4x3x3x3x3xf32>, %line: tensor<1x2x9xi32>, %taps: tensor<5x2x3xi32>) {
  // CHECK: nn.conv %{{.*}}, %{{.*}} strides [1, 2, 1] dilations [1, 1, 2] pads [1, 0, 2, 1, 0, 2] :
  %c = nn.conv %x, %w strides [1, 2, 1] dilations [1, 1, 2] pads [1, 0, 2, 1, 0, 2]
      : (tensor<2x3x6x7x8xf32>, tensor<4x3x3x3x3xf32>) -> tensor<2x4x6x3x8xf32>
  // CHECK: nn.pool sum %{{.*}} kernel [2, 2, 2] strides [2, 2, 2] dilations [1, 1, 1] pads [0, 1, 0, 0, 0, 0] :
  %p = nn.pool sum %x kernel [2, 2, 2] strides [2, 2, 2] dilations [1, 1, 1] pads [0, 1, 0, 0, 0, 0]
      : (tensor<2x3x6x7x8xf32>) -> tensor<2x3x3x4x4xf32>
  // CHECK: nn.conv %{{.*}} strides [3] dilations [1] pads [0, 0] : {{.*}} -> tensor<1x5x3xi32>
  %i = nn.conv %line, %taps strides [3] dilations [1] pads [0, 0]
      : (tensor<1x2x9xi32>, tensor<5x2x3xi32>) -> tensor<1x5x3xi32>
  return
}

// CHECK-LABEL: func.func @bits
func.func @bits(%x: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: nn.bitcast %{{.*}} : tensor<4xf32> -> tensor<4xi32>
  %b = nn.bitcast %x : tensor<4xf32> -> tensor<4xi32>
  // CHECK: nn.binary shift_left
  %l = nn.binary shift_left %b, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: nn.binary shift_right
  %r = nn.binary shift_right %l, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}
