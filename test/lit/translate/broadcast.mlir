// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sixteen numbers enter at the west edge and are multicast along a row of eight cores; core k multiplies them by its own constant and
// sends them south: y[k][i] = x[i] * scale[k].
//
// RUN: wsc-translate --core-to-wse %s -o %t.wse
// RUN: wsc-translate --wse-to-core %t.wse -o %t.back.mlir
// RUN: wsc-translate --core-to-wse %t.back.mlir -o %t.again.wse
// RUN: cmp %t.wse %t.again.wse
// RUN: FileCheck %s --input-file=%t.back.mlir
core.executable target "mesh-1x8" execution "pipelined" {
  // CHECK: section @scale from #core.file<"{{.*}}.wse", offset = {{[0-9]+}}, bytes = 32{{.*}}> view [8] strides [1] : f32
  section @scale from dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32> view [8] strides [1] : f32
  configuration @main {
    kernel @scale rect (0, 0, 1, 8) macs 128
    role @all kernel @scale on (0, 0) + 8 x (0, 1) {
      // CHECK: %[[SCALE:.*]] = buffer constant from @scale[0 + (4)] at 8192 : 1 x f32
      %scale = buffer constant from @scale[0 + (4)] at 8192 : 1 x f32
      %in0 = queue in 0 colour 0
      %out0 = queue out 0 colour 1
      thread {
        // CHECK: mul %out0, %in0, %[[SCALE]][0] over [16] : f32
        mul %out0, %in0, %scale[0] over [16] : f32
      }
    }
    // CHECK: router colour 0 on (0, 0) + 7 x (0, 1) [west -> east ramp]
    router colour 0 on (0, 0) + 7 x (0, 1) [west -> east ramp]
    router colour 0 on (0, 7) [west -> ramp]
    router colour 1 on (0, 0) + 8 x (0, 1) [ramp -> south]
    io input 0 on (0, 0) side west colour 0 over [16] strides [1]
    io output 0 on (0, 0) + 8 x (0, 1) side south colour 1 host 0 + (16) over [16] strides [1]
  }
  entry @main inputs ["x" : tensor<16xf32>] outputs ["y" : tensor<8x16xf32>] steps [configure @main, run @main after (0)]
}
