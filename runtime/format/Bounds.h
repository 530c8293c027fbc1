// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact ranges of affine expressions over lattices, in arithmetic that cannot overflow, and the rules that lattices and
// tensors keep. An affine expression takes its extremes at corners: each index independently at 0 or count-1.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/status.h"

#include <string>
#include <type_traits>

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

// A place in an executable: a text, or what makes one. Spelt out only where something is wrong, for most places are
// sound and there are many.
class Where {
public:
  Where(const std::string &text) : of(&text), spell(&copyOf) {}
  template <typename Spell>
    requires std::is_invocable_r_v<std::string, const Spell &>
  Where(const Spell &make) : of(&make), spell([](const void *it) { return (*static_cast<const Spell *>(it))(); }) {}
  std::string text() const { return spell(of); }

private:
  static std::string copyOf(const void *text) { return *static_cast<const std::string *>(text); }
  const void *of; // outlives the check that it is given to
  std::string (*spell)(const void *);
};

// The error every structure check reports: `where: message`.
absl::Status broken(const Where &where, const std::string &message);

absl::Status checkLattice(const Lattice &lattice, const Where &where);
absl::Status checkAffine(const Affine &affine, const Lattice &lattice, const Where &where);
// Every extent from 0 to kMaxExtent over the lattice. Stores the product of their largest values.
absl::Status checkExtents(const std::array<Affine, kMaxDims> &extent, const Lattice &lattice, const Where &where,
                          __int128 &product);
absl::Status checkTensor(const TensorType &tensor, const Where &where);
absl::Status checkIndex(int64_t index, size_t count, const char *what, const Where &where);

absl::Status checkResident(const Executable &executable, std::span<const int64_t> sectionBytes,
                           const Resident &resident, const Where &where);
// A buffer as a window of a resident, of a configuration that one step runs at most `runs` times; one of another kind
// names no resident.
absl::Status checkWindow(const Executable &executable, const Buffer &buffer, int64_t runs, const Where &where);

// One role: its lattice, buffers, queues and threads; `runs` as for checkWindow.
absl::Status checkRole(const Executable &executable, std::span<const int64_t> sectionBytes,
                       const Configuration &configuration, const Role &role, int64_t runs, const Where &where);

} // namespace wsc::format
