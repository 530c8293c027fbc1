// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies that only rename: a buffer that another one is copied into, where both never need to differ, becomes a part of
// it, and the copy goes. Moves and nests are emitted one by one and hand each other packed buffers; this makes the
// words of a bus land where the nest behind it reads them.
//
//     move landing[0…383] ← queue                 move landing[0…383] ← queue
//     move operand[0…383] ← landing[0…383]   ══►
//     fma  sums ← operand, weights                fma  sums ← landing, weights
#pragma once

#include "compiler/spmd/program/Code.h"
#include "runtime/target/Target.h"

#include <cstdint>

namespace wsc::spmd {

struct MergedCopies {
  int64_t copies = 0;      // that are gone
  int64_t savedCycles = 0; // of a core that executes them all: set-up, and a cycle for each element
};

/// Goes through the copies outside of loops, in order: Moves between two buffers with the same strides on both sides. A
/// copy dst ← src goes
///
///  - where it is the first instruction to name the scratch buffer dst, and src is written before on all cores that
///    copy: dst becomes a part of src, unless both are needed later and one of them is written;
///  - where src is scratch that is copied whole, dst a resident that nothing names from src's first instruction to the
///    copy, and all that write src run on the copy's cores: src becomes a part of dst.
///
/// Buffers that instructions access by index, FIFOs and buffers in Code::clamped keep their bytes. A buffer is not made
/// to hold SRAM for longer than before unless the other one is about as large. `rectangle`: the cores that run the
/// code.
MergedCopies mergeCopies(Code &code, const Rectangle &rectangle, const target::Target &target);

} // namespace wsc::spmd
