// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which configurations a runner of waves has written down, and runs of them (WaveRecord.h). A configuration is written
// down in the first run after which, as far as is known, another one comes: of a loop the first iteration, else the
// second sample. Cores that are traced, buffers of states and operations done in part are left to the waves.
//
// What only waves need of a configuration (WaveStreams.h) is let go when it is recorded; traced cores ask for it again.
#pragma once

#include "runtime/emulator/EngineParts.h"
#include "runtime/emulator/WaveRecord.h"
#include "runtime/emulator/WaveTeam.h"

#include <memory>
#include <unordered_map>

namespace wsc::emulator {

class RecordedRuns {
public:
  RecordedRuns(WaveTeam &team, WaveState &state) : team(team), state(state) {}

  // For a run in waves. Errors: those of layStreams() and resolveNetworks().
  absl::StatusOr<WaveStreamStore::Shared> streams(const SampleContext &context);
  void letGo(const SampleContext &context) { known[context.prepared.waves.get()].streams = nullptr; }

  // Null: the configuration has to be run in waves.
  const WaveRecord *find(const SampleContext &context) const;
  // Runs it; memory for its plan is there.
  void run(const SampleContext &context, const WaveRecord &record);

  // Around a run in waves, which is written down if that pays; end() says whether it has been.
  void begin(const SampleContext &context);
  void endWave();
  void noteInput(const WaveLane &lane, const std::byte *words);
  void noteOutput(const WaveLane &lane, std::vector<WaveRecord::Piece> pieces);
  bool end(const SampleContext &context, bool succeeded);

private:
  struct Known {
    bool hasRun = false, isRecordable = true;
    std::unique_ptr<const WaveRecord> record;
    WaveStreamStore::Shared streams; // null: nobody has asked since it was recorded
  };
  WaveTeam &team;
  WaveState &state;
  std::unordered_map<const WavePlan *, Known> known;
  std::unique_ptr<WaveRecord> recording; // of the run that goes on
  std::vector<WaveRecorder> recorders;   // its workers'
};

// The words of a lane between the host's tensors and `words`, which gets some slack.
void bringIn(const SampleContext &context, const WaveLane &lane, std::byte *words);
void bringOut(const SampleContext &context, const WaveLane &lane, std::vector<std::byte> &words);

} // namespace wsc::emulator
