// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clock: decides for all routers, ports and cores, then acts; stops when the run is over or stands still.
#include "test/support/fabric/FabricReference.h"

#include "test/support/fabric/Fabric.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::fabric {

using namespace format;

namespace {

class Clock {
public:
  explicit Clock(Fabric &fabric) : fabric(fabric), target(fabric.executable->target) {}

  absl::StatusOr<FabricRun> run(int64_t maxCycles) {
    for (Core &core : fabric.cores)
      for (ThreadState &thread : core.threads)
        fetch(core, thread, -1, fabric.samples);
    int64_t t = 0;
    for (;; ++t) {
      if (over())
        break;
      if (t == maxCycles)
        return absl::DeadlineExceededError(absl::StrCat("the run is not over after ", maxCycles, " cycles"));
      acted = false;
      if (absl::Status status = cycle(t); !status.ok())
        return status;
      if (result.outcome == Outcome::StrayControl)
        break;
      if (!acted && !pending(t)) {
        result.outcome = threadsFinished() && portsFinished() ? Outcome::LeftoverWords : Outcome::Deadlock;
        describeWaiting(t);
        break;
      }
    }
    result.endCycle = std::max(t, lastOut);
    finish();
    return std::move(result);
  }

private:
  Fabric &fabric;
  const target::Target &target;
  FabricRun result;
  bool acted = false;
  int64_t lastOut = 0;
  std::vector<std::vector<int64_t>> outCycles; // per port, per word

  bool threadsFinished() const {
    for (const Core &core : fabric.cores)
      for (const ThreadState &thread : core.threads)
        if (!thread.finished)
          return false;
    return true;
  }

  template <typename Visit> void forEachQueue(Visit visit) const {
    for (const Router &router : fabric.routers)
      for (const RouterColour &colour : router.colours)
        for (const WordQueue &queue : colour.in)
          visit(queue);
    for (const Core &core : fabric.cores)
      for (const auto &queue : core.inputs)
        if (queue)
          visit(*queue);
  }

  bool portsFinished() const {
    for (const WaferPort &port : fabric.ports)
      if (int64_t(port.binding->output ? port.words.size() : port.passed) < port.wordsPerSample * fabric.samples)
        return false;
    return true;
  }

  bool over() const {
    if (!threadsFinished() || !portsFinished())
      return false;
    bool empty = true;
    forEachQueue([&](const WordQueue &queue) { empty = empty && queue.empty(); });
    return empty;
  }

  bool pending(int64_t t) const {
    bool any = false;
    forEachQueue([&](const WordQueue &queue) { any = any || queue.pending(t); });
    return any;
  }

  absl::Status cycle(int64_t t) {
    const PortDecision ports = decidePorts(fabric, t);
    const PortOpen open = [&](int port) { return bool(ports.served[size_t(port)]); };
    std::vector<RouterDecision> routers;
    std::vector<CoreDecision> cores;
    for (const Router &router : fabric.routers)
      routers.push_back(decide(router, t, open));
    for (const Core &core : fabric.cores)
      cores.push_back(decide(core, t));

    fabric.portPointer = ports.pointer;
    acted |= ports.refused; // waits for the allowance of a later cycle
    result.counts.portsRefused += ports.refused;
    for (size_t p = 0; p < fabric.ports.size(); ++p)
      if (WaferPort &port = fabric.ports[p]; ports.served[p] && !port.binding->output) {
        port.queue->put(t, {port.words[port.passed++], 0});
        acted = true;
      }
    for (size_t r = 0; r < routers.size(); ++r)
      move(fabric.routers[r], routers[r], t);
    for (size_t c = 0; c < cores.size(); ++c) {
      acted |= cores[c].thread >= 0;
      if (absl::Status status = act(fabric.cores[c], cores[c], t, fabric.samples, result.counts); !status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  void move(Router &router, const RouterDecision &decision, int64_t t) {
    result.counts.sharedLinks += decision.losers;
    result.counts.unevenMulticasts += decision.unevenMulticasts;
    result.counts.filteredPastRamp += decision.filteredPastRamp;
    if (decision.firstLoser >= 0)
      router.pointer = decision.firstLoser;
    for (const RouterDecision::Move &step : decision.moves) {
      acted = true;
      RouterColour &colour = router.colours[step.colour];
      Word word = colour.in[size_t((*colour.positions)[colour.position].input)].take(t);
      colour.filter.met += step.meetsRamp;
      (step.outputs ? result.counts.filteredMulticasts : result.counts.filteredEnds) += step.filtered;
      if (step.advance) {
        --word.control;
        colour.position = (colour.position + 1) % colour.positions->size();
        ++result.counts.switchAdvances;
      }
      for (size_t side = 0; side < kNumPorts; ++side) {
        if (!(step.outputs >> side & 1))
          continue;
        const Output &output = colour.out[side];
        result.wordHops += side != size_t(Port::Ramp);
        if (word.control > 0 && (output.port >= 0 || side == size_t(Port::Ramp)))
          result.outcome = Outcome::StrayControl;
        if (output.queue)
          output.queue->put(t, word);
        else
          leave(size_t(output.port), word, t);
      }
    }
  }

  void leave(size_t port, Word word, int64_t t) {
    outCycles.resize(fabric.ports.size());
    fabric.ports[port].words.push_back(word.bits);
    outCycles[port].push_back(t + target.hopLatencyCycles);
    lastOut = std::max(lastOut, t + target.hopLatencyCycles);
  }

  void describeWaiting(int64_t t) {
    for (const Core &core : fabric.cores)
      for (size_t n = 0; n < core.threads.size(); ++n)
        if (const ThreadState &thread = core.threads[n]; !thread.finished)
          absl::StrAppend(&result.waiting, "core (", core.row, ", ", core.col, "), thread ", n, ", sample ",
                          thread.sample, ", instruction ", thread.next, " waits for ",
                          needOf(core, thread, t) == Need::Words ? "words" : "space", "\n");
    for (const Core &core : fabric.cores)
      for (size_t q = 0; q < core.inputs.size(); ++q)
        if (core.inputs[q] && !core.inputs[q]->empty())
          absl::StrAppend(&result.waiting, "core (", core.row, ", ", core.col, "), queue ", q, ": ",
                          core.inputs[q]->size(), " words\n");
    for (const Router &router : fabric.routers)
      for (const RouterColour &colour : router.colours)
        for (size_t side = 0; side < kNumPorts; ++side)
          if (!colour.in[side].empty())
            absl::StrAppend(&result.waiting, "router (", router.row, ", ", router.col, "), colour ", colour.colour,
                            ", input ", side, ": ", colour.in[side].size(), " words\n");
  }

  // Outputs, stalls and when each sample was done.
  void finish() {
    outCycles.resize(fabric.ports.size());
    for (Core &core : fabric.cores) {
      if (core.firstSlot >= 0)
        result.stalls.push_back(core.stalls);
      result.sram.push_back(
          {int32_t(core.role - fabric.configuration->roles.data()), core.index, core.memory->takeImage().buffers});
    }
    int64_t outputWords = 0;
    for (const WaferPort &port : fabric.ports)
      outputWords += port.binding->output ? port.wordsPerSample : 0;
    for (int sample = 0; sample < fabric.samples; ++sample) {
      int64_t done = 0;
      bool complete = true;
      for (const Core &core : fabric.cores)
        for (const ThreadState &thread : core.threads) {
          complete = complete && (outputWords > 0 || thread.sample > sample);
          done = std::max(done, outputWords > 0 ? 0 : core.sampleDone[size_t(sample)]);
        }
      for (size_t p = 0; p < fabric.ports.size(); ++p) {
        const int64_t end = fabric.ports[p].wordsPerSample * (sample + 1);
        if (!fabric.ports[p].binding->output || fabric.ports[p].wordsPerSample == 0)
          continue;
        complete = complete && int64_t(outCycles[p].size()) >= end;
        if (complete)
          done = std::max(done, outCycles[p][size_t(end) - 1]);
      }
      if (complete)
        result.sampleDone.push_back(done);
    }
    for (int sample = 0; result.outcome == Outcome::Done && sample < fabric.samples; ++sample) {
      std::vector<emulator::HostTensor> &tensors = result.outputs.emplace_back();
      for (const TensorType &type : fabric.entry->outputs)
        tensors.push_back({std::vector<std::byte>(size_t(type.elements() * elementBytes(type.type)))});
      for (const WaferPort &port : fabric.ports)
        if (port.binding->output)
          storeWords(port, port.words.data() + port.wordsPerSample * sample, tensors[size_t(port.binding->tensor)]);
    }
  }
};

} // namespace

absl::StatusOr<FabricRun> runReference(const Executable &executable, int entry,
                                       const std::vector<std::vector<emulator::HostTensor>> &inputs,
                                       int64_t maxCycles) {
  auto fabric = buildFabric(executable, entry, inputs);
  if (!fabric.ok())
    return fabric.status();
  return Clock(**fabric).run(maxCycles);
}

} // namespace wsc::fabric
