// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Array kernels of the core engine, in one version per CPU level with the same bits: elementwise rows and recognised nests.
//
// A nest is acc[v,s] = op over taps t, in order, of vec[v + t.vec] · scl[s + t.scl]: every accumulator element is one in-order chain of single-rounded
// multiply-adds, so elements may be spread over vector lanes and registers freely.
#pragma once

#include "runtime/format/Isa.h"

#include <cstddef>
#include <cstdint>

namespace wsc::emulator {

enum class CpuLevel : uint8_t { Portable, Avx2, Avx512 };

// The highest level of this machine, or the lower one named by WSC_CPU=portable|avx2|avx512.
CpuLevel cpuLevel();

// All offsets in elements. Up to 16 (wide) or 8 (narrow) neighbouring accumulators.
struct NestVector {
  int32_t vec = 0, acc = 0, lanes = 0;
};
struct NestScalar {
  int32_t scl = 0, acc = 0;
};
struct NestTap {
  int32_t vec = 0, scl = 0;
};

enum class NestOp : uint8_t {
  Fma,        // acc += vec[lane] · scl
  FmaVectors, // acc += vec[lane] · scl[lane]; NestScalar unused, the second operand's offset is scalars[v].scl
  Add,        // acc += vec[lane]
  Min,
  Max,
};

// One rectangle of accumulators: vectors × scalars.
struct NestTile {
  const NestVector *vectors;
  const NestScalar *scalars;
  const NestTap *taps;
  int32_t numVectors, numScalars;
  int64_t numTaps;
  bool wide; // vectors of 16 lanes, else 8
};

// Element strides; extent[3] runs fastest. `ordered`: operands may overlap or dst repeats, keep strictly to element order.
struct RowOperands {
  float *dst;
  const float *a, *b;
  int64_t extent[4];
  int64_t dstStride[4], aStride[4], bStride[4];
  bool ordered;
};

struct Kernels {
  void (*nest)(NestOp op, const NestTile &tile, float *acc, const float *vec, const float *scl);
  // F32 (and Move of any 4-byte type). False when there is no array form of the opcode.
  bool (*elementwise)(format::Opcode opcode, const RowOperands &rows);
  bool wideVectors; // 16 lanes pay
};

const Kernels &kernels(CpuLevel level);
bool hasRowKernel(format::Opcode opcode);

// out[phase · phaseLength + i] = in[i · phases + phase].
void deinterleave(const float *in, int64_t elements, int phases, int64_t phaseLength, float *out);

extern const Kernels kPortableKernels, kAvx2Kernels, kAvx512Kernels;

} // namespace wsc::emulator
