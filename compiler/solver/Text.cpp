// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The line reader: one pass over the text, one vector of words per line.
#include "compiler/solver/Text.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace wsc::solver {

LineReader::LineReader(const std::string &text, const std::string &title, const std::string &kind) : text(text) {
  std::string expected = absl::StrCat(title, " ", kind, " 1");
  if (!next()) {
    fail(absl::StrCat("the text is empty; its first line must be '", expected, "'"));
    return;
  }
  std::string found;
  for (const std::string &word : words)
    absl::StrAppend(&found, found.empty() ? "" : " ", word);
  if (found != expected)
    fail(absl::StrCat("the first line is '", found, "', expected '", expected, "'"));
}

// Splits the line at `offset` into words; false if it has none.
bool LineReader::readWords() {
  ++line;
  words.clear();
  position = 1;
  auto atEnd = [&] { return offset >= text.size() || text[offset] == '\n'; };
  while (!atEnd()) {
    char c = text[offset];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++offset;
    } else if (c == '#') {
      while (!atEnd())
        ++offset;
    } else if (c == '"') {
      std::string word;
      ++offset;
      while (!atEnd() && text[offset] != '"') {
        if (text[offset] == '\\' && offset + 1 < text.size() && text[offset + 1] != '\n') {
          ++offset;
          word += text[offset] == 'n' ? '\n' : text[offset];
        } else {
          word += text[offset];
        }
        ++offset;
      }
      if (atEnd()) {
        fail("a quoted word does not end on its line");
        break;
      }
      ++offset;
      words.push_back(word);
    } else {
      size_t begin = offset;
      while (!atEnd() && text[offset] != ' ' && text[offset] != '\t' && text[offset] != '\r' && text[offset] != '#')
        ++offset;
      words.push_back(text.substr(begin, offset - begin));
    }
  }
  ++offset;
  return !words.empty();
}

bool LineReader::next() {
  while (ok() && offset < text.size())
    if (readWords() && ok())
      return true;
  if (words.empty())
    words.emplace_back();
  return false;
}

int64_t LineReader::integer(const char *what, int64_t least, int64_t most) {
  std::string token = word(what);
  if (!ok())
    return 0;
  int64_t value = 0;
  if (!absl::SimpleAtoi(token, &value)) {
    fail(absl::StrCat(what, " is '", token, "', expected an integer"));
    return 0;
  }
  if (value < least || value > most) {
    fail(absl::StrCat(what, " is ", value, ", expected ", least, " to ", most));
    return 0;
  }
  return value;
}

std::string LineReader::word(const char *what) {
  if (!ok())
    return "";
  if (position >= words.size()) {
    fail(absl::StrCat("'", keyword(), "' lacks its ", what));
    return "";
  }
  return words[position++];
}

bool LineReader::accept(const char *expected) {
  if (!hasMore() || words[position] != expected)
    return false;
  ++position;
  return true;
}

void LineReader::endLine() {
  if (hasMore())
    fail(absl::StrCat("unexpected '", words[position], "' after '", keyword(), "'"));
}

void LineReader::fail(const std::string &message) {
  if (ok())
    error = absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", message));
}

void LineReader::failKeyword(const std::string &expected) {
  fail(absl::StrCat("unknown keyword '", keyword(), "', expected ", expected));
}

std::string quoted(const std::string &word) {
  if (!word.empty() && word.find_first_of(" \t\r\n\"\\#") == std::string::npos)
    return word;
  std::string result = "\"";
  for (char c : word) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c == '\n' ? "\\n" : std::string(1, c);
  }
  return result + "\"";
}

std::string problemKind(const std::string &text) {
  for (const char *kind :
       {"colouring", "sizing", "placement", "routing", "alternatives", "allocation", "lines", "pbqp"})
    if (LineReader(text, "wsc-problem", kind).ok())
      return kind;
  return "";
}

void expectEntry(LineReader &reader, const char *keyword, size_t index, size_t count, const std::string &name) {
  if (reader.keyword() != keyword)
    return reader.failKeyword(absl::StrCat("'", keyword, "'"));
  std::string found = reader.word("name");
  if (!reader.ok())
    return;
  if (index >= count)
    return reader.fail(absl::StrCat(keyword, " '", found, "' is one more than the problem has, ", count));
  if (found != name)
    reader.fail(absl::StrCat(keyword, " '", found, "' stands where the problem has '", name, "'"));
}

} // namespace wsc::solver
