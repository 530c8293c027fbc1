// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Array loops over the inline scalar routines, compiled for several instruction sets and chosen once at run time.
// Nothing but the width of the vectors differs, since contraction is off and the routines use separately rounded
// operations only.
#include "runtime/numerics/Arrays.h"

#include "runtime/numerics/Convert.h"
#include "runtime/numerics/Float32.h"

namespace wsc::numerics {

#if defined(__clang__)
#define WSC_LANES _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define WSC_LANES _Pragma("GCC ivdep")
#else
#define WSC_LANES
#endif

// NAME(dst, src, n) calls `loops::NAME`, compiled once per instruction set.
#if defined(__x86_64__) && defined(__clang__)
static int hostLanes() {
  static const int lanes = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") ? 512
                           : __builtin_cpu_supports("avx2")                                        ? 256
                                                                                                   : 128;
  return lanes;
}
#define WSC_MULTIVERSION(NAME, PARAMETERS, ARGUMENTS)                                                                  \
  static __attribute__((target("avx512f,avx512dq"))) void NAME##Avx512 PARAMETERS { loops::NAME ARGUMENTS; }           \
  static __attribute__((target("avx2"))) void NAME##Avx2 PARAMETERS { loops::NAME ARGUMENTS; }                         \
  static void NAME##Baseline PARAMETERS { loops::NAME ARGUMENTS; }                                                     \
  void NAME PARAMETERS {                                                                                               \
    int lanes = hostLanes();                                                                                           \
    (lanes == 512 ? NAME##Avx512 : lanes == 256 ? NAME##Avx2 : NAME##Baseline) ARGUMENTS;                              \
  }
#else
#define WSC_MULTIVERSION(NAME, PARAMETERS, ARGUMENTS)                                                                  \
  void NAME PARAMETERS { loops::NAME ARGUMENTS; }
#endif

#define WSC_UNARY(NAME, RESULT, SOURCE, ROUTINE)                                                                       \
  namespace loops {                                                                                                    \
  static WSC_INLINE void NAME(RESULT *dst, const SOURCE *src, size_t n) {                                              \
    WSC_LANES                                                                                                          \
    for (size_t i = 0; i < n; ++i)                                                                                     \
      dst[i] = ROUTINE(src[i]);                                                                                        \
  }                                                                                                                    \
  }                                                                                                                    \
  WSC_MULTIVERSION(NAME, (RESULT * dst, const SOURCE *src, size_t n), (dst, src, n))

#define WSC_BINARY(NAME, ROUTINE)                                                                                      \
  namespace loops {                                                                                                    \
  static WSC_INLINE void NAME(float *dst, const float *a, const float *b, size_t n) {                                  \
    WSC_LANES                                                                                                          \
    for (size_t i = 0; i < n; ++i)                                                                                     \
      dst[i] = ROUTINE(a[i], b[i]);                                                                                    \
  }                                                                                                                    \
  }                                                                                                                    \
  WSC_MULTIVERSION(NAME, (float *dst, const float *a, const float *b, size_t n), (dst, a, b, n))

WSC_UNARY(expArray, float, float, numerics::exp)
WSC_UNARY(logArray, float, float, numerics::log)
WSC_UNARY(tanhArray, float, float, numerics::tanh)
WSC_UNARY(erfArray, float, float, numerics::erf)
WSC_UNARY(sigmoidArray, float, float, numerics::sigmoid)
WSC_UNARY(sqrtArray, float, float, numerics::sqrt)
WSC_UNARY(rsqrtArray, float, float, numerics::rsqrt)
WSC_UNARY(reciprocalArray, float, float, numerics::reciprocal)
WSC_UNARY(floorArray, float, float, numerics::floor)
WSC_UNARY(ceilArray, float, float, numerics::ceil)
WSC_UNARY(roundArray, float, float, numerics::round)
WSC_UNARY(f16ToF32Array, float, uint16_t, numerics::f16ToF32)
WSC_UNARY(f32ToF16Array, uint16_t, float, numerics::f32ToF16)
WSC_UNARY(bf16ToF32Array, float, uint16_t, numerics::bf16ToF32)
WSC_UNARY(f32ToBF16Array, uint16_t, float, numerics::f32ToBF16)
WSC_BINARY(powArray, numerics::pow)
WSC_BINARY(divArray, numerics::div)

// Blocks with an angle beyond Cody-Waite's range go element by element.
namespace loops {
static WSC_INLINE void sines(float *dst, const float *src, size_t n, uint64_t shift) {
  constexpr size_t kBlock = 256;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    size_t end = n - begin < kBlock ? n : begin + kBlock;
    uint32_t large = 0;
    for (size_t i = begin; i < end; ++i)
      large |= detail::needsLargeReduction(src[i]) ? 1u : 0u;
    if (large) {
      for (size_t i = begin; i < end; ++i)
        dst[i] = shift ? numerics::cos(src[i]) : numerics::sin(src[i]);
      continue;
    }
    WSC_LANES
    for (size_t i = begin; i < end; ++i)
      dst[i] = detail::sinSmall(src[i], shift);
  }
}
} // namespace loops
WSC_MULTIVERSION(sines, (float *dst, const float *src, size_t n, uint64_t shift), (dst, src, n, shift))
void sinArray(float *dst, const float *src, size_t n) { sines(dst, src, n, 0); }
void cosArray(float *dst, const float *src, size_t n) { sines(dst, src, n, 1); }

} // namespace wsc::numerics
