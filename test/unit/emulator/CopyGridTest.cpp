// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies between rows and columns of all strides, against element by element.
#include "runtime/emulator/CopyGrid.h"

#include <gtest/gtest.h>

#include <vector>

using wsc::emulator::Grid;

namespace {

constexpr int64_t kMost = 11; // rows, columns

// Rows one behind the other, columns one behind the other, and both with gaps; a source also with equal rows or
// columns.
std::vector<Grid> grids(int64_t bytes, int64_t rows, int64_t columns, bool repeats) {
  std::vector<Grid> all{{columns * bytes, bytes},
                        {bytes, rows * bytes},
                        {(columns + 3) * bytes, bytes},
                        {bytes, (rows + 3) * bytes},
                        {2 * columns * bytes, 2 * bytes}};
  if (repeats)
    all.insert(all.end(), {{0, bytes}, {bytes, 0}});
  return all;
}

TEST(CopyGrid, AllStrides) {
  std::vector<std::byte> source(2 * kMost * kMost * 8);
  for (size_t i = 0; i < source.size(); ++i)
    source[i] = std::byte(i * 7 + i / 256);
  for (int64_t bytes : {1, 2, 4, 8})
    for (int64_t rows = 1; rows <= kMost; ++rows)
      for (int64_t columns = 1; columns <= kMost; ++columns)
        for (const Grid &to : grids(bytes, rows, columns, false))
          for (const Grid &from : grids(bytes, rows, columns, true)) {
            std::vector<std::byte> copied(source.size() + 64), want(copied.size());
            wsc::emulator::copyGrid(bytes, copied.data(), to, source.data(), from, rows, columns);
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t c = 0; c < columns; ++c)
                std::memcpy(want.data() + r * to.rowStride + c * to.stride,
                            source.data() + r * from.rowStride + c * from.stride, size_t(bytes));
            ASSERT_EQ(copied, want) << rows << " x " << columns << " of " << bytes << " bytes, strides " << to.rowStride
                                    << ", " << to.stride << " from " << from.rowStride << ", " << from.stride;
          }
}

TEST(CopyGrid, RunsThatOverlap) {
  for (size_t bytes = 0; bytes <= 70; ++bytes)
    for (size_t distance = 0; distance <= bytes; ++distance) {
      std::vector<std::byte> memory(2 * bytes + 1);
      for (size_t i = 0; i < memory.size(); ++i)
        memory[i] = std::byte(i);
      std::vector<std::byte> want = memory;
      std::memmove(want.data() + distance, want.data(), bytes);
      wsc::emulator::copyRun(memory.data() + distance, memory.data(), bytes);
      ASSERT_EQ(memory, want) << bytes << " bytes, " << distance << " apart";
    }
}

} // namespace
