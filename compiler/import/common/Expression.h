// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on tensors that reads as formulas: a tensor with the builder that makes layers of it. Numbers take the
// element type of the tensor beside them. Errors stick to the builder, as there.
#pragma once
#include "compiler/import/common/LayerBuilder.h"
#include <type_traits>

namespace wsc::import {

class Expression {
public:
  Expression(LayerBuilder &layers, Tensor tensor) : layers_(&layers), tensor_(std::move(tensor)) {}

  operator const Tensor &() const { return tensor_; }
  explicit operator bool() const { return static_cast<bool>(tensor_); }
  LayerBuilder &layers() const { return *layers_; }
  const Tensor &tensor() const { return tensor_; }
  TensorShape shape() const { return tensor_.shape(); }
  int64_t rank() const { return tensor_.rank(); }
  /// Number of elements; 0 after an error.
  int64_t size() const { return tensor_ ? tensor_.type.getNumElements() : 0; }
  mlir::Type elementType() const { return tensor_.elementType(); }
  bool isFloat() const { return mlir::isa_and_nonnull<mlir::FloatType>(elementType()); }

  // Shapes.
  Expression reshape(llvm::ArrayRef<int64_t> shape) const { return {*layers_, layers_->reshape(tensor_, shape)}; }
  Expression transpose(llvm::ArrayRef<int64_t> permutation) const {
    return {*layers_, layers_->transpose(tensor_, permutation)};
  }
  Expression broadcast(llvm::ArrayRef<int64_t> shape) const { return {*layers_, layers_->broadcastTo(tensor_, shape)}; }
  Expression cast(mlir::Type element) const { return {*layers_, layers_->cast(tensor_, element)}; }
  /// `size` elements of one axis from `start`.
  Expression slice(int64_t axis, int64_t start, int64_t size, int64_t step = 1) const;
  /// A new dimension of extent 1 at `axis`, in [0, rank].
  Expression unsqueeze(int64_t axis) const;
  /// Without the dimension `axis` of extent 1.
  Expression squeeze(int64_t axis) const;
  /// The last two dimensions exchanged.
  Expression transposed() const;
  /// Reversed along an axis.
  Expression reverse(int64_t axis) const;
  /// `low` and `high` elements of `value` before and behind those of an axis.
  Expression pad(int64_t axis, int64_t low, int64_t high, double value = 0) const;
  /// A tensor of this shape holding `value`.
  Expression filled(double value) const;
  /// A number of this element type.
  Expression number(double value) const { return {*layers_, layers_->scalar(elementType(), value)}; }

private:
  LayerBuilder *layers_;
  Tensor tensor_;
};

template <typename T>
concept ExpressionOperand = std::is_same_v<T, Expression> || std::is_arithmetic_v<T>;
/// Two operands of which one at least is a tensor.
template <typename A, typename B>
concept ExpressionPair =
    ExpressionOperand<A> && ExpressionOperand<B> && !(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>);

template <typename A, typename B>
  requires ExpressionPair<A, B>
Expression binary(nn::BinaryKind kind, const A &a, const B &b) {
  if constexpr (std::is_arithmetic_v<A>)
    return {b.layers(), b.layers().binary(kind, b.number(static_cast<double>(a)), b)};
  else if constexpr (std::is_arithmetic_v<B>)
    return {a.layers(), a.layers().binary(kind, a, a.number(static_cast<double>(b)))};
  else
    return {a.layers(), a.layers().binary(kind, a, b)};
}

template <typename A, typename B>
  requires ExpressionPair<A, B>
Expression operator+(const A &a, const B &b) {
  return binary(nn::BinaryKind::Add, a, b);
}
template <typename A, typename B>
  requires ExpressionPair<A, B>
Expression operator-(const A &a, const B &b) {
  return binary(nn::BinaryKind::Sub, a, b);
}
template <typename A, typename B>
  requires ExpressionPair<A, B>
Expression operator*(const A &a, const B &b) {
  return binary(nn::BinaryKind::Mul, a, b);
}
template <typename A, typename B>
  requires ExpressionPair<A, B>
Expression operator/(const A &a, const B &b) {
  return binary(nn::BinaryKind::Div, a, b);
}
template <typename A, typename B>
  requires ExpressionPair<A, B>
Expression minimum(const A &a, const B &b) {
  return binary(nn::BinaryKind::Min, a, b);
}
template <typename A, typename B>
  requires ExpressionPair<A, B>
Expression maximum(const A &a, const B &b) {
  return binary(nn::BinaryKind::Max, a, b);
}
template <typename A, typename B>
  requires ExpressionPair<A, B>
Expression power(const A &a, const B &b) {
  return binary(nn::BinaryKind::Pow, a, b);
}
/// With the sign of the divisor.
template <typename A, typename B>
  requires ExpressionPair<A, B>
Expression modulo(const A &a, const B &b) {
  return binary(nn::BinaryKind::Mod, a, b);
}

// Comparisons give i1.
template <typename A, typename B>
  requires ExpressionPair<A, B>
Expression equal(const A &a, const B &b) {
  return binary(nn::BinaryKind::Equal, a, b);
}
template <typename A, typename B>
  requires ExpressionPair<A, B>
Expression less(const A &a, const B &b) {
  return binary(nn::BinaryKind::Less, a, b);
}
template <typename A, typename B>
  requires ExpressionPair<A, B>
Expression lessEqual(const A &a, const B &b) {
  return binary(nn::BinaryKind::LessEqual, a, b);
}

// Logic of i1, bit by bit of integers.
inline Expression operator&(const Expression &a, const Expression &b) { return binary(nn::BinaryKind::And, a, b); }
inline Expression operator|(const Expression &a, const Expression &b) { return binary(nn::BinaryKind::Or, a, b); }

/// condition ? a : b
template <typename A, typename B>
  requires ExpressionPair<A, B>
Expression select(const Expression &condition, const A &a, const B &b) {
  if constexpr (std::is_arithmetic_v<A>)
    return select(condition, b.number(static_cast<double>(a)), b);
  else if constexpr (std::is_arithmetic_v<B>)
    return select(condition, a, a.number(static_cast<double>(b)));
  else
    return {a.layers(), a.layers().select(condition, a, b)};
}

inline Expression unary(nn::UnaryKind kind, const Expression &x) { return {x.layers(), x.layers().unary(kind, x)}; }
inline Expression operator-(const Expression &x) { return unary(nn::UnaryKind::Neg, x); }
/// Of i1.
inline Expression logicalNot(const Expression &x) { return unary(nn::UnaryKind::Not, x); }
inline Expression relu(const Expression &x) { return unary(nn::UnaryKind::Relu, x); }
inline Expression abs(const Expression &x) { return unary(nn::UnaryKind::Abs, x); }
inline Expression exp(const Expression &x) { return unary(nn::UnaryKind::Exp, x); }
inline Expression log(const Expression &x) { return unary(nn::UnaryKind::Log, x); }
inline Expression sqrt(const Expression &x) { return unary(nn::UnaryKind::Sqrt, x); }
inline Expression rsqrt(const Expression &x) { return unary(nn::UnaryKind::Rsqrt, x); }
inline Expression tanh(const Expression &x) { return unary(nn::UnaryKind::Tanh, x); }
inline Expression erf(const Expression &x) { return unary(nn::UnaryKind::Erf, x); }
inline Expression sigmoid(const Expression &x) { return unary(nn::UnaryKind::Sigmoid, x); }
inline Expression floor(const Expression &x) { return unary(nn::UnaryKind::Floor, x); }
inline Expression ceil(const Expression &x) { return unary(nn::UnaryKind::Ceil, x); }
/// Halves to even.
inline Expression round(const Expression &x) { return unary(nn::UnaryKind::Round, x); }
inline Expression sign(const Expression &x) { return unary(nn::UnaryKind::Sign, x); }
inline Expression sin(const Expression &x) { return unary(nn::UnaryKind::Sin, x); }
inline Expression cos(const Expression &x) { return unary(nn::UnaryKind::Cos, x); }
inline Expression square(const Expression &x) { return x * x; }

// Over axes in [0, rank).
inline Expression reduce(nn::ReduceKind kind, const Expression &x, llvm::ArrayRef<int64_t> axes, bool keepdims = true) {
  return {x.layers(), x.layers().reduce(kind, x, axes, keepdims)};
}
inline Expression sumOver(const Expression &x, llvm::ArrayRef<int64_t> axes, bool keepdims = true) {
  return reduce(nn::ReduceKind::Sum, x, axes, keepdims);
}
inline Expression meanOver(const Expression &x, llvm::ArrayRef<int64_t> axes, bool keepdims = true) {
  return reduce(nn::ReduceKind::Mean, x, axes, keepdims);
}
inline Expression maxOver(const Expression &x, llvm::ArrayRef<int64_t> axes, bool keepdims = true) {
  return reduce(nn::ReduceKind::Max, x, axes, keepdims);
}
inline Expression minOver(const Expression &x, llvm::ArrayRef<int64_t> axes, bool keepdims = true) {
  return reduce(nn::ReduceKind::Min, x, axes, keepdims);
}

inline Expression matmul(const Expression &a, const Expression &b, bool transposeRhs = false) {
  return {a.layers(), a.layers().matmul(a, b, {}, transposeRhs)};
}
inline Expression softmax(const Expression &x, int64_t axis, bool log = false) {
  return {x.layers(), x.layers().softmax(x, axis, log)};
}
inline Expression gather(const Expression &x, const Expression &indices, int64_t axis) {
  return {x.layers(), x.layers().gather(x, indices, axis)};
}
inline Expression gatherElements(const Expression &x, const Expression &indices, int64_t axis) {
  return {x.layers(), x.layers().gatherElements(x, indices, axis)};
}
Expression concat(llvm::ArrayRef<Expression> parts, int64_t axis);

} // namespace wsc::import
