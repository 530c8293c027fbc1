// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The f32 routines over arrays, with the bits of the scalar forms. dst may be one of the sources (the very same
// address); any other overlap is not allowed. On x86 the widest of AVX-512, AVX2 and the baseline is taken at run time;
// the bits are the same.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wsc::numerics {

void expArray(float *dst, const float *src, size_t n);
void logArray(float *dst, const float *src, size_t n);
void tanhArray(float *dst, const float *src, size_t n);
void erfArray(float *dst, const float *src, size_t n);
void sigmoidArray(float *dst, const float *src, size_t n);
void sqrtArray(float *dst, const float *src, size_t n);
void rsqrtArray(float *dst, const float *src, size_t n);
void reciprocalArray(float *dst, const float *src, size_t n);
void sinArray(float *dst, const float *src, size_t n);
void cosArray(float *dst, const float *src, size_t n);
void floorArray(float *dst, const float *src, size_t n);
void ceilArray(float *dst, const float *src, size_t n);
void roundArray(float *dst, const float *src, size_t n);
void powArray(float *dst, const float *a, const float *b, size_t n);
void divArray(float *dst, const float *a, const float *b, size_t n);

// The half types, as their 16 bits.
void f16ToF32Array(float *dst, const uint16_t *src, size_t n);
void f32ToF16Array(uint16_t *dst, const float *src, size_t n);
void bf16ToF32Array(float *dst, const uint16_t *src, size_t n);
void f32ToBF16Array(uint16_t *dst, const float *src, size_t n);

} // namespace wsc::numerics
