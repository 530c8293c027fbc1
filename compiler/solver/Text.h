// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and writing the solvers' line-oriented text.
//
// A line is a keyword and its arguments, separated by blanks; '#' starts a comment; words with blanks, quotes or '#'
// stand in double quotes with
// \" \\ and \n inside. The reader keeps the first error, with its line number, and returns zeros and empty words from
// then on, so that a parser can read a whole line before it looks.
#pragma once

#include "absl/status/status.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace wsc::solver {

class LineReader {
public:
  // Reads the first line, which must be `TITLE KIND 1`; title is "wsc-problem" or "wsc-solution".
  LineReader(const std::string &text, const std::string &title, const std::string &kind);

  // Moves to the next line that has words; false at the end of the text or after an error.
  bool next();
  const std::string &keyword() const { return words[0]; }

  // The next argument of the line; `what` names it in messages.
  int64_t integer(const char *what, int64_t least = std::numeric_limits<int64_t>::min(),
                  int64_t most = std::numeric_limits<int64_t>::max());
  int32_t integer32(const char *what) {
    return int32_t(integer(what, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  }
  std::string word(const char *what);
  // Takes the next argument if it is `word`.
  bool accept(const char *word);
  bool hasMore() const { return ok() && position < words.size(); }
  // Refuses arguments that are left over.
  void endLine();

  // Records an error at the current line.
  void fail(const std::string &message);
  // The keyword is not one of `expected`.
  void failKeyword(const std::string &expected);
  bool ok() const { return error.ok(); }
  // The first error, or OK.
  const absl::Status &status() const { return error; }

private:
  bool readWords();

  const std::string &text;
  size_t offset = 0;
  int64_t line = 0;
  std::vector<std::string> words{std::string()};
  size_t position = 1;
  absl::Status error;
};

// A word as it stands in text, quoted if it must be.
std::string quoted(const std::string &word);

// The kind named in a text's first line `wsc-problem KIND 1`; empty if there is no such line.
std::string problemKind(const std::string &text);

// Reads `KEYWORD NAME`, one line for each of a problem's entries in order; an error if the name is another. `index`
// counts from 0.
void expectEntry(LineReader &reader, const char *keyword, size_t index, size_t count, const std::string &name);

} // namespace wsc::solver
