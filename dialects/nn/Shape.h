// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape arithmetic shared by the verifiers, the importers and kernel formation. Extents are elements.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace wsc::nn {

/// "[1, 3, 224, 224]".
std::string formatShape(llvm::ArrayRef<int64_t> shape);

/// Numpy broadcasting of two shapes; nullopt when a pair of extents differs and neither is 1.
std::optional<llvm::SmallVector<int64_t>> broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// Extent of the output of a window of `kernel` taps: floor((input + before + after - ((kernel-1)*dilation+1)) /
/// stride) + 1. Negative padding takes elements away. nullopt when an argument is out of range (kernel, stride,
/// dilation < 1, padding that takes all of the input away, any above 2^31) or the padded input is smaller than the
/// window.
std::optional<int64_t> windowOutputExtent(int64_t input, int64_t kernel, int64_t stride, int64_t dilation,
                                          int64_t before, int64_t after);

/// Product of the extents; nullopt on overflow of 63 bits.
std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> shape);

/// Largest extent of a tensor in a model. Strides, dilations and pads are below it, so that products of two such
/// numbers and their sums stay within 63 bits.
inline constexpr int64_t maxExtent = int64_t{1} << 31;

/// What forbids a shape without negative extents, to stand behind its name: "has more than 2^63 elements", or "has an
/// extent 4294967296, above 2^31"; empty for a shape that is possible.
std::string shapeProblem(llvm::ArrayRef<int64_t> shape);

} // namespace wsc::nn
