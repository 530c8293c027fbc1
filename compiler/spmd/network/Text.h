// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Networks as text, for people and tests.
#pragma once

#include "compiler/spmd/network/Network.h"

#include <string>

namespace wsc::spmd {

/// Tensors are named %NAME, with their number behind it where several have that name. In a nest, i0, i1 … are its
/// parallel iterators and r0, r1 … the reduced ones, o0 … its operands and v0 … the results of its operations.
///
///     network main
///     input %x: f32[2, 3]
///     constant %w: f32[3, 4], 48 bytes of m.onnx from 96
///     nest fc+relu: over [2, 4], reduced [3] by fma f32 from 0, macs 24
///       o0 = %x[i0, r0]
///       o1 = %w[r0, i1]
///       reduce o0, o1
///       v0 = max f32 reduced, 0
///       %relu: f32[2, 4] = v0
///     remap flat: over [8] from %relu at 0 by [1] to 0 by [1]
///       %flat: f32[8]
///     output y = %flat
std::string printNetwork(const Network &network);

} // namespace wsc::spmd
