// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/fuzz/FuzzFile.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <unistd.h>

// LLVM's libraries are not instrumented, so what its headers poison in allocators they do not know of.
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0:detect_leaks=0"; }

namespace wsc::test {

namespace {

struct Folder {
  std::string path;
  Folder() {
    std::error_code error;
    std::string pattern =
        std::filesystem::is_directory("/dev/shm", error) ? "/dev/shm/wsc-fuzz-XXXXXX" : "/tmp/wsc-fuzz-XXXXXX";
    if (mkdtemp(pattern.data()))
      path = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

} // namespace

std::string writeFuzzFile(const uint8_t *data, size_t size, const char *name) {
  static Folder folder;
  const std::string path = folder.path + "/" + name;
  std::unique_ptr<FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
  if (!file || std::fwrite(data, 1, size, file.get()) != size)
    std::abort();
  return path;
}

} // namespace wsc::test
