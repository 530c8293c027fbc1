// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TensorFlow models that must be refused, each with one message that says what and where.
#include "test/support/TfCheckpoint.h"
#include "test/unit/import/TfFixture.h"

namespace {

using namespace wsc::test;
using namespace wsc::tf;
using wsc::import::ImportOptions;

class TfErrors : public TfTest {};

TfBuilder reluGraph() {
  TfBuilder b;
  b.input("x", {2, 3});
  b.node("Relu", "y", {"x"});
  return b;
}

TEST_F(TfErrors, Files) {
  expectIn("absent.pb", importPath((folder / "absent.pb").string()));
  expectIn("not a TensorFlow graph: the file is empty", importBytes(""));
  expectIn("not a TensorFlow graph", importBytes("this is text, no model"));
  expectIn("it has no nodes", importBytes(std::string("\x18\x01", 2)));
  expectIn("line 1, column 8: Expected", importPath(write("bad.pbtxt", "node { ]")));
  expectIn("a folder without saved_model.pb is no SavedModel", importPath(folder.string()));
  expectIn("--signature is for SavedModels", importGraph(reluGraph(), [] {
             ImportOptions options;
             options.signature = "s";
             return options;
           }()));
}

TEST_F(TfErrors, EveryTruncationAndFlippedByteIsHandled) {
  TfBuilder b = reluGraph();
  b.floats("c", {2, 3}, {1, 2, 3, 4, 5, 6});
  b.node("Add", "z", {"y", "c"});
  const std::string bytes = b.bytes();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(importBytes(bytes.substr(0, size)).empty());
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit : {0, 3, 7}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      EXPECT_FALSE(importBytes(damaged).empty()); // no crash, no hang: a module or a message
    }
}

TEST_F(TfErrors, UnsupportedOperatorsAreListedTogether) {
  TfBuilder b = reluGraph();
  b.node("Nonesuch", "first", {"y"});
  b.node("Nonesuch", "second", {"first"});
  b.function("f", {{"a", DT_FLOAT}}, {{"r", DT_FLOAT}}, {tfNode("Other", "inner", {"a"})}, {"inner:r:0"});
  b.node("PartitionedCall", "z", {"second"}, {TfAttr::function("f", "f")});
  b.node("Pruned", "unneeded", {"x"});
  std::string text = importGraph(b, outputs({"z"}));
  expectIn("2 operators are not supported", text);
  expectIn("Nonesuch: 2 nodes, first 'first'", text);
  expectIn("Other: 1 node, first 'f/inner'", text);
  expectNotIn("Pruned", text);
  auto list = wsc::import::listUnsupportedTensorFlowOperators(context, (folder / "graph.pb").string(), outputs({"z"}));
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->size(), 2u);
}

TEST_F(TfErrors, AudioFrontEnd) {
  TfBuilder b;
  b.input("wav_data", {}, DT_STRING);
  b.node("DecodeWav", "decoded", {"wav_data"});
  b.node("AudioSpectrogram", "spectrogram", {"decoded"});
  b.node("Mfcc", "Mfcc", {"spectrogram", "decoded:1"});
  b.node("Relu", "y", {"Mfcc"});
  expectIn(
      "begins with an audio front end (DecodeWav, AudioSpectrogram, Mfcc), which is no part of the network; feed the "
      "tensor behind it: --input Mfcc:SHAPE, or --input y, which reads it",
      importGraph(b));
  ImportOptions options;
  options.inputs = {"Mfcc:1x49x10"};
  expectIn("nn.unary relu %arg0 : tensor<1x49x10xf32>", importGraph(b, options));
}

TEST_F(TfErrors, Structure) {
  TfBuilder cycle;
  cycle.input("x", {2});
  cycle.node("Add", "a", {"x", "b"});
  cycle.node("Relu", "b", {"a"});
  expectIn("the graph has a cycle of 2 nodes that no NextIteration closes", importGraph(cycle, outputs({"b"})));

  TfBuilder ghost = reluGraph();
  ghost.node("Add", "z", {"y", "ghost"});
  expectIn("node 'z' (Add) reads 'ghost', which no node produces", importGraph(ghost));

  TfBuilder twice = reluGraph();
  twice.node("Neg", "y", {"x"});
  expectIn("two nodes are named 'y'", importGraph(twice));

  TfBuilder few = reluGraph();
  few.node("Conv2D", "z", {"y"});
  expectIn("node 'z' (Conv2D): has 1 inputs, needs 2", importGraph(few));

  TfBuilder output = reluGraph();
  output.node("Neg", "z", {"y:3"});
  expectIn("reads output 3 of node 'y' (Relu)", importGraph(output));

  TfBuilder outside = reluGraph();
  outside.node("Exit", "z", {"y"});
  expectIn("stands outside of any loop or branch", importGraph(outside));
}

TEST_F(TfErrors, Options) {
  auto with = [&](std::vector<std::string> inputs, std::vector<std::string> outputs) {
    ImportOptions options;
    options.inputs = std::move(inputs);
    options.outputs = std::move(outputs);
    return importGraph(reluGraph(), options);
  };
  expectIn("--input z: the graph has no tensor of that name", with({"z"}, {}));
  expectIn("--output z: the graph has no tensor of that name", with({}, {"z"}));
  expectIn("--output y:4: the node has 1 outputs", with({}, {"y:4"}));
  expectIn("'2x?x3' is no shape; write it as 1x224x224x3", with({"x:2x?x3"}, {}));
  expectIn("--input x is given twice", with({"x:2x3", "x:2x3"}, {}));
  expectIn("output 'y' is named twice", with({}, {"y", "y"}));
  ImportOptions dims;
  dims.dims = {{"batch", 1}};
  expectIn("dimensions of TensorFlow graphs have no names", importGraph(reluGraph(), dims));
  ImportOptions bind;
  bind.bindings = {{"q", "1"}};
  expectIn("--bind q=1: the model has no input of that name", importGraph(reluGraph(), bind));
}

TEST_F(TfErrors, Shapes) {
  TfBuilder open;
  open.input("x", {-1, -1, 3});
  open.node("Placeholder", "z", {}, {TfAttr::type("dtype", DT_FLOAT)});
  open.node("Add", "y", {"x", "z"});
  std::string text = importGraph(open);
  expectIn("dimension 1 of input 'x' is unknown; give the whole shape with --input x:SHAPE", text);
  expectIn("input 'z' has no declared shape; give --input z:SHAPE", text);

  TfBuilder negative;
  negative.input("x", {-7, 3});
  negative.node("Relu", "y", {"x"});
  expectIn("input 'x' has an impossible extent -7", importGraph(negative));

  TfBuilder huge;
  huge.input("x", {int64_t{1} << 40, int64_t{1} << 40});
  huge.node("Relu", "y", {"x"});
  expectIn("has more than 2^63 elements", importGraph(huge));

  TfBuilder wide;
  wide.input("x", {int64_t{1} << 40});
  wide.node("Relu", "y", {"x"});
  expectIn("input 'x' of shape [1099511627776] has an extent 1099511627776, above 2^31", importGraph(wide));

  TfBuilder block;
  block.input("x", {0, 4, 4, 1});
  block.node("BatchToSpaceND", "y",
             {"x", block.ints("block", {INT32_MAX, INT32_MAX}), block.ints("crops", {0, 0, 0, 0})});
  expectIn("has an extent 8589934588, above 2^31", importGraph(block));

  TfBuilder constant;
  constant.add(tfNode("Const", "y", {}, {tfValue(tfTensor(DT_FLOAT, {int64_t{1} << 40, int64_t{1} << 40}))}));
  expectIn("has more than 2^63 elements", importGraph(constant));

  TfBuilder bytes;
  TensorProto tensor = tfTensor(DT_FLOAT, {5});
  tensor.set_tensor_content("12345678");
  bytes.add(tfNode("Const", "y", {}, {tfValue(tensor)}));
  expectIn("node 'y' (Const): has 8 bytes of elements, its shape [5] and type need 20", importGraph(bytes));

  TfBuilder fill;
  fill.node("Fill", "y", {fill.ints("shape", {-2}), fill.number("value", 1)});
  expectIn("has a negative extent", importGraph(fill));

  TfBuilder rows;
  rows.input("x", {int64_t{1} << 31});
  rows.node("Unpack", "y", {"x"});
  expectIn("takes 2147483648 parts; at most 65536 are possible", importGraph(rows, outputs({"y"})));

  TfBuilder layers;
  layers.input("x", {65536});
  for (const char *name : {"a", "b", "c", "d"})
    layers.node("Unpack", name, {"x"});
  expectIn("the model becomes more than 500000 layers", importGraph(layers, outputs({"a", "b", "c", "d"})));

  TfBuilder list;
  list.node("TensorListFromTensor", "l", {list.input("x", {65537, 2}), list.ints("shape", {2})},
            {TfAttr::type("element_dtype", DT_FLOAT)});
  list.node("TensorListStack", "y", {"l", "shape"}, {TfAttr::type("element_dtype", DT_FLOAT)});
  expectIn("node 'l' (TensorListFromTensor): has 65537 rows; a list holds at most 65536 elements",
           importGraph(list, outputs({"y"})));

  TfBuilder segments;
  TensorProto number = tfTensor(DT_INT64, {1});
  number.add_int64_val(INT64_MAX);
  segments.add(tfNode("Const", "ids", {}, {tfValue(number)}));
  segments.node("SegmentMax", "y", {segments.input("x", {1, 2}), "ids"});
  expectIn("1 segment numbers for 65537 segments do not fit [1, 2]", importGraph(segments));

  TfBuilder begins;
  for (const char *name : {"begin", "size"}) {
    TensorProto place = tfTensor(DT_INT64, {1});
    place.add_int64_val(name[0] == 'b' ? INT64_MIN : -1);
    begins.add(tfNode("Const", name, {}, {tfValue(place)}));
  }
  begins.node("Slice", "y", {begins.input("x", {4}), "begin", "size"});
  expectIn("are not inside [4]", importGraph(begins));

  TfBuilder text2;
  TensorProto strings = tfTensor(DT_STRING, {});
  strings.add_string_val("a");
  text2.add(tfNode("Const", "s", {}, {tfValue(strings)}));
  text2.node("Neg", "y", {"s"});
  expectIn("node 'y' (Neg): input 0 is a string, a tensor is needed", importGraph(text2));

  // The first axis fails, the second one has nothing to go on with.
  TfBuilder flags;
  flags.input("g", {1, 2, 2, 1}, DT_BOOL);
  flags.ints("size", {4, 4});
  flags.node("ResizeNearestNeighborGrad", "y", {"g", "size"});
  expectIn("node 'y' (ResizeNearestNeighborGrad): ", importGraph(flags));
}

TEST_F(TfErrors, Attributes) {
  TfBuilder b = reluGraph();
  b.node("Softmax", "z", {"y"}, {TfAttr::i("temperature", 2)});
  expectIn("node 'z' (Softmax): attribute 'temperature' is not known", importGraph(b));

  TfBuilder kind = reluGraph();
  kind.node("LeakyRelu", "z", {"y"}, {TfAttr::s("alpha", "steep")});
  expectIn("node 'z' (LeakyRelu): attribute 'alpha' must be a float", importGraph(kind));

  TfBuilder padding;
  padding.input("x", {1, 4, 4, 1});
  padding.floats("f", {2, 2, 1, 1}, {1, 1, 1, 1});
  padding.node("Conv2D", "y", {"x", "f"}, {TfAttr::s("padding", "FULL"), TfAttr::ints("strides", {1, 1, 1, 1})});
  expectIn("padding 'FULL' is none of SAME, VALID, EXPLICIT", importGraph(padding));

  TfBuilder deep = reluGraph();
  NodeDef node = tfNode("Relu", "z", {"y"});
  NameAttrList *list = node.add_attr()->mutable_value()->mutable_func();
  for (int i = 0; i < 40; ++i)
    list = list->add_attr()->mutable_value()->mutable_func();
  deep.add(node);
  expectIn("nested more than 64 messages deep", importGraph(deep));
  expectIn("not a TensorFlow graph as text: line ", importPath(write("deep.pbtxt", deep.text())));
}

TEST_F(TfErrors, Functions) {
  TfBuilder b;
  b.input("x", {2});
  for (const char *name : {"f", "g"})
    b.function(name, {{"a", DT_FLOAT}}, {{"r", DT_FLOAT}},
               {tfNode("PartitionedCall", "call", {"a"}, {TfAttr::function("f", name[0] == 'f' ? "g" : "f")})},
               {"call:output:0"});
  b.node("PartitionedCall", "y", {"x"}, {TfAttr::function("f", "f")});
  expectIn("function 'f' calls itself (f → g → f); recursion is not supported", importGraph(b));

  TfBuilder self;
  self.input("x", {2});
  self.function("f", {{"a", DT_FLOAT}}, {{"r", DT_FLOAT}}, {tfNode("f", "call", {"a"})}, {"call:r:0"});
  self.node("f", "y", {"x"});
  expectIn("function 'f' calls itself (f → f); recursion is not supported", importGraph(self));

  TfBuilder chain;
  chain.input("x", {2});
  for (int i = 0; i < 100; ++i)
    chain.function(
        "f" + std::to_string(i), {{"a", DT_FLOAT}}, {{"r", DT_FLOAT}},
        {i == 99 ? tfNode("Neg", "call", {"a"})
                 : tfNode("PartitionedCall", "call", {"a"}, {TfAttr::function("f", "f" + std::to_string(i + 1))})},
        {i == 99 ? "call:y:0" : "call:output:0"});
  chain.node("PartitionedCall", "y", {"x"}, {TfAttr::function("f", "f0")});
  expectIn("nested more than 64 deep", importGraph(chain));

  TfBuilder missing;
  missing.input("x", {2});
  missing.node("PartitionedCall", "y", {"x"}, {TfAttr::function("f", "ghost")});
  expectIn("calls function 'ghost', which the graph does not have", importGraph(missing));

  TfBuilder arguments;
  arguments.input("x", {2});
  arguments.function("f", {{"a", DT_FLOAT}, {"b", DT_FLOAT}}, {{"r", DT_FLOAT}}, {tfNode("Add", "s", {"a", "b"})},
                     {"s:z:0"});
  arguments.node("PartitionedCall", "y", {"x"}, {TfAttr::function("f", "f")});
  expectIn("calls function 'f', which has 2 arguments, with 1", importGraph(arguments));

  TfBuilder result;
  result.input("x", {2});
  result.function("f", {{"a", DT_FLOAT}}, {{"r", DT_FLOAT}}, {}, {"ghost:y:0"});
  result.node("PartitionedCall", "y", {"x"}, {TfAttr::function("f", "f")});
  expectIn("result 'r' of function 'f' is 'ghost:y:0', which no node produces", importGraph(result));
}

TEST_F(TfErrors, Loops) {
  auto loop = [](bool counts) {
    TfBuilder b;
    b.input("x", {});
    b.number("limit", 10);
    b.function("cond", {{"v", DT_FLOAT}}, {{"go", DT_BOOL}},
               {tfFloats("limit", {}, {10}), tfNode("Less", "less", {"v", "limit:output:0"})}, {"less:z:0"});
    b.function("body", {{"v", DT_FLOAT}}, {{"r", DT_FLOAT}}, {tfNode("Identity", "same", {"v"})}, {"same:output:0"});
    b.node("While", "y", {counts ? b.number("zero", 0) : std::string("x")},
           {TfAttr::function("cond", "cond"), TfAttr::function("body", "body")});
    return b;
  };
  expectIn(
      "the condition of a loop must be known while importing; it depends on the model's inputs 'x'; fix their values "
      "with --bind NAME=VALUE",
      importGraph(loop(false), outputs({"y"})));
  expectIn("a loop of more than 10000 turns is not supported", importGraph(loop(true), outputs({"y"})));
}

TEST_F(TfErrors, Variables) {
  TfBuilder b;
  b.input("x", {2});
  b.node("VariableV2", "w", {}, {TfAttr::shape("shape", {2}), TfAttr::type("dtype", DT_FLOAT)});
  b.node("Identity", "w/read", {"w"});
  b.node("Mul", "y", {"x", "w/read"});
  expectIn(
      "variable 'w' has no value: there is no checkpoint that holds it and the graph gives no constant initial value",
      importGraph(b, outputs({"y"})));
  b.node("Assign", "w/Assign", {"w", b.floats("three", {3}, {1, 2, 3})});
  expectIn("variable 'w' is tensor<2xf32>, the value for it tensor<3xf32>", importGraph(b, outputs({"y"})));
  b.graph.mutable_node()->DeleteSubrange(b.graph.node_size() - 2, 2);
  b.node("Placeholder", "unknown", {}, {TfAttr::shape("shape", {2}), TfAttr::type("dtype", DT_FLOAT)});
  b.node("Assign", "w/Assign", {"w", "unknown"});
  expectIn("the initial value of variable 'w': node 'unknown' (Placeholder): is an input that",
           importGraph(b, outputs({"y"})));
}

/// A meta graph that restores w, and its checkpoint.
class TfCheckpoints : public TfErrors {
protected:
  TfCheckpoints() {
    b.input("x", {2});
    b.node("VariableV2", "w", {}, {TfAttr::shape("shape", {2}), TfAttr::type("dtype", DT_FLOAT)});
    b.node("Identity", "w/read", {"w"});
    b.node("Mul", "y", {"x", "w/read"});
    TensorProto file = tfTensor(DT_STRING, {}), names = tfTensor(DT_STRING, {1}), slices = tfTensor(DT_STRING, {1});
    file.add_string_val("model");
    names.add_string_val("w");
    slices.add_string_val("");
    b.add(tfNode("Const", "save/Const", {}, {tfValue(file)}));
    b.add(tfNode("Const", "save/names", {}, {tfValue(names)}));
    b.add(tfNode("Const", "save/slices", {}, {tfValue(slices)}));
    b.node("RestoreV2", "save/RestoreV2", {"save/Const", "save/names", "save/slices"});
    b.node("Assign", "save/Assign", {"w", "save/RestoreV2"});
    b.add(tfNode("NoOp", "save/restore_all", {"^save/Assign"}));
    *meta.mutable_graph_def() = b.graph;
    meta.mutable_saver_def()->set_restore_op_name("save/restore_all");
    meta.mutable_saver_def()->set_filename_tensor_name("save/Const:0");
    checkpoint.add("w", {2}, {3, 4});
    checkpoint.add("weights_of_another_layer_that_share_a_beginning", {5}, {1, 2, 3, 4, 5});
  }
  std::string imported() { return importPath(write("model.meta", meta.SerializeAsString()), outputs({"y"})); }
  std::string prefix() const { return (folder / "model").string(); }
  TfBuilder b;
  MetaGraphDef meta;
  TfCheckpoint checkpoint;
};

TEST_F(TfCheckpoints, AreRestored) {
  checkpoint.write(prefix());
  expectNear(runPath(write("model.meta", meta.SerializeAsString()), {{{2}, {1, 1}}}, outputs({"y"})).at(0), {2},
             {3, 4});
}

TEST_F(TfCheckpoints, WithoutThem) { expectIn("variable 'w' has no value", imported()); }

TEST_F(TfCheckpoints, MissingTensor) {
  checkpoint.entries.erase("w");
  checkpoint.write(prefix());
  expectIn("tensor 'w' is not in the checkpoint of 1 tensors; similar ones are weights_of", imported());
}

TEST_F(TfCheckpoints, WrongChecksum) {
  checkpoint.data[1] = static_cast<char>(checkpoint.data[1] ^ 1);
  checkpoint.write(prefix());
  std::string text = imported();
  expectIn("tensor 'w': ", text);
  expectIn("model.data-00000-of-00001 is damaged: checksum", text);
}

TEST_F(TfCheckpoints, MissingOrShortData) {
  checkpoint.write(prefix());
  write("model.data-00000-of-00001", "123");
  expectIn("has 3 bytes; 8 bytes at offset 0 were asked for", imported());
  std::filesystem::remove(folder / "model.data-00000-of-00001");
  expectIn("model.data-00000-of-00001", imported());
}

TEST_F(TfCheckpoints, WrongSize) {
  checkpoint.entries["w"].set_size(4);
  checkpoint.write(prefix());
  expectIn("tensor 'w' of shape [2] needs 8 bytes; the index says 4", imported());
  for (int i = 0; i < 2; ++i) // 2 · 2^31 · 2^30 elements
    checkpoint.entries["w"].mutable_shape()->add_dim()->set_size(int64_t{1} << (31 - i));
  checkpoint.write(prefix());
  expectIn("has more than 2^63 bytes", imported());
}

TEST_F(TfCheckpoints, EveryDamagedByteOfTheIndexIsHandled) {
  checkpoint.write(prefix());
  const std::string index = checkpoint.index();
  expectIn("no checkpoint index", (write("model.index", "short"), imported()));
  for (size_t i = 0; i < index.size(); i += 2) {
    std::string damaged = index;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    write("model.index", damaged);
    EXPECT_FALSE(imported().empty());
  }
  for (size_t size = 0; size < index.size(); size += 3) {
    write("model.index", index.substr(0, size));
    expectIn("error: ", imported());
  }
}

TEST_F(TfErrors, Signatures) {
  SavedModel saved;
  MetaGraphDef &graph = *saved.add_meta_graphs();
  *graph.mutable_graph_def() = reluGraph().graph;
  for (const char *name : {"a", "b", "__saved_model_init_op"}) {
    SignatureEntry &entry = *graph.add_signature_def();
    entry.set_key(name);
    auto &output = *entry.mutable_value()->add_outputs();
    output.set_key("out");
    output.mutable_value()->set_name("ghost:0");
  }
  const std::string path = write("saved_model.pb", saved.SerializeAsString());
  expectIn("several signatures and none is serving_default; give --signature with one of a, b", importPath(path));
  ImportOptions options;
  options.signature = "c";
  expectIn("--signature c: the model has no signature of that name; it has a, b", importPath(path, options));
  options.signature = "a";
  expectIn("output 'out' of the signature is tensor 'ghost:0', which the graph does not have",
           importPath(path, options));
}

} // namespace
