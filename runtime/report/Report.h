// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report of an executable holds. The JSON of a report has these fields and no others (docs/Report.md lists
// them); its text and its HTML page are drawn from the same.
//
//   describe(executable)      what the file says: mesh, kernels, roles, routes, memory, work of every role
//   addCompilation, addRun    what a compilation, or a run on the emulator, knows beyond it
//   conclude(report)          where the time goes, what bounds it, what would help
//
// Nothing is held per core: roles and routers are lattices, numbers that differ from core to core are rasters of runs.
#pragma once

#include "runtime/emulator/Timing.h"
#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/format/Executable.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wsc::report {

constexpr int kReportVersion = 1;

// A number for each place of the mesh: down each column from north to south, columns from west to east, or along rows.
// A number stands for step × step places (fewer at the south and east edge) and is the largest of theirs.
struct Raster {
  int32_t step = 1;
  bool byRows = false;
  std::vector<int64_t> runs; // value, how often, value, how often, …
  int64_t largest = 0;
};

// `values`: per place, row-major. Takes the order with fewer runs; the step doubles until there are at most kMostRuns.
constexpr size_t kMostRuns = 150'000;
Raster makeRaster(const std::vector<int64_t> &values, int32_t rows, int32_t cols);

// What a core does in one sample (of a phased executable: in one run of the phase). Issue slots are cycles.
struct Work {
  int64_t computeCycles = 0; // slots of arithmetic at the full rate of the target
  int64_t memoryCycles = 0;  // slots of moves inside of SRAM, and of arithmetic that waits for SRAM
  int64_t networkCycles = 0; // slots that move words from and to the router
  int64_t setupCycles = 0;   // set-up and end of instructions, loops
  int64_t fma = 0;           // multiply-adds
  int64_t wordsIn = 0, wordsOut = 0;
  int64_t sramBytes = 0; // read and written while instructions stream

  int64_t slots() const { return computeCycles + memoryCycles + networkCycles + setupCycles; }
  bool operator==(const Work &) const = default;
};

// Of the cores of a role that does most, and the mean. Extents are affine, so the corners of the lattice are looked at.
struct RoleWork {
  Work busiest, mean;
};
RoleWork workOf(const target::Target &target, const format::Role &role);

struct MemoryPart {
  int64_t address = 0, bytes = 0;
  std::string name; // of the buffer; else that of its kind
  std::string kind; // runtime, stack, code, free, or format::bufferKindName
  std::string type; // element type, of buffers
  bool operator==(const MemoryPart &) const = default;
};

struct RoleFacts {
  std::string name;
  int32_t kernel = -1; // index into Report::kernels
  format::Lattice cores;
  int32_t memory = 0; // index into Report::memories
  int32_t work = 0;   // index into Report::works
};

struct RouterFacts {
  format::Lattice routers;
  uint8_t colour = 0;
  int32_t net = -1;      // index into ConfigurationFacts::nets
  int32_t positions = 0; // index into Report::positions
};

// A constant or a state that lies in SRAM whatever the configuration is.
struct ResidentFacts {
  std::string name, kind, type; // kind: constant or state
  format::Lattice cores;
  int64_t address = 0, bytes = 0;
};

struct NetFacts {
  std::string name;
  int64_t words = 0; // per sample
};

struct ConfigurationFacts {
  std::string name;
  int32_t firstKernel = 0, numKernels = 0; // in Report::kernels
  std::vector<RoleFacts> roles;
  std::vector<RouterFacts> routers;
  std::vector<NetFacts> nets;
  int64_t inputWords = 0, outputWords = 0; // over the wafer's ports, per run
  int64_t changeCycles = 0;                // that putting it in place takes
  int64_t macs = 0;                        // of its kernels, per run
  int64_t maxLinkWords = 0;                // over its busiest link, per run
  std::string maxLink;                     // "row 5, col 7, east"
  std::array<Raster, 4> linkWords;         // per run, over the links north, south, east, west; empty: unknown
  std::string linkWordsUnknown;            // why
};

// What a kernel's busiest core waits for and does, emulated, per sample; over all runs of the entry.
struct EmulatedKernel {
  int64_t busyCycles = 0, intervalCycles = 0, fmaCycles = 0, waitWordsCycles = 0, waitRoomCycles = 0;
  std::vector<int64_t> done; // cycle at which it is done with each of the first samples
};

struct KernelFacts {
  std::string name;
  std::vector<std::string> layers;
  int32_t configuration = 0;
  int32_t row = 0, col = 0, rows = 0, cols = 0;
  int64_t cores = 0, macs = 0, predictedIntervalCycles = 0, sramBytes = 0;
  Work busiest;                                                // of its busiest core
  int64_t fma = 0, wordsIn = 0, wordsOut = 0, sramTraffic = 0; // of all its cores, per sample or run
  std::optional<EmulatedKernel> emulated;
};

// What a phased entry does one after the other: runs and, before each whose configuration is not in place, the change.
struct PartFacts {
  std::string name; // of the configuration
  bool run = true;  // false: the configuration is put in place
  int32_t configuration = 0, count = 1;
  int64_t predictedCycles = 0; // of all `count`
  int64_t emulatedCycles = -1; // -1: unknown
};

struct Span { // of a timeline
  int32_t kernel = -1, sample = 0;
  int64_t begin = 0, end = 0; // cycles
};

struct Emulation {
  std::string engine;
  std::string unknown; // why cycles are not known; else empty
  int threads = 0, samples = 0;
  int64_t latencyCycles = 0;
  int64_t intervalCycles = 0; // 0: unknown
  // Whether the interval is steady, and the range that it lies in by the samples counted; 0: unknown.
  bool intervalSettled = false;
  int64_t intervalLow = 0, intervalHigh = 0;
  std::vector<int64_t> sampleDone;
  double utilisation = 0;
  std::string bottleneck;
  int64_t maxLinkWords = 0, wordHops = 0;
  std::string maxLink;
  int64_t macs = 0, coresFma = 0;                // executed
  double loadSeconds = 0, secondsPerSample = -1; // of the host; -1: no values were computed
  int64_t peakRssBytes = 0;
  // Of the cycle engine, over all samples; empty: unknown. Cycles between a core's first and last slot.
  Raster busy, waitWords, waitRoom;
  std::vector<Span> spans; // of kernels
};

struct CompilePhase {
  std::string name;
  double seconds = 0;
  int64_t peakRssBytes = 0; // of the process, so far
};

// How far an output is from that of the same network in f32.
struct OutputError {
  std::string name;
  double largest = 0;      // of the absolute differences
  double largestValue = 0; // of the absolute values in f32
  double relativeL2 = 0;   // of the differences against the values, over all samples
  // Of an output [classes] or [rows, classes]: rows of all samples, those whose largest element is the same, and both
  // of the rows where it leads in f32 by more than twice `largest`.
  int64_t rows = 0, sameTop = 0, clearRows = 0, clearSameTop = 0;
};

// Of a network whose f32 tensors are stored in 16 bits.
struct PrecisionFacts {
  std::string name;           // fp16, bf16 or mixed
  std::string operands, sums; // types: of factors (fp16, bf16), and in which products are summed (fp32 too)
  int samples = 0;            // that both ran on the emulator; seeded
  uint64_t seed = 0;
  std::vector<OutputError> outputs; // of floats
  std::string unknown;              // why there are none
};
// "fp16 operands, fp32 sums; over 4 seeded samples (seed 1) output y is off fp32 by 0.0012 at most …".
std::string precisionText(const PrecisionFacts &precision);

struct Compilation {
  std::vector<CompilePhase> phases;
  std::optional<PrecisionFacts> precision;
  int64_t outputBytes = 0;
  // What mapping as strips knows, cycles; 0: unknown. Bounds hold for every mapping; the optimum, and the slowest
  // kernel at its quickest, for the enumerated shapes.
  int64_t optimumCycles = 0, boundMultiplyAddCycles = 0, boundIoCycles = 0, slowestKernelCycles = 0;
  int64_t linkWords = 0, wordHops = 0;
  std::string bottleneck;
};

// A step's time, in cycles: of its busiest core's slots, and what is left.
struct StepSplit {
  int64_t compute = 0, memory = 0, network = 0, setup = 0;
  int64_t input = 0;         // waiting that the wafer's ports explain, for input and output words
  int64_t configuration = 0; // changes of configuration
  int64_t waiting = 0;       // for words and space of other cores
  int64_t total() const { return compute + memory + network + setup + input + configuration + waiting; }
};

// A resource and the cycles that a step keeps it busy: no step is shorter.
struct Limit {
  std::string name, detail;
  int64_t cycles = 0;
};

struct Advice {
  std::string title, text;
};

struct Report {
  std::string model; // file that was compiled or run
  target::Target target;
  std::string execution;
  int64_t coresTotal = 0, coresUsed = 0, coresFma = 0, sramWorstBytes = 0, macs = 0;
  int64_t metadataBytes = 0, weightBytes = 0, hostSteps = 0;
  int64_t predictedIntervalCycles = 0;
  double samplesPerSecond = 0, utilisation = 0; // emulated where that is known, else predicted
  std::string bottleneck;
  std::vector<format::Entry> entries;
  std::vector<format::StateVariable> states;
  std::vector<KernelFacts> kernels; // of all configurations
  std::vector<ConfigurationFacts> configurations;
  std::vector<ResidentFacts> residents;
  std::vector<std::vector<MemoryPart>> memories;
  std::vector<Work> works;
  std::vector<std::vector<format::SwitchPosition>> positions;
  int32_t entry = 0;            // the one that parts and emulation speak of
  std::vector<PartFacts> parts; // of a phased executable, else empty
  std::optional<Compilation> compilation;
  std::optional<Emulation> emulation;

  // conclude()
  StepSplit split;
  std::vector<Limit> limits; // longest first
  std::string bound;         // one sentence or two
  std::vector<Advice> advice;

  bool phased() const { return execution == "phased"; }
  // Emulated where that is known, else predicted.
  int64_t intervalCycles() const;
};

// `entry`: whose steps are told. Words over links are found by following all routes; where that fails the
// configuration says why.
Report describe(const format::Executable &executable, const std::string &model, int entry = 0);

// What a run of the report's entry knows. `timing` may be null (then `emulation.unknown` says why), and so may
// `cycles`.
struct RunFacts {
  Emulation emulation; // engine, unknown, threads, samples, seconds, macs
  const emulator::TimingResult *timing = nullptr;
  const emulator::CycleResult *cycles = nullptr;
};
void addRun(Report &report, RunFacts run);

// Fills split, limits, bound and advice. Call it last.
void conclude(Report &report);

std::string toJson(const Report &report);
std::string toText(const Report &report);
std::string toHtml(const Report &report);

// Whether the name says what to write: .txt, .json or .html. For a check before long work.
absl::Status checkPath(const std::string &path);
// Writes FILE.txt, .json or .html (runtime/files).
absl::Status write(const Report &report, const std::string &path);

} // namespace wsc::report
