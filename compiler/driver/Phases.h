// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases of a compilation: places to stop, look and go on from.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace wsc::driver {

enum class Phase {
  Import,  // nn as the importer leaves it
  Nn,      // simplified, decomposed
  Kernels, // layers gathered into wafer.kernel
  Sized,   // tiles, slices, columns
  Placed,  // rectangles
  Routed,  // colours
  Core,    // core programs
  Wse,     // the executable
};

constexpr std::array<std::string_view, 8> kPhaseNames{"import", "nn",     "kernels", "sized",
                                                      "placed", "routed", "core",    "wse"};

inline std::string phaseName(Phase phase) { return std::string(kPhaseNames[size_t(phase)]); }

inline std::optional<Phase> findPhase(std::string_view name) {
  for (size_t i = 0; i < kPhaseNames.size(); ++i)
    if (kPhaseNames[i] == name)
      return Phase(i);
  return std::nullopt;
}

} // namespace wsc::driver
