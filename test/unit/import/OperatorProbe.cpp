// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recipes. An input is written SHAPE for a tensor of the probed type ("2x3", "-" for none), or TYPE:SHAPE with f, l, i,
// b or y for a float, int64, int32, bool or uint8 one; TYPE=NUMBERS is a constant of one dimension, TYPE=.NUMBER of
// none.
#include "test/unit/import/OperatorProbe.h"
#include "absl/strings/str_split.h"
#include <map>

namespace wsc::test {

using wsc::onnx::TensorProto;

llvm::ArrayRef<ProbedType> probedTypes() {
  static constexpr ProbedType types[] = {
      {TensorProto::FLOAT16, "f16"}, {TensorProto::BFLOAT16, "bf16"},   {TensorProto::FLOAT, "f32"},
      {TensorProto::DOUBLE, "f64"},  {TensorProto::INT8, "i8"},         {TensorProto::INT16, "i16"},
      {TensorProto::INT32, "i32"},   {TensorProto::INT64, "i64"},       {TensorProto::UINT8, "u8"},
      {TensorProto::UINT16, "u16"},  {TensorProto::UINT32, "u32"},      {TensorProto::UINT64, "u64"},
      {TensorProto::BOOL, "bool"},   {TensorProto::FLOAT8E4M3FN, "f8"}, {TensorProto::INT4, "i4"}};
  return types;
}

namespace {

struct Recipe {
  std::vector<std::string> inputs;
  std::vector<Attribute> attributes;
};

std::map<std::string, Recipe> makeRecipes() {
  const Attribute kernel = Attribute::ints("kernel_shape", {2, 2});
  const Attribute toFloat = Attribute::i("to", TensorProto::FLOAT);
  std::map<std::string, Recipe> recipes{
      {"AffineGrid", {{"1x2x3", "l=1,1,2,2"}, {}}},
      {"Attention", {{"1x2x3x4", "1x2x3x4", "1x2x3x4"}, {}}},
      {"com.microsoft.Attention", {{"1x3x4", "4x12", "12"}, {Attribute::i("num_heads", 2)}}},
      {"ArrayFeatureExtractor", {{"2x3", "l=0,2"}, {}}},
      {"AveragePool", {{"1x2x4x4"}, {kernel}}},
      {"BatchNormalization", {{"1x2x4x4", "2", "2", "2", "2"}, {}}},
      {"BiasGelu", {{"2x3", "3"}, {}}},
      {"BitCast", {{"2x3"}, {Attribute::i("to", TensorProto::UINT8)}}},
      {"BitShift", {{"2x3", "2x3"}, {Attribute::s("direction", "LEFT")}}},
      {"BlackmanWindow", {{"l=.4"}, {}}},
      {"Cast", {{"2x3"}, {toFloat}}},
      {"CenterCropPad", {{"2x3", "l=2,2"}, {}}},
      {"Clip", {{"2x3"}, {}}},
      {"Col2Im", {{"1x4x4", "l=4,4", "l=2,2"}, {Attribute::ints("strides", {2, 2})}}},
      {"Compress", {{"2x3", "b=1,0"}, {Attribute::i("axis", 0)}}},
      {"Concat", {{"2x3", "2x3"}, {Attribute::i("axis", 0)}}},
      {"Constant", {{}, {Attribute::i("value_int", 1)}}},
      {"ConstantOfShape", {{"l=2,3"}, {}}},
      {"Conv", {{"1x2x4x4", "3x2x2x2"}, {}}},
      {"ConvInteger", {{"1x2x4x4", "3x2x2x2"}, {}}},
      {"ConvTranspose", {{"1x2x4x4", "2x3x2x2"}, {}}},
      {"CumProd", {{"2x3", "l=.1"}, {}}},
      {"CumSum", {{"2x3", "l=.1"}, {}}},
      {"DFT", {{"1x4x1"}, {}}},
      {"DeformConv", {{"1x2x4x4", "3x2x2x2", "1x8x3x3"}, {}}},
      {"DepthToSpace", {{"1x4x2x2"}, {Attribute::i("blocksize", 2)}}},
      {"DequantizeLinear", {{"2x3", "f:"}, {}}},
      {"Det", {{"3x3"}, {}}},
      {"Dropout", {{"2x3"}, {}}},
      {"Einsum", {{"2x3", "3x4"}, {Attribute::s("equation", "ij,jk->ik")}}},
      {"EmbedLayerNormalization", {{"i:1x3", "-", "5x4", "6x4", "-", "4", "4"}, {}}},
      {"Expand", {{"1x3", "l=2,3"}, {}}},
      {"FastGelu", {{"2x3"}, {}}},
      {"FlexAttention", {{"1x2x3x4", "1x2x3x4", "1x2x3x4"}, {}}},
      {"FusedConv", {{"1x2x4x4", "3x2x2x2"}, {Attribute::s("activation", "Relu")}}},
      {"FusedGemm", {{"2x3", "3x4"}, {}}},
      {"FusedMatMul", {{"2x3", "3x4"}, {}}},
      {"GRU", {{"3x1x2", "1x6x2", "1x6x2"}, {Attribute::i("hidden_size", 2)}}},
      {"Gather", {{"2x3", "l=0,1"}, {}}},
      {"GatherElements", {{"2x3", "l:2x3"}, {}}},
      {"GatherND", {{"2x3", "l:2x1"}, {}}},
      {"Gemm", {{"2x3", "3x4"}, {}}},
      {"GridSample", {{"1x1x3x3", "1x2x2x2"}, {}}},
      {"GroupNormalization", {{"1x4x3", "4", "4"}, {Attribute::i("num_groups", 2)}}},
      {"GroupQueryAttention",
       {{"1x2x4", "1x2x2", "1x2x2", "-", "-", "i=1", "i=.2"},
        {Attribute::i("num_heads", 2), Attribute::i("kv_num_heads", 1)}}},
      {"HammingWindow", {{"l=.4"}, {}}},
      {"HannWindow", {{"l=.4"}, {}}},
      {"Imputer",
       {{"2x3"}, {Attribute::floats("imputed_value_floats", {1}), Attribute::ints("imputed_value_int64s", {1})}}},
      {"InstanceNormalization", {{"1x2x4", "2", "2"}, {}}},
      {"LSTM", {{"3x1x2", "1x8x2", "1x8x2"}, {Attribute::i("hidden_size", 2)}}},
      {"LRN", {{"1x2x4x4"}, {Attribute::i("size", 3)}}},
      {"LayerNormalization", {{"2x3", "3"}, {}}},
      {"LinearAttention",
       {{"1x2x4", "1x2x4", "1x2x4"},
        {Attribute::i("q_num_heads", 2), Attribute::i("kv_num_heads", 2), Attribute::s("update_rule", "linear")}}},
      {"LinearClassifier",
       {{"2x3"}, {Attribute::floats("coefficients", {1, 2, 3, 4, 5, 6}), Attribute::ints("classlabels_ints", {0, 1})}}},
      {"LinearRegressor", {{"2x3"}, {Attribute::floats("coefficients", {1, 2, 3})}}},
      {"LpPool", {{"1x2x4x4"}, {kernel}}},
      {"MatMul", {{"2x3", "3x4"}, {}}},
      {"MatMulInteger", {{"2x3", "3x4"}, {}}},
      {"MatMulIntegerToFloat", {{"2x3", "3x4", "f:", "f:"}, {}}},
      {"MaxPool", {{"1x2x4x4"}, {kernel}}},
      {"MaxRoiPool", {{"1x1x4x4", "f:1x5"}, {Attribute::ints("pooled_shape", {2, 2})}}},
      {"MaxUnpool", {{"1x1x2x2", "l:1x1x2x2"}, {kernel, Attribute::ints("strides", {2, 2})}}},
      {"MeanVarianceNormalization", {{"1x2x4x4"}, {}}},
      {"MelWeightMatrix", {{"l=.4", "l=.8", "l=.16", "f=.1", "f=.7"}, {}}},
      {"NegativeLogLikelihoodLoss", {{"2x3", "l:2"}, {}}},
      {"OneHot", {{"l:2", "l=.3", "2"}, {}}},
      {"OneHotEncoder", {{"2x3"}, {Attribute::ints("cats_int64s", {1, 2})}}},
      {"PRelu", {{"2x3", "3"}, {}}},
      {"Pad", {{"2x3", "l=0,1,0,1"}, {}}},
      {"QGemm", {{"2x3", "f:", "y=.3", "3x4", "f:", "y=.3"}, {}}},
      {"QLinearConv", {{"1x2x4x4", "f:", "y=.3", "3x2x2x2", "f:", "y=.3", "f:", "y=.3"}, {}}},
      {"QLinearMatMul", {{"2x3", "f:", "y=.3", "3x4", "f:", "y=.3", "f:", "y=.3"}, {}}},
      {"QLinearAdd", {{"2x3", "f:", "-", "2x3", "f:", "-", "f:"}, {}}},
      {"QLinearMul", {{"2x3", "f:", "-", "2x3", "f:", "-", "f:"}, {}}},
      {"QLinearConcat", {{"f:", "y=.3", "2x3", "f:", "y=.3"}, {}}},
      {"QLinearLeakyRelu", {{"2x3", "f:", "-", "f:"}, {}}},
      {"QLinearSigmoid", {{"2x3", "f:", "-", "f:"}, {}}},
      {"QLinearSoftmax", {{"2x3", "f:", "y=.3", "f:", "y=.3"}, {}}},
      {"QLinearAveragePool", {{"1x2x4x4", "f:", "-", "f:"}, {kernel}}},
      {"QLinearGlobalAveragePool", {{"1x2x4x4", "f:", "y=.3", "f:", "y=.3"}, {}}},
      {"QuantizeLinear", {{"2x3", "f:"}, {}}},
      {"RMSNormalization", {{"2x3", "3"}, {}}},
      {"RNN", {{"3x1x2", "1x2x2", "1x2x2"}, {Attribute::i("hidden_size", 2)}}},
      {"Range", {{"l=.0", "l=.4", "l=.1"}, {}}},
      {"Reshape", {{"2x3", "l=3,2"}, {}}},
      {"Resize", {{"1x1x2x2", "-", "-", "l=1,1,4,4"}, {}}},
      {"ReverseSequence", {{"2x3", "l:3"}, {}}},
      {"RoiAlign", {{"1x1x4x4", "f:1x4", "l:1"}, {Attribute::i("sampling_ratio", 1)}}},
      {"RotaryEmbedding", {{"1x2x3x4", "1x3x2", "1x3x2"}, {}}},
      {"com.microsoft.RotaryEmbedding", {{"1x3x4", "l:1", "8x2", "8x2"}, {}}},
      {"STFT", {{"1x8x1", "l=.2", "-", "l=.4"}, {}}},
      {"SVMRegressor", {{"2x3"}, {Attribute::floats("coefficients", {1, 2, 3}), Attribute::floats("rho", {1})}}},
      {"SVMClassifier",
       {{"2x3"},
        {Attribute::floats("coefficients", {1, 2, 3, 4, 5, 6}), Attribute::floats("rho", {1}),
         Attribute::ints("classlabels_ints", {0, 1})}}},
      {"Scaler", {{"2x3"}, {Attribute::floats("offset", {1}), Attribute::floats("scale", {1})}}},
      {"Scatter", {{"2x3", "l:2x3", "2x3"}, {}}},
      {"ScatterElements", {{"2x3", "l:2x3", "2x3"}, {}}},
      {"ScatterND", {{"2x3", "l:2x1", "2x3"}, {}}},
      {"SkipLayerNormalization", {{"1x2x3", "1x2x3", "3"}, {}}},
      {"SkipSimplifiedLayerNormalization", {{"1x2x3", "1x2x3", "3"}, {}}},
      {"Slice", {{"2x3", "l=0", "l=1"}, {}}},
      {"SoftmaxCrossEntropyLoss", {{"2x3", "l:2"}, {}}},
      {"SpaceToDepth", {{"1x1x4x4"}, {Attribute::i("blocksize", 2)}}},
      {"Split", {{"2x3"}, {Attribute::i("num_outputs", 1)}}},
      {"Squeeze", {{"1x3", "l=0"}, {}}},
      {"TensorScatter", {{"1x1x4x2", "1x1x1x2", "l:1"}, {}}},
      {"TfIdfVectorizer",
       {{"2x3"},
        {Attribute::ints("pool_int64s", {1}), Attribute::ints("ngram_counts", {0}),
         Attribute::ints("ngram_indexes", {0})}}},
      {"Tile", {{"2x3", "l=1,2"}, {}}},
      {"TopK", {{"2x3", "l=2"}, {}}},
      {"Unsqueeze", {{"2x3", "l=0"}, {}}},
      {"Upsample", {{"1x1x2x2", "f=1,1,2,2"}, {}}},
      {"Where", {{"b:2x3", "2x3", "2x3"}, {}}},
      {"Adagrad", {{"f:", "l:", "2", "2", "2"}, {}}},
      {"Adam", {{"f:", "l:", "2", "2", "2", "2"}, {}}},
      {"Momentum", {{"f:", "l:", "2", "2", "2"}, {Attribute::f("alpha", 1)}}},
  };
  return recipes;
}

OnnxBuilder::Type typeOf(char letter) {
  switch (letter) {
  case 'f':
    return TensorProto::FLOAT;
  case 'l':
    return TensorProto::INT64;
  case 'i':
    return TensorProto::INT32;
  case 'b':
    return TensorProto::BOOL;
  default:
    return TensorProto::UINT8;
  }
}

std::vector<int64_t> parse(const std::string &text, char separator) {
  std::vector<int64_t> numbers;
  for (absl::string_view part : absl::StrSplit(text, separator, absl::SkipEmpty()))
    numbers.push_back(std::stoll(std::string(part)));
  return numbers;
}

/// Adds the input that a recipe writes; gives its name.
std::string addInput(OnnxBuilder &b, const std::string &name, std::string text, OnnxBuilder::Type type) {
  if (text == "-")
    return "";
  const bool isConstant = text.size() > 1 && text[1] == '=', isTyped = text.size() > 1 && text[1] == ':';
  if (isConstant || isTyped) {
    type = typeOf(text[0]);
    text = text.substr(2);
  }
  if (!isConstant) {
    const std::vector<int64_t> shape = parse(text, 'x');
    return b.input(name, {shape.begin(), shape.end()}, type);
  }
  const bool isScalar = !text.empty() && text[0] == '.';
  const std::vector<int64_t> numbers = parse(isScalar ? text.substr(1) : text, ',');
  const std::vector<int64_t> shape = isScalar ? std::vector<int64_t>{} : std::vector<int64_t>{int64_t(numbers.size())};
  switch (type) {
  case TensorProto::FLOAT:
    return b.weights(name, shape, std::vector<float>(numbers.begin(), numbers.end()), type);
  case TensorProto::INT64:
    return b.weights(name, shape, numbers, type);
  case TensorProto::INT32:
    return b.weights(name, shape, std::vector<int32_t>(numbers.begin(), numbers.end()), type);
  default:
    return b.weights(name, shape, std::vector<uint8_t>(numbers.begin(), numbers.end()), type);
  }
}

} // namespace

bool OperatorProbe::imports(const import::Operator &op, const std::vector<std::string> &inputs,
                            const std::vector<Attribute> &attributes, OnnxBuilder::Type type) {
  const bool isOwn = op.domain[0] == 0;
  OnnxBuilder b(isOwn ? op.until : import::newestOpset, 10);
  if (!isOwn) {
    auto *own = b.model().add_opset_import();
    own->set_domain(op.domain);
    own->set_version(op.until);
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < inputs.size(); ++i)
    names.push_back(addInput(b, "x" + std::to_string(i), inputs[i], type));
  b.nodeWithOutputs(op.name, names, {"y"}, attributes).set_domain(op.domain);
  b.output("y");
  return import::importOnnx(context, writeModel(b.bytes())).ok();
}

std::set<std::string> OperatorProbe::typesTaken(const import::Operator &op) {
  static const std::map<std::string, Recipe> recipes = makeRecipes();
  auto recipe = recipes.find(std::string(op.domain) + "." + op.name);
  if (recipe == recipes.end())
    recipe = recipes.find(op.name);
  std::vector<Recipe> attempts;
  if (recipe != recipes.end())
    attempts = {recipe->second};
  else
    for (const char *shape : {"2x3", "1x2x4x4"})
      attempts.push_back({std::vector<std::string>(static_cast<size_t>(std::max(op.minInputs, 1)), shape), {}});
  std::set<std::string> taken;
  for (size_t i = 0; i < attempts.size() && taken.empty(); ++i)
    for (const ProbedType &type : probedTypes())
      if (imports(op, attempts[i].inputs, attempts[i].attributes, type.type))
        taken.insert(type.name);
  return taken;
}

} // namespace wsc::test
