// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of ONNX operators: which versions the importer translates, with how many inputs, by which function. Each
// family of operators has one file under ops/ that exports its part of the table.
#pragma once
#include "compiler/import/onnx/NodeContext.h"
#include "llvm/ADT/ArrayRef.h"

namespace wsc::import {

using Handler = void (*)(NodeContext &node);

/// One operator. It is translated for opsets in [since, until]; an operator that changed its form has one row or a
/// handler that looks at NodeContext::opset.
struct Operator {
  const char *name;
  int64_t since;
  int64_t until;
  int minInputs; ///< these must be present
  int maxInputs;
  Handler handler;
  const char *domain = ""; ///< ONNX's own; `since` and `until` count the domain's versions
  /// What of it is refused beyond what types and shapes say, or must be known while importing: a constant of the graph
  /// or bound. For docs/Operators.md.
  const char *limits = "";
};

/// Newest opset of ONNX's own domain whose operators were read for this table.
inline constexpr int64_t newestOpset = 27;
/// For maxInputs of variadic operators.
inline constexpr int anyInputs = 1 << 20;

llvm::ArrayRef<Operator> constantOperators();
llvm::ArrayRef<Operator> convOperators();
llvm::ArrayRef<Operator> deconvOperators();
llvm::ArrayRef<Operator> poolOperators();
llvm::ArrayRef<Operator> gemmOperators();
llvm::ArrayRef<Operator> einsumOperators();
llvm::ArrayRef<Operator> quantizeOperators();
llvm::ArrayRef<Operator> unaryOperators();
llvm::ArrayRef<Operator> activationOperators();
llvm::ArrayRef<Operator> binaryOperators();
llvm::ArrayRef<Operator> reduceOperators();
llvm::ArrayRef<Operator> softmaxOperators();
llvm::ArrayRef<Operator> extremeOperators();
llvm::ArrayRef<Operator> scanOperators();
llvm::ArrayRef<Operator> normalizationOperators();
llvm::ArrayRef<Operator> lossOperators();
llvm::ArrayRef<Operator> shapeOperators();
llvm::ArrayRef<Operator> movementOperators();
llvm::ArrayRef<Operator> padOperators();
llvm::ArrayRef<Operator> gatherOperators();
llvm::ArrayRef<Operator> scatterOperators();
llvm::ArrayRef<Operator> resizeOperators();
llvm::ArrayRef<Operator> attentionOperators();
llvm::ArrayRef<Operator> sequenceOperators();
llvm::ArrayRef<Operator> recurrentOperators();
llvm::ArrayRef<Operator> samplingOperators();
llvm::ArrayRef<Operator> signalOperators();
llvm::ArrayRef<Operator> determinantOperators();
llvm::ArrayRef<Operator> contribOperators();
llvm::ArrayRef<Operator> controlOperators();
llvm::ArrayRef<Operator> trainingOperators();
llvm::ArrayRef<Operator> contribAttentionOperators();
llvm::ArrayRef<Operator> contribQuantizedOperators();
llvm::ArrayRef<Operator> featureOperators();
llvm::ArrayRef<Operator> machineOperators();
llvm::ArrayRef<Operator> treeOperators();
llvm::ArrayRef<Operator> gramOperators();

/// Every row, by domain, name and first version.
std::vector<Operator> allOperators();

/// The row for an operator at an opset of a domain, or null.
const Operator *findOperator(const std::string &domain, const std::string &name, int64_t opset);

} // namespace wsc::import
