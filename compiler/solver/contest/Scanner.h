// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words, numbers and punctuation of the contest's files: blanks and (* comments *) are skipped, the first error is kept
// with its line.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <cctype>
#include <cstdint>
#include <string>

namespace wsc::solver::contest {

class Scanner {
public:
  explicit Scanner(const std::string &text) : text(text) {}

  bool ok() const { return error.ok(); }
  const absl::Status &status() const { return error; }
  int64_t currentLine() const { return line; }
  void fail(const std::string &message) { failAt(line, message); }
  void failAt(int64_t where, const std::string &message) {
    if (ok())
      error = absl::InvalidArgumentError(absl::StrCat("line ", where, ": ", message));
  }
  bool atEnd() {
    skip();
    return !ok() || offset >= text.size();
  }
  // Takes `token` if it comes next.
  bool accept(const std::string &token) {
    skip(/*comments=*/token != "(*");
    if (!ok() || text.compare(offset, token.size(), token) != 0)
      return false;
    offset += token.size();
    return true;
  }
  void expect(const std::string &token) {
    if (!accept(token))
      fail(absl::StrCat("expected '", token, "' before '", ahead(), "'"));
  }
  // Letters, digits and underscores; `what` names it in messages.
  std::string word(const char *what) {
    skip();
    size_t begin = offset;
    while (ok() && offset < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[offset])) || text[offset] == '_'))
      ++offset;
    if (begin == offset)
      fail(absl::StrCat("expected ", what, " before '", ahead(), "'"));
    return text.substr(begin, offset - begin);
  }
  int64_t integer(const char *what, int64_t least, int64_t most) {
    bool negative = accept("-");
    std::string digits = word(what);
    int64_t value = 0;
    if (!ok())
      return 0;
    if (!absl::SimpleAtoi((negative ? "-" : "") + digits, &value) || value < least || value > most)
      fail(absl::StrCat(what, " is ", negative ? "-" : "", digits, ", expected ", least, " to ", most));
    return value;
  }
  // Text up to, not including, `end`, which is taken too.
  std::string until(const std::string &end) {
    size_t found = ok() ? text.find(end, offset) : std::string::npos;
    if (found == std::string::npos) {
      fail(absl::StrCat("'", end, "' is missing"));
      return "";
    }
    std::string result = text.substr(offset, found - offset);
    for (char c : result)
      line += c == '\n';
    offset = found + end.size();
    return result;
  }

private:
  // What comes next on the line, for messages.
  std::string ahead() const {
    std::string next = offset < text.size() ? text.substr(offset, 12) : "";
    return next.substr(0, next.find('\n'));
  }
  // Blanks, and comments unless they are looked for.
  void skip(bool comments = true) {
    while (ok() && offset < text.size()) {
      if (comments && text.compare(offset, 2, "(*") == 0) {
        offset += 2;
        until("*)");
      } else if (std::isspace(static_cast<unsigned char>(text[offset]))) {
        line += text[offset++] == '\n';
      } else {
        return;
      }
    }
  }

  const std::string &text;
  size_t offset = 0;
  int64_t line = 1;
  absl::Status error;
};

} // namespace wsc::solver::contest
