// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/format/verifier/Lives.h"

#include <algorithm>

namespace wsc::format::verifier {

namespace {

// Residents that the roles of a configuration have windows of, ascending.
std::vector<int32_t> residentsOf(const Configuration &configuration) {
  std::vector<int32_t> named;
  for (const Role &role : configuration.roles)
    for (const Buffer &buffer : role.buffers)
      if (buffer.kind == BufferKind::Resident)
        named.push_back(buffer.resident);
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  return named;
}

} // namespace

Lives::Lives(const Executable &executable, Report &report)
    : executable(executable), lives(executable.residents.size()), mostRuns(executable.configurations.size(), 1) {
  std::vector<std::vector<int32_t>> named;
  for (const Configuration &configuration : executable.configurations)
    named.push_back(residentsOf(configuration));
  for (size_t e = 0; e < executable.entries.size(); ++e) {
    const std::vector<Step> &steps = executable.entries[e].steps;
    for (size_t s = 0; s < steps.size(); ++s) {
      const size_t c = size_t(steps[s].configuration);
      if (!executable.residents.empty())
        stepsOf[{c, int32_t(e)}].push_back(int32_t(s));
      if (steps[s].kind != StepKind::Run)
        continue;
      mostRuns[c] = std::max<int64_t>(mostRuns[c], int64_t(steps[s].first) + steps[s].count);
      if (!report.spend(int64_t(named[c].size())))
        return;
      for (int32_t r : named[c]) {
        if (isPermanent(size_t(r)))
          continue;
        std::vector<Life> &of = lives[size_t(r)];
        if (of.empty() || of.back().entry != int32_t(e)) {
          of.push_back({int32_t(e), int32_t(s), int32_t(s)});
          firstIn.emplace(std::pair(c, r), int32_t(e));
        }
        of.back().last = int32_t(s);
      }
    }
  }
}

bool Lives::isPermanent(size_t resident) const {
  return executable.residents[resident].section >= 0 || executable.residents[resident].state >= 0;
}

std::optional<Life> Lives::during(size_t configuration, size_t resident) const {
  if (isPermanent(resident))
    return Life();
  for (const Life &life : lives[resident]) {
    const auto found = stepsOf.find({configuration, life.entry});
    if (found == stepsOf.end())
      continue;
    const auto step = std::lower_bound(found->second.begin(), found->second.end(), life.first);
    if (step != found->second.end() && *step <= life.last)
      return life;
  }
  return std::nullopt;
}

int32_t Lives::begins(size_t configuration, int32_t resident) const {
  const auto found = firstIn.find({configuration, resident});
  return found == firstIn.end() ? -1 : found->second;
}

} // namespace wsc::format::verifier
