// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What single operators and small graphs become: forms that differ between opsets, shape arithmetic that vanishes,
// cuts.
#include "test/unit/import/ImportFixture.h"

namespace {

using namespace wsc::test;
using wsc::onnx::TensorProto;

class ImportOperators : public ImportTest {};

TEST_F(ImportOperators, WeightsStayInTheFile) {
  OnnxBuilder b;
  std::string w = b.floats("w", {4, 3}, std::vector<float>(12, 0.5f));
  b.output(b.node("Gemm", {b.input("x", {1, 3}), w}, {Attribute::i("transB", 1)}, "y"));
  std::string text = importModel(b);
  expectIn("bytes = 48, hash = 0> : tensor<4x3xf32>", text);
  expectIn("{transpose_rhs}", text);
  expectIn("nn.name = \"x\"", text);
  expectIn("nn.name = \"y\"", text);
  // The place named holds the elements.
  wsc::nn::WeightsAttr weights;
  module->walk([&](wsc::nn::ConstantOp op) { weights = op.getWeights(); });
  ASSERT_TRUE(weights);
  std::string bytes = b.bytes();
  float first = 0;
  std::memcpy(&first, bytes.data() + weights.getOffset(), sizeof first);
  EXPECT_EQ(first, 0.5f);
}

/// QuantizeLinear and DequantizeLinear of 8 bits with a zero point.
std::string throughBytes(OnnxBuilder &b, const std::string &x, int8_t zero) {
  const std::string scale = b.floats(x + "scale", {}, {0.125f});
  const std::string point = b.weights<int8_t>(x + "zero", {}, {zero}, TensorProto::INT8);
  return b.node("DequantizeLinear", {b.node("QuantizeLinear", {x, scale, point}), scale, point});
}

TEST_F(ImportOperators, ProductsOfDequantisedTensorsAreOfWholeNumbers) {
  auto productOf = [&](int8_t zero, int64_t weightAxis) {
    OnnxBuilder b;
    std::string w = b.weights<int8_t>("w", {3, 2}, {1, 2, 3, 4, 5, 6}, TensorProto::INT8);
    std::string scales =
        b.floats("scales", {weightAxis == 0 ? 3 : 2}, std::vector<float>(weightAxis == 0 ? 3 : 2, 0.5));
    w = b.node("DequantizeLinear", {w, scales}, {Attribute::i("axis", weightAxis)});
    b.output(b.node("MatMul", {throughBytes(b, b.input("x", {4, 3}), zero), w}, {}, "y"));
    return importModel(b);
  };
  std::string text = productOf(0, 1);
  expectIn("nn.cast %", text);
  expectIn("tensor<4x3xi8> -> tensor<4x3xi32>", text);
  expectIn("(tensor<4x3xi32>, tensor<3x2xi32>) -> tensor<4x2xi32>", text);
  // A zero point is taken away in 16 bits.
  expectIn("tensor<4x3xi16> -> tensor<4x3xi32>", productOf(3, 1));
  // The axis of a single scale counts for nothing, it may be outside.
  OnnxBuilder vector;
  vector.output(throughBytes(vector, vector.input("x", {4}), 3));
  expectIn("tensor<4xf32> {nn.name", importModel(vector));
  // A scale for each of the elements that are summed stays with them.
  expectIn("(tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>", productOf(0, 0));
}

TEST_F(ImportOperators, FloatDataStaysInTheFileToo) {
  OnnxBuilder b;
  TensorProto *w = b.graph().add_initializer();
  w->set_name("w");
  w->set_data_type(TensorProto::FLOAT);
  w->add_dims(1000);
  for (int i = 0; i < 1000; ++i)
    w->add_float_data(static_cast<float>(i));
  b.output(b.node("Add", {b.input("x", {1000}), "w"}));
  expectIn("bytes = 4000", importModel(b));
}

TEST_F(ImportOperators, OldModelsListInitializersAmongInputs) {
  OnnxBuilder b(8, 3);
  b.input("w", {3});
  b.floats("w", {3}, {1, 2, 3});
  b.output(b.node("Mul", {b.input("x", {3}), "w"}));
  std::string text = importModel(b);
  expectIn("@main(%arg0: tensor<3xf32> {nn.name = \"x\"})", text);
}

TEST_F(ImportOperators, ShapeArithmeticVanishes) {
  // Reshape(x, Concat(Unsqueeze(Gather(Shape(x), 0)), [-1])), as exporters write a flatten.
  OnnxBuilder b(11);
  std::string x = b.input("x", {2, 3, 4});
  std::string index = b.weights("index", {}, std::vector<int64_t>{0}, TensorProto::INT64);
  std::string batch = b.node("Gather", {b.node("Shape", {x}), index}, {Attribute::i("axis", 0)});
  std::string rows = b.node("Unsqueeze", {batch}, {Attribute::ints("axes", {0})});
  std::string shape = b.node("Concat", {rows, b.ints("rest", {-1})}, {Attribute::i("axis", 0)});
  b.output(b.node("Reshape", {x, shape}));
  std::string text = importModel(b);
  expectIn("nn.reshape %arg0 : tensor<2x3x4xf32> -> tensor<2x12xf32>", text);
  expectNotIn("nn.constant", text);
  expectNotIn("nn.gather", text);
}

TEST_F(ImportOperators, ExactFolding) {
  OnnxBuilder b;
  std::string x = b.input("x", {4}, TensorProto::INT64);
  // Range(0, 4, 1) * 3 - 5 = [-5, -2, 1, 4]; div by 2 truncates; where(equal(…, 0), 7, …).
  auto number = [&](const char *name, int64_t value) {
    return b.weights(name, {}, std::vector<int64_t>{value}, TensorProto::INT64);
  };
  std::string range = b.node("Range", {number("zero", 0), number("four", 4), number("one", 1)});
  std::string line = b.node("Sub", {b.node("Mul", {range, number("three", 3)}), number("five", 5)});
  std::string half = b.node("Div", {line, number("two", 2)});
  std::string chosen = b.node("Where", {b.node("Equal", {half, "zero"}), number("seven", 7), half});
  b.output(b.node("Add", {x, chosen}));
  expectIn("dense<[-2, -1, 7, 2]> : tensor<4xi64>", importModel(b));
}

TEST_F(ImportOperators, SoftmaxFlattensBeforeOpset13) {
  for (int64_t opset : {12, 13}) {
    OnnxBuilder b(opset);
    b.output(b.node("Softmax", {b.input("x", {2, 3, 4})}, {Attribute::i("axis", 1)}));
    std::string text = importModel(b);
    if (opset < 13)
      expectIn("nn.softmax %0 axis 1 : tensor<2x12xf32>", text);
    else
      expectIn("nn.softmax %arg0 axis 1 : tensor<2x3x4xf32>", text);
  }
}

TEST_F(ImportOperators, ClipInBothForms) {
  OnnxBuilder old(6);
  old.output(old.node("Clip", {old.input("x", {2})}, {Attribute::f("min", 0), Attribute::f("max", 6)}));
  OnnxBuilder now(11);
  std::string low = now.floats("low", {}, {0}), high = now.floats("high", {}, {6});
  now.output(now.node("Clip", {now.input("x", {2}), low, high}));
  std::string first = importModel(old), second = importModel(now);
  EXPECT_EQ(first.substr(0, first.find("nn.name = \"t0\"")), second.substr(0, second.find("nn.name = \"t0\"")));
  expectIn("nn.binary max", first);
  expectIn("dense<6.000000e+00> : tensor<f32>", first);
}

TEST_F(ImportOperators, PadsOfWindows) {
  OnnxBuilder b;
  std::string w = b.floats("w", {1, 1, 2, 2}, {1, 2, 3, 4});
  b.output(b.node("Conv", {b.input("x", {1, 1, 5, 5}), w}, {Attribute::s("auto_pad", "SAME_LOWER")}));
  expectIn("pads [1, 1, 0, 0]", importModel(b));
  OnnxBuilder ceil;
  ceil.output(ceil.node(
      "MaxPool", {ceil.input("x", {1, 1, 6, 6})},
      {Attribute::ints("kernel_shape", {3, 3}), Attribute::ints("strides", {2, 2}), Attribute::i("ceil_mode", 1)}));
  expectIn("pads [0, 0, 1, 1] : (tensor<1x1x6x6xf32>) -> tensor<1x1x3x3xf32>", importModel(ceil));
}

TEST_F(ImportOperators, ConvolutionInOneDimension) {
  OnnxBuilder b;
  std::string w = b.floats("w", {4, 2, 3}, std::vector<float>(24, 1));
  b.output(
      b.node("Conv", {b.input("x", {1, 2, 9}), w}, {Attribute::ints("strides", {2}), Attribute::ints("pads", {1, 1})}));
  std::string text = importModel(b);
  expectIn("strides [1, 2] pads [0, 1, 0, 1]", text);
  expectIn("tensor<4x2x1x3xf32>", text); // the weight in the file takes the new shape for nothing
  expectIn("-> tensor<1x4x5xf32>", text);
}

TEST_F(ImportOperators, GemmFactorsAndBias) {
  OnnxBuilder b;
  std::string w = b.floats("w", {3, 2}, std::vector<float>(6, 1)), c = b.floats("c", {2}, {1, 2});
  b.output(b.node("Gemm", {b.input("x", {4, 3}), w, c}, {Attribute::f("beta", 0.5f)}));
  std::string text = importModel(b);
  expectIn("dense<[5.000000e-01, 1.000000e+00]> : tensor<2xf32>", text);
  expectIn(" bias ", text);
  expectNotIn("nn.binary", text);
}

TEST_F(ImportOperators, NegativeStepsAndEnds) {
  OnnxBuilder b;
  std::string x = b.input("x", {5, 6});
  std::string starts = b.ints("starts", {-1, 1}), ends = b.ints("ends", {INT64_MIN, INT64_MAX});
  std::string axes = b.ints("axes", {0, -1}), steps = b.ints("steps", {-2, 2});
  b.output(b.node("Slice", {x, starts, ends, axes, steps}));
  expectIn("starts [4, 1] sizes [3, 3] steps [-2, 2]", importModel(b));
}

TEST_F(ImportOperators, Cuts) {
  OnnxBuilder b;
  std::string a = b.node("Relu", {b.input("x", {2, 3})}, {}, "a:0");
  std::string c = b.node("Nonesuch", {a}, {}, "c");
  b.output(b.node("Neg", {c}, {}, "y"));
  expectIn("nn.name = \"a:0\"", importModel(b, {{}, {}, {"a:0"}}));
  std::string text = importModel(b, {{}, {"c:2x5xf16"}, {}});
  expectIn("tensor<2x5xf16> {nn.name = \"c\"}", text);
  expectNotIn("nn.name = \"x\"", text);
  expectIn("does not say the type of input 'c'", importModel(b, {{}, {"c"}, {}}));
  expectIn("--input ghost: the model has no tensor of that name", importModel(b, {{}, {"ghost"}, {}}));
  expectIn("--output ghost: the model has no tensor of that name", importModel(b, {{}, {}, {"ghost"}}));
  expectIn("is no shape", importModel(b, {{}, {"c:2xx"}, {}}));
}

TEST_F(ImportOperators, BoundInputsAreConstants) {
  OnnxBuilder b(13);
  std::string x = b.input("x", {2, 3}), axes = b.input("axes", {1}, TensorProto::INT64);
  b.output(b.node("ReduceSum", {x, axes}, {Attribute::i("keepdims", 0)}, "y"));
  std::string refusal = importModel(b);
  expectIn("axes (input 1) must be known while importing", refusal);
  expectIn("it depends on the model's inputs 'axes'; fix their values with --bind NAME=VALUE", refusal);
  auto result = wsc::import::importOnnx(context, (folder / "model.onnx").string());
  EXPECT_EQ(wsc::import::inputsToBind(result.status()), std::vector<std::string>{"axes"});
  std::string text = importModel(b, {{}, {}, {}, {{"axes", "-1"}}});
  expectIn("nn.reduce sum %arg0 axes [1]", text);
  expectNotIn("nn.name = \"axes\"", text);
}

TEST_F(ImportOperators, WindowsOfAnyRank) {
  OnnxBuilder b;
  std::string w = b.floats("w", {1, 2, 3, 3, 3}, std::vector<float>(54, 1));
  b.output(b.node("Conv", {b.input("x", {3, 2, 5, 5, 5}), w}, {Attribute::ints("strides", {1, 2, 1})}));
  expectIn("strides [1, 2, 1] dilations [1, 1, 1] pads [0, 0, 0, 0, 0, 0] : (tensor<3x2x5x5x5xf32>, "
           "tensor<1x2x3x3x3xf32>) -> tensor<3x1x3x2x3xf32>",
           importModel(b));
}

TEST_F(ImportOperators, TransposedConvolutionIsOne) {
  OnnxBuilder b;
  std::string w = b.floats("w", {1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  b.output(b.node("ConvTranspose", {b.input("x", {1, 1, 4, 4}), w},
                  {Attribute::ints("strides", {2, 2}), Attribute::ints("pads", {1, 1, 1, 1})}));
  std::string text = importModel(b);
  // Two taps for each of the four elements between places, of four by four places; the border is cut off then.
  expectIn("pads [1, 1, 0, 0] : (tensor<1x1x4x4xf32>, tensor<4x1x2x2xf32>) -> tensor<1x4x4x4xf32>", text);
  expectIn("-> tensor<1x1x7x7xf32>", text);
}

TEST_F(ImportOperators, ResNet50) {
  OnnxBuilder b = buildResNet50(7, 64, 8, 10);
  std::string text = importModel(b);
  int convolutions = 0;
  ASSERT_TRUE(module) << text;
  module->walk([&](wsc::nn::ConvOp) { ++convolutions; });
  EXPECT_EQ(convolutions, 53);
  expectIn("-> (tensor<1x10xf32> {nn.name = \"output\"})", text);
}

} // namespace
