// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What wsc-translate refuses: one error that says where and what, no file left.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: not wsc-translate --core-to-wse %t/syntax.mlir -o %t/out.wse 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not wsc-translate --core-to-wse %t/name.mlir -o %t/out.wse 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not wsc-translate --core-to-wse %t/section.mlir -o %t/out.wse 2>&1 | FileCheck %s --check-prefix=SECTION
// RUN: not wsc-translate --core-to-wse %t/file.mlir -o %t/out.wse 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not wsc-translate --core-to-wse %t/target.mlir -o %t/out.wse 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not wsc-translate --core-to-wse %t/two.mlir -o %t/out.wse 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not wsc-translate --core-to-wse %t/none.mlir -o %t/out.wse 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not wsc-translate --wse-to-core %t/name.mlir -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=NOWSE
// RUN: not wsc-translate -o %t/out.wse 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: not wsc-translate --core-to-wse %t/two.mlir -o - 2>&1 | FileCheck %s --check-prefix=STDOUT
// RUN: not wsc-translate --core-to-wse %t/two.mlir -o %t/two.mlir 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: wsc-translate --core-to-wse %t/good.mlir -o %t/good.wse
// RUN: not wsc-translate --wse-to-core %t/good.wse -o /dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: wsc-translate --version | FileCheck %s --check-prefix=VERSION
// VERSION: wsc {{.*}}, MLIR {{.*}}, format {{[0-9]+}}
// RUN: not ls %t/out.wse
// RUN: not ls %t/out.mlir
// RUN: wsc-translate --help | FileCheck %s --check-prefix=HELP

// SYNTAX: error: {{.*}}syntax.mlir:3:{{[0-9]+}}: custom op 'core.router' expected one of: north, south, east, west, ramp
// NAME: error: {{.*}}name.mlir:2:{{[0-9]+}}: 'core.entry' op refers to configuration @main, which is not there
// SECTION: error: {{.*}}section.mlir: section w: reads element 4 of a source of 4 elements
// FILE: error: {{.*}}file.mlir: {{.*}}section "w": cannot open {{.*}}weights.bin: No such file or directory
// TARGET: error: {{.*}}target.mlir: {{.*}}wse9
// TWO: error: {{.*}}two.mlir: the module holds 2 core.executable operations, needed is one
// NONE: error: cannot open {{.*}}none.mlir
// NOWSE: error: {{.*}}name.mlir: not a wafer executable
// OWN: error: -o {{.*}}two.mlir would replace the input {{.*}}two.mlir; name another file
// FULL: error: /dev/full: cannot be written: No space left on device
// STDOUT: error: a .wse is not written to standard output
// USAGE: error: {{.*}}Exactly 1 option from [--core-to-wse,--wse-to-core] is required
// HELP: Example:
// HELP-NEXT: wsc-translate --core-to-wse

//--- syntax.mlir
core.executable target "mesh-1x1" execution "pipelined" {
  configuration @main {
    router colour 0 on (0, 0) [up -> ramp]
  }
}
//--- name.mlir
core.executable target "mesh-1x1" execution "pipelined" {
  entry @main inputs [] outputs [] steps [run @main]
}
//--- section.mlir
core.executable target "mesh-1x1" execution "pipelined" {
  section @w from dense<[1, 2, 3, 4]> : tensor<4xi32> view [2, 2] strides [2, 1] offset 1 : i32
}
//--- file.mlir
core.executable target "mesh-1x1" execution "pipelined" {
  section @w from #core.file<"weights.bin", offset = 0, bytes = 16> view [4] strides [1] : f32
  configuration @main {}
  entry @main inputs [] outputs [] steps [configure @main, run @main after (0)]
}
//--- target.mlir
core.executable target "wse9" execution "pipelined" {}
//--- two.mlir
core.executable target "mesh-1x1" execution "pipelined" {}
core.executable target "mesh-1x1" execution "pipelined" {}
//--- good.mlir
core.executable target "mesh-1x1" execution "pipelined" {
  configuration @main {}
  entry @main inputs [] outputs [] steps [configure @main, run @main after (0)]
}
