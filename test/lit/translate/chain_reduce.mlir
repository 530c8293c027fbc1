// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eight cores in a row receive eight numbers each from the north; their sum, core by core from west to east, leaves at the east edge:
// y[i] = ((x[0][i] + x[1][i]) + x[2][i]) + … + x[7][i]. A core cannot take and give on one colour, so even cores send on
// colour 1 and odd cores on colour 2.
//
// RUN: wsc-opt %s -o %t.0.mlir
// RUN: wsc-translate --core-to-wse %s -o %t.wse
// RUN: wsc-translate --wse-to-core %t.wse -o %t.back.mlir
// RUN: wsc-opt %t.back.mlir -o %t.1.mlir
// RUN: diff %t.0.mlir %t.1.mlir
core.executable target "mesh-1x8" execution "pipelined" {
  configuration @main {
    kernel @sum rect (0, 0, 1, 8) layers ["sum"]
    net @x words 64
    net @chain words 56
    net @y words 8
    role @first kernel @sum on (0, 0) {
      %in0 = queue in 0 colour 0
      %out0 = queue out 0 colour 1
      thread {
        move %out0, %in0 over [8] : f32
      }
    }
    role @odd kernel @sum on (0, 1) + 4 x (0, 2) {
      %in0 = queue in 0 colour 0
      %in1 = queue in 1 colour 1
      %out0 = queue out 0 colour 2
      thread {
        add %out0, %in1, %in0 over [8] : f32
      }
    }
    role @even kernel @sum on (0, 2) + 3 x (0, 2) {
      %in0 = queue in 0 colour 0
      %in1 = queue in 1 colour 2
      %out0 = queue out 0 colour 1
      thread {
        add %out0, %in1, %in0 over [8] : f32
      }
    }
    router colour 0 net @x on (0, 0) + 8 x (0, 1) [north -> ramp]
    router colour 1 net @chain on (0, 0) + 4 x (0, 2) [ramp -> east]
    router colour 1 net @chain on (0, 1) + 4 x (0, 2) [west -> ramp]
    router colour 2 net @chain on (0, 1) + 3 x (0, 2) [ramp -> east]
    router colour 2 net @chain on (0, 2) + 3 x (0, 2) [west -> ramp]
    router colour 2 net @y on (0, 7) [ramp -> east]
    io input 0 on (0, 0) + 8 x (0, 1) side north colour 0 host 0 + (8) over [8] strides [1]
    io output 0 on (0, 7) side east colour 2 over [8] strides [1]
  }
  entry @main inputs ["x" : tensor<8x8xf32>] outputs ["y" : tensor<8xf32>] steps [configure @main, run @main after (0)]
}
