// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes of a `.wse` outside its metadata. All numbers are little-endian.
//
//   0            Header, then the section table, then zeros to a multiple of 4096
//   4096·k       sections in table order, each at the next multiple of 4096; between them zeros
//   end          the file ends with the last byte of the last section
//
// Section 0 is the metadata (FlatBuffers, wse.fbs); raw sections follow. A section whose kind the reader does not know
// is an error when it is critical and ignored when it is ancillary, so that later writers may add what older readers
// can do without.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace wsc::format {

static_assert(std::endian::native == std::endian::little,
              "the file is viewed in place, so the host must be little-endian");

constexpr uint64_t kSectionAlignment = 4096;
constexpr unsigned char kMagic[8] = {'W', 'S', 'E', 0, '\r', '\n', 0x1a, '\n'};
// Raised whenever the same metadata would mean something else (numerics, semantics of an instruction).
constexpr uint32_t kEpoch = 1;
// Largest metadata, in bytes, and most sections a file may have: the reader's explicit limits.
constexpr uint64_t kMaxMetadataBytes = uint64_t(256) << 20;
constexpr uint32_t kMaxSections = 1 << 20;

struct Header {
  unsigned char magic[8];
  uint32_t formatVersion;
  uint32_t epoch;
  uint64_t fileBytes;
  uint64_t tableOffset;
  uint32_t sectionCount;
  uint32_t entryBytes; // sizeof(SectionEntry)
  uint64_t metadataOffset, metadataBytes, metadataHash;
  uint64_t tableHash;  // of the section table's bytes
  uint64_t headerHash; // of the header's bytes before this field
};
static_assert(sizeof(Header) == 80);

enum class SectionKind : uint32_t { Metadata = 1, Raw = 2 };
constexpr uint32_t kCriticalFlag = 1;

struct SectionEntry {
  uint32_t kind;
  uint32_t flags; // kCriticalFlag; other bits are zero
  uint64_t offset, bytes, hash;
};
static_assert(sizeof(SectionEntry) == 32);

constexpr uint64_t alignSection(uint64_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

// XXH3, 64 bits, seed 0.
uint64_t hashBytes(std::span<const std::byte> bytes);

} // namespace wsc::format
