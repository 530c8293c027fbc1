// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants at rest on cores: weights in their shardings, index tables, masks. Each is a resident with a raw section;
// rows or columns of cores that hold the same share bytes.
#pragma once

#include "compiler/emit/SectionRecipe.h"
#include "compiler/spmd/phases/ConstantBoxes.h"
#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <map>
#include <string>
#include <vector>

namespace wsc::spmd {

/// What cores hold of one constant after another, each in a window of its own; zeros behind it.
struct ConstantStack {
  std::vector<ConstantBoxes> boxes; // alike in shape and sharding
  int64_t windowBytes = 0;
};

struct ConstantTable {
  std::vector<format::Resident> residents; // addresses are given later
  std::vector<emit::SectionRecipe> sections;

  /// Adds a constant of `elements` elements on every core that the patterns cover: `data` holds them for each distinct
  /// row and column. Returns the resident's number; one that holds the same on all cores stands for it.
  int32_t add(const std::string &name, format::ElementType type, AxisPattern rows, AxisPattern cols, int64_t elements,
              std::vector<std::byte> data);
  /// The same of a stack, whose bytes are made when the program is written. Errors: a constant cannot be read.
  absl::StatusOr<int32_t> add(const std::string &name, format::ElementType type, ConstantStack stack);
  /// The first on the network's rectangle, for rows × cols cores, where a single row (column) stands for all.
  int32_t add(const std::string &name, format::ElementType type, const Rectangle &rectangle, int32_t rows, int32_t cols,
              int64_t elements, std::vector<std::byte> data);

private:
  /// Of constants whose bytes are at hand, by a hash of these.
  std::multimap<size_t, int32_t> byBytes;
  bool isSame(int32_t one, int32_t another) const;

  int32_t addSection(const std::string &name, format::ElementType type, AxisPattern rows, AxisPattern cols,
                     int64_t coreBytes, emit::SectionRecipe recipe);
};

} // namespace wsc::spmd
