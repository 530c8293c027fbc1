// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an edge of a TensorFlow graph carries while it is translated. Most are tensors. Lists (TensorArray, TensorList)
// and their indices are known while importing, so a list is a row of tensors; strings only name things; a resource is a
// variable or table by its number; a random tensor is known by its range alone, which is enough where a mask is the
// same whatever was drawn.
#pragma once
#include "compiler/import/common/LayerBuilder.h"
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace wsc::import::tf {

/// Elements in order; a null tensor is one that was never written.
struct List {
  std::vector<Tensor> elements;
  mlir::Type element;                              ///< type of the tensors' elements, or null where not stated
  std::optional<llvm::SmallVector<int64_t>> shape; ///< of unwritten elements, where it is known
};

struct Strings {
  std::vector<std::string> values;
  std::vector<int64_t> shape;
};

/// Numbers independent of each other: shift + scale · u, u uniform in [0, 1), normal, or normal and within ±2.
struct Random {
  enum class Kind { Uniform, Normal, Truncated };
  mlir::RankedTensorType type;
  Kind kind = Kind::Uniform;
  uint64_t seed = 0;
  double scale = 1, shift = 0;

  /// All numbers lie in [low, high) where the scale is positive.
  double low() const { return shift + scale * least(); }
  double high() const { return shift + scale * (kind == Kind::Uniform ? 1 : -least()); }

private:
  double least() const {
    return kind == Kind::Uniform ? 0 : kind == Kind::Truncated ? -2 : -std::numeric_limits<double>::infinity();
  }
};

struct Value {
  Tensor tensor;
  std::shared_ptr<const List> list;
  std::shared_ptr<const Strings> strings;
  std::shared_ptr<const Random> random;
  int resource = -1;
  bool isReference = false; ///< a variable of TensorFlow 1, which stands for its value wherever a tensor is asked for

  Value() = default;
  Value(Tensor tensor) : tensor(std::move(tensor)) {}
  Value(List list) : list(std::make_shared<const List>(std::move(list))) {}
  Value(Strings strings) : strings(std::make_shared<const Strings>(std::move(strings))) {}
  Value(Random random) : random(std::make_shared<const Random>(std::move(random))) {}
  static Value ofResource(int number) {
    Value value;
    value.resource = number;
    return value;
  }

  explicit operator bool() const { return tensor || list || strings || random || resource >= 0; }
  /// For messages: "a tensor", "a list of tensors" …
  const char *kind() const {
    return tensor          ? "a tensor"
           : list          ? "a list of tensors"
           : strings       ? "a string"
           : random        ? "random numbers"
           : resource >= 0 ? "a resource"
                           : "nothing";
  }
};

} // namespace wsc::import::tf
