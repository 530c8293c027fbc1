// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory maps; see FileStore.h.
#include "compiler/import/common/FileStore.h"
#include "absl/strings/str_cat.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wsc::import {

static absl::Status fileError(const std::string &path, int error) {
  std::string text = absl::StrCat("cannot read '", path, "': ", std::strerror(error));
  if (error == ENOENT || error == ENOTDIR)
    return absl::NotFoundError(text);
  if (error == EACCES || error == EPERM)
    return absl::PermissionDeniedError(text);
  return absl::FailedPreconditionError(text);
}

absl::StatusOr<std::unique_ptr<MappedFile>> MappedFile::open(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return fileError(path, errno);
  struct stat info;
  if (::fstat(descriptor, &info) != 0) {
    int error = errno;
    ::close(descriptor);
    return fileError(path, error);
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return absl::FailedPreconditionError(absl::StrCat("cannot read '", path, "': not a regular file"));
  }
  size_t size = static_cast<size_t>(info.st_size);
  void *data = nullptr;
  if (size > 0) {
    data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) {
      int error = errno;
      ::close(descriptor);
      return fileError(path, error);
    }
  }
  ::close(descriptor);
  return std::unique_ptr<MappedFile>(new MappedFile(static_cast<const char *>(data), size));
}

MappedFile::~MappedFile() {
  if (data_)
    ::munmap(const_cast<char *>(data_), size_);
}

absl::StatusOr<std::string_view> FileStore::map(const std::string &path) {
  auto found = files_.find(path);
  if (found == files_.end()) {
    auto file = MappedFile::open(path);
    if (!file.ok())
      return file.status();
    found = files_.emplace(path, std::move(*file)).first;
  }
  return found->second->bytes();
}

absl::StatusOr<std::string_view> FileStore::slice(const std::string &path, uint64_t offset, uint64_t bytes) {
  auto all = map(path);
  if (!all.ok())
    return all.status();
  if (offset > all->size() || bytes > all->size() - offset)
    return absl::OutOfRangeError(absl::StrCat("'", path, "' has ", all->size(), " bytes; ", bytes, " bytes at offset ", offset,
                                              " were asked for"));
  return all->substr(offset, bytes);
}

} // namespace wsc::import
