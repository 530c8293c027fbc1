// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The floor plan in characters. A character stands for `across` columns and twice as many rows (characters are about
// twice as high as wide), and shows what most of its cores with a program do.
#include "runtime/format/Disassembly.h"
#include "tools/wsc-info/Facts.h"
#include "tools/wsc-info/Views.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>

namespace wsc::info {

using namespace format;

static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

static char letterOf(int32_t kernel) { return kernel < 0 ? '#' : letters[size_t(kernel) % letters.size()]; }

static std::string drawConfiguration(const Executable &executable, const Configuration &configuration) {
  const target::Target &target = executable.target;
  constexpr int32_t width = 80;
  int32_t across = (target.cols + width - 1) / width, down = across == 1 ? 1 : 2 * across;
  int32_t cellCols = (target.cols + across - 1) / across, cellRows = (target.rows + down - 1) / down;
  // Per cell: cores of each kernel.
  std::vector<std::map<int32_t, int32_t>> cells(size_t(cellRows) * size_t(cellCols));
  for (const Role &role : configuration.roles)
    if (hasProgram(role))
      forEachPoint(role.cores, target, [&](int32_t row, int32_t col) {
        ++cells[size_t(row / down) * size_t(cellCols) + size_t(col / across)][role.kernel];
      });
  std::string text = absl::StrCat(printable(configuration.name), ": ", target.rows, " x ", target.cols, " cores");
  if (across > 1)
    absl::StrAppend(&text, ", a character is ", down, " rows of ", across, " cores");
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
