// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that breaks no rule of the verifier and stops for ever: one thread fills a FIFO of four elements with eight
// before it tells the other, which waits for that first. It is not written; the error names the circle.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: not wsc-translate --core-to-wse %s -o %t/stops.wse 2>&1 | FileCheck %s
// CHECK: error: {{.*}}deadlock.mlir: configuration main: deadlock: 2 threads and 1 ports never finish a sample; a circle of waits:
// CHECK-SAME: role stuck, core (0, 0), thread 0, instruction 0 move waits for space in FIFO {{[^ ]+}}: has 0, needs 1;
// CHECK-SAME: role stuck, core (0, 0), thread 1, instruction 0 move waits for elements of FIFO {{[^ ]+}}: has 0, needs 1
// CHECK-SAME: Deepen what is full, or send and take in the same order
// RUN: ls %t | FileCheck --allow-empty --check-prefix=FILES %s
// FILES-NOT: {{.}}
core.executable target "mesh-1x1" execution "pipelined" {
  configuration @main {
    kernel @stuck rect (0, 0, 1, 1) macs 0
    role @stuck kernel @stuck on (0, 0) {
      %data = fifo at 8192 : 4 x f32
      %ready = fifo at 8256 : 1 x f32
      %first = buffer scratch at 8320 : 1 x f32
      %in0 = queue in 0 colour 0
      %out0 = queue out 0 colour 1
      thread {
        move %data, %in0 over [8] : f32
        move %ready, 1.0 over [1] : f32
      }
      thread {
        move %first[0], %ready over [1] : f32
        move %out0, %data over [8] : f32
      }
    }
    router colour 0 on (0, 0) [west -> ramp]
    router colour 1 on (0, 0) [ramp -> east]
    io input 0 on (0, 0) side west colour 0 over [8] strides [1]
    io output 0 on (0, 0) side east colour 1 over [8] strides [1]
  }
  entry @main inputs ["x" : tensor<8xf32>] outputs ["y" : tensor<8xf32>] steps [configure @main, run @main after (0)]
}
