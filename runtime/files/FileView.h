// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stretch of a file, mapped for reading: pages come from the file when they are looked at, and never count as the
// process's own data.
#pragma once

#include "absl/status/status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace wsc::files {

class FileView {
public:
  FileView() = default;
  FileView(FileView &&other) noexcept;
  FileView &operator=(FileView &&other) noexcept;
  ~FileView();

  // Maps `bytes` bytes of the file from `offset`; once. Errors: it cannot be opened (NotFound), is no regular file or
  // shorter (OutOfRange), cannot be mapped (ResourceExhausted).
  absl::Status open(const std::string &path, int64_t offset, int64_t bytes);
  // Null where nothing is mapped.
  const std::byte *data() const { return first; }

private:
  void *base = nullptr;
  size_t mapped = 0;
  const std::byte *first = nullptr;
};

} // namespace wsc::files
