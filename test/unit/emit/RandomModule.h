// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random modules of canonical form: every construct, every field that means something, whatever the hardware would say
// to it.
#pragma once

#include "compiler/emit/Module.h"

#include <cstdint>

namespace wsc::emit {

CoreModule randomModule(uint64_t seed);

// A module of the size of a large network: `roles` roles of `instructions` instructions each, with buffers and routers.
CoreModule largeModule(int roles, int instructions);

// All content as text, bit for bit, so that two modules are the same exactly when their texts are. Not IR: a second way
// to look at the structs.
std::string describe(const CoreModule &module);

} // namespace wsc::emit
