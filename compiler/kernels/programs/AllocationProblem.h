// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The SRAM of a core as a problem of the solver, and where the compiler put its buffers as a solution.
//
// The compiler lays buffers one after the other. The problem knows more: a scratch buffer that one thread alone touches
// lives from the first instruction that does to the last, a loop nest counting as one step; all others (weights, state,
// FIFOs, what threads share) live always. Its bound says what sharing bytes could save.
#pragma once

#include "compiler/kernels/network/PosedProblem.h"
#include "compiler/solver/Allocation.h"
#include "runtime/format/Executable.h"

#include <vector>

namespace wsc::kernels {

solver::allocation::Problem allocationProblem(const target::Target &target, const format::Role &role,
                                              solver::allocation::Solution &chosen);

// For every kernel, the problem of its fullest core and the compiler's solution: allocation.KERNEL and
// allocation.KERNEL.solution.
std::vector<PosedProblem> allocationProblems(const target::Target &target, const format::Configuration &configuration);

} // namespace wsc::kernels
