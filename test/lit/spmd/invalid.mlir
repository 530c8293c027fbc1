// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the verifier of wafer.remap and the passes over nests refuse.
// RUN: wsc-opt -verify-diagnostics -split-input-file --nn-lower-to-nests %s

func.func @operand(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{piece 0 takes operand 1, there are 1}}
  %y = wafer.remap %x [<over [4] from 1 at 0 by [1] to 0 by [1]>] : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----
func.func @type(%x: tensor<4xf16>) -> tensor<4xf32> {
  // expected-error @+1 {{piece 0 takes elements of 'f16', the result has elements of 'f32'}}
  %y = wafer.remap %x [<over [4] from 0 at 0 by [1] to 0 by [1]>] : (tensor<4xf16>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----
func.func @reads_outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{piece 0 reads outside of operand 0, which has 4 elements}}
  %y = wafer.remap %x [<over [4] from 0 at 1 by [1] to 0 by [1]>] : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----
func.func @writes_outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{piece 0 writes outside of the result, which has 4 elements}}
  %y = wafer.remap %x [<over [4] from 0 at 0 by [1] to 2 by [-1]>] : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----
func.func @overlaps_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{piece 0 has strides of the result that do not nest: each must exceed what all smaller ones reach together}}
  %y = wafer.remap %x [<over [2, 2] from 0 at 0 by [2, 1] to 0 by [1, 1]>] : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{pieces place 6 elements, the result has 4; no element may be in two pieces}}
  %y = wafer.remap %x [<over [4] from 0 at 0 by [1] to 0 by [1]>, <over [2] from 0 at 0 by [1] to 0 by [1]>]
      : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----
func.func @no_fill(%x: tensor<4xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{pieces place 4 of 6 elements; say with `fill` what the others are}}
  %y = wafer.remap %x [<over [4] from 0 at 0 by [1] to 0 by [1]>] : (tensor<4xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----
func.func @fill(%x: tensor<4xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{has a fill of type 'i32', the result has elements of 'f32'}}
  %y = wafer.remap %x [<over [4] from 0 at 0 by [1] to 0 by [1]>] fill 0 : i32 : (tensor<4xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----
// expected-error @+1 {{a piece over 2 extents needs as many strides, got 1 of the operand and 2 of the result}}
func.func private @strides() attributes {p = #wafer.piece<over [2, 3] from 0 at 0 by [1] to 0 by [3, 1]>}

// -----
// expected-error @+1 {{a piece has extents of at least 1, got 0; leave out pieces of no elements}}
func.func private @extents() attributes {p = #wafer.piece<over [0] from 0 at 0 by [1] to 0 by [1]>}

// -----
// All layers without a lowering are named.
func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'wafer.enter' op has no lowering to nests}}
  %0 = wafer.enter %x : tensor<4xf32>
  // expected-error @+1 {{'wafer.enter' op has no lowering to nests}}
  %1 = wafer.enter %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----
func.func @no_table(%table: tensor<0x4xf32>, %i: tensor<3xi32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{'nn.gather' op cannot pick from axis 0 of extent 0; indices are 32-bit numbers of at least one element}}
  %y = nn.gather %table, %i axis 0 : (tensor<0x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
