// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/report/Report.h"

#include <algorithm>

namespace wsc::report {

namespace {

std::vector<int64_t> runsOf(const std::vector<int64_t> &values, int32_t rows, int32_t cols, int32_t step, bool byRows) {
  std::vector<int64_t> runs;
  const auto add = [&](int32_t row, int32_t col) {
    int64_t most = 0;
    for (int32_t r = row; r < std::min(rows, row + step); ++r)
      for (int32_t c = col; c < std::min(cols, col + step); ++c)
        most = std::max(most, values[size_t(r) * size_t(cols) + size_t(c)]);
    if (!runs.empty() && runs[runs.size() - 2] == most)
      ++runs.back();
    else
      runs.insert(runs.end(), {most, 1});
  };
  if (byRows)
    for (int32_t row = 0; row < rows; row += step)
      for (int32_t col = 0; col < cols; col += step)
        add(row, col);
  else
    for (int32_t col = 0; col < cols; col += step)
      for (int32_t row = 0; row < rows; row += step)
        add(row, col);
  return runs;
}

} // namespace

Raster makeRaster(const std::vector<int64_t> &values, int32_t rows, int32_t cols) {
  Raster raster;
  for (raster.step = 1;; raster.step *= 2) {
    raster.runs = runsOf(values, rows, cols, raster.step, false);
    std::vector<int64_t> alongRows = runsOf(values, rows, cols, raster.step, true);
    raster.byRows = alongRows.size() < raster.runs.size();
    if (raster.byRows)
      raster.runs = std::move(alongRows);
    if (raster.runs.size() / 2 <= kMostRuns)
      break;
  }
  if (!values.empty())
    raster.largest = *std::max_element(values.begin(), values.end());
  return raster;
}

} // namespace wsc::report
