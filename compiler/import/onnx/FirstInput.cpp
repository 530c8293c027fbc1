// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of types by operator; see FirstInput.h. What nn itself refuses needs no entry.
#include "compiler/import/onnx/FirstInput.h"
#include "absl/strings/str_cat.h"
#include "dialects/nn/Storage.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <string_view>

namespace wsc::import {
namespace {

enum class Class { Floats, Numbers, Bytes, Quantisable, Quantised };

const std::map<std::string_view, Class> &classes() {
  static const std::map<std::string_view, Class> all = [] {
    std::map<std::string_view, Class> result;
    auto add = [&](Class which, std::initializer_list<std::string_view> names) {
      for (std::string_view name : names)
        result.emplace(name, which);
    };
    add(Class::Floats, {"DFT", "Det", "GroupNormalization", "HardSigmoid", "HardSwish", "IsInf", "IsNaN",
                        "LayerNormalization", "LeakyRelu", "LinearAttention", "RMSNormalization", "STFT", "Softsign",
                        "ThresholdedRelu", "FusedConv", "FusedGemm", "FusedMatMul", "ConvTranspose", "MaxRoiPool"});
    add(Class::Numbers,
        {"FeatureVectorizer", "Imputer", "LinearClassifier", "LinearRegressor", "Normalizer", "OneHotEncoder",
         "SVMClassifier", "SVMRegressor", "Scaler", "TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor"});
    add(Class::Bytes, {"ConvInteger", "MatMulInteger", "MatMulIntegerToFloat", "QGemm", "QLinearAdd",
                       "QLinearAveragePool", "QLinearConv", "QLinearGlobalAveragePool", "QLinearLeakyRelu",
                       "QLinearMatMul", "QLinearMul", "QLinearSigmoid", "QLinearSoftmax"});
    add(Class::Quantisable, {"QuantizeLinear"});
    add(Class::Quantised, {"DequantizeLinear"});
    return result;
  }();
  return all;
}

const char *nameOf(Class which) {
  switch (which) {
  case Class::Floats:
    return "floats";
  case Class::Numbers:
    return "floats and integers";
  case Class::Bytes:
    return "integers of 8 bits";
  case Class::Quantisable:
    return "floats and i32";
  case Class::Quantised:
    return "integers of up to 32 bits and float8";
  }
  return "";
}

bool isIn(Class which, mlir::Type element) {
  const bool isStorage = nn::isStorage(element), isFloat = mlir::isa<mlir::FloatType>(element) && !isStorage;
  const unsigned bits = element.getIntOrFloatBitWidth();
  switch (which) {
  case Class::Floats:
    return isFloat;
  case Class::Numbers:
    return !isStorage && bits > 1;
  case Class::Bytes:
    return mlir::isa<mlir::IntegerType>(element) && bits == 8;
  case Class::Quantisable:
    return isFloat || element.isInteger(32);
  case Class::Quantised:
    return isStorage || (mlir::isa<mlir::IntegerType>(element) && bits > 1 && bits <= 32);
  }
  return true;
}

} // namespace

absl::Status checkFirstInput(const Operator &op, const Tensor &input) {
  auto found = classes().find(op.name);
  if (found == classes().end() || !input || isIn(found->second, input.elementType()))
    return absl::OkStatus();
  std::string type;
  llvm::raw_string_ostream(type) << input.elementType();
  return absl::InvalidArgumentError(
      absl::StrCat("input 0 has elements of type ", type, "; ", nameOf(found->second), " are taken"));
}

} // namespace wsc::import
