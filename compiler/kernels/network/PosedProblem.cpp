// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/network/PosedProblem.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace wsc::kernels {

absl::Status writeProblem(const std::string &folder, const std::string &function, const PosedProblem &problem) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return absl::InvalidArgumentError(absl::StrCat("cannot create ", folder, ": ", error.message()));
  const std::string path = absl::StrCat(folder, "/", function, ".", problem.kind, ".txt");
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  if (!(file << problem.text) || !file.flush())
    return absl::InvalidArgumentError(absl::StrCat("cannot write ", path, ": ", std::strerror(errno)));
  return absl::OkStatus();
}

} // namespace wsc::kernels
