// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes the threads of a core a Kahn network: no memory that is written in two threads, one pushing and one
// popping thread per FIFO with as many elements pushed as popped, one thread per queue, one queue per colour and
// direction.
//
// And scratch memory written before it is read, and so are residents that hold nothing before this configuration: in
// program order the first instruction on a scratch buffer does not read it, and no instruction reads bytes outside the
// hull of all bytes that are ever written afresh (by an instruction that does not read its result).
#include "runtime/format/verifier/Forms.h"
#include "runtime/format/verifier/Rules.h"

#include <map>

namespace wsc::format::verifier {

namespace {

// Threads that do one thing with a buffer or queue.
struct Users {
  int first = -1, second = -1;
  void insert(int thread) {
    if (first < 0)
      first = thread;
    else if (thread != first && second < 0)
      second = thread;
  }
  int count() const { return (first >= 0) + (second >= 0); }
  std::string names() const {
    return count() == 0   ? "no thread"
           : count() == 1 ? text("thread ", first)
                          : text("threads ", first, " and ", second);
  }
};

// Bytes of a buffer between the lowest and the highest that are written afresh on some core.
struct Hull {
  Wide lo = kMost, hi = -kMost;
};

struct Access {
  const Instruction *instruction;
  const Operand *operand;
  LoopNest loops;
  size_t thread, number;
};

struct Transfer {
  const Instruction *instruction;
  LoopNest loops;
  bool push;
};

class SharingRules {
public:
  explicit SharingRules(const RoleScope &scope)
      : scope(scope), role(scope.role), memory(role.buffers.size()), pushes(role.buffers.size()),
        pops(role.buffers.size()), queues(role.queues.size()), written(role.buffers.size()),
        isResult(role.buffers.size()), fresh(role.buffers.size()), transfers(role.buffers.size()) {}

  void run() {
    for (size_t t = 0; t < role.threads.size(); ++t)
      forEachInstruction(role.threads[t], [&](const Instruction &instruction, size_t i, const LoopNest &loops) {
        bool executes = everExecutes(instruction, loops, role.cores);
        source(instruction, instruction.a, t, i, loops, executes);
        source(instruction, instruction.b, t, i, loops, executes);
        result(instruction, t, i, loops, executes);
      });
    for (size_t b = 0; b < role.buffers.size(); ++b)
      checkBuffer(b);
    for (const Access &read : reads)
      checkRead(read);
    checkQueues();
  }

private:
  void refuse(const char *rule, const std::string &key, const std::string &what) const {
    scope.report().add(rule, scope.key(key), text(scope.name(), ": ", what));
  }

  // Scratch, and windows of residents that another configuration has not filled before.
  bool startsEmpty(const Buffer &buffer) const {
    return buffer.kind == BufferKind::Scratch || (buffer.kind == BufferKind::Resident && beginsIn(buffer) >= 0);
  }
  int32_t beginsIn(const Buffer &buffer) const {
    return scope.scope.lives.begins(scope.scope.number(), buffer.resident);
  }
  std::string nameOf(const Buffer &buffer) const {
    return text(buffer.kind == BufferKind::Scratch ? "scratch buffer " : "buffer ", buffer.name);
  }
  std::string emptyReason(const Buffer &buffer) const {
    const Executable &executable = scope.scope.executable;
    return text("resident ", executable.residents[size_t(buffer.resident)].name, " holds nothing before it in entry ",
                executable.entries[size_t(beginsIn(buffer))].name, ", write all of it first");
  }

  void readScratch(const Instruction &instruction, const Operand &operand, size_t t, size_t i, const LoopNest &loops,
                   bool executes) {
    const Buffer &buffer = role.buffers[operand.buffer];
    if (!startsEmpty(buffer) || !executes)
      return;
    if (written[operand.buffer]) {
      reads.push_back({&instruction, &operand, loops, t, i});
      return;
    }
    scope.report().add("scratch-unwritten", scope.key(buffer.name),
                       text(scope.at(t, i), ": reads ", nameOf(buffer), " before any instruction has written it; ",
                            buffer.kind == BufferKind::Scratch
                                ? "scratch holds nothing across samples, write it first or make it state"
                                : emptyReason(buffer)));
  }

  void source(const Instruction &instruction, const Operand &operand, size_t t, size_t i, const LoopNest &loops,
              bool executes) {
    if (operand.kind == OperandKind::Memory) {
      memory[operand.buffer].insert(int(t));
      readScratch(instruction, operand, t, i, loops, executes);
    } else if (operand.kind == OperandKind::Fifo) {
      pops[operand.buffer].insert(int(t));
      transfers[operand.buffer].push_back({&instruction, loops, false});
    } else if (operand.kind == OperandKind::Queue) {
      queues[operand.queue].insert(int(t));
    }
  }

  void result(const Instruction &instruction, size_t t, size_t i, const LoopNest &loops, bool executes) {
    const Operand &operand = instruction.dst;
    if (operand.kind == OperandKind::Memory) {
      memory[operand.buffer].insert(int(t));
      isResult[operand.buffer] = true;
      if (opcodeInfo(instruction.opcode).readsDst)
        readScratch(instruction, operand, t, i, loops, executes);
      if (executes) {
        written[operand.buffer] = true;
        if (!opcodeInfo(instruction.opcode).readsDst)
          extend(fresh[operand.buffer], instruction, loops);
      }
    } else if (operand.kind == OperandKind::Fifo) {
      pushes[operand.buffer].insert(int(t));
      transfers[operand.buffer].push_back({&instruction, loops, true});
    } else if (operand.kind == OperandKind::Queue) {
      queues[operand.queue].insert(int(t));
    }
  }

  void extend(Hull &hull, const Instruction &instruction, const LoopNest &loops) {
    if (isIndexed(instruction, instruction.dst)) {
      hull = {0, kMost}; // anywhere
      return;
    }
    Walk walk = walkOf(instruction, instruction.dst, loops, true);
    hull.lo = std::min(hull.lo, minimum(walk.lo, role.cores).value);
    hull.hi = std::max(hull.hi, maximum(walk.hi, role.cores).value);
  }

  void checkRead(const Access &read) {
    const Hull &hull = fresh[read.operand->buffer];
    const Buffer &buffer = role.buffers[read.operand->buffer];
    if (isIndexed(*read.instruction, *read.operand))
      return; // the indices are data
    Walk walk = walkOf(*read.instruction, *read.operand, read.loops, true);
    auto point = exceeds(walk.lo * -1, -hull.lo, *read.instruction, read.loops, role.cores, scope.report());
    if (!point)
      point = exceeds(walk.hi, hull.hi, *read.instruction, read.loops, role.cores, scope.report());
    if (!point)
      return;
    std::string known =
        hull.lo > hull.hi ? "none is" : text("only bytes ", number(hull.lo), " to ", number(hull.hi), " are");
    scope.report().add(
        "scratch-unwritten", scope.key(buffer.name),
        text(scope.at(read.thread, read.number), " on ", coreName(role.cores, point->index), ": reads bytes ",
             number(walk.lo.at(point->index)), " to ", number(walk.hi.at(point->index)), " of ", nameOf(buffer),
             ", of which ", known, " ever written; ",
             buffer.kind == BufferKind::Scratch ? "write all of it first or make it state" : emptyReason(buffer)));
  }

  void checkBuffer(size_t b) {
    const Buffer &buffer = role.buffers[b];
    if (buffer.kind != BufferKind::Fifo) {
      // What stays in a resident may be read by all threads while none writes it.
      const bool onlyRead =
          buffer.kind == BufferKind::Constant || (buffer.kind == BufferKind::Resident && !isResult[b]);
      if (!onlyRead && memory[b].count() > 1)
        refuse("shared-memory", buffer.name,
               text("buffer ", buffer.name, " is used by ", memory[b].names(),
                    "; threads share only FIFOs and what none of them writes"));
      return;
    }
    if (buffer.bytes < elementBytes(buffer.type))
      refuse("fifo-capacity", buffer.name,
             text("FIFO ", buffer.name, " of ", buffer.bytes, " bytes holds no element of ", elementBytes(buffer.type),
                  " bytes; give it room for at least one"));
    if (pushes[b].count() != 1 || pops[b].count() != 1) {
      refuse("fifo-threads", buffer.name,
             text("FIFO ", buffer.name, " is pushed by ", pushes[b].names(), " and popped by ", pops[b].names(),
                  "; exactly one thread pushes and exactly one pops"));
      return;
    }
    unsigned mask = 0;
    for (const Transfer &transfer : transfers[b])
      mask |= countDependsOn(*transfer.instruction, transfer.loops, role.cores);
    forEachIndex(role.cores, mask, [&](const LatticeIndex &index) {
      int64_t pushed = 0, popped = 0;
      if (!scope.report().spend(int64_t(transfers[b].size())))
        return false;
      for (const Transfer &transfer : transfers[b]) {
        int64_t &side = transfer.push ? pushed : popped;
        side = add(side, elementsAt(*transfer.instruction, transfer.loops, index));
      }
      if (pushed == popped && pushed < kMost)
        return true;
      refuse("fifo-balance", buffer.name,
             text("on ", coreName(role.cores, index), ", FIFO ", buffer.name, " takes ", pushed,
                  " elements per sample and gives ", popped, "; both must be the same"));
      return false;
    });
  }

  void checkQueues() {
    const target::Target &target = scope.target();
    std::map<std::pair<bool, int>, size_t> colours, numbers;
    int32_t filters = 0;
    for (size_t q = 0; q < role.queues.size(); ++q) {
      const Queue &queue = role.queues[q];
      const char *kind = queue.output ? "output" : "input";
      std::string name = text(kind, " queue ", int32_t(queue.index), " of colour ", int32_t(queue.colour));
      size_t limit = (queue.output ? target.outputQueueWords : target.inputQueueWords).size();
      if (queues[q].count() != 1)
        refuse("queue-threads", text(q),
               text(name, " is used by ", queues[q].names(), "; exactly one thread uses a queue"));
      if (queue.index >= limit)
        refuse("queue-number", text(q),
               text(name, " does not exist, the target has ", kind, " queues 0 to ", int64_t(limit) - 1));
      if (!numbers.emplace(std::pair(queue.output, int(queue.index)), q).second)
        refuse("queue-number", text(q), text(name, ": another ", kind, " queue of the role has the same number"));
      if (!colours.emplace(std::pair(queue.output, int(queue.colour)), q).second)
        refuse("queue-colour", text(q),
               text(name, ": another ", kind,
                    " queue of the role binds the same colour; use one queue or another colour"));
      if (queue.filter.period != 0) {
        ++filters;
        checkFilter(queue, q, name);
      }
    }
    if (filters > target.inputFilters)
      refuse("filters", "",
             text(filters, " input queues have filters, the target has ", target.inputFilters,
                  " for a core; let the program discard words"));
  }

  void checkFilter(const Queue &queue, size_t q, const std::string &name) {
    const Filter &filter = queue.filter;
    const Extreme begin = minimum(filter.begin, role.cores), words = minimum(filter.words, role.cores);
    Affine end = filter.begin;
    end.constant += filter.words.constant;
    for (int d = 0; d < kMaxDims; ++d)
      end.perDim[d] += filter.words.perDim[d];
    const Extreme last = maximum(end, role.cores);
    if (queue.output)
      refuse("filters", text(q), text(name, " has a filter; only input queues do"));
    else if (filter.period < 0 || begin.value < 0 || words.value < 1 || last.value > filter.period)
      refuse("filters", text(q),
             text(name, ": the filter passes words ", number(begin.value), " to ", number(last.value), " of ",
                  filter.period, "; it must pass at least one and lie inside the period"));
  }

  const RoleScope &scope;
  const Role &role;
  std::vector<Users> memory, pushes, pops, queues;
  std::vector<bool> written, isResult; // so far by an instruction that executes; by any
  std::vector<Hull> fresh;
  std::vector<Access> reads;
  std::vector<std::vector<Transfer>> transfers;
};

} // namespace

void checkSharing(const RoleScope &scope) { SharingRules(scope).run(); }

} // namespace wsc::format::verifier
