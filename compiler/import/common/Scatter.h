// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements written at indices. For each place of the result the updates whose index is the place's are reduced, the
// others counting as neutral; places that no update has keep their element. Of several updates of one place without a
// reduction the greatest counts.
#pragma once
#include "compiler/import/common/Functions.h"
#include <string>

namespace wsc::import {

/// `data` changed where `isHit` (i1, with a further dimension `axis` of updates) says so by the updates that broadcast
/// to it. `reduction` is none, add, mul, min or max.
Expression applyUpdates(const Expression &data, const Expression &isHit, const Expression &updates, int64_t axis,
                        const std::string &reduction);

/// Each last dimension of the indices […, depth] holds the numbers along the first `depth` dimensions of the data of
/// the slice to change; updates are […, the other dimensions]. Negative numbers count from the end.
Expression scatterSlices(const Expression &data, const Expression &indices, const Expression &updates,
                         const std::string &reduction);

} // namespace wsc::import
