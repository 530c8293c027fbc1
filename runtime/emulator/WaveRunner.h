// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a sample in waves: for programs whose cores wait for each other in circles. In a wave every core that can go on
// runs whole operations, with the same kernels as units, until its threads wait; cores of a wave are independent.
// Between waves the words they sent are told to their sinks, and the cores whose operations have all their words then
// form the next wave. When there is none, cores do parts of operations, element by element where it must be; the sample
// is over when nobody can do even that. Which thread runs a core changes nothing (I10).
//
// A core that will have to wait before it sends anything waits before it computes (WaveOp::needs): it then does all at
// once, its scratch in the caches (WaveGroup.h). One thread takes waves in turns of a few cores and goes on with those
// that their words set going, so that words are in the caches when they are taken, too.
//
// None of this depends on values. A configuration that runs again repeats what its cores did (RecordedRuns.h).
#pragma once

#include "runtime/emulator/WaveState.h"

#include <memory>

namespace wsc::emulator {

// Keeps its memory from sample to sample.
class WaveRunner {
public:
  explicit WaveRunner(int threads); // 0: all
  ~WaveRunner();
  // Needs `context.prepared.waves`. Errors: the program stops with threads that wait; a FIFO is not left empty; no
  // memory.
  absl::Status run(const SampleContext &context);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace wsc::emulator
