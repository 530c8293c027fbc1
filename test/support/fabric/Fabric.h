// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the simulated fabric: routers, ports of the wafer and cores, each with a step in two halves. The first
// half decides on what is there at the start of a cycle and changes nothing; the second does what was decided.
#pragma once

#include "runtime/emulator/InterpreterMemory.h"
#include "runtime/timing/Cost.h"
#include "test/support/fabric/FabricReference.h"
#include "test/support/fabric/WordQueue.h"

#include "absl/status/status.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>

namespace wsc::fabric {

// ---- Routers -------------------------------------------------------------------------------------------------------

// Where a router's output leads: a queue, or a port of the wafer.
struct Output {
  WordQueue *queue = nullptr;
  int port = -1;
};

// What passes to the core: of every `period` data words that meet RAMP, those from `begin` up to `end`.
struct WordFilter {
  int64_t period = 0; // 0: all pass
  int64_t begin = 0, end = 0;
  int64_t met = 0; // data words so far
};

struct RouterColour {
  int colour = 0;
  const std::vector<format::SwitchPosition> *positions = nullptr;
  size_t position = 0; // in force
  WordFilter filter;
  std::array<WordQueue, format::kNumPorts> in; // by input port
  std::array<Output, format::kNumPorts> out;   // by output port
};

struct Router {
  int32_t row = 0, col = 0;
  int pointer = 0;                   // the colour looked at first
  std::vector<RouterColour> colours; // by number
};

// What a router does in one cycle.
struct RouterDecision {
  struct Move {
    size_t colour = 0;      // index into Router::colours
    bool advance = false;   // a control word at a switch
    bool end = false;       // … whose count is used up
    bool meetsRamp = false; // a data word that the filter counts
    bool filtered = false;  // … and keeps from the core
    format::PortMask outputs = 0;
  };
  std::vector<Move> moves;
  int firstLoser = -1; // its colour's number
  int losers = 0, unevenMulticasts = 0;
  int filteredPastRamp = 0; // filtered words that move though RAMP has no space or is taken
};
using PortOpen = std::function<bool(int port)>;
RouterDecision decide(const Router &router, int64_t t, const PortOpen &open);

// ---- Ports of the wafer
// ----------------------------------------------------------------------------------------------

struct WaferPort {
  const format::IoBinding *binding = nullptr;
  format::LatticeIndex index{};
  format::ElementType type = format::ElementType::F32;
  int router = -1;
  WordQueue *queue = nullptr;  // input: of the edge router
  std::vector<uint32_t> words; // input: of all samples; output: what is out
  size_t passed = 0;           // input: words that have entered
  int64_t wordsPerSample = 0;
};

struct PortDecision {
  std::vector<bool> served; // per port
  int pointer = 0;
  bool refused = false; // a ready port went without
};

// ---- Cores
// -----------------------------------------------------------------------------------------------------------

struct Core;

// What a thread waits for at the start of a cycle.
enum class Need { Nothing, Words, Room };

struct ThreadState {
  const format::Thread *code = nullptr;
  struct Loop {
    size_t begin = 0;
    int64_t trips = 0, iteration = 0;
  };
  size_t next = 0; // instruction
  std::vector<Loop> loops;
  int sample = 0;
  bool finished = false;     // all samples
  bool afterQueue = false;   // the vector instruction executed before had a queue operand
  int64_t slotsLeft = 0;     // slots that need nothing: set-up, a loop's, the rest of a batch,
  int slotsPriority = 0;     // and their priority
  int64_t bankSlotsLeft = 0; // the last of these that a bank conflict costs
  bool running = false;      // inside a vector instruction
  timing::InstructionRate rate;
  std::array<int64_t, format::kMaxDims> extent{};
  int64_t element = 0, elements = 0;
  std::array<std::array<std::byte, 8>, 3> word{}; // the word in hand of dst, a, b
};

struct Core {
  const format::Executable *executable = nullptr;
  const format::Role *role = nullptr;
  format::LatticeIndex index{};
  int32_t row = 0, col = 0;
  std::unique_ptr<emulator::CoreMemory> memory;
  std::vector<std::unique_ptr<WordQueue>> inputs; // per queue of the role; null for output queues
  std::vector<WordQueue *> outputs;               // the router's RAMP queue; null for input queues
  std::vector<ThreadState> threads;
  size_t pointer = 0;
  int64_t firstSlot = -1, lastSlot = -1;
  CoreStalls stalls, sinceLastSlot; // stall cycles count once another slot follows
  std::vector<int64_t> sampleDone;  // the cycle after the last thread's last slot
};

struct CoreDecision {
  int thread = -1; // which gets the slot
  size_t pointer = 0;
  int wanting = 0;
  bool byPriority = false;   // the cyclic order alone would have given it to another
  Need need = Need::Nothing; // of the first unfinished thread, when none gets it
};

// Takes the thread to its next instruction that needs a slot; `t` is the cycle of its last slot.
void fetch(Core &core, ThreadState &thread, int64_t t, int samples);
Need needOf(const Core &core, const ThreadState &thread, int64_t t);
// Of the slot that the thread asks for.
int priorityOf(const ThreadState &thread);
CoreDecision decide(const Core &core, int64_t t);
absl::Status act(Core &core, const CoreDecision &decision, int64_t t, int samples, FabricCounts &counts);

// Elements of the next batch as far as FIFOs allow; 0: not even one (or, with a queue operand, not the whole batch).
int64_t batchElements(const Core &core, const ThreadState &thread);
bool hasQueueOperand(const format::Instruction &instruction);
// Queue words that elements [begin, begin + count) of an instruction's `elements` take or complete.
int64_t wordsTaken(format::ElementType type, int64_t begin, int64_t count);
int64_t wordsSent(format::ElementType type, int64_t begin, int64_t count, int64_t elements);
// Executes `count` elements of the running instruction.
absl::Status execute(Core &core, ThreadState &thread, int64_t count, int64_t t);

// ---- The whole
// -------------------------------------------------------------------------------------------------------

struct Fabric {
  const format::Executable *executable = nullptr;
  const format::Configuration *configuration = nullptr;
  const format::Entry *entry = nullptr;
  int samples = 0;
  int64_t ioRate = 0; // words per cycle in units of 2⁻²⁰
  std::vector<Router> routers;
  std::vector<WaferPort> ports;
  std::vector<Core> cores; // by row and column
  int portPointer = 0;
};

absl::StatusOr<std::unique_ptr<Fabric>> buildFabric(const format::Executable &executable, int entry,
                                                    const std::vector<std::vector<emulator::HostTensor>> &inputs);
PortDecision decidePorts(const Fabric &fabric, int64_t t);
// The words of one sample of a port, and their way back into a tensor.
std::vector<uint32_t> wordsOf(const WaferPort &port, const emulator::HostTensor &tensor);
void storeWords(const WaferPort &port, const uint32_t *words, emulator::HostTensor &tensor);

} // namespace wsc::fabric
