// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of IoBinding lanes: elements of host tensors in the order of the binding's extents, packed as one
// instruction would pack them. Elements of a padded binding outside of the tensor are zeros going in and dropped going
// out.
#pragma once

#include "runtime/emulator/CoreEngine.h"

namespace wsc::emulator {

// Host → words.
void packLane(const format::IoBinding &binding, const format::LatticeIndex &index, format::ElementType type,
              HostView tensor, std::byte *words);
// Words → host.
void unpackLane(const format::IoBinding &binding, const format::LatticeIndex &index, format::ElementType type,
                const std::byte *words, HostTensor &tensor);
// Words of a lane; an error when an element lies outside a tensor of `elements` elements and the binding is not padded.
absl::StatusOr<int64_t> checkLane(const format::IoBinding &binding, const format::LatticeIndex &index,
                                  format::ElementType type, int64_t elements);

} // namespace wsc::emulator
