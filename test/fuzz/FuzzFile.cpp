// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/fuzz/FuzzFile.h"
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

// LLVM's libraries are not instrumented, so what its headers poison in allocators they do not know of. Small blocks
// come and go by the million: few of them in quarantine keep the caches warm, and short stacks make them cheap.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_leaks=0:quarantine_size_mb=16:thread_local_quarantine_size_kb=64:"
         "malloc_context_size=2";
}

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

FuzzFile::FuzzFile(const char *name) {
  static Folder folder;
  path_ = folder.path + "/" + name;
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor_ < 0)
    std::abort();
}

FuzzFile::~FuzzFile() { ::close(descriptor_); }

const std::string &FuzzFile::write(const void *data, size_t size) {
  if (::pwrite(descriptor_, data, size, 0) != static_cast<ssize_t>(size) ||
      ::ftruncate(descriptor_, static_cast<off_t>(size)) != 0)
    std::abort();
  return path_;
}

} // namespace wsc::test
