// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the feeder of a contraction's row does: it takes lanes into FIFOs and sends what comes, after operations on the
// input if there are any, onto the row; or, where it computes as well, into its own tile.
#pragma once

#include "compiler/kernels/programs/Ingest.h"
#include "compiler/kernels/programs/TileProgram.h"

#include "absl/status/status.h"

namespace wsc::kernels {

class Feed {
public:
  // Emits the threads that take in the lanes of `row`, from `firstThread` on. `plane`: of the whole input. With a
  // co-located kernel that has receivers, what comes is also sent on for it, by the thread before those.
  Feed(RoleBuilder &builder, const target::Target &target, const NetworkPlan &network, const KernelPlan &plan,
       const KernelRow &row, const Plane &plane, int firstThread, const KernelPlan *coLocated, SectionTable &sections);

  // Emits the thread that sends for the co-located kernel, if there is one.
  void sendForCoLocated();

  // Streamed mode: the components' channels and tiles.
  const std::vector<ComponentFifos> &streamed() const { return tiles; }

  // Brings the words of one part of a stage, or of one channel of a component's tile (streamed; inside a loop over the
  // component's channels), to `sink`.
  absl::Status bring(const StagedPart &part, const TileSink &sink);
  absl::Status bringChannel(size_t component, size_t tile, const TileSink &sink);

private:
  absl::Status bring(int16_t fifo, int64_t firstChannel, int64_t channels, int64_t rowBegin, int64_t rows,
                     bool channelLoop, const TileSink &sink);
  int64_t wordsOfSample() const;
  TileValue valueFrom(int16_t fifo, int64_t channels, int64_t rows);

  RoleBuilder &builder;
  const target::Target &target;
  const NetworkPlan &network;
  const KernelPlan &plan, *coLocated;
  const KernelRow &row;
  const Plane plane;
  const Columns columns, offLanes; // of each line: those that go on, and those that FIFOs hold
  int16_t lines = -1;              // where these are cut to those, or wait to be fed and sent on
  int16_t joined = -1;             // FIFO of what is sent for the co-located kernel
  int coLocatedThread = 0;
  SectionTable &sections;
  std::vector<std::vector<int16_t>> fifos; // by component and part; not streamed
  std::vector<ComponentFifos> tiles;       // streamed
};

} // namespace wsc::kernels
