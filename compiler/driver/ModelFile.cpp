// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/ModelFile.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

namespace wsc::driver {

ModelFile::~ModelFile() {
  if (file >= 0)
    ::close(file);
}

absl::Status ModelFile::hold(std::string_view content, const std::string &wanted) {
  name = wanted;
  file = ::memfd_create("wsc-model", MFD_CLOEXEC);
  if (file < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(name, ": cannot make a file in memory"));
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return absl::ErrnoToStatus(errno, absl::StrCat(name, ": cannot hold ", content.size(), " more bytes in memory"));
    content.remove_prefix(size_t(written));
  }
  where = absl::StrCat("/proc/self/fd/", file);
  return absl::OkStatus();
}

absl::Status ModelFile::named(const absl::Status &status) const {
  if (where.empty() || status.ok())
    return status;
  std::string text = absl::StrReplaceAll(std::string(status.message()), {{where, name}});
  // A file beside the model: there is none.
  if (absl::StrReplaceAll({{"/proc/self/fd/", ""}}, &text) > 0)
    absl::StrAppend(&text, "\nexternal tensors are found from a model's file, and ", name,
                    " came as bytes: give its path");
  absl::Status result(status.code(), text);
  status.ForEachPayload([&](absl::string_view url, const absl::Cord &payload) { result.SetPayload(url, payload); });
  return result;
}

} // namespace wsc::driver
