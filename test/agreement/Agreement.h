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

// Relative errors that are allowed, whatever the variation. The defaults are the aim; a case that states more says how
// far the analytic time is from the wafer's there.
struct Tolerance {
  double latency = 0.10, interval = 0.05;
};

// By what part the analytic latency and interval are longer than the cycle engine's (negative: shorter).
struct TimeErrors {
  double latency = 0, interval = 0;
  bool within(const Tolerance &tolerance = {}) const;
};

// Of the executable under each variation, printed with `name`; empty after a failure. `rounds`: samples of the cycle
// engine's run; the interval is the mean distance in its middle third, as the first samples fill queues and in the last
// ones inputs that ran ahead leave the cores to the rest.
std::vector<TimeErrors> timeErrors(const std::string &name, const format::Executable &executable, int rounds = 24);

// Latency and interval of the executable under each variation within tolerance; failures begin with `name`.
void expectAgreement(const std::string &name, const format::Executable &executable, const Tolerance &tolerance = {},
                     int rounds = 24);

} // namespace wsc::test
