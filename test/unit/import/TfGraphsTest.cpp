// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What graphs are made of beside operators: constants, inputs and outputs, functions, loops and branches of both kinds
// of control flow, variables with their checkpoint.
#include "test/support/TfCheckpoint.h"
#include "test/unit/import/TfFixture.h"

namespace {

using namespace wsc::test;
using wsc::import::ImportOptions;
using namespace wsc::tf;

class TfGraphs : public TfTest {};

TfBuilder denseGraph() {
  TfBuilder b;
  b.input("x", {-1, 3});
  b.floats("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  b.node("Identity", "w/read", {"w"});
  b.node("MatMul", "y", {"x", "w/read"}, {TfAttr::b("transpose_a", false), TfAttr::type("T", DT_FLOAT)});
  return b;
}

TEST_F(TfGraphs, ConstantsStayInTheFile) {
  TfBuilder b = denseGraph();
  std::string text = importGraph(b);
  expectIn("#nn.weights<", text);
  expectIn("bytes = 24", text);
  expectIn("%arg0: tensor<1x3xf32> {nn.name = \"x\"}", text); // an unknown first extent is a batch of one
  expectIn("-> (tensor<1x2xf32> {nn.name = \"y\"})", text);
  expectNear(run(b, {{{1, 3}, {1, 10, 100}}}).at(0), {1, 2}, {531, 642});
}

TEST_F(TfGraphs, TextIsTheSameGraph) {
  TfBuilder b = denseGraph();
  std::string path = write("graph.pbtxt", b.text());
  expectNear(runPath(path, {{{1, 3}, {1, 10, 100}}}).at(0), {1, 2}, {531, 642});
  wsc::tf::GraphDef again;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(b.text(), &again));
  EXPECT_EQ(again.SerializeAsString(), b.bytes());
}

TEST_F(TfGraphs, ShortValueListsRepeatTheirLast) {
  TfBuilder b;
  TensorProto tensor = tfTensor(DT_FLOAT, {2, 3});
  for (float value : {1.f, 2.f})
    tensor.add_float_val(value);
  b.add(tfNode("Const", "c", {}, {tfValue(tensor)}));
  TensorProto half = tfTensor(DT_HALF, {2});
  half.add_half_val(0x3e00); // 1.5
  b.add(tfNode("Const", "h", {}, {tfValue(half)}));
  b.node("Cast", "hf", {"h"}, {TfAttr::type("DstT", DT_FLOAT)});
  std::vector<Array> y = run(b, {}, outputs({"c", "hf"}));
  ASSERT_EQ(y.size(), 2u);
  expectNear(y[0], {2, 3}, {1, 2, 2, 2, 2, 2});
  expectNear(y[1], {2}, {1.5, 1.5});
}

TEST_F(TfGraphs, InputsAndOutputsByName) {
  TfBuilder b = denseGraph();
  b.node("Split", "parts", {b.integer("axis", 1), "y"}, {TfAttr::i("num_split", 2)});
  b.node("Relu", "z", {"parts:1"});
  ImportOptions options;
  options.inputs = {"y:2x2"};
  options.outputs = {"z", "parts"};
  expectNear(run(b, {{{2, 2}, {1, -2, 3, 4}}}, options).at(0), {2, 1}, {0, 4});
  options.inputs = {"parts:1:4x1"};
  options.outputs = {"z"};
  expectNear(run(b, {{{4, 1}, {1, -2, 3, 4}}}, options).at(0), {4, 1}, {1, 0, 3, 4});
  options.inputs = {"x:2x3"};
  options.outputs = {"parts:1"};
  EXPECT_EQ(run(b, {{{2, 3}, {1, 0, 0, 0, 1, 0}}}, options).at(0).values, (std::vector<double>{2, 4}));
}

TEST_F(TfGraphs, ReshapeSaysItsShapeWhereTheGraphIsCut) {
  TfBuilder b;
  b.node("Mfcc", "Mfcc", {b.input("wav", {}, DT_STRING)});
  b.node("Reshape", "fingerprint", {"Mfcc", b.ints("shape", {-1, 4})}, {TfAttr::type("T", DT_FLOAT)});
  b.node("Relu", "y", {"fingerprint"});
  ImportOptions options;
  options.inputs = {"fingerprint"};
  expectIn("%arg0: tensor<1x4xf32> {nn.name = \"fingerprint\"}", importGraph(b, options));
}

TEST_F(TfGraphs, ShapeArithmeticVanishes) {
  TfBuilder b;
  b.input("x", {2, 3, 4});
  b.node("Shape", "shape", {"x"});
  b.node("StridedSlice", "n", {"shape", b.ints("b", {0}), b.ints("e", {1}), b.ints("s", {1})},
         {TfAttr::i("shrink_axis_mask", 1)});
  b.node("Pack", "new", {"n", b.integer("minus", -1)});
  b.node("Reshape", "y", {"x", "new"});
  std::string text = importGraph(b);
  expectIn("nn.reshape %arg0 : tensor<2x3x4xf32> -> tensor<2x12xf32>", text);
  expectNotIn("nn.slice", text);
}

TEST_F(TfGraphs, FunctionsAreExecutedInPlace) {
  TfBuilder b;
  b.input("x", {2});
  b.function("double", {{"a", DT_FLOAT}}, {{"r", DT_FLOAT}}, {tfNode("AddV2", "sum", {"a", "a"})}, {"sum:z:0"});
  b.function("pair", {{"a", DT_FLOAT}}, {{"first", DT_FLOAT}, {"second", DT_FLOAT}},
             {tfNode("PartitionedCall", "twice", {"a"}, {TfAttr::function("f", "double")}),
              tfNode("Neg", "minus", {"twice:output:0"})},
             {"twice:output:0", "minus:y:0"});
  b.node("StatefulPartitionedCall", "call", {"x"}, {TfAttr::function("f", "pair")});
  b.node("double", "direct", {"call:1"});
  std::vector<Array> y = run(b, {{{2}, {1, 5}}}, outputs({"call", "call:1", "direct"}));
  ASSERT_EQ(y.size(), 3u);
  expectNear(y[0], {2}, {2, 10});
  expectNear(y[1], {2}, {-2, -10});
  expectNear(y[2], {2}, {-4, -20});
}

/// i from 0, x: x · w each turn, until i reaches `turns`.
TfBuilder whileGraph(int turns) {
  TfBuilder b;
  b.input("x", {1, 2});
  b.floats("w", {2, 2}, {0.5f, 0, 0.25f, 1});
  b.function("cond", {{"i", DT_INT32}, {"x", DT_FLOAT}, {"w", DT_FLOAT}}, {{"go", DT_BOOL}},
             {tfInts("limit", {}, {turns}), tfNode("Less", "less", {"i", "limit:output:0"})}, {"less:z:0"});
  b.function(
      "body", {{"i", DT_INT32}, {"x", DT_FLOAT}, {"w", DT_FLOAT}},
      {{"i2", DT_INT32}, {"x2", DT_FLOAT}, {"w2", DT_FLOAT}},
      {tfInts("one", {}, {1}), tfNode("AddV2", "next", {"i", "one:output:0"}), tfNode("MatMul", "product", {"x", "w"})},
      {"next:z:0", "product:product:0", "w"});
  b.node("StatelessWhile", "loop", {b.integer("zero", 0), "x", "w"},
         {TfAttr::function("cond", "cond"), TfAttr::function("body", "body"), TfAttr::i("parallel_iterations", 10)});
  b.node("Identity", "y", {"loop:1"});
  return b;
}

TEST_F(TfGraphs, WhileOfTenSteps) {
  double x[2] = {3, -2};
  for (int turn = 0; turn < 10; ++turn) {
    double next[2] = {x[0] * 0.5 + x[1] * 0.25, x[1]};
    x[0] = next[0], x[1] = next[1];
  }
  expectNear(run(whileGraph(10), {{{1, 2}, {3, -2}}}, outputs({"y"})).at(0), {1, 2}, {x[0], x[1]});
}

TEST_F(TfGraphs, ListsInWhile) {
  // y = stack of x[i] · 2 for each row, by TensorList.
  TfBuilder b;
  b.input("x", {3, 2});
  b.ints("shape", {2});
  b.node("TensorListFromTensor", "rows", {"x", "shape"}, {TfAttr::type("element_dtype", DT_FLOAT)});
  b.node("TensorListReserve", "out", {"shape", b.integer("three", 3)}, {TfAttr::type("element_dtype", DT_FLOAT)});
  b.function("cond", {{"i", DT_INT32}, {"in", DT_VARIANT}, {"out", DT_VARIANT}}, {{"go", DT_BOOL}},
             {tfNode("TensorListLength", "length", {"in"}), tfNode("Less", "less", {"i", "length:length:0"})},
             {"less:z:0"});
  b.function(
      "body", {{"i", DT_INT32}, {"in", DT_VARIANT}, {"out", DT_VARIANT}},
      {{"i2", DT_INT32}, {"in2", DT_VARIANT}, {"out2", DT_VARIANT}},
      {tfInts("one", {}, {1}), tfNode("AddV2", "next", {"i", "one:output:0"}), tfInts("shape", {1}, {2}),
       tfNode("TensorListGetItem", "row", {"in", "i", "shape:output:0"}, {TfAttr::type("element_dtype", DT_FLOAT)}),
       tfNode("AddV2", "twice", {"row:item:0", "row:item:0"}),
       tfNode("TensorListSetItem", "set", {"out", "i", "twice:z:0"}, {TfAttr::type("element_dtype", DT_FLOAT)})},
      {"next:z:0", "in", "set:output_handle:0"});
  b.node("While", "loop", {b.integer("zero", 0), "rows", "out"},
         {TfAttr::function("cond", "cond"), TfAttr::function("body", "body")});
  b.node("TensorListStack", "y", {"loop:2", "shape"},
         {TfAttr::i("num_elements", 3), TfAttr::type("element_dtype", DT_FLOAT)});
  expectNear(run(b, {{{3, 2}, {1, 2, 3, 4, 5, 6}}}, outputs({"y"})).at(0), {3, 2}, {2, 4, 6, 8, 10, 12});
}

TEST_F(TfGraphs, BranchesOfIf) {
  for (bool isKnown : {true, false}) {
    TfBuilder b;
    b.input("x", {2});
    if (isKnown)
      b.integer("p", 1);
    else
      b.input("p", {}, DT_BOOL);
    b.function("yes", {{"a", DT_FLOAT}}, {{"r", DT_FLOAT}}, {tfNode("Neg", "n", {"a"})}, {"n:y:0"});
    b.function("no", {{"a", DT_FLOAT}}, {{"r", DT_FLOAT}}, {tfNode("Nonesuch", "n", {"a"})}, {"n:y:0"});
    b.function("other", {{"a", DT_FLOAT}}, {{"r", DT_FLOAT}}, {tfNode("Square", "n", {"a"})}, {"n:y:0"});
    b.node("StatelessIf", "y", {"p", "x"},
           {TfAttr::function("then_branch", "yes"), TfAttr::function("else_branch", isKnown ? "no" : "other")});
    std::vector<Array> arguments{{{2}, {3, 4}}};
    if (!isKnown)
      arguments.push_back({{}, {0}});
    expectNear(run(b, arguments).at(0), {2}, isKnown ? std::vector<double>{-3, -4} : std::vector<double>{9, 16});
  }
}

/// sum over t of x[t] · t, by Enter, Merge, Switch, Exit and a TensorArray.
TfBuilder frameGraph() {
  TfBuilder b;
  const TfAttr frame = TfAttr::s("frame_name", "while");
  b.input("x", {4, 2});
  b.integer("four", 4);
  b.node("TensorArrayV3", "ta", {"four"}, {TfAttr::type("dtype", DT_FLOAT)});
  b.node("TensorArrayScatterV3", "scatter", {"ta", b.ints("all", {0, 1, 2, 3}), "x", "ta:1"});
  b.node("Enter", "limit", {"four"}, {frame, TfAttr::b("is_constant", true)});
  b.node("Enter", "handle", {"ta"}, {frame, TfAttr::b("is_constant", true)});
  b.node("Enter", "flow", {"scatter"}, {frame, TfAttr::b("is_constant", true)});
  b.node("Enter", "i/enter", {b.integer("zero", 0)}, {frame});
  b.node("Enter", "s/enter", {b.floats("start", {2}, {0, 0})}, {frame});
  b.node("Merge", "i", {"i/enter", "i/next"});
  b.node("Merge", "s", {"s/enter", "s/next"});
  b.node("Less", "less", {"i", "limit"});
  b.node("LoopCond", "cond", {"less"});
  b.node("Switch", "i/switch", {"i", "cond"});
  b.node("Switch", "s/switch", {"s", "cond"});
  b.node("Identity", "i/body", {"i/switch:1"});
  b.node("Identity", "s/body", {"s/switch:1"});
  b.add(tfInts("one", {}, {1})).add_input("^i/body");
  b.node("Add", "i/add", {"i/body", "one"});
  b.node("TensorArrayReadV3", "row", {"handle", "i/body", "flow"}, {TfAttr::type("dtype", DT_FLOAT)});
  b.node("Cast", "t", {"i/body"}, {TfAttr::type("DstT", DT_FLOAT)});
  b.node("Mul", "scaled", {"row", "t"});
  b.node("Add", "s/add", {"s/body", "scaled"});
  b.node("NextIteration", "i/next", {"i/add"});
  b.node("NextIteration", "s/next", {"s/add"});
  b.node("Exit", "i/exit", {"i/switch"});
  b.node("Exit", "s/exit", {"s/switch"});
  b.node("Identity", "y", {"s/exit"});
  return b;
}

TEST_F(TfGraphs, LoopsOfFrames) {
  expectNear(run(frameGraph(), {{{4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}}, outputs({"y", "i/exit"})).at(0), {2},
             {3 + 2 * 5 + 3 * 7, 4 + 2 * 6 + 3 * 8});
}

TEST_F(TfGraphs, BranchesOfSwitchAndMerge) {
  for (int predicate : {0, 1, 2}) { // 2: not known
    TfBuilder b;
    b.input("x", {2});
    TensorProto known = tfTensor(DT_BOOL, {});
    known.add_bool_val(predicate == 1);
    if (predicate == 2)
      b.input("p", {}, DT_BOOL);
    else
      b.add(tfNode("Const", "p", {}, {tfValue(known)}));
    b.node("Identity", "pred", {"p"});
    b.node("Switch", "pivot", {"pred", "pred"});
    b.node("Identity", "on", {"pivot:1"});
    b.node("Switch", "data", {"x", "pred"});
    b.node("Neg", "no", {"data"});
    b.add(tfFloats("c", {2}, {7, 8})).add_input("^on");
    b.node("Merge", "y", {"no", "c"});
    std::vector<Array> arguments{{{2}, {3, 4}}};
    if (predicate == 1)
      arguments.clear(); // the side taken is a constant
    if (predicate == 2)
      arguments.insert(arguments.begin() + 1, {{}, {1}});
    ImportOptions options = outputs({"y", "y:1"});
    std::vector<Array> y = run(b, arguments, options);
    ASSERT_EQ(y.size(), 2u);
    expectNear(y[0], {2}, predicate ? std::vector<double>{7, 8} : std::vector<double>{-3, -4});
    expectNear(y[1], {}, {predicate ? 1.0 : 0.0});
  }
}

TEST_F(TfGraphs, DropoutThatKeepsAll) {
  TfBuilder b;
  b.input("x", {2, 2});
  b.input("keep", {});
  b.node("Shape", "shape", {"x"});
  b.node("RandomUniform", "random", {"shape"}, {TfAttr::i("seed", 1), TfAttr::type("dtype", DT_FLOAT)});
  b.node("Add", "sum", {"keep", "random"});
  b.node("Floor", "mask", {"sum"});
  b.node("RealDiv", "scaled", {"x", "keep"});
  b.node("Mul", "y", {"scaled", "mask"});
  ImportOptions options;
  auto refused = wsc::import::importTensorFlow(context, write("graph.pb", b.bytes()), options);
  EXPECT_EQ(wsc::import::inputsToBind(refused.status()), std::vector<std::string>{"keep"});
  options.bindings = {{"keep", "1"}};
  expectNear(run(b, {{{2, 2}, {1, 2, 3, 4}}}, options).at(0), {2, 2}, {1, 2, 3, 4});
  options.bindings = {{"keep", "0.5"}};
  expectIn("random numbers are not supported; export the graph for inference", importGraph(b, options));
}

/// y = x · w + b of variables, with a signature for each of y and relu(y).
wsc::tf::SavedModel savedModel() {
  TfBuilder b;
  b.input("x", {-1, 2});
  b.node("VarHandleOp", "w", {}, {TfAttr::s("shared_name", "layer/w"), TfAttr::shape("shape", {2, 2})});
  b.node("VarHandleOp", "b", {}, {TfAttr::s("shared_name", "layer/b"), TfAttr::shape("shape", {2})});
  b.function("serve", {{"a", DT_FLOAT}, {"w", DT_RESOURCE}, {"b", DT_RESOURCE}}, {{"y", DT_FLOAT}, {"r", DT_FLOAT}},
             {tfNode("ReadVariableOp", "wr", {"w"}), tfNode("ReadVariableOp", "br", {"b"}),
              tfNode("MatMul", "m", {"a", "wr:value:0"}), tfNode("BiasAdd", "s", {"m:product:0", "br:value:0"}),
              tfNode("Relu", "r", {"s:output:0"})},
             {"s:output:0", "r:activations:0"});
  b.node("StatefulPartitionedCall", "call", {"x", "w", "b"}, {TfAttr::function("f", "serve")});
  TensorProto file = tfTensor(DT_STRING, {}), names = tfTensor(DT_STRING, {3}), slices = tfTensor(DT_STRING, {3});
  file.add_string_val("model");
  names.add_string_val("w/.ATTRIBUTES/VARIABLE_VALUE");
  names.add_string_val("b/.ATTRIBUTES/VARIABLE_VALUE");
  names.add_string_val("_CHECKPOINTABLE_OBJECT_GRAPH");
  for (int i = 0; i < 3; ++i)
    slices.add_string_val("");
  b.add(tfNode("Const", "file", {}, {tfValue(file)}));
  b.function("restore", {{"f", DT_STRING}, {"w", DT_RESOURCE}, {"b", DT_RESOURCE}}, {},
             {tfNode("Const", "names", {}, {tfValue(names)}), tfNode("Const", "slices", {}, {tfValue(slices)}),
              tfNode("RestoreV2", "r", {"f", "names:output:0", "slices:output:0"}),
              tfNode("AssignVariableOp", "aw", {"w", "r:tensors:0"}),
              tfNode("AssignVariableOp", "ab", {"b", "r:tensors:1"})},
             {});
  b.node("StatefulPartitionedCall", "restored", {"file", "w", "b"}, {TfAttr::function("f", "restore")});
  wsc::tf::SavedModel saved;
  saved.set_saved_model_schema_version(1);
  MetaGraphDef &meta = *saved.add_meta_graphs();
  meta.mutable_meta_info_def()->add_tags("serve");
  *meta.mutable_graph_def() = b.graph;
  meta.mutable_saver_def()->set_restore_op_name("restored");
  meta.mutable_saver_def()->set_filename_tensor_name("file:0");
  for (int i = 0; i < 2; ++i) {
    SignatureEntry &entry = *meta.add_signature_def();
    entry.set_key(i == 0 ? "serving_default" : "positive");
    auto &input = *entry.mutable_value()->add_inputs();
    input.set_key("features");
    input.mutable_value()->set_name("x:0");
    input.mutable_value()->set_dtype(DT_FLOAT);
    auto &output = *entry.mutable_value()->add_outputs();
    output.set_key("scores");
    output.mutable_value()->set_name("call:" + std::to_string(i));
  }
  return saved;
}

TEST_F(TfGraphs, SavedModelWithVariablesAndTwoSignatures) {
  const std::string model = (folder / "model").string();
  write("model/saved_model.pb", savedModel().SerializeAsString());
  std::filesystem::create_directories(folder / "model/variables");
  TfCheckpoint checkpoint;
  checkpoint.add("b/.ATTRIBUTES/VARIABLE_VALUE", {2}, {10, -20});
  checkpoint.add("w/.ATTRIBUTES/VARIABLE_VALUE", {2, 2}, {1, 2, 3, 4});
  checkpoint.entries["_CHECKPOINTABLE_OBJECT_GRAPH"].set_dtype(DT_STRING);
  checkpoint.write(model + "/variables/variables");
  ImportOptions options;
  options.inputs = {"features:1x2"};
  expectNear(runPath(model, {{{1, 2}, {1, 1}}}, options).at(0), {1, 2}, {14, -14});
  options.signature = "positive";
  expectNear(runPath(model, {{{1, 2}, {1, 1}}}, options).at(0), {1, 2}, {14, 0});
  std::string text = importPath(model, options);
  expectIn("{nn.name = \"features\"}", text);
  expectIn("{nn.name = \"scores\"}", text);
  expectNotIn("nn.variable", text);
  options.keepVariables = true;
  expectIn("nn.variable @\"layer/w\" : tensor<2x2xf32>", importPath(model, options));
  // The same as text.
  std::string readable;
  google::protobuf::TextFormat::PrintToString(savedModel(), &readable);
  std::filesystem::remove(folder / "model/saved_model.pb");
  write("model/saved_model.pbtxt", readable);
  expectNear(runPath(model, {{{1, 2}, {1, 1}}}, ImportOptions()).at(0), {1, 2}, {14, -14});
}

TEST_F(TfGraphs, VariablesOfTensorFlow1) {
  // counter += 1; y = x · counter, the counter read before
  TfBuilder b;
  b.input("x", {2});
  b.node("VariableV2", "counter", {}, {TfAttr::shape("shape", {}), TfAttr::type("dtype", DT_FLOAT)});
  b.node("Assign", "counter/Assign", {"counter", b.number("start", 5)});
  b.node("Identity", "counter/read", {"counter"});
  b.node("AssignAdd", "step", {"counter", b.number("one", 1)});
  b.node("Mul", "y", {"x", "counter/read"});
  std::string frozen = importGraph(b, outputs({"y"}));
  expectNotIn("nn.variable", frozen);
  std::string text = importGraph(b, outputs({"y", "step"}));
  expectIn("nn.variable @counter : tensor<f32> = ", text);
  expectIn("nn.write @counter", text);
  ASSERT_TRUE(module);
  std::map<std::string, Array> states;
  std::string error;
  for (int call = 0; call < 3; ++call) {
    auto y = runReference(*module, {{{2}, {1, 2}}}, error, &states);
    ASSERT_TRUE(y) << error;
    expectNear((*y).at(0), {2}, {5.0 + call, 2 * (5.0 + call)});
    expectNear((*y)[1], {}, {6.0 + call});
  }
}

} // namespace
