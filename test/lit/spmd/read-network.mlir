// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The network that the planner gets: padding and reshapes become accesses, what follows a reduction its `finish`, variables
// states; what a reduction walks in a constant comes first in it; linalg of other front ends is read too.
// RUN: wsc-opt --nn-lower-to-nests --spmd-fuse-nests --spmd-print-network --split-input-file %s -o /dev/null | FileCheck %s

// CHECK-LABEL: network conv
// CHECK-NEXT: input %x: f32[1, 3, 8, 8]
// CHECK-NEXT: constant %[[WEIGHT:.*]]: f32[4, 3, 3, 3], 432 bytes of m.onnx from 96
// CHECK-NEXT: constant %bias: f32[4], 16 bytes
// CHECK-NEXT: remap weight: over [27, 4] from %[[WEIGHT]] at 0 by [1, 27] to 0 by [4, 1] fill 0
// CHECK-NEXT:   %[[TURNED:.*]]: f32[3, 3, 3, 4]
// CHECK-NEXT: nest conv1+relu1: over [1, 4, 8, 8], reduced [3, 3, 3] by fma f32 from 0, macs 6912
// CHECK-NEXT:   o0 = %x[i0, r0, i2 + r1 - 1, i3 + r2 - 1]
// CHECK-NEXT:   o1 = %[[TURNED]][r0, r1, r2, i1]
// CHECK-NEXT:   o2 = %bias[i1]
// CHECK-NEXT:   reduce o0, o1
// CHECK-NEXT:   v0 = add f32 reduced, o2
// CHECK-NEXT:   v1 = max f32 v0, 0
// CHECK-NEXT:   %relu1: f32[1, 4, 8, 8] = v1
// CHECK-NEXT: output y = %relu1
func.func @conv(%x: tensor<1x3x8x8xf32> {nn.name = "x"}) -> (tensor<1x4x8x8xf32> {nn.name = "y"}) {
  %w = nn.constant #nn.weights<"m.onnx", offset = 96, bytes = 432, hash = 0> : tensor<4x3x3x3xf32> loc("weight")
  %b = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> loc("bias")
  %c = nn.conv %x, %w bias %b pads [1, 1, 1, 1] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32> loc("conv1")
  %y = nn.unary relu %c : tensor<1x4x8x8xf32> loc("relu1")
  return %y : tensor<1x4x8x8xf32>
}

// -----
// Heads of an attention: reshapes and transposes are read through, also a head's columns of a matrix.
// CHECK-LABEL: network scores
// CHECK:      nest scores: over [3, 5, 5], reduced [4] by fma f32 from 0, macs 300
// CHECK-NEXT:   o0 = %q[i1, 4*i0 + r0]
// CHECK-NEXT:   o1 = %k[i2, 4*i0 + r0]
// CHECK-NOT: remap
func.func @scores(%q: tensor<5x12xf32> {nn.name = "q"}, %k: tensor<5x12xf32> {nn.name = "k"}) -> tensor<3x5x5xf32> {
  %0 = nn.reshape %q : tensor<5x12xf32> -> tensor<5x3x4xf32>
  %1 = nn.transpose %0 permutation [1, 0, 2] : (tensor<5x3x4xf32>) -> tensor<3x5x4xf32>
  %2 = nn.reshape %k : tensor<5x12xf32> -> tensor<5x3x4xf32>
  %3 = nn.transpose %2 permutation [1, 2, 0] : (tensor<5x3x4xf32>) -> tensor<3x4x5xf32>
  %s = nn.matmul %1, %3 : (tensor<3x5x4xf32>, tensor<3x4x5xf32>) -> tensor<3x5x5xf32> loc("scores")
  return %s : tensor<3x5x5xf32>
}

// -----
// An image with its channels last is read in place, padding included.
// CHECK-LABEL: network channels_last
// CHECK: nest conv: over [1, 4, 8, 8]
// CHECK-NEXT:   o0 = %x[i0, i2 + r1 - 1, i3 + r2 - 1, r0]
// CHECK-NOT: remap
func.func @channels_last(%x: tensor<1x8x8x3xf32> {nn.name = "x"}, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32> {
  %t = nn.transpose %x permutation [0, 3, 1, 2] : (tensor<1x8x8x3xf32>) -> tensor<1x3x8x8xf32>
  %y = nn.conv %t, %w pads [1, 1, 1, 1] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32> loc("conv")
  return %y : tensor<1x4x8x8xf32>
}

// -----
// Padding that is not neutral for the reduction stays a tensor.
// CHECK-LABEL: network padded
// CHECK: remap pad:
// CHECK: nest pool: over [1, 1, 4, 4], reduced [2, 2] by reduce_max f32 from -inf
// CHECK:   o0 = %pad[i0, i1, i2 + r0, i3 + r1]
func.func @padded(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %p = nn.pad %x low [0, 0, 0, 0] high [0, 0, 1, 1] value 0.5 : f32 : (tensor<1x1x4x4xf32>) -> tensor<1x1x5x5xf32> loc("pad")
  %y = nn.pool max %p kernel [2, 2] : (tensor<1x1x5x5xf32>) -> tensor<1x1x4x4xf32> loc("pool")
  return %y : tensor<1x1x4x4xf32>
}

// -----
// A comparison gives 1 or 0 of the type compared; it is converted where it is stored or chooses among another type.
// CHECK-LABEL: network masks
// CHECK:      nest mask: over [4]
// CHECK-NEXT:   o0 = %input0[i0]
// CHECK-NEXT:   o1 = %input1[i0]
// CHECK-NEXT:   v0 = compare_lt f32 o0, o1
// CHECK-NEXT:   v1 = convert bool from f32 v0
// CHECK-NEXT:   %mask: bool[4] = v1
// CHECK-NEXT: nest choice: over [4]
// CHECK-NEXT:   o0 = %mask[i0]
// CHECK-NEXT:   o1 = %input2[i0]
// CHECK-NEXT:   v0 = convert i64 from bool o0
// CHECK-NEXT:   v1 = select i64 o1, 7, v0
func.func @masks(%a: tensor<4xf32>, %b: tensor<4xf32>, %i: tensor<4xi64>) -> (tensor<4xi1>, tensor<4xi64>) {
  %m = nn.binary less %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1> loc("mask")
  %c = nn.constant dense<7> : tensor<i64>
  %y = nn.select %m, %i, %c : (tensor<4xi1>, tensor<4xi64>, tensor<i64>) -> tensor<4xi64> loc("choice")
  return %m, %y : tensor<4xi1>, tensor<4xi64>
}

// -----
// The bits of a float are taken by a move between types.
// CHECK-LABEL: network bits
// CHECK: v0 = move u32 from f32 o0
// CHECK: v1 = shift_right u32 v0, 23
// CHECK: v2 = move f32 from u32 v1
func.func @bits(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = nn.constant dense<23> : tensor<ui32>
  %0 = nn.bitcast %x : tensor<4xf32> -> tensor<4xui32>
  %1 = nn.binary shift_right %0, %c : (tensor<4xui32>, tensor<ui32>) -> tensor<4xui32>
  %2 = nn.bitcast %1 : tensor<4xui32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----
// Immediates are f64 numbers, converted with saturation: a constant that none of them gives is an operand.
// CHECK-LABEL: network wide
// CHECK: constant %[[ODD:.*]]: i64[], 8 bytes
// CHECK: o1 = %[[ODD]][]
// CHECK: v0 = add i64 o0, o1
// CHECK: v1 = min i64 v0, 9223372036854775808
func.func @wide(%x: tensor<4xi64>) -> tensor<4xi64> {
  %c = nn.constant dense<9007199254740993> : tensor<i64>
  %d = nn.constant dense<9223372036854775807> : tensor<i64>
  %0 = nn.binary add %x, %c : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  %1 = nn.binary min %0, %d : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  return %1 : tensor<4xi64>
}

// -----
// A variable is read before the sample and has what was written after it; a read behind a write is what was written.
// CHECK-LABEL: network step
// CHECK: variable h: f32[2], 8 bytes, read as %h, becomes %sum
// CHECK: nest sum: over [2]
// CHECK:   o0 = %h[i0]
// CHECK: output output0 = %sum
nn.variable @h : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @step(%x: tensor<2xf32>) -> tensor<2xf32> {
  %h = nn.read @h : tensor<2xf32>
  %s = nn.binary add %h, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("sum")
  nn.write @h, %s : tensor<2xf32>
  %y = nn.read @h : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----
// A gather reads along one dimension at an operand's value, and may be part of a longer body.
// CHECK-LABEL: network embedding
// CHECK: nest {{.*}}: over [3, 4]
// CHECK:   o0 = %ids[i0]
// CHECK:   o1 = %position[i0, i1]
// CHECK:   o2 = %table[o0, i1]
// CHECK:   v0 = add f32 o2, o1
func.func @embedding(%table: tensor<9x4xf32> {nn.name = "table"}, %i: tensor<3xi32> {nn.name = "ids"},
                     %p: tensor<3x4xf32> {nn.name = "position"}) -> tensor<3x4xf32> {
  %e = nn.gather %table, %i axis 0 : (tensor<9x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  %y = nn.binary add %e, %p : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----
// Indices that are all one number, which fusion takes into the body, are a fixed place; beyond the end it is the last.
// CHECK-LABEL: network same
// CHECK: nest last: over [2, 1]
// CHECK:   o0 = %samples[i0, 3]
func.func @same(%x: tensor<2x4xf32> {nn.name = "samples"}) -> tensor<2x1xf32> {
  %i = nn.constant dense<7> : tensor<2x1xi32>
  %y = nn.gather_elements %x, %i axis 1 : (tensor<2x4xf32>, tensor<2x1xi32>) -> tensor<2x1xf32> loc("last")
  return %y : tensor<2x1xf32>
}

// -----
// An element of its own for each place: only the axis is read whole.
// CHECK-LABEL: network classes
// CHECK: nest picked: over [8, 1, 28]
// CHECK:   o0 = %class[i0, i1, i2]
// CHECK:   o1 = %scores[i0, o0, i2]
func.func @classes(%x: tensor<8x10x28xf32> {nn.name = "scores"}, %i: tensor<8x1x28xi32> {nn.name = "class"}) -> tensor<8x1x28xf32> {
  %y = nn.gather_elements %x, %i axis 1 : (tensor<8x10x28xf32>, tensor<8x1x28xi32>) -> tensor<8x1x28xf32> loc("picked")
  return %y : tensor<8x1x28xf32>
}

// -----
// Named operations become generic; a result that does not start from the neutral value gets that added at the end.
// CHECK-LABEL: network upstream
// CHECK: reduced [8] by reduce_add f32 from 0
// CHECK:   v0 = mul f32 o0, o1
// CHECK:   reduce v0
// CHECK:   v1 = add f32 reduced, o2
func.func @upstream(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %y = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>) outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----
// Iterators may come in any order, and results may be written transposed.
// CHECK-LABEL: network transposed
// CHECK: nest {{.*}}: over [3, 2], reduced [4] by reduce_max i32 from -2147483648
// CHECK:   o0 = %input0[r0, i1, i0]
#in = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d2, d1)>
func.func @transposed(%x: tensor<4x2x3xi32>) -> tensor<3x2xi32> {
  %least = arith.constant -2147483648 : i32
  %e = tensor.empty() : tensor<3x2xi32>
  %init = linalg.fill ins(%least : i32) outs(%e : tensor<3x2xi32>) -> tensor<3x2xi32>
  %y = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%x : tensor<4x2x3xi32>) outs(%init : tensor<3x2xi32>) {
  ^bb0(%v: i32, %old: i32):
    %m = arith.maxsi %v, %old : i32
    linalg.yield %m : i32
  } -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}

// -----
// What follows from few constants is computed, here the factor of each channel.
// CHECK-LABEL: network constants
// CHECK: constant %norm{{.*}}: f32[4], 16 bytes
// CHECK-COUNT-1: nest
// CHECK-NOT: nest
func.func @constants(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %s = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %v = nn.constant dense<[4.0, 9.0, 16.0, 25.0]> : tensor<4xf32>
  %y = nn.batch_norm %x, %s, %s, %s, %v {epsilon = 0.0 : f64} : tensor<1x4x8xf32>, tensor<4xf32> loc("norm")
  return %y : tensor<1x4x8xf32>
}

// -----
// Operands that read the same elements are one.
// CHECK-LABEL: network twice
// CHECK: nest double: over [4]
// CHECK-NEXT:   o0 = %x[0]
// CHECK-NEXT:   v0 = add f32 o0, o0
func.func @twice(%x: tensor<1xf32> {nn.name = "x"}) -> tensor<4xf32> {
  %0 = nn.broadcast_to %x : tensor<1xf32> -> tensor<4xf32>
  %y = nn.binary add %0, %x : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32> loc("double")
  return %y : tensor<4xf32>
}

// -----
// Tensors without elements, and sums over nothing, are constants.
// CHECK-LABEL: network nothing
// CHECK: constant %{{.*}}: f32[2], 8 bytes
// CHECK: constant %{{.*}}: f32[0, 4], 0 bytes
// CHECK-NOT: nest
func.func @nothing(%x: tensor<2x0xf32>, %y: tensor<0x4xf32>) -> (tensor<2xf32>, tensor<0x4xf32>) {
  %0 = nn.reduce sum %x axes [1] : (tensor<2x0xf32>) -> tensor<2xf32>
  %1 = nn.unary exp %y : tensor<0x4xf32>
  return %0, %1 : tensor<2xf32>, tensor<0x4xf32>
}
