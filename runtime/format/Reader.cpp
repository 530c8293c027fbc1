// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens a `.wse`. Judged in this order, each step relying on the ones before: header (magic, versions, its own hash),
// section table (hash, tiles the file exactly, padding is zero), metadata (hash, FlatBuffers), structure of the
// executable. Sections are views of the read-only mapping, which the executable keeps alive. A file that shrinks while
// it is mapped is beyond any check.
#include "runtime/format/Reader.h"
#include "runtime/format/FileLayout.h"
#include "runtime/format/Metadata.h"
#include "runtime/format/Structure.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wsc::format {
namespace {

struct Mapping {
  const std::byte *data = nullptr;
  size_t bytes = 0;
  ~Mapping() {
    if (data)
      ::munmap(const_cast<std::byte *>(data), bytes);
  }
  std::span<const std::byte> at(uint64_t offset, uint64_t count) const { return {data + offset, size_t(count)}; }
};

absl::Status tooShort(const std::string &path, int64_t bytes) {
  return absl::DataLossError(absl::StrCat(
      path, ": ", bytes, " bytes are too few for a wafer executable; its header alone has ", sizeof(Header)));
}

absl::StatusOr<std::shared_ptr<Mapping>> mapFile(const std::string &path) {
  auto failed = [&](const char *what) { return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot ", what)); };
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return failed("open");
  struct stat info{};
  auto mapping = std::make_shared<Mapping>();
  absl::Status status;
  if (::fstat(file, &info) != 0) {
    status = failed("examine");
  } else if (!S_ISREG(info.st_mode)) {
    status = absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  } else if (info.st_size < off_t(sizeof(Header))) {
    status = tooShort(path, int64_t(info.st_size));
  } else {
    void *data = ::mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_SHARED, file, 0);
    if (data == MAP_FAILED) {
      status = failed("map");
    } else {
      mapping->data = static_cast<const std::byte *>(data);
      mapping->bytes = size_t(info.st_size);
    }
  }
  ::close(file);
  if (!status.ok())
    return status;
  return mapping;
}

// Pages of their own, as sections are aligned from the file's beginning.
absl::StatusOr<std::shared_ptr<Mapping>> copyContent(std::span<const std::byte> content, const std::string &name) {
  if (content.size() < sizeof(Header))
    return tooShort(name, int64_t(content.size()));
  void *data = ::mmap(nullptr, content.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return absl::ErrnoToStatus(errno, absl::StrCat(name, ": cannot hold ", content.size(), " bytes"));
  std::memcpy(data, content.data(), content.size());
  ::mprotect(data, content.size(), PROT_READ);
  auto mapping = std::make_shared<Mapping>();
  mapping->data = static_cast<const std::byte *>(data);
  mapping->bytes = content.size();
  return mapping;
}

absl::Status damaged(const std::string &path, const std::string &what) {
  return absl::DataLossError(absl::StrCat(path, ": ", what));
}

absl::StatusOr<Header> readHeader(const Mapping &mapping, const std::string &path) {
  Header header;
  std::memcpy(&header, mapping.data, sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    return damaged(path, "not a wafer executable (it does not begin with WSE)");
  if (header.formatVersion < 1 || header.formatVersion > kFormatVersion)
    return damaged(path,
                   absl::StrCat("format version ", header.formatVersion, "; this program reads 1 to ", kFormatVersion));
  if (hashBytes(mapping.at(0, offsetof(Header, headerHash))) != header.headerHash)
    return damaged(path, "the header is damaged (its hash differs)");
  if (header.epoch != kEpoch)
    return damaged(path, absl::StrCat("epoch ", header.epoch, "; this program executes epoch ", kEpoch,
                                      ": compile the model again"));
  if (header.fileBytes != mapping.bytes)
    return damaged(path, absl::StrCat("the file has ", mapping.bytes, " bytes, its header says ", header.fileBytes));
  if (header.entryBytes != sizeof(SectionEntry) || header.tableOffset != sizeof(Header) || header.sectionCount < 1 ||
      header.sectionCount > kMaxSections ||
      header.sectionCount > (mapping.bytes - sizeof(Header)) / sizeof(SectionEntry))
    return damaged(path, absl::StrCat("a section table of ", header.sectionCount, " entries of ", header.entryBytes,
                                      " bytes at ", header.tableOffset, " is impossible"));
  return header;
}

// Each byte equals the one before it, and the first is zero.
bool isZero(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte(0) && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// Reads the table and checks that it tiles the file: every section begins at the first multiple of the alignment after
// the one before, zeros between, the last one ends the file.
absl::StatusOr<std::vector<SectionEntry>> readTable(const Mapping &mapping, const Header &header,
                                                    const std::string &path) {
  uint64_t tableBytes = uint64_t(header.sectionCount) * sizeof(SectionEntry);
  auto table = mapping.at(header.tableOffset, tableBytes);
  if (hashBytes(table) != header.tableHash)
    return damaged(path, "the section table is damaged (its hash differs)");
  std::vector<SectionEntry> entries(header.sectionCount);
  std::memcpy(entries.data(), table.data(), tableBytes);
  uint64_t end = header.tableOffset + tableBytes;
  for (size_t i = 0; i < entries.size(); ++i) {
    const SectionEntry &entry = entries[i];
    uint64_t begin = alignSection(end);
    if (entry.offset != begin || begin > mapping.bytes || entry.bytes > mapping.bytes - begin)
      return damaged(path, absl::StrCat("section ", i, " of ", entry.bytes, " bytes is said to be at ", entry.offset,
                                        "; it must begin at ", begin, " and end within the file's ", mapping.bytes,
                                        " bytes"));
    if (!isZero(mapping.at(end, begin - end)))
      return damaged(path, absl::StrCat("bytes ", end, " to ", begin, " before section ", i, " are not zero"));
    if (entry.flags & ~kCriticalFlag)
      return damaged(path, absl::StrCat("section ", i, " has unknown flags ", entry.flags));
    bool known = entry.kind == uint32_t(SectionKind::Metadata) || entry.kind == uint32_t(SectionKind::Raw);
    if (!known && (entry.flags & kCriticalFlag))
      return damaged(
          path, absl::StrCat("section ", i, " is of critical kind ", entry.kind, ", which this program does not know"));
    if (known && !(entry.flags & kCriticalFlag))
      return damaged(path, absl::StrCat("section ", i, " of kind ", entry.kind, " must be critical"));
    end = begin + entry.bytes;
  }
  if (end != mapping.bytes)
    return damaged(path, absl::StrCat("the sections end at byte ", end, ", the file at ", mapping.bytes));
  return entries;
}

absl::StatusOr<Executable> readMetadata(const Mapping &mapping, const Header &header,
                                        const std::vector<SectionEntry> &entries, const std::string &path) {
  const SectionEntry *metadata = nullptr;
  for (const SectionEntry &entry : entries)
    if (entry.kind == uint32_t(SectionKind::Metadata)) {
      if (metadata)
        return damaged(path, "more than one metadata section");
      metadata = &entry;
    }
  if (!metadata)
    return damaged(path, "no metadata section");
  if (metadata->offset != header.metadataOffset || metadata->bytes != header.metadataBytes ||
      metadata->hash != header.metadataHash)
    return damaged(path, "header and section table disagree about the metadata");
  if (metadata->bytes > kMaxMetadataBytes)
    return damaged(path, absl::StrCat("metadata of ", metadata->bytes, " bytes; the limit is ", kMaxMetadataBytes));
  auto bytes = mapping.at(metadata->offset, metadata->bytes);
  if (hashBytes(bytes) != metadata->hash)
    return damaged(path, "the metadata is damaged (its hash differs)");
  return decodeMetadata(bytes, path);
}

absl::StatusOr<LoadedFile> load(absl::StatusOr<std::shared_ptr<Mapping>> mapping, const std::string &path,
                                const LoadOptions &options) {
  if (!mapping.ok())
    return mapping.status();
  const Mapping &file = **mapping;
  absl::StatusOr<Header> header = readHeader(file, path);
  if (!header.ok())
    return header.status();
  absl::StatusOr<std::vector<SectionEntry>> entries = readTable(file, *header, path);
  if (!entries.ok())
    return entries.status();
  absl::StatusOr<Executable> executable = readMetadata(file, *header, *entries, path);
  if (!executable.ok())
    return executable.status();

  size_t next = 0;
  for (const SectionEntry &entry : *entries) {
    auto bytes = file.at(entry.offset, entry.bytes);
    bool raw = entry.kind == uint32_t(SectionKind::Raw);
    if (raw && next < executable->sections.size()) {
      executable->sections[next].bytes = bytes;
      executable->weightBytes += int64_t(entry.bytes);
    }
    bool metadata = entry.kind == uint32_t(SectionKind::Metadata);
    if (options.verifyWeightHashes && !metadata && hashBytes(bytes) != entry.hash)
      return damaged(path,
                     absl::StrCat("section ",
                                  raw && next < executable->sections.size() ? executable->sections[next].name : "",
                                  " at byte ", entry.offset, " is damaged (its hash differs)"));
    next += raw;
  }
  if (next != executable->sections.size())
    return damaged(
        path, absl::StrCat("the metadata names ", executable->sections.size(), " raw sections, the file has ", next));
  executable->metadataBytes = int64_t(header->metadataBytes);
  executable->storage = *mapping;
  std::vector<int64_t> sectionBytes;
  for (const Section &section : executable->sections)
    sectionBytes.push_back(int64_t(section.bytes.size()));
  if (absl::Status status = checkStructure(*executable, sectionBytes); !status.ok())
    return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  return LoadedFile{*std::move(executable), file.at(0, file.bytes)};
}

} // namespace

absl::StatusOr<LoadedFile> loadFile(const std::string &path, const LoadOptions &options) {
  return load(mapFile(path), path, options);
}

absl::StatusOr<LoadedFile> loadContent(std::span<const std::byte> content, const std::string &name,
                                       const LoadOptions &options) {
  return load(copyContent(content, name), name, options);
}

absl::StatusOr<Executable> loadExecutable(const std::string &path, const LoadOptions &options) {
  absl::StatusOr<LoadedFile> file = loadFile(path, options);
  if (!file.ok())
    return file.status();
  return std::move(file->executable);
}

} // namespace wsc::format
