// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of attention operators: heads, products per head, rotary positions.
#pragma once
#include "compiler/import/onnx/NodeContext.h"

namespace wsc::import {

/// [batch, length, heads·size] as [batch, heads, length, size], and back. `what` names the tensor in the error.
Expression splitHeads(NodeContext &node, const Expression &x, int64_t heads, const char *what);
Expression joinHeads(const Expression &x);

/// Whether queries [B, H, L, E], keys [B, H', S, E] and values [B, H', S, E'] fit, H being a multiple of H'; fails if
/// not.
bool headsFit(NodeContext &node, const Expression &q, const Expression &k, const Expression &v);

/// Product per head of rows [B, H, L, K] with a matrix [B, H', …] shared by groups of heads.
Expression perHead(const Expression &rows, const Expression &shared, bool transposeRhs);

/// x [batch, heads, length, size] with pairs of its first `turned` elements (all where 0), from two halves or
/// neighbours, turned by the angles whose cosines and sines are [batch or 1, length, turned / 2].
Expression turnedByAngles(const Expression &x, Expression cosine, Expression sine, int64_t turned, bool interleaved);

} // namespace wsc::import
