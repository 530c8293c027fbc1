// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a recipe with overflow-checked arithmetic (least and greatest element it reads against the source), and turns
// it into a producer that maps the file and copies.
#include "compiler/emit/SectionRecipe.h"

#include "compiler/emit/StridedCopy.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wsc::emit {
namespace {

// A read-only mapping of bytes [offset, offset + bytes) of a file, undone when it goes out of scope.
class FileView {
public:
  FileView() = default;
  FileView(const FileView &) = delete;
  FileView &operator=(const FileView &) = delete;
  ~FileView() {
    if (base)
      munmap(base, mapped);
  }

  absl::Status open(const std::string &path, int64_t offset, int64_t bytes) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      return absl::NotFoundError(absl::StrCat("cannot open ", path, ": ", std::strerror(errno)));
    struct stat info{};
    bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    if (!regular || offset > info.st_size || bytes > info.st_size - offset) {
      close(fd);
      return absl::OutOfRangeError(regular ? absl::StrCat(path, " has ", int64_t(info.st_size), " bytes, but bytes ",
                                                          offset, " to ", offset + bytes, " are needed")
                                           : absl::StrCat(path, " is not a regular file"));
    }
    int64_t page = sysconf(_SC_PAGESIZE), start = offset / page * page;
    mapped = size_t(offset - start + bytes);
    if (mapped > 0) {
      void *address = mmap(nullptr, mapped, PROT_READ, MAP_PRIVATE, fd, off_t(start));
      if (address == MAP_FAILED) {
        int error = errno;
        close(fd);
        return absl::ResourceExhaustedError(absl::StrCat("cannot map ", path, ": ", std::strerror(error)));
      }
      base = address;
      data = static_cast<const std::byte *>(base) + (offset - start);
    }
    close(fd);
    return absl::OkStatus();
  }

  const std::byte *data = nullptr;

private:
  void *base = nullptr;
  size_t mapped = 0;
};

absl::Status malformed(const SectionRecipe &recipe, const std::string &what) {
  return absl::InvalidArgumentError(absl::StrCat("section ", recipe.name, ": ", what));
}

absl::Status produce(const SectionRecipe &recipe, std::span<std::byte> out) {
  if (out.empty())
    return absl::OkStatus();
  FileView file;
  const std::byte *source = nullptr;
  if (recipe.inlineBytes) {
    source = recipe.inlineBytes->data();
  } else {
    if (absl::Status status = file.open(recipe.path, recipe.sourceOffset, recipe.sourceBytes); !status.ok())
      return status;
    source = file.data;
  }
  int64_t bytes = format::elementBytes(recipe.type);
  stridedCopy(out.data(), source + recipe.elementOffset * bytes, bytes, recipe.extents, recipe.strides);
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<int64_t> sectionBytes(const SectionRecipe &recipe) {
  int64_t elementBytes = format::elementBytes(recipe.type);
  if (elementBytes == 0)
    return malformed(recipe, absl::StrCat("element type ", int(recipe.type), " does not exist"));
  if (recipe.extents.size() > kMaxSectionDims || recipe.strides.size() != recipe.extents.size())
    return malformed(recipe, absl::StrCat(recipe.extents.size(), " extents and ", recipe.strides.size(),
                                          " strides; there must be equally many, at most ", kMaxSectionDims));
  int64_t available = recipe.inlineBytes ? int64_t(recipe.inlineBytes->size()) : recipe.sourceBytes;
  if (recipe.sourceOffset < 0 || available < 0 || recipe.sourceOffset > INT64_MAX - available)
    return malformed(recipe,
                     absl::StrCat("source starts at byte ", recipe.sourceOffset, " and has ", available, " bytes"));
  int64_t bytes = elementBytes, least = recipe.elementOffset, greatest = recipe.elementOffset;
  bool overflow = false, empty = false;
  for (size_t d = 0; d < recipe.extents.size(); ++d) {
    if (recipe.extents[d] < 0)
      return malformed(recipe, absl::StrCat("extent ", recipe.extents[d], " of dimension ", d, " is negative"));
    empty |= recipe.extents[d] == 0;
  }
  if (empty)
    return 0;
  for (size_t d = 0; d < recipe.extents.size(); ++d) {
    int64_t reach = 0;
    overflow |= __builtin_mul_overflow(bytes, recipe.extents[d], &bytes);
    overflow |= __builtin_mul_overflow(recipe.extents[d] - 1, recipe.strides[d], &reach);
    int64_t &end = reach < 0 ? least : greatest;
    overflow |= __builtin_add_overflow(end, reach, &end);
  }
  if (overflow)
    return malformed(recipe, "its size or the elements it reads exceed 64 bits");
  int64_t elements = available / elementBytes;
  if (least < 0 || greatest >= elements)
    return malformed(recipe, absl::StrCat("reads element ", least < 0 ? least : greatest, " of a source of ", elements,
                                          " elements"));
  return bytes;
}

absl::StatusOr<format::SectionSource> toSource(const SectionRecipe &recipe) {
  absl::StatusOr<int64_t> bytes = sectionBytes(recipe);
  if (!bytes.ok())
    return bytes.status();
  return format::SectionSource{recipe.name, *bytes,
                               [recipe](std::span<std::byte> out) { return produce(recipe, out); }};
}

} // namespace wsc::emit
