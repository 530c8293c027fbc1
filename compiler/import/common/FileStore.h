// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Read-only memory maps of the files a model consists of. A file is mapped once, on first use, and stays mapped as long as the
// store lives; pages are read only where somebody looks, so holding a large model costs address space, not memory.
#pragma once
#include "absl/status/statusor.h"
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace wsc::import {

/// One mapped file.
class MappedFile {
public:
  static absl::StatusOr<std::unique_ptr<MappedFile>> open(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  std::string_view bytes() const { return {data_, size_}; }

private:
  MappedFile(const char *data, size_t size) : data_(data), size_(size) {}
  const char *data_;
  size_t size_;
};

/// All mapped files of one import, by path.
class FileStore {
public:
  /// The bytes of a file; NotFound, PermissionDenied or FailedPrecondition name the file.
  absl::StatusOr<std::string_view> map(const std::string &path);
  /// `bytes` bytes at `offset`; OutOfRange when the file is shorter.
  absl::StatusOr<std::string_view> slice(const std::string &path, uint64_t offset, uint64_t bytes);

private:
  std::map<std::string, std::unique_ptr<MappedFile>> files_;
};

} // namespace wsc::import
