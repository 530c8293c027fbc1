// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an input queue's filter lets through of the words that a router would deliver.
#pragma once

#include "runtime/emulator/Network.h"

namespace wsc::emulator {

// The part of `segments`, a sample's words in order, that passes `filter` on core `index`. Errors, without the filter's
// name: its window lies outside the period; the words are no whole number of periods; more than 2^20 pieces.
absl::StatusOr<std::vector<Segment>> filterSegments(const std::vector<Segment> &segments, const format::Filter &filter,
                                                    const format::LatticeIndex &index);

} // namespace wsc::emulator
