// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structure of an ONNX graph: who produces which tensor, what the outputs need, and in which order.
#pragma once
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/import/onnx/Import.h"
#include "compiler/import/onnx/onnx.pb.h"
#include <set>
#include <unordered_map>

namespace wsc::import {

struct Graph {
  const wsc::onnx::GraphProto *proto = nullptr;
  std::map<std::string, int64_t> opsets;                                        ///< by domain, "" for ONNX
  std::unordered_map<std::string, const wsc::onnx::TensorProto *> initializers; ///< by tensor name
  std::unordered_map<std::string, const wsc::onnx::ValueInfoProto *> infos;     ///< inputs, outputs and value_info
  std::unordered_map<std::string, int> producers;                               ///< node index by tensor name
  std::vector<const wsc::onnx::ValueInfoProto *> inputs;                        ///< without initializers
  std::vector<InputOption> inputOptions;
  std::set<std::string> cuts; ///< tensors that became inputs
  std::vector<std::string> outputs;
  std::vector<int> order;     ///< needed nodes, producers first
  std::set<std::string> used; ///< tensors the needed nodes or outputs read
};

/// Name of a node for messages: its own, or its first output's.
std::string nodeName(const wsc::onnx::NodeProto &node);

/// Names of the tensors a node reads: its inputs, and what its subgraphs take from around them.
std::vector<std::string> namesRead(const wsc::onnx::NodeProto &node);

/// Domain with ONNX's own spelt "".
std::string normalizedDomain(const std::string &domain);

/// Checks names, options and edges and orders the nodes. The model must outlive the graph.
absl::StatusOr<Graph> indexGraph(const wsc::onnx::ModelProto &model, const ImportOptions &options);

} // namespace wsc::import
