// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pass pipelines on IR as text: what wsc-opt does, without a process.
#pragma once

#include "absl/status/statusor.h"

#include <string>
#include <string_view>

namespace wsc::driver {

// Runs a pipeline such as "builtin.module(func.func(canonicalize,wafer-form-kernels))" or "canonicalize,cse" on a
// module of any phase and gives the IR after it, verified. `name` stands for the text in messages. Errors carry every
// diagnostic, one per line; a pipeline that cannot be read is an error with its place.
absl::StatusOr<std::string> runPipeline(std::string_view ir, std::string_view pipeline,
                                        const std::string &name = "module.mlir");

} // namespace wsc::driver
