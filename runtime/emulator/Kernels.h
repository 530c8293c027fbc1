// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of the core engine, in one version per CPU level with the same bits: recognised nests, and array forms of
// every opcode and element type.
//
// A nest is acc[v,s] = op over taps t, in order, of vec[v + t.vec] · scl[s + t.scl]: every accumulator element is one
// in-order chain of single-rounded multiply-adds, so elements may be spread over vector lanes and registers freely.
#pragma once

#include "runtime/format/Isa.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace wsc::emulator {

constexpr int64_t kSlackBytes = 64; // that kernels may load past the end of what they work on

enum class CpuLevel : uint8_t { Portable, Avx2, Avx512 };

// The highest level of this machine, or the lower one named by WSC_CPU=portable|avx2|avx512.
CpuLevel cpuLevel();

// All offsets in elements. Up to 16 (wide) or 8 (narrow) neighbouring accumulators.
struct NestVector {
  int32_t vec = 0, acc = 0, lanes = 0;
  bool operator==(const NestVector &) const = default;
};
struct NestScalar {
  int32_t scl = 0, acc = 0;
  bool operator==(const NestScalar &) const = default;
};
struct NestTap {
  int32_t vec = 0, scl = 0;
  bool operator==(const NestTap &) const = default;
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
  // Fma of one vector of 1 to 8 lanes and scalars of one stride whose accumulators are packed, as taps' scalars are.
  bool shortRows;
  bool tapRun = false;        // taps of the vector operand lie one behind the other
  bool fresh = false;         // accumulators begin as zeros; else with what `acc` holds
  float *out = nullptr;       // where results go, at accumulators' offsets: `acc`, or elsewhere
  const float *add = nullptr; // results are these, at the same offsets, plus the accumulators; may be null
};

// Nests of one form, each added to the sum of those before: out = (add + nest 0) + nest 1 …, where every nest's
// accumulators begin as zeros.
struct NestChain {
  const float *const *vec, *const *scl; // per nest: element 0 of its sources
  int32_t nests;
  const float *add; // null: zeros
  float *out;
};

// dst[i] = opcode of dst[i], a[i] and b[i] for packed elements; dst may be the very address of a source. `b` of the
// scalar forms is one element.
using ArrayOp = void (*)(std::byte *dst, const std::byte *a, const std::byte *b, int64_t n);

struct Kernels {
  void (*nest)(NestOp op, const NestTile &tile, const float *acc, const float *vec, const float *scl);
  // Chains of the tile's form, which is one of short rows; accumulators lie as in a tile.
  void (*chains)(const NestTile &tile, std::span<const NestChain> chains);
  bool wideVectors; // 16 lanes pay
  // Elements of the computing type `type`: valueType(…) for arithmetic; for Select the type or the unsigned one of its
  // width; for And, Or and Xor that one. Null when there is no such form.
  ArrayOp (*array)(format::Opcode opcode, format::ElementType type, bool scalarB);
  // dst = opcode over dst and a[0], a[1], … in order, for ReduceX; `type` is a valueType, f16 or bf16.
  ArrayOp (*chain)(format::Opcode opcode, format::ElementType type);
  // dst[i] = a[i] converted: from a valueType to any type, from any type to its valueType, from bool to bool.
  ArrayOp (*convert)(format::ElementType from, format::ElementType to);
};

const Kernels &kernels(CpuLevel level);

// What elements of `type` are computed in: f32, f64, i32, u32, i64 or u64.
format::ElementType valueType(format::ElementType type);

// out[phase · phaseLength + i] = in[i · phases + phase].
void deinterleave(const float *in, int64_t elements, int phases, int64_t phaseLength, float *out);

extern const Kernels kPortableKernels, kAvx2Kernels, kAvx512Kernels;

} // namespace wsc::emulator
