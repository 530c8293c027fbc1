// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What code generation is told about a network: streams, kernels, and how each kernel is mapped, placed and coloured.
// Plain data, no IR: the wafer dialect is read into these structures, sizing searches over `Mapping`, generation turns
// them into roles and routes.
#pragma once

#include "compiler/emit/SectionRecipe.h"
#include "compiler/kernels/network/Layout.h"
#include "runtime/format/Executable.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace wsc::kernels {

// The way out where strips have no form for a layer.
constexpr const char *kPhasedHasNoLimit = "--execution=phased has no such limit";

// Constant elements, where they are: bytes of a file or in memory. `offset` is the first element used; strides stand
// where the view is used.
struct ConstantView {
  std::string path;
  int64_t sourceOffset = 0, sourceBytes = 0;
  std::shared_ptr<const std::vector<std::byte>> inlineBytes;
  int64_t offset = 0;

  // A section over this source, without extents.
  emit::SectionRecipe recipe(std::string name) const {
    emit::SectionRecipe recipe;
    recipe.name = std::move(name);
    recipe.path = path;
    recipe.sourceOffset = sourceOffset;
    recipe.sourceBytes = sourceBytes;
    recipe.inlineBytes = inlineBytes;
    recipe.elementOffset = offset;
    return recipe;
  }
};

// A contraction with resident weights: convolution (implicit GEMM) or matrix product. out[o,h,w] = bias[o] + Σ
// weights[o,i,y,x] · in[i, h·strideH − padTop + y·dilationH, w·strideW − padLeft + x·dilationW]. Padding is negative
// where the first window begins behind the first row or column of the input.
struct Contraction {
  int64_t kernelH = 1, kernelW = 1, strideH = 1, strideW = 1, dilationH = 1, dilationW = 1, padTop = 0, padLeft = 0;
  ConstantView weights;
  int64_t weightStrideOut = 0, weightStrideIn = 0, weightStrideH = 0, weightStrideW = 0; // elements
  std::optional<ConstantView> bias = {};                                                 // one per output channel
  bool matrixProduct = false;                                                            // not a convolution
};

// A window that slides over each group of channels apart: over each channel (pooling, depthwise convolution), or over
// `groupIn` channels of the input for `groupOut` of the output. A window of one element copies: slices and padding.
struct Window {
  enum class Kind { Max, Sum, Convolution, Copy } kind = Kind::Max;
  int64_t kernelH = 1, kernelW = 1, strideH = 1, strideW = 1, dilationH = 1, dilationW = 1;
  // Rows and columns of padding before the first of the input; Copy: negative where it begins behind that one.
  int64_t padTop = 0, padLeft = 0;
  double padValue = 0;
  int64_t firstChannel = 0;          // Copy: of the input, that becomes the first of the output
  int64_t groupIn = 1, groupOut = 1; // Convolution; 1 for others
  ConstantView weights = {};         // Convolution
  int64_t weightStrideOut = 0, weightStrideIn = 0, weightStrideH = 0, weightStrideW = 0; // elements
  std::optional<ConstantView> bias = {};                                                 // one per output channel

  bool ofSingleChannels() const { return groupIn == 1 && groupOut == 1; }
  // Whether cores that make so many output channels each hold whole groups, or equal parts of one.
  bool dividesEvenly(int64_t channels) const { return channels % groupOut == 0 || groupOut % channels == 0; }
};

// One elementwise operation on a tile. Values are numbered: first the kernel's inputs (for contractions and windows:
// value 0 is their result), then one per operation, in order.
struct TileOperand {
  enum class Kind { Value, PerChannel, PerPixel, Scalar } kind = Kind::Scalar;
  int32_t value = 0;
  ConstantView constant; // PerChannel: one element per channel; PerPixel: rows × width, row-major
  double scalar = 0;
};
struct TileOp {
  format::Opcode opcode = format::Opcode::Move;
  std::vector<TileOperand> operands; // one or two
};

// Softmax (or its logarithm) over the channels of each pixel.
struct Softmax {
  bool logarithm = false;
};

enum class KernelKind { Contraction, Window, Elementwise, Softmax };

// An input: streams concatenated along channels, or along the width.
struct KernelInput {
  std::vector<int32_t> streams;
  bool alongWidth = false;
};

// What a kernel on the cores of a state variable does with it: values as TileOperand numbers them, -1: none. The
// variable's old value, if read, is numbered after the inputs.
struct StateUse {
  int32_t variable = -1;   // of NetworkPlan::variables
  int32_t readValue = -1;  // the old value
  int32_t writeValue = -1; // becomes the new value
  int32_t outValue = -1;   // goes out on the kernel's stream
  // The new value is a constant, whatever the samples: a scalar (Scalar), or one element each in the variable's own
  // order (PerPixel).
  std::optional<TileOperand> writeConstant;
  bool writes() const { return writeValue >= 0 || writeConstant; }
};

// A state variable of the module and where it lies; see #wafer.state.
struct VariablePlan {
  format::TensorType tensor;
  Plane plane;
  std::array<int64_t, 3> strides{}; // elements of the tensor from channel to channel, row to row, column to column
  std::optional<ConstantView> initial;
  int64_t tileRows = 1, channelsPerSlice = 1, rows = 0, address = 0;
  int32_t col = -1;
  int64_t tiles() const { return ceilDiv(plane.rows, tileRows); }
  int64_t slices() const { return ceilDiv(plane.channels, channelsPerSlice); }
  // Bytes of its fullest core.
  int64_t bytes() const { return channelsPerSlice * tileRows * plane.width * format::elementBytes(tensor.type); }
};

struct KernelSpec {
  std::string name;
  std::vector<std::string> layers;
  int64_t macs = 0; // of the network's own definition
  KernelKind kind = KernelKind::Elementwise;
  std::vector<KernelInput> inputs;
  Plane out;
  Contraction contraction;
  Window window;
  Softmax softmax;
  std::vector<TileOp> inputOps;  // Contraction: applied to the input before it, in order; value 0 is the input
  std::vector<TileOp> tileOps;   // applied to the result, in order
  std::optional<StateUse> state; // Elementwise only
  int32_t outStream = -1;
};

// How a kernel covers its rectangle. Groups = tiles of the output. Rows of a group are channel slices (of the input for
// a contraction, of the output otherwise); columns of a contraction are slices of output channels.
struct Mapping {
  int64_t channelsPerSlice = 1, slices = 1;
  // Output channels of a column. Contractions have a feeder column on top; columns of other kernels hold whole slices.
  int64_t channelsPerColumn = 1, columns = 1;
  // Contractions: output channels that the feeder makes itself, the first of each band; it is the first of `columns`
  // then. 0: it only feeds.
  int64_t feederChannels = 0;
  // Contractions: bands of rows in a group. Each has all slices and makes the output channels of `columns` columns; the
  // next band goes on with the channels after them.
  int64_t bands = 1;
  std::vector<int64_t> fifoSamples; // per (input, component), in order: samples its FIFO holds
  // Contractions and windows: cores take in and work on one channel at a time, for tiles that do not fit SRAM as a
  // whole.
  bool streamed = false;
  // Windows of several columns: results leave near the rows on which their inputs arrive, not on rows spread over the
  // group.
  bool exitsNear = false;
  bool operator==(const Mapping &) const = default;

  bool feederComputes() const { return feederChannels > 0; }
  // The first channel of a contraction's column, counted from its band's first; of column `columns`: a band's channels.
  int64_t columnBegin(int64_t column) const {
    return feederComputes() && column > 0 ? feederChannels + (column - 1) * channelsPerColumn
                                          : column * channelsPerColumn;
  }
  int64_t bandChannels() const { return columnBegin(columns); }
  // The column of a band's channel.
  int64_t columnOf(int64_t channel) const {
    return !feederComputes()          ? channel / channelsPerColumn
           : channel < feederChannels ? 0
                                      : 1 + (channel - feederChannels) / channelsPerColumn;
  }
  // Columns of a band when there are so many channels in all; the last band may have fewer than the others.
  int64_t columnsOfBand(int64_t band, int64_t channels) const {
    return columnOf(std::min(bandChannels(), channels - band * bandChannels()) - 1) + 1;
  }
};

// Columns of a contraction that makes `channels` in `bands` bands; see Mapping.
inline int64_t columnsFor(int64_t channels, int64_t bands, int64_t channelsPerColumn, int64_t feederChannels) {
  const int64_t others = ceilDiv(channels, bands) - feederChannels;
  return (feederChannels > 0) + ceilDiv(std::max<int64_t>(0, others), channelsPerColumn);
}

struct Placement {
  int32_t col = -1; // -1: not placed
};

struct KernelColours {
  uint8_t row = 0;                    // feeder → row
  std::array<uint8_t, 2> chain{0, 0}; // chain reduce, by parity of the slice
};

struct KernelPlan {
  KernelSpec spec;
  Mapping mapping;
  Placement placement;
  KernelColours colours;
  int64_t predictedIntervalCycles = 0;
  std::optional<int64_t> pinnedColumns; // of the rectangle, feeder included; sizing keeps to it
  // A *co-located kernel* runs on the feeders of the contraction that takes its result, its *host* (CoLocation.h); -1:
  // neither.
  int32_t host = -1, coLocated = -1;
  // Per (input, component), in order: how many columns west of the kernel's own (negative: east) lanes turn from their
  // trunks. Lane i takes entry i mod size, or turns as near to that as it can; empty: all turn in the column itself.
  std::vector<std::vector<int32_t>> turns;
  // Columns of the rectangle, and how far east of its first column the first one that computes lies.
  int32_t width() const { return int32_t(mapping.columns) + computeOffset(); }
  int32_t computeOffset() const { return spec.kind == KernelKind::Contraction && !mapping.feederComputes(); }
};

// A tensor in flight: produced by a kernel or entering the wafer, taken by kernels or leaving it.
struct StreamPlan {
  std::string name;
  StreamLayout layout;
  std::vector<uint8_t> laneColours; // per lane
  int32_t producer = -1;            // kernel; -1: an input of the network
  std::vector<int32_t> consumers;   // kernels
  std::vector<int32_t> wantedTurns; // pinned: KernelPlan::turns at every consumer; empty: free to choose
  // Network input or output: the entry's tensor, and where element (channel, row, column) lies in it. The channel may
  // be split in two digits.
  struct Host {
    int32_t tensor = -1;
    int64_t offset = 0;
    int64_t channelInner = 1; // channel = outer·channelInner + inner
    int64_t strideChannelOuter = 0, strideChannelInner = 0, strideRow = 0, strideColumn = 0; // elements
  };
  std::optional<Host> input;
  std::vector<Host> outputs;
};

// In cycles between samples; 0: not known. No mapping can beat `multiplyAdds` and `io`; the others hold for the shapes
// that sizing enumerates.
struct IntervalBounds {
  // The least interval at which every kernel's fewest columns, of all its candidates, fit the mesh together; off-wafer
  // words included.
  int64_t sizing = 0;
  // What each of three things alone would take: the multiply-adds spread evenly over all cores of the mesh, the words
  // over the wafer's edge, the slowest kernel at its quickest candidate.
  int64_t multiplyAdds = 0, io = 0, largestKernel = 0;
};

struct NetworkPlan {
  std::string name = "main";
  RowGrid grid;
  IntervalBounds bounds;
  std::vector<StreamPlan> streams;
  std::vector<KernelPlan> kernels; // in dataflow order
  std::vector<format::TensorType> inputs, outputs;
  std::vector<VariablePlan> variables; // of the module, used here or not
};

} // namespace wsc::kernels
