// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase whose cores take many words and need few. Core k of a row of n + 1 takes n words from the west and, later, as
// many from the last core, which has multiplied them; it gives its own one of each to the south. It takes them
// in two parts of k + 1 and n − k − 1 words, as in gathers along a line, the first n at once unless `inParts`.
//
//     x ──► 0 ──► 1 ──► … ──► n        words 0 … n − 1
//           ◄──── ◄──── … ◄────        −2 times these
//           ▼     ▼                    x[k], −2 x[k]
#pragma once

#include "test/unit/phases/RowPhase.h"

#include <utility>

namespace wsc::testing {

inline PhaseProgram fewWords(int32_t n, bool inParts) {
  using namespace format;
  RowPhase row(n);
  PhaseProgram &program = row.program;
  row.route(RowPhase::kWords, 0, n, Port::West, {Port::Ramp, Port::East});
  row.route(RowPhase::kWords, n, 1, Port::West, {Port::Ramp});

  RoleBuilder taker(program, "taker");
  taker.memoryFrom(8192);
  taker.role.cores = rectangle(0, 0, 1, n);
  const Op words = taker.scratch("words", ElementType::F32, n),
           products = taker.scratch("products", ElementType::F32, n);
  const Op in = taker.input(RowPhase::kWords), back = taker.input(RowPhase::kProducts),
           out = taker.output(RowPhase::kResults);
  const Affine own = affine(0, {0, 0, 0, 1}), behind = affine(1, {0, 0, 0, 1}), rest = affine(n - 1, {0, 0, 0, -1});
  ThreadBuilder thread = taker.thread();
  if (inParts)
    thread.move(words, in, {behind}).move(words.at(behind), in, {rest});
  else
    thread.move(words, in, {n});
  thread.move(products, back, {behind})
      .move(products.at(behind), back, {rest})
      .move(out, words.at(own), {1})
      .move(out, products.at(own), {1});
  taker.finish();
  RoleBuilder multiplier(program, "multiplier");
  multiplier.memoryFrom(8192);
  multiplier.role.cores = rectangle(0, n, 1, 1);
  const Op taken = multiplier.input(RowPhase::kWords), given = multiplier.output(RowPhase::kProducts);
  multiplier.thread().op(Opcode::Mul, given, taken, imm(-2), {n});
  multiplier.finish();
  return std::move(row.program);
}

} // namespace wsc::testing
