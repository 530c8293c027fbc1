// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Published measurements as a table: CSV with a header line (id, arch, kind, workload, parameters, published, unit,
// tolerance, note), quotes around fields with commas.
#pragma once

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace wsc::validation {

struct PublishedRow {
  std::string id, arch, kind, workload, parameters, unit, note;
  double published = 0, tolerance = 0; // tolerance: relative error that counts as reproduced
};

// `where` names the text in messages, which give the line.
absl::StatusOr<std::vector<PublishedRow>> parsePublished(const std::string &text, const std::string &where);

} // namespace wsc::validation
