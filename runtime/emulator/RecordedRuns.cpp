// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/RecordedRuns.h"

#include "runtime/emulator/HostWords.h"
#include "runtime/emulator/WaveGroup.h"
#include "runtime/emulator/WaveMerge.h"

#include <algorithm>

namespace wsc::emulator {

using namespace format;

namespace {

bool hasStates(const WavePlan &plan) {
  for (const WaveRole &role : plan.roles)
    for (const Buffer &buffer : role.role->buffers)
      if (buffer.kind == BufferKind::State)
        return true;
  return false;
}

} // namespace

void bringIn(const SampleContext &context, const WaveLane &lane, std::byte *words) {
  const IoBinding &binding = context.prepared.configuration->io[size_t(lane.binding)];
  packLane(binding, lane.index, context.prepared.bindingTypes[size_t(lane.binding)],
           context.inputs[size_t(binding.tensor)], words);
}
void bringOut(const SampleContext &context, const WaveLane &lane, std::vector<std::byte> &words) {
  const IoBinding &binding = context.prepared.configuration->io[size_t(lane.binding)];
  words.resize(words.size() + size_t(kSlackBytes));
  unpackLane(binding, lane.index, context.prepared.bindingTypes[size_t(lane.binding)], words.data(),
             context.outputs[size_t(binding.tensor)]);
}

absl::StatusOr<WaveStreamStore::Shared> RecordedRuns::streams(const SampleContext &context) {
  const PreparedConfiguration &prepared = context.prepared;
  WaveStreamStore::Shared &mine = known[prepared.waves.get()].streams;
  if (mine)
    return mine;
  absl::StatusOr<WaveStreamStore::Shared> shared = prepared.streams->get([&]() -> absl::StatusOr<WaveStreams> {
    const absl::StatusOr<Networks> networks =
        resolveNetworks(prepared.executable->target, *prepared.configuration, prepared.bindingTypes);
    if (!networks.ok())
      return networks.status();
    return layStreams(*prepared.configuration, *networks, *prepared.waves);
  });
  if (shared.ok())
    mine = *shared;
  return shared;
}

const WaveRecord *RecordedRuns::find(const SampleContext &context) const {
  const auto found = known.find(context.prepared.waves.get());
  return found == known.end() || !context.traces.empty() ? nullptr : found->second.record.get();
}

void RecordedRuns::begin(const SampleContext &context) {
  Known &run = known[context.prepared.waves.get()];
  const bool pays = run.isRecordable && (context.comesAgain || run.hasRun);
  run.hasRun = true;
  if (!pays || !context.traces.empty() || hasStates(*context.prepared.waves))
    return;
  recording = std::make_unique<WaveRecord>();
  recording->iteration = context.iteration;
  recording->streams = std::vector<WaveRecord::Stream>(team.workers.size());
  recording->sent.resize(size_t(state.streams->ports));
  recording->staying.assign(size_t(context.prepared.waves->narrow), -1);
  recorders.clear();
  recorders.reserve(team.workers.size());
  for (size_t w = 0; w < team.workers.size(); ++w) {
    WaveWorker &worker = team.workers[w];
    worker.recorder = &recorders.emplace_back(state, worker, *recording, w);
  }
}

void RecordedRuns::endWave() {
  if (recording)
    for (const WaveRecord::Stream &stream : recording->streams)
      recording->waves.push_back(uint32_t(stream.groups.size()));
}

void RecordedRuns::noteInput(const WaveLane &lane, const std::byte *words) {
  if (recording)
    recording->inputs.push_back({lane, words - state.arena.memory().get()});
}
void RecordedRuns::noteOutput(const WaveLane &lane, std::vector<WaveRecord::Piece> pieces) {
  if (recording)
    recording->outputs.push_back({lane, std::move(pieces)});
}

bool RecordedRuns::end(const SampleContext &context, bool succeeded) {
  if (!recording)
    return false;
  endWave();
  for (WaveWorker &worker : team.workers)
    worker.recorder = nullptr;
  for (const WaveRecorder &recorder : recorders) {
    succeeded = succeeded && !recorder.lost();
    recording->piecedWords = std::max(recording->piecedWords, recorder.mostPiecedWords());
  }
  Known &run = known[context.prepared.waves.get()];
  run.isRecordable = succeeded;
  if (succeeded) {
    freeAll(recording->sent, recording->staying);
    joinLinks(*recording);
    mergeGroups(*recording, WaveGroup::kMostBytes);
    for (WaveRecord::Stream &stream : recording->streams)
      stream.shrink();
    recording->arenaBytes = state.arena.takenBytes();
    run.record = std::move(recording);
  }
  recorders.clear();
  recording.reset();
  return succeeded;
}

void RecordedRuns::run(const SampleContext &context, const WaveRecord &record) {
  std::byte *const words = state.arena.memory().get();
  for (WaveWorker &worker : team.workers)
    for (std::vector<std::byte> &pieced : worker.pieced)
      pieced.resize(std::max(pieced.size(), size_t(record.piecedWords * 4 + kSlackBytes)));
  for (const WaveRecord::Input &input : record.inputs)
    bringIn(context, input.lane, words + input.offset);
  const WaveReplay replay(context.kernels, state, context.iteration - record.iteration);
  const size_t streams = record.streams.size();
  struct Group {
    uint32_t stream, number;
  };
  std::vector<Group> groups; // of a wave
  std::vector<uint32_t> done(streams, 0);
  for (size_t wave = 0; wave < record.waves.size(); wave += streams) {
    groups.clear();
    for (size_t s = 0; s < streams; ++s)
      for (uint32_t &group = done[s]; group < record.waves[wave + s]; ++group)
        groups.push_back({uint32_t(s), group});
    team.forAll(groups.size(), 2, [&](WaveWorker &worker, size_t i) {
      replay.runGroup(worker, record.streams[groups[i].stream], groups[i].number);
    });
  }
  std::vector<std::byte> sent;
  for (const WaveRecord::Output &output : record.outputs) {
    sent.clear();
    for (const WaveRecord::Piece &piece : output.pieces)
      sent.insert(sent.end(), words + piece.offset, words + piece.offset + piece.words * 4);
    bringOut(context, output.lane, sent);
  }
}

} // namespace wsc::emulator
