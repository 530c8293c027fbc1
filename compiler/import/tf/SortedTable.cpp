// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LevelDB's sorted table. At the end of the file, 48 bytes: places (offset and size, as varints) of the block of
// metadata and of the index block, zeros, a magic number. The index block's values are the places of the data blocks. A
// block is a list of {bytes shared with the key before, further bytes, bytes of the value, the further bytes, the
// value}, then the list of restarts and its length; behind it come a byte for the compression and a checksum of both.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Checkpoint.h"
#include "compiler/import/tf/Crc32c.h"

namespace wsc::import::tf {

namespace {

constexpr size_t footerBytes = 48, trailerBytes = 5;
constexpr uint64_t magic = 0xdb4775248b80fb57u;

uint64_t fixed(std::string_view bytes, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

bool takeVarint(std::string_view &bytes, uint64_t &value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    unsigned char byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return true;
  }
  return false;
}

absl::Status damaged(uint64_t offset, const std::string &what) {
  return absl::DataLossError(absl::StrCat("damaged index: block at byte ", offset, " ", what));
}

/// The content of a block, its checksum compared.
absl::StatusOr<std::string_view> blockAt(std::string_view file, std::string_view &place) {
  uint64_t offset = 0, size = 0;
  if (!takeVarint(place, offset) || !takeVarint(place, size))
    return absl::DataLossError("damaged index: the place of a block is no pair of numbers");
  if (offset > file.size() || size > file.size() - offset || file.size() - offset - size < trailerBytes)
    return damaged(offset, absl::StrCat("of ", size, " bytes is not inside the file of ", file.size()));
  std::string_view content = file.substr(offset, size), trailer = file.substr(offset + size, trailerBytes);
  const uint32_t stored = static_cast<uint32_t>(fixed(trailer.substr(1), 4));
  const uint32_t found = masked(crc32c(trailer.substr(0, 1), crc32c(content)));
  if (stored != found)
    return damaged(offset, absl::StrCat("has checksum ", found, ", stored is ", stored));
  if (trailer[0] != 0)
    return absl::UnimplementedError("the index is compressed; write the checkpoint with TensorFlow's own saver");
  return content;
}

absl::Status readBlock(std::string_view content, std::vector<std::pair<std::string, std::string>> &pairs) {
  if (content.size() < 4)
    return absl::DataLossError("damaged index: a block has no restarts");
  const uint64_t restarts = fixed(content.substr(content.size() - 4), 4);
  if (restarts > (content.size() - 4) / 4)
    return absl::DataLossError(
        absl::StrCat("damaged index: a block of ", content.size(), " bytes has ", restarts, " restarts"));
  std::string_view entries = content.substr(0, content.size() - 4 * (restarts + 1));
  std::string key;
  while (!entries.empty()) {
    uint64_t shared = 0, further = 0, bytes = 0;
    if (!takeVarint(entries, shared) || !takeVarint(entries, further) || !takeVarint(entries, bytes) ||
        shared > key.size() || further > entries.size() || bytes > entries.size() - further)
      return absl::DataLossError(absl::StrCat("damaged index: the entry behind '", key, "' is not inside its block"));
    key.resize(shared);
    key += entries.substr(0, further);
    pairs.emplace_back(key, std::string(entries.substr(further, bytes)));
    entries.remove_prefix(further + bytes);
  }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> readSortedTable(std::string_view file) {
  if (file.size() < footerBytes || fixed(file.substr(file.size() - 8), 8) != magic)
    return absl::InvalidArgumentError("no checkpoint index: it does not end with the magic number of a sorted table");
  std::string_view footer = file.substr(file.size() - footerBytes);
  uint64_t offset = 0, size = 0;
  if (!takeVarint(footer, offset) || !takeVarint(footer, size))
    return absl::DataLossError("damaged index: the place of a block is no pair of numbers");
  auto index = blockAt(file, footer);
  if (!index.ok())
    return index.status();
  std::vector<std::pair<std::string, std::string>> blocks, pairs;
  if (absl::Status status = readBlock(*index, blocks); !status.ok())
    return status;
  for (const auto &[last, place] : blocks) {
    std::string_view at = place;
    auto block = blockAt(file, at);
    if (!block.ok())
      return block.status();
    if (absl::Status status = readBlock(*block, pairs); !status.ok())
      return status;
  }
  return pairs;
}

} // namespace wsc::import::tf
