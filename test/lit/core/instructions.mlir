// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each kind of instruction, printed as it is written.
// RUN: wsc-opt %s | wsc-opt | FileCheck %s
// RUN: wsc-opt %s --mlir-print-op-generic | wsc-opt | FileCheck %s

core.executable target "mesh-4x4" execution "pipelined" {
  configuration @main {
    role @r on (0, 0) + 4 x (1, 0) + 4 x (0, 1) {
      %x = buffer scratch at 8192 : 64 x f32
      %n = buffer scratch at 8448 : 64 x i32
      %h = buffer scratch at 8704 : 64 x f16
      %ring = fifo at 9000 : 8 x f32
      %in0 = queue in 0 colour 1
      %out0 = queue out 0 colour 2
      thread {
        // Memory, FIFO, queue, number and discard.
        // CHECK: move %x[0 by 32, 4], %in0 over [8, 8] : f32
        move %x[0 by 32, 4], %in0 over [8, 8] : f32
        // CHECK-NEXT: move %ring, %x[4] : f32
        move %ring, %x[4] : f32
        // CHECK-NEXT: move null, %in0 over [3] : f32
        move null, %in0 over [3] : f32
        // CHECK-NEXT: move %x[0 by 4], %in0 over [64] : f32 priority 2
        move %x[0 by 4], %in0 over [64] : f32 priority 2
        // CHECK-NEXT: move %x[0 by 4], -0.000000e+00 over [64] : f32
        move %x[0 by 4], -0.0 over [64] : f32
        // CHECK-NEXT: max %x[0 by 4], %x[0 by 4], 1.000000e-01 over [64] : f32
        max %x[0 by 4], %x[0 by 4], 0.1 over [64] : f32
        // CHECK-NEXT: min %x[0 by 4], %x[0 by 4], 0x7FF0000000000000 over [64] : f32
        min %x[0 by 4], %x[0 by 4], 0x7FF0000000000000 over [64] : f32
        // CHECK-NEXT: move %x[0], 0x7FF8000000000001 : f32
        move %x[0], 0x7FF8000000000001 : f32

        // Two types.
        // CHECK-NEXT: convert %h[0 by 2], %x[0 by 4] over [64] : f32 -> f16
        convert %h[0 by 2], %x[0 by 4] over [64] : f32 -> f16
        // CHECK-NEXT: fma %x[0 by 4], %h[0 by 2], %h[0 by 2] over [64] : f16 -> f32
        fma %x[0 by 4], %h[0 by 2], %h[0 by 2] over [64] : f16 -> f32

        // Trailing defaults are not printed.
        // CHECK-NEXT: exp %x[0], %x[0] : f32
        exp %x[0 + (0, 0) by 0, 0 loop 0], %x[0] over [1, 1] : f32
        // CHECK-NEXT: neg %x[0 by 0, 4], %x[-4 by -32, -4] over [1, 8] : f32
        neg %x[0 by 0, 4, 0], %x[-4 by -32, -4] over [1, 8, 1] : f32

        // Numbers affine in the lattice, steps per loop.
        // CHECK-NEXT: loop 4 + (-1) {
        loop 4 + (-1) {
          // CHECK-NEXT: loop 2 {
          loop 2 {
            // CHECK-NEXT: fma %x[16 + (4, 8) by 4], %x[0 loop 4, 64], %x[0 by 4 loop 0, 32] over [1 + (0, 1)] : f32
            fma %x[16 + (4, 8) by 4], %x[0 loop 4, 64], %x[0 by 4 loop 0, 32] over [1 + (0, 1)] : f32
          }
          // CHECK: reduce_add %x[0], %x[0 by 4] over [8] : f32
          reduce_add %x[0], %x[0 by 4] over [8] : f32
        }
        // CHECK: gather %x[0 by 4], %x[0 by 4], %n[0 by 4] over [8] : f32
        gather %x[0 by 4], %x[0 by 4], %n[0 by 4] over [8] : f32
        // CHECK-NEXT: scatter %x[0 by 4], %ring, %n[0 by 4] over [8] : f32
        scatter %x[0 by 4], %ring, %n[0 by 4] over [8] : f32
        // CHECK-NEXT: select %x[0 by 4], 1.000000e+00, %x[0 by 4] over [8] : f32
        select %x[0 by 4], 1.0, %x[0 by 4] over [8] : f32
        // CHECK-NEXT: shift_left %n[0 by 4], %n[0 by 4], 2.000000e+00 over [64] : i32
        shift_left %n[0 by 4], %n[0 by 4], 2.0 over [64] : i32
        // CHECK-NEXT: send_control %out0, 2
        send_control %out0, 2
        // CHECK-NEXT: send_control %out0, 1 priority 2
        send_control %out0, 1 priority 2
      }
      // CHECK: thread {
      // CHECK-NEXT: }
      thread {}
    }
  }
}
