// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executable, sections, states, residents, entries.
// RUN: wsc-opt %s | wsc-opt | FileCheck %s
// RUN: wsc-opt %s --mlir-print-op-generic | wsc-opt | FileCheck %s

// CHECK: core.executable target "wse2" execution "weight-streaming" {
core.executable target "wse2" execution "weight-streaming" {
  // A transposed view of bytes in a file.
  // CHECK-NEXT: section @w0 from #core.file<"dir/model.onnx", offset = 120, bytes = 4096> view [32, 32] strides [1, 32] : f32
  section @w0 from #core.file<"dir/model.onnx", offset = 120, bytes = 4096> view [32, 32] strides [1, 32] : f32
  // Inline elements, repeated by a stride of 0, read backwards from an offset.
  // CHECK-NEXT: section @"bias 1" from dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> view [8, 2] strides [0, -1] offset 1 : f32
  section @"bias 1" from dense<[1.0, 2.0]> : tensor<2xf32> view [8, 2] strides [0, -1] offset 1 : f32
  // CHECK-NEXT: section @blob from dense_resource<blob> : tensor<4xui8> view [4] strides [1] : ui8
  section @blob from dense_resource<blob> : tensor<4xui8> view [4] strides [1] : ui8
  // CHECK-NEXT: section @none from dense<> : tensor<0xi64> view [0] strides [1] : i64
  section @none from dense<> : tensor<0xi64> view [0] strides [1] : i64

  // CHECK-NEXT: state @count : tensor<4xi32>
  state @count : tensor<4xi32>
  // CHECK-NEXT: state @w : tensor<32x32xf32> init @w0
  state @w : tensor<32x32xf32> init @w0

  // A constant, a part of a variable on each core, and one that lives while an entry uses it.
  // CHECK-NEXT: resident @stay : 64 x f32 on (0, 0) + 4 x (1, 0) at 8192 from @w0[0 + (256)]
  resident @stay : 64 x f32 on (0, 0) + 4 x (1, 0) at 8192 from @w0[0 + (256)]
  // CHECK-NEXT: resident @counts : 1 x i32 on (0, 0) + 4 x (1, 0) at 8448 of state @count at 0 + (1)
  resident @counts : 1 x i32 on (0, 0) + 4 x (1, 0) at 8448 of state @count at 0 + (1)
  // CHECK-NEXT: resident @"hidden 1" : 15 bytes ui64 on (3, 4) at 8456{{$}}
  resident @"hidden 1" : 15 bytes ui64 on (3, 4) at 8456

  // CHECK-NEXT: configuration @load {
  configuration @load {}
  // CHECK: configuration @main {
  configuration @main {}

  // CHECK: entry @train inputs ["x" : tensor<1x3x8x8xf32>, "label" : tensor<i64>] outputs ["loss" : tensor<f32>]
  // CHECK-SAME: steps [configure @load, run @load after (0), configure @main after (0, 1), run @main times 12 from 3 after (2)]
  entry @train inputs ["x" : tensor<1x3x8x8xf32>, "label" : tensor<i64>] outputs ["loss" : tensor<f32>]
    steps [configure @load, run @load after (0), configure @main after (0, 1), run @main times 12 from 3 after (2)]
  // CHECK-NEXT: entry @idle inputs [] outputs [] steps []
  entry @idle inputs [] outputs [] steps []
}

{-#
  dialect_resources: {
    builtin: { blob: "0x0100000001020304" }
  }
#-}
