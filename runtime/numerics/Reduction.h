// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reduction of angles by π/2 for magnitudes where Cody-Waite no longer holds.
#pragma once

namespace wsc::numerics {

// x = (4n + quadrant)·π/2 + high + low with |high + low| <= π/4.
struct Angle {
  double high, low;
  int quadrant; // 0 to 3
};

// For |x| >= 1: good to about 2^-70 relative. Infinities and NaN give NaN.
Angle reduceAngle(double x);

} // namespace wsc::numerics
