// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The import itself: load, connect, find inputs and outputs, check that every operator is known, then translate.
#include "compiler/import/tf/Import.h"
#include "absl/strings/match.h"
#include "compiler/import/tf/Interface.h"
#include "compiler/import/tf/Load.h"
#include "compiler/import/tf/Translate.h"
#include "dialects/nn/Nn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <filesystem>

namespace wsc::import {

bool isTensorFlow(const std::string &path) {
  const std::filesystem::path file = path;
  const std::string extension = file.extension().string();
  std::error_code code;
  return extension == ".pb" || extension == ".pbtxt" || extension == ".meta" ||
         std::filesystem::is_directory(file, code);
}

absl::StatusOr<std::vector<UnsupportedOperator>>
listUnsupportedTensorFlowOperators(mlir::MLIRContext &context, const std::string &path, const ImportOptions &options) {
  tf::LoadedModel model;
  if (absl::Status status = tf::load(path, options, model); !status.ok())
    return status;
  auto body = tf::bodyOf(model.graph, model.graph.library());
  if (!body.ok())
    return at(path, body.status());
  auto interface = tf::interfaceOf(context, **body, model, options, /*typed=*/false);
  if (!interface.ok())
    return at(path, interface.status());
  return interface->reach.unsupported;
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> importTensorFlow(mlir::MLIRContext &context, const std::string &path,
                                                                   const ImportOptions &options) {
  context.loadDialect<nn::NnDialect, mlir::func::FuncDialect>();
  tf::LoadedModel model;
  if (absl::Status status = tf::load(path, options, model); !status.ok())
    return status;
  auto body = tf::bodyOf(model.graph, model.graph.library());
  if (!body.ok())
    return at(path, body.status());
  auto interface = tf::interfaceOf(context, **body, model, options, /*typed=*/false);
  if (interface.ok() && !interface->reach.unsupported.empty())
    return at(path, tf::unsupportedError(**body, interface->reach));
  if (interface.ok())
    interface = tf::interfaceOf(context, **body, model, options, /*typed=*/true);
  if (!interface.ok())
    return at(path, interface.status());
  auto module = tf::translate(context, model, **body, *interface, options);
  if (!module.ok())
    return at(path, module.status());
  return module;
}

} // namespace wsc::import
