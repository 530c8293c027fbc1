// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/network/StateLayout.h"

#include "compiler/kernels/network/Tiling.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>

namespace wsc::kernels {

namespace {

// Slices for `tiles` tiles over `rows` rows of the mesh.
void cut(VariablePlan &variable, int64_t tiles, int64_t rows) {
  variable.tileRows = ceilDiv(variable.plane.rows, tiles);
  variable.channelsPerSlice = ceilDiv(variable.plane.channels, std::max<int64_t>(1, rows / variable.tiles()));
}

} // namespace

absl::Status layOutVariables(const target::Target &target, std::vector<VariablePlan> &variables) {
  std::multiset<int64_t> counts;
  for (VariablePlan &variable : variables) {
    if (variable.col >= 0) {
      counts.insert(variable.tiles());
      continue;
    }
    int64_t queues = int64_t(target.inputQueueWords.size());
    int64_t most = std::min<int64_t>(variable.plane.rows, target.rows);
    int64_t tiles = std::clamp<int64_t>(queues / 2, 1, most);
    for (; tiles < most; ++tiles) {
      cut(variable, tiles, target.rows);
      if (variable.bytes() <= target.sramBytes / 4)
        break;
    }
    cut(variable, tiles, target.rows);
    counts.insert(variable.tiles());
  }
  int64_t rows = variables.empty() ? 0 : rowsForTiles(target, counts);
  for (const VariablePlan &variable : variables)
    if (variable.col >= 0)
      rows = variable.rows;
  int32_t col = target.cols - int32_t(variables.size());
  for (VariablePlan &variable : variables) {
    if (variable.col < 0) {
      variable.rows = rows;
      cut(variable, variable.tiles(), rows);
      variable.col = std::max<int32_t>(col, 0);
      variable.address = (target.sramBytes - variable.bytes()) / 8 * 8;
    }
    ++col;
  }
  return checkVariables(target, variables);
}

absl::Status checkVariables(const target::Target &target, const std::vector<VariablePlan> &variables) {
  if (int64_t(variables.size()) >= target.cols)
    return absl::ResourceExhaustedError(absl::StrCat("the module has ", variables.size(),
                                                     " state variables, one column each, target ", target.name, " has ",
                                                     target.cols, " columns; use a larger mesh or join variables"));
  int64_t begin = target.runtimeReserveBytes + target.stackBytes;
  std::map<int32_t, std::string> taken;
  for (const VariablePlan &variable : variables) {
    const std::string &name = variable.tensor.name;
    if (variable.address < begin || variable.address + variable.bytes() > target.sramBytes)
      return absl::ResourceExhaustedError(absl::StrCat("state variable ", name, " needs ", variable.bytes(),
                                                       " bytes on each of its cores, from address ", variable.address,
                                                       "; a core has bytes ", begin, " to ", target.sramBytes,
                                                       "; use a larger mesh or cut the variable"));
    if (variable.rows > target.rows || variable.rows < variable.tiles() * variable.slices() ||
        variable.rows / variable.tiles() < variable.slices())
      return absl::ResourceExhaustedError(absl::StrCat(
          "state variable ", name, " lies on ", variable.tiles(), " tiles × ", variable.slices(),
          " slices, one row of cores each, of ", variable.rows, " rows; target ", target.name, " has ", target.rows));
    if (variable.rows != variables.front().rows)
      return absl::InvalidArgumentError(absl::StrCat("state variables ", variables.front().tensor.name, " and ", name,
                                                     " lie over ", variables.front().rows, " and ", variable.rows,
                                                     " rows; all variables share one number"));
    if (variable.col >= target.cols)
      return absl::InvalidArgumentError(absl::StrCat("state variable ", name, " lies at column ", variable.col,
                                                     ", target ", target.name, " has ", target.cols));
    if (auto [it, isNew] = taken.emplace(variable.col, name); !isNew)
      return absl::InvalidArgumentError(
          absl::StrCat("state variables ", it->second, " and ", name, " both lie at column ", variable.col));
  }
  return absl::OkStatus();
}

int32_t freeColumns(const target::Target &target, const NetworkPlan &network) {
  int32_t free = target.cols;
  for (const VariablePlan &variable : network.variables)
    free = std::min(free, variable.col);
  return free;
}

} // namespace wsc::kernels
