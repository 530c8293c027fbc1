// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parameters of one workload, "P=512;B=4096;dtype=f32": read by name and judged once at the end.
//
// A builder asks for what it needs, then for status(): the first value that is missing or out of range, or a parameter
// that nobody asked for. So a row says what its program is, completely, or is refused.
#pragma once

#include "runtime/format/Isa.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace wsc::validation {

class Parameters {
public:
  // Entries "NAME=VALUE" separated by ';'. An entry without '=' is a remark and is kept under its own text.
  static absl::StatusOr<Parameters> parse(const std::string &text);

  bool has(const std::string &name) const { return values.count(name) > 0; }

  // A whole number of at least `least` and at most `most`; without a default the parameter is required.
  int64_t integer(const std::string &name, int64_t least, int64_t most, std::optional<int64_t> otherwise = {});
  // A positive number that may be followed by a unit ("1.1 GHz").
  double number(const std::string &name, double otherwise);
  std::string text(const std::string &name, const std::string &otherwise);
  // One of `choices`, the first of which is the default.
  std::string choice(const std::string &name, const std::vector<std::string> &choices);
  // "16x12": rows and columns.
  struct Size {
    int64_t rows = 1, cols = 1;
  };
  Size size(const std::string &name, int64_t least, int64_t most);
  // f32 (the default), f16 or bf16.
  format::ElementType dtype();
  // The parameter's value changes nothing.
  void ignore(const std::string &name) { asked.insert(name); }
  // Records a fault that a builder found.
  void refuse(const std::string &message);

  absl::Status status() const;

private:
  const std::string *find(const std::string &name);

  std::map<std::string, std::string> values;
  std::set<std::string> asked;
  absl::Status fault;
};

} // namespace wsc::validation
