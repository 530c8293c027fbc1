// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small executable in which every field of Executable.h holds something other than its default, for tests of reading
// and writing. It is structurally sound but computes nothing sensible. The golden file of format version 1 was written
// from it: it must not change.
#pragma once

#include "runtime/format/Executable.h"
#include "runtime/format/Writer.h"

#include <filesystem>
#include <string>
#include <vector>

namespace wsc::format {

Executable sampleExecutable();
std::vector<SectionSource> sampleSections();

// A file name in the temporary folder, removed with this object.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &name);
  ~TemporaryFile();
  std::string path;
};

std::vector<char> readBytes(const std::string &path);
void writeBytes(const std::string &path, const std::vector<char> &bytes);

} // namespace wsc::format
