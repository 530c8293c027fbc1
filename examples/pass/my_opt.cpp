// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wsc-opt with one more pass, which says what an nn module consists of.   my-opt --count-layers nn.mlir
#include <wsc/compiler/driver/Registration.h>
#include <wsc/dialects/nn/Nn.h>

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Pass/Pass.h>
#include <mlir/Tools/mlir-opt/MlirOptMain.h>

struct CountLayers : mlir::PassWrapper<CountLayers, mlir::OperationPass<mlir::func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountLayers)
  llvm::StringRef getArgument() const override { return "count-layers"; }
  void runOnOperation() override {
    std::map<std::string, int> layers;
    getOperation().walk([&](mlir::Operation *op) {
      if (llvm::isa<wsc::nn::NnDialect>(op->getDialect()))
        ++layers[op->getName().getStringRef().str()];
    });
    for (const auto &[name, count] : layers)
      getOperation().emitRemark() << count << " " << name;
  }
};

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  wsc::driver::registerDialects(registry);
  mlir::PassRegistration<CountLayers>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "my-opt\n", registry));
}
