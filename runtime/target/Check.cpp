// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Judges the values of a target: each size within bounds that keep later arithmetic far from overflow, and the few
// conditions between fields. The upper bounds are this program's, far above any machine; the lower ones are physics.
#include "absl/strings/str_cat.h"
#include "runtime/target/Fields.h"

#include <cmath>
#include <set>

namespace wsc::target {
namespace {

struct Range {
  const char *field;
  int64_t value, least, most;
};

std::optional<Problem> checkRanges(std::initializer_list<Range> ranges) {
  for (const Range &range : ranges)
    if (range.value < range.least || range.value > range.most)
      return Problem{range.field, absl::StrCat("value ", range.value, " is outside ", range.least, " to ", range.most)};
  return std::nullopt;
}

struct Rate {
  const char *field;
  double value;
};

// Elements per cycle come in whole batches: n each cycle, or one every n cycles.
std::optional<Problem> checkWhole(std::initializer_list<Rate> rates) {
  for (const Rate &rate : rates) {
    const double whole = rate.value >= 1 ? rate.value : 1 / rate.value;
    if (std::abs(whole - std::round(whole)) > 1e-9)
      return Problem{rate.field, absl::StrCat("value ", rate.value, " is neither a whole number nor one over it")};
  }
  return std::nullopt;
}

std::optional<Problem> checkRates(std::initializer_list<Rate> rates) {
  constexpr double least = 1e-6, most = 1e6;
  for (const Rate &rate : rates)
    if (!(rate.value >= least && rate.value <= most))
      return Problem{rate.field, absl::StrCat("value ", rate.value, " is outside ", least, " to ", most)};
  return std::nullopt;
}

std::vector<Rate> derivedRates(const Target &target) {
  return {
      {"elements_per_cycle_bf16", target.elementsPerCycleBF16},
      {"elements_per_cycle_f64", target.elementsPerCycleF64},
      {"elements_per_cycle_i8", target.elementsPerCycleI8},
      {"elements_per_cycle_i16", target.elementsPerCycleI16},
      {"elements_per_cycle_i32", target.elementsPerCycleI32},
      {"elements_per_cycle_i64", target.elementsPerCycleI64},
      {"fma_per_cycle_bf16", target.fmaPerCycleBF16},
      {"fma_per_cycle_f64", target.fmaPerCycleF64},
      {"fma_per_cycle_i8", target.fmaPerCycleI8},
      {"fma_per_cycle_i16", target.fmaPerCycleI16},
      {"fma_per_cycle_i32", target.fmaPerCycleI32},
      {"fma_per_cycle_i64", target.fmaPerCycleI64},
      {"fma_per_cycle_f16_to_f32", target.fmaPerCycleF16ToF32},
  };
}

std::optional<Problem> checkQueues(const char *field, const std::vector<int32_t> &words) {
  if (words.empty() || words.size() > 32)
    return Problem{field, absl::StrCat(words.size(), " queues listed; 1 to 32 can be")};
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i] < 1 || words[i] > 65536)
      return Problem{field, absl::StrCat("queue ", i, " holds ", words[i], " words; 1 to 65536 are possible")};
  return std::nullopt;
}

std::optional<Problem> checkColours(const Target &target) {
  std::set<int32_t> seen;
  for (int32_t colour : target.reservedColours) {
    if (colour < 0 || colour >= target.colours)
      return Problem{"reserved_colours",
                     absl::StrCat("colour ", colour, " does not exist; colours are 0 to ", target.colours - 1)};
    if (!seen.insert(colour).second)
      return Problem{"reserved_colours", absl::StrCat("colour ", colour, " is listed twice")};
  }
  if (target.usableColours() < 1)
    return Problem{"reserved_colours",
                   absl::StrCat("all ", target.colours, " colours are reserved; leave at least one")};
  return std::nullopt;
}

std::optional<Problem> checkDefects(const Target &target) {
  const auto outside = [&](const char *field, int32_t row, int32_t col) -> std::optional<Problem> {
    if (row >= 0 && row < target.rows && col >= 0 && col < target.cols)
      return std::nullopt;
    if (row == -1 || col == -1)
      return Problem{field, "an entry lacks its row or col, or has a negative one"};
    return Problem{field, absl::StrCat("row ", row, ", col ", col, " lies outside the mesh of ", target.rows, " x ",
                                       target.cols, " cores")};
  };
  std::set<std::pair<int32_t, int32_t>> cores;
  for (const DeadCore &core : target.deadCores) {
    if (auto problem = outside("dead_cores", core.row, core.col))
      return problem;
    if (!cores.emplace(core.row, core.col).second)
      return Problem{"dead_cores", absl::StrCat("row ", core.row, ", col ", core.col, " is listed twice")};
  }
  for (const DeadLink &link : target.deadLinks) {
    if (auto problem = outside("dead_links", link.row, link.col))
      return problem;
    if (link.side < Side::North || link.side > Side::West)
      return Problem{"dead_links", absl::StrCat("the entry at row ", link.row, ", col ", link.col,
                                                " lacks its side: NORTH, SOUTH, EAST or WEST")};
  }
  return std::nullopt;
}

} // namespace

std::optional<Problem> findProblem(const Target &target) {
  constexpr int64_t mostBytes = 1 << 30, mostCycles = 1 << 20;
  if (target.name.empty() || target.name.size() > 256)
    return Problem{"name", absl::StrCat("a name of ", target.name.size(), " bytes; 1 to 256 are possible")};
  if (auto problem = checkRanges({
          {"rows", target.rows, 1, kMaxMeshSide},
          {"cols", target.cols, 1, kMaxMeshSide},
          {"sram_bytes", target.sramBytes, 1, mostBytes},
          {"sram_banks", target.sramBanks, 1, 1024},
          {"runtime_reserve_bytes", target.runtimeReserveBytes, 0, mostBytes},
          {"stack_bytes", target.stackBytes, 0, mostBytes},
          {"instruction_bytes", target.instructionBytes, 1, 4096},
          {"descriptor_bytes", target.descriptorBytes, 0, 4096},
          {"colours", target.colours, 1, 64},
          {"switch_positions", target.switchPositions, 1, 16},
          {"hop_latency_cycles", target.hopLatencyCycles, 1, mostCycles},
          {"ramp_latency_cycles", target.rampLatencyCycles, 1, mostCycles},
          {"router_queue_words", target.routerQueueWords, 1, mostCycles},
          {"credit_latency_cycles", target.creditLatencyCycles, 1, mostCycles},
          {"descriptors_per_operand_kind", target.descriptorsPerOperandKind, 1, 65536},
          {"background_operations", target.backgroundOperations, 0, 1024},
          {"task_ids", target.taskIds, 1, 65536},
          {"vector_setup_cycles", target.vectorSetupCycles, 0, mostCycles},
          {"loop_cycles", target.loopCycles, 0, mostCycles},
          {"task_start_cycles", target.taskStartCycles, 0, mostCycles},
          {"program_start_cycles", target.programStartCycles, 0, mostCycles},
          {"time_stamp_cycles", target.timeStampCycles, 0, mostCycles},
          {"input_filters", target.inputFilters, 0, 1024},
          {"issue_priorities", target.issuePriorities, 1, 16},
          {"router_setting_bytes", target.routerSettingBytes, 1, 4096},
          {"configuration_round_trips", target.configurationRoundTrips, 0, 1024},
          {"sram_access_bytes", target.sramAccessBytes, 4, 4096},
          {"sram_reads_per_cycle", target.sramReadsPerCycle, 1, 64},
          {"sram_writes_per_cycle", target.sramWritesPerCycle, 1, 64},
      }))
    return problem;
  if (auto problem = checkRates({
          {"clock_ghz", target.clockGHz},
          {"elements_per_cycle_f32", target.elementsPerCycleF32},
          {"elements_per_cycle_f16", target.elementsPerCycleF16},
          {"fma_per_cycle_f32", target.fmaPerCycleF32},
          {"fma_per_cycle_f16", target.fmaPerCycleF16},
          {"routine_cycles_per_element", target.routineCyclesPerElement},
          {"io_terabits_per_second", target.ioTerabitsPerSecond},
          {"configuration_words_per_cycle", target.configurationWordsPerCycle},
      }))
    return problem;
  for (const Rate &rate : derivedRates(target))
    if (rate.value != 0) // 0: not given
      if (auto problem = checkRates({rate}); problem || (problem = checkWhole({rate})))
        return problem;
  if (auto problem = checkWhole({
          {"elements_per_cycle_f32", target.elementsPerCycleF32},
          {"elements_per_cycle_f16", target.elementsPerCycleF16},
          {"fma_per_cycle_f32", target.fmaPerCycleF32},
          {"fma_per_cycle_f16", target.fmaPerCycleF16},
          {"routine_cycles_per_element", target.routineCyclesPerElement},
      }))
    return problem;
  if (target.usableSramBytes() <= 0)
    return Problem{"sram_bytes",
                   absl::StrCat(target.sramBytes, " bytes leave nothing for programs after ",
                                target.runtimeReserveBytes, " of runtime code and ", target.stackBytes, " of stack")};
  int32_t needed = target.hopLatencyCycles + target.creditLatencyCycles;
  if (target.routerQueueWords < needed)
    return Problem{"router_queue_words",
                   absl::StrCat("a router queue of ", target.routerQueueWords,
                                " words cannot stream at full rate; hop ", target.hopLatencyCycles, " and credit ",
                                target.creditLatencyCycles, " cycles need at least ", needed)};
  if (auto problem = checkColours(target))
    return problem;
  if (auto problem = checkDefects(target))
    return problem;
  if (auto problem = checkQueues("input_queue_words", target.inputQueueWords))
    return problem;
  return checkQueues("output_queue_words", target.outputQueueWords);
}

absl::Status checkTarget(const Target &target, const std::string &where) {
  if (std::optional<Problem> problem = findProblem(target))
    return absl::InvalidArgumentError(absl::StrCat(where, ": field \"", problem->field, "\": ", problem->message));
  return absl::OkStatus();
}

} // namespace wsc::target
