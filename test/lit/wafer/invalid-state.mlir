// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: wsc-opt %s --split-input-file --verify-diagnostics --wafer-size=target=mesh-8x8

// expected-error@+1 {{a variable lies at a column >= 0 and an address that is a multiple of 8, got -1 and 0}}
nn.variable @v {wafer.state = #wafer.state<tile_rows = 1, slice = 1, rows = 8, col = -1, address = 0>} : tensor<4xf32>

// -----

// expected-error@+1 {{wafer.state is a #wafer.state on an nn.variable}}
func.func @f() attributes {wafer.state = 1 : i64} {
  return
}

// -----

nn.variable @v : tensor<4xf32>
// expected-error@+1 {{needs a place for variable v: run wafer-lay-out-state first}}
func.func @f() -> tensor<4xf32> {
  %0 = wafer.kernel "k"() : () -> tensor<4xf32> {
    %1 = nn.read @v : tensor<4xf32>
    wafer.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{yields a value but has no result}}
  wafer.kernel "k"(%x) : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<4xf32>):
    wafer.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  %s = wafer.enter %x : tensor<4xf32>
  // expected-error@+1 {{has no result and no variable}}
  wafer.kernel "k"(%s) : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<4xf32>):
    wafer.yield
  }
  return
}

// -----

nn.variable @v {wafer.state = #wafer.state<tile_rows = 1, slice = 1, rows = 8, col = 6, address = 40000>} : tensor<4xf32>
nn.variable @w {wafer.state = #wafer.state<tile_rows = 1, slice = 1, rows = 8, col = 7, address = 40000>} : tensor<4xf32>
func.func @f() -> tensor<4xf32> {
  %0 = wafer.kernel "k"() : () -> tensor<4xf32> {
    %1 = nn.read @v : tensor<4xf32>
    // expected-error@+1 {{of w in a kernel on variable v; a kernel has one variable}}
    nn.write @w, %1 : tensor<4xf32>
    wafer.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
