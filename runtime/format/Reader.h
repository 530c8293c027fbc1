// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens `.wse` files: maps the file, checks its structure, views sections in place.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <span>
#include <string>

namespace wsc::format {

struct LoadOptions {
  bool verifyWeightHashes = false; // also hash every raw section
};

// Structure first (magic, version, section table tiling the file exactly, metadata hash, FlatBuffers verifier with
// explicit limits, every index in range), so that an Executable that loads can be walked without further bounds checks
// on indices. Meaning is the Verifier's part.
absl::StatusOr<Executable> loadExecutable(const std::string &path, const LoadOptions &options = {});

// An executable with all bytes of the file it views; they live as long as the executable's storage.
struct LoadedFile {
  Executable executable;
  std::span<const std::byte> bytes;
};
absl::StatusOr<LoadedFile> loadFile(const std::string &path, const LoadOptions &options = {});
// The same of a file's content in memory, which is copied once; `name` stands for the path in messages.
absl::StatusOr<LoadedFile> loadContent(std::span<const std::byte> content, const std::string &name,
                                       const LoadOptions &options = {});

} // namespace wsc::format
