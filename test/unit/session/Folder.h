// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A temporary folder, and the verifier's specification executable in a file, with weights.
#pragma once

#include "runtime/format/Writer.h"
#include "runtime/session/TensorFile.h"
#include "test/unit/verifier/Fixture.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace wsc::test {

class Folder {
public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "wsc-session-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const { return path + "/" + name; }
  std::string path;
};

template <typename T>
Tensor tensorOf(const std::string &name, format::ElementType type, std::vector<int64_t> shape,
                const std::vector<T> &values) {
  Tensor tensor;
  tensor.type = {name, type, std::move(shape)};
  tensor.bytes.resize(values.size() * sizeof(T));
  if (!values.empty())
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

// Sections hold the floats 0.5, 1, 1.5, …
inline std::string writeGood(const Folder &folder) {
  format::Executable executable = format::fixture::goodExecutable();
  std::vector<format::SectionSource> sections;
  for (const format::Section &section : executable.sections)
    sections.push_back({section.name, int64_t(section.bytes.size()), [](std::span<std::byte> out) {
                          for (size_t i = 0; i + 4 <= out.size(); i += 4) {
                            const float value = 0.5f * float(i / 4 + 1);
                            std::memcpy(out.data() + i, &value, 4);
                          }
                          return absl::OkStatus();
                        }});
  const std::string path = folder / "good.wse";
  const absl::Status status = format::writeExecutable(executable, sections, path);
  EXPECT_TRUE(status.ok()) << status;
  return path;
}

} // namespace wsc::test
