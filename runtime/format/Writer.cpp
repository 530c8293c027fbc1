// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a `.wse` through a shared mapping of its file: section bytes are produced in place, go to the page cache and
// never count as the process's data. Space is reserved first, so that a full disk is an error and not a signal.
#include "runtime/format/Writer.h"

#include "runtime/files/OutputFile.h"
#include "runtime/format/FileLayout.h"
#include "runtime/format/Metadata.h"
#include "runtime/format/Structure.h"

#include "absl/strings/str_cat.h"

#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <utility>

namespace wsc::format {
namespace {

// The bytes of the output: mapped from its file, or memory that is written at the end where the file takes no mapping.
class MappedOutput {
public:
  explicit MappedOutput(files::OutputFile file) : file(std::move(file)) {}
  MappedOutput(const MappedOutput &) = delete;
  MappedOutput &operator=(const MappedOutput &) = delete;
  ~MappedOutput() { unmap(); }

  absl::Status map(uint64_t size) {
    const bool through = file.writesThrough();
    if (int error = through ? 0 : ::posix_fallocate(file.descriptor(), 0, off_t(size)))
      return file.failed(absl::StrCat("reserve ", size, " bytes"), error);
    void *mapped =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
               through ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, through ? -1 : file.descriptor(), 0);
    if (mapped == MAP_FAILED)
      return file.failed(absl::StrCat("map ", size, " bytes"), errno);
    data = static_cast<std::byte *>(mapped);
    bytes = size;
    return absl::OkStatus();
  }

  std::span<std::byte> at(uint64_t offset, uint64_t count) { return {data + offset, size_t(count)}; }

  absl::Status commit() {
    if (file.writesThrough())
      if (absl::Status status = file.write({reinterpret_cast<const char *>(data), bytes}); !status.ok())
        return status;
    unmap();
    return file.commit();
  }

private:
  files::OutputFile file;
  std::byte *data = nullptr;
  size_t bytes = 0;

  void unmap() {
    if (data)
      ::munmap(data, bytes);
    data = nullptr;
  }
};

// Where everything goes: metadata first, then the raw sections.
std::vector<SectionEntry> layOut(uint64_t metadataBytes, const std::vector<SectionSource> &sections) {
  std::vector<SectionEntry> entries;
  uint64_t end = sizeof(Header) + (sections.size() + 1) * sizeof(SectionEntry);
  auto add = [&](SectionKind kind, uint64_t bytes) {
    entries.push_back({uint32_t(kind), kCriticalFlag, alignSection(end), bytes, 0});
    end = alignSection(end) + bytes;
  };
  add(SectionKind::Metadata, metadataBytes);
  for (const SectionSource &section : sections)
    add(SectionKind::Raw, uint64_t(section.bytes));
  return entries;
}

absl::Status checkInput(const Executable &executable, const std::vector<SectionSource> &sections) {
  if (absl::Status status = target::checkTarget(executable.target, "target"); !status.ok())
    return status;
  if (sections.size() + 1 > kMaxSections)
    return absl::ResourceExhaustedError(
        absl::StrCat(sections.size(), " raw sections; the limit is ", kMaxSections - 1));
  std::vector<int64_t> sectionBytes;
  int64_t total = 0;
  constexpr int64_t mostBytes = int64_t(1) << 46;
  for (const SectionSource &section : sections) {
    if (section.bytes < 0 || section.bytes > mostBytes || (total += section.bytes) > mostBytes)
      return absl::InvalidArgumentError(absl::StrCat("section \"", section.name, "\" of ", section.bytes,
                                                     " bytes; all together may have ", mostBytes));
    sectionBytes.push_back(section.bytes);
  }
  return checkStructure(executable, sectionBytes);
}

void writeHeader(MappedOutput &file, const std::vector<SectionEntry> &entries) {
  auto table = file.at(sizeof(Header), entries.size() * sizeof(SectionEntry));
  std::memcpy(table.data(), entries.data(), table.size());
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.formatVersion = kFormatVersion;
  header.epoch = kEpoch;
  header.fileBytes = entries.back().offset + entries.back().bytes;
  header.tableOffset = sizeof(Header);
  header.sectionCount = uint32_t(entries.size());
  header.entryBytes = sizeof(SectionEntry);
  header.metadataOffset = entries[0].offset;
  header.metadataBytes = entries[0].bytes;
  header.metadataHash = entries[0].hash;
  header.tableHash = hashBytes(table);
  std::memcpy(file.at(0, sizeof(Header)).data(), &header, sizeof(Header));
  header.headerHash = hashBytes(file.at(0, offsetof(Header, headerHash)));
  std::memcpy(file.at(0, sizeof(Header)).data(), &header, sizeof(Header));
}

absl::Status annotate(const absl::Status &status, const std::string &where) {
  return absl::Status(status.code(), absl::StrCat(where, ": ", status.message()));
}

} // namespace

uint64_t hashBytes(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

absl::Status writeExecutable(const Executable &executable, const std::vector<SectionSource> &sections,
                             const std::string &path, const std::function<absl::Status()> &judge) {
  if (absl::Status status = checkInput(executable, sections); !status.ok())
    return annotate(status, path);
  std::vector<std::string> names;
  for (const SectionSource &section : sections)
    names.push_back(section.name);
  absl::StatusOr<std::vector<std::byte>> metadata = encodeMetadata(executable, names);
  if (!metadata.ok())
    return annotate(metadata.status(), path);

  std::vector<SectionEntry> entries = layOut(metadata->size(), sections);
  absl::StatusOr<files::OutputFile> opened = files::OutputFile::open(path);
  if (!opened.ok())
    return opened.status();
  MappedOutput file(*std::move(opened));
  if (absl::Status status = file.map(entries.back().offset + entries.back().bytes); !status.ok())
    return status;
  std::memcpy(file.at(entries[0].offset, entries[0].bytes).data(), metadata->data(), metadata->size());
  entries[0].hash = hashBytes(*metadata);
  for (size_t i = 0; i < sections.size(); ++i) {
    SectionEntry &entry = entries[i + 1];
    auto bytes = file.at(entry.offset, entry.bytes);
    if (absl::Status status = sections[i].produce(bytes); !status.ok())
      return annotate(status, absl::StrCat(path, ": section \"", sections[i].name, "\""));
    entry.hash = hashBytes(bytes);
  }
  writeHeader(file, entries);
  if (judge)
    if (absl::Status status = judge(); !status.ok())
      return status;
  return file.commit();
}

} // namespace wsc::format
