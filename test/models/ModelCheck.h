// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every end-to-end test asks of a model: it compiles to the same bytes twice, with another number of
// threads, the engine agrees with itself under
// every schedule and number of threads bit by bit and with the scalar interpreter, and its results agree with an exact
// reference in double precision.
#pragma once

#include "test/models/NetBuilder.h"

#include "compiler/driver/Phases.h"
#include "compiler/kernels/network/Effort.h"
#include "runtime/session/Session.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace wsc::test {

using Inputs = std::map<std::string, Tensor>;

/// A folder that is gone with the object.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  std::string operator/(const std::string &name) const { return path + "/" + name; }
  std::string path;
};

/// Compiles the model at `onnxPath` to `wsePath`.
absl::Status compileModel(const std::string &onnxPath, const std::string &target, const std::string &wsePath,
                          const kernels::SearchOptions &search = {kernels::Effort::Default, 1, 1},
                          driver::Execution execution = driver::Execution::Auto);

/// Floats in [-1, 1), seeded.
Inputs randomInputs(const format::Entry &entry, uint64_t seed);

/// Outputs of the imported model, computed in double precision by test/support/NnReference. Empty with a test failure
/// when the model cannot be imported or executed.
std::vector<std::vector<double>> referenceOutputs(const std::string &onnxPath, const format::Entry &entry,
                                                  const Inputs &inputs);

/// ‖got − expected‖ / ‖expected‖ over all elements.
double relativeL2(const Tensor &got, const std::vector<double> &expected);

struct CheckOptions {
  std::vector<std::string> targets{"wse2", "mesh-64x64"};
  kernels::SearchOptions search{kernels::Effort::Default, 1, 1};
  double relativeL2 = 1e-5;
  int replayedCores = 20;
  bool worklist = true;
};

/// All of it; failures name the target and what differs.
void checkModel(const OnnxBuilder &model, uint64_t seed, const CheckOptions &options = {});

} // namespace wsc::test
