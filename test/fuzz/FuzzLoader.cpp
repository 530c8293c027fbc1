// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens executables: the file's layout, its structure, then the verifier. Every input is an executable or an error.
// Most mutations are of the metadata's bytes, with the hashes of metadata, section table and header made right again,
// so that they reach what lies behind the hashes. The description of the target, which is text and half of a small
// file's metadata, is left as it is most times: what is wrong there is found before anything else is looked at.
#include "runtime/format/FileLayout.h"
#include "runtime/format/Reader.h"
#include "runtime/format/Verifier.h"
#include "runtime/format/wse_generated.h"
#include <cstring>
#include <random>

using namespace wsc::format;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = loadContent({reinterpret_cast<const std::byte *>(data), size}, "model.wse");
  if (file.ok())
    (void)findViolations(file->executable);
  return 0;
}

namespace {

uint64_t hashOf(const uint8_t *data, uint64_t size) {
  return hashBytes({reinterpret_cast<const std::byte *>(data), static_cast<size_t>(size)});
}

/// Whether header, table and metadata lie inside of the file.
bool hasLayout(const uint8_t *data, size_t size, Header &header) {
  if (size < sizeof(Header))
    return false;
  std::memcpy(&header, data, sizeof(Header));
  const auto fits = [&](uint64_t offset, uint64_t bytes) { return offset <= size && bytes <= size - offset; };
  return header.sectionCount > 0 && header.sectionCount < 4096 &&
         fits(header.tableOffset, header.sectionCount * sizeof(SectionEntry)) && header.metadataBytes > 0 &&
         fits(header.metadataOffset, header.metadataBytes);
}

void repairHashes(uint8_t *data, Header &header) {
  header.metadataHash = hashOf(data + header.metadataOffset, header.metadataBytes);
  std::memcpy(data + header.tableOffset + offsetof(SectionEntry, hash), &header.metadataHash, sizeof(uint64_t));
  header.tableHash = hashOf(data + header.tableOffset, header.sectionCount * sizeof(SectionEntry));
  std::memcpy(data, &header, sizeof(Header));
  header.headerHash = hashOf(data, offsetof(Header, headerHash));
  std::memcpy(data, &header, sizeof(Header));
}

/// Where the description of the target lies in the metadata.
struct Text {
  uint64_t begin = 0, end = 0;
  bool holds(uint64_t offset) const { return offset >= begin && offset < end; }
};

Text targetText(const uint8_t *metadata, uint64_t bytes) {
  if (reinterpret_cast<uintptr_t>(metadata) % 8 != 0)
    return {};
  flatbuffers::Verifier verifier(metadata, bytes);
  if (!schema::VerifyExecutableBuffer(verifier))
    return {};
  const flatbuffers::String *text = schema::GetExecutable(metadata)->target_json();
  if (!text)
    return {};
  const uint64_t begin = static_cast<uint64_t>(text->Data() - metadata);
  return {begin, begin + text->size()};
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::mt19937 random(seed);
  Header header;
  if (random() % 16 == 0 || !hasLayout(data, size, header))
    return LLVMFuzzerMutate(data, size, maxSize);
  uint8_t *metadata = data + header.metadataOffset;
  const Text target = random() % 16 == 0 ? Text() : targetText(metadata, header.metadataBytes);
  for (unsigned i = 1 + random() % 4; i > 0; --i) {
    // FlatBuffers fields are aligned: one of 1, 2, 4 or 8 bytes gets another value, mostly near the old one.
    const uint64_t width = uint64_t{1} << random() % 4, places = header.metadataBytes / width;
    if (places == 0)
      continue;
    uint64_t place = random() % places * width;
    for (int tries = 0; target.holds(place) && tries < 16; ++tries)
      place = random() % places * width;
    uint8_t *at = metadata + place;
    uint64_t value = 0;
    std::memcpy(&value, at, width);
    static constexpr uint64_t values[] = {0, 1, 2, 0x7f, 0xff, 0x7fffffff, 0xffffffff, uint64_t{1} << 40, ~uint64_t{0}};
    switch (random() % 4) {
    case 0:
      value = values[random() % std::size(values)];
      break;
    case 1:
      value ^= uint64_t{1} << random() % (8 * width);
      break;
    case 2: // what stands elsewhere
      std::memcpy(&value, metadata + random() % places * width, width);
      break;
    default:
      value += random() % 9 - 4;
    }
    std::memcpy(at, &value, width);
  }
  repairHashes(data, header);
  return size;
}
