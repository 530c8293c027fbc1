// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/Operators.md is what the table of operators and the probes of their types say. WSC_UPDATE=1 writes it anew.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Refusals.h"
#include "test/unit/import/OperatorProbe.h"
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace {

using namespace wsc::test;
using wsc::import::Operator;

/// "floats, i32, i64": families by one word where all of them are taken.
std::string describe(const std::set<std::string> &types) {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> families{
      {"floats", {"f16", "bf16", "f32", "f64"}},
      {"integers", {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}},
      {"signed integers", {"i8", "i16", "i32", "i64"}},
      {"unsigned integers", {"u8", "u16", "u32", "u64"}},
      {"storage types", {"f8", "i4"}}};
  std::set<std::string> rest = types;
  std::string text;
  auto add = [&](const std::string &part) { absl::StrAppend(&text, text.empty() ? "" : ", ", part); };
  for (const auto &[name, members] : families) {
    if (!std::all_of(members.begin(), members.end(), [&](const std::string &type) { return rest.count(type) > 0; }))
      continue;
    for (const std::string &type : members)
      rest.erase(type);
    add(name);
  }
  for (const ProbedType &type : probedTypes())
    if (rest.count(type.name))
      add(type.name);
  return text;
}

class OperatorsPage : public OperatorProbe {
protected:
  std::string page() {
    std::string text =
        "# Operators of ONNX models\n\n"
        "Generated from the importer's table by `import-operators-page-test`, which fails where this page is not what "
        "it\n"
        "makes (`WSC_UPDATE=1` writes it). Operators that are not listed are refused, all of a model in one "
        "message.\n\n"
        "- **Versions**: those of the domain whose meaning the importer knows. What a model's functions define needs "
        "no row.\n"
        "- **Types**: element types with which a node of the newest version is imported, found by importing one: those "
        "of its\n"
        "  first tensors, or of what it makes. *floats* are f16, bf16, f32 and f64, *integers* those of 8 to 64 bits "
        "with and\n"
        "  without sign; *storage types* are float8, float4 and integers of 4 and 2 bits, which are moved and "
        "converted only.\n"
        "- **Known** values are constants of the graph, follow from constants and shapes, or are fixed by `--bind`.\n"
        "- All shapes are static; the operators of the last section are refused by name, with the reason.\n";
    std::map<std::string, std::string> domains;
    std::vector<Operator> all = wsc::import::allOperators();
    for (size_t i = 0; i < all.size(); ++i) {
      const Operator &op = all[i];
      std::string versions;
      size_t last = i;
      for (; last < all.size() && std::string(all[last].name) == op.name && std::string(all[last].domain) == op.domain;
           ++last)
        absl::StrAppend(&versions, versions.empty() ? "" : ", ", all[last].since,
                        all[last].until == all[last].since ? "" : absl::StrCat("–", all[last].until));
      const Operator &newest = all[last - 1];
      std::string &rows = domains[op.domain[0] ? op.domain : "ai.onnx"];
      absl::StrAppend(&rows, "| ", op.name, " | ", versions, " | ", describe(typesTaken(newest)), " | ", newest.limits,
                      " |\n");
      i = last - 1;
    }
    for (const auto &[domain, rows] : domains)
      absl::StrAppend(&text, "\n## ", domain, "\n\n| operator | versions | types | limits |\n|---|---|---|---|\n",
                      rows);
    absl::StrAppend(&text, "\n## Refused\n\n| operator | because |\n|---|---|\n");
    for (const auto &[name, reason] : wsc::import::refusedOperators())
      absl::StrAppend(&text, "| ", std::string(name), " | ", reason, " |\n");
    return text;
  }
};

TEST_F(OperatorsPage, IsWhatTheImporterDoes) {
  const std::string path = std::string(WSC_SOURCE_DIR) + "/docs/Operators.md", text = page();
  if (std::getenv("WSC_UPDATE"))
    std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  std::stringstream found;
  found << file.rdbuf();
  EXPECT_EQ(found.str(), text) << "write docs/Operators.md anew with WSC_UPDATE=1";
}

} // namespace
