// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What cores hold of a constant, as a recipe: where its elements lie (a file, memory), how a view arranges them, and
// the sharding. Bytes are made core by core when they are asked for, straight from the mapped file; nothing keeps them.
#pragma once

#include "compiler/spmd/network/Network.h"
#include "compiler/spmd/plan/Views.h"
#include "compiler/spmd/sharding/Sharding.h"
#include "runtime/files/FileView.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <memory>
#include <string>
#include <vector>

namespace wsc::spmd {

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
  bool operator==(const AxisPattern &) const = default;
  /// `length` coordinates that differ, or all the same.
  static AxisPattern all(int32_t length, bool differ) { return {length, 1, differ, false}; }
};

/// The elements of a constant tensor, ready to be copied.
class ConstantElements {
public:
  /// Errors: a file that cannot be read or is too short, bytes of another size; they name the constant.
  static absl::StatusOr<ConstantElements> open(const Tensor &constant);
  /// Elements first … first + count − 1, of the tensor's type.
  void copy(int64_t first, int64_t count, std::byte *out) const;

private:
  files::FileView file;
  std::shared_ptr<const std::vector<std::byte>> held;
  const std::byte *data = nullptr;
  format::ElementType stored = format::ElementType::F32, type = format::ElementType::F32;
};

/// The local boxes of a sharding of a view of constants. It needs neither the network nor its views any more.
class ConstantBoxes {
public:
  /// `padding` outside of the tensor, and on cores outside of the sharding's rectangle; `whole`: the network's.
  ConstantBoxes(const Network &network, Views &views, TensorId tensor, const Sharding &sharding, const Rectangle &whole,
                double padding);

  /// Which cores hold the same.
  AxisPattern rows, cols;
  int64_t bytes() const { return localElements * width; } // of a core

  /// Boxes while their sources are open.
  class Open {
  public:
    /// What the cores hold whose row is number `row` of the distinct ones, and likewise their column.
    void write(int32_t row, int32_t col, std::byte *out);

  private:
    friend class ConstantBoxes;
    void run(size_t dim, int64_t outer, std::byte *&out);
    void place(int64_t first, int64_t count, std::byte *&out) const;
    const ConstantBoxes *boxes = nullptr;
    std::vector<ConstantElements> roots; // of those that are tensors
    std::vector<int64_t> begins;         // per dimension, of the core in hand
  };
  /// Errors: as ConstantElements::open. Lives no longer than the boxes.
  absl::StatusOr<Open> open() const;

private:
  struct Root {
    int64_t firstId = 0;
    Tensor tensor;               // without a name: none
    std::vector<std::byte> fill; // instead of a tensor
  };
  Sharding sharding;
  format::ElementType type;
  int64_t width = 0, localElements = 0;
  std::vector<Root> roots;
  ElementNumbers numbers;
  std::vector<std::byte> fill, outside; // one element
  /// Of each dimension: where its runs begin, from the core's first element on, and the elements of a run.
  std::vector<std::vector<int64_t>> runs;
  std::vector<int64_t> runLengths;
};

/// Bytes of a value as an element of a type.
std::vector<std::byte> elementOf(double value, format::ElementType type);

} // namespace wsc::spmd
