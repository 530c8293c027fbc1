// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes JSON value by value. Strings become well-formed UTF-8 without '<', so that the text may stand in a page.
#pragma once

#include "runtime/format/Disassembly.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace wsc::report {

class JsonWriter {
public:
  JsonWriter &key(std::string_view name) {
    separate();
    text.append("\"").append(name).append("\":");
    first = true; // the value follows without a comma
    return *this;
  }
  JsonWriter &object() { return open('{'); }
  JsonWriter &array() { return open('['); }
  // Closes what was opened last.
  JsonWriter &close() {
    text += closing.back();
    closing.pop_back();
    first = false;
    return *this;
  }

  template <typename Number> std::enable_if_t<std::is_arithmetic_v<Number>, JsonWriter &> value(Number number) {
    separate();
    if constexpr (std::is_same_v<Number, bool>)
      text += number ? "true" : "false";
    else if constexpr (std::is_floating_point_v<Number>)
      absl::StrAppend(&text, std::isfinite(number) ? absl::StrFormat("%.9g", number) : std::string("null"));
    else
      absl::StrAppend(&text, int64_t(number));
    return *this;
  }
  JsonWriter &value(std::string_view string) {
    separate();
    text += '"';
    for (char c : format::printable(string)) {
      if (c == '<')
        text += "\\u003c";
      else if (c == '"' || c == '\\')
        text.append("\\").append(1, c);
      else
        text += c;
    }
    text += '"';
    return *this;
  }
  JsonWriter &value(const std::string &string) { return value(std::string_view(string)); }
  JsonWriter &value(const char *string) { return value(std::string_view(string)); }
  JsonWriter &null() {
    separate();
    text += "null";
    return *this;
  }
  // A line break in front of what comes next, for people.
  JsonWriter &line() {
    lineBreak = true;
    return *this;
  }

  template <typename Value> JsonWriter &field(std::string_view name, const Value &what) {
    key(name);
    return value(what);
  }

  std::string take() { return std::move(text) + "\n"; }

private:
  JsonWriter &open(char bracket) {
    separate();
    text += bracket;
    closing += bracket == '{' ? '}' : ']';
    first = true;
    return *this;
  }
  void separate() {
    if (!first)
      text += ',';
    if (lineBreak)
      text += '\n';
    lineBreak = false;
    first = false;
  }

  std::string text, closing;
  bool first = true, lineBreak = false;
};

} // namespace wsc::report
