// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nodes of a graph or function with edges instead of names.
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/tf/tf.pb.h"
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace wsc::import::tf {

struct Operator;

/// Output of a node.
struct Edge {
  int node = -1;
  int output = 0;
  bool operator==(const Edge &) const = default;
  auto operator<=>(const Edge &) const = default;
};

struct Node {
  const wsc::tf::NodeDef *def = nullptr;
  const Operator *op = nullptr; ///< null where the table has none
  std::vector<Edge> inputs;
  std::vector<int> controls;
  /// Whether it or something it depends on writes a variable.
  bool reachesWrite = false;
};

/// A while loop of control flow v1: a frame with what enters it, circulates in it and leaves it.
struct FrameLoop {
  std::string frame;
  int condition = -1; ///< LoopCond node
  struct Carried {
    int merge = -1, enter = -1, next = -1; ///< Merge, its Enter and its NextIteration
    int turn = -1;                         ///< Switch
    int exit = -1;                         ///< Exit, -1 where nobody asks for the last value
  };
  std::vector<Carried> carried;
};

struct Body {
  std::string name; ///< of the function; empty for the graph
  std::vector<Node> nodes;
  std::unordered_map<std::string, int> byName;
  std::vector<int> arguments; ///< of a function: its _Arg nodes
  std::vector<Edge> results;  ///< of a function
  std::vector<std::string> resultNames;
  std::vector<int> controlResults; ///< nodes that run in any case
  std::vector<FrameLoop> loops;
  std::unordered_map<int, int> loopOfExit;  ///< index in `loops` by Exit node
  std::unordered_map<int, int> loopOfMerge; ///< the same by Merge node
  std::deque<wsc::tf::NodeDef> own;         ///< nodes that stand for arguments

  const wsc::tf::NodeDef &def(int node) const { return *nodes[node].def; }
};

/// Operator of the node that stands for a function's argument.
inline constexpr const char *argumentOp = "_Arg";

/// "name", "name:1", "^name" of a graph.
struct TensorName {
  std::string node;
  int output = 0;
  bool isControl = false;
};
TensorName parseTensorName(std::string_view text);

/// The graph's nodes. Errors: no or repeated names, inputs that no node has, loops whose parts do not fit.
absl::StatusOr<std::unique_ptr<Body>> bodyOf(const wsc::tf::GraphDef &graph,
                                             const wsc::tf::FunctionDefLibrary &library);
/// The same of a function.
absl::StatusOr<std::unique_ptr<Body>> bodyOf(const wsc::tf::FunctionDef &function,
                                             const wsc::tf::FunctionDefLibrary &library);

/// The function of that name, or null.
const wsc::tf::FunctionDef *findFunction(const wsc::tf::FunctionDefLibrary &library, const std::string &name);

/// Finds the loops of control flow v1 and fills `loops` and what points into it.
absl::Status findLoops(Body &body);

} // namespace wsc::import::tf
