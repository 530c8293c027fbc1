// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole files, the choice of format by extension, and folders in the backend tests' layout.
#include "runtime/session/TensorFile.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <unistd.h>

namespace wsc {

namespace {

bool endsWith(const std::string &path, std::string_view end) {
  return path.size() > end.size() && std::string_view(path).substr(path.size() - end.size()) == end;
}

} // namespace

absl::StatusOr<std::string> readFile(const std::string &path) {
  std::unique_ptr<FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file)
    return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  std::string content;
  char block[1 << 16];
  for (;;) {
    const size_t got = std::fread(block, 1, sizeof block, file.get());
    content.append(block, got);
    if (got < sizeof block)
      break;
  }
  if (std::ferror(file.get()))
    return absl::UnavailableError(absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  return content;
}

absl::Status writeFileWhole(std::string_view content, const std::string &path) {
  const std::string temporary = absl::StrCat(path, ".tmp", getpid());
  const auto fail = [&](const char *what) {
    absl::Status status = absl::UnavailableError(absl::StrCat(path, ": cannot be ", what, ": ", std::strerror(errno)));
    std::remove(temporary.c_str());
    return status;
  };
  FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file)
    return fail("created");
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  if (std::fclose(file) != 0 || !written)
    return fail("written");
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    return fail("renamed into place");
  return absl::OkStatus();
}

absl::StatusOr<Tensor> readTensor(const std::string &path) {
  if (!endsWith(path, ".npy") && !endsWith(path, ".pb"))
    return absl::InvalidArgumentError(absl::StrCat(path, ": a tensor file ends in .npy or .pb"));
  absl::StatusOr<std::string> content = readFile(path);
  if (!content.ok())
    return content.status();
  return endsWith(path, ".npy") ? parseNpy(*content, path) : parseTensorProto(*content, path);
}

absl::Status writeTensor(const Tensor &tensor, const std::string &path) {
  if (endsWith(path, ".npy"))
    return writeFileWhole(printNpy(tensor), path);
  if (endsWith(path, ".pb"))
    return writeFileWhole(printTensorProto(tensor), path);
  return absl::InvalidArgumentError(absl::StrCat(path, ": a tensor file ends in .npy or .pb"));
}

absl::StatusOr<std::vector<Tensor>> readTensorFolder(const std::string &folder, const std::string &prefix) {
  std::error_code code;
  if (!std::filesystem::is_directory(folder, code))
    return absl::NotFoundError(absl::StrCat(folder, ": no such folder"));
  std::vector<Tensor> tensors;
  for (int k = 0;; ++k) {
    std::string path;
    for (const char *end : {".pb", ".npy"})
      if (std::string candidate = absl::StrCat(folder, "/", prefix, "_", k, end);
          std::filesystem::exists(candidate, code)) {
        path = candidate;
        break;
      }
    if (path.empty())
      return tensors;
    absl::StatusOr<Tensor> tensor = readTensor(path);
    if (!tensor.ok())
      return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
}

std::string describe(const format::TensorType &type) {
  std::string text = absl::StrCat(std::string(format::elementTypeName(type.type)), "[");
  for (size_t d = 0; d < type.shape.size(); ++d)
    absl::StrAppend(&text, d ? "," : "", type.shape[d]);
  return text + "]";
}

} // namespace wsc
