// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles and routers of a configuration as packed numbers (Packing.h): where they lie, what they are called, and which
// of the configuration's parts they refer to. A large network has thousands of them that differ in little else.
#pragma once

#include "runtime/format/CommonParts.h"
#include "runtime/format/Executable.h"
#include "runtime/format/Packing.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace wsc::format {

std::vector<uint8_t> packRoles(const Configuration &configuration, const CommonParts &parts);
std::vector<uint8_t> packRouters(const Configuration &configuration);

// A role before what it refers to is copied.
struct PlacedRole {
  std::string name;
  int32_t kernel = -1;
  Lattice cores;
  uint32_t memory = 0, connections = 0, program = 0;
};

// Reads one role or router after the other. next(): false at the end or at the first byte that is wrong; then sound()
// is false. Each takes at least seven, six bytes; names and positions may be far longer than what refers to them.
class RoleReader {
public:
  explicit RoleReader(std::span<const uint8_t> bytes) : reader(bytes) {}
  bool next(PlacedRole &role);
  bool sound() const { return reader.sound; }

private:
  PackReader reader;
  std::vector<std::string> names;
  std::vector<std::array<Lattice::Dim, kMaxDims>> shapes;
};

class RouterReader {
public:
  explicit RouterReader(std::span<const uint8_t> bytes) : reader(bytes) {}
  bool next(RouterRole &router);
  bool sound() const { return reader.sound; }

private:
  PackReader reader;
  std::vector<std::array<Lattice::Dim, kMaxDims>> shapes;
  std::vector<std::vector<SwitchPosition>> positions;
};

} // namespace wsc::format
