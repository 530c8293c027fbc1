// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of the ONNX importer share: import of a builder's model.
#pragma once
#include "compiler/import/onnx/Import.h"
#include "test/support/OnnxBuilder.h"
#include "test/unit/import/ImportBase.h"

namespace wsc::test {

class ImportTest : public ImportBase {
protected:
  ImportTest() : ImportBase("wsc-import") {}

  std::string writeModel(const std::string &bytes) { return write("model.onnx", bytes); }
  std::string importBytes(const std::string &bytes, const import::ImportOptions &options = {}) {
    return show(import::importOnnx(context, writeModel(bytes), options));
  }
  std::string importModel(const OnnxBuilder &builder, const import::ImportOptions &options = {}) {
    return importBytes(builder.bytes(), options);
  }
};

} // namespace wsc::test
