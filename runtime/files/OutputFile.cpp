// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// stat decides: what exists and is no regular file is opened as it is; for a regular file, or none yet, links are
// followed to the place where it lies or will lie, and the temporary file is made beside that.
#include "runtime/files/OutputFile.h"

#include "runtime/files/Temporaries.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace wsc::files {

namespace {

constexpr int kMostLinks = 40; // as the kernel follows

// Where a path leads, links followed; the last one may name a file that does not exist yet.
std::string followLinks(const std::string &path) {
  std::filesystem::path place = path;
  std::error_code code;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(place, code); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(place, code);
    if (code)
      break;
    place = target.is_absolute() ? target : place.parent_path() / target;
  }
  return place.string();
}

// Standard output redirected to a file: renaming another to its name would lose what is written through it.
bool isStandardOutput(const struct stat &info) {
  struct stat out{};
  return ::fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == info.st_dev && out.st_ino == info.st_ino;
}

constexpr char kOutputFailure[] = "wsc/output-failure"; // names a payload of statuses

} // namespace

bool isOutputFailure(const absl::Status &status) { return status.GetPayload(kOutputFailure).has_value(); }

bool isStandardOutput(const std::string &path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && isStandardOutput(info);
}

bool writesThrough(const std::string &path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && (!S_ISREG(info.st_mode) || isStandardOutput(info));
}

absl::Status OutputFile::failed(const std::string &what, int error) const {
  absl::Status status(absl::ErrnoToStatusCode(error),
                      absl::StrCat(path, ": cannot ", what, ": ", std::strerror(error)));
  status.SetPayload(kOutputFailure, absl::Cord());
  return status;
}

absl::StatusOr<OutputFile> OutputFile::open(const std::string &path) {
  OutputFile output;
  output.path = path;
  struct stat info{};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return output.failed("be written", EISDIR);
  if (exists && (!S_ISREG(info.st_mode) || isStandardOutput(info))) {
    // A second opening of standard output would have a place of its own in the file, and each write over the other.
    output.file = isStandardOutput(info) ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                         : ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_APPEND);
    if (output.file < 0)
      return output.failed("be opened", errno);
    return output;
  }
  output.place = followLinks(path);
  // A name left by a process that was killed is passed over.
  for (int attempt = 0; output.file < 0 && attempt < 100; ++attempt) {
    output.temporary = absl::StrCat(output.place, ".tmp-", ::getpid(), "-", attempt);
    output.slot = noteTemporary(output.temporary);
    output.file = ::open(output.temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const int error = errno;
    if (output.file < 0) {
      forgetTemporary(std::exchange(output.slot, -1));
      if (error != EEXIST)
        return output.failed("be created", error);
    }
  }
  if (output.file < 0)
    return output.failed("be created", EEXIST);
  if (exists)
    ::fchmod(output.file, info.st_mode & 07777);
  return output;
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : path(std::move(other.path)), place(std::move(other.place)), temporary(std::move(other.temporary)),
      file(std::exchange(other.file, -1)), slot(std::exchange(other.slot, -1)) {}

OutputFile::~OutputFile() {
  if (file < 0)
    return;
  ::close(file);
  if (!writesThrough())
    ::unlink(temporary.c_str());
  forgetTemporary(slot);
}

absl::Status OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failed("be written", errno);
    bytes.remove_prefix(size_t(count));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::commit() {
  const bool renamed = writesThrough() || ::rename(temporary.c_str(), place.c_str()) == 0;
  if (!renamed)
    return failed("be renamed into place", errno);
  forgetTemporary(std::exchange(slot, -1));
  if (::close(std::exchange(file, -1)) != 0)
    return failed("be closed", errno);
  return absl::OkStatus();
}

absl::Status writeWhole(std::string_view content, const std::string &path) {
  absl::StatusOr<OutputFile> file = OutputFile::open(path);
  if (!file.ok())
    return file.status();
  if (absl::Status status = file->write(content); !status.ok())
    return status;
  return file->commit();
}

} // namespace wsc::files
