// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON of the tools: what they write for others, and what they tell their children.
#pragma once

#include "absl/status/statusor.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <string>
#include <vector>

namespace wsc::tools {

// JSON has no infinities and no NaN: they become the strings "inf", "-inf" and "nan".
llvm::json::Value number(double value);
// The inverse; `otherwise` for what is not a number.
double toNumber(const llvm::json::Value *value, double otherwise);

std::string print(const llvm::json::Value &value); // one line
absl::StatusOr<llvm::json::Object> parseObject(const std::string &text);
// Indented, under a temporary name that is renamed.
absl::Status writeJson(const llvm::json::Value &value, const std::string &path);

// Strings as well-formed UTF-8, as the printer needs them.
std::string text(const std::string &any);

llvm::json::Object fromDims(const std::map<std::string, int64_t> &dims);
std::map<std::string, int64_t> toDims(const llvm::json::Object *object);

// NAME=VALUE of --dim, value ≥ 1.
absl::StatusOr<std::map<std::string, int64_t>> parseDims(const std::vector<std::string> &options);

} // namespace wsc::tools
