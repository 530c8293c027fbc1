// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects violations and names places.
#include "runtime/format/verifier/Report.h"

#include "runtime/format/Ports.h"

namespace wsc::format::verifier {

void Report::add(std::string_view rule, const std::string &key, const std::string &message) {
  if (full() || !seen.emplace(std::string(rule), key).second)
    return;
  violations.push_back({std::string(rule), message});
}

bool Report::spend(int64_t points) {
  if (budget >= points) {
    budget -= points;
    return true;
  }
  add("budget", "",
      "the executable varies too much from core to core to be judged in seconds; use more roles with constant extents");
  return false;
}

std::string Scope::roleName(int32_t role) const {
  const Role &value = configuration.roles[role];
  std::string name = text("role ", value.name.empty() ? text("#", role) : value.name);
  if (value.kernel >= 0 && size_t(value.kernel) < configuration.kernels.size())
    name += text(" (kernel ", configuration.kernels[value.kernel].name, ")");
  return name;
}

std::string Scope::routerName(int32_t router) const {
  const RouterRole &value = configuration.routers[router];
  std::string colour = text("colour ", int32_t(value.colour));
  if (value.net >= 0 && size_t(value.net) < configuration.nets.size())
    return text("net ", configuration.nets[value.net].name, ", ", colour);
  return text("router role #", router, ", ", colour);
}

std::string RoleScope::key(const std::string &rest) const {
  return text(scope.configuration.name, "/", index, "/", rest);
}

std::string RoleScope::at(size_t thread, size_t instruction) const {
  std::string_view opcode = opcodeInfo(role.threads[thread][instruction].opcode).name;
  return text(name(), ", thread ", thread, ", instruction ", instruction, " (", opcode, ")");
}

std::string coreName(int64_t row, int64_t col) { return text("core (", row, ", ", col, ")"); }

std::string coreName(const Lattice &lattice, const LatticeIndex &index) {
  int64_t row = lattice.row, col = lattice.col;
  for (int d = 0; d < kMaxDims; ++d) {
    row += int64_t(index[d]) * lattice.dims[d].rowStep;
    col += int64_t(index[d]) * lattice.dims[d].colStep;
  }
  return coreName(row, col);
}

const char *portName(Port port) { return size_t(port) < kNumPorts ? kPortNames[size_t(port)] : "an unknown port"; }

} // namespace wsc::format::verifier
