// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/CopyGrid.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace wsc::emulator {

namespace {

constexpr int64_t kMostRepeatedBytes = 32;

template <typename T> T load(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <size_t Bytes>
void copyRows(std::byte *to, int64_t toStride, const std::byte *from, int64_t fromStride, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r, to += toStride, from += fromStride)
    std::memcpy(to, from, Bytes);
}

// Rows of so few bytes that a call for each would take longer than the copy; false for others.
bool copyShortRows(std::byte *to, int64_t toStride, const std::byte *from, int64_t fromStride, int64_t rows,
                   int64_t bytes) {
  switch (bytes) {
  case 8:
    return copyRows<8>(to, toStride, from, fromStride, rows), true;
  case 12:
    return copyRows<12>(to, toStride, from, fromStride, rows), true;
  case 16:
    return copyRows<16>(to, toStride, from, fromStride, rows), true;
  case 24:
    return copyRows<24>(to, toStride, from, fromStride, rows), true;
  case 32:
    return copyRows<32>(to, toStride, from, fromStride, rows), true;
  default:
    return false;
  }
}

// Whole tiles of 4 × 4 elements of which each side has a row, or a column, one behind the other.
void copyTransposedTiles(std::byte *to, int64_t toRow, const std::byte *from, int64_t fromColumn, int64_t rows,
                         int64_t columns) {
  for (int64_t r = 0; r + 4 <= rows; r += 4)
    for (int64_t c = 0; c + 4 <= columns; c += 4) {
      uint32_t tile[4][4];
      for (int64_t k = 0; k < 4; ++k)
        std::memcpy(tile[k], from + (c + k) * fromColumn + r * 4, 16);
      for (int64_t k = 0; k < 4; ++k) {
        const uint32_t row[4] = {tile[0][k], tile[1][k], tile[2][k], tile[3][k]};
        std::memcpy(to + (r + k) * toRow + c * 4, row, 16);
      }
    }
}

// Two columns, of which each lies one behind the other, taken in turns.
void copyInTurns(std::byte *to, const std::byte *from, int64_t fromColumn, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r) {
    const uint32_t row[2] = {load<uint32_t>(from + r * 4), load<uint32_t>(from + fromColumn + r * 4)};
    std::memcpy(to + r * 8, row, 8);
  }
}

// Each element `times` times, one behind the other: a store of a few copies for each, of which the next one overwrites
// what is too much.
template <typename T>
void repeatElements(std::byte *to, const std::byte *from, int64_t stride, int64_t elements, int64_t times) {
  constexpr int64_t kCopies = kMostRepeatedBytes / int64_t(sizeof(T));
  const std::byte *const end = to + elements * times * int64_t(sizeof(T));
  const int64_t step = times * int64_t(sizeof(T));
  for (; end - to >= kMostRepeatedBytes; to += step, from += stride) {
    T copies[kCopies];
    std::fill_n(copies, kCopies, load<T>(from));
    std::memcpy(to, copies, sizeof(copies));
  }
  for (; to < end; to += step, from += stride) {
    const T value = load<T>(from);
    for (int64_t k = 0; k < times; ++k)
      std::memcpy(to + k * int64_t(sizeof(T)), &value, sizeof(T));
  }
}

template <typename T>
void copyGrid(std::byte *to, Grid toGrid, const std::byte *from, Grid fromGrid, int64_t rows, int64_t columns,
              bool apart) {
  constexpr auto kBytes = int64_t(sizeof(T));
  if (apart && rows > 1 && fromGrid.stride == 0 && columns * kBytes <= kMostRepeatedBytes &&
      toGrid.packed(rows, columns, kBytes))
    return repeatElements<T>(to, from, fromGrid.rowStride, rows, columns);
  if (apart && rows > 1 && fromGrid.rowStride == 0 && toGrid.packed(rows, columns, kBytes)) { // one row again and again
    copyGrid<T>(to, toGrid, from, fromGrid, 1, columns, true);
    for (int64_t done = columns * kBytes, all = rows * done; done < all;) {
      const int64_t next = std::min(done, all - done);
      std::memcpy(to + done, to, size_t(next));
      done += next;
    }
    return;
  }
  if (apart && toGrid.stride == kBytes && fromGrid.stride == kBytes &&
      copyShortRows(to, toGrid.rowStride, from, fromGrid.rowStride, rows, columns * kBytes))
    return;
  if (kBytes == 4 && apart && toGrid.stride == kBytes && fromGrid.rowStride == kBytes) {
    if (columns == 2 && toGrid.rowStride == 2 * kBytes)
      return copyInTurns(to, from, fromGrid.stride, rows);
    if (rows >= 4 && columns >= 4) {
      copyTransposedTiles(to, toGrid.rowStride, from, fromGrid.stride, rows, columns);
      const int64_t row = rows / 4 * 4, column = columns / 4 * 4; // behind the tiles
      if (column < columns)
        copyGrid<T>(to + column * kBytes, toGrid, from + column * fromGrid.stride, fromGrid, row, columns - column,
                    true);
      if (row < rows)
        copyGrid<T>(to + row * toGrid.rowStride, toGrid, from + row * kBytes, fromGrid, rows - row, columns, true);
      return;
    }
  }
  if (apart && columns < std::min<int64_t>(rows, 4)) { // few columns: one after the other
    std::swap(rows, columns);
    std::swap(toGrid.rowStride, toGrid.stride);
    std::swap(fromGrid.rowStride, fromGrid.stride);
  }
  for (int64_t r = 0; r < rows; ++r, to += toGrid.rowStride, from += fromGrid.rowStride) {
    if (apart && toGrid.stride == kBytes && fromGrid.stride == kBytes) {
      std::memcpy(to, from, size_t(columns * kBytes));
    } else if (apart && toGrid.stride == kBytes && fromGrid.stride == 0) {
      const T value = load<T>(from);
      for (int64_t c = 0; c < columns; ++c)
        std::memcpy(to + c * kBytes, &value, sizeof(T));
    } else {
      for (int64_t c = 0; c < columns; ++c) {
        const T value = load<T>(from + c * fromGrid.stride);
        std::memcpy(to + c * toGrid.stride, &value, sizeof(T));
      }
    }
  }
}

} // namespace

void copyGrid(int64_t bytes, std::byte *to, Grid toGrid, const std::byte *from, Grid fromGrid, int64_t rows,
              int64_t columns, bool apart) {
  switch (bytes) {
  case 8:
    return copyGrid<uint64_t>(to, toGrid, from, fromGrid, rows, columns, apart);
  case 4:
    return copyGrid<uint32_t>(to, toGrid, from, fromGrid, rows, columns, apart);
  case 2:
    return copyGrid<uint16_t>(to, toGrid, from, fromGrid, rows, columns, apart);
  default:
    return copyGrid<uint8_t>(to, toGrid, from, fromGrid, rows, columns, apart);
  }
}

} // namespace wsc::emulator
