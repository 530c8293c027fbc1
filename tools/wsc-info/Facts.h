// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers about an executable that several views show.
#pragma once

#include "runtime/format/Executable.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace wsc::info {

struct KernelFacts {
  int32_t configuration = 0, kernel = 0;
  int64_t cores = 0;     // cores whose role belongs to the kernel
  int64_t sramBytes = 0; // the fullest of them
};

struct Facts {
  int64_t coresTotal = 0;
  int64_t coresUsed = 0; // cores with a program in any configuration
  int64_t coresFma = 0;  // cores whose program holds a multiply-add
  int64_t sramWorstBytes = 0;
  int64_t instructions = 0, roles = 0, routerRoles = 0; // as stored: per role
  int64_t hostSteps = 0;                                // steps of entries that do not run on the wafer
  std::vector<KernelFacts> kernels;
};

Facts collectFacts(const format::Executable &executable);

// Calls visit(row, col) for every point of the lattice inside the mesh.
void forEachPoint(const format::Lattice &lattice, const target::Target &target,
                  const std::function<void(int32_t, int32_t)> &visit);

bool hasProgram(const format::Role &role);
bool hasFma(const format::Role &role);

// 12345678 as "12,345,678".
std::string withCommas(int64_t value);
// Text cut to, or filled with spaces up to, `width` characters (UTF-8 sequences count as one).
std::string padded(const std::string &text, size_t width);

} // namespace wsc::info
