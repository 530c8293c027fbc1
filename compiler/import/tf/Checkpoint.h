// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TensorFlow's checkpoints: an index of names, PREFIX.index, and the tensors' bytes, PREFIX.data-00000-of-0000N, which
// stay there as #nn.weights.
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/common/FileStore.h"
#include "compiler/import/tf/Value.h"
#include "compiler/import/tf/tf.pb.h"
#include <map>
#include <string>

namespace wsc::import::tf {

class Checkpoint {
public:
  /// Reads the index. Errors: missing or damaged files (with the byte), other byte order than little-endian.
  static absl::StatusOr<Checkpoint> open(FileStore &files, const std::string &prefix);

  /// The tensor of a name, its checksum compared; for strings only that they are there. Errors: no such name (with
  /// similar ones), slices of partitioned variables, a damaged tensor.
  absl::StatusOr<Value> find(mlir::MLIRContext &context, const std::string &name) const;
  size_t size() const { return entries_.size(); }

private:
  FileStore *files_ = nullptr;
  std::string prefix_;
  int shards_ = 1;
  std::map<std::string, wsc::tf::BundleEntryProto> entries_;
};

/// The pairs of a sorted table (LevelDB's format, uncompressed blocks) in order of their keys.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> readSortedTable(std::string_view file);

} // namespace wsc::import::tf
