// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of TensorFlow's operators: how many inputs each takes and which function translates it. Each family of
// operators has one file under ops/ that exports its part of the table.
#pragma once
#include "compiler/import/tf/NodeContext.h"
#include "llvm/ADT/ArrayRef.h"

namespace wsc::import::tf {

using Handler = void (*)(NodeContext &node);

struct Operator {
  const char *name;
  int minInputs; ///< control inputs do not count
  int maxInputs;
  Handler handler;          ///< null: the evaluator's own (control flow)
  const char *results = ""; ///< names of the results where there are several, with commas in between
  bool writes = false;      ///< changes a variable
  bool reads = false;       ///< gives a variable's value
  bool isVariable = false;  ///< makes a variable
};

/// For maxInputs of variadic operators.
inline constexpr int anyInputs = 1 << 20;

struct Family {
  const char *title;
  llvm::ArrayRef<Operator> operators;
};
/// All families, in the order of the support page.
llvm::ArrayRef<Family> families();

llvm::ArrayRef<Operator> structureOperators();
llvm::ArrayRef<Operator> controlOperators();
llvm::ArrayRef<Operator> functionOperators();
llvm::ArrayRef<Operator> listOperators();
llvm::ArrayRef<Operator> variableOperators();
llvm::ArrayRef<Operator> constantOperators();
llvm::ArrayRef<Operator> shapeOperators();
llvm::ArrayRef<Operator> movementOperators();
llvm::ArrayRef<Operator> diagonalOperators();
llvm::ArrayRef<Operator> gatherOperators();
llvm::ArrayRef<Operator> searchOperators();
llvm::ArrayRef<Operator> unaryOperators();
llvm::ArrayRef<Operator> specialOperators();
llvm::ArrayRef<Operator> quantizeOperators();
llvm::ArrayRef<Operator> binaryOperators();
llvm::ArrayRef<Operator> reduceOperators();
llvm::ArrayRef<Operator> contractionOperators();
llvm::ArrayRef<Operator> linearAlgebraOperators();
llvm::ArrayRef<Operator> convOperators();
llvm::ArrayRef<Operator> fusedOperators();
llvm::ArrayRef<Operator> poolOperators();
llvm::ArrayRef<Operator> tapOperators();
llvm::ArrayRef<Operator> normalizationOperators();
llvm::ArrayRef<Operator> imageOperators();
llvm::ArrayRef<Operator> samplingOperators();
llvm::ArrayRef<Operator> colorOperators();
llvm::ArrayRef<Operator> spaceOperators();
llvm::ArrayRef<Operator> recurrentOperators();
llvm::ArrayRef<Operator> gradientOperators();
llvm::ArrayRef<Operator> optimizerOperators();

/// The row of an operator, or null.
const Operator *findOperator(const std::string &name);

/// docs/TensorFlow.md's list of operators, from the table.
std::string supportPage();

} // namespace wsc::import::tf
