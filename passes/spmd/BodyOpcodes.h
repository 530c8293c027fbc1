// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which scalar operations of the IR are one opcode of a core.
#pragma once

#include "runtime/format/Isa.h"

#include "llvm/ADT/StringRef.h"

namespace wsc::spmd {

enum IntegerSign { Any, Signed, Unsigned };

struct BodyOpcode {
  format::Opcode opcode;
  IntegerSign sign = Any; // in which the operation takes integers
};

/// Null for an operation of this name that is no single opcode.
const BodyOpcode *findBodyOpcode(llvm::StringRef operation);

} // namespace wsc::spmd
