// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State variables on the wafer: each lies flat over the network's rectangle, in one resident that all entries share.
#pragma once

#include "compiler/spmd/network/Network.h"
#include "compiler/spmd/phases/Constants.h"
#include "compiler/spmd/sharding/Sharding.h"
#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <vector>

namespace wsc::spmd {

struct StateTable {
  struct Place {
    int32_t resident = -1;
    Sharding sharding;
  };
  std::vector<format::StateVariable> variables;
  std::vector<Place> places; // per variable

  /// The variables of all networks, by name; adds their residents and initial values to `constants`.
  /// Errors: two networks give a variable of one name different types, shapes or initial values.
  static absl::StatusOr<StateTable> create(const std::vector<Network> &networks, const Rectangle &rectangle,
                                           ConstantTable &constants);
  /// Number of the variable of a name; −1: none.
  int32_t find(const std::string &name) const;
};

} // namespace wsc::spmd
