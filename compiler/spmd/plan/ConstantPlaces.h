// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a constant lies that meets other tensors in one view: the class token in front of an image's tokens. It is laid
// down when the program is loaded, so it lies where the view wants it, and only the others move:
//
//     token   [1, 1, 768]   ┐
//                           ├─►  [1, 197 = r, 768 = c*2 | 2]        token: [1, 1, 768 = c*2 | 2] on all rows
//     patches [1, 196, 768] ┘
#pragma once

#include "compiler/spmd/moves/Move.h"

#include <vector>

namespace wsc::spmd {

/// `pieces`: of the view that is wanted in `to`; the constant is their source `root`. It lies along the dimensions of
/// `to` that its own ones are parts of, if it is one piece whose dimensions are the view's, in few words on each core;
/// else flat over the rectangle.
Sharding constantPlace(const Tensor &constant, int32_t root, const std::vector<StridedPiece> &pieces,
                       const Sharding &to, const Rectangle &rectangle);

} // namespace wsc::spmd
