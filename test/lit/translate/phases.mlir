// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seven numbers, two on each of four cores, stay in SRAM while three configurations come and go: one takes them from the north, one multiplies
// them by three factors in three iterations, with a window of the factors that moves, and counts, one sends them out to the south.
//
// RUN: wsc-translate --core-to-wse %s -o %t.wse
// RUN: wsc-translate --wse-to-core %t.wse -o %t.back.mlir
// RUN: wsc-translate --core-to-wse %t.back.mlir -o %t.again.wse
// RUN: cmp %t.wse %t.again.wse
// RUN: FileCheck %s --input-file=%t.back.mlir
core.executable target "mesh-1x4" execution "phased" {
  // Three factors, 64 bytes apart.
  section @factors from dense<[2.0, 3.0, 4.0]> : tensor<3xf32> view [3, 16] strides [1, 0] : f32
  state @runs : tensor<4xi32>
  // CHECK: resident @factors : 48 x f32 on (0, 0) + 4 x (0, 1) at 8192 from @factors[0]
  resident @factors : 48 x f32 on (0, 0) + 4 x (0, 1) at 8192 from @factors[0]
  // CHECK-NEXT: resident @runs : 1 x i32 on (0, 0) + 4 x (0, 1) at 8384 of state @runs at 0 + (1)
  resident @runs : 1 x i32 on (0, 0) + 4 x (0, 1) at 8384 of state @runs at 0 + (1)
  // CHECK-NEXT: resident @x : 2 x f32 on (0, 0) + 4 x (0, 1) at 8448{{$}}
  resident @x : 2 x f32 on (0, 0) + 4 x (0, 1) at 8448

  configuration @load {
    role @load on (0, 0) + 4 x (0, 1) {
      %x = buffer resident of @x at 8448 : 2 x f32
      %in0 = queue in 0 colour 0
      thread {
        move %x[0 by 4], %in0 over [2] : f32
      }
    }
    router colour 0 on (0, 0) + 4 x (0, 1) [north -> ramp]
    // CHECK: io input 0 on (0, 0) + 4 x (0, 1) side north colour 0 host 0 + (2) over [2] strides [1] padded
    io input 0 on (0, 0) + 4 x (0, 1) side north colour 0 host 0 + (2) over [2] strides [1] padded
  }
  configuration @layer {
    role @layer on (0, 0) + 4 x (0, 1) {
      %x = buffer resident of @x at 8448 : 2 x f32
      // CHECK: %factor = buffer resident of @factors step 64 at 8192 : 16 x f32
      %factor = buffer resident of @factors step 64 at 8192 : 16 x f32
      %runs = buffer resident of @runs at 8384 : 1 x i32
      thread {
        mul %x[0 by 4], %x[0 by 4], %factor[0 by 4] over [2] : f32
        add %runs[0], %runs[0], 1.0 over [1] : i32
      }
    }
  }
  configuration @store {
    role @store on (0, 0) + 4 x (0, 1) {
      %x = buffer resident of @x at 8448 : 2 x f32
      %out0 = queue out 0 colour 0
      thread {
        move %out0, %x[0 by 4] over [2] : f32
      }
    }
    router colour 0 on (0, 0) + 4 x (0, 1) [ramp -> south]
    io output 0 on (0, 0) + 4 x (0, 1) side south colour 0 host 0 + (2) over [2] strides [1] padded
  }
  // CHECK: steps [configure @load, run @load after (0), configure @layer after (1), run @layer times 3 after (2), configure @store after (3), run @store after (4)]
  entry @main inputs ["x" : tensor<7xf32>] outputs ["y" : tensor<7xf32>]
    steps [configure @load, run @load after (0), configure @layer after (1), run @layer times 3 after (2),
           configure @store after (3), run @store after (4)]
}
