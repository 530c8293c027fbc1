// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/network/PosedProblem.h"

#include "runtime/files/OutputFile.h"

#include "absl/strings/str_cat.h"

#include <filesystem>

namespace wsc::kernels {

absl::Status writeProblem(const std::string &folder, const std::string &function, const PosedProblem &problem) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return absl::InvalidArgumentError(absl::StrCat("cannot create ", folder, ": ", error.message()));
  return files::writeWhole(problem.text, absl::StrCat(folder, "/", function, ".", problem.kind, ".txt"));
}

} // namespace wsc::kernels
