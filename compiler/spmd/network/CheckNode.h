// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of one node of a network, apart from those of the network as a whole.
#pragma once

#include "compiler/spmd/network/Network.h"

#include "absl/status/status.h"

#include <string>
#include <vector>

namespace wsc::spmd {

/// Whether `node` obeys Network.h; it may read the tensors t with defined[t] and must compute one that is not. The
/// error names the node.
absl::Status checkNode(const Network &network, const Node &node, const std::vector<bool> &defined);

/// The same for the pieces of a remap alone, between tensors of so many elements: inside of source and result, and no
/// element of the result twice. `sourceElements[p]` belongs to piece p.
absl::Status checkPieces(const std::vector<Piece> &pieces, const std::vector<int64_t> &sourceElements,
                         int64_t resultElements);

/// How many of a, b, c an operation of a body takes.
int sourcesOf(format::Opcode opcode);

/// "[2, 3]", "f32", "add".
std::string shapeText(const std::vector<int64_t> &shape);
std::string typeText(format::ElementType type);
std::string opcodeText(format::Opcode opcode);

} // namespace wsc::spmd
