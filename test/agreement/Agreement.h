// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds the analytic time of an executable against the cycle engine's.
#pragma once

#include "runtime/format/Executable.h"
#include "runtime/target/Target.h"

#include <string>
#include <vector>

namespace wsc::test {

// A target changed in one respect.
struct Variation {
  std::string name;
  void (*change)(target::Target &);
};

// The target as it is, longer hops, longer ramps, deep queues, shallow queues, half the rates, longer set-ups.
const std::vector<Variation> &variations();

// By what part the analytic latency and interval are longer than the cycle engine's (negative: shorter).
struct TimeErrors {
  double latency = 0, interval = 0;
  // 10 % and 5 %: the aim, for every case under every variation.
  bool within() const;
};

// Of the executable under each variation, printed with `name`; empty after a failure. The interval of the cycle engine
// is the mean distance in the middle third of so many samples: the first ones fill queues and FIFOs, and in the last
// ones inputs that ran ahead leave the cores to the rest. One number for all cases of a file.
std::vector<TimeErrors> timeErrors(const std::string &name, const format::Executable &executable, int samples);

// Latency and interval of the executable under each variation within the aim; failures begin with `name`.
void expectAgreement(const std::string &name, const format::Executable &executable, int samples);

} // namespace wsc::test
