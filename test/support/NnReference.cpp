// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference execution of nn; see NnReference.h.
#include "test/support/NnReference.h"
#include "compiler/import/common/FileStore.h"
#include "compiler/import/common/Fold.h"
#include "dialects/nn/Shape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace wsc::nn;
using wsc::import::broadcastPosition;
using wsc::import::forEachIndex;

namespace wsc::test {
namespace {

double unary(UnaryKind kind, double x) {
  switch (kind) {
  case UnaryKind::Relu:
    return x < 0 ? 0 : x;
  case UnaryKind::Neg:
    return -x;
  case UnaryKind::Abs:
    return std::fabs(x);
  case UnaryKind::Exp:
    return std::exp(x);
  case UnaryKind::Log:
    return std::log(x);
  case UnaryKind::Sqrt:
    return std::sqrt(x);
  case UnaryKind::Rsqrt:
    return 1 / std::sqrt(x);
  case UnaryKind::Reciprocal:
    return 1 / x;
  case UnaryKind::Tanh:
    return std::tanh(x);
  case UnaryKind::Erf:
    return std::erf(x);
  case UnaryKind::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case UnaryKind::Floor:
    return std::floor(x);
  case UnaryKind::Ceil:
    return std::ceil(x);
  case UnaryKind::Round:
    return std::nearbyint(x);
  case UnaryKind::Sign:
    return x > 0 ? 1 : x < 0 ? -1 : x;
  case UnaryKind::Sin:
    return std::sin(x);
  case UnaryKind::Cos:
    return std::cos(x);
  case UnaryKind::Not:
    return x == 0;
  }
  return NAN;
}

double binary(BinaryKind kind, double a, double b, bool isInteger) {
  auto ia = static_cast<int64_t>(a), ib = static_cast<int64_t>(b);
  switch (kind) {
  case BinaryKind::Add:
    return a + b;
  case BinaryKind::Sub:
    return a - b;
  case BinaryKind::Mul:
    return a * b;
  case BinaryKind::Div:
    return isInteger ? std::trunc(a / b) : a / b;
  case BinaryKind::Min:
    return std::isnan(a) || a < b ? a : b;
  case BinaryKind::Max:
    return std::isnan(a) || a > b ? a : b;
  case BinaryKind::Pow:
    return std::pow(a, b);
  case BinaryKind::Mod:
    return a - std::floor(a / b) * b;
  case BinaryKind::Rem:
    return std::fmod(a, b);
  case BinaryKind::Equal:
    return a == b;
  case BinaryKind::Less:
    return a < b;
  case BinaryKind::LessEqual:
    return a <= b;
  case BinaryKind::And:
    return static_cast<double>(ia & ib);
  case BinaryKind::Or:
    return static_cast<double>(ia | ib);
  case BinaryKind::Xor:
    return static_cast<double>(ia ^ ib);
  }
  return NAN;
}

Array shaped(Value value) {
  Array array;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  array.shape.assign(shape.begin(), shape.end());
  array.values.resize(array.size());
  return array;
}

class Executor {
public:
  explicit Executor(std::string &error) : error_(error) {}

  std::optional<std::vector<Array>> run(ModuleOp module, const std::vector<Array> &arguments) {
    auto function = module.lookupSymbol<func::FuncOp>("main");
    for (auto [i, argument] : llvm::enumerate(function.getArguments()))
      values_[argument] = arguments[i];
    for (Operation &op : function.front()) {
      if (auto end = dyn_cast<func::ReturnOp>(op)) {
        std::vector<Array> results;
        for (Value value : end.getOperands())
          results.push_back(values_[value]);
        return results;
      }
      Array result = shaped(op.getResult(0));
      bool known =
          llvm::TypeSwitch<Operation *, bool>(&op)
              .Case<ConstantOp, UnaryOp, BinaryOp, SelectOp, CastOp, ConvOp, PoolOp, MatmulOp, ReduceOp, SoftmaxOp,
                    BatchNormOp, ReshapeOp, TransposeOp, SliceOp, PadOp, ConcatOp, BroadcastToOp, GatherOp>(
                  [&](auto typed) {
                    execute(typed, result);
                    return true;
                  })
              .Default([](Operation *) { return false; });
      if (!known)
        error_ = "no reference for " + op.getName().getStringRef().str();
      if (!error_.empty())
        return std::nullopt;
      values_[op.getResult(0)] = std::move(result);
    }
    return std::nullopt;
  }

private:
  const Array &of(Value value) { return values_[value]; }
  static double pick(const Array &x, ArrayRef<int64_t> index) { return x.values[broadcastPosition(x.shape, index)]; }

  void execute(ConstantOp op, Array &y) {
    if (auto dense = op.getDense()) {
      auto literal = import::Literal::fromAttribute(dense);
      for (int64_t i = 0; i < y.size(); ++i)
        y.values[i] = literal.isFloat() ? literal.floats[i] : static_cast<double>(literal.ints[i]);
      return;
    }
    WeightsAttr weights = op.getWeights();
    auto bytes = files_.slice(weights.getFile().str(), weights.getOffset(), weights.getBytes());
    if (bytes.ok())
      y = decode(cast<RankedTensorType>(weights.getType()), std::string(*bytes));
    else
      error_ = bytes.status().ToString();
  }
  void execute(UnaryOp op, Array &y) {
    for (int64_t i = 0; i < y.size(); ++i)
      y.values[i] = unary(op.getKind(), of(op.getInput()).values[i]);
  }
  void execute(BinaryOp op, Array &y) {
    bool isInteger = isa<IntegerType>(op.getLhs().getType().getElementType());
    forEachIndex(y.shape, [&](int64_t i, ArrayRef<int64_t> index) {
      y.values[i] = binary(op.getKind(), pick(of(op.getLhs()), index), pick(of(op.getRhs()), index), isInteger);
    });
  }
  void execute(SelectOp op, Array &y) {
    forEachIndex(y.shape, [&](int64_t i, ArrayRef<int64_t> index) {
      bool first = pick(of(op.getCondition()), index) != 0;
      y.values[i] = pick(of(first ? op.getTrueValue() : op.getFalseValue()), index);
    });
  }
  void execute(CastOp op, Array &y) {
    Type to = op.getResult().getType().getElementType();
    for (int64_t i = 0; i < y.size(); ++i) {
      double x = of(op.getInput()).values[i];
      y.values[i] = to.isInteger(1)        ? x != 0
                    : isa<IntegerType>(to) ? std::trunc(x)
                    : to.isF32()           ? static_cast<float>(x)
                                           : x;
    }
  }
  /// Calls visit(input position, kernel position) for the taps of a window inside the image.
  template <typename Visit>
  static void forEachTap(ArrayRef<int64_t> image, ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                         ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads, int64_t row, int64_t column,
                         Visit visit) {
    for (int64_t i = 0; i < kernel[0]; ++i)
      for (int64_t j = 0; j < kernel[1]; ++j) {
        int64_t r = row * strides[0] - pads[0] + i * dilations[0], c = column * strides[1] - pads[1] + j * dilations[1];
        if (r >= 0 && r < image[0] && c >= 0 && c < image[1])
          visit(r * image[1] + c, i * kernel[1] + j);
      }
  }
  void execute(ConvOp op, Array &y) {
    const Array &x = of(op.getInput()), &w = of(op.getWeight());
    ArrayRef<int64_t> image = ArrayRef(x.shape).drop_front(2), kernel = ArrayRef(w.shape).drop_front(2);
    int64_t perGroup = y.shape[1] / op.getGroups(), depth = w.shape[1];
    forEachIndex(y.shape, [&](int64_t o, ArrayRef<int64_t> at) {
      double sum = op.getBias() ? of(op.getBias()).values[at[1]] : 0.0;
      for (int64_t c = 0; c < depth; ++c) {
        int64_t from = (at[0] * x.shape[1] + at[1] / perGroup * depth + c) * image[0] * image[1];
        int64_t weight = (at[1] * depth + c) * kernel[0] * kernel[1];
        forEachTap(image, kernel, op.getStrides(), op.getDilations(), op.getPads(), at[2], at[3],
                   [&](int64_t p, int64_t k) { sum += x.values[from + p] * w.values[weight + k]; });
      }
      y.values[o] = sum;
    });
  }
  void execute(PoolOp op, Array &y) {
    const Array &x = of(op.getInput());
    ArrayRef<int64_t> image = ArrayRef(x.shape).drop_front(2), kernel = op.getKernel();
    bool isMax = op.getKind() == PoolKind::Max;
    forEachIndex(y.shape, [&](int64_t o, ArrayRef<int64_t> at) {
      double result = isMax ? -INFINITY : 0.0, count = 0;
      int64_t from = (at[0] * x.shape[1] + at[1]) * image[0] * image[1];
      forEachTap(image, kernel, op.getStrides(), op.getDilations(), op.getPads(), at[2], at[3],
                 [&](int64_t p, int64_t) {
                   result = isMax ? std::max(result, x.values[from + p]) : result + x.values[from + p];
                   ++count;
                 });
      if (op.getCountIncludePad())
        count = static_cast<double>(kernel[0] * kernel[1]);
      y.values[o] = isMax ? result : result / count;
    });
  }
  void execute(MatmulOp op, Array &y) {
    const Array &a = of(op.getLhs()), &b = of(op.getRhs());
    forEachIndex(y.shape, [&](int64_t o, ArrayRef<int64_t> at) {
      SmallVector<int64_t> ia(at), ib(at);
      size_t last = at.size() - 1;
      double sum = op.getBias() ? of(op.getBias()).values[at[last]] : 0.0;
      for (int64_t k = 0; k < a.shape.back(); ++k) {
        ia[last] = k;
        ib[last - 1] = op.getTransposeRhs() ? at[last] : k;
        ib[last] = op.getTransposeRhs() ? k : at[last];
        sum += pick(a, ia) * pick(b, ib);
      }
      y.values[o] = sum;
    });
  }
  void execute(ReduceOp op, Array &y) {
    const Array &x = of(op.getInput());
    ReduceKind kind = op.getKind();
    double first = kind == ReduceKind::Prod  ? 1
                   : kind == ReduceKind::Min ? INFINITY
                   : kind == ReduceKind::Max ? -INFINITY
                                             : 0;
    std::fill(y.values.begin(), y.values.end(), first);
    forEachIndex(x.shape, [&](int64_t i, ArrayRef<int64_t> index) {
      int64_t position = 0;
      for (size_t d = 0; d < index.size(); ++d)
        if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(d)))
          position = position * x.shape[d] + index[d];
      double &to = y.values[position], v = x.values[i];
      to = kind == ReduceKind::Prod  ? to * v
           : kind == ReduceKind::Min ? std::min(to, v)
           : kind == ReduceKind::Max ? std::max(to, v)
                                     : to + v;
    });
    if (kind == ReduceKind::Mean)
      for (double &value : y.values)
        value /= static_cast<double>(x.size()) / static_cast<double>(y.size());
  }
  void execute(SoftmaxOp op, Array &y) {
    const Array &x = of(op.getInput());
    int64_t axis = op.getAxis(), inner = 1, extent = x.shape[axis];
    for (size_t d = axis + 1; d < x.shape.size(); ++d)
      inner *= x.shape[d];
    for (int64_t start = 0; start < x.size(); ++start) {
      if (start / inner % extent != 0)
        continue;
      double max = -INFINITY, sum = 0;
      for (int64_t k = 0; k < extent; ++k)
        max = std::max(max, x.values[start + k * inner]);
      for (int64_t k = 0; k < extent; ++k)
        sum += std::exp(x.values[start + k * inner] - max);
      for (int64_t k = 0; k < extent; ++k) {
        double v = x.values[start + k * inner] - max;
        y.values[start + k * inner] = op.getLog() ? v - std::log(sum) : std::exp(v) / sum;
      }
    }
  }
  void execute(BatchNormOp op, Array &y) {
    forEachIndex(y.shape, [&](int64_t i, ArrayRef<int64_t> at) {
      auto parameter = [&](Value value) { return of(value).values[at[1]]; };
      double scale =
          parameter(op.getScale()) / std::sqrt(parameter(op.getVariance()) + op.getEpsilon().convertToDouble());
      y.values[i] = (of(op.getInput()).values[i] - parameter(op.getMean())) * scale + parameter(op.getBias());
    });
  }
  void execute(ReshapeOp op, Array &y) { y.values = of(op.getInput()).values; }
  /// y[index] = x[from(index)]
  template <typename From> void gatherFrom(Value input, Array &y, From from) {
    const Array &x = of(input);
    SmallVector<int64_t> source(x.shape.size());
    forEachIndex(y.shape, [&](int64_t i, ArrayRef<int64_t> index) {
      from(index, source);
      y.values[i] = pick(x, source);
    });
  }
  void execute(TransposeOp op, Array &y) {
    gatherFrom(op.getInput(), y, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
      for (size_t d = 0; d < index.size(); ++d)
        source[op.getPermutation()[d]] = index[d];
    });
  }
  void execute(SliceOp op, Array &y) {
    gatherFrom(op.getInput(), y, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
      for (size_t d = 0; d < index.size(); ++d)
        source[d] = op.getStarts()[d] + index[d] * op.getSteps()[d];
    });
  }
  void execute(PadOp op, Array &y) {
    double value = isa<FloatAttr>(Attribute(op.getValue()))
                       ? cast<FloatAttr>(Attribute(op.getValue())).getValueAsDouble()
                   : op.getValue().getType().isInteger(1)
                       ? static_cast<double>(cast<IntegerAttr>(Attribute(op.getValue())).getValue().getZExtValue())
                       : static_cast<double>(cast<IntegerAttr>(Attribute(op.getValue())).getValue().getSExtValue());
    std::fill(y.values.begin(), y.values.end(), value);
    forEachIndex(of(op.getInput()).shape, [&](int64_t i, ArrayRef<int64_t> index) {
      int64_t position = 0;
      for (size_t d = 0; d < index.size(); ++d)
        position = position * y.shape[d] + index[d] + op.getLow()[d];
      y.values[position] = of(op.getInput()).values[i];
    });
  }
  void execute(ConcatOp op, Array &y) {
    int64_t begin = 0, axis = op.getAxis();
    for (Value part : op.getInputs()) {
      forEachIndex(of(part).shape, [&](int64_t i, ArrayRef<int64_t> index) {
        int64_t position = 0;
        for (size_t d = 0; d < index.size(); ++d)
          position = position * y.shape[d] + index[d] + (static_cast<int64_t>(d) == axis ? begin : 0);
        y.values[position] = of(part).values[i];
      });
      begin += of(part).shape[axis];
    }
  }
  void execute(BroadcastToOp op, Array &y) {
    forEachIndex(y.shape, [&](int64_t i, ArrayRef<int64_t> index) { y.values[i] = pick(of(op.getInput()), index); });
  }
  void execute(GatherOp op, Array &y) {
    const Array &indices = of(op.getIndices());
    size_t axis = static_cast<size_t>(op.getAxis()), rank = indices.shape.size();
    gatherFrom(op.getInput(), y, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
      for (size_t d = 0; d < source.size(); ++d)
        source[d] = d < axis    ? index[d]
                    : d == axis ? static_cast<int64_t>(pick(indices, index.slice(axis, rank)))
                                : index[d + rank - 1];
    });
  }

  std::string &error_;
  import::FileStore files_;
  llvm::DenseMap<Value, Array> values_;
};

} // namespace

Array decode(RankedTensorType type, const std::string &bytes) {
  Array array{{type.getShape().begin(), type.getShape().end()}, {}};
  auto literal = import::Literal::fromBytes(type, bytes);
  if (literal && literal->isFloat())
    array.values = literal->floats;
  else if (literal)
    array.values.assign(literal->ints.begin(), literal->ints.end());
  return array;
}

std::optional<std::vector<Array>> runReference(ModuleOp module, const std::vector<Array> &arguments,
                                               std::string &error) {
  return Executor(error).run(module, arguments);
}

} // namespace wsc::test
