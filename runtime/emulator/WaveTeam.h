// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host threads of a runner of waves, with a worker for each.
#pragma once

#include "runtime/emulator/WaveState.h"

#include <algorithm>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <vector>

namespace wsc::emulator {

struct WaveTeam {
  explicit WaveTeam(int wanted) // 0: all
      : threads(wanted > 0 ? wanted : oneapi::tbb::this_task_arena::max_concurrency()), arena(threads),
        workers(size_t(threads)) {
    for (WaveWorker &worker : workers)
      worker.isAlone = threads == 1;
  }

  // Calls visit(worker, i) for all i below `count`; on several threads in chunks if there are many.
  template <typename Visit> void forAll(size_t count, size_t least, Visit visit) {
    forRanges(count, least, 1, [&](WaveWorker &worker, size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
        visit(worker, i);
    });
  }
  // The same with visit(worker, begin, end) of at least so many but for the last.
  template <typename Visit> void forRanges(size_t count, size_t least, size_t leastChunk, Visit visit) {
    if (threads == 1 || count < least) {
      if (count > 0)
        visit(workers[0], 0, count);
      return;
    }
    const size_t chunk = std::max(leastChunk, count / (size_t(threads) * 8));
    oneapi::tbb::parallel_for(
        oneapi::tbb::blocked_range<size_t>(0, count, chunk),
        [&](const oneapi::tbb::blocked_range<size_t> &range) {
          visit(workers[size_t(oneapi::tbb::this_task_arena::current_thread_index())], range.begin(), range.end());
        },
        oneapi::tbb::simple_partitioner());
  }

  // Those of the last run are free.
  void takeChunksBack() {
    for (size_t w = 0; w < workers.size(); ++w) {
      workers[w].chunks = WaveChunks(uint16_t(w));
      workers[w].released.clear();
    }
  }
  // Of released chunks, whose workers are not at work.
  void giveReleased() {
    for (WaveWorker &worker : workers) {
      for (WaveChunk *chunk : worker.released)
        workers[chunk->worker].chunks.give(chunk);
      worker.released.clear();
    }
  }

  const int threads;
  oneapi::tbb::task_arena arena;
  std::vector<WaveWorker> workers;
};

} // namespace wsc::emulator
