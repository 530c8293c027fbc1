// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executable ↔ FlatBuffers metadata (wse.fbs), both ways. Raw sections appear by name only.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace wsc::format {

// Most instructions, roles, routers, buffers and other parts of one executable.
constexpr size_t kMaxParts = 4 << 20;
// Most bytes that copies of parts common to many roles may take when they are read.
constexpr int64_t expandedBytesLimit(size_t metadataBytes) {
  return (int64_t(16) << 20) + int64_t(metadataBytes) * 1024;
}

// Deterministic bytes. Errors: more than kMaxMetadataBytes or kMaxParts.
absl::StatusOr<std::vector<std::byte>> encodeMetadata(const Executable &executable,
                                                      const std::vector<std::string> &sectionNames);

// Runs FlatBuffers' verifier with limits derived from the size, then copies into plain data. Sections get their names
// and empty bytes. Enums and indices are as in the file: checkStructure judges them. `bytes` is aligned to 8.
absl::StatusOr<Executable> decodeMetadata(std::span<const std::byte> bytes, const std::string &where);

} // namespace wsc::format
