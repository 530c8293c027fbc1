// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels for AVX-512 (F, VL, DQ, BW): 16 lanes, and 8 masked lanes for narrow tiles.
#include "runtime/emulator/Kernels.h"

#if defined(__x86_64__)
#include "runtime/numerics/Arithmetic.h"
#include "runtime/numerics/ElementTraits.h"

#include <cstring>
#include <immintrin.h>

#define WSC_AVX2
#define WSC_MASKED
#define WSC_TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")))
#define WSC_FORCE WSC_TARGET static inline __attribute__((always_inline))

namespace wsc::emulator {
namespace {

WSC_FORCE float scalarFma(float a, float b, float c) { return numerics::canonical(__builtin_fmaf(a, b, c)); }
WSC_FORCE double scalarFma(double a, double b, double c) { return numerics::canonical(__builtin_fma(a, b, c)); }

struct Wide {
  using Reg = __m512;
  using Mask = __mmask16;
  static constexpr int kRegisters = 24;
  WSC_FORCE Mask mask(int lanes) { return Mask((1u << lanes) - 1); }
  WSC_FORCE Reg load(const float *p, Mask m) { return _mm512_maskz_loadu_ps(m, p); }
  WSC_FORCE void store(float *p, Mask m, Reg r) { _mm512_mask_storeu_ps(p, m, r); }
  WSC_FORCE Reg splat(float x) { return _mm512_set1_ps(x); }
  WSC_FORCE Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
  WSC_FORCE Reg add(Reg a, Reg b) { return _mm512_add_ps(a, b); }
  WSC_FORCE Reg canonical(Reg r) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(r, r, _CMP_UNORD_Q), r,
                                _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000)));
  }
  // Equal values differ in bits only for zeros: AND keeps +0 (max), OR keeps -0 (min).
  WSC_FORCE Reg max(Reg a, Reg b) {
    Reg r = _mm512_max_ps(a, b);
    r = _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ), r, _mm512_and_ps(a, b));
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q), r,
                                _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000)));
  }
  WSC_FORCE Reg min(Reg a, Reg b) {
    Reg r = _mm512_min_ps(a, b);
    r = _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ), r, _mm512_or_ps(a, b));
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q), r,
                                _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000)));
  }
};

struct Narrow {
  using Reg = __m256;
  using Mask = __mmask8;
  static constexpr int kRegisters = 24;
  WSC_FORCE Mask mask(int lanes) { return Mask((1u << lanes) - 1); }
  WSC_FORCE Reg load(const float *p, Mask m) { return _mm256_maskz_loadu_ps(m, p); }
  WSC_FORCE void store(float *p, Mask m, Reg r) { _mm256_mask_storeu_ps(p, m, r); }
  WSC_FORCE Reg splat(float x) { return _mm256_set1_ps(x); }
  WSC_FORCE Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
  WSC_FORCE Reg add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
  WSC_FORCE Reg canonical(Reg r) {
    return _mm256_mask_blend_ps(_mm256_cmp_ps_mask(r, r, _CMP_UNORD_Q), r,
                                _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)));
  }
  WSC_FORCE Reg max(Reg a, Reg b) {
    Reg r = _mm256_max_ps(a, b);
    r = _mm256_mask_blend_ps(_mm256_cmp_ps_mask(a, b, _CMP_EQ_OQ), r, _mm256_and_ps(a, b));
    return _mm256_mask_blend_ps(_mm256_cmp_ps_mask(a, b, _CMP_UNORD_Q), r,
                                _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)));
  }
  WSC_FORCE Reg min(Reg a, Reg b) {
    Reg r = _mm256_min_ps(a, b);
    r = _mm256_mask_blend_ps(_mm256_cmp_ps_mask(a, b, _CMP_EQ_OQ), r, _mm256_or_ps(a, b));
    return _mm256_mask_blend_ps(_mm256_cmp_ps_mask(a, b, _CMP_UNORD_Q), r,
                                _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)));
  }
};

// Of chains of short rows.
struct Rows {
  using Reg = __m512;
  static constexpr int kRows = 16, kLanes = 6;
  static constexpr int vectors(int lanes) { return lanes <= 3 ? 4 : 2; }
  WSC_FORCE Reg load(const float *p) { return _mm512_load_ps(p); }
  WSC_FORCE void store(float *p, Reg r) { _mm512_store_ps(p, r); }
  WSC_FORCE Reg splat(float x) { return _mm512_set1_ps(x); }
  WSC_FORCE Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
  WSC_FORCE Reg add(Reg a, Reg b) { return _mm512_add_ps(a, b); }
};

#include "runtime/emulator/Kernels.inc"

#include "runtime/emulator/ArrayKernels.inc"

} // namespace

const Kernels kAvx512Kernels{nest, nestChains, true, arrayOp, chainOp, convertOp};

} // namespace wsc::emulator
#endif
