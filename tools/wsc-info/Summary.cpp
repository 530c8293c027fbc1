// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The summary shown without options, and the table of kernels.
#include "runtime/format/Disassembly.h"
#include "tools/wsc-info/Facts.h"
#include "tools/wsc-info/Views.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>

namespace wsc::info {

using namespace format;

constexpr size_t kMostResidents = 16; // that the summary lists

static std::string percent(int64_t part, int64_t whole) {
  return absl::StrFormat("%.1f %%", whole > 0 ? 100.0 * double(part) / double(whole) : 0.0);
}

std::string summaryView(const Executable &executable) {
  Facts facts = collectFacts(executable);
  const target::Target &target = executable.target;
  std::string text;
  auto line = [&](const char *what, const std::string &value) {
    absl::StrAppend(&text, padded(what, 16), value, "\n");
  };
  line("target", absl::StrCat(printable(target.name), ", ", target.rows, " x ", target.cols, " cores at ",
                              target.clockGHz, " GHz"));
  line("execution", executable.execution.empty() ? "not stated" : printable(executable.execution));
  line("format", absl::StrCat("version ", kFormatVersion));
  line("cores",
       absl::StrCat(withCommas(facts.coresUsed), " of ", withCommas(facts.coresTotal), " used (",
                    percent(facts.coresUsed, facts.coresTotal), "), ", withCommas(facts.coresFma), " multiply"));
  line("SRAM", absl::StrCat("fullest core ", withCommas(facts.sramWorstBytes), " of ", withCommas(target.sramBytes),
                            " bytes (", percent(facts.sramWorstBytes, target.sramBytes), ")"));
  line("program", absl::StrCat(withCommas(facts.roles), " roles with ", withCommas(facts.instructions),
                               " instructions, ", withCommas(facts.routerRoles), " router roles"));
  line("file",
       absl::StrCat(withCommas(executable.metadataBytes), " bytes of metadata, ", withCommas(executable.weightBytes),
                    " of weights in ", executable.sections.size(), " sections"));
  for (const Configuration &configuration : executable.configurations)
    line("configuration", absl::StrCat(printable(configuration.name), ": ", configuration.kernels.size(), " kernels, ",
                                       configuration.roles.size(), " roles, ", configuration.nets.size(), " nets"));
  for (const StateVariable &state : executable.states)
    line("state", absl::StrCat(printTensorType(state.tensor),
                               state.initialSection < 0 ? ", zero at first" : ", with initial value"));
  const size_t shown = std::min(executable.residents.size(), kMostResidents);
  for (size_t r = 0; r < shown; ++r)
    line("resident", absl::StrCat(printable(executable.residents[r].name), ": ",
                                  printResident(executable, executable.residents[r])));
  if (shown < executable.residents.size())
    line("resident", absl::StrCat("and ", executable.residents.size() - shown, " more, which --json lists"));
  for (const Entry &entry : executable.entries) {
    line("entry",
         absl::StrCat(printable(entry.name), ": ", entry.steps.size(), " steps, ", facts.hostSteps, " on the host"));
    for (const Step &step : entry.steps)
      line("  step", printStep(executable, step));
    for (const TensorType &input : entry.inputs)
      line("  input", printTensorType(input));
    for (const TensorType &output : entry.outputs)
      line("  output", printTensorType(output));
  }
  return text;
}

std::string kernelsView(const Executable &executable) {
  Facts facts = collectFacts(executable);
  size_t nameWidth = 6;
  for (const Configuration &configuration : executable.configurations)
    for (const Kernel &kernel : configuration.kernels)
      nameWidth = std::min<size_t>(32, std::max(nameWidth, kernel.name.size()));
  std::string text = absl::StrCat(padded("kernel", nameWidth),
                                  absl::StrFormat("  %6s %6s %6s %6s %9s %8s %16s %12s  %s\n", "row", "col", "rows",
                                                  "cols", "cores", "SRAM", "multiply-adds", "interval", "layers"));
  for (size_t k = 0; k < facts.kernels.size(); ++k) {
    const KernelFacts &fact = facts.kernels[k];
    const Configuration &configuration = executable.configurations[size_t(fact.configuration)];
    const Kernel &kernel = configuration.kernels[size_t(fact.kernel)];
    if (fact.kernel == 0 && executable.configurations.size() > 1)
      absl::StrAppend(&text, "configuration ", printable(configuration.name), "\n");
    std::string layers;
    for (const std::string &layer : kernel.layers)
      absl::StrAppend(&layers, layers.empty() ? "" : ", ", printable(layer));
    absl::StrAppend(&text, padded(printable(kernel.name), nameWidth),
                    absl::StrFormat("  %6d %6d %6d %6d %9d %8d %16s %12s  ", kernel.row, kernel.col, kernel.rows,
                                    kernel.cols, fact.cores, fact.sramBytes, withCommas(kernel.macs),
                                    withCommas(kernel.predictedIntervalCycles)),
                    layers, "\n");
  }
  return text;
}

} // namespace wsc::info
