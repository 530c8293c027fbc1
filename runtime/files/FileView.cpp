// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/files/FileView.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace wsc::files {

FileView::FileView(FileView &&other) noexcept
    : base(std::exchange(other.base, nullptr)), mapped(std::exchange(other.mapped, 0)),
      first(std::exchange(other.first, nullptr)) {}

FileView &FileView::operator=(FileView &&other) noexcept {
  std::swap(base, other.base);
  std::swap(mapped, other.mapped);
  std::swap(first, other.first);
  return *this;
}

FileView::~FileView() {
  if (base)
    ::munmap(base, mapped);
}

absl::Status FileView::open(const std::string &path, int64_t offset, int64_t bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return absl::NotFoundError(absl::StrCat("cannot open ", path, ": ", std::strerror(errno)));
  struct stat info{};
  const bool regular = ::fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  if (!regular || offset > info.st_size || bytes > info.st_size - offset) {
    ::close(file);
    return absl::OutOfRangeError(regular ? absl::StrCat(path, " has ", int64_t(info.st_size), " bytes, but bytes ",
                                                        offset, " to ", offset + bytes, " are needed")
                                         : absl::StrCat(path, " is not a regular file"));
  }
  const int64_t page = ::sysconf(_SC_PAGESIZE), start = offset / page * page;
  mapped = size_t(offset - start + bytes);
  if (mapped > 0) {
    void *address = ::mmap(nullptr, mapped, PROT_READ, MAP_PRIVATE, file, off_t(start));
    if (address == MAP_FAILED) {
      const int error = errno;
      ::close(file);
      return absl::ResourceExhaustedError(absl::StrCat("cannot map ", path, ": ", std::strerror(error)));
    }
    base = address;
    first = static_cast<const std::byte *>(base) + (offset - start);
  }
  ::close(file);
  return absl::OkStatus();
}

} // namespace wsc::files
