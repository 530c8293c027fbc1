// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants at rest on cores: weights in their shardings, index tables, masks. Each is a resident with a raw section;
// rows or columns of cores that hold the same share bytes.
#pragma once

#include "compiler/emit/SectionRecipe.h"
#include "compiler/spmd/network/Network.h"
#include "compiler/spmd/plan/Views.h"
#include "compiler/spmd/sharding/Sharding.h"
#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <map>
#include <vector>

namespace wsc::spmd {

/// The elements of constant tensors, read once.
class ConstantReader {
public:
  explicit ConstantReader(const Network &network) : network(network) {}
  /// All elements, row-major. Errors: a file that cannot be read or is too short, inline bytes of another size.
  absl::StatusOr<const std::vector<std::byte> *> read(TensorId tensor);

private:
  const Network &network;
  std::map<TensorId, std::vector<std::byte>> known;
};

struct ConstantTable {
  std::vector<format::Resident> residents; // addresses are given later
  std::vector<emit::SectionRecipe> sections;

  /// Adds a constant of `elements` elements on every core of the network's rectangle: `data` holds them for rows × cols
  /// cores, where a single row (column) stands for all. Returns the resident's number.
  int32_t add(const std::string &name, format::ElementType type, const Rectangle &rectangle, int32_t rows, int32_t cols,
              int64_t elements, std::vector<std::byte> data);
};

/// The local boxes of a sharding of a view of constants, as data for ConstantTable::add with the network's rectangle
/// `whole`; `padding` outside of the tensor, and on cores outside of the sharding's rectangle.
struct ConstantBoxes {
  int32_t rows = 1, cols = 1;
  std::vector<std::byte> data;
};
absl::StatusOr<ConstantBoxes> constantBoxes(const Network &network, ConstantReader &reader, Views &views,
                                            TensorId tensor, const Sharding &sharding, const Rectangle &whole,
                                            double padding);

/// Bytes of a value as an element of a type.
std::vector<std::byte> elementOf(double value, format::ElementType type);

} // namespace wsc::spmd
