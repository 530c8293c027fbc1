// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checkpoints; see Checkpoint.h.
#include "compiler/import/tf/Checkpoint.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/import/common/Options.h"
#include "compiler/import/tf/Crc32c.h"
#include "compiler/import/tf/Types.h"
#include "dialects/nn/Nn.h"
#include "dialects/nn/Shape.h"

using namespace wsc::tf;

namespace wsc::import::tf {

absl::StatusOr<Checkpoint> Checkpoint::open(FileStore &files, const std::string &prefix) {
  const std::string path = prefix + ".index";
  auto bytes = files.map(path);
  if (!bytes.ok())
    return bytes.status();
  auto pairs = readSortedTable(*bytes);
  if (!pairs.ok())
    return at(path, pairs.status());
  Checkpoint checkpoint;
  checkpoint.files_ = &files;
  checkpoint.prefix_ = prefix;
  bool hasHeader = false;
  for (const auto &[name, value] : *pairs) {
    if (name.empty()) {
      BundleHeaderProto header;
      if (!header.ParseFromString(value))
        return absl::DataLossError(absl::StrCat(path, ": the header is damaged"));
      if (header.endianness() == BundleHeaderProto::BIG)
        return absl::UnimplementedError(absl::StrCat(path, ": big-endian checkpoints are not supported"));
      checkpoint.shards_ = header.num_shards();
      hasHeader = true;
      continue;
    }
    if (!checkpoint.entries_[name].ParseFromString(value))
      return absl::DataLossError(absl::StrCat(path, ": the entry of '", name, "' is damaged"));
  }
  if (!hasHeader || checkpoint.shards_ < 1 || checkpoint.shards_ > 99999)
    return absl::DataLossError(
        absl::StrCat(path, ": the header is missing or says ", checkpoint.shards_, " data files"));
  return checkpoint;
}

absl::StatusOr<Value> Checkpoint::find(mlir::MLIRContext &context, const std::string &name) const {
  const std::string where = absl::StrCat(prefix_, ".index: tensor '", name, "'");
  auto found = entries_.find(name);
  if (found == entries_.end()) {
    std::string similar;
    for (const auto &[other, entry] : entries_)
      if (similar.size() < 200 && (absl::StrContains(other, name) || absl::StrContains(name, other)))
        absl::StrAppend(&similar, similar.empty() ? "" : ", ", other);
    return absl::NotFoundError(absl::StrCat(where, " is not in the checkpoint of ", entries_.size(), " tensors",
                                            similar.empty() ? "" : "; similar ones are ", similar));
  }
  const BundleEntryProto &entry = found->second;
  if (entry.slices_size() > 0)
    return absl::UnimplementedError(absl::StrCat(where, " is partitioned into ", entry.slices_size(),
                                                 " slices, which is not supported; save it as one tensor"));
  if (valueType(entry.dtype()) == DT_STRING) // names of objects, which the graph itself does not read
    return Value(Strings{{std::string()}, {}});
  auto element = elementType(context, entry.dtype());
  if (!element.ok())
    return at(where, element.status());
  auto shape = knownShape(entry.shape(), "the tensor");
  if (!shape.ok())
    return at(where, shape.status());
  auto type = mlir::RankedTensorType::get(*shape, *element);
  int64_t bytes = 0;
  if (__builtin_mul_overflow(type.getNumElements(), int64_t{(element->getIntOrFloatBitWidth() + 7) / 8}, &bytes))
    return absl::DataLossError(absl::StrCat(where, " of shape ", nn::formatShape(*shape), " has more than 2^63 bytes"));
  if (entry.size() != bytes || entry.offset() < 0 || entry.shard_id() < 0 || entry.shard_id() >= shards_)
    return absl::DataLossError(absl::StrCat(where, " of shape ", nn::formatShape(*shape), " needs ", bytes,
                                            " bytes; the index says ", entry.size(), " at byte ", entry.offset(),
                                            " of file ", entry.shard_id()));
  const std::string data = absl::StrFormat("%s.data-%05d-of-%05d", prefix_, entry.shard_id(), shards_);
  auto content = files_->slice(data, static_cast<uint64_t>(entry.offset()), static_cast<uint64_t>(bytes));
  if (!content.ok())
    return at(where, content.status());
  if (const uint32_t crc = masked(crc32c(*content)); crc != entry.crc32c())
    return absl::DataLossError(
        absl::StrCat(where, ": ", data, " is damaged: checksum ", crc, ", the index says ", entry.crc32c()));
  return Value(
      Tensor{type,
             nn::WeightsAttr::get(type, data, static_cast<uint64_t>(entry.offset()), static_cast<uint64_t>(bytes), 0),
             {}});
}

} // namespace wsc::import::tf
