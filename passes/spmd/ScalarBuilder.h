// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar computations for the bodies of nests, in arith, math and the two scalar operations of the wafer dialect. arith
// knows signless integers only, so a value carries the element type of its tensor beside it, which says whether it has
// a sign; ui8 lives as i8 inside of a body. Comparisons give i1.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace wsc::spmd {

/// A value inside a body. `type` is an element type as nn has it (ui8 …), `value` has its signless form.
struct Scalar {
  mlir::Value value;
  mlir::Type type;
};

/// i8 for ui8, any other type as it is.
mlir::Type signless(mlir::Type element);

/// f32 for f16 and bf16, any other type as it is: sums of halves are formed in f32 and rounded once at the end.
mlir::Type accumulatorOf(mlir::Type element);

enum class Compare { Equal, NotEqual, Less, LessEqual };

/// Operands of an operation have one type.
class ScalarBuilder {
public:
  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// An element of a tensor (`ui8`) as a scalar, and a scalar as an element.
  Scalar fromElement(mlir::Value element);
  mlir::Value toElement(Scalar x);

  /// `value` rounded to `type`; of an integer type it must be a whole number within its range.
  Scalar constant(mlir::Type type, double value);
  /// The element of a float, integer or i1 attribute.
  Scalar constant(mlir::Type type, mlir::TypedAttr value);

  Scalar add(Scalar a, Scalar b);
  Scalar sub(Scalar a, Scalar b);
  Scalar mul(Scalar a, Scalar b);
  Scalar div(Scalar a, Scalar b);
  /// Remainder with the sign of a.
  Scalar rem(Scalar a, Scalar b);
  /// Of floats, a NaN on either side gives NaN.
  Scalar min(Scalar a, Scalar b);
  Scalar max(Scalar a, Scalar b);
  Scalar pow(Scalar a, Scalar b);
  Scalar fma(Scalar a, Scalar b, Scalar c);
  Scalar bitAnd(Scalar a, Scalar b);
  Scalar bitOr(Scalar a, Scalar b);
  Scalar bitXor(Scalar a, Scalar b);
  /// By counts outside of the type's width everything is shifted out; `shiftRight` copies the sign of types that have
  /// one.
  Scalar shiftLeft(Scalar a, Scalar b);
  Scalar shiftRight(Scalar a, Scalar b);
  Scalar compare(Compare kind, Scalar a, Scalar b);
  Scalar select(Scalar condition, Scalar a, Scalar b);
  /// As nn.cast converts.
  Scalar convert(Scalar x, mlir::Type to);
  /// The same bits; both types have as many, and none is i1.
  Scalar bitcast(Scalar x, mlir::Type to);

  Scalar neg(Scalar x);
  Scalar abs(Scalar x);
  Scalar sign(Scalar x);
  Scalar logicalNot(Scalar x);
  // Of floats.
  Scalar exp(Scalar x);
  Scalar log(Scalar x);
  Scalar sqrt(Scalar x);
  Scalar rsqrt(Scalar x);
  Scalar reciprocal(Scalar x);
  Scalar tanh(Scalar x);
  Scalar erf(Scalar x);
  Scalar sigmoid(Scalar x);
  Scalar floor(Scalar x);
  Scalar ceil(Scalar x);
  Scalar round(Scalar x);
  Scalar sin(Scalar x);
  Scalar cos(Scalar x);

private:
  template <typename FloatOp, typename SignedOp, typename UnsignedOp> Scalar arithmetic(Scalar a, Scalar b);
  template <typename Op> Scalar unary(Scalar x);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace wsc::spmd
