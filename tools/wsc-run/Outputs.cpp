// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results to files: a folder of .npy or one .npz. With several samples the names end in .K.
#include "tools/wsc-run/Run.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace wsc::run {

absl::Status writeResults(const std::vector<std::vector<Tensor>> &results, const std::string &output) {
  std::vector<Tensor> named;
  for (size_t k = 0; k < results.size(); ++k)
    for (const Tensor &tensor : results[k]) {
      named.push_back(tensor);
      if (results.size() > 1)
        absl::StrAppend(&named.back().type.name, ".", k);
    }
  if (output.size() > 4 && output.substr(output.size() - 4) == ".npz")
    return writeNpz(named, output);
  std::error_code code;
  std::filesystem::create_directories(output, code);
  if (!std::filesystem::is_directory(output, code))
    return absl::UnavailableError(absl::StrCat(output, ": cannot be made a folder", code ? ": " + code.message() : ""));
  std::set<std::string> files;
  for (const Tensor &tensor : named) {
    std::string file = tensor.type.name; // ONNX names may hold slashes
    std::replace(file.begin(), file.end(), '/', '_');
    if (!files.insert(file).second)
      return absl::InvalidArgumentError(
          absl::StrCat(output, ": two outputs would be named ", file, ".npy; write a .npz"));
    if (absl::Status status = writeTensor(tensor, absl::StrCat(output, "/", file, ".npy")); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

} // namespace wsc::run
