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
  Nests,   // layers as nests and remaps: what phased execution goes on from, in place of the four above
  Core,    // core programs
  Wse,     // the executable
};

constexpr std::array<std::string_view, 9> kPhaseNames{"import", "nn",    "kernels", "sized", "placed",
                                                      "routed", "nests", "core",    "wse"};

// How the layers share the wafer: all side by side (strips), one after another (nests), or the first of these that
// takes the network.
enum class Execution { Auto, Pipelined, Phased };

constexpr std::array<std::string_view, 3> kExecutionNames{"auto", "pipelined", "phased"};

// The phase behind `phase`; of phased execution behind nn come the nests.
inline Phase nextPhase(Phase phase, bool phased) {
  if (phased && phase == Phase::Nn)
    return Phase::Nests;
  if (phase == Phase::Routed)
    return Phase::Core;
  return Phase(int(phase) + 1);
}

inline std::string phaseName(Phase phase) { return std::string(kPhaseNames[size_t(phase)]); }

inline std::optional<Phase> findPhase(std::string_view name) {
  for (size_t i = 0; i < kPhaseNames.size(); ++i)
    if (kPhaseNames[i] == name)
      return Phase(i);
  return std::nullopt;
}

inline std::optional<Execution> findExecution(std::string_view name) {
  for (size_t i = 0; i < kExecutionNames.size(); ++i)
    if (kExecutionNames[i] == name)
      return Execution(i);
  return std::nullopt;
}

} // namespace wsc::driver
