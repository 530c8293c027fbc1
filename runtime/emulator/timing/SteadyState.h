// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interval between samples, from when every process finished each of them.
//
// The simulation is a monotone map F of the processes' times that commutes with shifts: it only takes maxima and adds
// (Gaubert, Gunawardena: The Perron-Frobenius theorem for homogeneous, monotone functions). For such a map and any
// times x, the growth per sample is at most the largest difference F(x) − x, and, where all processes wait for each
// other through words or space, at least the smallest. So the interval is known as soon as the two meet, or as the
// upper one meets a bound that holds for other reasons (issue slots of a core, words of a link): usually after three or
// four samples, though single processes still fill their queues and the samples do not repeat yet.
#pragma once

#include "runtime/emulator/timing/Simulation.h"

#include <cstdint>
#include <vector>

namespace wsc::emulator::timing {

class SteadyState {
public:
  explicit SteadyState(const Model &model);

  // After each sample.
  void add(const Simulation &simulation);

  // Cycles per sample, over the last samples; upper() is kUnknown before the second sample.
  int64_t upper() const { return most; }
  int64_t lower() const { return least; }

  static constexpr int64_t kUnknown = INT64_MAX;

private:
  // Samples looked back at: differences over several even out what alternates between samples.
  static constexpr size_t kWindow = 8;

  std::vector<int32_t> component; // per process: those that wait for each other, however indirectly
  int32_t numComponents = 0;
  std::vector<std::vector<int64_t>> finished; // per sample of the window, the latest last
  int64_t most = kUnknown, least = 0;
};

} // namespace wsc::emulator::timing
