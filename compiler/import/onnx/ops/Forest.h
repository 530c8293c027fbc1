// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decision trees as tables, and what samples reach in them.
#pragma once
#include "compiler/import/onnx/NodeContext.h"

namespace wsc::import {

/// Comparison of a feature (left) with a node's split value (right), or membership in the node's set.
enum class SplitMode : uint8_t { LessEqual, Less, GreaterEqual, Greater, Equal, NotEqual, Member };

/// Inner nodes and leaves of all trees, numbered through. A leaf is its own child.
struct Forest {
  struct Node {
    int64_t feature = 0, whenTrue = 0, whenFalse = 0;
    double split = 0;
    SplitMode mode = SplitMode::LessEqual;
    bool missingIsTrue = false;
    std::vector<double> members;
  };
  std::vector<Node> nodes;
  std::vector<int64_t> roots; ///< one for each tree
  int64_t targets = 0;
  /// What a leaf gives to a target: (node, target, weight).
  struct Weight {
    int64_t node, target;
    double value;
  };
  std::vector<Weight> weights;

  bool isLeaf(int64_t node) const { return nodes[node].whenTrue == node && nodes[node].whenFalse == node; }
};

/// Edges of the longest way from a root to a leaf. Fails for children, features or targets that do not exist and for
/// nodes that are met twice on one way. `features`: of the samples.
int64_t checkForest(NodeContext &node, const Forest &forest, int64_t features);

enum class Aggregate { Average, Sum, Min, Max };

/// Sums (or averages, minima, maxima) [samples, targets] over trees of the weights of the leaves that samples
/// [samples, features] reach. A target to which no reached leaf gives anything has 0.
Expression evaluateForest(NodeContext &node, const Forest &forest, const Expression &samples, Aggregate aggregate);

} // namespace wsc::import
