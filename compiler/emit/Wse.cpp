// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CoreModule ⇄ .wse. The verifier looks at sizes of sections only, so it is shown views of one reserved stretch of zero
// pages, and the bytes are produced once, when the file is written. Reading keeps no bytes: each section becomes a view
// of the file at the offset the file's section table gives.
#include "compiler/emit/Module.h"

#include "runtime/emulator/liveness/Liveness.h"
#include "runtime/format/FileLayout.h"
#include "runtime/format/Reader.h"
#include "runtime/format/Verifier.h"
#include "runtime/format/Writer.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sys/mman.h>
#include <thread>

namespace wsc::emit {
namespace {

using namespace format;

// Zero pages, reserved and never touched, that spans of section size can point into.
class ReservedPages {
public:
  ReservedPages() = default;
  ReservedPages(const ReservedPages &) = delete;
  ReservedPages &operator=(const ReservedPages &) = delete;
  ~ReservedPages() {
    if (base)
      munmap(base, size);
  }
  absl::Status reserve(size_t bytes) {
    if (bytes == 0)
      return absl::OkStatus();
    void *address = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED)
      return absl::ResourceExhaustedError(absl::StrCat(
          "cannot reserve ", bytes, " bytes of address space for the largest section: ", std::strerror(errno)));
    base = address;
    size = bytes;
    return absl::OkStatus();
  }
  std::span<const std::byte> view(int64_t bytes) const { return {static_cast<const std::byte *>(base), size_t(bytes)}; }

private:
  void *base = nullptr;
  size_t size = 0;
};

// Offsets of the raw sections in the file, in order. The file has passed loadExecutable.
absl::StatusOr<std::vector<int64_t>> rawSectionOffsets(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  Header header;
  if (!file.read(reinterpret_cast<char *>(&header), sizeof header))
    return absl::DataLossError(absl::StrCat("cannot read the header of ", path));
  if (header.entryBytes != sizeof(SectionEntry) || header.sectionCount > kMaxSections)
    return absl::DataLossError(absl::StrCat(path, " has a section table of unknown form"));
  std::vector<SectionEntry> table(header.sectionCount);
  file.seekg(std::streamoff(header.tableOffset));
  if (!file.read(reinterpret_cast<char *>(table.data()), std::streamsize(table.size() * sizeof(SectionEntry))))
    return absl::DataLossError(absl::StrCat("cannot read the section table of ", path));
  std::vector<int64_t> offsets;
  for (const SectionEntry &entry : table)
    if (entry.kind == uint32_t(SectionKind::Raw))
      offsets.push_back(int64_t(entry.offset));
  return offsets;
}

// The element type of each section: that of the buffers, states and residents that read it when they agree and it
// divides the section, else u8.
std::vector<ElementType> sectionTypes(const Executable &executable) {
  std::vector<int> types(executable.sections.size(), -1); // -1: not seen
  constexpr int kMixed = int(ElementType::U8);
  auto see = [&](int32_t section, ElementType type) {
    if (section < 0 || size_t(section) >= types.size())
      return;
    int &seen = types[size_t(section)];
    seen = seen == -1 || seen == int(type) ? int(type) : kMixed;
  };
  for (const StateVariable &state : executable.states)
    see(state.initialSection, state.tensor.type);
  for (const Resident &resident : executable.residents)
    see(resident.section, resident.type);
  for (const Configuration &configuration : executable.configurations)
    for (const Role &role : configuration.roles)
      for (const Buffer &buffer : role.buffers)
        if (buffer.kind == BufferKind::Constant)
          see(buffer.section, buffer.type);
  std::vector<ElementType> result;
  for (size_t i = 0; i < types.size(); ++i) {
    ElementType type = types[i] < 0 ? ElementType::U8 : ElementType(types[i]);
    bool fits = elementBytes(type) > 0 && executable.sections[i].bytes.size() % size_t(elementBytes(type)) == 0;
    result.push_back(fits ? type : ElementType::U8);
  }
  return result;
}

} // namespace

absl::Status writeWse(const CoreModule &module, const std::string &path, const std::function<absl::Status()> &goOn,
                      int threads) {
  std::vector<SectionSource> sources;
  int64_t largest = 0;
  for (const SectionRecipe &recipe : module.sections) {
    absl::StatusOr<SectionSource> source = toSource(recipe);
    if (!source.ok())
      return source.status();
    largest = std::max(largest, source->bytes);
    if (goOn)
      source->produce = [&goOn, produce = std::move(source->produce)](std::span<std::byte> out) {
        const absl::Status status = goOn();
        return status.ok() ? produce(out) : status;
      };
    sources.push_back(*std::move(source));
  }
  ReservedPages pages;
  if (absl::Status status = pages.reserve(size_t(largest)); !status.ok())
    return status;
  Executable executable = module.executable;
  executable.sections.clear();
  for (const SectionSource &source : sources)
    executable.sections.push_back({source.name, pages.view(source.bytes)});
  const auto judge = [&] {
    const absl::Status status = verifyExecutable(executable);
    return status.ok() ? emulator::checkLiveness(executable, {.threads = threads}) : status;
  };
  if (threads == 1 || std::thread::hardware_concurrency() == 1) {
    const absl::Status status = judge();
    return status.ok() ? writeExecutable(executable, sources, path) : status;
  }
  // Sections are written while a thread judges; the file takes its place when that has passed.
  absl::Status judged;
  std::atomic<bool> isRefused = false;
  for (SectionSource &source : sources)
    source.produce = [&isRefused, produce = std::move(source.produce)](std::span<std::byte> out) {
      return isRefused ? absl::CancelledError("the executable is refused") : produce(out);
    };
  std::thread judging([&] {
    judged = judge();
    isRefused = !judged.ok();
  });
  const absl::Status written = writeExecutable(executable, sources, path, [&] {
    judging.join();
    return judged;
  });
  if (judging.joinable())
    judging.join();
  return judged.ok() ? written : judged;
}

absl::StatusOr<CoreModule> fromWse(const std::string &path) {
  absl::StatusOr<Executable> executable = loadExecutable(path);
  if (!executable.ok())
    return executable.status();
  absl::StatusOr<std::vector<int64_t>> offsets = rawSectionOffsets(path);
  if (!offsets.ok())
    return offsets.status();
  if (offsets->size() != executable->sections.size())
    return absl::DataLossError(
        absl::StrCat(path, " names ", executable->sections.size(), " sections and holds ", offsets->size()));
  std::vector<ElementType> types = sectionTypes(*executable);
  CoreModule module;
  for (size_t i = 0; i < offsets->size(); ++i) {
    const Section &section = executable->sections[i];
    SectionRecipe recipe;
    recipe.name = section.name;
    recipe.type = types[i];
    recipe.path = path;
    recipe.sourceOffset = (*offsets)[i];
    recipe.sourceBytes = int64_t(section.bytes.size());
    recipe.extents = {recipe.sourceBytes / elementBytes(recipe.type)};
    recipe.strides = {1};
    module.sections.push_back(std::move(recipe));
  }
  executable->sections.clear();
  executable->storage.reset();
  module.executable = *std::move(executable);
  return module;
}

} // namespace wsc::emit
