// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seeded inputs of an entry: the same for the same seed, on every host.
#pragma once

#include "runtime/session/TensorFile.h"

#include <cstdint>
#include <map>
#include <string>

namespace wsc {

// Seeded elements: floats in [-1, 1), integers in 0 … 15, booleans.
Tensor randomTensor(const format::TensorType &type, uint64_t seed);

// All inputs of an entry, of sample number `sample`.
std::map<std::string, Tensor> randomInputs(const format::Entry &entry, uint64_t seed, int sample);

} // namespace wsc
