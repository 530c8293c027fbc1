// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Routing reads what placing decides and refuses what does not fit together.
// RUN: wsc-opt --wafer-route=target=mesh-8x8 -verify-diagnostics -split-input-file %s

func.func @no_rect(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  // expected-error @+1 {{'wafer.kernel' op needs a rect: place it first}}
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
func.func @wrong_width(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  // expected-error @+1 {{'wafer.kernel' op has a rectangle of 2 columns from row 0, its mapping covers 1 columns from row 0}}
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>, rect = #wafer.rect<row = 0, col = 0, rows = 8, cols = 2>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
func.func @wrong_row(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  // expected-error @+1 {{'wafer.kernel' op has a rectangle of 1 columns from row 3, its mapping covers 1 columns from row 0}}
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>, rect = #wafer.rect<row = 3, col = 0, rows = 8, cols = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
// expected-error @+1 {{inside mesh 8x8}}
func.func @outside(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>, rect = #wafer.rect<row = 0, col = 9, rows = 8, cols = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}
