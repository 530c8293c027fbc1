// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a recipe with overflow-checked arithmetic (least and greatest element it reads against the source), and turns
// it into a producer that maps the file and copies.
#include "compiler/emit/SectionRecipe.h"

#include "compiler/emit/StridedCopy.h"
#include "runtime/files/FileView.h"

#include "absl/strings/str_cat.h"

namespace wsc::emit {
namespace {

absl::Status malformed(const SectionRecipe &recipe, const std::string &what) {
  return absl::InvalidArgumentError(absl::StrCat("section ", recipe.name, ": ", what));
}

absl::Status produce(const SectionRecipe &recipe, std::span<std::byte> out) {
  if (out.empty())
    return absl::OkStatus();
  if (recipe.make)
    return recipe.make(out);
  files::FileView file;
  const std::byte *source = nullptr;
  if (recipe.inlineBytes) {
    source = recipe.inlineBytes->data();
  } else {
    if (absl::Status status = file.open(recipe.path, recipe.sourceOffset, recipe.sourceBytes); !status.ok())
      return status;
    source = file.data();
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
  if (recipe.make) {
    const int64_t elements = recipe.sourceBytes / elementBytes;
    if (recipe.sourceBytes < 0 || recipe.sourceBytes % elementBytes != 0 || recipe.elementOffset != 0 ||
        recipe.extents != std::vector<int64_t>{elements} || recipe.strides != std::vector<int64_t>{1})
      return malformed(recipe, absl::StrCat("is made as a whole, ", recipe.sourceBytes, " bytes in their order"));
    return recipe.sourceBytes;
  }
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

absl::StatusOr<std::vector<std::byte>> sectionContent(const SectionRecipe &recipe) {
  absl::StatusOr<int64_t> bytes = sectionBytes(recipe);
  if (!bytes.ok())
    return bytes.status();
  std::vector<std::byte> content(static_cast<size_t>(*bytes));
  if (absl::Status status = produce(recipe, content); !status.ok())
    return status;
  return content;
}

absl::StatusOr<format::SectionSource> toSource(const SectionRecipe &recipe) {
  absl::StatusOr<int64_t> bytes = sectionBytes(recipe);
  if (!bytes.ok())
    return bytes.status();
  return format::SectionSource{recipe.name, *bytes,
                               [recipe](std::span<std::byte> out) { return produce(recipe, out); }};
}

} // namespace wsc::emit
