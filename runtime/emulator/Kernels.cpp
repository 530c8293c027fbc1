// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choice of the CPU level and the kernels that need no versions.
#include "runtime/emulator/Kernels.h"

#include <cstdlib>
#include <string_view>

namespace wsc::emulator {

using format::ElementType;

CpuLevel cpuLevel() {
  CpuLevel level = CpuLevel::Portable;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    level = CpuLevel::Avx2;
  if (level == CpuLevel::Avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    level = CpuLevel::Avx512;
#endif
  if (const char *wanted = std::getenv("WSC_CPU")) {
    std::string_view name = wanted;
    CpuLevel limit = name == "portable" ? CpuLevel::Portable : name == "avx2" ? CpuLevel::Avx2 : CpuLevel::Avx512;
    if (limit < level)
      level = limit;
  }
  return level;
}

const Kernels &kernels(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::Avx512)
    return kAvx512Kernels;
  if (level == CpuLevel::Avx2)
    return kAvx2Kernels;
#endif
  return kPortableKernels;
}

ElementType valueType(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::F16:
  case ElementType::BF16:
    return ElementType::F32;
  case ElementType::F64:
  case ElementType::U32:
  case ElementType::I64:
  case ElementType::U64:
    return type;
  default:
    return ElementType::I32;
  }
}

void deinterleave(const float *__restrict in, int64_t elements, int phases, int64_t phaseLength,
                  float *__restrict out) {
  if (phases == 2) {
    int64_t pairs = elements / 2;
    for (int64_t i = 0; i < pairs; ++i) {
      out[i] = in[2 * i];
      out[phaseLength + i] = in[2 * i + 1];
    }
    if (elements & 1)
      out[pairs] = in[elements - 1];
    return;
  }
  for (int phase = 0; phase < phases; ++phase) {
    float *to = out + phase * phaseLength;
    for (int64_t e = phase; e < elements; e += phases)
      *to++ = in[e];
  }
}

} // namespace wsc::emulator
