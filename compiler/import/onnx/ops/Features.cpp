// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of ai.onnx.ml that prepare features: selection, thresholds, scaling, missing values, encodings.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Scores.h"
#include "dialects/nn/Shape.h"
#include <cmath>

namespace wsc::import {
namespace {

mlir::Type f32Of(NodeContext &node) { return node.layers.builder().getF32Type(); }

/// Numbers of the last axis, or one for all of it.
bool fitsFeatures(NodeContext &node, const Expression &x, size_t count, const char *what) {
  if (node.failed())
    return false;
  const int64_t features = x.rank() > 0 ? x.shape().back() : 1;
  if (count == 1 || static_cast<int64_t>(count) == features)
    return true;
  node.fail(absl::StrCat("attribute '", what, "' has ", count, " elements; 1 or ", features, " are taken"));
  return false;
}

void arrayFeatureExtractor(NodeContext &node) {
  Expression x = node.in(0), numbers = node.in(1);
  if (node.failed())
    return;
  if (x.rank() < 1)
    return node.fail("needs features along the last axis, found one number");
  Expression y =
      gather(x.rank() == 1 ? x.unsqueeze(0) : x, numbers.reshape({numbers.size()}), std::max<int64_t>(x.rank(), 2) - 1);
  node.setResult(y);
}

void binarizer(NodeContext &node) {
  Expression x = node.in(0);
  double threshold = node.floatAttribute("threshold", 0);
  node.setResult(
      less(Expression(node.layers, node.layers.scalar(x.elementType(), threshold)), x).cast(x.elementType()));
}

void scaler(NodeContext &node) {
  Expression x = node.in(0).cast(f32Of(node));
  std::vector<double> offset = node.floatsAttribute("offset"), scale = node.floatsAttribute("scale");
  if (!fitsFeatures(node, x, offset.size(), "offset") || !fitsFeatures(node, x, scale.size(), "scale"))
    return;
  auto row = [&](const std::vector<double> &values) {
    return constant(node.layers, {static_cast<int64_t>(values.size())}, values, f32Of(node));
  };
  node.setResult((x - row(offset)) * row(scale));
}

void normalizer(NodeContext &node) {
  std::string norm = node.stringAttribute("norm", "MAX");
  Expression x = node.in(0).cast(f32Of(node));
  if (node.failed())
    return;
  if (x.rank() != 1 && x.rank() != 2)
    return node.fail(absl::StrCat("needs [features] or [samples, features], found ", nn::formatShape(x.shape())));
  int64_t axis = x.rank() - 1;
  if (norm == "MAX") {
    Expression most = maxOver(x, {axis});
    node.setResult(select(equal(most, 0), x, x / most));
  } else if (norm == "L1") {
    Expression sum = sumOver(abs(x), {axis});
    node.setResult(select(equal(sum, 0), x, x / sum));
  } else if (norm == "L2") {
    Expression sum = sumOver(square(x), {axis});
    // The sign goes with the root of the square's share.
    Expression share = sqrt(square(x) / sum);
    node.setResult(select(equal(sum, 0), x, select(less(x, 0), -share, share)));
  } else {
    node.fail(absl::StrCat("attribute 'norm' is '", norm, "'; MAX, L1 and L2 are known"));
  }
}

void imputer(NodeContext &node) {
  Expression x = node.in(0);
  std::vector<double> floats = node.floatsAttribute("imputed_value_floats");
  std::vector<int64_t> ints = node.intsAttribute("imputed_value_int64s");
  double replacedFloat = node.floatAttribute("replaced_value_float", 0);
  int64_t replacedInt = node.intAttribute("replaced_value_int64", 0);
  if (node.failed())
    return;
  if (x.isFloat()) {
    if (!fitsFeatures(node, x, floats.size(), "imputed_value_floats"))
      return;
    Expression values = constant(node.layers, {static_cast<int64_t>(floats.size())}, floats, x.elementType());
    Expression isMissing = std::isnan(replacedFloat) ? isNan(x) : equal(x, replacedFloat);
    return node.setResult(select(isMissing, values, x));
  }
  if (!fitsFeatures(node, x, ints.size(), "imputed_value_int64s"))
    return;
  Expression values = constant(node.layers, {static_cast<int64_t>(ints.size())}, ints).cast(x.elementType());
  node.setResult(select(equal(x, constant(node.layers, {}, {replacedInt}).cast(x.elementType())), values, x));
}

void featureVectorizer(NodeContext &node) {
  std::vector<int64_t> widths = node.intsAttribute("inputdimensions");
  if (!widths.empty() && widths.size() != node.inputCount())
    return node.fail(absl::StrCat("attribute 'inputdimensions' has ", widths.size(), " elements for ",
                                  node.inputCount(), " inputs"));
  llvm::SmallVector<Expression> parts;
  for (size_t i = 0; i < node.inputCount() && !node.failed(); ++i) {
    Expression x = node.in(i).cast(f32Of(node));
    if (!x || node.failed())
      return node.fail(absl::StrCat("input ", i, " is missing"));
    if (x.rank() == 1)
      x = x.unsqueeze(0);
    if (x.rank() != 2)
      return node.fail(absl::StrCat("input ", i, " ", nn::formatShape(x.shape()), " is no [samples, features]"));
    // What is declared wider is filled with zeros, what is wider is cut.
    const int64_t width = widths.empty() ? x.shape()[1] : widths[i];
    if (width < 0)
      return node.fail(absl::StrCat("attribute 'inputdimensions' has a negative element ", width));
    if (width < x.shape()[1])
      x = x.slice(1, 0, width);
    else if (width > x.shape()[1])
      x = x.pad(1, 0, width - x.shape()[1]);
    parts.push_back(x);
  }
  if (!node.failed())
    node.setResult(concat(parts, 1));
}

void oneHotEncoder(NodeContext &node) {
  if (!node.stringsAttribute("cats_strings").empty())
    return node.unsupported("categories that are strings are not supported; give them as integers");
  std::vector<int64_t> categories = node.intsAttribute("cats_int64s");
  if (node.intAttribute("zeros", 1) == 0)
    return node.unsupported("zeros = 0, which makes an unknown category an error at run time, is not supported");
  if (node.failed())
    return;
  Expression x = node.in(0), values = constant(node.layers, {static_cast<int64_t>(categories.size())}, categories);
  node.setResult(equal(x.cast(node.layers.builder().getI64Type()).unsqueeze(x.rank()), values).cast(f32Of(node)));
}

/// Keys or values of a LabelEncoder: an attribute of integers, of floats or a tensor; a null tensor without any.
Tensor labels(NodeContext &node, const std::string &what) {
  LayerBuilder &layers = node.layers;
  std::string strings = what + "_strings", ints = what + "_int64s", floats = what + "_floats",
              tensor = what + "_tensor";
  if (!node.stringsAttribute(strings.c_str()).empty()) {
    node.unsupported(absl::StrCat(what, " that are strings are not supported"));
    return {};
  }
  if (node.hasAttribute(ints.c_str()))
    return layers.integers(node.intsAttribute(ints.c_str()));
  if (node.hasAttribute(floats.c_str())) {
    std::vector<double> values = node.floatsAttribute(floats.c_str());
    return constant(layers, {static_cast<int64_t>(values.size())}, values, f32Of(node));
  }
  return node.hasAttribute(tensor.c_str()) ? node.tensorAttribute(tensor.c_str()) : Tensor();
}

void labelEncoder(NodeContext &node) {
  Expression x = node.in(0);
  Expression keys{node.layers, labels(node, "keys")}, values{node.layers, labels(node, "values")};
  node.ignoreAttributes({"default_string"});
  Expression otherwise{node.layers, {}};
  double defaultFloat = node.floatAttribute("default_float", -0.0);
  int64_t defaultInt = node.intAttribute("default_int64", -1);
  if (node.hasAttribute("default_tensor"))
    otherwise = {node.layers, node.tensorAttribute("default_tensor")};
  if (node.failed())
    return;
  if (!keys || !values || keys.rank() != 1 || keys.shape() != values.shape())
    return node.fail("needs as many values as keys, both numbers");
  if (keys.elementType() != x.elementType())
    return node.fail("keys and input must have one element type");
  if (!otherwise)
    otherwise = values.isFloat() ? Expression(node.layers, node.layers.scalar(values.elementType(), defaultFloat))
                                 : constant(node.layers, {}, {defaultInt}).cast(values.elementType());
  if (otherwise.size() != 1 || otherwise.elementType() != values.elementType())
    return node.fail("attribute 'default_tensor' must hold one element of the values' type");
  otherwise = otherwise.reshape({});
  const int64_t count = keys.size();
  if (count == 0)
    return node.setResult(otherwise.broadcast(x.shape()));
  // The last of equal keys counts.
  mlir::Type i32 = node.layers.builder().getI32Type();
  Expression wide = x.unsqueeze(x.rank());
  Expression isKey = equal(wide, keys);
  if (x.isFloat())
    isKey = isKey | (isNan(wide) & isNan(keys));
  Expression place = maxOver(select(isKey, countingUp(node.layers, count, i32), -1.0), {x.rank()}, /*keepdims=*/false);
  node.setResult(select(less(place, 0), otherwise, gather(values, maximum(place, 0), 0)));
}

} // namespace

static const Operator table[] = {
    {"ArrayFeatureExtractor", 1, newestMlOpset, 2, 2, arrayFeatureExtractor, mlDomain},
    {"Binarizer", 1, newestMlOpset, 1, 1, binarizer, mlDomain},
    {"FeatureVectorizer", 1, newestMlOpset, 1, anyInputs, featureVectorizer, mlDomain},
    {"Imputer", 1, newestMlOpset, 1, 1, imputer, mlDomain},
    {"LabelEncoder", 2, newestMlOpset, 1, 1, labelEncoder, mlDomain, "keys and values are numbers"},
    {"Normalizer", 1, newestMlOpset, 1, 1, normalizer, mlDomain},
    {"OneHotEncoder", 1, newestMlOpset, 1, 1, oneHotEncoder, mlDomain, "categories are integers; zeros is 1"},
    {"Scaler", 1, newestMlOpset, 1, 1, scaler, mlDomain},
};
llvm::ArrayRef<Operator> featureOperators() { return table; }

} // namespace wsc::import
