// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scalar interpreter. A core is its buffers, its queues and its threads; each thread keeps an instruction number,
// its loop counters and its place in the running instruction. Threads take turns: each runs element by element until it
// waits for a word, an element or space. An element has three steps (take a, take b, compute and write), and a thread
// may wait between any two, so a core blocks only where the Kahn network of its threads does. Nothing here is clever;
// every address is checked.
#include "runtime/emulator/Interpreter.h"

#include "runtime/emulator/InterpreterCheck.h"
#include "runtime/emulator/InterpreterMemory.h"
#include "runtime/numerics/Elements.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace wsc::emulator {

using format::Affine;
using format::Buffer;
using format::BufferKind;
using format::ElementType;
using format::Instruction;
using format::kMaxDims;
using format::LatticeIndex;
using format::Opcode;
using format::Operand;
using format::OperandKind;
using format::Role;

namespace {

using Index = std::array<int64_t, kMaxDims>;

// Empty when the value does not fit in 64 bits.
std::optional<int64_t> valueAt(const Affine &affine, const LatticeIndex &index) {
  WideAddress sum = affine.constant;
  for (int d = 0; d < kMaxDims; ++d)
    sum += WideAddress(affine.perDim[size_t(d)]) * index[size_t(d)];
  if (sum < INT64_MIN || sum > INT64_MAX)
    return std::nullopt;
  return int64_t(sum);
}

struct LoopFrame {
  size_t begin = 0; // instruction number of the Loop
  int64_t trips = 0, iteration = 0;
};

// What a thread waits for.
struct Wait {
  OperandKind kind = OperandKind::None;
  int16_t buffer = -1, queue = -1;
  bool room = false; // for space rather than elements
};

struct ThreadState {
  size_t next = 0; // instruction number
  std::vector<LoopFrame> loops;
  // The running instruction.
  bool running = false;
  Index extent{}, position{};
  int step = 0; // 0: take a, 1: take b, 2: compute and write
  std::array<int64_t, 3> base{};
  uint64_t a = 0, b = 0;
  Wait wait;
};

class Core {
public:
  Core(const Role &role, const LatticeIndex &index, CoreImage image,
       const std::vector<std::vector<std::byte>> &received, int64_t iteration)
      : role(role), index(index), memory(role, std::move(image), iteration), received(received),
        taken(role.queues.size()), sent(role.queues.size()), threads(role.threads.size()) {}

  absl::StatusOr<CoreRun> run() {
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t t = 0; t < threads.size(); ++t)
        while (threads[t].next < role.threads[t].size()) {
          absl::StatusOr<bool> advanced = advance(t);
          if (!advanced.ok())
            return advanced.status();
          if (!*advanced)
            break;
          progress = true;
        }
    }
    if (absl::Status status = checkFinished(); !status.ok())
      return status;
    CoreRun result;
    result.queueWords = std::move(sent);
    for (size_t q = 0; q < role.queues.size(); ++q)
      if (!role.queues[q].output)
        result.queueWords[q].assign(received[q].begin() + std::ptrdiff_t(taken[q]), received[q].end());
    result.image = memory.takeImage();
    return result;
  }

private:
  const Role &role;
  const LatticeIndex &index;
  CoreMemory memory;
  const std::vector<std::vector<std::byte>> &received;
  std::vector<size_t> taken;                // per queue: bytes consumed
  std::vector<std::vector<std::byte>> sent; // per queue
  std::vector<ThreadState> threads;

  std::string where(size_t thread) const { return instructionName(role, index, thread, threads[thread].next); }
  absl::Status error(size_t thread, const std::string &message) const {
    return absl::InvalidArgumentError(absl::StrCat(where(thread), ": ", message));
  }
  absl::Status located(size_t thread, const absl::Status &status) const {
    return absl::Status(status.code(), absl::StrCat(where(thread), ": ", std::string(status.message())));
  }

  // Executes until the current element or control instruction is done. False: the thread waits.
  absl::StatusOr<bool> advance(size_t t) {
    ThreadState &thread = threads[t];
    const Instruction &instruction = role.threads[t][thread.next];
    if (instruction.opcode == Opcode::Loop)
      return beginLoop(t);
    if (instruction.opcode == Opcode::EndLoop) {
      LoopFrame &frame = thread.loops.back();
      if (++frame.iteration < frame.trips) {
        thread.next = frame.begin + 1;
      } else {
        thread.loops.pop_back();
        ++thread.next;
      }
      return true;
    }
    if (instruction.opcode == Opcode::SendControl) { // carries no data; the switches it moves are not the core's
      ++thread.next;
      return true;
    }
    if (!thread.running) {
      absl::StatusOr<bool> hasElements = begin(t);
      if (!hasElements.ok())
        return hasElements;
      if (!*hasElements) {
        ++thread.next;
        return true;
      }
    }
    return element(t);
  }

  absl::StatusOr<bool> beginLoop(size_t t) {
    ThreadState &thread = threads[t];
    const format::Thread &code = role.threads[t];
    std::optional<int64_t> trips = valueAt(code[thread.next].extent[0], index);
    if (!trips || *trips < 0)
      return error(t, absl::StrCat("trip count ", trips ? absl::StrCat(*trips) : "beyond 64 bits",
                                   " is out of range, a loop runs 0 or more times"));
    if (*trips > 0) {
      thread.loops.push_back({thread.next, *trips, 0});
      ++thread.next;
      return true;
    }
    int depth = 0;
    do {
      depth += code[thread.next].opcode == Opcode::Loop;
      depth -= code[thread.next].opcode == Opcode::EndLoop;
      ++thread.next;
    } while (depth > 0);
    return true;
  }

  // Sets up the iteration space. False: it is empty.
  absl::StatusOr<bool> begin(size_t t) {
    ThreadState &thread = threads[t];
    const Instruction &instruction = role.threads[t][thread.next];
    bool empty = false;
    for (size_t d = 0; d < kMaxDims; ++d) {
      std::optional<int64_t> extent = valueAt(instruction.extent[d], index);
      if (!extent || *extent < 0)
        return error(t, absl::StrCat("extent ", d, " is ", extent ? absl::StrCat(*extent) : "beyond 64 bits",
                                     ", it must be 0 or more"));
      thread.extent[d] = *extent;
      empty |= *extent == 0;
    }
    const Operand *operands[3] = {&instruction.dst, &instruction.a, &instruction.b};
    for (size_t i = 0; i < 3; ++i) {
      std::optional<int64_t> base = valueAt(operands[i]->base, index);
      if (!base)
        return error(t, "the base of an operand does not fit in 64 bits");
      thread.base[i] = *base;
    }
    thread.position = {};
    thread.step = 0;
    thread.running = !empty;
    return !empty;
  }

  absl::StatusOr<bool> element(size_t t) {
    ThreadState &thread = threads[t];
    const Instruction &instruction = role.threads[t][thread.next];
    Opcode opcode = instruction.opcode;
    int sources = format::opcodeInfo(opcode).sources;
    if (thread.step == 0) {
      if (opcode != Opcode::Gather) {
        absl::StatusOr<bool> taken = take(t, instruction.a, 1, format::typeOfA(instruction), thread.a);
        if (!taken.ok() || !*taken)
          return taken;
      }
      thread.step = 1;
    }
    if (thread.step == 1) {
      if (sources > 1) {
        absl::StatusOr<bool> taken = take(t, instruction.b, 2, format::typeOfB(instruction), thread.b);
        if (!taken.ok() || !*taken)
          return taken;
      }
      thread.step = 2;
    }
    absl::StatusOr<bool> given = computeAndWrite(t);
    if (!given.ok() || !*given)
      return given;
    thread.step = 0;
    for (size_t d = kMaxDims; d-- > 0;) {
      if (++thread.position[d] < thread.extent[d])
        return true;
      thread.position[d] = 0;
    }
    finish(instruction);
    thread.running = false;
    ++thread.next;
    return true;
  }

  // Queues move whole words per instruction.
  void finish(const Instruction &instruction) {
    auto roundUp = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
    for (const Operand *source : {&instruction.a, &instruction.b})
      if (source->kind == OperandKind::Queue) {
        size_t &bytes = taken[size_t(source->queue)];
        bytes = std::min(roundUp(bytes), received[size_t(source->queue)].size());
      }
    if (instruction.dst.kind == OperandKind::Queue) {
      std::vector<std::byte> &bytes = sent[size_t(instruction.dst.queue)];
      bytes.resize(roundUp(bytes.size()));
    }
  }

  // Byte address of the current element, or its origin when an index takes the place of the innermost stride.
  WideAddress address(const ThreadState &thread, const Operand &operand, size_t slot, bool indexed) const {
    WideAddress sum = thread.base[slot];
    for (size_t d = 0; d < (indexed ? kMaxDims - 1 : kMaxDims); ++d)
      sum += WideAddress(thread.position[d]) * operand.stride[d];
    for (size_t k = 0; k < thread.loops.size(); ++k)
      sum += WideAddress(thread.loops[k].iteration) * operand.loopStep[k];
    return sum;
  }
  absl::StatusOr<WideAddress> indexedAddress(const ThreadState &thread, const Operand &operand, size_t slot,
                                             ElementType type) const {
    return memory.indexedAddress(operand, address(thread, operand, slot, true), type, int32_t(uint32_t(thread.b)));
  }

  // Reads the next element of a source. False: it waits.
  absl::StatusOr<bool> take(size_t t, const Operand &operand, size_t slot, ElementType type, uint64_t &payload) {
    ThreadState &thread = threads[t];
    switch (operand.kind) {
    case OperandKind::Immediate:
      payload = numerics::encodeImmediate(operand.immediate, type);
      return true;
    case OperandKind::Fifo:
      if (memory.pop(operand, type, payload))
        return true;
      thread.wait = {operand.kind, operand.buffer, -1, false};
      return false;
    case OperandKind::Queue: {
      const std::vector<std::byte> &words = received[size_t(operand.queue)];
      size_t &position = taken[size_t(operand.queue)];
      auto bytes = size_t(format::elementBytes(type));
      if (words.size() - position < bytes) {
        thread.wait = {operand.kind, -1, operand.queue, false};
        return false;
      }
      payload = numerics::loadElement(words.data() + position, type);
      position += bytes;
      return true;
    }
    default: {
      absl::StatusOr<uint64_t> loaded = memory.load(operand, address(thread, operand, slot, false), type);
      if (!loaded.ok())
        return located(t, loaded.status());
      payload = *loaded;
      return true;
    }
    }
  }

  // Computes the element and gives it to dst. False: it waits for space.
  absl::StatusOr<bool> computeAndWrite(size_t t) {
    ThreadState &thread = threads[t];
    const Instruction &instruction = role.threads[t][thread.next];
    const Operand &dst = instruction.dst;
    ElementType type = instruction.type;
    if (dst.kind == OperandKind::Fifo && !memory.hasRoom(dst)) {
      thread.wait = {dst.kind, dst.buffer, -1, true};
      return false;
    }
    uint64_t a = thread.a, old = 0;
    if (instruction.opcode == Opcode::Gather) {
      absl::StatusOr<WideAddress> source = indexedAddress(thread, instruction.a, 1, type);
      if (!source.ok())
        return located(t, source.status());
      absl::StatusOr<uint64_t> loaded = memory.load(instruction.a, *source, type);
      if (!loaded.ok())
        return located(t, loaded.status());
      a = *loaded;
    }
    absl::StatusOr<WideAddress> target = 0;
    if (dst.kind == OperandKind::Memory) {
      target = address(thread, dst, 0, false);
      if (instruction.opcode == Opcode::Scatter)
        target = indexedAddress(thread, dst, 0, type);
      if (!target.ok())
        return located(t, target.status());
      if (format::opcodeInfo(instruction.opcode).readsDst) {
        absl::StatusOr<uint64_t> loaded = memory.load(dst, *target, type);
        if (!loaded.ok())
          return located(t, loaded.status());
        old = *loaded;
      }
    }
    uint64_t value = numerics::applyScalar(instruction.opcode, type, old, a, thread.b, format::typeOfA(instruction));
    if (dst.kind == OperandKind::Memory) {
      if (absl::Status status = memory.store(dst, *target, type, value); !status.ok())
        return located(t, status);
    } else if (dst.kind == OperandKind::Fifo) {
      memory.push(dst, type, value);
    } else if (dst.kind == OperandKind::Queue) {
      std::vector<std::byte> &words = sent[size_t(dst.queue)];
      size_t end = words.size();
      words.resize(end + size_t(format::elementBytes(type)));
      numerics::storeElement(words.data() + end, type, value);
    }
    return true;
  }

  std::string waitName(const Wait &wait) const {
    if (wait.kind == OperandKind::Queue)
      return absl::StrCat("words on input queue ", wait.queue, " (colour ", int(role.queues[size_t(wait.queue)].colour),
                          "; all ", received[size_t(wait.queue)].size() / 4, " words received are taken)");
    return absl::StrCat(wait.room ? "space in" : "elements in", " FIFO '", role.buffers[size_t(wait.buffer)].name,
                        "' of ", memory.fifo(size_t(wait.buffer)).capacity, " elements");
  }

  // Every thread is through and no FIFO holds elements.
  absl::Status checkFinished() const {
    std::string waiting;
    for (size_t t = 0; t < threads.size(); ++t)
      if (threads[t].next < role.threads[t].size())
        absl::StrAppend(&waiting, waiting.empty() ? "" : "; ", where(t), " waits for ", waitName(threads[t].wait));
    if (!waiting.empty())
      return absl::FailedPreconditionError(absl::StrCat("the core cannot finish its sample: ", waiting));
    for (size_t i = 0; i < role.buffers.size(); ++i)
      if (int64_t left = memory.fifo(i).count; left > 0)
        return absl::FailedPreconditionError(absl::StrCat(coreName(role, index), ": ", left,
                                                          " elements are left in FIFO '", role.buffers[i].name,
                                                          "' after the sample; as many must be popped as pushed"));
    return absl::OkStatus();
  }
};

} // namespace

absl::StatusOr<CoreImage> initialImage(const format::Executable &executable, const Role &role,
                                       const LatticeIndex &index) {
  if (absl::Status status = checkBuffers(executable, role, index); !status.ok())
    return status;
  CoreImage image;
  for (const Buffer &buffer : role.buffers) {
    std::vector<std::byte> &bytes = image.buffers.emplace_back(size_t(buffer.bytes));
    if (buffer.kind != BufferKind::Constant)
      continue;
    std::optional<int64_t> offset = valueAt(buffer.sectionOffset, index);
    std::span<const std::byte> section = executable.sections[size_t(buffer.section)].bytes;
    if (!offset || *offset < 0 || *offset > int64_t(section.size()) - buffer.bytes)
      return absl::InvalidArgumentError(
          absl::StrCat(coreName(role, index), ": constant buffer '", buffer.name, "' of ", buffer.bytes,
                       " bytes at offset ", offset ? absl::StrCat(*offset) : "beyond 64 bits", " lies outside section ",
                       buffer.section, " of ", section.size(), " bytes"));
    std::copy_n(section.begin() + *offset, buffer.bytes, bytes.begin());
  }
  return image;
}

absl::StatusOr<CoreRun> interpretCore(const format::Executable &executable, const Role &role, const LatticeIndex &index,
                                      CoreImage image, const std::vector<std::vector<std::byte>> &received,
                                      int64_t iteration) {
  if (absl::Status status = checkBuffers(executable, role, index); !status.ok())
    return status;
  if (absl::Status status = checkProgram(role, index); !status.ok())
    return status;
  if (absl::Status status = checkContents(role, index, image, received); !status.ok())
    return status;
  return Core(role, index, std::move(image), received, iteration).run();
}

} // namespace wsc::emulator
