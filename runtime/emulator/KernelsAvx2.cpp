// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels for AVX2 with FMA: 8 lanes; wide vectors are not used.
#include "runtime/emulator/Kernels.h"

#if defined(__x86_64__)
#include "runtime/numerics/Arithmetic.h"
#include "runtime/numerics/ElementTraits.h"

#include <cstring>
#include <immintrin.h>

#define WSC_AVX2
#define WSC_TARGET __attribute__((target("avx2,fma")))
#define WSC_FORCE WSC_TARGET static inline __attribute__((always_inline))

namespace wsc::emulator {
namespace {

WSC_FORCE float scalarFma(float a, float b, float c) { return numerics::canonical(__builtin_fmaf(a, b, c)); }
WSC_FORCE double scalarFma(double a, double b, double c) { return numerics::canonical(__builtin_fma(a, b, c)); }

alignas(32) constexpr int32_t kMasks[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

// Masked stores take tens of operations on some processors.
WSC_FORCE void storeFirst(float *p, int lanes, __m256 r) {
  if (lanes == 8)
    return _mm256_storeu_ps(p, r);
  __m128 rest = _mm256_castps256_ps128(r);
  if (lanes & 4) {
    _mm_storeu_ps(p, rest);
    rest = _mm256_extractf128_ps(r, 1);
    p += 4;
  }
  if (lanes & 2) {
    _mm_storel_pi(reinterpret_cast<__m64 *>(p), rest);
    rest = _mm_movehl_ps(rest, rest);
    p += 2;
  }
  if (lanes & 1)
    _mm_store_ss(p, rest);
}

struct Narrow {
  using Reg = __m256;
  struct Mask {
    const __m256i *bits;
    int lanes;
  };
  static constexpr int kRegisters = 12;
  WSC_FORCE Mask mask(int lanes) { return {reinterpret_cast<const __m256i *>(kMasks + 8 - lanes), lanes}; }
  WSC_FORCE Reg load(const float *p, Mask m) { return _mm256_maskload_ps(p, _mm256_loadu_si256(m.bits)); }
  WSC_FORCE void store(float *p, Mask m, Reg r) { storeFirst(p, m.lanes, r); }
  WSC_FORCE Reg splat(float x) { return _mm256_set1_ps(x); }
  WSC_FORCE Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
  WSC_FORCE Reg add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
  WSC_FORCE Reg nan() { return _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)); }
  WSC_FORCE Reg canonical(Reg r) { return _mm256_blendv_ps(r, nan(), _mm256_cmp_ps(r, r, _CMP_UNORD_Q)); }
  // Equal values differ in bits only for zeros: AND keeps +0 (max), OR keeps -0 (min).
  WSC_FORCE Reg max(Reg a, Reg b) {
    Reg r = _mm256_blendv_ps(_mm256_max_ps(a, b), _mm256_and_ps(a, b), _mm256_cmp_ps(a, b, _CMP_EQ_OQ));
    return _mm256_blendv_ps(r, nan(), _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
  }
  WSC_FORCE Reg min(Reg a, Reg b) {
    Reg r = _mm256_blendv_ps(_mm256_min_ps(a, b), _mm256_or_ps(a, b), _mm256_cmp_ps(a, b, _CMP_EQ_OQ));
    return _mm256_blendv_ps(r, nan(), _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
  }
};
using Wide = Narrow;

// Of chains of short rows.
struct Rows {
  using Reg = __m256;
  static constexpr int kRows = 8, kLanes = 3;
  static constexpr int vectors(int) { return 2; }
  WSC_FORCE Reg load(const float *p) { return _mm256_load_ps(p); }
  WSC_FORCE void store(float *p, Reg r) { _mm256_store_ps(p, r); }
  WSC_FORCE Reg splat(float x) { return _mm256_set1_ps(x); }
  WSC_FORCE Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
  WSC_FORCE Reg add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
};

#include "runtime/emulator/Kernels.inc"

#include "runtime/emulator/ArrayKernels.inc"

} // namespace

const Kernels kAvx2Kernels{nest, nestChains, false, arrayOp, chainOp, convertOp};

} // namespace wsc::emulator
#endif
