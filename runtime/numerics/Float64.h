// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The named routines for f64, out of line. Same rules as for f32: only + - * / and square root of the host, the same
// bits everywhere. Error bounds are in docs/Numerics.md.
#pragma once

#include "runtime/numerics/Bits.h"

namespace wsc::numerics {

WSC_INLINE double add(double a, double b) { return canonical(a + b); }
WSC_INLINE double sub(double a, double b) { return canonical(a - b); }
WSC_INLINE double mul(double a, double b) { return canonical(a * b); }
WSC_INLINE double div(double a, double b) { return canonical(a / b); }
WSC_INLINE double reciprocal(double x) { return canonical(1.0 / x); }
WSC_INLINE double rsqrt(double x) { return canonical(1.0 / numerics::sqrt(x)); }

double exp(double x);
double log(double x);
double tanh(double x);
double erf(double x);
double sigmoid(double x);
double pow(double a, double b);
double sin(double x);
double cos(double x);
double floor(double x);
double ceil(double x);
double round(double x); // halves to even
// Remainder of a / b with the sign of a, exact (C's fmod).
double mod(double a, double b);

} // namespace wsc::numerics
