// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of ONNX that are known and refused: what they compute is no tensor of numbers with a static shape.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace wsc::import {

/// Why, by name; for the operators of ai.onnx and ai.onnx.ml.
const std::map<std::string_view, const char *> &refusedOperators();

/// ": why" for one of these, else nothing. `domain` is normalised.
std::string whyRefused(const std::string &domain, const std::string &name);

} // namespace wsc::import
