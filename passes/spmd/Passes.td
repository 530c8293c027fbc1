// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from nn to a network of nests, in the order they run.
#ifndef WSC_PASSES_SPMD_PASSES_TD
#define WSC_PASSES_SPMD_PASSES_TD

include "mlir/Pass/PassBase.td"

def StoreAsBytes : Pass<"nn-store-as-bytes", "::mlir::func::FuncOp"> {
  let summary = "Keep tensors of storage types as bytes";
  let description = [{
    Floats of 8 and 4 bits and integers of 4 and 2 bits become ui8 or i8, one element a byte, in constants, movement,
    arguments and results, and `nn.bitcast` between a storage type and its byte type vanishes. What else takes or gives
    such a type is refused: it has to be converted, which importers write as arithmetic on the bits.

    Before:

        %0 = nn.transpose %x permutation [1, 0] : (tensor<2x3xf8E4M3FN>) -> tensor<3x2xf8E4M3FN>
        %1 = nn.bitcast %0 : tensor<3x2xf8E4M3FN> -> tensor<3x2xui8>

    After:

        %1 = nn.transpose %x permutation [1, 0] : (tensor<2x3xui8>) -> tensor<3x2xui8>
  }];
}

def LowerToNests : Pass<"nn-lower-to-nests", "::mlir::func::FuncOp"> {
  let summary = "Turn layers into nests and remaps";
  let description = [{
    Every layer becomes a sequence of `linalg.generic` on tensors, whose bodies are scalar operations that are opcodes
    of a core, and of `wafer.remap`, which moves elements. `nn.constant`, `nn.read` and `nn.write` stay. Contractions
    and sums of f16 and bf16 accumulate in f32 and are rounded once at the end. linalg's named operations are made
    generic. All operations without a lowering are reported together.

    Before:

        %y = nn.matmul %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>

    After:

        %zero = arith.constant 0.0 : f32
        %e = tensor.empty() : tensor<2x4xf32>
        %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
        %y = linalg.generic {indexing_maps = [(d0, d1, d2) -> (d0, d2), (d0, d1, d2) -> (d2, d1), (d0, d1, d2) -> (d0,
        d1)],
                             iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : …) outs(%0 :
                             tensor<2x4xf32>) {
        ^bb0(%a: f32, %b: f32, %sum: f32):
          %1 = math.fma %a, %b, %sum : f32
          linalg.yield %1 : f32
        } -> tensor<2x4xf32>
  }];
  let dependentDialects = ["::wsc::wafer::WaferDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def FuseNests : Pass<"spmd-fuse-nests", "::mlir::func::FuncOp"> {
  let summary = "Join elementwise nests with each other and with reductions behind them, and remaps with remaps";
  let description = [{
    An elementwise nest whose result has one use goes into the nest that uses it, where that computes each of its
    elements once: into elementwise nests and into reductions that read it over all their iterators, not into
    contractions, which would compute it again and again. A remap that reads a remap of one piece reads that one's
    operand, and remaps that change nothing vanish. What follows a reduction element by element is left to the reader of
    networks. Constants are not folded.

    Before:

        %0 = linalg.generic … ins(%x, %mean) { sub }
        %1 = linalg.generic … ins(%0, %0) { mul }
        %y = linalg.generic … ["parallel", "reduction"] ins(%1) { add }

    After:

        %y = linalg.generic … ["parallel", "reduction"] ins(%x, %mean) { sub, mul, add }
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::tensor::TensorDialect"];
}

def NarrowFloats : Pass<"spmd-narrow-floats", "::mlir::func::FuncOp"> {
  let summary = "Store f32 tensors in 16 bits";
  let description = [{
    Runs on nests and remaps, behind spmd-fuse-nests. Factors of multiply-adds become elements of a 16-bit float type,
    and so do all other tensors, or with `contractions-only` those that nothing but multiply-adds and movement reads.
    Arguments, results and variables of the function keep their types: conversions stand at the border. Numbers beyond
    the type's range that constants hold become its largest ones.

    Bodies go on in f32: elements are widened where they are read and rounded where they are stored. Where that gives
    the bits of operations of the narrow type (one operation that rounds; minima, maxima, signs and selections beside
    it), the body is of that type. Sums are formed in f32 and rounded once, behind the elementwise nest that takes them
    in place, if there is one; with `narrow-sums`, those of products are formed in the narrow type. Other sums and what
    is computed from these alone (means, variances) stay in f32, as do constants of one dimension outside of products.

    Before:

        %0 = linalg.generic … ["parallel", "parallel", "reduction"] ins(%x, %w : tensor<4x8xf32>, tensor<8x3xf32>) {
        ^bb0(%a: f32, %b: f32, %sum: f32):
          %1 = math.fma %a, %b, %sum : f32
          linalg.yield %1 : f32
        } -> tensor<4x3xf32>
        %y = linalg.generic … ["parallel", "parallel"] ins(%0, %bias : tensor<4x3xf32>, tensor<3xf32>) { add }
            -> tensor<4x3xf32>

    After, where %y is read by another product:

        %0 = linalg.generic … ["parallel", "parallel", "reduction"] ins(%x, %w : tensor<4x8xf16>, tensor<8x3xf16>) {
        ^bb0(%a: f16, %b: f16, %sum: f32):
          %1 = arith.extf %a : f16 to f32
          %2 = arith.extf %b : f16 to f32
          %3 = math.fma %1, %2, %sum : f32
          linalg.yield %3 : f32
        } -> tensor<4x3xf32>
        %y = linalg.generic … ["parallel", "parallel"] ins(%0, %bias : tensor<4x3xf32>, tensor<3xf32>) { add, truncf }
            -> tensor<4x3xf16>

    and with `narrow-sums` the body of the first is `math.fma %a, %b, %sum : f16`.
  }];
  let options = [
    Option<"type", "type", "std::string", [{"f16"}], "f16 or bf16">,
    Option<"contractionsOnly", "contractions-only", "bool", "false",
        "store narrow what nothing but multiply-adds reads, all else in f32">,
    Option<"narrowSums", "narrow-sums", "bool", "false", "form the sums of multiply-adds in the narrow type">,
  ];
  let dependentDialects = ["::wsc::nn::NnDialect", "::wsc::wafer::WaferDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def PrintNetwork : Pass<"spmd-print-network", "::mlir::func::FuncOp"> {
  let summary = "Print the network that the planner gets from a function of nests, as text";
  let description = [{
    Text of the network on standard output; the function stays as it is. Functions that are no network are refused with
    the layer and the reason.
  }];
}

#endif
