// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ways to cut the iterators of a nest into slices whose temporaries fit.
#pragma once

#include "compiler/spmd/local/NestFrame.h"

#include <vector>

namespace wsc::spmd {

/// Slicings of the first `numIterators` iterators of a block of `extents`: none at all if everything fits, and those in
/// which one iterator, or the outer ones in some order, are cut. In all of them a reduced iterator is cut into more
/// than single points only if those inside of it are whole, and reduced iterators keep their order, so each sum meets
/// its values in ascending order. Empty if not even single points fit.
std::vector<Slicing> slicings(const std::vector<int64_t> &extents, size_t numParallel, size_t numIterators,
                              const std::vector<Temporary> &temporaries, int64_t temporaryBytes);

} // namespace wsc::spmd
