// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole files, the choice of format by extension, and folders in the backend tests' layout.
#include "runtime/session/TensorFile.h"

#include "runtime/files/OutputFile.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

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
    return files::writeWhole(printNpy(tensor), path);
  if (endsWith(path, ".pb"))
    return files::writeWhole(printTensorProto(tensor), path);
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
