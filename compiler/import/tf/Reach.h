// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What outputs need, found without executing anything: nodes, placeholders among them, and operators without
// translation.
#pragma once
#include "compiler/import/common/Options.h"
#include "compiler/import/tf/Body.h"
#include <set>

namespace wsc::import::tf {

struct Reach {
  std::set<int> nodes;                          ///< of the graph
  std::vector<UnsupportedOperator> unsupported; ///< in order of first use, functions included
};

/// Nodes behind `outputs`, the ways ending at `cuts`. Branches that a constant switches off are left out; branches of
/// If and Case, of which one may suffice, are not searched for unsupported operators.
absl::StatusOr<Reach> reachOf(const Body &body, const wsc::tf::FunctionDefLibrary &library,
                              const std::vector<int> &outputs, const std::set<Edge> &cuts);

/// Explains a list of unsupported operators in one error; an audio front end among them is answered with the tensor to
/// feed.
absl::Status unsupportedError(const Body &body, const Reach &reach);

} // namespace wsc::import::tf
