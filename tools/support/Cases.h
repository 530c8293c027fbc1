// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test cases on disk, in the layout of ONNX's backend tests: a folder with test_data_set_0, 1, … and model.onnx, or a
// TensorFlow graph.pb or graph.pbtxt, or the files of a SavedModel.
#pragma once

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace wsc::tools {

struct Case {
  std::string name; // its path below the folder searched, or that folder's own name
  std::string folder;
  std::string model; // file, or the folder of a SavedModel; empty if the folder has none
  std::vector<std::string> dataSets;
};

// All cases at and below `folder`, by name. A folder with a model or a data set is a case; what lies below one is not
// searched. Links to folders are not followed. Errors: not a folder, not readable.
absl::StatusOr<std::vector<Case>> findCases(const std::string &folder);

// A folder of its own for temporary files, removed with all it holds. Empty path: it could not be made.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  std::string path;
};

} // namespace wsc::tools
