// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file that a fuzzer's input is written to, for libraries that map files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace wsc::test {

/// Writes the bytes to a file of this process and gives its path. The folder holds nothing else and goes with the
/// process; it lies in memory where there is /dev/shm.
std::string writeFuzzFile(const uint8_t *data, size_t size, const char *name);

} // namespace wsc::test
