// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels, nets, routers, input and output, bindings of state.
// RUN: wsc-opt %s | wsc-opt | FileCheck %s
// RUN: wsc-opt %s --mlir-print-op-generic | wsc-opt | FileCheck %s

core.executable target "wse2" execution "pipelined" {
  state @count : tensor<64xi32>
  configuration @main {
    // CHECK: kernel @conv1 rect(0, 3, 750, 21) layers ["conv1", "relu1"] macs 118013952 predicted 9000
    kernel @conv1 rect (0, 3, 750, 21) layers ["conv1", "relu1"] macs 118013952 predicted 9000
    // CHECK-NEXT: kernel @plain rect(0, 0, 1, 1){{$}}
    kernel @plain rect (0, 0, 1, 1) macs 0
    // CHECK-NEXT: net @"conv1->pool1" words 1000
    net @"conv1->pool1" words 1000
    // CHECK-NEXT: net @plain{{$}}
    net @plain

    role @conv1 on (0, 0) + 8 x (1, 0) {
      %n = buffer state of @count at 8192 : 8 x i32
    }

    // CHECK: router colour 3 net @"conv1->pool1" on (0, 1) + 7 x (0, 1) [west -> east, ramp -> east ramp]
    router colour 3 net @"conv1->pool1" on (0, 1) + 7 x (0, 1) [west -> east, ramp -> ramp east]
    // CHECK-NEXT: router colour 4 on (0, 0) [north -> south, south -> north, east -> west, west -> north south east ramp]
    router colour 4 on (0, 0) [north -> south, south -> north, east -> west, west -> ramp east south north]

    // CHECK: io input 0 on (0, 0) + 4 x (1, 0) side west colour 5 host 1 + (8) over [2, 8] strides [64, 1]
    io input 0 on (0, 0) + 4 x (1, 0) side west colour 5 host 1 + (8) over [2, 8] strides [64, 1]
    // CHECK-NEXT: io output 1 on (0, 993) side east colour 2{{$}}
    io output 1 on (0, 993) side east colour 2 host 0 over [1] strides [0]
    // Three lanes of four for ten elements.
    // CHECK-NEXT: io input 2 on (0, 0) + 3 x (1, 0) side west colour 6 host 0 + (4) over [4] strides [1] padded
    io input 2 on (0, 0) + 3 x (1, 0) side west colour 6 host 0 + (4) over [4] strides [1] padded
    // CHECK-NEXT: bind @count to @conv1 "n" host 0 + (8) over [8] strides [1]
    bind @count to @conv1 "n" host 0 + (8) over [8] strides [1]
  }
}
