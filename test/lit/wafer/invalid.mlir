// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the verifiers of the wafer dialect refuse, attribute by attribute and op by op.
// RUN: wsc-opt -verify-diagnostics -split-input-file %s

// expected-error @+1 {{slice and column are at least 1 channel, got 0 and 2}}
func.func private @f() attributes {m = #wafer.mapping<slice = 0, column = 2, fifo = [1]>}

// -----
// expected-error @+1 {{a FIFO holds at least 1 sample, got 0}}
func.func private @f() attributes {m = #wafer.mapping<slice = 1, column = 2, fifo = [1, 0]>}

// -----
// expected-error @+1 {{a feeder makes 0 to 2 channels, as many as a column at most, got 3}}
func.func private @f() attributes {m = #wafer.mapping<slice = 1, column = 2, feeder = 3, fifo = [1]>}

// -----
// expected-error @+1 {{slice, column and fifo are at most 16777216}}
func.func private @f() attributes {m = #wafer.mapping<slice = 1, column = 9223372036854775807, fifo = [1]>}

// -----
// expected-error @+1 {{a rectangle begins at row and column >= 0 and has at least one row and column}}
func.func private @f() attributes {m = #wafer.rect<row = 0, col = -1, rows = 1, cols = 1>}

// -----
// expected-error @+1 {{a rectangle begins at row and column >= 0 and has at least one row and column}}
func.func private @f() attributes {m = #wafer.rect<row = 0, col = 0, rows = 1, cols = 0>}

// -----
// Would be column 0 in 32 bits.
// expected-error @+1 {{row, col, rows and cols are at most 16777216}}
func.func private @f() attributes {m = #wafer.rect<row = 0, col = 4294967296, rows = 1, cols = 1>}

// -----
// expected-error @+1 {{tile_rows and order are at least 1, got 0 and 1}}
func.func private @f() attributes {m = #wafer.layout<tile_rows = 0, blocks = [0, 4], order = 1>}

// -----
// expected-error @+1 {{tile_rows and order are at most 16777216}}
func.func private @f() attributes {m = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 16777217>}

// -----
// expected-error @+1 {{blocks lists the beginnings of channel blocks from 0 on, and the number of channels}}
func.func private @f() attributes {m = #wafer.layout<tile_rows = 1, blocks = [1, 4], order = 1>}

// -----
// expected-error @+1 {{blocks must increase, got 4 before 4}}
func.func private @f() attributes {m = #wafer.layout<tile_rows = 1, blocks = [0, 4, 4], order = 1>}

// -----
// expected-error @+1 {{a chain reduce alternates between two colours, got 1}}
func.func private @f() attributes {m = #wafer.colours<row = 1, chain = [2]>}

// -----
// expected-error @+1 {{row and chain colours must differ}}
func.func private @f() attributes {m = #wafer.colours<row = 1, chain = [2, 1]>}

// -----
// Would be colour 0 in 8 bits.
// expected-error @+1 {{colours are numbers from 0 to 255, got 256}}
func.func private @f() attributes {m = #wafer.colours<row = 256, chain = [2, 1]>}

// -----
func.func @lane_colours_without_layout(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'wafer.enter' op has lane_colours but no layout}}
  %s = wafer.enter %x {lane_colours = array<i32: 1>} : tensor<1x4xf32>
  return
}

// -----
func.func @lane_colour_range(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'wafer.enter' op has lane colour -1; colours are numbers from 0 to 255}}
  %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 1, blocks = [0, 4], order = 1>, lane_colours = array<i32: -1>} : tensor<1x4xf32>
  return
}

// -----
func.func @streams_and_arguments(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'wafer.kernel' op takes 1 streams but its region has 2 arguments}}
  %y = wafer.kernel "k"(%x) : (tensor<1x4xf32>) -> tensor<1x4xf32> {
  ^bb0(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>):
    wafer.yield %a : tensor<1x4xf32>
  }
  return
}

// -----
func.func @argument_type(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'wafer.kernel' op region argument 0 has type 'tensor<1x5xf32>', the stream has 'tensor<1x4xf32>'}}
  %y = wafer.kernel "k"(%x) : (tensor<1x4xf32>) -> tensor<1x5xf32> {
  ^bb0(%a: tensor<1x5xf32>):
    wafer.yield %a : tensor<1x5xf32>
  }
  return
}

// -----
func.func @terminator(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'wafer.kernel' op region must end in wafer.yield}}
  %y = wafer.kernel "k"(%x) : (tensor<1x4xf32>) -> tensor<1x4xf32> {
  ^bb0(%a: tensor<1x4xf32>):
    %n = nn.unary neg %a : tensor<1x4xf32>
  }
  return
}

// -----
func.func @yielded_type(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'wafer.kernel' op yields 'tensor<1x4xf32>' but has result type 'tensor<1x5xf32>'}}
  %y = wafer.kernel "k"(%x) : (tensor<1x4xf32>) -> tensor<1x5xf32> {
  ^bb0(%a: tensor<1x4xf32>):
    wafer.yield %a : tensor<1x4xf32>
  }
  return
}

// -----
func.func @placed_before_sized(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'wafer.kernel' op is placed but not sized: rect needs mapping}}
  %y = wafer.kernel "k"(%x) attributes {rect = #wafer.rect<row = 0, col = 0, rows = 1, cols = 1>} : (tensor<1x4xf32>) -> tensor<1x4xf32> {
  ^bb0(%a: tensor<1x4xf32>):
    wafer.yield %a : tensor<1x4xf32>
  }
  return
}

// -----
func.func @coloured_without_layout(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'wafer.kernel' op has lane_colours but no layout}}
  %y = wafer.kernel "k"(%x) attributes {lane_colours = array<i32: 1>} : (tensor<1x4xf32>) -> tensor<1x4xf32> {
  ^bb0(%a: tensor<1x4xf32>):
    wafer.yield %a : tensor<1x4xf32>
  }
  return
}

// -----
func.func @closed_region(%x: tensor<1x4xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %y = wafer.kernel "k"(%x) : (tensor<1x4xf32>) -> tensor<1x4xf32> {
  ^bb0(%a: tensor<1x4xf32>):
    // expected-error @+1 {{'nn.unary' op using value defined outside the region}}
    %n = nn.unary neg %x : tensor<1x4xf32>
    wafer.yield %n : tensor<1x4xf32>
  }
  return
}

// -----
func.func @stray_yield(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'wafer.yield' op expects parent op 'wafer.kernel'}}
  wafer.yield %x : tensor<1x4xf32>
}
