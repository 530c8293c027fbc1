// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The content of a `.wse`, as plain data: what the loader produces, the emitter fills, and every engine and verifier
// reads.
//
// Nothing is stored per core. A *role* is a program with its memory map for a lattice of cores; numbers that differ
// from core to core (addresses, weight offsets, extents) are affine in the lattice indices. A *router role* says the
// same for routers. Weights stay in the file and are only viewed.
//
// Semantics in short (docs/Execution.md has the whole):
//  - A program is a set of threads. Each thread is a straight list of instructions with static loops and runs once per
//    sample, for ever; instructions of a thread execute one after another and block until their words or space are
//    there.
//  - Threads of one core share nothing but FIFOs (bounded rings in SRAM with one pushing and one popping thread) and
//    read-only buffers. A thread may run ahead of another by as many samples as the FIFOs hold.
//  - A queue belongs to one thread and binds a colour. Words sent on an output queue enter the core's router at its
//  RAMP port
//    on that colour; words the router delivers to RAMP on a colour arrive in the input queue bound to it.
//  - A router forwards a colour from exactly one input port per switch position to a set of output ports. A control
//    word with count n advances (cyclically) the switch of each router with two or more positions on the colour it
//    passes, beginning at the sender's own, and decrements n there; at n = 0 it is absorbed, else forwarded by the
//    position in force before the advance, by all its outputs but RAMP. Routers with one position forward it likewise,
//    with the same count. Each sample leaves every switch where it began.
#pragma once

#include "runtime/format/Isa.h"
#include "runtime/target/Target.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace wsc::format {

constexpr int kMaxDims = 4; // descriptor dimensions, loop depth and lattice dimensions
constexpr uint32_t kFormatVersion = 5;

// Cores {(row + Σ index[d]·rowStep[d], col + Σ index[d]·colStep[d]) : 0 ≤ index[d] < count[d]}; unused dimensions have
// count 1. No core appears twice. Dimension order: outermost first; when columns vary they are the last dimension with
// colStep 1.
struct Lattice {
  struct Dim {
    int32_t count = 1, rowStep = 0, colStep = 0;
    bool operator==(const Dim &) const = default;
  };
  int32_t row = 0, col = 0;
  std::array<Dim, kMaxDims> dims;

  int64_t size() const;
  bool operator==(const Lattice &) const = default;
};
using LatticeIndex = std::array<int32_t, kMaxDims>;

// constant + Σ perDim[d]·index[d].
struct Affine {
  int64_t constant = 0;
  std::array<int64_t, kMaxDims> perDim{};

  Affine() = default;
  Affine(int64_t c) : constant(c) {}
  int64_t at(const LatticeIndex &index) const;
  bool isConstant() const;
  bool operator==(const Affine &) const = default;
};

enum class BufferKind : uint8_t {
  Scratch,  // contents do not survive from one sample to the next; written before read
  Constant, // read-only, filled from a raw section of the file
  Fifo,     // bounded ring of elements; one thread pushes, one pops
  State,    // survives from sample to sample and call to call; filled from a state variable
  Resident, // a window of a Resident: what is there stays while configurations change
};

// A stretch of a core's SRAM.
struct Buffer {
  std::string name;
  BufferKind kind = BufferKind::Scratch;
  ElementType type = ElementType::F32;
  int64_t address = 0; // bytes from the start of SRAM, the same on all cores of the role
  int64_t bytes = 0;
  // Constant: raw section and byte offset inside it. A zero step means that cores share the same bytes.
  int32_t section = -1;
  Affine sectionOffset;
  // State: the variable; which of its elements lie here is said by Configuration::stateBindings.
  int32_t state = -1;
  // Resident: index into Executable::residents, and where in it the buffer begins: byte residentOffset + i·runStep in
  // iteration i of a Run step. `address` is that of iteration 0.
  int32_t resident = -1;
  int64_t residentOffset = 0, runStep = 0;
  bool operator==(const Buffer &) const = default;
};

// What a router lets through to an input queue: of every `period` data words of the colour that it would move to RAMP,
// counted from the start of each sample, the `words` from number `begin` on. The others go on over the position's other
// outputs as if RAMP were none; without others they end there. Control words are not counted.
struct Filter {
  int64_t period = 0; // words; 0: no filter
  Affine begin;
  Affine words = Affine(1);
  bool operator==(const Filter &) const = default;
};

struct Queue {
  bool output = false; // false: RAMP → core
  uint8_t colour = 0;
  uint8_t index = 0; // hardware queue number, input and output numbered apart
  Filter filter{};   // of an input queue
  bool operator==(const Queue &) const = default;
};

enum class OperandKind : uint8_t { None, Memory, Fifo, Queue, Immediate, Null };

// Memory: byte address in `buffer` of element (i0,i1,i2,i3) in loop iterations (l0,l1,…), outermost loop first:
//   base + Σ i_d·stride[d] + Σ l_k·loopStep[k].
// Fifo and Queue operands take or give one element per iteration, in order. Null discards (dst only).
struct Operand {
  OperandKind kind = OperandKind::None;
  int16_t buffer = -1;                      // Memory, Fifo: index into Role::buffers
  int16_t queue = -1;                       // Queue: index into Role::queues
  Affine base;                              // bytes
  std::array<int32_t, kMaxDims> stride{};   // bytes
  std::array<int32_t, kMaxDims> loopStep{}; // bytes
  double immediate = 0;
  bool operator==(const Operand &) const = default;
};

struct Instruction {
  Opcode opcode = Opcode::Move;
  ElementType type = ElementType::F32;
  ElementType sourceType = ElementType::F32; // of Convert's source, and of all sources where `mixed`
  Operand dst, a, b;
  std::array<Affine, kMaxDims> extent{Affine(1), Affine(1), Affine(1), Affine(1)}; // Loop: extent[0] is the trip count
  uint8_t controlCount = 0;                                                        // SendControl: the count n ≥ 1
  uint8_t priority = 0; // in the contest for issue slots, its set-up's included: below the target's issuePriorities
  bool mixed = false;   // sources are of `sourceType`, the result (and the old dst) of `type`: where mayMix(…)
  bool operator==(const Instruction &) const = default;
};

// Element types of an instruction's sources; dst has `type`. b holds I32 numbers where the opcode is indexed.
ElementType typeOfA(const Instruction &instruction);
ElementType typeOfB(const Instruction &instruction);

using Thread = std::vector<Instruction>;

struct Role {
  std::string name;    // for people; results never depend on it
  int32_t kernel = -1; // index into Configuration::kernels, for people and statistics
  Lattice cores;
  std::vector<Buffer> buffers;
  std::vector<Queue> queues;
  std::vector<Thread> threads;
  bool operator==(const Role &) const = default;
};

// Router ports. North is towards smaller rows, West towards smaller columns.
enum class Port : uint8_t { North, South, East, West, Ramp };
constexpr int kNumPorts = 5;
using PortMask = uint8_t; // bit (1 << Port)

struct SwitchPosition {
  Port input = Port::Ramp;
  PortMask outputs = 0;
  bool operator==(const SwitchPosition &) const = default;
};

// The outputs among these by which a control word goes on: all but RAMP. RAMP alone stays, where it must not come.
constexpr PortMask controlOutputs(PortMask outputs) {
  constexpr PortMask ramp = PortMask(1u << unsigned(Port::Ramp));
  return outputs == ramp ? outputs : PortMask(outputs & ~ramp);
}

struct RouterRole {
  Lattice routers;
  uint8_t colour = 0;
  int32_t net = -1; // index into Configuration::nets, for messages
  std::vector<SwitchPosition>
      positions; // 1 to the target's limit; positions[0] is in force at the start of each sample
  bool operator==(const RouterRole &) const = default;
};

struct Net {
  std::string name;
  int64_t wordsPerSample = 0; // as planned by the compiler; reports only
  bool operator==(const Net &) const = default;
};

// Words that enter or leave the wafer: for each lattice point, an edge router's outer port, on `colour`. The words of a
// lane are the elements hostOffset + Σ i_d·stride[d] of the entry's tensor, in row-major order of `extent`.
struct IoBinding {
  bool output = false;
  int32_t tensor = 0; // index into Entry::inputs or outputs
  Lattice ports;
  Port side = Port::West;
  uint8_t colour = 0;
  Affine hostOffset; // elements
  std::array<Affine, kMaxDims> extent{Affine(1), Affine(1), Affine(1), Affine(1)};
  std::array<int64_t, kMaxDims> stride{}; // elements
  // Elements outside of the tensor are padding: zeros going in, dropped going out. Without, they are an error.
  bool padded = false;
  bool operator==(const IoBinding &) const = default;
};

// Which elements of a state variable live in `buffer` of `role` (row-major order of extent, packed from the buffer's
// start).
struct StateBinding {
  int32_t state = 0, role = 0, buffer = 0;
  Affine hostOffset; // elements
  std::array<int64_t, kMaxDims> extent{1, 1, 1, 1};
  std::array<int64_t, kMaxDims> stride{}; // elements
  bool operator==(const StateBinding &) const = default;
};

// For people: a kernel of the mapping.
struct Kernel {
  std::string name;
  std::vector<std::string> layers;
  int32_t row = 0, col = 0, rows = 0, cols = 0;
  int64_t macs = 0;                    // multiply-adds of the network's own definition, per sample
  int64_t predictedIntervalCycles = 0; // sizing's prediction
  bool operator==(const Kernel &) const = default;
};

struct Configuration {
  std::string name;
  std::vector<Role> roles;
  std::vector<RouterRole> routers;
  std::vector<IoBinding> io;
  std::vector<StateBinding> stateBindings;
  std::vector<Net> nets;
  std::vector<Kernel> kernels;
  bool operator==(const Configuration &) const = default;
};

struct TensorType {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  int64_t elements() const;
  bool operator==(const TensorType &) const = default;
};

// A tensor, or a part of one, in the SRAM of a lattice of cores, at one address on all of them. It stays there while
// configurations come and go; a role reaches it through buffers of kind Resident, and its cores are a part of this
// lattice.
//  - With a section: constant, there from the start (weights); a zero step means that cores share the same bytes.
//  - With a state: survives from call to call. Core `index` holds elements stateOffset.at(index) … of the variable,
//  packed,
//    as many as fit `bytes`; those beyond the variable's end are padding (zeros when it is loaded).
//  - With neither: lives from the first step of an entry that uses it to the last, and is written before it is read.
struct Resident {
  std::string name;
  ElementType type = ElementType::F32;
  Lattice cores;
  int64_t address = 0, bytes = 0; // from the start of SRAM; on each core
  int32_t section = -1;
  Affine sectionOffset; // bytes
  int32_t state = -1;
  Affine stateOffset; // elements
  bool operator==(const Resident &) const = default;
};

struct StateVariable {
  TensorType tensor;
  int32_t initialSection = -1; // raw section with the initial elements in row-major order; -1: zeros
  bool operator==(const StateVariable &) const = default;
};

enum class StepKind : uint8_t { Configure, Run };
struct Step {
  StepKind kind = StepKind::Run;
  int32_t configuration = 0;
  std::vector<int32_t> after; // indices of steps of the same entry that must be done before
  int32_t count = 1; // Run: so many times, one after another; iteration i moves windows of residents by i·runStep
  int32_t first = 0; // Run: the number of its first iteration; it does iterations first, …, first + count − 1
  bool operator==(const Step &) const = default;
};

struct Entry {
  std::string name;
  std::vector<TensorType> inputs, outputs;
  std::vector<Step> steps;
  bool operator==(const Entry &) const = default;
};

// A raw section: bytes of the file, viewed, never copied.
struct Section {
  std::string name;
  std::span<const std::byte> bytes;
};

struct Executable {
  target::Target target;
  std::string execution; // "pipelined", …
  std::vector<Configuration> configurations;
  std::vector<StateVariable> states;
  std::vector<Resident> residents;
  std::vector<Entry> entries;
  std::vector<Section> sections;
  // Filled by the loader: sizes as in the file.
  int64_t metadataBytes = 0, weightBytes = 0;
  // Keeps the mapping (or the buffers behind `sections`) alive.
  std::shared_ptr<const void> storage;
};

} // namespace wsc::format
