// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file that a fuzzer's inputs are written to, for libraries that map files; and what all targets tell the
// sanitizers.
#pragma once
#include <cstddef>
#include <string>

namespace wsc::test {

/// A file of this process. Its folder holds nothing but such files and goes with the process; it lies in memory where
/// there is /dev/shm.
class FuzzFile {
public:
  explicit FuzzFile(const char *name);
  FuzzFile(const FuzzFile &) = delete;
  FuzzFile &operator=(const FuzzFile &) = delete;
  ~FuzzFile();

  /// Makes the bytes the file's content, in the same file each time, and gives its path. Nothing may map the file.
  const std::string &write(const void *data, size_t size);

private:
  std::string path_;
  int descriptor_;
};

} // namespace wsc::test
