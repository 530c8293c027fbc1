// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs within graphs: branches, loops, scans and functions of the model, translated in place.
#include "test/unit/import/ImportFixture.h"

namespace {

using namespace wsc::test;
using wsc::onnx::TensorProto;

class ImportGraphs : public ImportTest {
protected:
  /// A subgraph as an attribute.
  static Attribute body(const std::string &name, const OnnxBuilder &builder) {
    Attribute attribute = Attribute::make(name, wsc::onnx::AttributeProto::GRAPH);
    OnnxBuilder copy = builder;
    *attribute.proto.mutable_g() = copy.graph();
    return attribute;
  }
  static std::string boolean(OnnxBuilder &b, const std::string &name, bool value) {
    return b.weights(name, {}, std::vector<char>{static_cast<char>(value)}, TensorProto::BOOL);
  }
};

/// then: Relu(x), else: Neg(x) of the outer x.
void addIf(OnnxBuilder &b, const std::string &condition, const Attribute &thenBranch, const Attribute &elseBranch) {
  b.output(b.node("If", {condition}, {thenBranch, elseBranch}, "y"));
}

TEST_F(ImportGraphs, KnownConditionTakesItsBranch) {
  OnnxBuilder b, yes, no;
  b.input("x", {2, 3});
  yes.output(yes.node("Relu", {"x"}, {}, "r"));
  no.output(no.node("Nonesuch", {"x"}, {}, "n"));
  addIf(b, boolean(b, "c", true), body("then_branch", yes), body("else_branch", no));
  std::string text = importModel(b);
  expectIn("nn.unary relu %arg0", text);
  expectNotIn("nn.select", text);
}

TEST_F(ImportGraphs, UnknownConditionSelects) {
  OnnxBuilder b, yes, no;
  b.input("x", {2, 3});
  yes.output(yes.node("Relu", {"x"}, {}, "r"));
  no.output(no.node("Neg", {"x"}, {}, "n"));
  addIf(b, b.input("c", {1}, TensorProto::BOOL), body("then_branch", yes), body("else_branch", no));
  expectIn("nn.select", importModel(b));
  OnnxBuilder other;
  other.output(other.node("Flatten", {"x"}, {Attribute::i("axis", 0)}, "f"));
  OnnxBuilder unequal;
  unequal.input("x", {2, 3});
  addIf(unequal, unequal.input("c", {1}, TensorProto::BOOL), body("then_branch", yes), body("else_branch", other));
  expectIn("the condition of branches whose output 0 is [2, 3] and [1, 6] must be known while importing",
           importModel(unequal));
}

TEST_F(ImportGraphs, LoopsAreUnrolled) {
  // y = ((x·w + 0)·w + 1)·w + 2, the turn's number being added.
  OnnxBuilder turn;
  turn.input("i", std::vector<Dim>{}, TensorProto::INT64);
  turn.input("go", std::vector<Dim>{}, TensorProto::BOOL);
  std::string v = turn.input("v", {4});
  std::string number = turn.node("Cast", {"i"}, {Attribute::i("to", TensorProto::FLOAT)}, "n");
  turn.output(turn.node("Identity", {"go"}, {}, "again"));
  turn.output(turn.node("Add", {turn.node("Mul", {v, "w"}, {}, "p"), number}, {}, "next"));
  OnnxBuilder b;
  std::string x = b.input("x", {4});
  b.input("w", {4});
  std::string count = b.weights("m", {}, std::vector<int64_t>{3}, TensorProto::INT64);
  b.output(b.node("Loop", {count, boolean(b, "c", true), x}, {body("body", turn)}, "y"));
  importModel(b);
  ASSERT_TRUE(module);
  int products = 0;
  module->walk([&](wsc::nn::BinaryOp op) { products += op.getKind() == wsc::nn::BinaryKind::Mul; });
  EXPECT_EQ(products, 3);
}

TEST_F(ImportGraphs, LoopOfUnknownLength) {
  OnnxBuilder turn;
  turn.input("i", std::vector<Dim>{}, TensorProto::INT64);
  turn.input("go", std::vector<Dim>{}, TensorProto::BOOL);
  std::string v = turn.input("v", {4});
  turn.output(turn.node("Identity", {"go"}, {}, "again"));
  turn.output(turn.node("Relu", {v}, {}, "next"));
  OnnxBuilder b;
  std::string count = b.input("m", std::vector<Dim>{}, TensorProto::INT64), x = b.input("x", {4});
  b.output(b.node("Loop", {count, boolean(b, "c", true), x}, {body("body", turn)}, "y"));
  expectIn("the number of turns (input 0) must be known while importing", importModel(b));
  expectIn("nn.unary relu", importModel(b, {{}, {}, {}, {{"m", "2"}}}));
}

TEST_F(ImportGraphs, ScanGathersOutputs) {
  OnnxBuilder turn;
  std::string sum = turn.input("s", {2}), row = turn.input("r", {2});
  std::string next = turn.node("Add", {sum, row}, {}, "next");
  turn.output(next);
  turn.output(turn.node("Neg", {next}, {}, "out"));
  OnnxBuilder b;
  std::string zero = b.floats("zero", {2}, {0, 0}), x = b.input("x", {3, 2});
  b.nodeWithOutputs("Scan", {zero, x}, {"total", "steps"}, {body("body", turn), Attribute::i("num_scan_inputs", 1)});
  b.output("total");
  b.output("steps");
  std::string text = importModel(b);
  expectIn("-> tensor<3x2xf32>", text);
  expectIn("nn.name = \"total\"", text);
  for (int64_t scanned : {int64_t{3}, INT64_MIN}) {
    b.graph().mutable_node(0)->mutable_attribute(1)->set_i(scanned);
    expectIn("does not fit 2 inputs and 2 outputs of the body", importModel(b));
  }
}

TEST_F(ImportGraphs, ScanOfOpset8HasABatch) {
  OnnxBuilder turn(8);
  std::string sum = turn.input("s", {2}), row = turn.input("r", {2});
  std::string next = turn.node("Add", {sum, row}, {}, "next");
  turn.output(next);
  turn.output(turn.node("Neg", {next}, {}, "out"));
  OnnxBuilder b(8);
  std::string zero = b.floats("zero", {4, 2}, std::vector<float>(8)), x = b.input("x", {4, 3, 2});
  b.nodeWithOutputs("Scan", {"", zero, x}, {"total", "steps"},
                    {body("body", turn), Attribute::i("num_scan_inputs", 1)});
  b.output("total");
  b.output("steps");
  std::string text = importModel(b);
  expectIn("-> (tensor<4x2xf32>", text);
  expectIn("tensor<4x3x2xf32> {nn.name = \"steps\"", text);
  b.graph().mutable_node(0)->set_input(0, b.ints("lengths", {3, 3, 3, 2}));
  expectIn("sequence_lens is not supported", importModel(b));
}

TEST_F(ImportGraphs, FunctionsOfTheModel) {
  OnnxBuilder b;
  auto *opset = b.model().add_opset_import();
  opset->set_domain("mine");
  opset->set_version(1);
  auto *function = b.model().add_functions();
  function->set_name("Scale");
  function->set_domain("mine");
  function->add_input("a");
  function->add_output("b");
  function->add_attribute("slope");
  function->add_opset_import()->set_version(17);
  auto *node = function->add_node();
  node->set_op_type("LeakyRelu");
  node->add_input("a");
  node->add_output("b");
  auto *attribute = node->add_attribute();
  attribute->set_name("alpha");
  attribute->set_type(wsc::onnx::AttributeProto::FLOAT);
  attribute->set_ref_attr_name("slope");
  b.nodeWithOutputs("Scale", {b.input("x", {4})}, {"y"}, {Attribute::f("slope", 0.25f)}).set_domain("mine");
  b.output("y");
  expectIn("dense<2.500000e-01>", importModel(b));
  function->mutable_node(0)->set_op_type("Nonesuch");
  expectIn("Nonesuch (domain 'ai.onnx', opset 17): 1 node", importModel(b));
}

TEST_F(ImportGraphs, UnsupportedOperatorsInLoopsAreListed) {
  OnnxBuilder turn;
  std::string row = turn.input("r", {2});
  turn.output(turn.node("Nonesuch", {row}, {}, "out"));
  OnnxBuilder b;
  b.output(b.node("Scan", {b.input("x", {3, 2})}, {body("body", turn), Attribute::i("num_scan_inputs", 1)}, "y"));
  expectIn("Nonesuch (domain 'ai.onnx', opset 17): 1 node, first 'out'", importModel(b));
}

} // namespace
