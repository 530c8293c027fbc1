// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much work mapping may spend on looking for better mappings.
#pragma once

#include "absl/status/statusor.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace wsc::kernels {

// Fast: the first mapping found. Default: a few others where the first is held up by more than its cores can help.
// High: many others, also for shorter wires. Each does all that those before it do, so none is ever worse.
enum class Effort { Fast, Default, High };

constexpr std::array<std::string_view, 3> kEffortNames{"fast", "default", "high"};

inline std::optional<Effort> findEffort(std::string_view name) {
  for (size_t i = 0; i < kEffortNames.size(); ++i)
    if (kEffortNames[i] == name)
      return Effort(i);
  return std::nullopt;
}

struct NetworkPlan;
// The interval that a routed network has when it is emulated, cycles. An error: it would not run.
using MappingTimer = std::function<absl::StatusOr<int64_t>(const NetworkPlan &)>;

// What is found depends on the effort and the seed, never on threads or time.
struct SearchOptions {
  Effort effort = Effort::Fast;
  uint64_t seed = 1;
  int threads = 1; // host threads; 0: all
  // If given, mappings that are slower than the first when emulated do not count, whatever is predicted of them. May be
  // called from several threads.
  MappingTimer timer = {};
  // If given, asked before each round; from the first true on, the search ends with what it has.
  std::function<bool()> cancelled = {};
};

} // namespace wsc::kernels
