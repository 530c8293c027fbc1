// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// y = A·x for a 16×16 matrix on 4×4 cores. Core (r, c) holds the 4×4 block of rows 4r… and columns 4c…, stored column by column so
// that a vector instruction runs along its rows. The numbers x[4c…] enter at column c from the north and are multicast down it. Each core takes
// the partial sums from its western neighbour and adds its own columns onto them, so that every y[i] is one chain of multiply-adds
// in the order of the columns. Columns alternate between colours 1 and 2; y leaves at the east edge.
//
// RUN: wsc-translate --core-to-wse %s -o %t.wse
// RUN: wsc-translate --wse-to-core %t.wse -o %t.back.mlir
// RUN: wsc-translate --core-to-wse %t.back.mlir -o %t.again.wse
// RUN: cmp %t.wse %t.again.wse
// RUN: FileCheck %s --input-file=%t.back.mlir
core.executable target "mesh-4x4" execution "pipelined" {
  // The section is [r][c][column][row]; A[i][j] = 1 everywhere but in the first row of each block, where it is 0.5.
  // CHECK: section @A from #core.file<"{{.*}}.wse", offset = {{[0-9]+}}, bytes = 1024{{.*}}> view [256] strides [1] : f32
  section @A from dense<[[0.5], [1.0], [1.0], [1.0]]> : tensor<4x1xf32> view [4, 4, 4, 4] strides [0, 0, 0, 1] : f32
  configuration @main {
    kernel @gemv rect (0, 0, 4, 4) layers ["gemv"] macs 256
    net @x words 16
    net @partial words 48
    net @y words 16
    // CHECK: role @first kernel @gemv on (0, 0) + 4 x (1, 0)
    role @first kernel @gemv on (0, 0) + 4 x (1, 0) {
      %A = buffer constant from @A[0 + (256)] at 8192 : 16 x f32
      %x = buffer scratch at 8256 : 4 x f32
      %sum = buffer scratch at 8272 : 4 x f32
      %in0 = queue in 0 colour 0
      %out0 = queue out 0 colour 1
      thread {
        move %x[0 by 4], %in0 over [4] : f32
        move %sum[0 by 4], 0.0 over [4] : f32
        // CHECK: loop 4 {
        loop 4 {
          // CHECK-NEXT: fma %sum[0 by 4], %A[0 by 4 loop 16], %x[0 loop 4] over [4] : f32
          fma %sum[0 by 4], %A[0 by 4 loop 16], %x[0 loop 4] over [4] : f32
        }
        move %out0, %sum[0 by 4] over [4] : f32
      }
    }
    // CHECK: role @odd kernel @gemv on (0, 1) + 4 x (1, 0) + 2 x (0, 2)
    role @odd kernel @gemv on (0, 1) + 4 x (1, 0) + 2 x (0, 2) {
      %A = buffer constant from @A[64 + (256, 128)] at 8192 : 16 x f32
      %x = buffer scratch at 8256 : 4 x f32
      %sum = buffer scratch at 8272 : 4 x f32
      %in0 = queue in 0 colour 0
      %in1 = queue in 1 colour 1
      %out0 = queue out 0 colour 2
      thread {
        move %x[0 by 4], %in0 over [4] : f32
        move %sum[0 by 4], %in1 over [4] : f32
        loop 4 {
          fma %sum[0 by 4], %A[0 by 4 loop 16], %x[0 loop 4] over [4] : f32
        }
        move %out0, %sum[0 by 4] over [4] : f32
      }
    }
    role @even kernel @gemv on (0, 2) + 4 x (1, 0) {
      %A = buffer constant from @A[128 + (256)] at 8192 : 16 x f32
      %x = buffer scratch at 8256 : 4 x f32
      %sum = buffer scratch at 8272 : 4 x f32
      %in0 = queue in 0 colour 0
      %in1 = queue in 1 colour 2
      %out0 = queue out 0 colour 1
      thread {
        move %x[0 by 4], %in0 over [4] : f32
        move %sum[0 by 4], %in1 over [4] : f32
        loop 4 {
          fma %sum[0 by 4], %A[0 by 4 loop 16], %x[0 loop 4] over [4] : f32
        }
        move %out0, %sum[0 by 4] over [4] : f32
      }
    }
    router colour 0 net @x on (0, 0) + 3 x (1, 0) + 4 x (0, 1) [north -> south ramp]
    router colour 0 net @x on (3, 0) + 4 x (0, 1) [north -> ramp]
    router colour 1 net @partial on (0, 0) + 4 x (1, 0) + 2 x (0, 2) [ramp -> east]
    router colour 1 net @partial on (0, 1) + 4 x (1, 0) + 2 x (0, 2) [west -> ramp]
    router colour 2 net @partial on (0, 1) + 4 x (1, 0) [ramp -> east]
    router colour 2 net @partial on (0, 2) + 4 x (1, 0) [west -> ramp]
    router colour 2 net @y on (0, 3) + 4 x (1, 0) [ramp -> east]
    io input 0 on (0, 0) + 4 x (0, 1) side north colour 0 host 0 + (4) over [4] strides [1]
    io output 0 on (0, 3) + 4 x (1, 0) side east colour 2 host 0 + (4) over [4] strides [1]
  }
  entry @main inputs ["x" : tensor<16xf32>] outputs ["y" : tensor<16xf32>] steps [configure @main, run @main after (0)]
}
