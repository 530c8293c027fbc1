// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reasons by operator; see Refusals.h.
#include "compiler/import/onnx/Refusals.h"
#include "absl/strings/str_cat.h"

namespace wsc::import {

const std::map<std::string_view, const char *> &refusedOperators() {
  static const std::map<std::string_view, const char *> all = [] {
    std::map<std::string_view, const char *> result;
    auto add = [&](const char *reason, std::initializer_list<std::string_view> names) {
      for (std::string_view name : names)
        result.emplace(name, reason);
    };
    add("the shape of its result depends on data", {"Compress", "NonMaxSuppression", "NonZero", "Unique"});
    add("it draws random numbers",
        {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"});
    add("it computes on strings",
        {"CategoryMapper", "RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"});
    add("it computes on sequences",
        {"ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert",
         "SequenceLength", "SequenceMap", "SplitToSequence"});
    add("it computes on optionals", {"Optional", "OptionalGetElement", "OptionalHasElement"});
    add("it computes on maps", {"CastMap", "DictVectorizer", "ZipMap"});
    add("it decodes images", {"ImageDecoder"});
    add("it differentiates a part of the graph; export the graph of the derivatives", {"Gradient"});
    return result;
  }();
  return all;
}

std::string whyRefused(const std::string &domain, const std::string &name) {
  auto found = refusedOperators().find(name);
  if (found == refusedOperators().end() || !(domain.empty() || domain.starts_with("ai.onnx")))
    return "";
  return absl::StrCat(": ", found->second);
}

} // namespace wsc::import
