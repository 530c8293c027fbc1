// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model that comes as bytes in memory, as a file without a name: importers map files, and weights stay in them.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <string>
#include <string_view>

namespace wsc::driver {

class ModelFile {
public:
  ModelFile() = default;
  ModelFile(const ModelFile &) = delete;
  ModelFile &operator=(const ModelFile &) = delete;
  ~ModelFile();

  // Holds `content` under `name`, which stands for it in messages. Errors: no memory for it.
  absl::Status hold(std::string_view content, const std::string &name);
  // Where it can be opened while this lives; empty before hold.
  const std::string &path() const { return where; }
  // The message with the name in place of the path.
  absl::Status named(const absl::Status &status) const;

private:
  int file = -1;
  std::string where, name;
};

} // namespace wsc::driver
