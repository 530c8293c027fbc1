// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a target by name: a built-in description, `mesh-RxC` (wse2's cores on a mesh of R rows and C columns), or a
// file.
#include "runtime/target/Target.h"
#include "absl/strings/str_cat.h"
#include "runtime/target/Fields.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace wsc::target {

extern const std::string_view embedded_wse1_json, embedded_wse2_json, embedded_wse3_json;

bool Target::isReservedColour(int32_t colour) const {
  return std::find(reservedColours.begin(), reservedColours.end(), colour) != reservedColours.end();
}

std::string builtinDescription(std::string_view name) {
  if (name == "wse1")
    return std::string(embedded_wse1_json);
  if (name == "wse2")
    return std::string(embedded_wse2_json);
  if (name == "wse3")
    return std::string(embedded_wse3_json);
  return {};
}

// Reads "RxC" after "mesh-"; both must be plain decimal numbers from 1 to kMaxMeshSide.
static absl::StatusOr<Target> loadMesh(const std::string &name) {
  const char *end = name.data() + name.size();
  int32_t rows = 0, cols = 0;
  auto afterRows = std::from_chars(name.data() + 5, end, rows);
  bool ok = afterRows.ec == std::errc() && afterRows.ptr != end && *afterRows.ptr == 'x';
  if (ok) {
    auto afterCols = std::from_chars(afterRows.ptr + 1, end, cols);
    ok = afterCols.ec == std::errc() && afterCols.ptr == end;
  }
  if (!ok || rows < 1 || cols < 1 || rows > kMaxMeshSide || cols > kMaxMeshSide)
    return absl::InvalidArgumentError(absl::StrCat("target \"", name,
                                                   "\": expected mesh-RxC with R rows and C columns of 1 to ",
                                                   kMaxMeshSide, " each, such as mesh-16x16"));
  std::string mesh = absl::StrCat(rows, "x", cols);
  return parseTarget(absl::StrCat("{\"base\": \"wse2\", \"name\": \"mesh-", mesh, "\", \"rows\": ", rows,
                                  ", \"cols\": ", cols, ", \"sources\": {\"rows\": \"mesh-", mesh,
                                  "\", \"cols\": \"mesh-", mesh, "\"}}"),
                     name);
}

// At most one byte more than a description may have; empty when there is nothing to read.
static std::string readDescription(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxDescriptionBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

static absl::StatusOr<Target> loadSound(const std::string &nameOrPath) {
  if (std::string text = builtinDescription(nameOrPath); !text.empty())
    return parseTarget(text, nameOrPath);
  if (nameOrPath.rfind("mesh-", 0) == 0)
    return loadMesh(nameOrPath);
  if (nameOrPath.rfind('{', 0) == 0)
    return parseTarget(nameOrPath, "target");
  std::string text = readDescription(nameOrPath);
  if (text.empty())
    return absl::NotFoundError(
        absl::StrCat("target \"", nameOrPath,
                     "\": neither a built-in target (wse1, wse2, wse3, mesh-RxC) nor a file that can be read"));
  return parseTarget(text, nameOrPath);
}

absl::StatusOr<Target> loadTarget(const std::string &nameOrPath, const std::string &defects) {
  absl::StatusOr<Target> target = loadSound(nameOrPath);
  if (!target.ok() || defects.empty())
    return target;
  std::string text = readDescription(defects);
  if (text.empty())
    return absl::NotFoundError(absl::StrCat("defects \"", defects, "\": not a file that can be read"));
  return parseDefects(text, defects, *target);
}

} // namespace wsc::target
