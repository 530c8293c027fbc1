// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fields of a target description, once: JSON name, how to read it from the parsed JSON, how to print it. Reading,
// printing, inheriting and locating errors all walk this table, so that a field cannot be known to one and forgotten by
// another.
#pragma once

#include "runtime/target/Target.h"
#include "runtime/target/target_generated.h"

#include <map>
#include <optional>
#include <span>
#include <string>

namespace wsc::target {

// Longest description read, in bytes.
constexpr size_t kMaxDescriptionBytes = 1 << 20;

struct Field {
  const char *name;
  bool (*read)(const schema::Description &from, Target &to); // false when absent
  std::string (*print)(const Target &from);                  // as JSON
  const flatbuffers::String *(*source)(const schema::Sources &from);
  bool required = true; // in a description without a base
};

std::span<const Field> fields();

// A target with the source of each field (JSON name → text).
struct Described {
  Target target;
  std::map<std::string, std::string> sources;
  bool inherits = false; // names a base
};

// Reads a description and, when it names one, its base.
absl::StatusOr<Described> describe(const std::string &json, const std::string &where);

// `target` with the defects of a JSON file that lists nothing else.
absl::StatusOr<Target> parseDefects(const std::string &json, const std::string &where, const Target &target);

// The complete description with every field and source, in the table's order; ends with a newline.
std::string printDescription(const Described &described);

// The first thing wrong with a target's values.
struct Problem {
  std::string field; // JSON name
  std::string message;
};
std::optional<Problem> findProblem(const Target &target);

// Text of the built-in description of that name, or empty.
std::string builtinDescription(std::string_view name);

} // namespace wsc::target
