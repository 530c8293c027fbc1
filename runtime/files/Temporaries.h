// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of temporary files that a signal handler may have to remove: a table of fixed size, so that the handler reads
// memory that nobody allocates or frees.
#pragma once

#include <string>

namespace wsc::files {

// Notes a name before the file is made. −1 when the table is full or the name too long: then a signal leaves the file.
int noteTemporary(const std::string &path);
void forgetTemporary(int slot);

} // namespace wsc::files
