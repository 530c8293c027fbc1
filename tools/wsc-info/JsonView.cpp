// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The facts as JSON, for other tools. Strings are made well-formed UTF-8 first.
#include "runtime/format/Disassembly.h"
#include "tools/wsc-info/Facts.h"
#include "tools/wsc-info/Views.h"

#include "absl/strings/str_cat.h"

namespace wsc::info {

using namespace format;

namespace {

std::string quote(const std::string &text) {
  std::string quoted = "\"";
  for (char c : printable(text)) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// "[…]" of what `print` makes of each item.
template <typename Items, typename Print> std::string array(const Items &items, Print print) {
  std::string text = "[";
  const char *separator = "";
  for (const auto &item : items) {
    absl::StrAppend(&text, separator, print(item));
    separator = ", ";
  }
  return text + "]";
}

template <typename Integer> std::string number(Integer value) { return absl::StrCat(value); }

std::string tensor(const TensorType &type) {
  return absl::StrCat("{\"name\": ", quote(type.name), ", \"type\": ", quote(std::string(elementTypeName(type.type))),
                      ", \"shape\": ", array(type.shape, number<int64_t>), "}");
}

std::string step(const Step &step) {
  return absl::StrCat("{\"kind\": ", step.kind == StepKind::Configure ? "\"configure\"" : "\"run\"",
                      ", \"configuration\": ", step.configuration, ", \"count\": ", step.count,
                      ", \"first\": ", step.first, ", \"after\": ", array(step.after, number<int32_t>), "}");
}

std::string entry(const Entry &entry) {
  return absl::StrCat("{\"name\": ", quote(entry.name), ", \"inputs\": ", array(entry.inputs, tensor),
                      ", \"outputs\": ", array(entry.outputs, tensor), ", \"steps\": ", array(entry.steps, step), "}");
}

std::string state(const StateVariable &variable) {
  return absl::StrCat("{\"name\": ", quote(variable.tensor.name),
                      ", \"type\": ", quote(std::string(elementTypeName(variable.tensor.type))),
                      ", \"shape\": ", array(variable.tensor.shape, number<int64_t>),
                      ", \"initialised\": ", variable.initialSection >= 0 ? "true" : "false", "}");
}

std::string resident(const Resident &resident) {
  return absl::StrCat(
      "{\"name\": ", quote(resident.name), ", \"type\": ", quote(std::string(elementTypeName(resident.type))),
      ", \"cores\": ", resident.cores.size(), ", \"address\": ", resident.address, ", \"bytes\": ", resident.bytes,
      ", \"section\": ", resident.section, ", \"state\": ", resident.state, "}");
}

} // namespace

std::string jsonView(const Executable &executable) {
  Facts facts = collectFacts(executable);
  auto kernel = [&](const KernelFacts &fact) {
    const Configuration &configuration = executable.configurations[size_t(fact.configuration)];
    const Kernel &kernel = configuration.kernels[size_t(fact.kernel)];
    return absl::StrCat("\n    {\"name\": ", quote(kernel.name), ", \"layers\": ", array(kernel.layers, quote),
                        ", \"rectangle\": {\"row\": ", kernel.row, ", \"col\": ", kernel.col,
                        ", \"rows\": ", kernel.rows, ", \"cols\": ", kernel.cols, "}, \"cores\": ", fact.cores,
                        ", \"macs\": ", kernel.macs,
                        ", \"predicted_interval_cycles\": ", kernel.predictedIntervalCycles,
                        ", \"sram_bytes\": ", fact.sramBytes, ", \"configuration\": ", quote(configuration.name), "}");
  };
  std::string text = "{\n";
  auto field = [&](const char *name, const std::string &value) {
    absl::StrAppend(&text, "  \"", name, "\": ", value, ",\n");
  };
  field("target", quote(executable.target.name));
  field("format_version", number(kFormatVersion));
  field("execution", quote(executable.execution));
  field("cores_total", number(facts.coresTotal));
  field("cores_used", number(facts.coresUsed));
  field("cores_fma", number(facts.coresFma));
  field("metadata_bytes", number(executable.metadataBytes));
  field("weight_bytes", number(executable.weightBytes));
  field("sram_worst_bytes", number(facts.sramWorstBytes));
  field("host_steps", number(facts.hostSteps));
  field("kernels", array(facts.kernels, kernel));
  field("entries", array(executable.entries, entry));
  field("residents", array(executable.residents, resident));
  return absl::StrCat(text, "  \"states\": ", array(executable.states, state), "\n}\n");
}

} // namespace wsc::info
