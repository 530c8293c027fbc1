// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/spmd/LayerName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace wsc::spmd {

static void collectNames(Location loc, llvm::SmallVectorImpl<StringRef> &names) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collectNames(part, names);
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    if (!llvm::is_contained(names, name.getName().getValue()))
      names.push_back(name.getName().getValue());
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collectNames(call.getCallee(), names);
  }
}

std::string layerName(Location loc) {
  llvm::SmallVector<StringRef> names;
  collectNames(loc, names);
  return llvm::join(names, "+");
}

} // namespace wsc::spmd
