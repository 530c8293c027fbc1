// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random graphs compiled for phases and emulated, against the reference of nn on the same import. WSC_SEED sets the
// first seed, WSC_COUNT the number of graphs; `test/random/compare` does the same against ONNX Runtime.
#include "compiler/driver/Compiler.h"
#include "runtime/numerics/Elements.h"
#include "runtime/session/Session.h"
#include "test/support/NnReference.h"
#include "test/support/RandomGraph.h"
#include "test/unit/import/ImportFixture.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace {

using namespace wsc::test;

uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *given = std::getenv(name);
  return given ? std::strtoull(given, nullptr, 10) : otherwise;
}

class RandomGraphs : public ImportTest {
protected:
  static Array arrayOf(const wsc::onnx::TensorProto &tensor) {
    Array array{{tensor.dims().begin(), tensor.dims().end()}, {}};
    std::vector<float> values(tensor.raw_data().size() / sizeof(float));
    std::memcpy(values.data(), tensor.raw_data().data(), tensor.raw_data().size());
    array.values.assign(values.begin(), values.end());
    return array;
  }

  /// Differences up to `step` are allowed beside rounding.
  void runSeed(const RandomGraph &graph, double step) {
    ASSERT_TRUE(writeCase(graph, folder.string()));
    const std::string path = (folder / "model.onnx").string();
    auto imported = wsc::import::importOnnx(context, path);
    ASSERT_TRUE(imported.ok()) << imported.status();
    std::vector<Array> arguments;
    std::map<std::string, wsc::Tensor> inputs;
    for (const auto &tensor : graph.inputs) {
      arguments.push_back(arrayOf(tensor));
      wsc::Tensor input;
      input.type.name = tensor.name();
      input.type.shape = arguments.back().shape;
      input.bytes.resize(tensor.raw_data().size());
      std::memcpy(input.bytes.data(), tensor.raw_data().data(), input.bytes.size());
      inputs[input.type.name] = input;
    }
    std::string error;
    auto wanted = runReference(**imported, arguments, error);
    ASSERT_TRUE(wanted) << error;
    wsc::driver::CompileOptions options;
    options.model = path;
    options.output = (folder / "model.wse").string();
    options.target = "mesh-16x16";
    options.execution = wsc::driver::Execution::Phased;
    auto compiled = wsc::driver::compile(options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    auto session = wsc::Session::open(options.output, {.threads = 1});
    ASSERT_TRUE(session.ok()) << session.status();
    auto results = (*session)->run(0, inputs);
    ASSERT_TRUE(results.ok()) << results.status();
    ASSERT_EQ(results->size(), wanted->size());
    for (size_t i = 0; i < wanted->size(); ++i)
      compare((*results)[i], (*wanted)[i], step);
  }

  template <typename Make> void forSeeds(uint64_t runs, Make make, double step = 0) {
    const uint64_t first = fromEnvironment("WSC_SEED", 1), count = fromEnvironment("WSC_COUNT", runs);
    for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
      SCOPED_TRACE("WSC_SEED=" + std::to_string(seed));
      runSeed(make(seed), step);
    }
  }

  static void compare(const wsc::Tensor &found, const Array &wanted, double step) {
    ASSERT_EQ(found.type.shape, wanted.shape);
    for (size_t i = 0; i < wanted.values.size(); ++i) {
      const size_t width = static_cast<size_t>(wsc::format::elementBytes(found.type.type));
      const uint64_t element = wsc::numerics::loadElement(found.bytes.data() + i * width, found.type.type);
      const double value =
          std::bit_cast<double>(wsc::numerics::convertElement(element, found.type.type, wsc::format::ElementType::F64));
      const double limit = step + 1e-5 + 1e-4 * std::fabs(wanted.values[i]);
      ASSERT_LE(std::fabs(value - wanted.values[i]), limit) << found.type.name << ", element " << i;
    }
  }
};

TEST_F(RandomGraphs, AgreeWithTheReference) {
  forSeeds(40, [](uint64_t seed) { return makeRandomGraph(seed); });
}

TEST_F(RandomGraphs, LearnersAgreeWithTheReference) { forSeeds(40, makeRandomLearner); }

TEST_F(RandomGraphs, QuantisedModelsAgreeWithinOneStep) { forSeeds(16, makeRandomQuantised, quantisedStep); }

TEST_F(RandomGraphs, FusedOperatorsAgreeWithTheReference) { forSeeds(40, makeRandomFused); }

} // namespace
