// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A role for each core that a stream begins or ends at, its queues dealt out to one to three threads; some of what a
// thread takes goes on to another through a FIFO.
#include "test/support/fabric/RandomProgram.h"

#include "runtime/numerics/Elements.h"
#include "test/support/fabric/CodeWriter.h"

#include <algorithm>
#include <map>

namespace wsc::fabric {

using namespace format;

namespace {

class ProgramWriter {
public:
  explicit ProgramWriter(const Plan &plan) : plan(plan), random(plan.codeSeed) {}

  RandomProgram write() {
    Executable &executable = program.executable;
    executable.target = plan.target;
    executable.execution = "pipelined";
    executable.configurations.resize(1);
    configuration().name = "main";
    Kernel kernel;
    kernel.name = "k";
    configuration().kernels.push_back(kernel);
    Entry &entry = executable.entries.emplace_back();
    entry.name = "run";
    entry.steps.push_back({StepKind::Run, 0, {}});
    for (size_t s = 0; s < plan.streams.size(); ++s)
      addStream(s);
    auto storage = std::make_shared<std::vector<std::byte>>();
    for (auto &[cell, ends] : cores)
      addCore(cell, ends, *storage);
    executable.storage = storage;
    executable.sections.push_back({"constants", *storage});
    for (int sample = 0; sample < plan.samples; ++sample) {
      auto &tensors = program.inputs.emplace_back();
      for (const TensorType &type : entry.inputs)
        tensors.push_back(randomTensor(type));
    }
    return std::move(program);
  }

private:
  struct End {
    size_t stream = 0;
    bool output = false;
    const Party *party = nullptr;
  };
  using Cell = std::pair<int32_t, int32_t>;

  const Plan &plan;
  Random random;
  RandomProgram program;
  std::map<Cell, std::vector<End>> cores;

  Configuration &configuration() { return program.executable.configurations[0]; }

  Lattice copiesOf(int32_t row, int32_t col) const {
    Lattice lattice;
    lattice.row = row;
    lattice.col = col;
    lattice.dims[plan.copyDim] = {plan.copies, plan.rows, 0};
    return lattice;
  }

  void addStream(size_t s) {
    const StreamPlan &stream = plan.streams[s];
    configuration().nets.push_back({"stream" + std::to_string(s), 0});
    for (const Setting &setting : stream.routers) {
      RouterRole role;
      role.routers = copiesOf(setting.row, setting.col);
      role.colour = stream.colour;
      role.net = int32_t(s);
      role.positions = setting.positions;
      configuration().routers.push_back(role);
    }
    for (const auto *parties : {&stream.senders, &stream.takers})
      for (const Party &party : *parties)
        if (party.port)
          addPort(stream, party, parties == &stream.takers);
        else
          cores[{party.row, party.col}].push_back({s, parties == &stream.senders, &party});
  }

  void addPort(const StreamPlan &stream, const Party &party, bool output) {
    Entry &entry = program.executable.entries[0];
    auto &tensors = output ? entry.outputs : entry.inputs;
    int64_t elements = 0;
    for (const Item &item : party.items)
      elements += item.elements;
    IoBinding binding;
    binding.output = output;
    binding.tensor = int32_t(tensors.size());
    binding.ports = copiesOf(party.row, party.col);
    binding.side = party.side;
    binding.colour = stream.colour;
    binding.hostOffset.perDim[plan.copyDim] = elements * plan.rounds;
    binding.extent[2] = Affine(plan.rounds);
    binding.stride[2] = elements;
    binding.extent[3] = Affine(elements);
    binding.stride[3] = 1;
    configuration().io.push_back(binding);
    tensors.push_back(
        {(output ? "y" : "x") + std::to_string(tensors.size()), stream.type, {plan.copies, elements * plan.rounds}});
  }

  emulator::HostTensor randomTensor(const TensorType &type) {
    emulator::HostTensor tensor;
    const size_t width = size_t(elementBytes(type.type));
    tensor.bytes.resize(size_t(type.elements()) * width);
    for (size_t at = 0; at < tensor.bytes.size(); at += width) {
      const double value =
          type.type == ElementType::U8 ? double(random.pick(0, 200)) : double(random.pick(-32, 32)) / 16;
      numerics::storeElement(tensor.bytes.data() + at, type.type, numerics::encodeImmediate(value, type.type));
    }
    return tensor;
  }

  // Hardware numbers of `count` queues.
  std::vector<uint8_t> queueNumbers(int count) {
    std::vector<uint8_t> numbers;
    for (int i = 0; i < count; ++i)
      numbers.insert(numbers.begin() + random.pick(0, i), uint8_t(i));
    return numbers;
  }

  Filter filterOf(const Window &window) const {
    Filter filter;
    filter.period = window.period;
    if (window.period > 0) {
      filter.begin = Affine(window.begin);
      filter.begin.perDim[plan.copyDim] = window.beginStep;
      filter.words = Affine(window.words);
      filter.words.perDim[plan.copyDim] = window.wordsStep;
    }
    return filter;
  }

  void addCore(Cell cell, const std::vector<End> &ends, std::vector<std::byte> &constants) {
    Role role;
    role.name = "core" + std::to_string(cell.first) + "_" + std::to_string(cell.second);
    role.kernel = 0;
    role.cores = copiesOf(cell.first, cell.second);
    CodeWriter writer(random, role, plan, constants);
    std::vector<uint8_t> inputNumbers = queueNumbers(kMaxInputs), outputNumbers = queueNumbers(kMaxOutputs);
    std::vector<std::vector<Transfer>> threads(size_t(random.pick(1, 3)));
    for (const End &end : ends) {
      std::vector<uint8_t> &numbers = end.output ? outputNumbers : inputNumbers;
      Operand queue;
      queue.kind = OperandKind::Queue;
      queue.queue = int16_t(role.queues.size());
      role.queues.push_back({end.output, plan.streams[end.stream].colour, numbers.back(), filterOf(end.party->window)});
      numbers.pop_back();
      addTransfers(threads, size_t(random.pick(0, int64_t(threads.size()) - 1)), queue, end);
    }
    std::erase_if(threads, [](const auto &thread) { return thread.empty(); });
    addFifos(threads, writer);
    for (std::vector<Transfer> &thread : threads) {
      std::sort(thread.begin(), thread.end(), [](const Transfer &a, const Transfer &b) {
        return std::pair(a.key, a.number) < std::pair(b.key, b.number);
      });
      disturb(thread);
      writer.writeThread(thread);
    }
    writer.placeBuffers();
    configuration().roles.push_back(std::move(role));
  }

  // Moves some transfers to another place in their thread.
  void disturb(std::vector<Transfer> &thread) {
    for (size_t i = 0; i < thread.size(); ++i)
      if (random.chance(plan.swapPercent))
        for (size_t at = i, to = size_t(random.pick(0, int64_t(i))); at > to && mayChange(thread[at - 1], thread[at]);
             --at)
          std::swap(thread[at - 1], thread[at]);
  }

  // The order of one queue or FIFO is the stream's own, and nothing is popped before it is pushed.
  static bool mayChange(const Transfer &a, const Transfer &b) {
    const auto same = [](const Operand &x, const Operand &y) {
      return x.kind != OperandKind::None && x.kind == y.kind && x.queue == y.queue && x.buffer == y.buffer;
    };
    return a.control == 0 && b.control == 0 && !same(a.in, b.in) && !same(a.out, b.out) && !same(a.out, b.in);
  }

  void addTransfers(std::vector<std::vector<Transfer>> &threads, size_t thread, const Operand &queue, const End &end) {
    const ElementType type = plan.streams[end.stream].type;
    for (const Item &item : takenItems(*end.party, type)) {
      Transfer transfer;
      transfer.key = item.key + (end.output ? 0.001 : 0);
      transfer.number = int(threads[thread].size());
      transfer.inType = transfer.outType = type;
      transfer.elements = item.elements;
      transfer.growth = item.growth;
      transfer.control = item.control;
      (end.output ? transfer.out : transfer.in) = queue;
      threads[thread].push_back(transfer);
    }
  }

  // Some takes hand their elements to another thread, or on to later in their own: one FIFO for each pair of threads
  // and type.
  void addFifos(std::vector<std::vector<Transfer>> &threads, CodeWriter &writer) {
    std::map<std::tuple<size_t, size_t, ElementType>, Operand> fifos;
    const size_t count = threads.size();
    std::vector<std::vector<Transfer>> pops(count);
    for (size_t t = 0; t < count; ++t)
      for (Transfer &transfer : threads[t]) {
        if (!transfer.takes() || !random.chance(count > 1 ? 50 : 10))
          continue;
        const size_t to =
            count == 1 || random.chance(10) ? t : (t + size_t(random.pick(1, int64_t(count) - 1))) % count;
        auto [at, isNew] = fifos.try_emplace({t, to, transfer.inType});
        if (isNew)
          at->second =
              writer.fifo(transfer.inType, to == t ? random.pick(24, 200) : random.pick(1, random.chance(50) ? 4 : 24));
        transfer.out = at->second;
        Transfer pop = transfer;
        pop.in = at->second;
        pop.out = {};
        pop.key += 0.0005;
        pops[to].push_back(pop);
      }
    for (size_t t = 0; t < count; ++t)
      threads[t].insert(threads[t].end(), pops[t].begin(), pops[t].end());
  }
};

} // namespace

RandomProgram programOf(const Plan &plan) { return ProgramWriter(plan).write(); }

Plan without(const Plan &plan, const std::vector<bool> &keep) {
  Plan result = plan;
  result.streams.clear();
  for (size_t s = 0; s < plan.streams.size(); ++s)
    if (keep[s])
      result.streams.push_back(plan.streams[s]);
  return result;
}

} // namespace wsc::fabric
