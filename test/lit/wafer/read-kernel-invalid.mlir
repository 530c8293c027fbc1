// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that have no program: each layer says what it would have to be.
// RUN: wsc-opt --wafer-size=target=mesh-16x16 -verify-diagnostics -split-input-file %s

func.func @slice_backwards(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %s = wafer.enter %x : tensor<1x4x8x8xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    // expected-error @+1 {{'nn.slice' op walks backwards along dimension 3; only forwards has a kernel form}}
    %c = nn.slice %a starts [0, 0, 0, 7] sizes [1, 4, 8, 8] steps [1, 1, 1, -1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    wafer.yield %c : tensor<1x4x8x8xf32>
  }
  return %y : tensor<1x4x8x8xf32>
}

// -----
func.func @slice_of_nothing(%x: tensor<1x4x8x8xf32>) -> tensor<1x0x8x8xf32> {
  %s = wafer.enter %x : tensor<1x4x8x8xf32>
  // expected-error @+1 {{makes no elements: 'tensor<1x0x8x8xf32>'; leave the layer out of the graph}}
  %y = wafer.kernel "k"(%s) : (tensor<1x4x8x8xf32>) -> tensor<1x0x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    %c = nn.slice %a starts [0, 2, 0, 0] sizes [1, 0, 8, 8] steps [1, 1, 1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x0x8x8xf32>
    wafer.yield %c : tensor<1x0x8x8xf32>
  }
  return %y : tensor<1x0x8x8xf32>
}

// -----
func.func @slice_every_other_channel(%x: tensor<1x4x8x8xf32>) -> tensor<1x2x8x8xf32> {
  %s = wafer.enter %x : tensor<1x4x8x8xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x4x8x8xf32>) -> tensor<1x2x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    // expected-error @+1 {{'nn.slice' op takes one of every 2 channels; only neighbouring channels have a kernel form}}
    %c = nn.slice %a starts [0, 0, 0, 0] sizes [1, 2, 8, 8] steps [1, 2, 1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x2x8x8xf32>
    wafer.yield %c : tensor<1x2x8x8xf32>
  }
  return %y : tensor<1x2x8x8xf32>
}

// -----
func.func @pad_channels(%x: tensor<1x4x8x8xf32>) -> tensor<1x6x8x8xf32> {
  %s = wafer.enter %x : tensor<1x4x8x8xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x4x8x8xf32>) -> tensor<1x6x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    // expected-error @+1 {{'nn.pad' op pads dimension 1; only rows and columns of images have a kernel form}}
    %c = nn.pad %a low [0, 1, 0, 0] high [0, 1, 0, 0] value 0.0 : f32 : (tensor<1x4x8x8xf32>) -> tensor<1x6x8x8xf32>
    wafer.yield %c : tensor<1x6x8x8xf32>
  }
  return %y : tensor<1x6x8x8xf32>
}

// -----
func.func @computed_weights(%x: tensor<1x4x1x1xf32>, %v: tensor<4x4x1x1xf32>) -> tensor<1x4x1x1xf32> {
  %s = wafer.enter %x : tensor<1x4x1x1xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32> {
  ^bb0(%a: tensor<1x4x1x1xf32>):
    %w = nn.reshape %a : tensor<1x4x1x1xf32> -> tensor<4x1x1x1xf32>
    // expected-error @+1 {{'nn.conv' op needs constant f32 weights}}
    %c = nn.conv %a, %w groups 4 : (tensor<1x4x1x1xf32>, tensor<4x1x1x1xf32>) -> tensor<1x4x1x1xf32>
    wafer.yield %c : tensor<1x4x1x1xf32>
  }
  return %y : tensor<1x4x1x1xf32>
}

// -----
func.func @product_of_streams(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = wafer.enter %x : tensor<4x4xf32>
  %y = wafer.kernel "k"(%s) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4xf32>):
    // expected-error @+1 {{'nn.matmul' op is mapped for [M, K] times constant f32 [K, N] only}}
    %c = nn.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    wafer.yield %c : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}

// -----
func.func @softmax_axis(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = wafer.enter %x : tensor<4x4xf32>
  %y = wafer.kernel "k"(%s) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4xf32>):
    // expected-error @+1 {{'nn.softmax' op is mapped along axis 1 of [B, F] or [1, C, H, W] only}}
    %c = nn.softmax %a axis 0 : tensor<4x4xf32>
    wafer.yield %c : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}

// -----
func.func @concat_of_concat(%x: tensor<1x4x8x8xf32>) -> tensor<1x8x8x16xf32> {
  %s = wafer.enter %x : tensor<1x4x8x8xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x16xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    %c = nn.concat %a, %a axis 1 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32>
    // expected-error @+1 {{'nn.concat' op joins along axis 3 what is joined along another; let a kernel of its own do that}}
    %d = nn.concat %c, %c axis 3 : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x16xf32>
    wafer.yield %d : tensor<1x8x8x16xf32>
  }
  return %y : tensor<1x8x8x16xf32>
}

// -----
func.func @conv_of_join(%x: tensor<1x4x8x8xf32>) -> tensor<1x2x8x16xf32> {
  %s = wafer.enter %x : tensor<1x4x8x8xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x4x8x8xf32>) -> tensor<1x2x8x16xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    %w = nn.constant dense<1.0> : tensor<2x4x1x1xf32>
    %c = nn.concat %a, %a axis 3 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x16xf32>
    // expected-error @+1 {{'nn.conv' op takes streams that are joined along the width; let a kernel of its own join them}}
    %d = nn.conv %c, %w : (tensor<1x4x8x16xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x8x16xf32>
    wafer.yield %d : tensor<1x2x8x16xf32>
  }
  return %y : tensor<1x2x8x16xf32>
}

// -----
func.func @concat_axis(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x16x8xf32> {
  %s = wafer.enter %x : tensor<1x4x8x8xf32>
  %y = wafer.kernel "k"(%s, %s) : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x16x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>, %b: tensor<1x4x8x8xf32>):
    // expected-error @+1 {{'nn.concat' op is mapped along axis 1 (channels) and axis 3 (width) only, got axis 2}}
    %c = nn.concat %a, %b axis 2 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x16x8xf32>
    wafer.yield %c : tensor<1x4x16x8xf32>
  }
  return %y : tensor<1x4x16x8xf32>
}

// -----
func.func @constant_shape(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %s = wafer.enter %x : tensor<1x4x8x8xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    %w = nn.constant dense<0.5> : tensor<1x4x8x8xf32>
    // expected-error @+1 {{takes a constant of type 'tensor<1x4x8x8xf32>'; constants must be scalars, one element per channel, or one per pixel}}
    %c = nn.binary add %a, %w : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    wafer.yield %c : tensor<1x4x8x8xf32>
  }
  return %y : tensor<1x4x8x8xf32>
}

// -----
func.func @two_main_layers(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %s = wafer.enter %x : tensor<1x4x8x8xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    %p = nn.pool max %a kernel [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    // expected-error @+1 {{'nn.pool' op must be the first layer of its kernel and take a stream}}
    %q = nn.pool max %p kernel [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    wafer.yield %q : tensor<1x4x8x8xf32>
  }
  return %y : tensor<1x4x8x8xf32>
}

// -----
func.func @late_stream(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %s = wafer.enter %x : tensor<1x4xf32>
  %y = wafer.kernel "k"(%s, %s) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> {
  ^bb0(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>):
    %p = nn.unary neg %a : tensor<1x4xf32>
    // expected-error @+1 {{'nn.binary' op takes a second stream after the kernel's first layer}}
    %q = nn.binary add %p, %b : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    wafer.yield %q : tensor<1x4xf32>
  }
  return %y : tensor<1x4xf32>
}

// -----
func.func @no_form(%x: tensor<2x4xf32>) -> tensor<2x1xf32> {
  %s = wafer.enter %x : tensor<2x4xf32>
  %y = wafer.kernel "k"(%s) : (tensor<2x4xf32>) -> tensor<2x1xf32> {
  ^bb0(%a: tensor<2x4xf32>):
    // expected-error @+1 {{'nn.reduce' op has no kernel form yet}}
    %q = nn.reduce mean %a axes [1] {keepdims} : (tensor<2x4xf32>) -> tensor<2x1xf32>
    wafer.yield %q : tensor<2x1xf32>
  }
  return %y : tensor<2x1xf32>
}

// -----
func.func @no_plane(%x: tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32> {
  // expected-error @+1 {{input input_0 has no plane: 'tensor<2x4x8x8xf32>' is neither [1, C, H, W] nor [B, F]; --execution=phased has no such limit}}
  %s = wafer.enter %x : tensor<2x4x8x8xf32>
  return %s : tensor<2x4x8x8xf32>
}

// -----
func.func @half_input(%x: tensor<1x4xf16>) -> tensor<1x4xf16> {
  // expected-error @+1 {{'wafer.enter' op takes 'tensor<1x4xf16>'; only f32 inputs are mapped}}
  %s = wafer.enter %x : tensor<1x4xf16>
  return %s : tensor<1x4xf16>
}

// -----
// expected-error @+1 {{argument 0 of type 'tensor<1x4xi4>' cannot cross the wafer's edge}}
func.func @edge(%x: tensor<1x4xi4>) -> tensor<1x4xi4> {
  return %x : tensor<1x4xi4>
}

// -----
func.func @no_kernels(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  // expected-error @+1 {{'nn.unary' op is not part of a mapped network: form kernels first}}
  %y = nn.unary neg %x : tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}

// -----
func.func @not_entered(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  // expected-error @+1 {{'wafer.kernel' op takes a value that is no stream}}
  %y = wafer.kernel "k"(%x) : (tensor<1x4xf32>) -> tensor<1x4xf32> {
  ^bb0(%a: tensor<1x4xf32>):
    wafer.yield %a : tensor<1x4xf32>
  }
  return %y : tensor<1x4xf32>
}

// -----
func.func @returned(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  // expected-error @+1 {{'func.return' op operand 0 must be a kernel's result, at most reshaped or transposed}}
  return %x : tensor<1x4xf32>
}

// -----
// Depth to space with three channels left: a channel falls into three dimensions of the result.
func.func @rearranged(%x: tensor<1x12x2x2xf32>) -> tensor<1x3x4x4xf32> {
  %s = wafer.enter %x : tensor<1x12x2x2xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x12x2x2xf32>) -> tensor<1x12x2x2xf32> {
  ^bb0(%a: tensor<1x12x2x2xf32>):
    wafer.yield %a : tensor<1x12x2x2xf32>
  }
  %0 = nn.reshape %y : tensor<1x12x2x2xf32> -> tensor<1x2x2x3x2x2xf32>
  %1 = nn.transpose %0 permutation [0, 3, 4, 1, 5, 2] : (tensor<1x2x2x3x2x2xf32>) -> tensor<1x3x2x2x2x2xf32>
  %2 = nn.reshape %1 : tensor<1x3x2x2x2x2xf32> -> tensor<1x3x4x4xf32>
  // expected-error @+1 {{operand 0 of type 'tensor<1x3x4x4xf32>' rearranges a kernel's result of type 'tensor<1x12x2x2xf32>' in a way lanes cannot leave in: a channel may fall into two dimensions}}
  return %2 : tensor<1x3x4x4xf32>
}

// -----
func.func @padding_only(%x: tensor<1x1x3x3xf32>) -> tensor<1x1x6x3xf32> {
  %s = wafer.enter %x : tensor<1x1x3x3xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x1x3x3xf32>) -> tensor<1x1x6x3xf32> {
  ^bb0(%a: tensor<1x1x3x3xf32>):
    %w = nn.constant dense<0.5> : tensor<1x1x2x1xf32>
    // expected-error @+1 {{'nn.conv' op has rows that see padding only: pads 1 above and 3 below, the kernel reaches over 2 rows; pad the result instead}}
    %c = nn.conv %a, %w pads [1, 0, 3, 0] : (tensor<1x1x3x3xf32>, tensor<1x1x2x1xf32>) -> tensor<1x1x6x3xf32>
    wafer.yield %c : tensor<1x1x6x3xf32>
  }
  return %y : tensor<1x1x6x3xf32>
}

// -----
func.func @moved_between_kernels(%x: tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> {
  %s = wafer.enter %x : tensor<1x4x3x3xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> {
  ^bb0(%a: tensor<1x4x3x3xf32>):
    wafer.yield %a : tensor<1x4x3x3xf32>
  }
  %t = nn.transpose %y permutation [0, 1, 3, 2] : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  // expected-error @+1 {{'wafer.kernel' op takes a stream that nn.transpose rearranges between kernels; elements change places at the network's edges only}}
  %z = wafer.kernel "l"(%t) : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> {
  ^bb0(%a: tensor<1x4x3x3xf32>):
    wafer.yield %a : tensor<1x4x3x3xf32>
  }
  return %z : tensor<1x4x3x3xf32>
}

// -----
func.func @per_pixel_before_convolution(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %s = wafer.enter %x : tensor<1x4x8x8xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    %k = nn.constant dense<2.0> : tensor<8x8xf32>
    %w = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
    %m = nn.binary mul %a, %k : (tensor<1x4x8x8xf32>, tensor<8x8xf32>) -> tensor<1x4x8x8xf32>
    // expected-error @+1 {{'nn.conv' op takes what an elementwise layer computes with a constant per pixel; before a convolution constants must be scalars or one element per channel}}
    %c = nn.conv %m, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
    wafer.yield %c : tensor<1x4x8x8xf32>
  }
  return %y : tensor<1x4x8x8xf32>
}

// -----
func.func @convolution_of_an_older_value(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %s = wafer.enter %x : tensor<1x4x8x8xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    %w = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
    %m = nn.unary tanh %a : tensor<1x4x8x8xf32>
    %n = nn.unary neg %m : tensor<1x4x8x8xf32>
    // expected-error @+1 {{'nn.conv' op must be the first layer of its kernel and take a stream}}
    %c = nn.conv %m, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
    wafer.yield %c : tensor<1x4x8x8xf32>
  }
  return %y : tensor<1x4x8x8xf32>
}

// -----
func.func @second_convolution(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %s = wafer.enter %x : tensor<1x4x8x8xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    %w = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
    %b = nn.conv %a, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
    // expected-error @+1 {{'nn.conv' op must be the first layer of its kernel and take a stream}}
    %c = nn.conv %b, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
    wafer.yield %c : tensor<1x4x8x8xf32>
  }
  return %y : tensor<1x4x8x8xf32>
}

// -----
func.func @stream_used_twice_before_convolution(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %s = wafer.enter %x : tensor<1x4x8x8xf32>
  %y = wafer.kernel "k"(%s) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    %w = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
    %m = nn.unary sigmoid %a : tensor<1x4x8x8xf32>
    %n = nn.binary mul %a, %m : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    // expected-error @+1 {{'nn.conv' op takes what elementwise layers compute that use their stream 2 times; before a convolution it can be used once}}
    %c = nn.conv %n, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
    wafer.yield %c : tensor<1x4x8x8xf32>
  }
  return %y : tensor<1x4x8x8xf32>
}
