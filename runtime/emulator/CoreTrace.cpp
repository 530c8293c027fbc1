// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records one core for replay: it runs by itself on zeroed scratch and a copy of its state and residents, so that every
// byte of its SRAM is determined; the words it sends are written again with the same values.
#include "runtime/emulator/EngineParts.h"

#include <cstring>
#include <map>

namespace wsc::emulator {

using namespace format;

std::vector<std::byte> ringImage(const Buffer &buffer, const std::byte *elements, int64_t pushed) {
  std::vector<std::byte> ring(static_cast<size_t>(buffer.bytes));
  const int64_t width = elementBytes(buffer.type), size = buffer.bytes / width * width;
  for (int64_t i = std::max<int64_t>(0, pushed - size); i < pushed; ++i)
    ring[size_t(i % size)] = elements[i];
  return ring;
}

void traceCore(const SampleContext &context, int32_t roleIndex, int64_t ordinal, const LatticeIndex &index,
               std::span<const QueuePort> queues, CoreEngine::CoreTrace &trace) {
  const RoleProgram &program = context.prepared.programs[roleIndex];
  const Role &role = *program.role;
  std::vector<std::byte> scratch(size_t(program.scratchBytes + kSlackBytes));
  std::vector<std::byte *> buffers(role.buffers.size());
  bindBuffers(context, roleIndex, ordinal, index, scratch.data(), buffers.data());
  std::vector<std::vector<std::byte>> states(role.buffers.size());
  std::map<int32_t, std::vector<std::byte>> residents; // windows of one resident may overlap
  trace.role = roleIndex;
  trace.index = index;
  trace.buffersBefore.clear();
  trace.buffersAfter.clear();
  trace.queueWords.clear();
  for (size_t b = 0; b < role.buffers.size(); ++b) {
    const size_t bytes = size_t(role.buffers[b].bytes);
    if (role.buffers[b].kind == BufferKind::State) {
      states[b].assign(buffers[b], buffers[b] + bytes);
      states[b].resize(bytes + size_t(kSlackBytes));
      buffers[b] = states[b].data();
    }
    if (role.buffers[b].kind == BufferKind::Resident) {
      const WindowPlace &place = context.prepared.windows[size_t(roleIndex)][b];
      auto [copy, isNew] = residents.try_emplace(place.resident);
      const std::byte *core = context.residents.core(place.resident, (*place.ordinals)[size_t(ordinal)]);
      if (isNew) {
        copy->second.assign(core, core + context.prepared.executable->residents[size_t(place.resident)].bytes);
        copy->second.resize(copy->second.size() + size_t(kSlackBytes));
      }
      buffers[b] = copy->second.data() + place.offset + context.iteration * place.runStep;
    }
    if (role.buffers[b].kind == BufferKind::Fifo)
      trace.buffersBefore.emplace_back(bytes);
    else
      trace.buffersBefore.emplace_back(buffers[b], buffers[b] + bytes);
  }
  std::vector<QueuePort> ports(queues.begin(), queues.end());
  std::vector<FifoPort> fifos(role.buffers.size());
  CoreFrame frame;
  frame.role = &role;
  frame.index = index;
  frame.buffers = buffers.data();
  frame.queues = ports.data();
  frame.fifos = fifos.data();
  runCore(program, context.kernels, frame, scratch.data(), true);
  for (size_t b = 0; b < role.buffers.size(); ++b) {
    const int64_t bytes = role.buffers[b].bytes;
    if (role.buffers[b].kind != BufferKind::Fifo) {
      trace.buffersAfter.emplace_back(buffers[b], buffers[b] + bytes);
      continue;
    }
    trace.buffersAfter.push_back(ringImage(role.buffers[b], buffers[b], fifos[b].pushed));
  }
  for (size_t q = 0; q < role.queues.size(); ++q) {
    const std::byte *words = queues[q].data;
    trace.queueWords.emplace_back(words, words + ports[q].position * 4);
  }
}

} // namespace wsc::emulator
