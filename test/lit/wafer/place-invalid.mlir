// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Placing reads what sizing decides and refuses what does not fit together; pins are kept or refused.
// RUN: wsc-opt --wafer-place=target=mesh-8x8 -verify-diagnostics -split-input-file %s

// expected-error @+1 {{needs the attribute wafer.rows_used: size it first}}
func.func @no_rows(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
func.func @slices_cut_groups(%x: tensor<1x12x2x2xf32>) -> tensor<1x12x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 12], order = 1>} : tensor<1x12x2x2xf32>
  // expected-error @+1 {{has slices of 4 output channels; its groups of 6 ask for whole groups or equal parts of one}}
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 4, column = 12, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 12], order = 1>}
      : (tensor<1x12x2x2xf32>) -> tensor<1x12x2x2xf32> {
  ^bb0(%v: tensor<1x12x2x2xf32>):
    %w = nn.constant dense<0.5> : tensor<12x6x1x1xf32>
    %c = nn.conv %v, %w groups 2 : (tensor<1x12x2x2xf32>, tensor<12x6x1x1xf32>) -> tensor<1x12x2x2xf32>
    wafer.yield %c : tensor<1x12x2x2xf32>
  }
  return %y : tensor<1x12x2x2xf32>
}

// -----
// expected-error @+1 {{has wafer.rows_used = 100000, no mesh has more than 8192 rows}}
func.func @rows(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 100000 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
// expected-error @+1 {{has wafer.rows_spare = 8185, must be 0 to 8184 below 8 rows in use}}
func.func @spare_rows(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64, wafer.rows_spare = 8185 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
// expected-error @+1 {{the network is spread over 9 rows, target mesh-8x8 has 8; size it for this target}}
func.func @more_rows_than_the_mesh(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 9 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
func.func @no_layout(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  // expected-error @+1 {{'wafer.enter' op needs a layout over its 4 channels: size it first}}
  %s = wafer.enter %x : tensor<1x4x2x2xf32>
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
func.func @layout_of_other_channels(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  // expected-error @+1 {{'wafer.enter' op needs a layout over its 4 channels: size it first}}
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 5], order = 1>} : tensor<1x4x2x2xf32>
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
func.func @no_mapping(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  // expected-error @+1 {{'wafer.kernel' op needs a mapping: size it first}}
  %y = wafer.kernel "k"(%s) attributes {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
func.func @fifos(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  // expected-error @+1 {{'wafer.kernel' op takes 1 streams, its mapping has 2 FIFOs}}
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2, 2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
func.func @exits_near_of_an_elementwise_layer(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  // expected-error @+1 {{'wafer.kernel' op has exits near its inputs; only windows of several columns that take one stream may}}
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, exits_near = true, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
func.func @feeder_of_an_elementwise_layer(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  // expected-error @+1 {{'wafer.kernel' op has a feeder that makes 2 channels; only contractions have feeders}}
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, feeder = 2, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
func.func @feeders_without_channels(%x: tensor<1x4x2x2xf32>) -> tensor<1x7x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  // expected-error @+1 {{'wafer.kernel' op has feeders that make 2 channels, its last band has 1}}
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 4, column = 2, feeder = 2, bands = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 2, 4, 6, 7], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x7x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %w = nn.constant dense<0.5> : tensor<7x4x1x1xf32>
    %c = nn.conv %v, %w : (tensor<1x4x2x2xf32>, tensor<7x4x1x1xf32>) -> tensor<1x7x2x2xf32>
    wafer.yield %c : tensor<1x7x2x2xf32>
  }
  return %y : tensor<1x7x2x2xf32>
}

// -----
func.func @block_within_a_column(%x: tensor<1x4x2x2xf32>) -> tensor<1x8x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  // expected-error @+1 {{'wafer.kernel' op has a channel block that begins at 3, not at a multiple of 3 channels from the feeder's 2}}
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 4, column = 3, feeder = 2, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 3, 8], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x8x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %w = nn.constant dense<0.5> : tensor<8x4x1x1xf32>
    %c = nn.conv %v, %w : (tensor<1x4x2x2xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x2x2xf32>
    wafer.yield %c : tensor<1x8x2x2xf32>
  }
  return %y : tensor<1x8x2x2xf32>
}

// -----
func.func @blocks(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  // expected-error @+1 {{'wafer.kernel' op has a channel block that begins at 2, not at a multiple of 4 channels}}
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 4, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 2, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
func.func @block_inside_a_slice(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  // expected-error @+1 {{'wafer.kernel' op has a channel block that begins at 3, not at a multiple of 2 channels}}
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 2, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 3, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
func.func @too_many_slices(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 4 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  // expected-error @+1 {{'wafer.kernel' op has 4 channel slices for each of 2 tiles, more than the 4 rows in use hold; use larger slices or tiles}}
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
// expected-error @+1 {{the network needs 9 columns, target mesh-8x8 has 8; use a larger mesh}}
func.func @beyond_the_mesh(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  %y = wafer.kernel "k"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>, rect = #wafer.rect<row = 0, col = 8, rows = 8, cols = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %y : tensor<1x4x2x2xf32>
}

// -----
// A pin west of the kernel before would send words back.
// expected-error @+1 {{kernel second cannot begin at column 2: columns up to 4 are taken by kernels before it}}
func.func @out_of_order(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> attributes {wafer.rows_used = 8 : i64} {
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x2x2xf32>
  %a = wafer.kernel "first"(%s) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>, rect = #wafer.rect<row = 0, col = 3, rows = 8, cols = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  %b = wafer.kernel "second"(%a) attributes {mapping = #wafer.mapping<slice = 1, column = 4, fifo = [2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>, rect = #wafer.rect<row = 0, col = 2, rows = 8, cols = 1>}
      : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  ^bb0(%v: tensor<1x4x2x2xf32>):
    %c = nn.unary neg %v : tensor<1x4x2x2xf32>
    wafer.yield %c : tensor<1x4x2x2xf32>
  }
  return %b : tensor<1x4x2x2xf32>
}

// -----
// A co-located kernel is fed to a row by the contraction that takes it, pixel by pixel.
func.func @colocated_of_nobody(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> (tensor<1x4x4x2xf32>, tensor<1x8x4x2xf32>) attributes {wafer.rows_used = 8 : i64} {
  %a = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x4x2xf32>
  %b = wafer.enter %y {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x4x2xf32>
  // expected-error @+1 {{'wafer.kernel' op is a co-located kernel, but has no host: it must join channels of streams, and the first to take the result be a contraction of single pixels, all with the same tiles}}
  %j = wafer.kernel "join"(%a, %b) attributes {mapping = #wafer.mapping<slice = 4, column = 8, colocated = true, fifo = [2, 2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 8], order = 1>}
      : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x8x4x2xf32> {
  ^bb0(%u: tensor<1x4x4x2xf32>, %v: tensor<1x4x4x2xf32>):
    %c = nn.concat %u, %v axis 1 : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x8x4x2xf32>
    wafer.yield %c : tensor<1x8x4x2xf32>
  }
  %p = wafer.kernel "point"(%j) attributes {mapping = #wafer.mapping<slice = 4, column = 2, fifo = [1]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x8x4x2xf32>) -> tensor<1x4x4x2xf32> {
  ^bb0(%v: tensor<1x8x4x2xf32>):
    %w = nn.constant dense<0.5> : tensor<4x8x3x3xf32>
    %c = nn.conv %v, %w pads [1, 1, 1, 1] : (tensor<1x8x4x2xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x4x2xf32>
    wafer.yield %c : tensor<1x4x4x2xf32>
  }
  return %p, %j : tensor<1x4x4x2xf32>, tensor<1x8x4x2xf32>
}

// -----
func.func @colocated_with_other_slices(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> (tensor<1x4x4x2xf32>, tensor<1x8x4x2xf32>) attributes {wafer.rows_used = 8 : i64} {
  %a = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x4x2xf32>
  %b = wafer.enter %y {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x4x2xf32>
  // expected-error @+1 {{'wafer.kernel' op has slices of 8 channels and columns: 1; as a co-located kernel of point it has slices of 4 channels and one column}}
  %j = wafer.kernel "join"(%a, %b) attributes {mapping = #wafer.mapping<slice = 8, column = 8, colocated = true, fifo = [2, 2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 8], order = 1>}
      : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x8x4x2xf32> {
  ^bb0(%u: tensor<1x4x4x2xf32>, %v: tensor<1x4x4x2xf32>):
    %c = nn.concat %u, %v axis 1 : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x8x4x2xf32>
    wafer.yield %c : tensor<1x8x4x2xf32>
  }
  %p = wafer.kernel "point"(%j) attributes {mapping = #wafer.mapping<slice = 4, column = 2, fifo = [1]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>}
      : (tensor<1x8x4x2xf32>) -> tensor<1x4x4x2xf32> {
  ^bb0(%v: tensor<1x8x4x2xf32>):
    %w = nn.constant dense<0.5> : tensor<4x8x1x1xf32>
    %c = nn.conv %v, %w : (tensor<1x8x4x2xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x4x2xf32>
    wafer.yield %c : tensor<1x4x4x2xf32>
  }
  return %p, %j : tensor<1x4x4x2xf32>, tensor<1x8x4x2xf32>
}

// -----
func.func @colocated_of_bands(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> (tensor<1x4x4x2xf32>, tensor<1x8x4x2xf32>) attributes {wafer.rows_used = 8 : i64} {
  %a = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x4x2xf32>
  %b = wafer.enter %y {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x4x2xf32>
  // expected-error @+1 {{'wafer.kernel' op is a co-located kernel of point, which must have one band and not be streamed}}
  %j = wafer.kernel "join"(%a, %b) attributes {mapping = #wafer.mapping<slice = 8, column = 8, colocated = true, fifo = [2, 2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 8], order = 1>}
      : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x8x4x2xf32> {
  ^bb0(%u: tensor<1x4x4x2xf32>, %v: tensor<1x4x4x2xf32>):
    %c = nn.concat %u, %v axis 1 : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x8x4x2xf32>
    wafer.yield %c : tensor<1x8x4x2xf32>
  }
  %p = wafer.kernel "point"(%j) attributes {mapping = #wafer.mapping<slice = 8, column = 2, bands = 2, fifo = [1]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 2, 4], order = 1>}
      : (tensor<1x8x4x2xf32>) -> tensor<1x4x4x2xf32> {
  ^bb0(%v: tensor<1x8x4x2xf32>):
    %w = nn.constant dense<0.5> : tensor<4x8x1x1xf32>
    %c = nn.conv %v, %w : (tensor<1x8x4x2xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x4x2xf32>
    wafer.yield %c : tensor<1x4x4x2xf32>
  }
  return %p, %j : tensor<1x4x4x2xf32>, tensor<1x8x4x2xf32>
}

// -----
// expected-error @+1 {{kernel join cannot lie at column 0: as a co-located kernel it lies with point at column 2}}
func.func @colocated_elsewhere(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> (tensor<1x4x4x2xf32>, tensor<1x8x4x2xf32>) attributes {wafer.rows_used = 8 : i64} {
  %a = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x4x2xf32>
  %b = wafer.enter %y {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>} : tensor<1x4x4x2xf32>
  %j = wafer.kernel "join"(%a, %b) attributes {mapping = #wafer.mapping<slice = 4, column = 8, colocated = true, fifo = [2, 2]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 8], order = 1>, rect = #wafer.rect<row = 0, col = 0, rows = 8, cols = 1>}
      : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x8x4x2xf32> {
  ^bb0(%u: tensor<1x4x4x2xf32>, %v: tensor<1x4x4x2xf32>):
    %c = nn.concat %u, %v axis 1 : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x8x4x2xf32>
    wafer.yield %c : tensor<1x8x4x2xf32>
  }
  %p = wafer.kernel "point"(%j) attributes {mapping = #wafer.mapping<slice = 4, column = 2, fifo = [1]>, layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>, rect = #wafer.rect<row = 0, col = 2, rows = 8, cols = 3>}
      : (tensor<1x8x4x2xf32>) -> tensor<1x4x4x2xf32> {
  ^bb0(%v: tensor<1x8x4x2xf32>):
    %w = nn.constant dense<0.5> : tensor<4x8x1x1xf32>
    %c = nn.conv %v, %w : (tensor<1x8x4x2xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x4x2xf32>
    wafer.yield %c : tensor<1x4x4x2xf32>
  }
  return %p, %j : tensor<1x4x4x2xf32>, tensor<1x8x4x2xf32>
}
