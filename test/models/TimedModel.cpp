// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/models/TimedModel.h"

#include "runtime/session/TensorFile.h"
#include "test/models/ModelCheck.h"

namespace wsc::test {

absl::StatusOr<TimedModel> compileAndTime(const OnnxBuilder &model, driver::CompileOptions options) {
  TemporaryFolder folder;
  options.model = folder / "model.onnx";
  options.output = folder / "model.wse";
  if (!model.write(options.model))
    return absl::InternalError("cannot write the model");
  auto report = driver::compile(options);
  if (!report.ok())
    return report.status();
  auto session = Session::open(options.output, {.threads = 1});
  if (!session.ok())
    return session.status();
  auto timing = (*session)->timing(0);
  if (!timing.ok())
    return timing.status();
  return TimedModel{*std::move(report), *readFile(options.output), (*timing)->intervalCycles, (*timing)->maxLinkWords};
}

} // namespace wsc::test
