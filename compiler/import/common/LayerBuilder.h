// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds nn operations for an importer. Every function takes and gives `Tensor`s, which are constants until somebody
// needs them as a value: a function whose operands are small constants evaluates exactly instead of building an
// operation, so shape arithmetic written as graph nodes vanishes, and front ends need no evaluator of their own. Errors
// are sticky: the first one is kept, every later call does nothing and returns a null tensor, so decompositions read
// without checks in between.
#pragma once
#include "absl/status/status.h"
#include "compiler/import/common/FileStore.h"
#include "compiler/import/common/Literal.h"
#include "dialects/nn/Nn.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace wsc::import {

/// The shape of a tensor. After an error there is no tensor: it has no dimensions then, and 1 for each extent that a
/// formula asks for, so that formulas read without checks in between, too.
class TensorShape : public llvm::ArrayRef<int64_t> {
public:
  TensorShape() : isKnown(false) {}
  explicit TensorShape(llvm::ArrayRef<int64_t> shape) : ArrayRef(shape) {}

  int64_t operator[](size_t d) const { return isKnown ? ArrayRef::operator[](d) : 1; }
  int64_t front() const { return isKnown ? ArrayRef::front() : 1; }
  int64_t back() const { return isKnown ? ArrayRef::back() : 1; }
  ArrayRef drop_front(size_t n = 1) const { return isKnown ? ArrayRef::drop_front(n) : ArrayRef(); }
  ArrayRef drop_back(size_t n = 1) const { return isKnown ? ArrayRef::drop_back(n) : ArrayRef(); }
  ArrayRef slice(size_t from, size_t n) const { return isKnown ? ArrayRef::slice(from, n) : ArrayRef(); }
  ArrayRef slice(size_t from) const { return isKnown ? ArrayRef::slice(from) : ArrayRef(); }

private:
  bool isKnown = true;
};

/// A tensor of the graph being built: a constant (elements in a file or in the IR) or a value. Null after an error.
struct Tensor {
  mlir::RankedTensorType type;
  mlir::TypedAttr constant;
  mlir::Value value;

  explicit operator bool() const { return static_cast<bool>(type); }
  TensorShape shape() const { return type ? TensorShape(type.getShape()) : TensorShape(); }
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }
  mlir::Type elementType() const { return type ? type.getElementType() : mlir::Type(); }
};

/// A tensor as whole numbers: (number - zero point)·scale. The zero point may be null; scale and zero point have one
/// element, or one per place of `axis`.
struct Quantised {
  Tensor number, scale, zeroPoint;
  int64_t axis = 0;
};

/// Window of a convolution or pool, with a number per spatial dimension; pads before all dimensions, then behind all:
/// [top, left, bottom, right]. As it stands: over [H, W].
struct Window {
  llvm::SmallVector<int64_t, 2> strides{1, 1};
  llvm::SmallVector<int64_t, 2> dilations{1, 1};
  llvm::SmallVector<int64_t, 4> pads{0, 0, 0, 0};
};

class LayerBuilder {
public:
  LayerBuilder(mlir::OpBuilder &builder, FileStore &files)
      : builder_(builder), files_(files), location_(builder.getUnknownLoc()) {}

  void setLocation(mlir::Location location) { location_ = location; }
  mlir::Location location() const { return location_; }
  mlir::OpBuilder &builder() { return builder_; }

  bool failed() const { return !status_.ok(); }
  const absl::Status &status() const { return status_; }
  void fail(absl::Status status);
  void fail(const std::string &message) { fail(absl::InvalidArgumentError(message)); }

  // Constants and values.
  Tensor fromValue(mlir::Value value);
  Tensor fromAttribute(mlir::TypedAttr attribute);
  Tensor fromLiteral(const Literal &literal);
  /// 0-d constant of an element type (rounded to it).
  Tensor scalar(mlir::Type element, double value);
  Tensor integers(llvm::ArrayRef<int64_t> values);
  /// The elements of a constant of at most maxLiteralElements; nullopt for all else.
  std::optional<Literal> literal(const Tensor &tensor);
  /// The value, creating the nn.constant on first use.
  mlir::Value materialize(const Tensor &tensor);

  /// Records what a tensor was made from, for products that are computed on whole numbers.
  void setQuantised(const Tensor &tensor, Quantised from) { quantised_[keyOf(tensor)] = std::move(from); }
  /// What was recorded, or null.
  const Quantised *quantisedOf(const Tensor &tensor) const {
    auto found = quantised_.find(keyOf(tensor));
    return found == quantised_.end() ? nullptr : &found->second;
  }

  // Layers.
  Tensor unary(nn::UnaryKind kind, const Tensor &x);
  Tensor binary(nn::BinaryKind kind, const Tensor &a, const Tensor &b);
  /// With a constant of x's element type as second operand.
  Tensor binary(nn::BinaryKind kind, const Tensor &x, double scalar) {
    return binary(kind, x, this->scalar(x.elementType(), scalar));
  }
  Tensor select(const Tensor &condition, const Tensor &a, const Tensor &b);
  /// From and to storage types (nn/Storage.h) too, as StorageCasts.h says.
  Tensor cast(const Tensor &x, mlir::Type element);
  Tensor bitcast(const Tensor &x, mlir::Type element);
  Tensor conv(const Tensor &x, const Tensor &weight, const Tensor &bias, const Window &window, int64_t groups);
  Tensor pool(nn::PoolKind kind, const Tensor &x, llvm::ArrayRef<int64_t> kernel, const Window &window,
              bool countIncludePad);
  Tensor matmul(const Tensor &a, const Tensor &b, const Tensor &bias, bool transposeRhs);
  /// Axes in any order, without repetition, in [0, rank).
  Tensor reduce(nn::ReduceKind kind, const Tensor &x, llvm::ArrayRef<int64_t> axes, bool keepdims);
  Tensor softmax(const Tensor &x, int64_t axis, bool log);
  Tensor batchNorm(const Tensor &x, const Tensor &scale, const Tensor &bias, const Tensor &mean, const Tensor &variance,
                   double epsilon);
  Tensor reshape(const Tensor &x, llvm::ArrayRef<int64_t> shape);
  Tensor transpose(const Tensor &x, llvm::ArrayRef<int64_t> permutation);
  Tensor slice(const Tensor &x, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes,
               llvm::ArrayRef<int64_t> steps);
  Tensor pad(const Tensor &x, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high, double value);
  Tensor concat(llvm::ArrayRef<Tensor> parts, int64_t axis);
  Tensor broadcastTo(const Tensor &x, llvm::ArrayRef<int64_t> shape);
  Tensor gather(const Tensor &x, const Tensor &indices, int64_t axis);
  Tensor gatherElements(const Tensor &x, const Tensor &indices, int64_t axis);

private:
  /// Infers the type, then folds (fold may return nullopt) or creates and verifies the operation.
  template <typename Op, typename Fold>
  Tensor emit(const typename Op::Properties &properties, llvm::ArrayRef<Tensor> operands, Fold fold);
  template <typename Op> Tensor emit(const typename Op::Properties &properties, llvm::ArrayRef<Tensor> operands);
  /// The same for an operation whose result type is given.
  template <typename Op, typename Fold>
  Tensor emitTyped(mlir::RankedTensorType type, const typename Op::Properties &properties,
                   llvm::ArrayRef<Tensor> operands, Fold fold);
  bool usable(llvm::ArrayRef<Tensor> operands);
  static const void *keyOf(const Tensor &tensor) {
    return tensor.constant ? tensor.constant.getAsOpaquePointer() : tensor.value.getAsOpaquePointer();
  }

  /// Elements of all larger constants made in one import, which live as long as the context.
  static constexpr int64_t maxMadeElements = 20'000'000;
  /// Layers of one import: loops are unrolled, and tensors taken apart row by row.
  static constexpr int64_t maxMadeLayers = 500'000;

  mlir::OpBuilder &builder_;
  FileStore &files_;
  mlir::Location location_;
  absl::Status status_;
  int64_t madeElements_ = 0, madeLayers_ = 0;
  llvm::DenseMap<mlir::Attribute, mlir::Value> materialized_;
  llvm::DenseMap<const void *, Quantised> quantised_;
};

} // namespace wsc::import
