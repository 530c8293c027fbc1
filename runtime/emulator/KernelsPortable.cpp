// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels for any CPU: arrays of 8 lanes, the multiply-add emulated exactly.
#include "runtime/emulator/Kernels.h"

#include "runtime/numerics/Arithmetic.h"
#include "runtime/numerics/ElementTraits.h"

#include <cstring>

#define WSC_TARGET
#define WSC_FORCE static inline __attribute__((always_inline))

namespace wsc::emulator {
namespace {

WSC_FORCE float scalarFma(float a, float b, float c) { return numerics::fma(a, b, c); }
WSC_FORCE double scalarFma(double a, double b, double c) { return numerics::fma(a, b, c); }

struct Narrow {
  struct Reg {
    float lane[8];
  };
  using Mask = int;
  static constexpr int kRegisters = 4;
  WSC_FORCE Mask mask(int lanes) { return lanes; }
  WSC_FORCE Reg load(const float *p, Mask m) {
    Reg r{};
    for (int i = 0; i < m; ++i)
      r.lane[i] = p[i];
    return r;
  }
  WSC_FORCE void store(float *p, Mask m, Reg r) {
    for (int i = 0; i < m; ++i)
      p[i] = r.lane[i];
  }
  WSC_FORCE Reg splat(float x) {
    Reg r;
    for (int i = 0; i < 8; ++i)
      r.lane[i] = x;
    return r;
  }
  WSC_FORCE Reg fma(Reg a, Reg b, Reg c) {
    for (int i = 0; i < 8; ++i)
      c.lane[i] = numerics::fma(a.lane[i], b.lane[i], c.lane[i]);
    return c;
  }
  WSC_FORCE Reg add(Reg a, Reg b) {
    for (int i = 0; i < 8; ++i)
      a.lane[i] = numerics::add(a.lane[i], b.lane[i]);
    return a;
  }
  WSC_FORCE Reg canonical(Reg r) {
    for (int i = 0; i < 8; ++i)
      r.lane[i] = numerics::canonical(r.lane[i]);
    return r;
  }
  WSC_FORCE Reg max(Reg a, Reg b) {
    for (int i = 0; i < 8; ++i)
      a.lane[i] = numerics::max(a.lane[i], b.lane[i]);
    return a;
  }
  WSC_FORCE Reg min(Reg a, Reg b) {
    for (int i = 0; i < 8; ++i)
      a.lane[i] = numerics::min(a.lane[i], b.lane[i]);
    return a;
  }
};
using Wide = Narrow;

#include "runtime/emulator/Kernels.inc"

#include "runtime/emulator/ArrayKernels.inc"

} // namespace

const Kernels kPortableKernels{nest, nestChains, false, arrayOp, chainOp, convertOp};

} // namespace wsc::emulator
