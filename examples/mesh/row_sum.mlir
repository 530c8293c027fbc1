// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Four cores in a row receive four numbers each from the north; their sum, core by core from west to east, leaves at
// the east edge: y[i] = ((x[0][i] + x[1][i]) + x[2][i]) + x[3][i]. docs/MeshProgram.md explains it line by line.
core.executable target "mesh-1x4" execution "pipelined" {
  configuration @main {
    kernel @sum rect (0, 0, 1, 4) layers ["sum"]
    net @x words 16
    net @chain words 12
    net @y words 4
    role @first kernel @sum on (0, 0) {
      %in0 = queue in 0 colour 0
      %out0 = queue out 0 colour 1
      thread {
        move %out0, %in0 over [4] : f32
      }
    }
    role @odd kernel @sum on (0, 1) + 2 x (0, 2) {
      %in0 = queue in 0 colour 0
      %in1 = queue in 1 colour 1
      %out0 = queue out 0 colour 2
      thread {
        add %out0, %in1, %in0 over [4] : f32
      }
    }
    role @even kernel @sum on (0, 2) {
      %in0 = queue in 0 colour 0
      %in1 = queue in 1 colour 2
      %out0 = queue out 0 colour 1
      thread {
        add %out0, %in1, %in0 over [4] : f32
      }
    }
    router colour 0 net @x on (0, 0) + 4 x (0, 1) [north -> ramp]
    router colour 1 net @chain on (0, 0) + 2 x (0, 2) [ramp -> east]
    router colour 1 net @chain on (0, 1) + 2 x (0, 2) [west -> ramp]
    router colour 2 net @chain on (0, 1) [ramp -> east]
    router colour 2 net @chain on (0, 2) [west -> ramp]
    router colour 2 net @y on (0, 3) [ramp -> east]
    io input 0 on (0, 0) + 4 x (0, 1) side north colour 0 host 0 + (4) over [4] strides [1]
    io output 0 on (0, 3) side east colour 2 over [4] strides [1]
  }
  entry @main inputs ["x" : tensor<4x4xf32>] outputs ["y" : tensor<4xf32>] steps [configure @main, run @main after (0)]
}
