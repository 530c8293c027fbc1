// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A core in a wave. Its threads take turns until none can go on; an operation runs when all its words and elements are
// there. Queue operands are given to the kernels as plain memory: a sink's words where their source put them if they
// lie together there, else put together first; a source's in its chunk at once. A FIFO begins anew where it is empty,
// so that it stays in the same few bytes.
#include "runtime/emulator/WaveState.h"

#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/QueueTraffic.h"
#include "runtime/emulator/ScalarExecutor.h"
#include "runtime/emulator/WaveRecord.h"

#include <algorithm>
#include <cstring>

namespace wsc::emulator {

using namespace format;

namespace {

int64_t wordsOf(int32_t width, int64_t elements) { return (elements * width + 3) / 4; }

ThreadCursor cursorOf(const WaveThread &thread) {
  ThreadCursor cursor;
  cursor.depth = thread.depth;
  std::copy_n(thread.counter, kMaxDims, cursor.counter);
  cursor.element = thread.element;
  return cursor;
}

} // namespace

WaveCore::WaveCore(const SampleContext &context, const WavePlan &plan, WaveState &state, WaveWorker &worker,
                   const WaveRole &role, int32_t core, bool partly)
    : context(context), plan(plan), state(state), worker(worker), role(role), partly(partly) {
  ordinal = core - role.core;
  threads = state.threads.data() + role.thread + ordinal * int64_t(role.threads.size());
  fifos = state.fifos.data() + role.fifo + ordinal * int64_t(role.fifos.size());
  firstPort = role.port + ordinal * int64_t(role.role->queues.size());
  frame.role = role.role;
  frame.index = state.index[size_t(core)];
  frame.buffers = state.buffers.data() + role.buffer + ordinal * int64_t(role.role->buffers.size());
  frame.queues = worker.queues.data();
  frame.fifos = worker.fifos.data();
}

void WaveCore::run() {
  for (bool progress = true; progress;) {
    progress = partAhead = false;
    for (size_t t = 0; t < role.threads.size(); ++t)
      if (size_t(threads[t].pc) < role.threads[t].size())
        progress |= runThread(t);
  }
}

bool WaveCore::done() const {
  for (size_t t = 0; t < role.threads.size(); ++t)
    if (size_t(threads[t].pc) < role.threads[t].size())
      return false;
  return true;
}

// True if anything was done.
bool WaveCore::runThread(size_t t) {
  const std::vector<WaveOp> &ops = role.threads[t];
  WaveThread &thread = threads[t];
  bool progress = false;
  while (size_t(thread.pc) < ops.size()) {
    const WaveOp &op = ops[size_t(thread.pc)];
    if (op.kind == WaveOp::Kind::LoopBegin) {
      if (op.op->instruction->extent[0].at(frame.index) <= 0) {
        thread.pc = op.op->jump;
      } else {
        thread.counter[thread.depth++] = 0;
        ++thread.pc;
      }
      progress = true;
      continue;
    }
    if (op.kind == WaveOp::Kind::LoopEnd) {
      if (++thread.counter[thread.depth - 1] < op.op->instruction->extent[0].at(frame.index)) {
        thread.pc = op.op->jump;
      } else {
        --thread.depth;
        ++thread.pc;
      }
      progress = true;
      continue;
    }
    const int64_t before = thread.element;
    if (!step(op, thread))
      return progress || thread.element > before;
    ++thread.pc;
    progress = true;
  }
  return progress;
}

bool WaveCore::step(const WaveOp &op, WaveThread &thread) {
  const int64_t elements = op.fixed ? op.elements : instructionElements(*op.op->instruction, frame.index);
  if (elements <= 0 || (op.leftOut && context.traces.empty()))
    return true;
  const int64_t there = op.inputs > 0 ? elementsThere(op, thread, elements) : elements;
  if (there < elements && !partly) {
    partAhead |= there > thread.element;
    wait(op, elements);
    return false;
  }
  const bool complete = op.kind == WaveOp::Kind::Copy            ? copy(op, thread, elements)
                        : there < elements || thread.element > 0 ? runPart(op, thread, elements)
                                                                 : runOperation(op, thread, elements);
  if (!complete) {
    wait(op, elements);
    return false;
  }
  thread.element = 0;
  return true;
}

// Elements of the operation, from its first on, for which all is there.
int64_t WaveCore::elementsThere(const WaveOp &op, const WaveThread &thread, int64_t elements) const {
  int64_t there = elements;
  for (int i = 0; i < op.inputs; ++i) {
    const WaveOp::Input &input = op.input[i];
    if (input.kind == OperandKind::Queue) {
      const WavePort &from = port(input.slot);
      if (from.there - from.position < input.share * wordsOf(input.width, elements))
        there = std::min(there, int64_t(from.there - from.position) * 4 / (input.width * input.share));
    } else {
      const FifoPort &fifo = fifos[input.slot];
      there = std::min(there, thread.element + (fifo.pushed - fifo.popped) / (input.width * input.share));
    }
  }
  return there;
}

// Leaves word of what the operation waits for at the queues that it takes from.
void WaveCore::wait(const WaveOp &op, int64_t elements) {
  for (int i = 0; i < op.inputs; ++i)
    if (const WaveOp::Input &input = op.input[i]; input.kind == OperandKind::Queue)
      waitFor(port(input.slot), int32_t(input.share * wordsOf(input.width, elements)));
}

const std::byte *wordsThere(WaveState &state, int32_t number, int64_t words, std::vector<std::byte> &pieced) {
  WavePort &from = state.ports[size_t(number)];
  if (const int32_t source = state.streams->portSource[size_t(number)]; source >= 0) {
    const WavePort::Piece piece = state.ports[size_t(source)].piece(from.position);
    if (words <= piece.words)
      return piece.data;
  }
  const std::span<const WaveSegment> segments =
      state.streams->composition(state.streams->portComposition[size_t(number)]);
  while (from.position - from.base >= segments[size_t(from.segment)].count)
    from.base += segments[size_t(from.segment++)].count;
  const WaveSegment &first = segments[size_t(from.segment)];
  const int64_t skip = from.position - from.base;
  const WavePort::Piece piece = state.ports[size_t(first.port)].piece(first.begin + skip);
  if (words <= std::min(piece.words, first.count - skip))
    return piece.data;
  if (int64_t(pieced.size()) < words * 4 + kSlackBytes)
    pieced.resize(size_t(words * 4 + kSlackBytes));
  std::byte *to = pieced.data();
  size_t s = size_t(from.segment);
  for (int64_t left = words, at = skip; left > 0;) {
    if (at == segments[s].count) {
      ++s;
      at = 0;
    }
    const WavePort::Piece next = state.ports[size_t(segments[s].port)].piece(segments[s].begin + at);
    const int64_t count = std::min({left, segments[s].count - at, next.words});
    std::memcpy(to, next.data, size_t(count * 4));
    to += count * 4;
    left -= count;
    at += count;
  }
  return pieced.data();
}

void WaveCore::bindQueues(const WaveOp &op, int64_t elements, bool part) {
  for (int i = 0; i < op.inputs; ++i)
    if (const WaveOp::Input &input = op.input[i]; input.kind == OperandKind::Queue) {
      const WavePort &from = port(input.slot);
      int64_t words = input.share * wordsOf(input.width, elements);
      if (part)
        words = std::min<int64_t>(words, from.there - from.position);
      QueuePort &bound = worker.queues[size_t(input.slot)];
      bound = QueuePort{};
      bound.limit = words;
      if (words > 0)
        bound.data =
            const_cast<std::byte *>(wordsThere(state, int32_t(firstPort + input.slot), words, worker.pieced[i]));
    }
  if (op.output >= 0) {
    QueuePort &bound = worker.queues[size_t(op.output)];
    bound = QueuePort{};
    bound.data = port(op.output).room(state.arena, worker.chunks, wordsOf(op.width, elements));
  }
}

void WaveCore::bindFifos(const WaveOp &op) {
  for (int i = 0; i < op.inputs; ++i)
    if (op.input[i].kind == OperandKind::Fifo)
      worker.fifos[size_t(role.fifos[size_t(op.input[i].slot)])] = fifos[op.input[i].slot];
  if (op.push >= 0)
    worker.fifos[size_t(role.fifos[size_t(op.push)])] = fifos[op.push];
}

// Moves queues on past a complete operation.
void WaveCore::finish(const WaveOp &op, int64_t elements) {
  for (int i = 0; i < op.inputs; ++i)
    if (const WaveOp::Input &input = op.input[i]; input.kind == OperandKind::Queue) {
      WavePort &from = port(input.slot);
      from.position += int32_t(input.share * wordsOf(input.width, elements));
      from.wanted = kNobodyWaits;
      taken |= uint64_t(1) << (input.slot & 63);
    }
  if (op.output >= 0) {
    WavePort &to = port(op.output);
    to.position += int32_t(wordsOf(op.width, elements));
    to.there = to.position;
    sent |= uint64_t(1) << (op.output & 63);
  }
}

namespace {

void rewind(FifoPort &fifo, bool allowed) {
  if (allowed && fifo.pushed == fifo.popped)
    fifo = FifoPort{};
}

} // namespace

bool WaveCore::runOperation(const WaveOp &op, WaveThread &thread, int64_t elements) {
  bindQueues(op, elements, false);
  bindFifos(op);
  if (worker.recorder && records) {
    record(op, thread);
    bindQueues(op, elements, false);
    bindFifos(op);
  }
  if (op.zeros >= 0 && context.traces.empty())
    emulator::runOperation(*role.program, *role.threads[0][size_t(op.zeros)].op, context.kernels, frame,
                           worker.scratch.get(), cursorOf(thread));
  emulator::runOperation(*role.program, *op.op, context.kernels, frame, worker.scratch.get(), cursorOf(thread));
  for (int i = 0; i < op.inputs; ++i)
    if (const WaveOp::Input &input = op.input[i]; input.kind == OperandKind::Fifo) {
      fifos[input.slot].popped += elements * input.share * input.width;
      rewind(fifos[input.slot], context.traces.empty() && op.push != input.slot);
    }
  if (op.push >= 0)
    fifos[op.push].pushed += elements * op.width;
  finish(op, elements);
  return true;
}

// Writes down an operation whose queues and FIFOs are bound.
void WaveCore::record(const WaveOp &op, const WaveThread &thread) {
  if (op.op->instruction && op.op->instruction->opcode == Opcode::SendControl)
    return; // moves nothing that a core sees
  WaveRecorder &recorder = *worker.recorder;
  ShapeVariant own;
  const auto located = locateOperation(*role.program, *op.op, context.kernels, frame, cursorOf(thread), own);
  if (!located)
    return recorder.giveUp();
  RecordedStep step;
  step.op = op.op;
  const auto place = [&](const OperandPlace &operand, const std::byte *at) {
    std::byte *begin = const_cast<std::byte *>(at);
    const bool window =
        operand.kind == OperandKind::Memory && role.role->buffers[size_t(operand.slot)].kind == BufferKind::Resident;
    return recorder.places(
        {&begin, 1},
        window ? context.prepared.windows[size_t(&role - plan.roles.data())][size_t(operand.slot)].iterationStep() : 0);
  };
  // Words that stay, which are not in scratch.
  for (int k : {0, 1})
    if (const int32_t copy = op.wordsOf[k]; copy >= 0 && context.traces.empty())
      if (const int32_t narrow = role.threads[0][size_t(copy)].narrow;
          narrow >= 0 && recorder.stayingWords(role.narrowOf(ordinal, narrow)))
        return recorder.giveUp();
  const auto source = [&](const OperandPlace &operand, const std::byte *at, int64_t bytes) {
    if (operand.kind != OperandKind::Queue)
      return place(operand, at);
    const auto number = int32_t(firstPort + operand.slot);
    return recorder.words({&number, 1}, (bytes + 3) / 4);
  };
  if (op.op->kind == DecodedOp::Kind::Nest) {
    step.kind = RecordedStep::Kind::Nest;
    step.nest = located->nest;
    step.fresh = op.zeros >= 0;
    step.a = place(op.op->a, located->a);
    if (located->b)
      step.b = place(op.op->b, located->b);
  } else {
    const RowOp &row = op.op->row;
    step.kind = RecordedStep::Kind::Row;
    step.row = located->row == &own ? recorder.keep(own) : located->row;
    const int64_t n = step.row->shape.elements;
    step.a = source(op.op->a, located->a, n * row.bytes[1]);
    if (row.usesB)
      step.b = source(op.op->b, located->b, n * row.bytes[2]);
    if (row.kind == RowOp::Kind::Gather || row.kind == RowOp::Kind::Scatter) {
      step.extra = recorder.extra({{}, {}, located->indexed, recorder.origins({&located->indexed.origin, 1})});
    }
  }
  step.dst = place(op.op->dst, located->dst);
  recorder.add(step);
}

bool WaveCore::runPart(const WaveOp &op, WaveThread &thread, int64_t elements) {
  if (worker.recorder)
    worker.recorder->giveUp();
  bindQueues(op, elements, true);
  bindFifos(op);
  ThreadCursor cursor = cursorOf(thread);
  const bool complete = executeScalar(*op.op->instruction, frame, cursor);
  if (cursor.element > thread.element && op.output >= 0) {
    port(op.output).there = port(op.output).position + int32_t(worker.queues[size_t(op.output)].visible);
    sent |= uint64_t(1) << (op.output & 63);
  }
  thread.element = cursor.element;
  for (int i = 0; i < op.inputs; ++i)
    if (op.input[i].kind == OperandKind::Fifo)
      fifos[op.input[i].slot] = worker.fifos[size_t(role.fifos[size_t(op.input[i].slot)])];
  if (op.push >= 0)
    fifos[op.push] = worker.fifos[size_t(role.fifos[size_t(op.push)])];
  if (complete)
    finish(op, elements);
  return complete;
}

// Copies bytes from a sink's port, `fromByte` bytes behind its position on. What comes before them is read no more.
void WaveCore::copyWords(int32_t number, int64_t fromByte, std::byte *to, int64_t bytes) {
  WavePort &from = state.ports[size_t(number)];
  const std::span<const WaveSegment> segments =
      state.streams->composition(state.streams->portComposition[size_t(number)]);
  int64_t at = int64_t(from.position) * 4 + fromByte;
  while (bytes > 0) {
    while (at >= int64_t(from.base + segments[size_t(from.segment)].count) * 4)
      from.base += segments[size_t(from.segment++)].count;
    const WaveSegment &segment = segments[size_t(from.segment)];
    const int64_t skip = at - int64_t(from.base) * 4;
    const WavePort::Piece piece = state.ports[size_t(segment.port)].piece(segment.begin + skip / 4);
    const int64_t count = std::min({bytes, int64_t(segment.count) * 4 - skip, piece.words * 4 - skip % 4});
    std::memcpy(to, piece.data + skip % 4, size_t(count));
    to += count;
    at += count;
    bytes -= count;
  }
}

// Writes down a copy of bytes, from byte `from` of what has not been taken on. Only whole words can be.
void WaveCore::recordCopy(const WaveOp &op, std::byte *to, int64_t from, int64_t bytes) {
  WaveRecorder &recorder = *worker.recorder;
  RecordedStep step;
  step.bytes = bytes;
  step.dst = recorder.places({&to, 1});
  if (op.input[0].kind == OperandKind::Queue) {
    if (from != 0)
      return recorder.giveUp();
    const auto number = int32_t(firstPort + op.input[0].slot);
    step.a = recorder.words({&number, 1}, (bytes + 3) / 4);
  } else {
    const FifoPort &fifo = fifos[op.input[0].slot];
    std::byte *begin = frame.buffers[role.fifos[size_t(op.input[0].slot)]] + fifo.popped;
    step.a = recorder.places({&begin, 1});
  }
  recorder.add(step);
}

bool WaveCore::copy(const WaveOp &op, WaveThread &thread, int64_t elements) {
  const WaveOp::Input &input = op.input[0];
  const int64_t width = input.width, end = elementsThere(op, thread, elements), bytes = (end - thread.element) * width;
  if (bytes == 0)
    return false;
  std::byte *to = nullptr;
  if (op.push >= 0)
    to = frame.buffers[role.fifos[size_t(op.push)]] + fifos[op.push].pushed;
  else if (op.output >= 0)
    to = port(op.output).room(state.arena, worker.chunks, wordsOf(op.width, elements)) + thread.element * width;
  if (worker.recorder && to)
    recordCopy(op, to, thread.element * width, bytes);
  if (input.kind == OperandKind::Queue) {
    if (to)
      copyWords(int32_t(firstPort + input.slot), thread.element * width, to, bytes);
  } else {
    FifoPort &from = fifos[input.slot];
    if (to)
      std::memmove(to, frame.buffers[role.fifos[size_t(input.slot)]] + from.popped, size_t(bytes));
    from.popped += bytes;
    rewind(from, context.traces.empty() && op.push != input.slot);
  }
  if (op.push >= 0)
    fifos[op.push].pushed += bytes;
  if (op.output >= 0)
    std::memset(to + bytes, 0, size_t((4 - end * width % 4) % 4));
  thread.element = end;
  if (end == elements) {
    finish(op, elements);
    return true;
  }
  if (op.output >= 0) {
    port(op.output).there = port(op.output).position + int32_t(end * width / 4);
    sent |= uint64_t(1) << (op.output & 63);
  }
  return false;
}

} // namespace wsc::emulator
