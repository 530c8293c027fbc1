// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When residents live and how often configurations run, read off the entries' steps. A resident with a section or a
// variable always lives; another lives, in each entry that names it, from the first run of a configuration with a
// window of it to the last. Steps are in their listed order, which is an order of execution.
#pragma once

#include "runtime/format/Executable.h"
#include "runtime/format/verifier/Report.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace wsc::format::verifier {

// Steps `first` to `last` of an entry, both included.
struct Life {
  int32_t entry = -1, first = -1, last = -1;
  bool meets(const Life &other) const { return entry == other.entry && first <= other.last && other.first <= last; }
};

class Lives {
public:
  // Indices are in range (IndexRules). Looks at no more steps than the report's budget allows.
  Lives(const Executable &executable, Report &report);

  bool isPermanent(size_t resident) const;
  // Those of a resident that is not permanent, in order of entries.
  const std::vector<Life> &of(size_t resident) const { return lives[resident]; }
  bool everLives(size_t resident) const { return isPermanent(resident) || !lives[resident].empty(); }
  // A life that covers a step of the configuration, run or put in place; entry -1: a permanent one.
  std::optional<Life> during(size_t configuration, size_t resident) const;
  // An entry in which this configuration is the first with a window of the resident, which is not permanent; -1: none.
  int32_t begins(size_t configuration, int32_t resident) const;
  // Most iterations that a step asks of the configuration, at least 1.
  int64_t runs(size_t configuration) const { return mostRuns[configuration]; }

private:
  const Executable &executable;
  std::vector<std::vector<Life>> lives;
  std::vector<int64_t> mostRuns;
  std::map<std::pair<size_t, int32_t>, int32_t> firstIn;              // (configuration, resident) → entry
  std::map<std::pair<size_t, int32_t>, std::vector<int32_t>> stepsOf; // (configuration, entry) → steps, ascending
};

} // namespace wsc::format::verifier
