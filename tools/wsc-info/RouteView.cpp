// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The routers of one net, role by role, and where words enter and leave it.
#include "runtime/format/Disassembly.h"
#include "tools/wsc-info/Facts.h"
#include "tools/wsc-info/Views.h"

#include "absl/strings/str_cat.h"

#include <bit>

namespace wsc::info {

using namespace format;

static std::string showNet(const Configuration &configuration, int32_t net) {
  std::string text = absl::StrCat(
      "net ", printable(configuration.nets[size_t(net)].name), " in configuration ", printable(configuration.name),
      ", ", withCommas(configuration.nets[size_t(net)].wordsPerSample), " words per sample planned\n");
  int64_t routers = 0, links = 0;
  for (const RouterRole &router : configuration.routers) {
    if (router.net != net)
      continue;
    PortMask outputs = 0;
    absl::StrAppend(&text, "  colour ", int(router.colour), "  ");
    for (size_t p = 0; p < router.positions.size(); ++p) {
      absl::StrAppend(&text, p ? " | " : "", printSwitchPosition(router.positions[p]));
      outputs |= router.positions[p].outputs;
    }
    absl::StrAppend(&text, "  ", printLattice(router.routers), "\n");
    routers += router.routers.size();
    links += router.routers.size() * std::popcount(unsigned(outputs) & ~(1u << int(Port::Ramp)));
  }
  return absl::StrCat(text, "  ", withCommas(routers), " routers, ", withCommas(links), " outgoing links\n");
}

absl::StatusOr<std::string> routesView(const Executable &executable, const std::string &net) {
  std::string text, known;
  size_t nets = 0;
  for (const Configuration &configuration : executable.configurations)
    for (size_t n = 0; n < configuration.nets.size(); ++n) {
      if (configuration.nets[n].name == net)
        text += showNet(configuration, int32_t(n));
      if (++nets <= 10)
        absl::StrAppend(&known, known.empty() ? "" : ", ", printable(configuration.nets[n].name));
    }
  if (!text.empty())
    return text;
  return absl::NotFoundError(absl::StrCat(
      "no net is named \"", net, "\"; ",
      nets == 0 ? "the executable has none" : absl::StrCat("there are ", nets, ": ", known), nets > 10 ? ", ..." : ""));
}

} // namespace wsc::info
