// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which neighbouring cores of a role share a unit.
//
// One timeline can stand for cores that run the same program and exchange words with the same others in the same way.
// So runs of a role's cores along a row are cut until that holds: two neighbours stay together if each of their queues
// is connected to queues of the same units, and both send in the same gather if in any. Where chains of some columns
// end in one row and those of others in another, for one, these rows are cut between them, and so are all rows that the
// chains come from.
//
// The coarsest such partition, by refinement (Hopcroft; Paige and Tarjan, 1987): what is looked at again are only the
// streams of cores whose unit has changed. Neighbours are told apart by hashes of 64 bits. Cost: ends of streams, once,
// and for each cut those of the streams of the cores behind it.
#pragma once

#include "runtime/emulator/Network.h"

#include <cstdint>
#include <vector>

namespace wsc::emulator::timing {

// Cores of a role are counted in the order of its lattice, those of all roles one role after another.
struct Partition {
  std::vector<int64_t> firstCore; // per role, and one past the last core
  std::vector<bool> begins;       // per core: it begins a unit
};

// `splitRoles`: per role, whether each of its cores is a unit.
Partition partitionCores(const format::Configuration &configuration, const Networks &networks,
                         const std::vector<bool> &splitRoles);

} // namespace wsc::emulator::timing
