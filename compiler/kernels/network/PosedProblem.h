// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Problems that mapping puts to the solvers (compiler/solver), kept as text.
#pragma once

#include "absl/status/status.h"

#include <string>

namespace wsc::kernels {

// `kind`: of the problem, such as "sizing"; KIND.solution for what was chosen.
struct PosedProblem {
  std::string kind, text;
};

// Writes FOLDER/FUNCTION.KIND.txt; makes the folder. InvalidArgument: what cannot be written and why.
absl::Status writeProblem(const std::string &folder, const std::string &function, const PosedProblem &problem);

} // namespace wsc::kernels
