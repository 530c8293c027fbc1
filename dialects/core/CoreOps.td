// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of the core dialect, from the executable down to one instruction. Each mirrors one struct of
// runtime/format/Executable.h; the order of operations of one kind is the order in the struct.
#ifndef WSC_DIALECTS_CORE_OPS
#define WSC_DIALECTS_CORE_OPS

include "dialects/core/CoreBase.td"
include "mlir/IR/OpAsmInterface.td"

class Core_Op<string mnemonic, list<Trait> traits = []> : Op<Core_Dialect, mnemonic, traits>;

// An operation with one block and no terminator, inside which `core.` is not written.
class Core_RegionOp<string mnemonic, list<Trait> traits = []>
    : Core_Op<mnemonic, !listconcat(traits, [NoTerminator, NoRegionArguments, OpAsmOpInterface])> {
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    static ::llvm::StringRef getDefaultDialect() { return "core"; }
  }];
}

//===- The executable --------------------------------------------------------------------------------------------===//

def Core_ExecutableOp : Core_RegionOp<"executable", [IsolatedFromAbove]> {
  let summary = "a wafer executable";
  let description = [{
    The target is a built-in description (`"wse2"`, `"mesh-1x8"`), the path of a description, or `json` and the
    description itself.

    ```mlir
    core.executable target "mesh-1x8" execution "pipelined" {
      configuration @main { … }
      entry @main inputs ["x" : tensor<8xf32>] outputs ["y" : tensor<8xf32>] steps [configure @main, run @main after
      (0)]
    }
    ```
  }];
  let arguments = (ins StrAttr:$target, UnitAttr:$json, StrAttr:$execution);
  let assemblyFormat = "`target` (`json` $json^)? $target `execution` $execution attr-dict-with-keyword "
      "custom<Body>($body)";
  let hasRegionVerifier = 1;
}

def Core_SectionOp : Core_Op<"section", [HasParent<"ExecutableOp">]> {
  let summary = "a raw section of the file, as a view of its source";
  let description = [{
    The section's elements, in row-major order of the extents (at most 8), are the elements `offset + Σ i_d·stride_d` of
    the source. The source is bytes of a file or inline elements; an element outside of it is an error.

    ```mlir
    section @w0 from #core.file<"model.onnx", offset = 120, bytes = 4096> view [32, 32] strides [1, 32] : f32
    section @bias from dense<[1.0, 2.0]> : tensor<2xf32> view [8, 2] strides [0, 1] offset 0 : f32
    ```
  }];
  let arguments = (ins SymbolNameAttr:$name, AnyAttr:$source, DenseI64ArrayAttr:$extents, DenseI64ArrayAttr:$strides,
                   DefaultValuedAttr<I64Attr, "0">:$offset, TypeAttr:$elementType);
  let assemblyFormat = [{
    $name `from` $source `view` $extents `strides` $strides (`offset` $offset^)? `:` $elementType attr-dict
  }];
  let hasVerifier = 1;
}

def Core_StateOp : Core_Op<"state", [HasParent<"ExecutableOp">]> {
  let summary = "a variable that survives from sample to sample; zeros unless a section initialises it";
  let description = [{
    ```mlir
    state @counter : tensor<4xf32> init @counter_start
    ```
  }];
  let arguments = (ins SymbolNameAttr:$name, TypeAttr:$type, OptionalAttr<FlatSymbolRefAttr>:$init);
  let assemblyFormat = "$name `:` $type (`init` $init^)? attr-dict";
  let hasVerifier = 1;
}

def Core_ResidentOp : Core_Op<"resident", [HasParent<"ExecutableOp">]> {
  let summary = "a tensor, or a part of one, that stays in the SRAM of a lattice of cores while configurations change";
  let description = [{
    The size is that of each core's part, the address the same on all of them. `from` makes it a constant, there from
    the start; `of state` lets it hold a variable's elements from a number on, which differs from core to core. Without
    either it lives while an entry uses it.

    ```mlir
    resident @w : 1024 x f32 on (0, 0) + 4 x (1, 0) at 8192 from @weights[0 + (4096)]
    resident @cache : 64 x f16 on (0, 0) + 4 x (1, 0) at 12288 of state @kv at 0 + (64)
    resident @hidden : 256 x f32 on (0, 0) + 4 x (1, 0) at 12416
    ```
  }];
  let arguments = (ins SymbolNameAttr:$name, I64Attr:$bytes, TypeAttr:$elementType, Core_Lattice:$cores,
      I64Attr:$address,
                   OptionalAttr<FlatSymbolRefAttr>:$section, OptionalAttr<Core_AffineNumber>:$sectionOffset,
                   OptionalAttr<FlatSymbolRefAttr>:$state, OptionalAttr<Core_AffineNumber>:$stateOffset);
  let assemblyFormat = [{
    $name `:` custom<Size>($bytes, $elementType) `on` custom<Lattice>($cores) `at` $address
    (`from` $section^ `[` custom<AffineNumber>($sectionOffset) `]`)?
    (`of` `state` $state^ `at` custom<AffineNumber>($stateOffset))? attr-dict
  }];
  let hasVerifier = 1;
}

def Core_EntryOp : Core_Op<"entry", [HasParent<"ExecutableOp">]> {
  let summary = "an entry point: tensors in, tensors out, and the steps between";
  let description = [{
    ```mlir
    entry @main inputs ["x" : tensor<8xf32>] outputs ["y" : tensor<8xf32>] steps [configure @main, run @main after (0)]
    entry @twelve inputs [] outputs [] steps [configure @layer, run @layer times 12 after (0)]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$name, StrArrayAttr:$inputNames, TypeArrayAttr:$inputTypes,
                   StrArrayAttr:$outputNames, TypeArrayAttr:$outputTypes, ArrayAttr:$steps);
  let assemblyFormat = [{
    $name `inputs` custom<Tensors>($inputNames, $inputTypes) `outputs` custom<Tensors>($outputNames, $outputTypes)
    `steps` custom<Steps>($steps) attr-dict
  }];
  let hasVerifier = 1;
}

//===- Configurations --------------------------------------------------------------------------------------------===//

def Core_ConfigurationOp : Core_RegionOp<"configuration", [HasParent<"ExecutableOp">]> {
  let summary = "what the whole wafer holds at one time: kernels, nets, roles, routers, input and output";
  let description = [{
    ```mlir
    configuration @main {
      kernel @sum rect (0, 0, 1, 8)
      net @chain words 8
      role @first kernel @sum on (0, 0) { … }
      router colour 1 net @chain on (0, 0) + 7 x (0, 1) [ramp -> east]
      io input 0 on (0, 0) side west colour 0 over [8] strides [1]
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$name);
  let assemblyFormat = "$name attr-dict-with-keyword custom<Body>($body)";
  let hasRegionVerifier = 1;
}

def Core_KernelOp : Core_Op<"kernel", [HasParent<"ConfigurationOp">]> {
  let summary = "a kernel of the mapping, for people and statistics: rectangle (row, column, rows, columns), layers, "
      "work";
  let description = [{
    ```mlir
    kernel @conv1 rect (0, 3, 750, 21) layers ["conv1", "relu1"] macs 118013952 predicted 9000
    ```
  }];
  let arguments = (ins SymbolNameAttr:$name, I32Attr:$row, I32Attr:$col, I32Attr:$rows, I32Attr:$cols,
                   DefaultValuedAttr<StrArrayAttr, "{}">:$layers, DefaultValuedAttr<I64Attr, "0">:$macs,
                   DefaultValuedAttr<I64Attr, "0">:$predicted);
  let assemblyFormat = [{
    $name `rect` `(` $row `,` $col `,` $rows `,` $cols `)` (`layers` $layers^)? (`macs` $macs^)?
    (`predicted` $predicted^)?
    attr-dict
  }];
}

def Core_NetOp : Core_Op<"net", [HasParent<"ConfigurationOp">]> {
  let summary = "a net of the routing, for messages and reports: its words per sample as planned";
  let description = [{
    ```mlir
    net @"conv1->pool1" words 1000
    ```
  }];
  let arguments = (ins SymbolNameAttr:$name, DefaultValuedAttr<I64Attr, "0">:$words);
  let assemblyFormat = "$name (`words` $words^)? attr-dict";
}

def Core_RouterOp : Core_Op<"router", [HasParent<"ConfigurationOp">]> {
  let summary = "switch positions of one colour on a lattice of routers; the first is in force when a sample starts";
  let description = [{
    ```mlir
    router colour 3 net @chain on (0, 1) + 7 x (0, 1) [west -> east, ramp -> east ramp]
    ```
  }];
  let arguments = (ins I32Attr:$colour, OptionalAttr<FlatSymbolRefAttr>:$net, Core_Lattice:$routers,
                   DenseI32ArrayAttr:$positions);
  let assemblyFormat = "`colour` $colour (`net` $net^)? `on` custom<Lattice>($routers) custom<Positions>($positions) "
      "attr-dict";
  let hasVerifier = 1;
}

def Core_IoOp : Core_Op<"io", [HasParent<"ConfigurationOp">]> {
  let summary = "words that enter or leave the wafer through the outer port of edge routers";
  let description = [{
    Per lane (lattice point) the words are the elements `host + Σ i_d·stride_d` of the entry's tensor with this number.

    ```mlir
    io input 0 on (0, 0) + 4 x (1, 0) side west colour 5 host 0 + (8) over [8] strides [1]
    io output 0 on (0, 7) side east colour 2 over [8] strides [1]
    ```

    Elements outside of the tensor are an error unless the binding is `padded`: then they are zeros going in and dropped
    going out.

    ```mlir
    io input 0 on (0, 0) + 3 x (1, 0) side west colour 5 host 0 + (4) over [4] strides [1] padded
    ```
  }];
  let arguments = (ins UnitAttr:$output, I32Attr:$tensor, Core_Lattice:$ports, I32Attr:$side, I32Attr:$colour,
                   Core_AffineNumber:$host, ArrayAttr:$extents, DenseI64ArrayAttr:$strides, UnitAttr:$padded);
  let assemblyFormat = [{
    custom<InOrOut>($output) $tensor `on` custom<Lattice>($ports) `side` custom<Port>($side) `colour` $colour
    `` custom<Host>($host) `` custom<Extents>($extents) `` custom<Strides>($strides) (`padded` $padded^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Core_BindOp : Core_Op<"bind", [HasParent<"ConfigurationOp">]> {
  let summary = "which elements of a state variable lie in a role's state buffer, packed from its start";
  let description = [{
    ```mlir
    bind @counter to @first "count" host 0 + (4) over [4] strides [1]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$state, FlatSymbolRefAttr:$role, StrAttr:$buffer, Core_AffineNumber:$host,
                   ArrayAttr:$extents, DenseI64ArrayAttr:$strides);
  let assemblyFormat = [{
    $state `to` $role $buffer `` custom<Host>($host) `` custom<Extents>($extents) `` custom<Strides>($strides) attr-dict
  }];
  let hasVerifier = 1;
}

//===- Roles -----------------------------------------------------------------------------------------------------===//

def Core_RoleOp : Core_RegionOp<"role", [HasParent<"ConfigurationOp">, IsolatedFromAbove]> {
  let summary = "the program and memory map of a lattice of cores";
  let description = [{
    ```mlir
    role @middle kernel @sum on (0, 1) + 6 x (0, 1) {
      %x = buffer scratch at 4200 : 8 x f32
      %in0 = queue in 0 colour 1
      %out0 = queue out 0 colour 2
      thread {
        add %out0, %in0, %x[0 by 4] over [8] : f32
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$name, OptionalAttr<FlatSymbolRefAttr>:$kernel, Core_Lattice:$cores);
  let assemblyFormat = "$name (`kernel` $kernel^)? `on` custom<Lattice>($cores) attr-dict-with-keyword "
      "custom<Body>($body)";
  let hasRegionVerifier = 1;
}

class Core_NamedResultOp<string mnemonic> : Core_Op<mnemonic, [HasParent<"RoleOp">, OpAsmOpInterface]> {
  let extraClassDeclaration = [{
    void getAsmResultNames(::mlir::OpAsmSetValueNameFn setName);
  }];
}

def Core_BufferOp : Core_NamedResultOp<"buffer"> {
  let summary = "a stretch of SRAM: scratch, constant (a view of a section), state, or a window of a resident";
  let description = [{
    The buffer is called what its value is called unless a name is written. The address is bytes from the start of SRAM.

    ```mlir
    %x = buffer scratch at 6200 : 1120 x f32
    %w = buffer constant from @w0[0 + (0, 9600, 480)] at 10680 : 240 x f32
    %n = buffer state of @counter at 11640 : 4 x f32
    %0 = buffer scratch "column sums" at 11656 : 15 bytes f32
    %k = buffer resident of @weights + 256 step 1024 at 12544 : 64 x f32
    ```

    A window of a resident begins at a byte of it, and so many bytes further in each iteration of a step that runs the
    configuration several times; the address is that of the first.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$kind, OptionalAttr<FlatSymbolRefAttr>:$section,
                   OptionalAttr<Core_AffineNumber>:$sectionOffset, OptionalAttr<FlatSymbolRefAttr>:$state,
                   OptionalAttr<FlatSymbolRefAttr>:$resident, DefaultValuedAttr<I64Attr, "0">:$residentOffset,
                   DefaultValuedAttr<I64Attr, "0">:$runStep, I64Attr:$address, I64Attr:$bytes, TypeAttr:$elementType);
  let results = (outs Core_Memory:$memory);
  let assemblyFormat = [{
    custom<BufferKind>($kind) `` custom<ResultName>($name)
    (`from` $section^ `[` custom<AffineNumber>($sectionOffset) `]`)?
    `` custom<Origin>($state, $resident, $residentOffset, $runStep, ref($kind)) `at` $address `:`
    custom<Size>($bytes, $elementType) attr-dict
  }];
  let hasVerifier = 1;
}

def Core_FifoOp : Core_NamedResultOp<"fifo"> {
  let summary = "a ring of elements in SRAM that one thread pushes and one thread pops";
  let description = [{
    ```mlir
    %rows = fifo at 12000 : 336 x f32
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$address, I64Attr:$bytes, TypeAttr:$elementType);
  let results = (outs Core_Stream:$stream);
  let assemblyFormat = "`` custom<ResultName>($name) `at` $address `:` custom<Size>($bytes, $elementType) attr-dict";
  let hasVerifier = 1;
}

def Core_QueueOp : Core_NamedResultOp<"queue"> {
  let summary = "a hardware queue bound to a colour: `in` takes words from the router, `out` gives words to it";
  let description = [{
    ```mlir
    %in0 = queue in 0 colour 3
    %in1 = queue in 1 colour 4 passes 24 + (0, 8) words 8 of 96
    ```

    With `passes BEGIN words COUNT of PERIOD` the router lets through only COUNT words from number BEGIN on of every
    PERIOD that it would move to the core.
  }];
  let arguments = (ins UnitAttr:$output, I32Attr:$index, I32Attr:$colour, OptionalAttr<Core_AffineNumber>:$filterBegin,
                   OptionalAttr<Core_AffineNumber>:$filterWords, OptionalAttr<I64Attr>:$filterPeriod);
  let results = (outs Core_Stream:$stream);
  let assemblyFormat = "(`out` $output^) : (`in`)? $index `colour` $colour (`passes` "
      "custom<AffineNumber>($filterBegin)^ `words` custom<AffineNumber>($filterWords) `of` $filterPeriod)? attr-dict";
  let hasVerifier = 1;
}

def Core_ThreadOp : Core_RegionOp<"thread", [HasParent<"RoleOp">]> {
  let summary = "instructions that run once per sample, one after another";
  let description = [{
    ```mlir
    thread {
      loop 9 {
        fma %acc[0 by 4], %w[0 loop 4], %x[0 by 4 loop 80] over [20] : f32
      }
    }
    ```
  }];
  let assemblyFormat = "attr-dict-with-keyword custom<Body>($body)";
  let hasRegionVerifier = 1;
}

def Core_LoopOp : Core_RegionOp<"loop", [ParentOneOf<["ThreadOp", "LoopOp"]>]> {
  let summary = "repeats its instructions a static number of times; at most four deep";
  let description = [{
    ```mlir
    loop 8 + (0, 1) { … }
    ```
  }];
  let arguments = (ins Core_AffineNumber:$count);
  let assemblyFormat = "custom<AffineNumber>($count) attr-dict-with-keyword custom<Body>($body)";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Core_InstructionOp : Core_Op<"instruction", [ParentOneOf<["ThreadOp", "LoopOp"]>]> {
  let summary = "one vector instruction, written with its opcode's mnemonic";
  let description = [{
    Operands are the destination, then the sources. `%x[BASE by S0, S1 loop L0, L1]` is memory: in iteration (i0, i1) of
    the extents and (l0, l1) of the enclosing loops, outermost first, byte `BASE + i0·S0 + i1·S1 + l0·L0 + l1·L1` of the
    buffer. A FIFO or queue is named alone. Sources may be floating-point numbers; `null` as the destination of `move`
    discards. `over` gives the extents, outermost first; without it there is one element.

    Mnemonics: move convert; add sub mul div min max pow mod; neg abs exp log sqrt rsqrt reciprocal tanh erf sigmoid
    floor ceil round sign sin cos not; fma; reduce_add reduce_mul reduce_min reduce_max; compare_eq compare_lt
    compare_le select; and or xor shift_left shift_right; gather scatter. `runtime/format/Isa.h` says what each
    computes.

    ```mlir
    move %x[0 by 80, 4], %in0 over [14, 20] : f32
    fma %acc[0 by 4], %w[0 loop 4], %x[0 by 4 loop 80] over [20] : f32
    add %out0, %in0, %acc[0 by 4] over [20] : f32
    max %x[0 by 4], %x[0 by 4], 0.0 over [20] : f32
    convert %y[0 by 2], %x[0 by 4] over [20] : f32 -> f16
    move null, %in0 over [3] : f32
    fma %sum[0 by 4], %w[0 by 2], %h[0 by 2] over [20] : f16 -> f32
    move %x[0 by 4], %in0 over [20] : f32 priority 2
    ```

    Two types, `source -> result`, belong to `convert`, and may be given to `add`, `sub`, `mul`, `fma`, `reduce_add`
    (f16 or bf16 to f32, 8- or 16-bit integers to i32, f32 to f64) and to comparisons (any type to i1): sources have the
    first type, the destination the second.

    Where threads contend for issue slots, those at an instruction of higher priority come first; 0 unless written.
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Core_Memory, Core_Stream]>>:$references, StrAttr:$opcode,
      ArrayAttr:$operandList,
                   ArrayAttr:$extents, TypeAttr:$elementType, OptionalAttr<TypeAttr>:$sourceType,
                       DefaultValuedAttr<I32Attr, "0">:$priority);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    void print(::mlir::OpAsmPrinter &printer);
    // Prints the opcode's mnemonic where other operations print their name.
    static ::mlir::OperationName::PrintAssemblyFn getPrintAssemblyFn();
    static ::mlir::ParseResult parseWithOpcode(::llvm::StringRef opcode, ::mlir::OpAsmParser &parser,
                                               ::mlir::OperationState &result);
  }];
}

def Core_SendControlOp : Core_Op<"send_control", [ParentOneOf<["ThreadOp", "LoopOp"]>]> {
  let summary = "sends one control word that advances the switches of the next `count` routers with several positions";
  let description = [{
    ```mlir
    send_control %out0, 2
    send_control %out0, 2 priority 1
    ```
  }];
  let arguments = (ins Core_Stream:$queue, I32Attr:$count, DefaultValuedAttr<I32Attr, "0">:$priority);
  let assemblyFormat = "$queue `,` $count (`priority` $priority^)? attr-dict";
  let hasVerifier = 1;
}

#endif
