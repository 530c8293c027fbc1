// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the elementwise kinds of nn do to one element: floats in double precision, integers exactly.
#pragma once
#include "dialects/nn/Nn.h"

namespace wsc::test {

double unaryFloat(nn::UnaryKind kind, double x);
int64_t unaryInteger(nn::UnaryKind kind, int64_t x, bool isUnsigned);
/// Comparisons give 1 or 0.
double binaryFloat(nn::BinaryKind kind, double a, double b);
/// On integers of `bits` bits held as int64 (unsigned ones as their bits); the caller wraps the result.
int64_t binaryInteger(nn::BinaryKind kind, int64_t a, int64_t b, unsigned bits, bool isUnsigned);

} // namespace wsc::test
