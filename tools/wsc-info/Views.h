// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What wsc-info can show of an executable, each as the text to print.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <string>

namespace wsc::info {

std::string summaryView(const format::Executable &executable);
// One line per kernel: rectangle, cores, fullest core, predicted interval, layers.
std::string kernelsView(const format::Executable &executable);
// Floor plan of each configuration in at most 80 columns, one letter per kernel.
std::string floorPlanView(const format::Executable &executable);
// Program, memory map, queues and router of one core in each configuration. Error: outside the mesh.
absl::StatusOr<std::string> coreView(const format::Executable &executable, int32_t row, int32_t col);
// Routers of one net. Error: no net of that name, with those there are.
absl::StatusOr<std::string> routesView(const format::Executable &executable, const std::string &net);
// The instruction set; with an executable, also how often its roles hold each opcode.
std::string isaView(const format::Executable *executable);
std::string jsonView(const format::Executable &executable);

} // namespace wsc::info
