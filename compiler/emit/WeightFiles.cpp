// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/WeightFiles.h"

#include "dialects/core/CoreDialect.h"
#include "dialects/nn/Nn.h"
#include "runtime/format/FileLayout.h"

#include "absl/strings/str_cat.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/Support/MemoryBuffer.h"

#include <filesystem>
#include <map>
#include <tuple>

using namespace mlir;

namespace wsc::emit {

namespace {

namespace fs = std::filesystem;

// Bytes of a file, and the hash that the IR gives them (0: none).
struct Weights {
  std::string path;
  uint64_t offset = 0, bytes = 0, hash = 0;
};

// An empty path is the current folder.
fs::path absolute(const std::string &path) {
  std::error_code code;
  return fs::absolute(path.empty() ? "." : path, code);
}

// Every attribute that names weights, replaced by what `change` makes of it.
void replaceWeights(ModuleOp module, llvm::function_ref<void(Weights &)> change) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](nn::WeightsAttr attr) -> std::optional<Attribute> {
    Weights weights{attr.getFile().str(), attr.getOffset(), attr.getBytes(), attr.getHash()};
    change(weights);
    return nn::WeightsAttr::get(cast<RankedTensorType>(attr.getType()), weights.path, weights.offset, weights.bytes,
                                weights.hash);
  });
  replacer.addReplacement([&](core::FileAttr attr) -> std::optional<Attribute> {
    Weights weights{attr.getPath().str(), uint64_t(attr.getOffset()), uint64_t(attr.getBytes()), attr.getHash()};
    change(weights);
    return core::FileAttr::get(attr.getContext(), StringAttr::get(attr.getContext(), weights.path),
                               int64_t(weights.offset), int64_t(weights.bytes), weights.hash);
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/false);
}

// Hashes each stretch of a file once.
class Hashes {
public:
  // 0 after an error.
  uint64_t of(const Weights &weights) {
    uint64_t &hash = known[{weights.path, weights.offset, weights.bytes}];
    if (hash != 0 || !status.ok())
      return hash;
    auto buffer = llvm::MemoryBuffer::getFileSlice(weights.path, weights.bytes, int64_t(weights.offset));
    if (!buffer) {
      status = absl::NotFoundError(
          absl::StrCat("cannot read weights from ", weights.path, ": ", buffer.getError().message()));
      return 0;
    }
    hash = format::hashBytes(std::as_bytes(std::span((*buffer)->getBufferStart(), (*buffer)->getBufferSize())));
    return hash;
  }
  absl::Status status = absl::OkStatus();

private:
  std::map<std::tuple<std::string, uint64_t, uint64_t>, uint64_t> known;
};

} // namespace

absl::Status hashWeights(ModuleOp module) {
  Hashes hashes;
  replaceWeights(module, [&](Weights &weights) {
    if (weights.hash == 0)
      weights.hash = hashes.of(weights);
  });
  return hashes.status;
}

absl::Status checkWeights(ModuleOp module) {
  Hashes hashes;
  absl::Status result = absl::OkStatus();
  replaceWeights(module, [&](Weights &weights) {
    if (weights.hash == 0 || !result.ok())
      return;
    const uint64_t found = hashes.of(weights);
    result = hashes.status;
    if (result.ok() && found != weights.hash)
      result = absl::FailedPreconditionError(
          absl::StrCat("bytes ", weights.offset, " to ", weights.offset + weights.bytes, " of ", weights.path,
                       " are not the weights that this IR was written for (hash ", found, ", expected ", weights.hash,
                       "); give it that file, or write the IR again"));
  });
  return result;
}

void namePathsFrom(ModuleOp module, const std::string &folder) {
  std::error_code code;
  const fs::path base = fs::weakly_canonical(absolute(folder), code);
  replaceWeights(module, [&](Weights &weights) {
    fs::path path = fs::weakly_canonical(absolute(weights.path), code);
    if (!fs::exists(path, code)) // a file without a name, known by its descriptor alone
      path = absolute(weights.path);
    const fs::path relative = path.lexically_relative(base);
    const bool below = !relative.empty() && *relative.begin() != "..";
    weights.path = (below ? relative : path).string();
  });
}

void resolvePaths(ModuleOp module, const std::string &folder) {
  const fs::path base = absolute(folder);
  replaceWeights(module, [&](Weights &weights) {
    weights.path = (base / weights.path).lexically_normal().string(); // an absolute path stays as it is
  });
}

} // namespace wsc::emit
