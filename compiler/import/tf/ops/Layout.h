// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TensorFlow's images have their channels last unless data_format says otherwise, and its windows are padded by name.
// nn's have channels first and explicit pads.
#pragma once
#include "compiler/import/common/Windows.h"
#include "compiler/import/tf/NodeContext.h"

namespace wsc::import::tf {

/// data_format of a tensor with `rank` dimensions: true for N…C. Fails for unknown ones.
bool readChannelsLast(NodeContext &node, int64_t rank);
/// The same of an operator that TensorFlow.js has with channels last only.
bool readChannelsLastOrJs(NodeContext &node, int64_t rank);

/// [N, spatial…, C] as [N, C, spatial…] and back, where `channelsLast`.
Expression toChannelsFirst(const Expression &x, bool channelsLast);
Expression fromChannelsFirst(const Expression &y, bool channelsLast);

/// Extents of [N, C, spatial…] in the order of the data format, and back.
llvm::SmallVector<int64_t> toChannelsFirst(llvm::ArrayRef<int64_t> extents, bool channelsLast);

/// The spatial numbers of an attribute with a number per dimension; `otherwise` where it is absent. Batch and channels
/// must be 1.
std::vector<int64_t> readSpatial(NodeContext &node, const char *name, int64_t rank, bool channelsLast,
                                 int64_t otherwise);

/// Window of the attributes strides, dilations, padding and explicit_paddings over spatial extents `input`. SAME pads
/// so that the output extent is ceil(input / stride), the odd element behind.
SpatialWindow readWindow(NodeContext &node, llvm::ArrayRef<int64_t> input, std::vector<int64_t> kernel,
                         bool channelsLast);

/// Extents of the window's output.
std::vector<int64_t> outputExtents(const SpatialWindow &window, llvm::ArrayRef<int64_t> input);

/// A filter [kernel…, I, O] as [O, I, kernel…], and back.
Expression filterFirst(const Expression &filter);
Expression filterLast(const Expression &weight);

} // namespace wsc::import::tf
