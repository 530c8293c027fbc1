// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the roles of a configuration have in common, each part listed once and in order of its first use. Roles differ
// in their cores and colours far more often than in what they do: thousands of them share some hundred programs.
#pragma once

#include "runtime/format/Executable.h"

#include <cstdint>
#include <vector>

namespace wsc::format {

struct CommonParts {
  using Numbers = std::vector<uint32_t>; // places in a list of parts

  explicit CommonParts(const Configuration &configuration);

  struct OfRole {
    uint32_t memory, connections, program; // in the lists below
  };
  std::vector<OfRole> roles;
  std::vector<const Buffer *> buffers;
  std::vector<Numbers> memories; // of buffers
  struct FilterOf {
    uint32_t queue, filter;
  };
  struct Connections {
    const std::vector<Queue> *queues;
    std::vector<FilterOf> filters;
  };
  std::vector<const Filter *> filters;
  std::vector<Connections> connections;
  std::vector<const Instruction *> instructions;
  std::vector<Numbers> threads;  // of instructions
  std::vector<Numbers> programs; // of threads
};

} // namespace wsc::format
