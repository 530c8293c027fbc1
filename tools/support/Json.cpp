// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Over llvm::json, which knows neither infinities nor strings that are not UTF-8.
#include "tools/support/Json.h"

#include "runtime/files/OutputFile.h"

#include "absl/strings/str_cat.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstdlib>
#include <limits>

namespace wsc::tools {

namespace json = llvm::json;

json::Value number(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  // Whole numbers without an exponent.
  if (value == std::floor(value) && std::abs(value) < 0x1p53)
    return int64_t(value);
  return value;
}

double toNumber(const json::Value *value, double otherwise) {
  if (!value)
    return otherwise;
  if (auto known = value->getAsNumber())
    return *known;
  auto string = value->getAsString();
  if (string && *string == "inf")
    return std::numeric_limits<double>::infinity();
  if (string && *string == "-inf")
    return -std::numeric_limits<double>::infinity();
  if (string && *string == "nan")
    return std::numeric_limits<double>::quiet_NaN();
  return otherwise;
}

std::string print(const json::Value &value) { return llvm::formatv("{0}", value).str(); }

absl::StatusOr<json::Object> parseObject(const std::string &text) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return absl::InvalidArgumentError(llvm::toString(value.takeError()));
  if (json::Object *object = value->getAsObject())
    return std::move(*object);
  return absl::InvalidArgumentError("not a JSON object");
}

absl::Status writeJson(const json::Value &value, const std::string &path) {
  return files::writeWhole(llvm::formatv("{0:2}\n", value).str(), path);
}

std::string text(const std::string &any) { return json::isUTF8(any) ? any : json::fixUTF8(any); }

json::Object fromDims(const std::map<std::string, int64_t> &dims) {
  json::Object object;
  for (const auto &[name, value] : dims)
    object[text(name)] = value;
  return object;
}

std::map<std::string, int64_t> toDims(const json::Object *object) {
  std::map<std::string, int64_t> dims;
  if (object)
    for (const auto &[name, value] : *object)
      if (auto extent = value.getAsInteger())
        dims[std::string(name.str())] = *extent;
  return dims;
}

absl::StatusOr<std::map<std::string, int64_t>> parseDims(const std::vector<std::string> &options) {
  std::map<std::string, int64_t> dims;
  for (const std::string &option : options) {
    const size_t equal = option.find('=');
    char *end = nullptr;
    const long long value = equal == std::string::npos ? 0 : std::strtoll(option.c_str() + equal + 1, &end, 10);
    if (equal == std::string::npos || equal == 0 || *end != 0 || value < 1)
      return absl::InvalidArgumentError(absl::StrCat("--dim takes NAME=VALUE with a positive value, got ", option));
    dims[option.substr(0, equal)] = value;
  }
  return dims;
}

} // namespace wsc::tools
