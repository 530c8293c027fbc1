// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CRC-32C (Castagnoli), the checksum of TensorFlow's files.
#pragma once
#include <cstdint>
#include <string_view>

namespace wsc::import::tf {

/// The checksum of bytes that follow others whose checksum is `before`.
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);

/// A checksum as these files store it: rotated, and an offset added.
inline uint32_t masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

} // namespace wsc::import::tf
