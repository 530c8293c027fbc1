// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executables of the general mapping in memory: what generation makes, with the bytes of its sections.
#pragma once

#include "compiler/spmd/phases/Generate.h"

#include <functional>

namespace wsc::test {

struct PhasesProgram {
  format::Executable executable;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> bytes; // of the sections
  bool factored = false;                                            // moveProgram: the move goes by factors
  int64_t boundCycles = 0; // moveProgram: busiest cut + distance; 0: nothing moves
};

/// Sections become views of their recipes' bytes.
absl::StatusOr<PhasesProgram> inMemory(spmd::GeneratedProgram program);

/// The buffer of a move program that holds each core's elements afterwards.
constexpr const char *kMovedName = "moved result";

/// `roomBytes` of a line: moves with longer ones go in parts. One configuration: cores hold a tensor (element e has
/// value `value(e)`) as `from` says and bring it to `to`.
absl::StatusOr<PhasesProgram> moveProgram(const spmd::Sharding &from, const spmd::Sharding &to,
                                          const spmd::Rectangle &rectangle, format::ElementType type,
                                          const std::function<int64_t(int64_t)> &value, int64_t roomBytes = INT64_MAX);

} // namespace wsc::test
