// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact ranges of affine expressions over lattices, in arithmetic that cannot overflow, and the rules that lattices and
// tensors keep. An affine expression takes its extremes at corners: each index independently at 0 or count-1.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/status.h"

#include <string>

namespace wsc::format {

struct Interval {
  __int128 least = 0, most = 0;
};

// Range of `affine` over the indices of `lattice` (counts ≥ 1).
Interval rangeOver(const Affine &affine, const Lattice &lattice);

// The elements hostOffset + Σ i_d·stride[d], i_d < extent[d], over all lattice points: least and most element number
// touched.
Interval elementsTouched(const Affine &hostOffset, const std::array<Affine, kMaxDims> &extent,
                         const std::array<int64_t, kMaxDims> &stride, const Lattice &lattice);

// The error every structure check reports: `where: message`.
absl::Status broken(const std::string &where, const std::string &message);

absl::Status checkLattice(const Lattice &lattice, const std::string &where);
absl::Status checkAffine(const Affine &affine, const Lattice &lattice, const std::string &where);
// Every extent from 0 to kMaxExtent over the lattice. Stores the product of their largest values.
absl::Status checkExtents(const std::array<Affine, kMaxDims> &extent, const Lattice &lattice, const std::string &where,
                          __int128 &product);
absl::Status checkTensor(const TensorType &tensor, const std::string &where);
absl::Status checkIndex(int64_t index, size_t count, const char *what, const std::string &where);

// One role: its lattice, buffers, queues and threads.
absl::Status checkRole(const Executable &executable, std::span<const int64_t> sectionBytes,
                       const Configuration &configuration, const Role &role, const std::string &where);

} // namespace wsc::format
