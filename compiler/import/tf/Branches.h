// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which Merge of a graph in control flow v1 joins the branches of which condition.
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/tf/Body.h"
#include <set>

namespace wsc::import::tf {

/// Conditions under which values are alive: a predicate, and the side of it.
class Branches {
public:
  explicit Branches(const Body &body);

  struct Join {
    Edge predicate;
    int whenTrue = 0, whenFalse = 0; ///< inputs of the Merge
  };
  /// InvalidArgument where the inputs are no two sides of one condition.
  absl::StatusOr<Join> joinOf(int merge) const;

private:
  using Guards = std::set<std::pair<Edge, bool>>;
  Guards guardsOf(Edge edge) const;

  const Body &body_;
  std::vector<Guards> guards_; ///< by node; of a Switch: of its data
};

} // namespace wsc::import::tf
