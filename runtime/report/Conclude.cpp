// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the time of a step goes, which resources bound it, and what would help, in words. A step is the interval
// between samples of a pipelined executable, the whole entry of a phased one.
#include "runtime/report/Report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>

namespace wsc::report {

namespace {

constexpr double kFull = 0.95;       // of a step: a resource that is busy so long bounds it
constexpr double kManyChanges = 0.2; // of a phased step spent on changes of configuration
constexpr double kMuchWaiting = 0.5;
constexpr double kMuchSetup = 0.25; // of a core's slots
constexpr double kTightSram = 0.9;
constexpr double kFewCores = 0.1;

double share(int64_t part, int64_t whole) { return whole > 0 ? double(part) / double(whole) : 0; }

std::string percent(int64_t part, int64_t whole) { return absl::StrFormat("%.0f %%", 100 * share(part, whole)); }

std::string grouped(int64_t value) {
  std::string digits = std::to_string(value);
  for (auto i = int64_t(digits.size()) - 3; i > (value < 0 ? 1 : 0); i -= 3)
    digits.insert(size_t(i), ",");
  return digits;
}

class Conclusion {
public:
  explicit Conclusion(Report &report) : report(report) {}

  void run() {
    step = report.phased() && report.emulation && report.emulation->latencyCycles > 0 ? report.emulation->latencyCycles
                                                                                      : report.intervalCycles();
    if (step <= 0) {
      report.bound = report.emulation && !report.emulation->unknown.empty()
                         ? absl::StrCat("Cycles are not known: ", report.emulation->unknown)
                         : "Cycles are not known: the executable has no kernels with a prediction.";
      return;
    }
    if (report.phased())
      phased();
    else
      pipelined();
    std::stable_sort(report.limits.begin(), report.limits.end(),
                     [](const Limit &a, const Limit &b) { return a.cycles > b.cycles; });
    adviseOnSram();
  }

private:
  // The slots of kernel k's busiest core, in the share that `cycles` leaves space for.
  static void addSlots(StepSplit &split, const Work &work, int64_t times) {
    split.compute += work.computeCycles * times;
    split.memory += work.memoryCycles * times;
    split.network += work.networkCycles * times;
    split.setup += work.setupCycles * times;
  }

  int64_t portCycles(const ConfigurationFacts &facts) const {
    return int64_t(std::ceil(double(facts.inputWords + facts.outputWords) / report.target.ioWordsPerCycle()));
  }

  int64_t computeLimit() const {
    return int64_t(std::ceil(double(report.macs) / (double(report.coresTotal) * report.target.fmaPerCycleF32)));
  }

  const ConfigurationFacts *configuration() const {
    if (size_t(report.entry) >= report.entries.size())
      return nullptr;
    for (const format::Step &s : report.entries[size_t(report.entry)].steps)
      if (s.kind == format::StepKind::Run)
        return &report.configurations[size_t(s.configuration)];
    return nullptr;
  }

  void pipelined() {
    const ConfigurationFacts *facts = configuration();
    if (!facts)
      return;
    const KernelFacts *slowest = nullptr, *busiest = nullptr;
    std::vector<int64_t> slots;
    for (int32_t k = facts->firstKernel; k < facts->firstKernel + facts->numKernels; ++k) {
      const KernelFacts &kernel = report.kernels[size_t(k)];
      slots.push_back(kernel.busiest.slots());
      if (!busiest || kernel.busiest.slots() > busiest->busiest.slots())
        busiest = &kernel;
      if (!slowest || kernel.predictedIntervalCycles > slowest->predictedIntervalCycles)
        slowest = &kernel;
    }
    const int64_t ports = portCycles(*facts);
    report.limits.push_back({"multiply-adds", "spread over all cores of the wafer at the full rate", computeLimit()});
    report.limits.push_back(
        {"ports",
         absl::StrCat(grouped(facts->inputWords), " input and ", grouped(facts->outputWords), " output words at ",
                      absl::StrFormat("%.4g", report.target.ioWordsPerCycle()), " a cycle"),
         ports});
    if (facts->maxLinkWords > 0)
      report.limits.push_back({"busiest link", facts->maxLink, facts->maxLinkWords});
    if (busiest)
      report.limits.push_back(
          {"busiest core", absl::StrCat("issue slots in kernel ", busiest->name), busiest->busiest.slots()});
    if (busiest)
      addSlots(report.split, busiest->busiest, 1);
    const int64_t rest = std::max<int64_t>(0, step - report.split.total());
    if (double(ports) >= kFull * double(step))
      report.split.input = rest;
    else
      report.split.waiting = rest;
    std::sort(slots.begin(), slots.end());
    const int64_t median = slots.empty() ? 0 : slots[slots.size() / 2];
    judgeStrips(*facts, busiest, ports, median);
    if (report.emulation && report.emulation->intervalCycles > 0 && report.predictedIntervalCycles > 0) {
      const double ratio = double(report.emulation->intervalCycles) / double(report.predictedIntervalCycles);
      if (ratio > 1.1)
        report.advice.push_back(
            {"Emulated slower than predicted",
             absl::StrFormat(
                 "The interval is %.2f times the prediction, which looks at each kernel alone. What it does "
                 "not see are kernels that wait for each other: look for kernels with long waits for space "
                 "in front of the slowest one, and give that one more columns with --pins.",
                 ratio)});
    }
    adviseOnSize();
  }

  void judgeStrips(const ConfigurationFacts &facts, const KernelFacts *busiest, int64_t ports, int64_t median) {
    const std::string cycles = absl::StrCat(grouped(step), " cycles between samples");
    if (double(ports) >= kFull * double(step)) {
      report.bound = absl::StrCat("Input and output bound the network: its words pass the wafer's ports in ",
                                  grouped(ports), " of ", cycles, ".");
      report.advice.push_back(
          {"The ports are full",
           "More cores do not help. Move fewer words: cut the graph behind what a host can do (--input NAME, --output "
           "NAME), or compile for a description with a higher io_terabits_per_second."});
      return;
    }
    if (busiest && double(busiest->busiest.slots()) >= kFull * double(step)) {
      const Work &work = busiest->busiest;
      report.bound =
          absl::StrCat("Kernel ", busiest->name, " bounds the network: its busiest core issues ", grouped(work.slots()),
                       " slots in ", cycles, " (", percent(work.computeCycles, work.slots()), " arithmetic, ",
                       percent(work.memoryCycles, work.slots()), " memory, ", percent(work.networkCycles, work.slots()),
                       " network, ", percent(work.setupCycles, work.slots()), " set-up).");
      if (share(median, work.slots()) < 0.7)
        report.advice.push_back(
            {"Kernels are not balanced", absl::StrCat("Half of the kernels need no more than ", grouped(median),
                                                      " slots. --effort high looks for mappings with more columns for ",
                                                      busiest->name, "; --pins sets them by hand.")});
      else
        report.advice.push_back({"Kernels are balanced",
                                 "Most kernels are nearly as busy as the slowest one, so a shorter interval needs more "
                                 "cores or less work: a larger target, or fewer multiply-adds."});
      if (share(work.setupCycles, work.slots()) > kMuchSetup)
        report.advice.push_back(
            {"Short vectors",
             absl::StrCat("Set-up takes ", percent(work.setupCycles, work.slots()), " of the slots of ", busiest->name,
                          "'s busiest core: its instructions are short. Larger tiles "
                          "(fewer columns) or a larger batch make them longer.")});
      return;
    }
    if (double(facts.maxLinkWords) >= kFull * double(step)) {
      report.bound = absl::StrCat("A link bounds the network: ", grouped(facts.maxLinkWords), " words cross ",
                                  facts.maxLink, " in ", cycles, ".");
      report.advice.push_back({"A link is full",
                               "--effort high also looks for shorter wires; --pins moves kernels and the columns where "
                               "lanes turn. Colour the floor plan by link load to see where lanes meet."});
      return;
    }
    report.bound = absl::StrCat("No single resource is full in ", cycles,
                                ": kernels wait for words and space of each other. The busiest core",
                                busiest ? absl::StrCat(", in kernel ", busiest->name, ",") : std::string(), " issues ",
                                grouped(busiest ? busiest->busiest.slots() : 0), " slots (",
                                percent(busiest ? busiest->busiest.slots() : 0, step), "), the busiest link carries ",
                                grouped(facts.maxLinkWords), " words (", percent(facts.maxLinkWords, step), ").");
    if (report.limits.size() > 1)
      report.advice.push_back(
          {"Buffers between kernels",
           "Kernels that take turns cannot both be busy. Colour the floor plan by stalls: kernels "
           "that wait for space stand in front of a slow one, kernels that wait for words behind it. "
           "Those between the two set the pace."});
  }

  void phased() {
    int64_t changes = 0, longest = 0, runs = 0, portTime = 0, tooLow = 0;
    const PartFacts *slowest = nullptr;
    for (const PartFacts &part : report.parts) {
      const ConfigurationFacts &facts = report.configurations[size_t(part.configuration)];
      int64_t cycles = part.emulatedCycles >= 0 ? part.emulatedCycles : part.predictedCycles;
      if (!part.run) {
        changes += cycles;
        continue;
      }
      const StepSplit split = splitOf(facts, part, cycles);
      tooLow += split.total() > cycles;
      cycles = split.total();
      runs += cycles;
      report.split.compute += split.compute;
      report.split.memory += split.memory;
      report.split.network += split.network;
      report.split.setup += split.setup;
      report.split.input += split.input;
      report.split.waiting += split.waiting;
      portTime += portCycles(facts) * part.count;
      if (!slowest || cycles > longest) {
        slowest = &part;
        longest = cycles;
      }
    }
    step = std::max(step, runs + changes);
    if (tooLow > 0 && !report.emulation)
      report.advice.push_back(
          {"Predicted cycles are too few",
           absl::StrCat("The busiest core of ", tooLow, tooLow == 1 ? " phase issues" : " phases issues",
                        " more slots than the cycles that were predicted, so here the slots count. wsc-run MODEL.wse "
                        "--report tells the emulated cycles.")});
    report.split.configuration = changes;
    report.limits.push_back({"multiply-adds", "spread over all cores of the wafer at the full rate", computeLimit()});
    report.limits.push_back({"ports", "input and output words of all phases", portTime});
    report.limits.push_back({"changes of configuration", "code and routes of every phase", changes});
    report.limits.push_back({"busiest cores", "their issue slots, phase by phase",
                             report.split.compute + report.split.memory + report.split.network + report.split.setup});
    report.limits.push_back({"phases", "their runs one after the other", runs});
    if (!slowest)
      return;
    const std::string whole = absl::StrCat(grouped(step), " cycles");
    report.bound =
        changes > longest
            ? absl::StrCat("Changes of configuration bound the network: ", grouped(changes), " of ", whole, ".")
            : absl::StrCat("Phase ", slowest->name, " bounds the network: ", grouped(longest), " of ", whole,
                           slowest->count > 1 ? absl::StrCat(", in ", slowest->count, " runs") : "", ".");
    if (report.split.waiting > kMuchWaiting * double(step)) {
      absl::StrAppend(&report.bound,
                      " Its cores wait for words most of the time: ", percent(report.split.waiting, step),
                      " of all cycles.");
      report.advice.push_back(
          {"Distance, not work",
           "Words travel while cores wait. Layers with fewer, larger tensors, several samples in one "
           "batch, or --execution pipelined where every layer has that form keep cores busy."});
    }
    if (double(changes) > kManyChanges * double(step))
      report.advice.push_back({"Many changes of configuration",
                               "Every change waits until the wafer is quiet and takes the code of its roles over the "
                               "ports. A larger batch spreads their cost over more samples."});
    adviseOnSize();
  }

  // Slots of the phase's busiest core; what is left of its cycles is input and waiting.
  StepSplit splitOf(const ConfigurationFacts &facts, const PartFacts &part, int64_t cycles) const {
    StepSplit split;
    const Work *most = nullptr;
    for (int32_t k = facts.firstKernel; k < facts.firstKernel + facts.numKernels; ++k)
      if (!most || report.kernels[size_t(k)].busiest.slots() > most->slots())
        most = &report.kernels[size_t(k)].busiest;
    if (most)
      addSlots(split, *most, part.count);
    int64_t rest = std::max<int64_t>(0, cycles - split.total());
    split.input = std::min(rest, portCycles(facts) * part.count);
    split.waiting = rest - split.input;
    return split;
  }

  void adviseOnSize() {
    if (double(report.coresUsed) < kFewCores * double(report.coresTotal))
      report.advice.push_back(
          {"Most of the wafer is idle",
           absl::StrCat(grouped(report.coresUsed), " of ", grouped(report.coresTotal), " cores have a program (",
                        absl::StrFormat("%.1f", 100 * share(report.coresUsed, report.coresTotal)),
                        " %). The network is small for this target: a larger batch, or --target mesh-RxC for a part of "
                        "the wafer, uses it better.")});
  }

  void adviseOnSram() {
    if (double(report.sramWorstBytes) > kTightSram * double(report.target.sramBytes))
      report.advice.push_back(
          {"SRAM is nearly full", absl::StrCat("The fullest core holds ", grouped(report.sramWorstBytes), " of ",
                                               grouped(report.target.sramBytes),
                                               " bytes. Colour the floor plan by SRAM and select such a core "
                                               "to see what it holds.")});
  }

  Report &report;
  int64_t step = 0;
};

} // namespace

void conclude(Report &report) {
  report.split = {};
  report.limits.clear();
  report.advice.clear();
  report.bound.clear();
  Conclusion(report).run();
}

} // namespace wsc::report
