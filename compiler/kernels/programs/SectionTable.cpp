// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Raw sections are found again by name. Kernels of two functions may have one name and different constants: then the
// name gets a number. Equal constants are kept once.
#include "compiler/kernels/programs/KernelRows.h"

#include <tuple>

namespace wsc::kernels {

static bool same(const emit::SectionRecipe &a, const emit::SectionRecipe &b) {
  auto view = [](const emit::SectionRecipe &r) {
    return std::tie(r.type, r.path, r.sourceOffset, r.sourceBytes, r.extents, r.strides, r.elementOffset);
  };
  if (view(a) != view(b) || bool(a.inlineBytes) != bool(b.inlineBytes))
    return false;
  return a.inlineBytes == b.inlineBytes || *a.inlineBytes == *b.inlineBytes;
}

int32_t SectionTable::add(emit::SectionRecipe recipe) {
  std::string name = recipe.name;
  for (int number = 1;; ++number) {
    auto [it, isNew] = byName.try_emplace(recipe.name, int32_t(list.size()));
    if (isNew)
      list.push_back(std::move(recipe));
    else if (!same(list[it->second], recipe)) {
      recipe.name = name + "#" + std::to_string(number);
      continue;
    }
    return it->second;
  }
}

} // namespace wsc::kernels
