// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: wsc-opt %s --split-input-file --wafer-form-kernels | FileCheck %s
// RUN: wsc-opt %s --split-input-file --wafer-form-kernels | wsc-opt --split-input-file | FileCheck %s

nn.variable @total : tensor<1x4xf32>

// One kernel reads, adds and writes; it has no result.
// CHECK-LABEL: func.func @step
// CHECK: %[[X:.*]] = wafer.enter
// CHECK: wafer.kernel "total.state"(%[[X]]) {{.*}} : (tensor<1x4xf32>) -> () {
// CHECK: %[[OLD:.*]] = nn.read @total
// CHECK: %[[NEW:.*]] = nn.binary add %[[OLD]]
// CHECK: nn.write @total, %[[NEW]]
// CHECK: wafer.yield{{$}}
func.func @step(%x: tensor<1x4xf32>) {
  %old = nn.read @total : tensor<1x4xf32>
  %new = nn.binary add %old, %x : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  nn.write @total, %new : tensor<1x4xf32>
  return
}

// One kernel takes no stream.
// CHECK-LABEL: func.func @read
// CHECK: %[[R:.*]] = wafer.kernel "total.state"() {{.*}} : () -> tensor<1x4xf32>
// CHECK: return %[[R]]
func.func @read() -> tensor<1x4xf32> {
  %total = nn.read @total : tensor<1x4xf32>
  return %total : tensor<1x4xf32>
}

// -----

nn.variable @h : tensor<1x2xf32>

// What goes out comes back through a matrix product: a kernel that reads, and a later one that writes.
// CHECK-LABEL: func.func @recurrence
// CHECK: %[[X:.*]] = wafer.enter
// CHECK: %[[H:.*]] = wafer.kernel "h.read"()
// CHECK: %[[P:.*]] = wafer.kernel "matmul0"(%[[H]])
// CHECK: %[[S:.*]] = wafer.kernel "{{.*}}"(%[[P]], %[[X]])
// CHECK: wafer.kernel "h.write"(%[[S]]) {{.*}} -> ()
// CHECK: return %[[S]]
func.func @recurrence(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = nn.constant dense<1.0> : tensor<2x2xf32>
  %h = nn.read @h : tensor<1x2xf32>
  %p = nn.matmul %h, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %s = nn.binary add %p, %x : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  nn.write @h, %s : tensor<1x2xf32>
  return %s : tensor<1x2xf32>
}

// -----

nn.variable @v : tensor<1x2xf32>

// Old and new value are both wanted: the second kernel reads again.
// CHECK-LABEL: func.func @both
// CHECK: wafer.kernel "v.read"()
// CHECK: wafer.kernel "v.write"
// CHECK: nn.read @v
// CHECK: nn.write @v
func.func @both(%x: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %old = nn.read @v : tensor<1x2xf32>
  %new = nn.binary mul %old, %x : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  nn.write @v, %new : tensor<1x2xf32>
  return %old, %new : tensor<1x2xf32>, tensor<1x2xf32>
}

// -----

nn.variable @u : tensor<2xf32>
nn.variable @v : tensor<2xf32>

// Each would wait for the other: one is cut in two.
// CHECK-LABEL: func.func @swap
// CHECK-COUNT-3: wafer.kernel
// CHECK-NOT: wafer.kernel
func.func @swap() {
  %u = nn.read @u : tensor<2xf32>
  %v = nn.read @v : tensor<2xf32>
  nn.write @u, %v : tensor<2xf32>
  nn.write @v, %u : tensor<2xf32>
  return
}
