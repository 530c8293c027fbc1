// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes of configuration: the body of a loop takes one configuration where some plan has one that is as quick.
#include "test/models/ModelCheck.h"
#include "test/models/SmallNets.h"

#include "runtime/format/Reader.h"

#include <set>
#include <string>

namespace wsc::test {
namespace {

/// Steps of four equal layers that change to a configuration which ran before; -1 with a test failure.
int changesAgain(int64_t tokens, int64_t width, const std::string &target) {
  NetBuilder net(8);
  NetValue x = net.input("x", {1, tokens, width});
  for (int i = 0; i < 4; ++i)
    x = transformerLayer(net, x);
  net.output(x);
  TemporaryFolder folder;
  EXPECT_TRUE(net.onnx.write(folder / "model.onnx"));
  const absl::Status compiled = compileModel(folder / "model.onnx", target, folder / "model.wse",
                                             {kernels::Effort::Default, 1, 1}, driver::Execution::Phased);
  EXPECT_TRUE(compiled.ok()) << compiled;
  auto executable = format::loadExecutable(folder / "model.wse");
  EXPECT_TRUE(executable.ok()) << executable.status();
  if (!executable.ok())
    return -1;
  int again = 0;
  std::set<int32_t> seen;
  for (const format::Step &step : executable->entries.front().steps)
    again += step.kind == format::StepKind::Configure && !seen.insert(step.configuration).second;
  return again;
}

/// The distributions of the quickest estimates need more queues than cores have: 6 such changes.
TEST(Changes, LayersOfATransformerTakeOneConfiguration) { EXPECT_EQ(changesAgain(64, 128, "mesh-128x128"), 0); }

} // namespace
} // namespace wsc::test
