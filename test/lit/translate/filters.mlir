// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Core (0, 0) sends sixteen numbers along a row. The router of core k after it lets words 4k to 4k + 3 through, that of the last core every eighth
// word: nobody spends issue slots on words of others.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: wsc-translate --core-to-wse %s -o %t/f.wse
// RUN: wsc-translate --wse-to-core %t/f.wse -o %t/back.mlir
// RUN: FileCheck %s --input-file=%t/back.mlir
// RUN: wsc-info %t/f.wse --core 0,3 | FileCheck %s --check-prefix=CORE
// RUN: wsc-run %t/f.wse --samples 3 --replay 6 --output %t/core --quiet
// RUN: wsc-run %t/f.wse --samples 3 --engine cycle --output %t/cycle --quiet
// RUN: cmp %t/core/y.2.npy %t/cycle/y.2.npy
// RUN: od -An -t fF -j 128 -w72 %t/core/y.2.npy | FileCheck %s --check-prefix=RESULT
// RESULT: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 7 15
core.executable target "mesh-1x6" execution "pipelined" {
  section @numbers from dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]> : tensor<16xf32> view [16] strides [1] : f32
  configuration @main {
    role @all on (0, 0) {
      %x = buffer constant from @numbers[0] at 8192 : 16 x f32
      %out0 = queue out 0 colour 0
      thread {
        move %out0, %x[0 by 4] over [16] : f32
      }
    }
    role @part on (0, 1) + 4 x (0, 1) {
      // CHECK: %in0 = queue in 0 colour 0 passes 0 + (4) words 4 of 16
      // CORE: in0 colour 0, 6 words, passes 4 from 8 on of every 16
      %in0 = queue in 0 colour 0 passes 0 + (4) words 4 of 16
      %out0 = queue out 0 colour 1
      thread {
        move %out0, %in0 over [4] : f32 priority 1
      }
    }
    role @eighth on (0, 5) {
      // CHECK: %in0 = queue in 0 colour 0 passes 7 words 1 of 8
      %in0 = queue in 0 colour 0 passes 7 words 1 of 8
      %out0 = queue out 0 colour 1
      thread {
        move %out0, %in0 over [2] : f32
      }
    }
    router colour 0 on (0, 0) [ramp -> east]
    router colour 0 on (0, 1) + 4 x (0, 1) [west -> east ramp]
    router colour 0 on (0, 5) [west -> ramp]
    router colour 1 on (0, 1) + 5 x (0, 1) [ramp -> south]
    io output 0 on (0, 1) + 4 x (0, 1) side south colour 1 host 0 + (4) over [4] strides [1]
    io output 0 on (0, 5) side south colour 1 host 16 over [2] strides [1]
  }
  entry @main inputs [] outputs ["y" : tensor<18xf32>] steps [configure @main, run @main after (0)]
}
