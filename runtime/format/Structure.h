// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structure of an executable: every enum and index in range, every number bounded. What passes can be walked
// without further bounds checks and without 64-bit overflow; whether it makes sense on its target is the Verifier's
// part.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/status.h"

#include <cstddef>
#include <cstdint>

namespace wsc::format {

// Bounds that every loaded executable keeps.
constexpr int64_t kMaxLatticeSize = int64_t(target::kMaxMeshSide) * target::kMaxMeshSide;
constexpr int64_t kMaxCoordinate = 1 << 20;             // |row|, |col| of a lattice point
constexpr int64_t kMaxAffineValue = int64_t(1) << 48;   // |value| of an affine expression anywhere on its lattice
constexpr int64_t kMaxExtent = 1 << 24;                 // elements along one dimension, or trips of one loop
constexpr int64_t kMaxWorkPerSample = int64_t(1) << 48; // elements and loop trips of one thread per sample
constexpr int64_t kMaxRuns = 1 << 20;                   // of one step
constexpr int64_t kMaxTensorElements = int64_t(1) << 40;
constexpr int kMaxRank = 32;
constexpr size_t kMaxEntries = 256;

// `sectionBytes`: the size of each raw section (`executable.sections` is not looked at). Reports the first thing wrong,
// by name.
absl::Status checkStructure(const Executable &executable, std::span<const int64_t> sectionBytes);

} // namespace wsc::format
