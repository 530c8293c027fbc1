// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/EntryOrder.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::emulator {

absl::StatusOr<std::vector<int32_t>> orderedSteps(const format::Entry &entry) {
  std::vector<int32_t> order;
  std::vector<bool> done(entry.steps.size(), false);
  while (order.size() < entry.steps.size()) {
    const size_t before = order.size();
    for (size_t s = 0; s < entry.steps.size(); ++s) {
      const std::vector<int32_t> &after = entry.steps[s].after;
      if (done[s] || !std::all_of(after.begin(), after.end(), [&](int32_t other) { return done[size_t(other)]; }))
        continue;
      done[s] = true;
      order.push_back(int32_t(s));
    }
    if (order.size() == before)
      return absl::InvalidArgumentError(
          absl::StrCat("entry ", entry.name, ": its steps wait for each other in a circle"));
  }
  return order;
}

} // namespace wsc::emulator
