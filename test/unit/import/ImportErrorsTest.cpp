// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models that must be refused, each with one message that says what and where.
#include "test/unit/import/ImportFixture.h"

namespace {

using namespace wsc::test;
using wsc::onnx::TensorProto;

class ImportErrors : public ImportTest {};

OnnxBuilder reluModel() {
  OnnxBuilder b;
  b.output(b.node("Relu", {b.input("x", {2, 3})}, {}, "y"));
  return b;
}

TEST_F(ImportErrors, MissingFile) {
  auto result = wsc::import::importOnnx(context, (folder / "absent.onnx").string());
  ASSERT_FALSE(result.ok());
  expectIn("absent.onnx", std::string(result.status().message()));
}

TEST_F(ImportErrors, NotOnnx) {
  expectIn("the file is empty", importBytes(""));
  expectIn("not an ONNX model", importBytes("this is text, no model"));
  expectIn("no ir_version or no graph", importBytes(std::string("\x10\x01", 2)));
}

TEST_F(ImportErrors, EveryTruncationIsRefusedOrComplete) {
  OnnxBuilder b;
  std::string w = b.floats("w", {3, 4}, std::vector<float>(12, 1.0f));
  b.output(b.node("MatMul", {b.input("x", {2, 3}), w}, {}, "y"));
  std::string bytes = b.bytes();
  // The opset, which comes last, is what a cut between fields may lose.
  for (size_t size = 0; size < bytes.size(); ++size)
    expectIn("error: ", importBytes(bytes.substr(0, size)));
  expectIn("nn.matmul", importBytes(bytes));
}

TEST_F(ImportErrors, EveryFlippedByteIsHandled) {
  OnnxBuilder b = reluModel();
  std::string bytes = b.bytes();
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      EXPECT_FALSE(importBytes(damaged).empty()); // no crash, no hang: a module or a message
    }
}

TEST_F(ImportErrors, UnsupportedOperatorsAreListedTogether) {
  OnnxBuilder b;
  std::string x = b.input("x", {2, 3});
  x = b.node("Nonesuch", {x}, {}, "first");
  x = b.node("Nonesuch", {x});
  x = b.node("Relu", {x});
  b.graph().mutable_node(2)->set_domain("ai.onnx");
  b.output(b.node("NonZero", {x}, {}, "y"));
  std::string text = importModel(b);
  expectIn("2 operators are not supported", text);
  expectIn("Nonesuch (domain 'ai.onnx', opset 17): 2 nodes, first 'first'", text);
  expectIn("NonZero (domain 'ai.onnx', opset 17): 1 node, first 'y': the shape of its result depends on data", text);
  auto list = wsc::import::listUnsupportedOperators((folder / "model.onnx").string());
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[0].count, 2);
}

TEST_F(ImportErrors, PoolsOfGrams) {
  auto importPool = [&](const std::vector<int64_t> &starts, const std::vector<int64_t> &columns, int64_t longest) {
    OnnxBuilder b;
    b.output(b.node("TfIdfVectorizer", {b.input("x", {6}, TensorProto::INT64)},
                    {Attribute::s("mode", "TF"), Attribute::i("min_gram_length", 1),
                     Attribute::i("max_gram_length", longest), Attribute::i("max_skip_count", 0),
                     Attribute::ints("ngram_counts", starts), Attribute::ints("ngram_indexes", columns),
                     Attribute::ints("pool_int64s", {1, 2, 3, 4})}));
    return importModel(b);
  };
  expectIn("tensor<3xf32> {nn.name", importPool({0, 2}, {0, 1, 2}, 2));
  expectIn("max_gram_length 3 do not fit 2 elements of ngram_counts", importPool({0, 2}, {0, 1, 2}, 3));
  expectIn("n-grams of length 2 the elements 3 to 4 of pool_int64s, which has 4", importPool({0, 3}, {0, 1, 2}, 2));
  expectIn("n-grams of length 1 the elements 0 to 9", importPool({0, 9}, {0, 1, 2}, 2));
  expectIn("ngram_indexes has 2 elements for 3 n-grams", importPool({0, 2}, {0, 1}, 2));
  expectIn("ngram_indexes holds -1", importPool({0, 2}, {0, -1, 2}, 2));
  expectIn("two n-grams of column 1", importPool({0, 2}, {0, 1, 1}, 2));
}

TEST_F(ImportErrors, Domains) {
  OnnxBuilder b = reluModel();
  b.graph().mutable_node(0)->set_domain("com.example");
  expectIn("domain 'com.example', for which the model imports no opset", importModel(b));
  OnnxBuilder future(900);
  future.output(future.node("Relu", {future.input("x", {2})}));
  expectIn("needs ONNX opset 900", importModel(future));
}

TEST_F(ImportErrors, SymbolicDimensions) {
  OnnxBuilder b;
  b.output(b.node("Add", {b.input("x", {"batch", 3}), b.input("z", {"", 3})}, {}, "y"));
  std::string text = importModel(b);
  expectIn("dimension 0 of input 'x' is 'batch'; give --dim batch=1", text);
  expectIn("dimension 0 of input 'z' is unknown and unnamed; give the whole shape with --input z:SHAPE", text);
  text = importModel(b, {{{"batch", 2}}, {"z:2x3"}, {}});
  expectIn("-> tensor<2x3xf32>", text);
  expectIn("has no dimension of that name; it has batch", importModel(b, {{{"bach", 2}}, {}, {}}));
}

TEST_F(ImportErrors, Bindings) {
  OnnxBuilder b;
  std::string x = b.input("x", {2, 3}), s = b.input("s", {2}, TensorProto::INT32);
  b.output(b.node("Cast", {s}, {Attribute::i("to", TensorProto::FLOAT)}, "y"));
  auto bound = [&](const char *name, const char *value) { return importModel(b, {{}, {}, {}, {{name, value}}}); };
  expectIn("dense<[3.000000e+00, -4.000000e+00]>", bound("s", "3,-4"));
  expectIn("--bind t=1: the model has no input of that name", bound("t", "1"));
  expectIn("--bind s: a tensor [2] needs 2 elements, found 3", bound("s", "1,2,3"));
  expectIn("--bind s: a tensor [2] needs 2 elements, found 0", bound("s", ""));
  expectIn("--bind s: element 1 is 'b', which is no integer of 64 bits", bound("s", "1,b"));
  expectIn("--bind s: element 0 is 4294967296, which its element type does not hold", bound("s", "4294967296,0"));
  expectIn("--bind x: element 5 is 'six', which is no number", bound("x", "1,2,3,4,5,six"));
}

TEST_F(ImportErrors, GraphStructure) {
  OnnxBuilder cycle;
  cycle.input("x", {2});
  cycle.nodeWithOutputs("Add", {"x", "b"}, {"a"});
  cycle.nodeWithOutputs("Relu", {"a"}, {"b"});
  cycle.output("b");
  expectIn("the graph has a cycle of 2 nodes", importModel(cycle));

  OnnxBuilder missing;
  missing.output(missing.node("Add", {missing.input("x", {2}), "ghost"}, {}, "y"));
  expectIn("reads tensor 'ghost', which no node, input or initializer produces", importModel(missing));

  OnnxBuilder twice = reluModel();
  twice.nodeWithOutputs("Neg", {"x"}, {"y"});
  expectIn("tensor 'y' is produced twice", importModel(twice));

  OnnxBuilder inputs = reluModel();
  inputs.input("x", {2, 3});
  expectIn("two graph inputs are named 'x'", importModel(inputs));

  OnnxBuilder none;
  none.input("x", {2});
  expectIn("the graph has no outputs", importModel(none));
}

/// A model whose `then` branch holds an If, and so on, `depth` deep, around a Relu.
OnnxBuilder nestedIfs(int depth) {
  OnnxBuilder b;
  b.input("x", {2});
  b.weights<uint8_t>("yes", {}, {1}, TensorProto::BOOL);
  wsc::onnx::GraphProto *graph = &b.graph();
  for (int level = 0; level < depth; ++level) {
    wsc::onnx::NodeProto *node = graph->add_node();
    node->set_op_type("If");
    node->set_name("if" + std::to_string(level));
    node->add_input("yes");
    node->add_output("y" + std::to_string(level));
    graph->add_output()->set_name("y" + std::to_string(level));
    for (const char *name : {"then_branch", "else_branch"}) {
      wsc::onnx::AttributeProto *attribute = node->add_attribute();
      attribute->set_name(name);
      attribute->set_type(wsc::onnx::AttributeProto::GRAPH);
    }
    auto *other = node->mutable_attribute(1)->mutable_g();
    wsc::onnx::NodeProto *neg = other->add_node();
    neg->set_op_type("Neg");
    neg->add_input("x");
    neg->add_output("n" + std::to_string(level));
    other->add_output()->set_name("n" + std::to_string(level));
    graph = node->mutable_attribute(0)->mutable_g();
  }
  wsc::onnx::NodeProto *relu = graph->add_node();
  relu->set_op_type("Relu");
  relu->add_input("x");
  relu->add_output("inner");
  graph->add_output()->set_name("inner");
  return b;
}

TEST_F(ImportErrors, Nesting) {
  expectIn("nn.unary relu", importModel(nestedIfs(30)));
  expectIn("graphs are nested more than 32 deep", importModel(nestedIfs(33)));
  expectIn("graphs are nested more than 32 deep", importModel(nestedIfs(3000)));
}

/// A model that calls function f0; function i is `calls` nodes, each a call of function i + 1 (or of `last`).
OnnxBuilder functionChain(int functions, int calls, const std::string &last) {
  OnnxBuilder b;
  auto *import = b.model().add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  b.nodeWithOutputs("f0", {b.input("x", {2})}, {"y"}).set_domain("local");
  b.output("y");
  for (int i = 0; i < functions; ++i) {
    auto *function = b.model().add_functions();
    function->set_name("f" + std::to_string(i));
    function->set_domain("local");
    function->add_input("t0");
    for (const char *domain : {"", "local"}) {
      auto *own = function->add_opset_import();
      own->set_domain(domain);
      own->set_version(domain[0] ? 1 : 17);
    }
    const std::string next = i + 1 < functions ? "f" + std::to_string(i + 1) : last;
    for (int call = 0; call < calls; ++call) {
      auto *node = function->add_node();
      node->set_op_type(next);
      node->set_domain(next[0] == 'f' ? "local" : "");
      node->add_input("t" + std::to_string(call));
      node->add_output("t" + std::to_string(call + 1));
    }
    function->add_output("t" + std::to_string(calls));
  }
  return b;
}

TEST_F(ImportErrors, Functions) {
  expectIn("nn.unary neg", importModel(functionChain(20, 1, "Neg")));
  expectIn("nested more than 32 deep", importModel(functionChain(2, 1, "f0")));
  expectIn("nested more than 32 deep", importModel(functionChain(20000, 1, "Neg")));
  expectIn("functions and loops come to more than 250000 nodes", importModel(functionChain(28, 2, "Neg")));
  OnnxBuilder twice = functionChain(1, 2, "Neg");
  twice.model().mutable_functions(0)->mutable_node(1)->set_output(0, "t0");
  expectIn("tensor 't0' is an input or initializer or produced before, and again by node 't0'", importModel(twice));
}

TEST_F(ImportErrors, NodesOutOfOrderAreSorted) {
  OnnxBuilder b;
  b.input("x", {2});
  b.nodeWithOutputs("Neg", {"a"}, {"y"});
  b.nodeWithOutputs("Relu", {"x"}, {"a"});
  b.output("y");
  std::string text = importModel(b);
  EXPECT_LT(text.find("nn.unary relu"), text.find("nn.unary neg")) << text;
}

TEST_F(ImportErrors, Attributes) {
  OnnxBuilder wrong;
  wrong.output(wrong.node("Softmax", {wrong.input("x", {2, 3})}, {Attribute::f("axis", 1)}, "y"));
  expectIn("node 'y' (Softmax): attribute 'axis' must be of type INT, found FLOAT", importModel(wrong));
  OnnxBuilder unknown;
  unknown.output(unknown.node("Relu", {unknown.input("x", {2, 3})}, {Attribute::i("twist", 1)}, "y"));
  expectIn("attribute 'twist' is not known", importModel(unknown));
  OnnxBuilder doubled;
  doubled.output(
      doubled.node("Softmax", {doubled.input("x", {2, 3})}, {Attribute::i("axis", 0), Attribute::i("axis", 1)}, "y"));
  expectIn("node 'y' (Softmax): attribute 'axis' is given twice", importModel(doubled));
  OnnxBuilder tooFew;
  tooFew.output(tooFew.node("MatMul", {tooFew.input("x", {2, 3})}, {}, "y"));
  expectIn("input 1 is missing; at least 2 are needed", importModel(tooFew));
  OnnxBuilder tooMany;
  tooMany.input("x", {2});
  tooMany.output(tooMany.node("Relu", {"x", "x"}, {}, "y"));
  expectIn("has 2 inputs, at most 1 are taken", importModel(tooMany));
  OnnxBuilder kernel;
  kernel.output(
      kernel.node("MaxPool", {kernel.input("x", {1, 1, 4})}, {Attribute::ints("kernel_shape", {INT64_MAX})}, "y"));
  expectIn("kernel extent 9223372036854775807 is outside [1, 2^31)", importModel(kernel));
  OnnxBuilder shape;
  shape.output(shape.node("ConvTranspose", {shape.input("x", {1, 1, 3}), shape.input("w", {1, 1, 2})},
                          {Attribute::ints("output_shape", {INT64_MIN})}, "y"));
  expectIn("attribute 'output_shape' holds -9223372036854775808, which is outside [0, 2^31)", importModel(shape));
  OnnxBuilder axes;
  axes.input("x", {2, 3});
  axes.input("lengths", {3}, wsc::onnx::TensorProto::INT64);
  axes.output(axes.node("ReverseSequence", {"x", "lengths"},
                        {Attribute::i("batch_axis", INT64_MAX), Attribute::i("time_axis", 1)}, "y"));
  expectIn("batch_axis 9223372036854775807, time_axis 1 and lengths [3] do not fit [2, 3]", importModel(axes));
}

TEST_F(ImportErrors, Shapes) {
  OnnxBuilder add;
  add.output(add.node("Add", {add.input("a", {2, 3}), add.input("b", {4})}, {}, "y"));
  expectIn("node 'y' (Add): nn.binary add: shapes do not broadcast: [2, 3] and [4]", importModel(add));
  OnnxBuilder dynamic;
  std::string x = dynamic.input("x", {2, 3}), s = dynamic.input("s", {2}, TensorProto::INT64);
  dynamic.output(dynamic.node("Reshape", {x, s}, {}, "y"));
  expectIn("the shape (input 1) must be known while importing", importModel(dynamic));
}

TEST_F(ImportErrors, Tensors) {
  OnnxBuilder shortData = reluModel();
  shortData.nodeWithOutputs("Add", {"y", shortData.floats("w", {2, 3}, {1, 2})}, {"z"});
  shortData.output("z");
  expectIn("tensor 'w' has 8 bytes of elements, its shape and type need 24", importModel(shortData));
  OnnxBuilder strings;
  strings.output(strings.node("Identity", {strings.input("x", {2}, TensorProto::STRING)}));
  expectIn("tensors of strings are not supported", importModel(strings));
  OnnxBuilder huge = reluModel();
  TensorProto *w = huge.graph().add_initializer();
  w->set_name("w");
  w->set_data_type(TensorProto::FLOAT);
  for (int i = 0; i < 4; ++i)
    w->add_dims(int64_t{1} << 40);
  w->set_raw_data("1234");
  huge.nodeWithOutputs("Add", {"y", "w"}, {"z"});
  huge.output("z");
  expectIn("impossible extent", importModel(huge));
  OnnxBuilder wide;
  wide.output(wide.node("Relu", {wide.input("x", {int64_t{1} << 40})}));
  expectIn("input 'x' has an extent 1099511627776, above 2^31", importModel(wide));
  OnnxBuilder flat;
  flat.output(flat.node("Flatten", {flat.input("x", {1 << 20, 1 << 20})}, {Attribute::i("axis", 0)}));
  expectIn("result [1, 1099511627776] has an extent 1099511627776, above 2^31", importModel(flat));
}

TEST_F(ImportErrors, TypesOfInputs) {
  OnnxBuilder norm(21);
  norm.output(norm.node("LayerNormalization",
                        {norm.input("x", {2, 3}, TensorProto::INT32), norm.input("s", {3}, TensorProto::INT32)}, {},
                        "y"));
  expectIn("node 'y' (LayerNormalization): input 0 has elements of type i32; floats are taken", importModel(norm));
  OnnxBuilder product;
  product.output(product.node("MatMulInteger", {product.input("a", {2, 3}), product.input("b", {3, 2})}, {}, "y"));
  expectIn("node 'y' (MatMulInteger): input 0 has elements of type f32; integers of 8 bits are taken",
           importModel(product));
  OnnxBuilder sum;
  sum.output(sum.node("Add", {sum.input("a", {2}), sum.input("b", {2}, TensorProto::INT32)}, {}, "y"));
  expectIn("node 'y' (Add): nn.binary add needs equal element types", importModel(sum));
  OnnxBuilder index;
  index.output(index.node("Gather", {index.input("x", {2, 3}), index.input("i", {1})}, {}, "y"));
  expectIn("node 'y' (Gather): ", importModel(index));
}

/// A model of a tree ensemble on two features.
std::string treeModel(const std::vector<Attribute> &attributes) {
  OnnxBuilder b;
  auto *ml = b.model().add_opset_import();
  ml->set_domain("ai.onnx.ml");
  ml->set_version(3);
  b.nodeWithOutputs("TreeEnsembleRegressor", {b.input("x", {1, 2})}, {"y"}, attributes).set_domain("ai.onnx.ml");
  b.output("y");
  return b.bytes();
}

TEST_F(ImportErrors, Trees) {
  auto tree = [&](std::vector<int64_t> whenTrue, int64_t feature, int64_t target, std::vector<int64_t> leaves) {
    return importBytes(
        treeModel({Attribute::ints("nodes_treeids", {0, 0, 0}), Attribute::ints("nodes_nodeids", {0, 1, 2}),
                   Attribute::ints("nodes_featureids", {feature, 0, 0}), Attribute::ints("nodes_truenodeids", whenTrue),
                   Attribute::ints("nodes_falsenodeids", {2, 2, 0}),
                   Attribute::strings("nodes_modes", {"BRANCH_LEQ", whenTrue[1] ? "BRANCH_LEQ" : "LEAF", "LEAF"}),
                   Attribute::floats("nodes_values", {0.5f, 0, 0}), Attribute::ints("target_treeids", {0, 0}),
                   Attribute::ints("target_nodeids", leaves), Attribute::ints("target_ids", {0, target}),
                   Attribute::floats("target_weights", {1, 2}), Attribute::i("n_targets", 1)}));
  };
  expectIn("nn.gather", tree({1, 0, 0}, 1, 0, {1, 2}));
  expectIn("tree node 0 looks at feature 2, samples have 2", tree({1, 0, 0}, 2, 0, {1, 2}));
  expectIn("a weight is for tree node 2 and target 1; there are 3 nodes and 1 targets", tree({1, 0, 0}, 1, 1, {1, 2}));
  expectIn("a weight is for node 0 of tree 0, which is no leaf", tree({1, 0, 0}, 1, 0, {0, 2}));
  expectIn("children 7 and 2, one of which is not known", tree({7, 0, 0}, 1, 0, {1, 2}));
  expectIn("tree node 1 leads back to a node above it", tree({1, 1, 0}, 1, 0, {2, 2}));
}

TEST_F(ImportErrors, StorageTypesAreNotComputedWith) {
  OnnxBuilder b(24);
  b.output(b.node("Relu", {b.input("x", {2}, TensorProto::FLOAT8E4M3FN)}, {}, "y"));
  expectIn("node 'y' (Relu): 'nn.unary' op operand #0 must be", importModel(b));
  OnnxBuilder packed = reluModel();
  packed.weights<uint8_t>("w", {3}, {0x21}, TensorProto::INT4);
  packed.nodeWithOutputs("Cast", {"w"}, {"z"}, {Attribute::i("to", TensorProto::FLOAT)});
  packed.output("z");
  expectIn("tensor 'w' has 1 bytes of elements, its shape and type need 2", importModel(packed));
}

TEST_F(ImportErrors, ForgedPlacesAreIgnored) {
  OnnxBuilder b = reluModel();
  TensorProto *w = b.graph().add_initializer();
  w->set_name("w");
  w->set_data_type(TensorProto::FLOAT);
  w->add_dims(3);
  w->set_wsc_offset(uint64_t{1} << 60);
  w->set_wsc_bytes(12);
  b.nodeWithOutputs("Add", {"y", "w"}, {"z"});
  b.output("z");
  expectIn("tensor 'w' has 0 elements, its shape needs 3", importModel(b));
}

class ExternalData : public ImportTest {
protected:
  std::string importWith(const std::string &location, const std::string &offset, const std::string &length) {
    OnnxBuilder b;
    TensorProto *w = b.graph().add_initializer();
    w->set_name("w");
    w->set_data_type(TensorProto::FLOAT);
    w->add_dims(8);
    w->set_data_location(TensorProto::EXTERNAL);
    for (auto [key, value] :
         {std::pair("location", location), std::pair("offset", offset), std::pair("length", length)}) {
      auto *entry = w->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    b.output(b.node("Add", {b.input("x", {8}), "w"}, {}, "y"));
    return importModel(b);
  }
};

TEST_F(ExternalData, StaysInItsFile) {
  std::ofstream(folder / "w.bin", std::ios::binary) << std::string(48, '\0');
  expectIn("w.bin\", offset = 16, bytes = 32, hash = 0>", importWith("w.bin", "16", "32"));
  expectIn("has 48 bytes; 32 bytes at offset 17 were asked for", importWith("w.bin", "17", "32"));
  expectIn("32 bytes at offset 18446744073709551615", importWith("w.bin", "18446744073709551615", "32"));
  expectIn("external length is 16 bytes, the shape needs 32", importWith("w.bin", "0", "16"));
  expectIn("is no number of bytes", importWith("w.bin", "-1", "32"));
}

TEST_F(ExternalData, OutsideIsRefused) {
  std::filesystem::create_directories(folder / "sub");
  std::ofstream(folder / "sub" / "w.bin", std::ios::binary) << std::string(48, '\0');
  std::filesystem::create_symlink("/dev/zero", folder / "escape.bin");
  expectIn("sub/w.bin\", offset = 0", importWith("sub/w.bin", "0", "32"));
  expectIn("must be a relative path without '..'", importWith("../w.bin", "0", "32"));
  expectIn("must be a relative path without '..'", importWith("sub/../../w.bin", "0", "32"));
  expectIn("must be a relative path without '..'", importWith("/etc/passwd", "0", "32"));
  expectIn("must be a relative path without '..'", importWith("", "0", "32"));
  std::filesystem::create_symlink(folder / "sub", folder / "inner");
  expectIn("escape.bin', a symbolic link", importWith("escape.bin", "0", "32"));
  expectIn("inner', a symbolic link", importWith("inner/w.bin", "0", "32"));
  expectIn("not a regular file", importWith("sub", "0", "32"));
  expectIn("absent.bin' does not exist", importWith("absent.bin", "0", "32"));
}

} // namespace
