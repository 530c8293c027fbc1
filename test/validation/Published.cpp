// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/validation/Published.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace wsc::validation {

namespace {

// Records of a CSV text; a quoted field may hold commas, line breaks and doubled quotes. `lines`: where each begins.
std::vector<std::vector<std::string>> recordsOf(const std::string &text, std::vector<int> &lines) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> record;
  std::string field;
  bool quoted = false;
  int line = 1, began = 1;
  const auto endRecord = [&] {
    if (!record.empty() || !field.empty()) {
      record.push_back(std::move(field));
      records.push_back(std::move(record));
      lines.push_back(began);
    }
    record.clear();
    field.clear();
    began = line;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    line += c == '\n';
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
      field += text[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (quoted)
      field += c;
    else if (c == ',')
      record.push_back(std::move(field)), field.clear();
    else if (c == '\n')
      endRecord();
    else if (c != '\r')
      field += c;
  }
  endRecord();
  return records;
}

} // namespace

absl::StatusOr<std::vector<PublishedRow>> parsePublished(const std::string &text, const std::string &where) {
  constexpr std::array<const char *, 9> kColumns{"id",        "arch", "kind",      "workload", "parameters",
                                                 "published", "unit", "tolerance", "note"};
  std::vector<int> lines;
  const std::vector<std::vector<std::string>> records = recordsOf(text, lines);
  if (records.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": no header line; it names the columns ", absl::StrJoin(kColumns, ",")));
  std::array<size_t, kColumns.size()> column{};
  for (size_t c = 0; c < kColumns.size(); ++c) {
    const auto found = std::find(records[0].begin(), records[0].end(), kColumns[c]);
    if (found == records[0].end() && c + 1 < kColumns.size()) // notes are for people
      return absl::InvalidArgumentError(absl::StrCat(where, ": no column ", kColumns[c], " in the header line"));
    column[c] = size_t(found - records[0].begin());
  }
  std::vector<PublishedRow> rows;
  for (size_t r = 1; r < records.size(); ++r) {
    const auto field = [&](size_t c) { return column[c] < records[r].size() ? records[r][column[c]] : std::string(); };
    PublishedRow row{field(0), field(1), field(2), field(3), field(4), field(6), field(8), 0, 0};
    for (auto [value, c] : {std::pair<double *, size_t>{&row.published, 5}, {&row.tolerance, 7}}) {
      const std::string number = field(c);
      char *end = nullptr;
      *value = std::strtod(number.c_str(), &end);
      if (number.empty() || *end != 0 || !(*value > 0))
        return absl::InvalidArgumentError(absl::StrCat(where, ", line ", lines[r], ": ", kColumns[c], " \"", number,
                                                       "\" of row ", row.id, " is not a positive number"));
    }
    if (row.id.empty() || row.arch.empty() || row.workload.empty())
      return absl::InvalidArgumentError(
          absl::StrCat(where, ", line ", lines[r], ": a row needs id, arch and workload"));
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace wsc::validation
