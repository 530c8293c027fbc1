// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of elements that lie in rows and columns, whatever their strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace wsc::emulator {

// Strides in bytes, of rows and of columns.
struct Grid {
  int64_t rowStride, stride;
  bool packed(int64_t rows, int64_t columns, int64_t bytes) const {
    return (columns == 1 || stride == bytes) && (rows == 1 || rowStride == columns * bytes);
  }
};

// In order; `apart`: the two do not overlap. Elements are of 1, 2, 4 or 8 bytes.
void copyGrid(int64_t bytes, std::byte *to, Grid toGrid, const std::byte *from, Grid fromGrid, int64_t rows,
              int64_t columns, bool apart = true);

// Bytes one behind the other, mostly few. The two do not overlap.
inline void copyRun(std::byte *to, const std::byte *from, int64_t bytes) {
  switch (bytes) {
  case 8:
    return void(std::memcpy(to, from, 8));
  case 12:
    return void(std::memcpy(to, from, 12));
  case 16:
    return void(std::memcpy(to, from, 16));
  case 24:
    return void(std::memcpy(to, from, 24));
  case 32:
    return void(std::memcpy(to, from, 32));
  default:
    return void(std::memcpy(to, from, size_t(bytes)));
  }
}

} // namespace wsc::emulator
