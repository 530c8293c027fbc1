// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A variable and two entry points: @step adds its input to the variable, @read returns it.
nn.variable @total : tensor<1x4xf32> = dense<0.0> : tensor<1x4xf32>

func.func @step(%x: tensor<1x4xf32> {nn.name = "x"}) {
  %old = nn.read @total : tensor<1x4xf32>
  %new = nn.binary add %old, %x : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  nn.write @total, %new : tensor<1x4xf32>
  return
}

func.func @read() -> (tensor<1x4xf32> {nn.name = "total"}) {
  %total = nn.read @total : tensor<1x4xf32>
  return %total : tensor<1x4xf32>
}
