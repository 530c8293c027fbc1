// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Samples of a batch that have nothing to do with each other, in groups: the wafer is a grid of tiles, each runs the
// program of one sample on the same weights, and so many samples at a time go through in passes.
//
//     8 samples, 2 × 2 tiles       pass 0: samples 0 1      pass 1: samples 4 5
//                                          samples 2 3              samples 6 7
//
//     inputs ─► [ to the tiles ─► program of one sample ─► from the tiles ] once for each pass ─► outputs
//
// The program of one sample is planned for the tile as if it were a mesh of its own. Ways are shorter there, which
// decides where distances do: a sample takes longer than alone on the wafer, but many run at once.
#pragma once

#include "compiler/spmd/network/OneSample.h"
#include "compiler/spmd/phases/Generate.h"

namespace wsc::spmd {

/// The quickest program by the cost model over the ways to divide the samples into groups: numbers of tiles that divide
/// the samples, from the largest on until fewer are slower, each as the grid whose tiles are the nearest to squares.
/// Errors: no grid has a program (ResourceExhausted).
absl::StatusOr<GeneratedProgram> generateInGroups(const Network &network, const OneSample &one,
                                                  const target::Target &target, const PlanHost &host);

/// The program for one grid, whose tile is the plan's rectangle. `one`: the network of a sample as it was planned.
absl::StatusOr<GeneratedProgram> generateOnTiles(const Network &network, const OneSample &one, const NetworkPlan &plan,
                                                 int32_t tileRows, int32_t tileCols, const target::Target &target);

} // namespace wsc::spmd
