// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: wsc-opt --split-input-file --verify-diagnostics %s

func.func @conv(%x: tensor<1x3x8x8xf32>, %w: tensor<4x2x3x3xf32>) {
  // expected-error @+2 {{nn.conv: input channels 3, weight [4, 2, 3, 3] and groups 1 do not fit}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = nn.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @conv_nothing_left(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+2 {{no window of 3 taps, stride 1, dilation 1 fits extent 8 with padding -8 and 12}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = nn.conv %x, %w pads [1, -8, 1, 12] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x10xf32>
  return
}

// -----

func.func @conv_window(%x: tensor<1x3x2x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+2 {{no window of 3 taps, stride 1, dilation 1 fits extent 2 with padding 0 and 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = nn.conv %x, %w : (tensor<1x3x2x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x1x6xf32>
  return
}

// -----

func.func @conv_result(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<1x4x6x6xf32>' are incompatible with return type(s) of operation 'tensor<1x4x8x8xf32>'}}
  %0 = nn.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @pool(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+2 {{padding 2 is not smaller than the window of 2 taps}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = nn.pool max %x kernel [2, 2] pads [2, 0, 0, 0] : (tensor<1x3x8x8xf32>) -> tensor<1x3x9x7xf32>
  return
}

// -----

func.func @matmul(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+2 {{inner extents differ: lhs [2, 3], rhs [4, 5]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = nn.matmul %a, %b : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @reshape(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{needs equal element counts}}
  %0 = nn.reshape %x : tensor<2x3xf32> -> tensor<7xf32>
  return
}

// -----

func.func @transpose(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{[1, 1] is no permutation of 2 dimensions}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = nn.transpose %x permutation [1, 1] : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @slice(%x: tensor<5xf32>) {
  // expected-error @+2 {{start 1, size 3, step -1 leave dimension 0 of extent 5}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = nn.slice %x starts [1] sizes [3] steps [-1] : (tensor<5xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @unary(%x: tensor<5xi32>) {
  // expected-error @+1 {{exp needs a float element type, found 'i32'}}
  %0 = nn.unary exp %x : tensor<5xi32>
  return
}

// -----

func.func @reduce(%x: tensor<5x2xf32>) {
  // expected-error @+2 {{axes [1, 0] must be strictly increasing and in [0, 2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = nn.reduce sum %x axes [1, 0] : (tensor<5x2xf32>) -> tensor<f32>
  return
}

// -----

// expected-error @+1 {{needs 24 bytes, found 20}}
nn.variable @v : tensor<6xf32> = #nn.weights<"w", offset = 0, bytes = 20, hash = 0> : tensor<6xf32>

// -----

nn.variable @v : tensor<6xf32>
func.func @read() {
  // expected-error @+1 {{variable @v has type 'tensor<6xf32>', used as 'tensor<5xf32>'}}
  %0 = nn.read @v : tensor<5xf32>
  return
}

// -----

func.func @write(%x: tensor<6xf32>) {
  // expected-error @+1 {{no nn.variable named @absent}}
  nn.write @absent, %x : tensor<6xf32>
  return
}

// -----

// expected-error @+1 {{'nn.name' must be a non-empty string}}
func.func @name(%x: tensor<6xf32> {nn.name = 3}) {
  return
}

// -----

func.func @conv_attributes(%x: tensor<1x3x8x8x8xf32>, %w: tensor<4x3x3x3x3xf32>) {
  // expected-error @+2 {{nn.conv over 3 spatial dimensions needs as many kernel extents, strides and dilations and twice as many pads, found 3, 2, 2 and 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = nn.conv %x, %w : (tensor<1x3x8x8x8xf32>, tensor<4x3x3x3x3xf32>) -> tensor<1x4x6x6x6xf32>
  return
}

// -----

func.func @pool_integers(%x: tensor<1x3x8x8xi8>) {
  // expected-error @+2 {{nn.pool avg needs a float element type, found 'i8'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = nn.pool avg %x kernel [2, 2] : (tensor<1x3x8x8xi8>) -> tensor<1x3x7x7xi8>
  return
}

// -----

func.func @shift(%x: tensor<5xf32>) {
  // expected-error @+2 {{nn.binary shift_left needs an integer element type, found 'f32'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = nn.binary shift_left %x, %x : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @bitcast(%x: tensor<5xf32>) {
  // expected-error @+1 {{needs element types of equal width, not i1, found 'f32' and 'i64'}}
  %0 = nn.bitcast %x : tensor<5xf32> -> tensor<5xi64>
  return
}

// -----

func.func @gather_elements(%x: tensor<5x4xf32>, %i: tensor<2x3xi64>) {
  // expected-error @+2 {{nn.gather_elements: indices [2, 3] and input [5, 4] must have equal extents but along axis 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = nn.gather_elements %x, %i axis 0 : (tensor<5x4xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  return
}
