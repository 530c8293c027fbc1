// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The floor plan in characters. A character stands for several columns and about twice as many rows (characters are
// about twice as high as wide), and shows what most of its cores with a program do. Columns are shared out between the
// edges of kernels, so that a kernel one column wide is one character wide and no edge is blurred.
#include "runtime/format/Disassembly.h"
#include "tools/wsc-info/Facts.h"
#include "tools/wsc-info/Views.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <set>

namespace wsc::info {

using namespace format;

static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

static char letterOf(int32_t kernel) { return kernel < 0 ? '#' : letters[size_t(kernel) % letters.size()]; }

constexpr int32_t kWidth = 80; // characters

// The character of each column. Up to kWidth columns: their own; else at least one for each stretch between edges of
// kernels, and the others by length. More stretches than characters: equal shares of the columns.
static std::vector<int32_t> placeColumns(const Configuration &configuration, int32_t cols) {
  std::set<int32_t> edges{0};
  for (const Kernel &kernel : configuration.kernels)
    for (int32_t edge : {kernel.col, kernel.col + kernel.cols})
      if (edge > 0 && edge < cols)
        edges.insert(edge);
  std::vector<int32_t> begins(edges.begin(), edges.end());
  if (cols <= kWidth || begins.size() > size_t(kWidth))
    begins = {0};
  begins.push_back(cols);
  const int32_t least = int32_t(begins.size()) - 1, width = std::min(cols, kWidth);
  std::vector<int32_t> characterOf;
  int32_t used = 0;
  for (size_t i = 0; i + 1 < begins.size(); ++i) {
    const int32_t columns = begins[i + 1] - begins[i];
    // All characters beyond one each, up to this stretch's end, less those handed out before.
    const int32_t end = int32_t(i + 1) + int32_t(int64_t(width - least) * begins[i + 1] / cols);
    const int32_t characters = std::clamp(end - used, 1, columns);
    for (int32_t c = 0; c < columns; ++c)
      characterOf.push_back(used + int32_t(int64_t(c) * characters / columns));
    used += characters;
  }
  return characterOf;
}

static std::string drawConfiguration(const Executable &executable, const Configuration &configuration) {
  const target::Target &target = executable.target;
  const std::vector<int32_t> characterOf = placeColumns(configuration, target.cols);
  const int32_t cellCols = characterOf.back() + 1;
  int32_t across = (target.cols + kWidth - 1) / kWidth, down = across == 1 ? 1 : 2 * across;
  int32_t cellRows = (target.rows + down - 1) / down;
  // Per cell: cores of each kernel.
  std::vector<std::map<int32_t, int32_t>> cells(size_t(cellRows) * size_t(cellCols));
  for (const Role &role : configuration.roles)
    if (hasProgram(role))
      forEachPoint(role.cores, target, [&](int32_t row, int32_t col) {
        ++cells[size_t(row / down) * size_t(cellCols) + size_t(characterOf[size_t(col)])][role.kernel];
      });
  std::string text = absl::StrCat(printable(configuration.name), ": ", target.rows, " x ", target.cols, " cores");
  if (across > 1)
    absl::StrAppend(&text, "\na character is ", down, " rows of about ", across,
                    " cores; kernels take one character at least");
  text += "\n";
  bool unnamed = false;
  for (int32_t row = 0; row < cellRows; ++row) {
    for (int32_t col = 0; col < cellCols; ++col) {
      const auto &counts = cells[size_t(row) * size_t(cellCols) + size_t(col)];
      auto most = std::max_element(counts.begin(), counts.end(),
                                   [](const auto &a, const auto &b) { return a.second < b.second; });
      text += most == counts.end() ? '.' : letterOf(most->first);
      unnamed |= most != counts.end() && most->first < 0;
    }
    text += "\n";
  }
  for (size_t k = 0; k < configuration.kernels.size(); ++k) {
    const Kernel &kernel = configuration.kernels[k];
    absl::StrAppend(&text, std::string(1, letterOf(int32_t(k))), "  ", printable(kernel.name), "  (", kernel.row, ", ",
                    kernel.col, ") ", kernel.rows, " x ", kernel.cols, "\n");
  }
  if (configuration.kernels.size() > letters.size())
    absl::StrAppend(&text, "letters repeat after ", letters.size(), " kernels\n");
  if (unnamed)
    text += "#  cores of no kernel\n";
  return text + ".  no program\n";
}

std::string floorPlanView(const Executable &executable) {
  std::string text;
  for (const Configuration &configuration : executable.configurations)
    absl::StrAppend(&text, text.empty() ? "" : "\n", drawConfiguration(executable, configuration));
  return text;
}

} // namespace wsc::info
