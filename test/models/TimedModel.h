// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model compiled, with what the compiler says of it and what the analytic engine does.
#pragma once

#include "compiler/driver/Compiler.h"
#include "test/models/NetBuilder.h"

#include <string>

namespace wsc::test {

struct TimedModel {
  driver::CompileReport report;
  std::string bytes;                            // of the file
  int64_t intervalCycles = 0, maxLinkWords = 0; // of the analytic engine
};

/// Compiles the model with `options`, whose input and output are set here, and times its first entry.
absl::StatusOr<TimedModel> compileAndTime(const OnnxBuilder &model, driver::CompileOptions options);

} // namespace wsc::test
