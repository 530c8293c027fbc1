// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A planned move as instructions.
#pragma once

#include "compiler/spmd/collectives/Collectives.h"
#include "compiler/spmd/moves/Move.h"

#include <functional>

namespace wsc::spmd {

/// Makes a constant buffer of the code: `elements` numbers for each of rows × cols cores, row by row; 1 row (column)
/// stands for all.
using ConstantMaker = std::function<int16_t(const std::string &name, format::ElementType type, int32_t rows,
                                            int32_t cols, int64_t elements, std::vector<std::byte> data)>;

/// Appends the move; the sources' local boxes lie at `sources`, padded to whole words. Returns where the wanted
/// elements lie, packed: a source's own place where the plan has no stages.
Place emitMove(Code &code, const MoveProblem &problem, const MovePlan &plan, const std::vector<Place> &sources,
               const ConstantMaker &makeConstant);

/// The same for a move in parts; `wanting`: the cores that want something.
Place emitMove(Code &code, const MoveProblem &problem, const std::vector<MovePart> &parts,
               const std::vector<Place> &sources, const Rectangle &wanting, const ConstantMaker &makeConstant);

/// Bytes of a buffer of elements that travels as whole words.
int64_t wordBytes(format::ElementType type, int64_t elements);
/// The bits of 1 in a type, which Select takes for true.
uint64_t onePattern(format::ElementType type);
/// A scratch buffer for `elements` elements, padded to whole words.
int16_t wordScratch(Code &code, const std::string &name, format::ElementType type, int64_t elements);

} // namespace wsc::spmd
