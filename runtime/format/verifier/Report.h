// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where violations are collected, and the words that say where in an executable something is.
#pragma once

#include "runtime/format/Verifier.h"

#include "absl/strings/str_cat.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace wsc::format::verifier {

// Concatenates strings, string views and integers.
inline std::string piece(std::string_view s) { return std::string(s); }
inline std::string piece(const std::string &s) { return s; }
inline std::string piece(const char *s) { return s; }
inline std::string piece(int64_t v) { return std::to_string(v); }
inline std::string piece(int32_t v) { return std::to_string(v); }
inline std::string piece(size_t v) { return std::to_string(v); }
template <typename... Pieces> std::string text(const Pieces &...pieces) {
  std::string all;
  ((all += piece(pieces)), ...);
  return all;
}

// Keeps at most `limit` violations, one per (rule, key): a fault repeated over a lattice is told once.
class Report {
public:
  explicit Report(size_t limit) : limit(limit) {}
  void add(std::string_view rule, const std::string &key, const std::string &message);
  bool full() const { return violations.size() >= limit; }
  bool empty() const { return violations.empty(); }
  size_t size() const { return violations.size(); }
  // Takes `points` from what may be spent on listing lattice points, elements and segments one by one: some seconds in
  // all. False: it is spent, and the executable has been refused for that.
  bool spend(int64_t points);
  std::vector<Violation> take() { return std::move(violations); }

private:
  size_t limit;
  int64_t budget = int64_t(1) << 30;
  std::vector<Violation> violations;
  std::set<std::pair<std::string, std::string>> seen;
};

class CoreSet;
class Lives;

// One configuration under judgement.
struct Scope {
  const Executable &executable;
  const Configuration &configuration;
  Report &report;
  const Lives &lives;
  const std::vector<CoreSet> &residentCores; // empty when some resident leaves the mesh

  const target::Target &target() const { return executable.target; }
  size_t number() const { return size_t(&configuration - executable.configurations.data()); }
  std::string roleName(int32_t role) const;     // "role relu (kernel conv1)"
  std::string routerName(int32_t router) const; // "net x, colour 3"
};

// One role under judgement.
struct RoleScope {
  const Scope &scope;
  const Role &role;
  int32_t index;

  Report &report() const { return scope.report; }
  const target::Target &target() const { return scope.executable.target; }
  std::string name() const { return scope.roleName(index); }
  std::string key(const std::string &rest = "") const;
  // "role relu (kernel conv1), thread 0, instruction 3 (fma)"
  std::string at(size_t thread, size_t instruction) const;
};

std::string coreName(int64_t row, int64_t col);
std::string coreName(const Lattice &lattice, const LatticeIndex &index);
const char *portName(Port port);

} // namespace wsc::format::verifier
