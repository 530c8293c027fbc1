// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resizing along an axis: nearest elements, linear and cubic interpolation.
#pragma once
#include "compiler/import/common/Functions.h"
#include <string>

namespace wsc::import {

/// What all axes share.
struct Interpolation {
  std::string mode, coordinates, nearest;
  double cubic = -0.75, extrapolation = 0;
  bool antialias = false, excludeOutside = false;
};

/// One axis: extents, the exact scale, and the part of the input that tf_crop_and_resize takes.
struct ResizedAxis {
  int64_t input = 0, output = 0;
  double scale = 1, roiStart = 0, roiEnd = 1;
};

/// Dimension d resized; extents and scale are positive.
Expression resizeAxis(const Interpolation &form, const Expression &x, int64_t d, const ResizedAxis &axis);

} // namespace wsc::import
