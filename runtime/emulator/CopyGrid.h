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

// The first and the last `Bytes` of `bytes` bytes, no less than all of them; all are read before any is written.
template <size_t Bytes> void copyEnds(std::byte *to, const std::byte *from, size_t bytes) {
  struct {
    std::byte of[Bytes];
  } first, last;
  std::memcpy(&first, from, Bytes);
  std::memcpy(&last, from + bytes - Bytes, Bytes);
  std::memcpy(to, &first, Bytes);
  std::memcpy(to + bytes - Bytes, &last, Bytes);
}

// Bytes one behind the other, mostly few: up to 64 take no call. The two may overlap.
inline void copyRun(std::byte *to, const std::byte *from, size_t bytes) {
  if (bytes > 64)
    std::memmove(to, from, bytes);
  else if (bytes >= 32)
    copyEnds<32>(to, from, bytes);
  else if (bytes >= 16)
    copyEnds<16>(to, from, bytes);
  else if (bytes >= 8)
    copyEnds<8>(to, from, bytes);
  else if (bytes >= 4)
    copyEnds<4>(to, from, bytes);
  else if (bytes >= 2)
    copyEnds<2>(to, from, bytes);
  else if (bytes == 1)
    *to = *from;
}

} // namespace wsc::emulator
