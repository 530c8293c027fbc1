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

/// Which coordinates of an axis hold the same: x and y do where x / modulus = y / modulus (if it counts) and
/// x % modulus = y % modulus (if it counts).
struct AxisPattern {
  int32_t length = 1; // coordinates, from 0: whole groups
  int32_t modulus = 1;
  bool byGroup = false, bySub = false;
  int32_t groups() const { return length / modulus; }
  /// Coordinates that hold different things.
  int32_t distinct() const { return (byGroup ? groups() : 1) * (bySub ? modulus : 1); }
  /// The first coordinate that holds what number `i` of them does.
  int32_t representative(int32_t i) const {
    const int32_t subs = bySub ? modulus : 1;
    return i / subs * modulus + i % subs;
  }
  /// `length` coordinates that differ, or all the same.
  static AxisPattern all(int32_t length, bool differ) { return {length, 1, differ, false}; }
};

struct ConstantTable {
  std::vector<format::Resident> residents; // addresses are given later
  std::vector<emit::SectionRecipe> sections;

  /// Adds a constant of `elements` elements on every core that the patterns cover: `data` holds them for each distinct
  /// row and column. Returns the resident's number.
  int32_t add(const std::string &name, format::ElementType type, AxisPattern rows, AxisPattern cols, int64_t elements,
              std::vector<std::byte> data);
  /// The same on the network's rectangle, for rows × cols cores, where a single row (column) stands for all.
  int32_t add(const std::string &name, format::ElementType type, const Rectangle &rectangle, int32_t rows, int32_t cols,
              int64_t elements, std::vector<std::byte> data);
};

/// The local boxes of a sharding of a view of constants, as data for ConstantTable::add with the network's rectangle
/// `whole`; `padding` outside of the tensor, and on cores outside of the sharding's rectangle.
struct ConstantBoxes {
  AxisPattern rows, cols;
  std::vector<std::byte> data;
};
absl::StatusOr<ConstantBoxes> constantBoxes(const Network &network, ConstantReader &reader, Views &views,
                                            TensorId tensor, const Sharding &sharding, const Rectangle &whole,
                                            double padding);

/// Bytes of a value as an element of a type.
std::vector<std::byte> elementOf(double value, format::ElementType type);

} // namespace wsc::spmd
