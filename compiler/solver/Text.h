// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and writing the solvers' line-oriented text.
//
// A line is a keyword and its arguments, separated by blanks; '#' starts a comment; words with blanks, quotes or '#'
// stand in double quotes with
// \" \\ and \n inside. The reader keeps the first error, with its line number, and returns zeros and empty words from
// then on, so that a parser can read a whole line before it looks.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
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
  int64_t lineNumber() const { return line; }

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
  // The last of the entries read so far, to which this line belongs; if there is none, an error that names `entry`, the
  // keyword of theirs.
  template <typename Entry> Entry *lastOf(std::vector<Entry> &entries, const char *entry) {
    if (entries.empty())
      fail(absl::StrCat("'", keyword(), "' before the first '", entry, "'"));
    return entries.empty() ? nullptr : &entries.back();
  }

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

// What follows a keyword in a problem's text, read into the problem.
template <typename Problem> struct Line {
  const char *keyword;
  void (*read)(LineReader &in, Problem &problem);
};

namespace detail {

// The lines up to number `last` into `problem`.
template <typename Problem>
absl::Status readLines(const std::string &text, const char *kind, std::initializer_list<Line<Problem>> lines,
                       int64_t last, Problem &problem, int64_t &count) {
  LineReader in(text, "wsc-problem", kind);
  while (in.next() && in.lineNumber() <= last) {
    count = in.lineNumber();
    const auto *line = std::find_if(lines.begin(), lines.end(),
                                    [&](const Line<Problem> &known) { return in.keyword() == known.keyword; });
    if (line != lines.end()) {
      line->read(in, problem);
    } else {
      std::string expected;
      for (const Line<Problem> &known : lines)
        absl::StrAppend(&expected,
                        &known == lines.begin()     ? "'"
                        : &known + 1 == lines.end() ? " or '"
                                                    : ", '",
                        known.keyword, "'");
      in.failKeyword(expected);
    }
    in.endLine();
  }
  return in.status();
}

} // namespace detail

// Reads a problem of a kind and checks it. Errors name the line: of what cannot be read, or with which the problem
// becomes the ill-formed one that check() refuses.
template <typename Problem>
absl::StatusOr<Problem> readProblem(const std::string &text, const char *kind,
                                    std::initializer_list<Line<Problem>> lines) {
  Problem problem;
  int64_t count = 1;
  if (absl::Status status = detail::readLines(text, kind, lines, std::numeric_limits<int64_t>::max(), problem, count);
      !status.ok())
    return status;
  const absl::Status wrong = problem.check();
  if (wrong.ok())
    return problem;
  int64_t first = 1;
  while (first < count) {
    const int64_t middle = first + (count - first) / 2;
    Problem part;
    int64_t ignored = 0;
    if (detail::readLines(text, kind, lines, middle, part, ignored).ok() && part.check() == wrong)
      count = middle;
    else
      first = middle + 1;
  }
  return absl::Status(wrong.code(), absl::StrCat("line ", first, ": ", std::string(wrong.message())));
}

// Reads a solution with one line `KEYWORD NAME …` for each of the problem's entries in order; `read(in)` takes what
// follows the name. Further lines, if any, are for `other(in)`, which says whether it knows the keyword.
template <typename Entry, typename Read, typename Other>
absl::Status readSolution(const std::string &text, const char *kind, const char *keyword,
                          const std::vector<Entry> &entries, Read read, Other other) {
  LineReader in(text, "wsc-solution", kind);
  size_t count = 0;
  while (in.next()) {
    if (!other(in)) {
      expectEntry(in, keyword, count, entries.size(), count < entries.size() ? entries[count].name : "");
      ++count;
      read(in);
    }
    in.endLine();
  }
  return in.status();
}
template <typename Entry, typename Read>
absl::Status readSolution(const std::string &text, const char *kind, const char *keyword,
                          const std::vector<Entry> &entries, Read read) {
  return readSolution(text, kind, keyword, entries, read, [](LineReader &) { return false; });
}

// The same written: `print(value)` gives what follows the name of an entry.
template <typename Entry, typename Value, typename Print>
std::string writeSolution(const char *kind, const char *keyword, const std::vector<Entry> &entries,
                          const std::vector<Value> &values, Print print) {
  std::string text = absl::StrCat("wsc-solution ", kind, " 1\n");
  for (size_t i = 0; i < std::min(entries.size(), values.size()); ++i)
    absl::StrAppend(&text, keyword, " ", quoted(entries[i].name), print(values[i]), "\n");
  return text;
}

} // namespace wsc::solver
