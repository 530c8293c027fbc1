// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How to make the bytes of one raw section: a strided view of elements that lie in a file or in memory, or a function.
// Nothing is read before the section is written, and then straight from the mapped source into the mapped output.
#pragma once

#include "runtime/format/Isa.h"
#include "runtime/format/Writer.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace wsc::emit {

constexpr size_t kMaxSectionDims = 8;

// Element (i0, i1, …) of the section, in row-major order of `extents`, is element `elementOffset + Σ i_d·strides[d]` of
// the source.
struct SectionRecipe {
  std::string name;
  format::ElementType type = format::ElementType::F32;

  // The source: `sourceBytes` bytes of the file `path` from `sourceOffset`, or `inlineBytes` when that is set, or the
  // `sourceBytes` bytes that `make` writes, the same ones whenever it is called; these are the section as they are.
  std::string path;
  int64_t sourceOffset = 0, sourceBytes = 0;
  std::shared_ptr<const std::vector<std::byte>> inlineBytes;
  std::function<absl::Status(std::span<std::byte> out)> make;

  std::vector<int64_t> extents; // elements, outermost first; at most kMaxSectionDims
  std::vector<int64_t> strides; // elements of the source, as many as extents; may be 0 or negative
  int64_t elementOffset = 0;
};

// Bytes of the section. Errors: the recipe is malformed (too many dimensions, negative extents, overflow) or reads an
// element outside of its source.
absl::StatusOr<int64_t> sectionBytes(const SectionRecipe &recipe);

// The bytes themselves. Errors: as above, and of reading the source.
absl::StatusOr<std::vector<std::byte>> sectionContent(const SectionRecipe &recipe);

// The recipe as the writer wants it; a malformed recipe is an error of this call, an unreadable file one of `produce`.
absl::StatusOr<format::SectionSource> toSource(const SectionRecipe &recipe);

} // namespace wsc::emit
