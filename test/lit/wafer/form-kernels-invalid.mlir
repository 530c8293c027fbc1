// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All layers without a form are listed in one error, by kind, with their number and the first of each.
// RUN: wsc-opt --wafer-form-kernels -verify-diagnostics -split-input-file %s

// expected-error @+1 {{layers without a kernel form: nn.select (2, first pick), nn.reduce (1, first reduce), nn.binary (1, first binary)}}
func.func @several(%x: tensor<1x4xf32>, %m: tensor<1x4xi1>) -> tensor<1xi1> {
  %a = nn.select %m, %x, %x : (tensor<1x4xi1>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("pick")
  %b = nn.select %m, %a, %x : (tensor<1x4xi1>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %c = nn.reduce sum %b axes [1] : (tensor<1x4xf32>) -> tensor<1xf32>
  %d = nn.binary less %c, %c : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
  return %d : tensor<1xi1>
}
