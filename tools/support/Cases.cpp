// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks folders in the order of their names, so that cases come in the same order everywhere.
#include "tools/support/Cases.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace wsc::tools {

namespace fs = std::filesystem;

namespace {

constexpr const char *kDataSet = "test_data_set_";

// -1: not the name of a data set.
long dataSetNumber(const std::string &name) {
  if (name.rfind(kDataSet, 0) != 0)
    return -1;
  const std::string digits = name.substr(std::string(kDataSet).size());
  if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
    return -1;
  return std::strtol(digits.c_str(), nullptr, 10);
}

absl::Status walk(const fs::path &folder, const fs::path &top, std::vector<Case> &cases) {
  std::error_code code;
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    entries.push_back(at->path());
  if (code)
    return absl::NotFoundError(absl::StrCat("cannot read folder ", folder.string(), ": ", code.message()));
  std::sort(entries.begin(), entries.end());
  Case found;
  std::vector<std::pair<long, std::string>> sets;
  for (const fs::path &entry : entries) {
    const fs::path name = entry.filename();
    if ((name == "model.onnx" || name == "graph.pb" || name == "graph.pbtxt") && fs::is_regular_file(entry, code))
      found.model = entry.string();
    else if (found.model.empty() && (name == "saved_model.pb" || name == "saved_model.pbtxt"))
      found.model = folder.string();
    if (const long number = dataSetNumber(entry.filename().string()); number >= 0 && fs::is_directory(entry, code))
      sets.emplace_back(number, entry.string());
  }
  if (!found.model.empty() || !sets.empty()) {
    std::sort(sets.begin(), sets.end());
    for (auto &[number, path] : sets)
      found.dataSets.push_back(std::move(path));
    found.folder = folder.string();
    const fs::path below = folder.lexically_relative(top);
    found.name = below == "." ? folder.filename().string() : below.generic_string();
    cases.push_back(std::move(found));
    return absl::OkStatus();
  }
  for (const fs::path &entry : entries)
    if (fs::is_directory(entry, code) && !fs::is_symlink(entry, code))
      if (absl::Status status = walk(entry, top, cases); !status.ok())
        return status;
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<std::vector<Case>> findCases(const std::string &folder) {
  std::error_code code;
  fs::path top = fs::absolute(folder, code).lexically_normal();
  if (!top.has_filename())
    top = top.parent_path();
  if (!fs::is_directory(top, code))
    return absl::NotFoundError(absl::StrCat(folder, " is not a folder"));
  std::vector<Case> cases;
  if (absl::Status status = walk(top, top, cases); !status.ok())
    return status;
  return cases;
}

TemporaryFolder::TemporaryFolder() {
  std::error_code code;
  std::string pattern = (fs::temp_directory_path(code) / "wsc-XXXXXX").string();
  if (!code && mkdtemp(pattern.data()))
    path = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code code;
  if (!path.empty())
    fs::remove_all(path, code);
}

} // namespace wsc::tools
