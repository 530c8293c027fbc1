// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/validation/Parameters.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <cstdlib>

namespace wsc::validation {

absl::StatusOr<Parameters> Parameters::parse(const std::string &text) {
  Parameters parameters;
  for (const auto &part : absl::StrSplit(text, ';', absl::SkipWhitespace())) {
    const std::string entry(absl::StripAsciiWhitespace(part));
    const size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    const std::string value = equals == std::string::npos ? std::string() : entry.substr(equals + 1);
    // "layout=A column-strided in SRAM, banks=same" holds a second assignment after its comma.
    const size_t comma = value.find(", ");
    if (comma != std::string::npos && value.find('=', comma) != std::string::npos) {
      const std::string second = value.substr(comma + 2);
      const size_t at = second.find('=');
      parameters.values[second.substr(0, at)] = second.substr(at + 1);
      parameters.values[name] = value.substr(0, comma);
      continue;
    }
    if (name.empty() || !parameters.values.emplace(name, value).second)
      return absl::InvalidArgumentError(
          absl::StrCat("parameters \"", text, "\": ", name.empty() ? "a value without a name" : "two values for ", name,
                       "; write NAME=VALUE;NAME=VALUE"));
  }
  return parameters;
}

const std::string *Parameters::find(const std::string &name) {
  asked.insert(name);
  const auto entry = values.find(name);
  return entry == values.end() ? nullptr : &entry->second;
}

void Parameters::refuse(const std::string &message) {
  if (fault.ok())
    fault = absl::InvalidArgumentError(message);
}

int64_t Parameters::integer(const std::string &name, int64_t least, int64_t most, std::optional<int64_t> otherwise) {
  const std::string *value = find(name);
  if (!value && !otherwise)
    refuse(absl::StrCat("parameter ", name, " is missing"));
  int64_t result = otherwise.value_or(least);
  if (!value)
    return result;
  if (!absl::SimpleAtoi(*value, &result) || result < least || result > most) {
    refuse(absl::StrCat("parameter ", name, "=", *value, " is not a whole number from ", least, " to ", most));
    return least;
  }
  return result;
}

double Parameters::number(const std::string &name, double otherwise) {
  const std::string *value = find(name);
  if (!value)
    return otherwise;
  char *end = nullptr;
  const double result = std::strtod(value->c_str(), &end);
  if (end == value->c_str() || !(result > 0) || (*end != 0 && *end != ' ')) {
    refuse(absl::StrCat("parameter ", name, "=", *value, " is not a positive number"));
    return otherwise;
  }
  return result;
}

std::string Parameters::text(const std::string &name, const std::string &otherwise) {
  const std::string *value = find(name);
  return value ? *value : otherwise;
}

std::string Parameters::choice(const std::string &name, const std::vector<std::string> &choices) {
  const std::string value = text(name, choices.front());
  if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
    refuse(absl::StrCat("parameter ", name, "=", value, " is none of: ", absl::StrJoin(choices, ", ")));
    return choices.front();
  }
  return value;
}

Parameters::Size Parameters::size(const std::string &name, int64_t least, int64_t most) {
  const std::string *value = find(name);
  Size result{least, least};
  if (!value) {
    refuse(absl::StrCat("parameter ", name, " is missing"));
    return result;
  }
  const std::vector<std::string> sides = absl::StrSplit(*value, 'x');
  if (sides.size() != 2 || !absl::SimpleAtoi(sides[0], &result.rows) || !absl::SimpleAtoi(sides[1], &result.cols) ||
      std::min(result.rows, result.cols) < least || std::max(result.rows, result.cols) > most) {
    refuse(absl::StrCat("parameter ", name, "=", *value, " is not ROWSxCOLS with sides from ", least, " to ", most));
    return {least, least};
  }
  return result;
}

format::ElementType Parameters::dtype() {
  const std::string name = choice("dtype", {"f32", "f16", "bf16"});
  return name == "f16"    ? format::ElementType::F16
         : name == "bf16" ? format::ElementType::BF16
                          : format::ElementType::F32;
}

absl::Status Parameters::status() const {
  if (!fault.ok())
    return fault;
  for (const auto &[name, value] : values)
    if (asked.count(name) == 0)
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", name, value.empty() ? "" : "=", value,
                       " means nothing to this workload; known here: ", absl::StrJoin(asked, ", ")));
  return absl::OkStatus();
}

} // namespace wsc::validation
