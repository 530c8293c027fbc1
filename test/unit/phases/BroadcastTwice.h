// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase in which the last core of a row of n + 1 takes n words from the west and gives all others −2 times these;
// then, when core 0 has said that they have come, 3 times these. Core k gives number k of both to the south, so it
// reads the first ones behind the second, which take the emulator's memory of the first unless that must stay.
//
//     0 ──► 1 ──► … ──► n        n words; a word that the first have come
//     ◄──── ◄──── … ◄────        −2 x, then 3 x
//     ▼     ▼                    −2 x[k], 3 x[k]
#pragma once

#include "test/unit/phases/RowPhase.h"

#include <utility>

namespace wsc::testing {

inline PhaseProgram broadcastTwice(int32_t n) {
  using namespace format;
  RowPhase row(n);
  PhaseProgram &program = row.program;
  row.route(RowPhase::kWords, 0, n, Port::West, {Port::East});
  row.route(RowPhase::kWords, n, 1, Port::West, {Port::Ramp});
  row.route(RowPhase::kCome, 0, 1, Port::Ramp, {Port::East});
  row.route(RowPhase::kCome, 1, n - 1, Port::West, {Port::East});
  row.route(RowPhase::kCome, n, 1, Port::West, {Port::Ramp});

  for (const bool isFirst : {true, false}) {
    RoleBuilder taker(program, isFirst ? "first" : "taker");
    taker.memoryFrom(8192);
    taker.role.cores = isFirst ? rectangle(0, 0, 1, 1) : rectangle(0, 1, 1, n - 1);
    const int64_t col = isFirst ? 0 : 1; // of index 0
    const Op first = taker.scratch("first", ElementType::F32, n), second = taker.scratch("second", ElementType::F32, n);
    const Op in = taker.input(RowPhase::kProducts), out = taker.output(RowPhase::kResults);
    const Affine own = affine(col, {0, 0, 0, 1}), behind = affine(col + 1, {0, 0, 0, 1}),
                 rest = affine(n - 1 - col, {0, 0, 0, -1});
    ThreadBuilder thread = taker.thread();
    thread.move(first, in, {n});
    if (isFirst)
      thread.move(taker.output(RowPhase::kCome), first, {1});
    thread.move(second, in, {behind})
        .move(second.at(behind), in, {rest})
        .move(out, first.at(own), {1})
        .move(out, second.at(own), {1});
    taker.finish();
  }
  RoleBuilder giver(program, "giver");
  giver.memoryFrom(8192);
  giver.role.cores = rectangle(0, n, 1, 1);
  const Op words = giver.scratch("words", ElementType::F32, n), come = giver.scratch("come", ElementType::F32, 1);
  const Op taken = giver.input(RowPhase::kWords), told = giver.input(RowPhase::kCome),
           given = giver.output(RowPhase::kProducts);
  giver.thread()
      .move(words, taken, {n})
      .op(Opcode::Mul, given, words, imm(-2), {n})
      .move(come, told, {1})
      .op(Opcode::Mul, given, words, imm(3), {n});
  giver.finish();
  return std::move(row.program);
}

} // namespace wsc::testing
