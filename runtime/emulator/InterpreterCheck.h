// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the scalar interpreter asks of a role before it runs it, so that execution itself only checks addresses. Also
// the names of cores and instructions in its messages, and the element types of an instruction's operands.
#pragma once

#include "runtime/emulator/Interpreter.h"

#include "absl/status/status.h"

#include <string>

namespace wsc::emulator {

// "role conv3, core (1,0,0,2)" and "role conv3, core (1,0,0,2), thread 0, instruction 7 (fma)".
std::string coreName(const format::Role &role, const format::LatticeIndex &index);
std::string instructionName(const format::Role &role, const format::LatticeIndex &index, size_t thread,
                            size_t instruction);

// Sizes, element types and sections of the buffers.
absl::Status checkBuffers(const format::Executable &executable, const format::Role &role,
                          const format::LatticeIndex &index);
// Opcodes, operands and loops; every queue and either end of every FIFO used by one thread.
absl::Status checkProgram(const format::Role &role, const format::LatticeIndex &index);
// The image fits the buffers and the received words the queues.
absl::Status checkContents(const format::Role &role, const format::LatticeIndex &index, const CoreImage &image,
                           const std::vector<std::vector<std::byte>> &received);

} // namespace wsc::emulator
