// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that are no network of nests.
// RUN: wsc-opt -verify-diagnostics -split-input-file --spmd-print-network %s

func.func @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is no part of a network of nests; run nn-lower-to-nests before}}
  %y = nn.unary relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----
// expected-error @+1 {{has a value of type 'tensor<4xi4>'; cores hold statically shaped tensors of f16, bf16, f32, f64, integers of 8 to 64 bits and i1}}
func.func @type(%x: tensor<4xi4>) -> tensor<4xi4> {
  return %x : tensor<4xi4>
}

// -----
#id = affine_map<(d0) -> (d0)>
func.func @operation(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%v: f32, %old: f32):
    // expected-error @+1 {{body has operation math.cbrt, which is no opcode of a core}}
    %0 = math.cbrt %v : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----
func.func @fill(%x: tensor<4xi64>) -> tensor<6xi64> {
  // expected-error @+1 {{fills with 9007199254740993 : i64, which is no immediate of a core as these are f64 numbers; fill with one}}
  %y = wafer.remap %x [<over [4] from 0 at 0 by [1] to 1 by [1]>] fill 9007199254740993 : i64 : (tensor<4xi64>) -> tensor<6xi64>
  return %y : tensor<6xi64>
}

// -----
#in = affine_map<(d0) -> (d0)>
#out = affine_map<(d0) -> ()>
func.func @combiner(%x: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{reduces in a way that has no opcode: the new value is the old one plus, times, minimum or maximum another}}
  %y = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%x : tensor<4xf32>) outs(%init : tensor<f32>) {
  ^bb0(%v: f32, %old: f32):
    %0 = arith.subf %old, %v : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// -----
#in = affine_map<(d0) -> (d0 mod 2)>
#out = affine_map<(d0) -> (d0)>
func.func @index(%x: tensor<2xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{reads at index d0 mod 2; indices are sums of iterators times constants}}
  %y = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel"]}
      ins(%x : tensor<2xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%v: f32, %old: f32):
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----
#id = affine_map<(d0) -> (d0)>
func.func @empty() -> tensor<4xf32> {
  // expected-error @+1 {{has no elements to read; only what is computed without them may write over it}}
  %e = tensor.empty() : tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----
#id = affine_map<(d0) -> (d0)>
func.func @two_gathers(%table: tensor<4x4xf32>, %i: tensor<3xi32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%i : tensor<3xi32>) outs(%e : tensor<3xf32>) {
  ^bb0(%v: i32, %old: f32):
    %at = arith.index_cast %v : i32 to index
    // expected-error @+1 {{body gathers along dimensions 0 and 1; one index may come from a tensor}}
    %0 = tensor.extract %table[%at, %at] : tensor<4x4xf32>
    linalg.yield %0 : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}
