// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files are compared by device and inode, so that links and other spellings of a path do not hide that two are one.
// Whether a folder takes a file is found out by making one: permissions alone do not tell of a read-only file system.
#include "runtime/files/OutputFile.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace wsc::files {

namespace {

bool sameFile(const std::string &left, const std::string &right) {
  struct stat a{}, b{};
  if (::stat(left.c_str(), &a) == 0 && ::stat(right.c_str(), &b) == 0)
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  std::error_code code;
  return std::filesystem::weakly_canonical(left, code) == std::filesystem::weakly_canonical(right, code);
}

bool isSpecial(const std::string &path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

absl::Status named(const Output &output, const absl::Status &status) {
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(output.option, " ", status.message()));
}

absl::Status refused(const Output &output, int error) {
  return absl::Status(absl::ErrnoToStatusCode(error),
                      absl::StrCat(output.option, " ", output.path, ": cannot be written: ", std::strerror(error)));
}

absl::Status checkFolder(const Output &output) {
  std::error_code code;
  std::filesystem::path folder = std::filesystem::absolute(output.path, code);
  while (!std::filesystem::exists(folder, code) && folder.has_parent_path() && folder != folder.root_path())
    folder = folder.parent_path();
  if (!std::filesystem::is_directory(folder, code))
    return refused(output, ENOTDIR);
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? absl::OkStatus() : refused(output, errno);
}

absl::Status checkFile(const Output &output) {
  if (isSpecial(output.path)) // opening a FIFO would wait for its reader
    return ::access(output.path.c_str(), W_OK) == 0 ? absl::OkStatus() : refused(output, errno);
  absl::StatusOr<OutputFile> file = OutputFile::open(output.path);
  return named(output, file.status());
}

} // namespace

absl::Status checkOutputs(std::span<const Output> outputs, std::span<const std::string> inputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Output &output = outputs[i];
    if (output.path.empty())
      continue;
    if (output.folder) {
      if (absl::Status status = checkFolder(output); !status.ok())
        return status;
      continue;
    }
    if (!isSpecial(output.path)) {
      for (const std::string &input : inputs)
        if (!input.empty() && sameFile(output.path, input))
          return absl::InvalidArgumentError(
              absl::StrCat(output.option, " ", output.path, " would replace the input ", input, "; name another file"));
      for (size_t j = 0; j < i; ++j)
        if (!outputs[j].path.empty() && sameFile(output.path, outputs[j].path))
          return absl::InvalidArgumentError(absl::StrCat(outputs[j].option, " ", outputs[j].path, " and ",
                                                         output.option, " ", output.path, " are one file; name two"));
    }
    if (absl::Status status = checkFile(output); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

} // namespace wsc::files
