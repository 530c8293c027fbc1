// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Roles: lattices, buffers of each kind, names.
// RUN: wsc-opt %s | wsc-opt | FileCheck %s
// RUN: wsc-opt %s --mlir-print-op-generic | wsc-opt | FileCheck %s

core.executable target "wse2" execution "pipelined" {
  section @w from dense<0.0> : tensor<4096xf32> view [4096] strides [1] : f32
  state @count : tensor<4xi32>
  resident @stay : 4096 x f32 on (4, 5) + 750 x (1, 0) + 200 x (0, 1) at 20480
  configuration @main {
    kernel @conv1 rect (0, 0, 750, 20)
    // A single core, and up to four repetitions.
    // CHECK: role @corner on (4, 5) {
    role @corner on (4, 5) {}
    // CHECK: role @"conv1 middle" kernel @conv1 on (4, 5) + 56 x (13, 0) + 11 x (1, 0) + 2 x (0, 2) + 20 x (0, 4) {
    role @"conv1 middle" kernel @conv1 on (4, 5) + 56 x (13, 0) + 11 x (1, 0) + 2 x (0, 2) + 20 x (0, 4) {
      // CHECK-NEXT: %x = buffer scratch at 6200 : 1120 x f32
      %x = buffer scratch at 6200 : 1120 x f32
      // CHECK-NEXT: %w = buffer constant from @w[16 + (0, 160, 80)] at 10680 : 20 x f32
      %w = buffer constant from @w[16 + (0, 160, 80)] at 10680 : 20 x f32
      // CHECK-NEXT: %shared = buffer constant from @w[0] at 10760 : 20 x f32
      %shared = buffer constant from @w[0] at 10760 : 20 x f32
      // CHECK-NEXT: %n = buffer state of @count at 11000 : 4 x i32
      %n = buffer state of @count at 11000 : 4 x i32

      // Windows of a resident: all of it, a part, a part that moves from iteration to iteration.
      // CHECK-NEXT: %all = buffer resident of @stay at 20480 : 4096 x f32
      %all = buffer resident of @stay at 20480 : 4096 x f32
      // CHECK-NEXT: %part = buffer resident of @stay + 64 at 20544 : 16 x f32
      %part = buffer resident of @stay + 64 at 20544 : 16 x f32
      // CHECK-NEXT: %moves = buffer resident of @stay + 128 step -64 at 20608 : 16 x f32
      %moves = buffer resident of @stay + 128 step -64 at 20608 : 16 x f32

      // Every element type.
      // CHECK-NEXT: %a0 = buffer scratch at 12000 : 3 x f16
      %a0 = buffer scratch at 12000 : 3 x f16
      // CHECK-NEXT: %a1 = buffer scratch at 12000 : 3 x bf16
      %a1 = buffer scratch at 12000 : 3 x bf16
      // CHECK-NEXT: %a2 = buffer scratch at 12000 : 3 x f64
      %a2 = buffer scratch at 12000 : 3 x f64
      // CHECK-NEXT: %a3 = buffer scratch at 12000 : 3 x i64
      %a3 = buffer scratch at 12000 : 3 x i64
      // CHECK-NEXT: %a4 = buffer scratch at 12000 : 3 x i8
      %a4 = buffer scratch at 12000 : 3 x i8
      // CHECK-NEXT: %a5 = buffer scratch at 12000 : 3 x ui8
      %a5 = buffer scratch at 12000 : 3 x ui8
      // CHECK-NEXT: %a6 = buffer scratch at 12000 : 3 x i1
      %a6 = buffer scratch at 12000 : 3 x i1
      // CHECK-NEXT: %a7 = buffer scratch at 12000 : 3 x i16
      %a7 = buffer scratch at 12000 : 3 x i16
      // CHECK-NEXT: %a8 = buffer scratch at 12000 : 3 x ui16
      %a8 = buffer scratch at 12000 : 3 x ui16
      // CHECK-NEXT: %a9 = buffer scratch at 12000 : 3 x ui32
      %a9 = buffer scratch at 12000 : 3 x ui32
      // CHECK-NEXT: %a10 = buffer scratch at 12000 : 3 x ui64
      %a10 = buffer scratch at 12000 : 3 x ui64

      // A name that is no value's name is written out; so is a size that is no whole number of elements.
      // CHECK-NEXT: %column_sums = buffer scratch "column sums" at 13000 : 15 bytes f32
      %0 = buffer scratch "column sums" at 13000 : 15 bytes f32
      // CHECK-NEXT: %in0 = fifo at 13100 : 8 x f32
      %in0 = fifo at 13100 : 8 x f32
      // CHECK-NEXT: %in0_0 = queue in 0 colour 3
      %left = queue in 0 colour 3
      // A queue behind a filter.
      // CHECK-NEXT: %in1 = queue in 1 colour 4 passes 24 + (0, 8) words 8 of 96
      %middle = queue in 1 colour 4 passes 24 + (0, 8) words 8 of 96
      // CHECK-NEXT: %out5 = queue out 5 colour 21
      %right = queue out 5 colour 21
    }
  }
}
