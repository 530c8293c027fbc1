// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recurrent, convolutional recurrent and regression graphs of TensorFlow on the wafer, of sizes that a seed draws, with
// the layers' mapping that the compiler chooses and with phases: results within 1e-3 · |value| + 1e-4 of loops in
// double precision. WSC_SEED sets the first seed.
#include "compiler/driver/Compiler.h"
#include "test/models/ModelCheck.h"
#include "test/support/TfWhileNetworks.h"

#include <cstdlib>
#include <fstream>

namespace wsc::test {
namespace {

class TfNetworks : public testing::Test {
protected:
  static uint64_t firstSeed() {
    const char *given = std::getenv("WSC_SEED");
    return given ? std::strtoull(given, nullptr, 10) : 41;
  }

  void check(const TfNetwork &network, driver::Execution execution) {
    std::ofstream(folder / "graph.pb", std::ios::binary) << network.b.bytes();
    driver::CompileOptions options;
    options.model = folder / "graph.pb";
    options.output = folder / "graph.wse";
    options.target = "mesh-32x32";
    options.execution = execution;
    options.outputs = {"y"};
    auto compiled = driver::compile(options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    auto session = Session::open(options.output, {.threads = 1});
    ASSERT_TRUE(session.ok()) << session.status();
    auto entry = (*session)->findEntry("");
    ASSERT_TRUE(entry.ok());
    const format::TensorType &type = (*session)->executable().entries[*entry].inputs.at(0);
    ASSERT_EQ(std::vector<int64_t>(type.shape.begin(), type.shape.end()), network.inputShape);
    Tensor x;
    x.type = type;
    x.bytes.resize(network.input.size() * sizeof(float));
    std::memcpy(x.bytes.data(), network.input.data(), x.bytes.size());
    auto results = (*session)->run(*entry, Inputs{{"x", x}});
    ASSERT_TRUE(results.ok()) << results.status();
    const Tensor &y = results->at(0);
    ASSERT_EQ(std::vector<int64_t>(y.type.shape.begin(), y.type.shape.end()), network.outputShape);
    for (size_t i = 0; i < network.expected.size(); ++i) {
      float value = 0;
      std::memcpy(&value, y.bytes.data() + i * sizeof value, sizeof value);
      ASSERT_NEAR(value, network.expected[i], 1e-3 * std::abs(network.expected[i]) + 1e-4) << "element " << i;
    }
  }

  template <typename Network> void checkSeeds() {
    for (uint64_t seed = firstSeed(); seed < firstSeed() + 2; ++seed) {
      std::printf("WSC_SEED=%llu\n", static_cast<unsigned long long>(seed));
      SCOPED_TRACE(seed);
      check(Network(seed), seed % 2 ? driver::Execution::Auto : driver::Execution::Phased);
    }
  }

  TemporaryFolder folder;
};

TEST_F(TfNetworks, LstmOfFrames) { checkSeeds<TfFrameLstm>(); }
TEST_F(TfNetworks, LstmOfWhile) { checkSeeds<TfWhileLstm>(); }
TEST_F(TfNetworks, Gru) { checkSeeds<TfGru>(); }
TEST_F(TfNetworks, ConvolutionalRecurrent) { checkSeeds<TfCrnn>(); }
TEST_F(TfNetworks, Regression) { checkSeeds<TfRegression>(); }

} // namespace
} // namespace wsc::test
