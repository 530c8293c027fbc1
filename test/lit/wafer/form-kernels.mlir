// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which layers share a kernel, and what the streams between kernels are.
// RUN: wsc-opt --wafer-form-kernels %s | FileCheck %s

// Elementwise layers on constants run where the convolution's results are made.
// CHECK-LABEL: func.func @epilogue
// CHECK-SAME:    (%[[X:.*]]: tensor<1x3x8x8xf32>)
func.func @epilogue(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = nn.constant dense<0.5> : tensor<4x3x1x1xf32>
  %p = nn.constant dense<1.0> : tensor<4xf32>
  %k = nn.constant dense<2.0> : tensor<1x4x1x1xf32>
  // CHECK: %[[S:.*]] = wafer.enter %[[X]] : tensor<1x3x8x8xf32>
  // CHECK: %[[K:.*]] = wafer.kernel "conv0"(%[[S]]) attributes {layers = ["conv", "batch_norm", "unary", "binary"]}
  // CHECK: nn.conv
  // CHECK: nn.batch_norm
  // CHECK: nn.unary relu
  // CHECK: nn.binary mul
  // CHECK: wafer.yield
  // CHECK-NOT: wafer.kernel
  // CHECK: return %[[K]]
  %c = nn.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %n = nn.batch_norm %c, %p, %p, %p, %p : tensor<1x4x8x8xf32>, tensor<4xf32>
  %r = nn.unary relu %n : tensor<1x4x8x8xf32>
  %m = nn.binary mul %r, %k : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %m : tensor<1x4x8x8xf32>
}

// Elementwise layers in front of a convolution run where its input comes in.
// CHECK-LABEL: func.func @prologue
func.func @prologue(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = nn.constant dense<0.5> : tensor<4x3x1x1xf32>
  %p = nn.constant dense<1.0> : tensor<3xf32>
  %k = nn.constant dense<2.0> : tensor<3x1x1xf32>
  // CHECK: %[[S:.*]] = wafer.enter
  // CHECK: %[[K:.*]] = wafer.kernel "conv0"(%[[S]]) attributes {layers = ["binary", "batch_norm", "unary", "conv", "unary"]}
  // CHECK-NOT: wafer.kernel
  // CHECK: return %[[K]]
  %s = nn.binary sub %x, %k : (tensor<1x3x8x8xf32>, tensor<3x1x1xf32>) -> tensor<1x3x8x8xf32>
  %n = nn.batch_norm %s, %p, %p, %p, %p : tensor<1x3x8x8xf32>, tensor<3xf32>
  %r = nn.unary relu %n : tensor<1x3x8x8xf32>
  %c = nn.conv %r, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %t = nn.unary tanh %c : tensor<1x4x8x8xf32>
  return %t : tensor<1x4x8x8xf32>
}

// Not so where somebody else needs what they compute, where a constant has an element per pixel, in front of a depthwise convolution, or where there are many.
// CHECK-LABEL: func.func @no_prologue
func.func @no_prologue(%x: tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
  %w = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
  %d = nn.constant dense<0.5> : tensor<4x1x1x1xf32>
  %k = nn.constant dense<2.0> : tensor<8x8xf32>
  // CHECK-DAG: wafer.kernel "unary0"{{.*}} {layers = ["unary"]}
  // CHECK-DAG: wafer.kernel "conv1"{{.*}} {layers = ["conv"]}
  // CHECK-DAG: wafer.kernel "conv2"{{.*}} {layers = ["conv"]}
  %r = nn.unary relu %x : tensor<1x4x8x8xf32>
  %a = nn.conv %r, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %b = nn.conv %r, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: wafer.kernel "binary3"{{.*}} {layers = ["binary"]}
  // CHECK: wafer.kernel "conv4"{{.*}} {layers = ["conv"]}
  %m = nn.binary mul %x, %k : (tensor<1x4x8x8xf32>, tensor<8x8xf32>) -> tensor<1x4x8x8xf32>
  %c = nn.conv %m, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: wafer.kernel "unary5"{{.*}} {layers = ["unary"]}
  // CHECK: wafer.kernel "conv6"{{.*}} {layers = ["conv"]}
  %t = nn.unary tanh %x : tensor<1x4x8x8xf32>
  %e = nn.conv %t, %d groups 4 : (tensor<1x4x8x8xf32>, tensor<4x1x1x1xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: wafer.kernel "unary7"{{.*}} {layers = ["unary", "unary", "unary", "unary"]}
  // CHECK: wafer.kernel "conv8"{{.*}} {layers = ["conv"]}
  %f0 = nn.unary tanh %x : tensor<1x4x8x8xf32>
  %f1 = nn.unary neg %f0 : tensor<1x4x8x8xf32>
  %f2 = nn.unary tanh %f1 : tensor<1x4x8x8xf32>
  %f3 = nn.unary neg %f2 : tensor<1x4x8x8xf32>
  %f = nn.conv %f3, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %a, %b, %c, %e, %f : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
}

// A result that two layers take is a stream: the epilogue ends there. An add of two streams is a kernel and has an epilogue of its own.
// CHECK-LABEL: func.func @residual
func.func @residual(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
  // CHECK: %[[S:.*]] = wafer.enter
  // CHECK: %[[A:.*]] = wafer.kernel "conv0"(%[[S]]) attributes {layers = ["conv", "unary"]}
  %a = nn.conv %x, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %ar = nn.unary relu %a : tensor<1x4x8x8xf32>
  // CHECK: %[[B:.*]] = wafer.kernel "conv1"(%[[A]]) attributes {layers = ["conv"]}
  %b = nn.conv %ar, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: %[[C:.*]] = wafer.kernel "binary2"(%[[B]], %[[A]]) attributes {layers = ["binary", "unary"]}
  // CHECK: return %[[C]]
  %s = nn.binary add %b, %ar : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %sr = nn.unary relu %s : tensor<1x4x8x8xf32>
  return %sr : tensor<1x4x8x8xf32>
}

// A slice, padding and a convolution in groups take elementwise layers along.
// CHECK-LABEL: func.func @windows
func.func @windows(%x: tensor<1x8x8x8xf32>) -> tensor<1x4x8x9xf32> {
  %w = nn.constant dense<0.5> : tensor<4x2x1x1xf32>
  // CHECK: %[[S:.*]] = wafer.enter
  // CHECK: %[[A:.*]] = wafer.kernel "slice0"(%[[S]]) attributes {layers = ["slice", "unary"]}
  %a = nn.slice %x starts [0, 4, 0, 0] sizes [1, 4, 8, 8] steps [1, 1, 1, 1] : (tensor<1x8x8x8xf32>) -> tensor<1x4x8x8xf32>
  %ar = nn.unary relu %a : tensor<1x4x8x8xf32>
  // CHECK: %[[B:.*]] = wafer.kernel "pad1"(%[[A]]) attributes {layers = ["pad", "unary"]}
  %b = nn.pad %ar low [0, 0, 0, 1] high [0, 0, 0, 0] value 1.0 : f32 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x9xf32>
  %br = nn.unary tanh %b : tensor<1x4x8x9xf32>
  // CHECK: %[[C:.*]] = wafer.kernel "conv2"(%[[B]]) attributes {layers = ["conv", "unary"]}
  %c = nn.conv %br, %w groups 2 : (tensor<1x4x8x9xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x8x9xf32>
  %cr = nn.unary relu %c : tensor<1x4x8x9xf32>
  return %cr : tensor<1x4x8x9xf32>
}

// CHECK-LABEL: func.func @concat_and_softmax_stand_alone
func.func @concat_and_softmax_stand_alone(%x: tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32> {
  // CHECK: %[[S:.*]] = wafer.enter
  // CHECK: %[[A:.*]] = wafer.kernel "unary0"(%[[S]])
  %a = nn.unary tanh %x : tensor<1x4x8x8xf32>
  // CHECK: %[[B:.*]] = wafer.kernel "concat1"(%[[S]], %[[A]]) attributes {layers = ["concat"]}
  %b = nn.concat %x, %a axis 1 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32>
  // CHECK: %[[C:.*]] = wafer.kernel "softmax2"(%[[B]]) attributes {layers = ["softmax"]}
  %c = nn.softmax %b axis 1 : tensor<1x8x8x8xf32>
  // CHECK: %[[D:.*]] = wafer.kernel "unary3"(%[[C]]) attributes {layers = ["unary"]}
  %d = nn.unary neg %c : tensor<1x8x8x8xf32>
  return %d : tensor<1x8x8x8xf32>
}

// Reshapes and transposes at the edges stay outside of kernels: they say where the host finds the elements.
// CHECK-LABEL: func.func @edges
// CHECK-SAME:    (%[[X:.*]]: tensor<8x8x3xf32>)
func.func @edges(%x: tensor<8x8x3xf32>) -> tensor<1x8x8x4xf32> {
  %w = nn.constant dense<0.5> : tensor<4x3x1x1xf32>
  // CHECK: %[[R:.*]] = nn.reshape %[[X]]
  // CHECK: %[[T:.*]] = nn.transpose %[[R]] permutation [0, 3, 1, 2]
  // CHECK: %[[S:.*]] = wafer.enter %[[T]] : tensor<1x3x8x8xf32>
  // CHECK: %[[K:.*]] = wafer.kernel "conv0"(%[[S]])
  // CHECK: %[[Y:.*]] = nn.transpose %[[K]] permutation [0, 2, 3, 1]
  // CHECK: return %[[Y]]
  %r = nn.reshape %x : tensor<8x8x3xf32> -> tensor<1x8x8x3xf32>
  %t = nn.transpose %r permutation [0, 3, 1, 2] : (tensor<1x8x8x3xf32>) -> tensor<1x3x8x8xf32>
  %c = nn.conv %t, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %y = nn.transpose %c permutation [0, 2, 3, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  return %y : tensor<1x8x8x4xf32>
}

// A matrix product reads a flattened image where it lies: the stream is the image, the reshape goes inside.
// CHECK-LABEL: func.func @flatten
func.func @flatten(%x: tensor<1x4x6x6xf32>) -> tensor<1x10xf32> {
  %w = nn.constant dense<0.5> : tensor<10x36xf32>
  // CHECK: %[[P:.*]] = wafer.kernel "pool0"
  // CHECK: wafer.kernel "matmul1"(%[[P]]) {{.*}} : (tensor<1x4x3x3xf32>) -> tensor<1x10xf32> {
  // CHECK: ^bb0(%[[A:.*]]: tensor<1x4x3x3xf32>):
  // CHECK: %[[F:.*]] = nn.reshape %[[A]] : tensor<1x4x3x3xf32> -> tensor<1x36xf32>
  // CHECK: nn.matmul %[[F]]
  %p = nn.pool max %x kernel [2, 2] strides [2, 2] : (tensor<1x4x6x6xf32>) -> tensor<1x4x3x3xf32>
  %f = nn.reshape %p : tensor<1x4x3x3xf32> -> tensor<1x36xf32>
  %y = nn.matmul %f, %w {transpose_rhs} : (tensor<1x36xf32>, tensor<10x36xf32>) -> tensor<1x10xf32>
  return %y : tensor<1x10xf32>
}

// An input that is an output passes through a kernel, and so does a second copy of one stream.
// CHECK-LABEL: func.func @copies
func.func @copies(%x: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  // CHECK: %[[S:.*]] = wafer.enter
  // CHECK: %[[Y:.*]] = wafer.kernel "unary0"(%[[S]])
  // CHECK: %[[P:.*]] = wafer.kernel "pass1"(%[[S]])
  // CHECK: %[[Q:.*]] = wafer.kernel "pass2"(%[[Y]])
  // CHECK: return %[[P]], %[[Y]], %[[Q]]
  %y = nn.unary neg %x : tensor<1x4xf32>
  return %x, %y, %y : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}
