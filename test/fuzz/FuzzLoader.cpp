// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens executables: the file's layout, its structure, then the verifier. Every input is an executable or an error.
#include "runtime/session/Session.h"
#include "test/fuzz/FuzzFile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string path = wsc::test::writeFuzzFile(data, size, "model.wse");
  (void)wsc::Session::open(path, {.threads = 1});
  return 0;
}
