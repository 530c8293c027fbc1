// Opens `.wse` files: maps the file, checks its structure, views sections in place.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <string>

namespace wsc::format {

struct LoadOptions {
  bool verifyWeightHashes = false; // also hash every raw section
};

// Structure first (magic, version, section table tiling the file exactly, metadata hash, FlatBuffers verifier with explicit limits, every
// index in range), so that an Executable that loads can be walked without further bounds checks on indices. Meaning is the Verifier's part.
absl::StatusOr<Executable> loadExecutable(const std::string &path, const LoadOptions &options = {});

} // namespace wsc::format
