// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Training graphs: variables are states, the train operator changes them, and the loss follows the same training
// written as loops. Optimizers against their formulas.
#include "test/support/TfTraining.h"
#include "test/support/TfResNet.h"
#include "test/unit/import/TfFixture.h"
#include <chrono>
#include <cstdlib>
#include <functional>
#include <set>

namespace {

using namespace wsc::test;

class TfTrains : public TfTest {
protected:
  static uint64_t seed() {
    const char *given = std::getenv("WSC_SEED");
    return given ? std::strtoull(given, nullptr, 10) : 7;
  }

  /// A variable of one element that starts at `start`; its value after each of three calls of `update`.
  std::vector<double> threeSteps(TfBuilder &b, const std::string &update, const std::string &watched = "var") {
    b.node("Identity", "before", {watched});
    std::string text = importGraph(b, outputs({"before", update}));
    EXPECT_TRUE(module) << text;
    std::vector<double> values;
    std::map<std::string, Array> states;
    std::string error;
    for (int call = 0; module && call < 3; ++call) {
      EXPECT_TRUE(runReference(*module, {}, error, &states)) << error;
      values.push_back(states[watched].values.at(0));
    }
    values.resize(3);
    return values;
  }
  static void variable(TfBuilder &b, const std::string &name, float start) {
    b.node("VariableV2", name, {}, {TfAttr::shape("shape", {1}), TfAttr::type("dtype", wsc::tf::DT_FLOAT)});
    b.node("Assign", name + "/Assign", {name, b.floats(name + "/initial", {1}, {start})});
  }
};

TEST_F(TfTrains, LossFollowsTheLoops) {
  std::printf("WSC_SEED=%llu\n", static_cast<unsigned long long>(seed()));
  TfTraining training(seed());
  std::string text = importGraph(training.graph(), outputs({"loss", "train"}));
  ASSERT_TRUE(module) << text;
  expectIn("nn.variable @filter : tensor<3x3x1x3xf32>", text);
  expectIn("nn.write @\"dense_bias/Momentum\"", text);
  expectIn("-> (tensor<f32> {nn.name = \"loss\"})", text);
  std::map<std::string, Array> states;
  const std::vector<Array> arguments{{{4, 8, 8, 1}, training.images},
                                     {{4}, {training.labels.begin(), training.labels.end()}}};
  double first = 0, last = 0;
  for (int step = 0; step < 20; ++step) {
    std::string error;
    auto results = runReference(*module, arguments, error, &states);
    ASSERT_TRUE(results) << error;
    last = training.step();
    first = step == 0 ? last : first;
    ASSERT_NEAR(results->at(0).values.at(0), last, 1e-4 * last) << "step " << step;
  }
  EXPECT_LT(last, first / 2);
}

TEST_F(TfTrains, WithoutTheTrainOperatorNothingIsWritten) {
  TfTraining training(seed());
  std::string text = importGraph(training.graph(), outputs({"logits"}));
  expectNotIn("nn.variable", text);
  expectNotIn("labels", text);
}

TEST_F(TfTrains, ResNet50) {
  TfResNet net(2, 224, 1000);
  std::set<std::string> kinds;
  for (const auto &node : net.b.graph.node())
    kinds.insert(node.op());
  std::printf("%d nodes, %zu kinds of operators\n", net.b.graph.node_size(), kinds.size());
  const auto start = std::chrono::steady_clock::now();
  std::string path = write("graph.pb", net.b.bytes());
  auto result = wsc::import::importTensorFlow(context, path, outputs({"loss", "train"}));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_TRUE(result.ok()) << result.status().message();
  std::printf("imported in %.2f s\n", seconds);
  int variables = 0;
  for (auto variable : (**result).getOps<wsc::nn::VariableOp>())
    variables += variable->getNumResults() == 0;
  EXPECT_EQ(variables, 2 * (3 * 53 + 2) + 2 * 53 + 1); // with slots, moving statistics and the step
}

TEST_F(TfTrains, RandomInitialValues) {
  // 0.5 + 0.1 · z, z normal within ±2: the same with each import, others for another name.
  TfBuilder b;
  for (const char *name : {"a", "b"}) {
    const std::string text = name;
    b.node("VariableV2", text, {}, {TfAttr::shape("shape", {40, 50}), TfAttr::type("dtype", wsc::tf::DT_FLOAT)});
    b.ints(text + "/shape", {40, 50});
    b.node("TruncatedNormal", text + "/drawn", {text + "/shape"}, {TfAttr::type("dtype", wsc::tf::DT_FLOAT)});
    b.node("Mul", text + "/scaled", {text + "/drawn", b.number(text + "/scale", 0.1f)});
    b.node("Add", text + "/moved", {text + "/scaled", b.number(text + "/mean", 0.5f)});
    b.node("Assign", text + "/Assign", {text, text + "/moved"});
    b.node("Identity", text + "/read", {text});
  }
  const auto options = outputs({"a/read", "b/read"});
  std::vector<Array> y = run(b, {}, options), again = run(b, {}, options);
  ASSERT_EQ(y.size(), 2u);
  EXPECT_EQ(y[0].values, again.at(0).values);
  EXPECT_NE(y[0].values, y[1].values);
  double sum = 0, squares = 0;
  for (double value : y[0].values) {
    EXPECT_LE(std::abs(value - 0.5), 0.2 + 1e-6);
    sum += value;
    squares += (value - 0.5) * (value - 0.5);
  }
  EXPECT_NEAR(sum / 2000, 0.5, 0.01);
  EXPECT_NEAR(std::sqrt(squares / 2000), 0.088, 0.005); // that of a normal distribution cut at two deviations
}

TEST_F(TfTrains, Momentum) {
  for (bool nesterov : {false, true}) {
    TfBuilder b;
    variable(b, "var", 1);
    variable(b, "slot", 0);
    b.node("ApplyMomentum", "step",
           {"var", "slot", b.number("rate", 0.5f), b.floats("g", {1}, {2}), b.number("m", 0.25f)},
           {TfAttr::b("use_nesterov", nesterov)});
    std::vector<double> expected;
    for (double x = 1, a = 0; expected.size() < 3;) {
      a = a * 0.25 + 2;
      x -= nesterov ? 2 * 0.5 + a * 0.25 * 0.5 : 0.5 * a;
      expected.push_back(x);
    }
    expectNear({{3}, threeSteps(b, "step")}, {3}, expected);
  }
}

TEST_F(TfTrains, Adam) {
  TfBuilder b;
  for (const char *name : {"var", "m", "v"})
    variable(b, name, name[0] == 'v' && name[1] == 'a' ? 1.f : 0.f);
  variable(b, "p1", 0.9f);
  variable(b, "p2", 0.99f);
  b.node("Identity", "p1/read", {"p1"});
  b.node("Identity", "p2/read", {"p2"});
  const std::vector<int64_t> scalar;
  b.ints("none", {});
  b.node("Reshape", "p1/scalar", {"p1/read", "none"});
  b.node("Reshape", "p2/scalar", {"p2/read", "none"});
  b.node("ApplyAdam", "adam",
         {"var", "m", "v", "p1/scalar", "p2/scalar", b.number("rate", 0.1f), b.number("b1", 0.9f),
          b.number("b2", 0.99f), b.number("e", 1e-3f), b.floats("g", {1}, {3})});
  b.node("Mul", "p1/next", {"p1/read", "b1"});
  b.node("Mul", "p2/next", {"p2/read", "b2"});
  b.add(tfNode("Assign", "p1/update", {"p1", "p1/next", "^adam"}));
  b.add(tfNode("Assign", "p2/update", {"p2", "p2/next", "^adam"}));
  b.add(tfNode("NoOp", "step", {"^p1/update", "^p2/update"}));
  std::vector<double> expected;
  for (double x = 1, m = 0, v = 0, t = 1; t <= 3; ++t) {
    m += (3 - m) * (1 - 0.9);
    v += (9 - v) * (1 - 0.99);
    x -= 0.1 * std::sqrt(1 - std::pow(0.99, t)) / (1 - std::pow(0.9, t)) * m / (std::sqrt(v) + 1e-3);
    expected.push_back(x);
  }
  expectNear({{3}, threeSteps(b, "step")}, {3}, expected, 1e-4);
}

TEST_F(TfTrains, RmsPropAndAdagrad) {
  TfBuilder rms;
  variable(rms, "var", 1);
  variable(rms, "ms", 1);
  variable(rms, "mom", 0);
  rms.node("ApplyRMSProp", "step",
           {"var", "ms", "mom", rms.number("rate", 0.1f), rms.number("rho", 0.8f), rms.number("m", 0.5f),
            rms.number("e", 0.01f), rms.floats("g", {1}, {2})});
  std::vector<double> expected;
  for (double x = 1, ms = 1, mom = 0; expected.size() < 3;) {
    ms += (4 - ms) * (1 - 0.8);
    mom = mom * 0.5 + 0.1 * 2 / std::sqrt(ms + 0.01);
    expected.push_back(x -= mom);
  }
  expectNear({{3}, threeSteps(rms, "step")}, {3}, expected);
  TfBuilder ada;
  variable(ada, "var", 1);
  variable(ada, "sum", 0.5f);
  ada.node("ApplyAdagrad", "step", {"var", "sum", ada.number("rate", 0.1f), ada.floats("g", {1}, {2})});
  expected.clear();
  for (double x = 1, sum = 0.5; expected.size() < 3;) {
    sum += 4;
    expected.push_back(x -= 0.1 * 2 / std::sqrt(sum));
  }
  expectNear({{3}, threeSteps(ada, "step")}, {3}, expected);
}

TEST_F(TfTrains, FurtherOptimizers) {
  // The gradient is 2 in each step; each optimizer by its formula on one number.
  auto steps = [&](const std::string &op, std::map<std::string, float> slots, std::vector<std::string> operands,
                   const std::function<double(int)> &next) {
    SCOPED_TRACE(op);
    TfBuilder b;
    variable(b, "var", 1);
    for (const auto &[slot, start] : slots)
      variable(b, slot, start);
    b.floats("g", {1}, {2});
    for (const auto &[name, value] : std::map<std::string, float>{{"rate", 0.1f},
                                                                  {"l1", 0.05f},
                                                                  {"l2", 0.2f},
                                                                  {"beta", 0.9f},
                                                                  {"beta2", 0.5f},
                                                                  {"power", -0.5f},
                                                                  {"shrink", 0.3f},
                                                                  {"alpha", 1.5f},
                                                                  {"decay", 0.5f},
                                                                  {"eps", 1e-3f}})
      b.number(name, value);
    b.add(tfInts("step_number", {}, {3}));
    b.node(op, "step", operands);
    std::vector<double> expected;
    for (int t = 0; t < 3; ++t)
      expected.push_back(next(t));
    expectNear({{3}, threeSteps(b, "step")}, {3}, expected, 1e-5);
  };
  const double g = 2, rate = 0.1f, l1 = 0.05f, l2 = 0.2f;
  auto shrink = [&](double x, double by) {
    return std::copysign(std::max(std::abs(x) - by * l1, 0.0), x) / (1 + by * l2);
  };
  double x = 1;
  steps("ApplyProximalGradientDescent", {}, {"var", "rate", "l1", "l2", "g"},
        [&](int) { return x = shrink(x - rate * g, rate); });
  x = 1;
  double sum = 0.5;
  steps("ApplyProximalAdagrad", {{"sum", 0.5f}}, {"var", "sum", "rate", "l1", "l2", "g"}, [&](int) {
    sum += g * g;
    const double by = rate / std::sqrt(sum);
    return x = shrink(x - by * g, by);
  });
  x = 1;
  double m = 0, v = 0;
  steps("ApplyAdaMax", {{"m", 0.f}, {"v", 0.f}}, {"var", "m", "v", "beta", "rate", "beta", "beta2", "eps", "g"},
        [&](int) {
          m += (g - m) * (1 - 0.9f);
          v = std::max(v * 0.5, g);
          return x -= rate / (1 - 0.9f) * m / (v + 1e-3f);
        });
  for (bool isPower : {false, true}) { // the gradient always agrees with its mean
    x = 1;
    steps(isPower ? "ApplyPowerSign" : "ApplyAddSign", {{"m", 0.f}},
          {"var", "m", "rate", "alpha", "decay", "beta", "g"},
          [&](int) { return x -= rate * (isPower ? std::exp(1.5 * 0.5) : 1.5 + 0.5) * g; });
  }
  for (bool isV2 : {false, true}) {
    x = 1;
    double accumulated = 0.25, linear = 0;
    std::vector<std::string> operands{"var", "acc", "linear", "g", "rate", "l1", "l2"};
    if (isV2)
      operands.push_back("shrink");
    operands.push_back("power");
    steps(isV2 ? "ApplyFtrlV2" : "ApplyFtrl", {{"acc", 0.25f}, {"linear", 0.f}}, operands, [&](int) {
      const double next = accumulated + g * g, shrinking = isV2 ? g + 2 * 0.3f * x : g;
      linear += shrinking - (std::sqrt(next) - std::sqrt(accumulated)) / rate * x;
      accumulated = next;
      const double kept = std::abs(linear) > l1 ? std::copysign(l1, linear) - linear : 0;
      return x = kept / (std::sqrt(next) / rate + 2 * l2);
    });
  }
  double squares = 1;
  sum = 0;
  steps("ApplyAdagradDA", {{"sum", 0.f}, {"squares", 1.f}},
        {"var", "sum", "squares", "g", "rate", "l1", "l2", "step_number"}, [&](int) {
          sum += g;
          squares += g * g;
          const double kept = std::copysign(std::max(std::abs(sum) - l1 * 3, 0.0), sum);
          return -rate * kept / (l2 * 3 * rate + std::sqrt(squares));
        });
}

TEST_F(TfTrains, PlacesOfVariables) {
  TfBuilder b;
  b.node("VariableV2", "w", {}, {TfAttr::shape("shape", {2, 2}), TfAttr::type("dtype", wsc::tf::DT_FLOAT)});
  b.node("Assign", "w/Assign", {"w", b.floats("start", {2, 2}, {1, 2, 3, 4})});
  b.add(tfInts("places", {1, 2}, {1, 0}));
  b.node("ScatterNdAdd", "add", {"w", "places", b.floats("ten", {1}, {10})});
  b.add(tfNode("ScatterMul", "step", {"w", b.ints("row", {0}), b.floats("factors", {1, 2}, {5, 7}), "^add"}));
  std::string text = importGraph(b, outputs({"step"}));
  ASSERT_TRUE(module) << text;
  std::map<std::string, Array> states;
  std::string error;
  ASSERT_TRUE(runReference(*module, {}, error, &states)) << error;
  expectNear(states["w"], {2, 2}, {5, 14, 13, 4});
}

TEST_F(TfTrains, ResourceVariablesInFunctions) {
  // A step as TensorFlow 2 writes it: the whole of it in one function.
  TfBuilder b;
  b.input("x", {2});
  b.node("VarHandleOp", "w", {}, {TfAttr::s("shared_name", "weight"), TfAttr::shape("shape", {2})});
  b.node("AssignVariableOp", "w/Assign", {"w", b.floats("start", {2}, {1, 2})});
  b.function("step", {{"x", wsc::tf::DT_FLOAT}, {"w", wsc::tf::DT_RESOURCE}}, {{"loss", wsc::tf::DT_FLOAT}},
             {tfNode("ReadVariableOp", "read", {"w"}), tfNode("Sub", "d", {"read:value:0", "x"}),
              tfNode("L2Loss", "loss", {"d:z:0"}), tfFloats("rate", {}, {0.5f}),
              tfNode("ResourceApplyGradientDescent", "apply", {"w", "rate:output:0", "d:z:0"})},
             {"loss:output:0"});
  b.node("StatefulPartitionedCall", "call", {"x", "w"}, {TfAttr::function("f", "step")});
  std::string text = importGraph(b, outputs({"call"}));
  ASSERT_TRUE(module) << text;
  expectIn("nn.variable @weight", text);
  std::map<std::string, Array> states;
  std::string error;
  for (double loss : {2.5, 0.625, 0.15625}) {
    auto y = runReference(*module, {{{2}, {0, 0}}}, error, &states);
    ASSERT_TRUE(y) << error;
    expectNear(y->at(0), {}, {loss});
  }
}

} // namespace
