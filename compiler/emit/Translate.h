// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembler and disassembler on files, free of MLIR's headers: what wsc-translate calls.
#pragma once

#include "absl/status/status.h"

#include <string>

namespace wsc::emit {

// Parses core IR text, verifies and writes a .wse. Syntax errors come as `file:line:column: …`.
absl::Status translateCoreToWse(const std::string &corePath, const std::string &wsePath);

// Disassembles a .wse into core IR text; `-` is standard output.
absl::Status translateWseToCore(const std::string &wsePath, const std::string &corePath);

} // namespace wsc::emit
