// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from nn to a routed wafer network, in the order they run.
#ifndef WSC_PASSES_WAFER_PASSES_TD
#define WSC_PASSES_WAFER_PASSES_TD

include "mlir/Pass/PassBase.td"

class Wafer_TargetOption : Option<"target", "target", "std::string", "\"wse2\"",
    "Machine: wse1, wse2, wse3, mesh-RxC or a description file">;

class Wafer_DefectsOption : Option<"defects", "defects", "std::string", "\"\"",
    "JSON file with the dead_cores and dead_links of this wafer">;

class Wafer_EffortOption : Option<"effort", "effort", "::wsc::kernels::Effort", "::wsc::kernels::Effort::Default",
    "How much to look for better mappings", [{::llvm::cl::values(
      clEnumValN(::wsc::kernels::Effort::Fast, "fast", "the first mapping"),
      clEnumValN(::wsc::kernels::Effort::Default, "default", "others where the first can be quicker"),
      clEnumValN(::wsc::kernels::Effort::High, "high", "many others, also for shorter wires"))}]>;

class Wafer_SeedOption : Option<"seed", "seed", "uint64_t", "1",
    "Another seed, another search; the same seed, the same mapping">;

class Wafer_DumpOption<string what> : Option<"dumpProblems", "dump-problems", "std::string", "\"\"",
    "Folder for the " # what # " as text, FUNCTION.KIND.txt, with what was chosen as FUNCTION.KIND.solution.txt">;

class Wafer_ThreadsOption : Option<"threads", "threads", "int", "0",
    "Host threads, 0: all; results do not depend on them">;

def FoldPadding : Pass<"nn-fold-padding", "::mlir::func::FuncOp"> {
  let summary = "Let convolutions and pools pad their input themselves";
  let description = [{
    Runs before kernels are formed. Zeros in front of a convolution or of an average that counts them, and -inf in front
    of a maximum, become the layer's padding; that is one kernel less. Padding stays where a window would see nothing
    else.

    Before:

        %p = nn.pad %x low [0, 0, 1, 1] high [0, 0, 1, 1] value 0.0 : f32 : (tensor<1x4x8x8xf32>) ->
        tensor<1x4x10x10xf32> %y = nn.pool avg %p kernel [3, 3] : (tensor<1x4x10x10xf32>) -> tensor<1x4x8x8xf32>

    After:

        %y = nn.pool avg %x kernel [3, 3] pads [1, 1, 1, 1] {count_include_pad} : (tensor<1x4x8x8xf32>) ->
        tensor<1x4x8x8xf32>
  }];
  let dependentDialects = ["::wsc::nn::NnDialect"];
}

def DecomposeReductions : Pass<"nn-decompose-reductions", "::mlir::func::FuncOp"> {
  let summary = "Turn reductions into pools, convolutions and products, one image axis at a time";
  let description = [{
    Runs before kernels are formed. Of an image, columns are reduced first: that needs no words from other tiles, and
    leaves so little that the step over rows may bring all tiles together; channels come last. Mean and maximum are
    pools, a sum is a convolution of each channel with ones, a minimum the negative of the negatives' maximum; over
    channels, a sum or mean is a convolution with ones, over the last dimension of a matrix a product with ones. A pool
    over the whole image is cut in two likewise. Products, and the maximum over channels, stay.

    Before:

        %y = nn.reduce mean %x axes [2, 3] {keepdims} : (tensor<1x8x7x7xf32>) -> tensor<1x8x1x1xf32>

    After:

        %r = nn.pool avg %x kernel [1, 7] : (tensor<1x8x7x7xf32>) -> tensor<1x8x7x1xf32>
        %y = nn.pool avg %r kernel [7, 1] : (tensor<1x8x7x1xf32>) -> tensor<1x8x1x1xf32>
  }];
  let dependentDialects = ["::wsc::nn::NnDialect"];
}

def FlattenRows : Pass<"nn-flatten-rows", "::mlir::func::FuncOp"> {
  let summary = "Let layers that work on the last dimension see tensors as rows";
  let description = [{
    Runs before kernels are formed, which know [1, C, H, W] and [B, F]. Elementwise layers (operands of the whole shape,
    one row or one element), softmax along the last dimension and products with a weight matrix take any other tensor as
    [rows, last].

    Before:

        %y = nn.unary relu %x : tensor<3x4x5xf32>

    After:

        %r = nn.reshape %x : tensor<3x4x5xf32> -> tensor<12x5xf32>
        %s = nn.unary relu %r : tensor<12x5xf32>
        %y = nn.reshape %s : tensor<12x5xf32> -> tensor<3x4x5xf32>
  }];
  let dependentDialects = ["::wsc::nn::NnDialect"];
}

def ForwardState : Pass<"nn-forward-state", "::mlir::func::FuncOp"> {
  let summary = "Leave each variable one read and then one write";
  let description = [{
    A read takes the value written before it in the function, or what the first read has; only the last write stays.

    Before:

        nn.write @v, %a : tensor<4xf32>
        %b = nn.read @v : tensor<4xf32>
        %c = nn.unary neg %b : tensor<4xf32>
        nn.write @v, %c : tensor<4xf32>

    After:

        %c = nn.unary neg %a : tensor<4xf32>
        nn.write @v, %c : tensor<4xf32>
  }];
  let dependentDialects = ["::wsc::nn::NnDialect"];
}

def ShareConcats : Pass<"nn-share-concats", "::mlir::func::FuncOp"> {
  let summary = "Build long concatenations on shorter ones";
  let description = [{
    Runs before kernels are formed, so that no kernel has to take in many streams. A concatenation whose first operands
    are those of an earlier one takes that one's result; what still has more than four operands is cut into halves.

    Before:

        %a = nn.concat %x, %f axis 1 : …
        %b = nn.concat %x, %f, %g axis 1 : …

    After:

        %a = nn.concat %x, %f axis 1 : …
        %b = nn.concat %a, %g axis 1 : …
  }];
  let dependentDialects = ["::wsc::nn::NnDialect"];
}

def LayOutState : Pass<"wafer-lay-out-state", "::mlir::ModuleOp"> {
  let summary = "Give every state variable its cores, the same for all functions";
  let description = [{
    Runs before kernels are sized. Each variable gets a column, from the east; its tiles and slices follow from its type
    and the target alone. A variable that has its place keeps it.

    Before: `nn.variable @v : tensor<1x4x8x8xf32>` After:  `nn.variable @v {wafer.state = #wafer.state<tile_rows = 2,
    slice = 2, rows = 8, col = 7, address = 49024>} : tensor<1x4x8x8xf32>`
  }];
  let options = [Wafer_TargetOption<>, Wafer_DefectsOption<>];
  let dependentDialects = ["::wsc::nn::NnDialect", "::wsc::wafer::WaferDialect"];
}

def FormKernels : Pass<"wafer-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "Gather layers into kernels";
  let description = [{
    A convolution, matrix product or window takes along the elementwise layers that follow it and whose other operands
    are constants; a convolution of one group also up to three such layers in front of it, if nobody else needs what
    they compute and their constants are scalars or one element per channel. An elementwise layer on two streams begins
    a kernel of its own; concatenations, and softmax, stand alone. What is read from and written to a state variable,
    and the elementwise layers between, become kernels on the variable's cores. Reshapes and transposes at the network's
    edges become the order in which words enter and leave. All layers without a form are reported together.

    Before:

        %c = nn.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
        %r = nn.unary relu %c : tensor<1x4x8x8xf32>

    After:

        %s = wafer.enter %x : tensor<1x3x8x8xf32>
        %r = wafer.kernel "conv0"(%s) : (tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
        ^bb0(%a: tensor<1x3x8x8xf32>):
          %c = nn.conv %a, %w : …
          %y = nn.unary relu %c : …
          wafer.yield %y : tensor<1x4x8x8xf32>
        }
  }];
  let dependentDialects = ["::wsc::nn::NnDialect", "::wsc::wafer::WaferDialect"];
}

def PinKernels : Pass<"wafer-pin", "::mlir::func::FuncOp"> {
  let summary = "Note down what a user wants of kernels' rectangles and of lanes' routes";
  let description = [{
    Runs before kernels are sized. Reads a JSON file of kernels by name, with the number of `columns` of their
    rectangle, its first column `col`, or both; and of streams by name (kernels and inputs), with the columns west of
    each consumer at which lanes turn, one number or several that lanes take in turn:

        {"kernels": {"conv1": {"columns": 12, "col": 40}, "pool1": {"col": 60}},
         "routes": {"conv1": {"via": 1}, "image": {"via": [0, 1]}}}

    Before: `wafer.kernel "conv1"(%s) : …`
    After:  `wafer.kernel "conv1"(%s) attributes {pin = #wafer.pin<columns = 12, col = 40>, via = array<i32: 1>} : …`
  }];
  let options = [Option<"file", "file", "std::string", "\"\"", "JSON file of pins">];
  let dependentDialects = ["::wsc::wafer::WaferDialect"];
}

def SizeKernels : Pass<"wafer-size", "::mlir::func::FuncOp"> {
  let summary = "Choose tiles, slices and columns of every kernel";
  let description = [{
    Sets `mapping`, `layout`, `predicted_cycles` and the function's `wafer.rows_used`, for the least interval between
    samples the mesh's columns allow. A kernel's `pin` is kept.

    Before: `wafer.kernel "conv0"(%s) : …` After:  `wafer.kernel "conv0"(%s) attributes {mapping = #wafer.mapping<slice
    = 1, column = 2, fifo = [2]>, layout = …} : …`

    Convolutions that set the interval while columns are left over are cut into parts along the width of their output:

    Before: `%y = wafer.kernel "conv0"(%s) : …` with `nn.conv … pads [1, 1, 1, 1] … -> tensor<1x4x6x64xf32>`
    After:  `%a = wafer.kernel "conv0.0"(%s)` with `pads [1, 1, 1, -31] … -> tensor<1x4x6x32xf32>`,
            `%b = wafer.kernel "conv0.1"(%s)` with `pads [1, -31, 1, 1]`, `%y = wafer.kernel "conv0.join"(%a, %b)` with
            `nn.concat … axis 3`

    With more `effort` other mappings are tried. `wsc-compile` lets those that are found run on the analytic emulator
    and drops what is slower there than the first mapping; `wsc-opt` goes by the prediction alone.

    `wafer.bounds` notes cycles: the optimum of the candidates; multiply-adds over all cores and off-wafer words, which
    no mapping can beat; the slowest kernel at its quickest candidate. `wafer.search` notes how many other mappings were
    tried, whether one was better, and the interval by the analytic emulator where that was asked (else 0).
  }];
  let options = [Wafer_TargetOption<>, Wafer_DefectsOption<>, Option<"equalColumns", "equal-columns", "bool", "false",
      "give every kernel as many columns, instead of the least interval: the naive mapping to compare with">,
      Wafer_EffortOption<>, Wafer_SeedOption<>, Wafer_ThreadsOption<>, Wafer_DumpOption<"sizing problem">];
  let dependentDialects = ["::wsc::wafer::WaferDialect"];
}

def PlaceKernels : Pass<"wafer-place", "::mlir::func::FuncOp"> {
  let summary = "Give every kernel its rectangle";
  let description = [{
    Full-height strips from west to east in dataflow order, or in another that lets streams flow east if that shortens
    wires and no link gets busier than kernels. A kernel that has a `rect`, or a `pin` with a column, keeps it, and then
    so does the order.

    Before: `{mapping = …}`
    After:  `{mapping = …, rect = #wafer.rect<row = 0, col = 0, rows = 728, cols = 3>}`
  }];
  let options = [Wafer_TargetOption<>, Wafer_DefectsOption<>, Wafer_EffortOption<>, Wafer_SeedOption<>,
      Wafer_DumpOption<"placement problem">];
  let dependentDialects = ["::wsc::wafer::WaferDialect"];
}

def RouteStreams : Pass<"wafer-route", "::mlir::func::FuncOp"> {
  let summary = "Choose where lanes turn, and give every lane and every kernel its colours";
  let description = [{
    Lanes run east on their row and turn into the consumers' columns, or some columns west of them (`turns`) where links
    would carry more words than the slowest kernel takes cycles, or where `via` says so. Colours are assigned so that no
    router carries two routes on one. Fails with the saturated router and the routes that hold it.

    Before: `{rect = …}` After:  `{rect = …, colours = #wafer.colours<row = 0, chain = [1, 2]>, turns = [array<i32: 0,
    1>], lane_colours = array<i32: 3, 4, 3, 4>}`
  }];
  let options = [Wafer_TargetOption<>, Wafer_DefectsOption<>,
      Wafer_DumpOption<"routing, turning and colouring problems">];
  let dependentDialects = ["::wsc::wafer::WaferDialect"];
}

#endif
