// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of a core, the same bits on every host; docs/Numerics.md states the rules. This header brings all
// parts: scalar routines for f32 and f64, conversions, single elements by opcode, and array forms.
#pragma once

#include "runtime/numerics/Arrays.h"
#include "runtime/numerics/Convert.h"
#include "runtime/numerics/Elements.h"
#include "runtime/numerics/Float32.h"
#include "runtime/numerics/Float64.h"
