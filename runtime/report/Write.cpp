// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports as files. The page is made at build time from page/ (build.mjs); a report becomes a page when its JSON takes
// the place of a mark in it.
#include "runtime/report/Page.h"
#include "runtime/report/Report.h"

#include "runtime/files/OutputFile.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <string>
#include <string_view>

namespace wsc::report {

namespace {

constexpr std::string_view kMark = "@WSC_REPORT@";

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

} // namespace

std::string toHtml(const Report &report) {
  const std::string page(kPage);
  const size_t mark = page.find(kMark);
  if (mark == std::string::npos) // built without npm
    return absl::StrCat("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>wsc report</title>\n<p>",
                        page, "</p>\n<pre>", escaped(toText(report)), "</pre>\n</html>\n");
  return absl::StrCat(page.substr(0, mark), toJson(report), page.substr(mark + kMark.size()));
}

absl::Status checkPath(const std::string &path) {
  if (!absl::EndsWith(path, ".txt") && !absl::EndsWith(path, ".json") && !absl::EndsWith(path, ".html"))
    return absl::InvalidArgumentError(absl::StrCat("report ", path, " must end in .txt, .json or .html"));
  return absl::OkStatus();
}

absl::Status write(const Report &report, const std::string &path) {
  if (absl::Status status = checkPath(path); !status.ok())
    return status;
  const std::string text = absl::EndsWith(path, ".json")   ? toJson(report)
                           : absl::EndsWith(path, ".html") ? toHtml(report)
                                                           : toText(report);
  return files::writeWhole(text, path);
}

} // namespace wsc::report
