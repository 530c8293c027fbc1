// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Eight bytes at a time: table t holds the checksum of a byte with t zero bytes behind it, so the checksum of eight
// bytes is the exclusive or of eight entries.
#include "compiler/import/tf/Crc32c.h"
#include <array>

namespace wsc::import::tf {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

static constexpr Tables makeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
    tables[0][byte] = crc;
  }
  for (size_t t = 1; t < 8; ++t)
    for (size_t byte = 0; byte < 256; ++byte)
      tables[t][byte] = (tables[t - 1][byte] >> 8) ^ tables[0][tables[t - 1][byte] & 0xff];
  return tables;
}

uint32_t crc32c(std::string_view bytes, uint32_t before) {
  static constexpr Tables tables = makeTables();
  uint32_t crc = ~before;
  auto at = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])); };
  while (bytes.size() >= 8) {
    const uint32_t low = crc ^ (at(0) | at(1) << 8 | at(2) << 16 | at(3) << 24);
    crc = tables[7][low & 0xff] ^ tables[6][(low >> 8) & 0xff] ^ tables[5][(low >> 16) & 0xff] ^ tables[4][low >> 24] ^
          tables[3][at(4)] ^ tables[2][at(5)] ^ tables[1][at(6)] ^ tables[0][at(7)];
    bytes.remove_prefix(8);
  }
  for (char byte : bytes)
    crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

} // namespace wsc::import::tf
