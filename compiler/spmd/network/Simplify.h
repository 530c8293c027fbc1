// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Networks with fewer nodes that compute the same bits.
#pragma once

#include "compiler/spmd/network/Network.h"

namespace wsc::spmd {

/// All of the below, as often as they bring something.
void simplify(Network &network);

/// Dimensions that remaps read in parts, [128, 3·12·64] as [12, 128, 64], become several dimensions, and the iterators
/// that walk them several iterators: [128, 3, 12, 64]. Then a part can lie on an axis of its own, and remaps fold.
/// Inputs, outputs and variables keep their shapes.
void splitDims(Network &network);

/// A nest that reads the result of a remap of one piece reads the piece's source instead, wherever its indices there
/// are affine in the iterators: transposed, sliced, repeated, reshaped and padded operands. Padding becomes
/// Access::padding if it is neutral for the nest's reduction; else the remap stays.
void foldRemaps(Network &network);

/// A remap that reads the result of another reads that one's sources instead, wherever its pieces then have a form:
/// slices of concatenations, concatenations of pads, joins of transposed tensors.
void mergeRemaps(Network &network);

/// Nodes over few constant elements become constants (the factors of a normalisation, a mask). Those whose file cannot
/// be read stay. Conversions of constants, however large, become constants that are converted when they are read.
void foldConstants(Network &network);

/// An elementwise nest that is the only one to read the result of a reduction, each element at its own place, becomes
/// part of the reduction's `finish`.
void fuseFinish(Network &network);

/// Operands of a nest that read the same elements become one.
void mergeOperands(Network &network);

/// Constants of reductions whose last dimension the reduction walks, as [n, k] in a product over k, are turned, [k, n]:
/// what an instruction walks lies side by side then. Elements that lie apart take an access to SRAM each.
void turnConstants(Network &network);

/// A concatenation of many tensors that begins with all that an earlier one has reads that one's result instead.
void shareConcatenations(Network &network);

/// A remap that reads the result of another, with which it did not merge, reads a copy of it that a nest writes: halves
/// of channels that layer after layer shuffles and passes on.
void writeOutChains(Network &network);

/// A gather from a dimension of more than `mostBytes` in one line becomes a sum over windows of that dimension, so that
/// cores need not hold it whole:
///
///     y[t, d] = table[i[t], d]   ──►   l[t, p] = i[t] − p·window
///                                      y[t, d] = Σ_p  0 ≤ l[t, p] < window ? table[p·window + l[t, p], d] : 0
///
/// The sum is of the bits as integers: exactly one term is not zero. A large table has about as many windows as a line
/// of the mesh has cores, `lineCores`, so that it can lie on all of them.
void splitGathers(Network &network, int64_t mostBytes, int64_t lineCores);

/// Drops nodes whose results nobody needs, and tensors nobody names; tensors are numbered anew.
void removeUnused(Network &network);

} // namespace wsc::spmd
