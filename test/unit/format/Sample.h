// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small executables in which every field of Executable.h holds something other than its default, for tests of reading
// and writing. They are structurally sound but compute nothing sensible. The golden files of the format versions were
// written from them: they must not change.
#pragma once

#include "runtime/format/Executable.h"
#include "runtime/format/Writer.h"

#include <filesystem>
#include <string>
#include <vector>

namespace wsc::format {

// What format version 1 can hold.
Executable sampleExecutable();
// And what version 4 adds: residents and their windows, steps with a count, padded bindings.
Executable residentSample();
// And what version 5 adds: a step that begins with a later iteration.
Executable loopSample();
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
