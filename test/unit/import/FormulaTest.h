// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests of formulas share: a formula of one tensor built as nn operations and executed by the reference.
#pragma once
#include "compiler/import/common/Functions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/support/NnReference.h"
#include "gtest/gtest.h"

namespace wsc::test {

class FormulaTest : public ::testing::Test {
protected:
  FormulaTest() { context.loadDialect<nn::NnDialect, mlir::func::FuncDialect>(); }

  /// What `make` computes of an f32 vector, or of one of another element type.
  template <typename Make> Array run(const Array &argument, Make make, mlir::Type element = {}) {
    mlir::OpBuilder builder(&context);
    auto module = mlir::OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp::create(builder.getUnknownLoc()));
    auto type = mlir::RankedTensorType::get(argument.shape, element ? element : mlir::Type(builder.getF32Type()));
    builder.setInsertionPointToStart(module->getBody());
    auto function =
        mlir::func::FuncOp::create(builder, builder.getUnknownLoc(), "main", builder.getFunctionType({type}, {}));
    mlir::Block *body = function.addEntryBlock();
    builder.setInsertionPointToStart(body);
    import::FileStore files;
    import::LayerBuilder layers(builder, files);
    import::Expression y = make(import::Expression(layers, layers.fromValue(body->getArgument(0))));
    EXPECT_FALSE(layers.failed()) << layers.status();
    mlir::func::ReturnOp::create(builder, builder.getUnknownLoc(), layers.materialize(y));
    std::string error;
    auto results = runReference(*module, {argument}, error);
    EXPECT_TRUE(results) << error;
    return results ? results->front() : Array{};
  }

  mlir::MLIRContext context;
};

} // namespace wsc::test
