// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of fields and the canonical JSON form: fields in the table's order, numbers in their shortest form that
// reads back to the same value, so that the same target always gives the same bytes.
#include "runtime/target/Fields.h"

#include <charconv>
#include <type_traits>

namespace wsc::target {
namespace {

template <typename Number> std::string printNumber(Number value) {
  char text[64];
  auto result = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, result.ptr);
}

template <typename T> std::string printValue(const T &value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return printNumber(value);
  } else {
    std::string text = "[";
    for (size_t i = 0; i < value.size(); ++i)
      text += (i ? ", " : "") + printNumber(value[i]);
    return text + "]";
  }
}

std::string quote(const std::string &text) {
  static const char *digits = "0123456789abcdef";
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\', quoted += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      quoted += std::string("\\u00") + digits[(c >> 4) & 15] + digits[c & 15];
    else
      quoted += c;
  }
  return quoted + '"';
}

template <auto Member, auto Get, auto Source> constexpr Field field(const char *name) {
  return {name,
          [](const schema::Description &from, Target &to) {
            auto value = (from.*Get)();
            if (!value)
              return false;
            if constexpr (std::is_pointer_v<decltype(value)>)
              (to.*Member).assign(value->begin(), value->end());
            else
              to.*Member = *value;
            return true;
          },
          [](const Target &from) { return printValue(from.*Member); },
          [](const schema::Sources &from) { return (from.*Source)(); }};
}

// A field that descriptions embedded in older executables lack: absent, it keeps Target's own value.
template <auto Member, auto Get, auto Source> constexpr Field laterField(const char *name) {
  Field result = field<Member, Get, Source>(name);
  result.required = false;
  return result;
}

// A rate that follows from others unless it is given: not printed then.
template <auto Member, auto Get, auto Source> constexpr Field derivedRate(const char *name) {
  Field result = laterField<Member, Get, Source>(name);
  result.print = [](const Target &from) { return from.*Member == 0 ? std::string() : printValue(from.*Member); };
  return result;
}

constexpr const char *sideNames[] = {"NORTH", "SOUTH", "EAST", "WEST"};

std::string printPlace(int32_t row, int32_t col) {
  return "{\"row\": " + printNumber(row) + ", \"col\": " + printNumber(col);
}

template <typename List, typename Print> std::string printList(const List &list, Print print) {
  std::string text;
  for (const auto &item : list)
    text += (text.empty() ? "[" : ", ") + print(item) + "}";
  return list.empty() ? text : text + "]";
}

constexpr Field deadCores = {"dead_cores",
                             [](const schema::Description &from, Target &to) {
                               if (!from.dead_cores())
                                 return false;
                               to.deadCores.clear();
                               for (const schema::DeadCore *core : *from.dead_cores())
                                 to.deadCores.push_back({core->row().value_or(-1), core->col().value_or(-1)});
                               return true;
                             },
                             [](const Target &from) {
                               return printList(from.deadCores,
                                                [](const DeadCore &core) { return printPlace(core.row, core.col); });
                             },
                             [](const schema::Sources &from) { return from.dead_cores(); }, false};

constexpr Field deadLinks = {"dead_links",
                             [](const schema::Description &from, Target &to) {
                               if (!from.dead_links())
                                 return false;
                               to.deadLinks.clear();
                               for (const schema::DeadLink *link : *from.dead_links())
                                 to.deadLinks.push_back({link->row().value_or(-1), link->col().value_or(-1),
                                                         link->side() ? Side(*link->side()) : Side(-1)});
                               return true;
                             },
                             [](const Target &from) {
                               return printList(from.deadLinks, [](const DeadLink &link) {
                                 return printPlace(link.row, link.col) + ", \"side\": \"" + sideNames[int(link.side)] +
                                        '"';
                               });
                             },
                             [](const schema::Sources &from) { return from.dead_links(); }, false};

constexpr Field table[] = {
    field<&Target::rows, &schema::Description::rows, &schema::Sources::rows>("rows"),
    field<&Target::cols, &schema::Description::cols, &schema::Sources::cols>("cols"),
    field<&Target::clockGHz, &schema::Description::clock_ghz, &schema::Sources::clock_ghz>("clock_ghz"),
    field<&Target::sramBytes, &schema::Description::sram_bytes, &schema::Sources::sram_bytes>("sram_bytes"),
    field<&Target::sramBanks, &schema::Description::sram_banks, &schema::Sources::sram_banks>("sram_banks"),
    field<&Target::runtimeReserveBytes, &schema::Description::runtime_reserve_bytes,
          &schema::Sources::runtime_reserve_bytes>("runtime_reserve_bytes"),
    field<&Target::stackBytes, &schema::Description::stack_bytes, &schema::Sources::stack_bytes>("stack_bytes"),
    field<&Target::instructionBytes, &schema::Description::instruction_bytes, &schema::Sources::instruction_bytes>(
        "instruction_bytes"),
    field<&Target::descriptorBytes, &schema::Description::descriptor_bytes, &schema::Sources::descriptor_bytes>(
        "descriptor_bytes"),
    field<&Target::colours, &schema::Description::colours, &schema::Sources::colours>("colours"),
    field<&Target::reservedColours, &schema::Description::reserved_colours, &schema::Sources::reserved_colours>(
        "reserved_colours"),
    field<&Target::switchPositions, &schema::Description::switch_positions, &schema::Sources::switch_positions>(
        "switch_positions"),
    field<&Target::hopLatencyCycles, &schema::Description::hop_latency_cycles, &schema::Sources::hop_latency_cycles>(
        "hop_latency_cycles"),
    field<&Target::rampLatencyCycles, &schema::Description::ramp_latency_cycles, &schema::Sources::ramp_latency_cycles>(
        "ramp_latency_cycles"),
    field<&Target::routerQueueWords, &schema::Description::router_queue_words, &schema::Sources::router_queue_words>(
        "router_queue_words"),
    field<&Target::creditLatencyCycles, &schema::Description::credit_latency_cycles,
          &schema::Sources::credit_latency_cycles>("credit_latency_cycles"),
    field<&Target::inputQueueWords, &schema::Description::input_queue_words, &schema::Sources::input_queue_words>(
        "input_queue_words"),
    field<&Target::outputQueueWords, &schema::Description::output_queue_words, &schema::Sources::output_queue_words>(
        "output_queue_words"),
    field<&Target::descriptorsPerOperandKind, &schema::Description::descriptors_per_operand_kind,
          &schema::Sources::descriptors_per_operand_kind>("descriptors_per_operand_kind"),
    field<&Target::backgroundOperations, &schema::Description::background_operations,
          &schema::Sources::background_operations>("background_operations"),
    field<&Target::taskIds, &schema::Description::task_ids, &schema::Sources::task_ids>("task_ids"),
    field<&Target::vectorSetupCycles, &schema::Description::vector_setup_cycles, &schema::Sources::vector_setup_cycles>(
        "vector_setup_cycles"),
    field<&Target::loopCycles, &schema::Description::loop_cycles, &schema::Sources::loop_cycles>("loop_cycles"),
    field<&Target::elementsPerCycleF32, &schema::Description::elements_per_cycle_f32,
          &schema::Sources::elements_per_cycle_f32>("elements_per_cycle_f32"),
    field<&Target::elementsPerCycleF16, &schema::Description::elements_per_cycle_f16,
          &schema::Sources::elements_per_cycle_f16>("elements_per_cycle_f16"),
    field<&Target::fmaPerCycleF32, &schema::Description::fma_per_cycle_f32, &schema::Sources::fma_per_cycle_f32>(
        "fma_per_cycle_f32"),
    field<&Target::fmaPerCycleF16, &schema::Description::fma_per_cycle_f16, &schema::Sources::fma_per_cycle_f16>(
        "fma_per_cycle_f16"),
    field<&Target::routineCyclesPerElement, &schema::Description::routine_cycles_per_element,
          &schema::Sources::routine_cycles_per_element>("routine_cycles_per_element"),
    field<&Target::ioTerabitsPerSecond, &schema::Description::io_terabits_per_second,
          &schema::Sources::io_terabits_per_second>("io_terabits_per_second"),
    laterField<&Target::sramAccessBytes, &schema::Description::sram_access_bytes, &schema::Sources::sram_access_bytes>(
        "sram_access_bytes"),
    laterField<&Target::sramReadsPerCycle, &schema::Description::sram_reads_per_cycle,
               &schema::Sources::sram_reads_per_cycle>("sram_reads_per_cycle"),
    laterField<&Target::sramWritesPerCycle, &schema::Description::sram_writes_per_cycle,
               &schema::Sources::sram_writes_per_cycle>("sram_writes_per_cycle"),
    laterField<&Target::taskStartCycles, &schema::Description::task_start_cycles, &schema::Sources::task_start_cycles>(
        "task_start_cycles"),
    laterField<&Target::programStartCycles, &schema::Description::program_start_cycles,
               &schema::Sources::program_start_cycles>("program_start_cycles"),
    laterField<&Target::timeStampCycles, &schema::Description::time_stamp_cycles, &schema::Sources::time_stamp_cycles>(
        "time_stamp_cycles"),
    laterField<&Target::inputFilters, &schema::Description::input_filters, &schema::Sources::input_filters>(
        "input_filters"),
    laterField<&Target::issuePriorities, &schema::Description::issue_priorities, &schema::Sources::issue_priorities>(
        "issue_priorities"),
    derivedRate<&Target::elementsPerCycleBF16, &schema::Description::elements_per_cycle_bf16,
                &schema::Sources::elements_per_cycle_bf16>("elements_per_cycle_bf16"),
    derivedRate<&Target::elementsPerCycleF64, &schema::Description::elements_per_cycle_f64,
                &schema::Sources::elements_per_cycle_f64>("elements_per_cycle_f64"),
    derivedRate<&Target::elementsPerCycleI8, &schema::Description::elements_per_cycle_i8,
                &schema::Sources::elements_per_cycle_i8>("elements_per_cycle_i8"),
    derivedRate<&Target::elementsPerCycleI16, &schema::Description::elements_per_cycle_i16,
                &schema::Sources::elements_per_cycle_i16>("elements_per_cycle_i16"),
    derivedRate<&Target::elementsPerCycleI32, &schema::Description::elements_per_cycle_i32,
                &schema::Sources::elements_per_cycle_i32>("elements_per_cycle_i32"),
    derivedRate<&Target::elementsPerCycleI64, &schema::Description::elements_per_cycle_i64,
                &schema::Sources::elements_per_cycle_i64>("elements_per_cycle_i64"),
    derivedRate<&Target::fmaPerCycleBF16, &schema::Description::fma_per_cycle_bf16,
                &schema::Sources::fma_per_cycle_bf16>("fma_per_cycle_bf16"),
    derivedRate<&Target::fmaPerCycleF64, &schema::Description::fma_per_cycle_f64, &schema::Sources::fma_per_cycle_f64>(
        "fma_per_cycle_f64"),
    derivedRate<&Target::fmaPerCycleI8, &schema::Description::fma_per_cycle_i8, &schema::Sources::fma_per_cycle_i8>(
        "fma_per_cycle_i8"),
    derivedRate<&Target::fmaPerCycleI16, &schema::Description::fma_per_cycle_i16, &schema::Sources::fma_per_cycle_i16>(
        "fma_per_cycle_i16"),
    derivedRate<&Target::fmaPerCycleI32, &schema::Description::fma_per_cycle_i32, &schema::Sources::fma_per_cycle_i32>(
        "fma_per_cycle_i32"),
    derivedRate<&Target::fmaPerCycleI64, &schema::Description::fma_per_cycle_i64, &schema::Sources::fma_per_cycle_i64>(
        "fma_per_cycle_i64"),
    derivedRate<&Target::fmaPerCycleF16ToF32, &schema::Description::fma_per_cycle_f16_to_f32,
                &schema::Sources::fma_per_cycle_f16_to_f32>("fma_per_cycle_f16_to_f32"),
    laterField<&Target::routerSettingBytes, &schema::Description::router_setting_bytes,
               &schema::Sources::router_setting_bytes>("router_setting_bytes"),
    laterField<&Target::configurationWordsPerCycle, &schema::Description::configuration_words_per_cycle,
               &schema::Sources::configuration_words_per_cycle>("configuration_words_per_cycle"),
    laterField<&Target::configurationRoundTrips, &schema::Description::configuration_round_trips,
               &schema::Sources::configuration_round_trips>("configuration_round_trips"),
    deadCores,
    deadLinks,
};

} // namespace

std::span<const Field> fields() { return table; }

std::string printDescription(const Described &described) {
  std::string text = "{\n  \"name\": " + quote(described.target.name) + ",\n", sources;
  for (const Field &field : fields()) {
    const std::string value = field.print(described.target);
    if (value.empty()) // nothing to say: no defects
      continue;
    text += std::string("  \"") + field.name + "\": " + value + ",\n";
    auto source = described.sources.find(field.name);
    sources += std::string(sources.empty() ? "" : ",\n") + "    \"" + field.name +
               "\": " + quote(source == described.sources.end() ? "not stated" : source->second);
  }
  return text + "  \"sources\": {\n" + sources + "\n  }\n}\n";
}

} // namespace wsc::target
