// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes `.wse` files. Section bytes are produced straight into the mapped output file, so that weights never pass
// through the heap.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/status.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace wsc::format {

struct SectionSource {
  std::string name;
  int64_t bytes = 0;
  std::function<absl::Status(std::span<std::byte> out)> produce; // fills the section; called once
};

// Writes `executable` (its `sections` are ignored) with the given sections; nothing is left
// on failure (runtime/files). Deterministic: same content, same bytes. `judge`, if given, is asked last, when all bytes
// are there and the file is not yet in place; its error ends the writing.
absl::Status writeExecutable(const Executable &executable, const std::vector<SectionSource> &sections,
                             const std::string &path, const std::function<absl::Status()> &judge = {});

} // namespace wsc::format
