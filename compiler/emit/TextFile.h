// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text that LLVM prints, written as runtime/files writes. A full disk is an error of this call and not the end of the
// process, as with LLVM's own file streams.
#pragma once

#include "absl/status/status.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace wsc::emit {

// Writes what `print` prints to `path`; `-` is standard output.
absl::Status writeText(const std::string &path, llvm::function_ref<void(llvm::raw_ostream &)> print);

} // namespace wsc::emit
