// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First step of sizing: how the rows of every tensor are cut into tiles, and how many rows of the mesh are used.
#pragma once

#include "compiler/kernels/network/Spec.h"
#include "compiler/kernels/network/Variant.h"

#include "runtime/target/Target.h"

#include "absl/status/status.h"

#include <set>

namespace wsc::kernels {

// Rows of input a kernel needs for `outRows` consecutive rows of output.
int64_t inputRowsFor(const KernelSpec &spec, int64_t outRows, int64_t inputRows);

// Rows in use for tensors of these numbers of tiles: the largest number, at most the mesh's and at least nine tenths of
// it, that most of them divide.
int64_t rowsForTiles(const target::Target &target, const std::multiset<int64_t> &counts);

// Finds for every stream the rows that any receiver takes.
void findLiveRows(NetworkPlan &network);

// Sets the grid's pitches and offsets. Pitches: one for each number of tiles, such that image rows of all tensors are
// as far apart as their strides say. Windows without padding leave a few rows less than that (222 rows in, stride 2,
// 110 out); without it the tiles of such tensors drift against each other, and every group's lanes run differently.
// Offsets: as far as rows are idle or spare, the output of a window lies in the middle of its input (half a tile's rows
// further north or south than its first row). Needs tiles, rows in use and spare rows. Not for networks with state
// variables, whose tiles are given.
void findPitches(NetworkPlan &network);

// Sets every stream's `tileRows`, `orderModulus`, `wantedBlocks` and `mostBlocks`, and the grid, with the
// wishes of `variant`. `leavingWords`: what a lane of a contraction's results should carry at most, where its receivers
// take one tile each, so that more lanes cross nobody's branches; 0: as all others.
absl::Status chooseTiles(const target::Target &target, NetworkPlan &network, const Variant &variant = {},
                         int64_t leavingWords = 0);

} // namespace wsc::kernels
