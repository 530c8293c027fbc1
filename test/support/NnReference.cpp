// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference execution of nn; see NnReference.h.
#include "test/support/NnReference.h"
#include "compiler/import/common/FileStore.h"
#include "compiler/import/common/Fold.h"
#include "dialects/nn/Shape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/support/NnReferenceScalar.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace wsc::nn;
using wsc::import::broadcastPosition;
using wsc::import::copyElement;
using wsc::import::forEachIndex;
using wsc::import::Literal;

namespace wsc::test {
namespace {

Literal fromArray(RankedTensorType type, const Array &array) {
  Literal literal;
  literal.type = type;
  if (literal.isFloat())
    literal.floats = array.values;
  else if (array.ints.size() == array.values.size())
    literal.ints = array.ints;
  else
    literal.ints.assign(array.values.begin(), array.values.end());
  return literal;
}

Array toArray(const Literal &literal) {
  Array array{{literal.type.getShape().begin(), literal.type.getShape().end()}, literal.floats, literal.ints};
  if (!literal.isFloat())
    for (int64_t value : literal.ints)
      array.values.push_back(literal.type.getElementType().isUnsignedInteger()
                                 ? static_cast<double>(static_cast<uint64_t>(value))
                                 : static_cast<double>(value));
  return array;
}

ArrayRef<int64_t> shapeOf(const Literal &literal) { return literal.type.getShape(); }

/// Wraps integers and rounds floats to the element type.
void round(Literal &literal) {
  if (!literal.type.getElementType().isF32())
    return literal.normalize();
  for (double &value : literal.floats)
    value = static_cast<float>(value);
}

/// Row-major position of a multi-index.
int64_t position(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  int64_t flat = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    flat = flat * shape[d] + index[d];
  return flat;
}

class Executor {
public:
  Executor(std::string &error, std::map<std::string, Array> *states)
      : error_(error), states_(states ? states : &own_) {}

  std::optional<std::vector<Array>> run(ModuleOp module, const std::vector<Array> &arguments) {
    auto function = module.lookupSymbol<func::FuncOp>("main");
    for (auto [i, argument] : llvm::enumerate(function.getArguments()))
      values_[argument] = fromArray(cast<RankedTensorType>(argument.getType()), arguments[i]);
    for (Operation &op : function.front()) {
      if (auto end = dyn_cast<func::ReturnOp>(op)) {
        std::vector<Array> results;
        for (Value value : end.getOperands())
          results.push_back(toArray(values_[value]));
        return results;
      }
      if (auto write = dyn_cast<WriteOp>(op)) {
        writeState(write);
        continue;
      }
      Literal result = Literal::zeros(cast<RankedTensorType>(op.getResult(0).getType()));
      bool known = llvm::TypeSwitch<Operation *, bool>(&op)
                       .Case<ConstantOp, ReadOp, UnaryOp, BinaryOp, SelectOp, CastOp, BitcastOp, ConvOp, PoolOp,
                             MatmulOp, ReduceOp, SoftmaxOp, BatchNormOp, ReshapeOp, TransposeOp, SliceOp, PadOp,
                             ConcatOp, BroadcastToOp, GatherOp, GatherElementsOp>([&](auto typed) {
                         execute(typed, result);
                         return true;
                       })
                       .Default([](Operation *) { return false; });
      if (!known)
        error_ = "no reference for " + op.getName().getStringRef().str();
      if (!error_.empty())
        return std::nullopt;
      round(result);
      values_[op.getResult(0)] = std::move(result);
    }
    return std::nullopt;
  }

private:
  const Literal &of(Value value) { return values_[value]; }
  static int64_t pick(const Literal &x, ArrayRef<int64_t> index) { return broadcastPosition(shapeOf(x), index); }
  /// One element: of a float tensor's `floats` or an integer tensor's `ints`.
  static int64_t combine(BinaryKind kind, const Literal &like, int64_t a, int64_t b) {
    Type element = like.type.getElementType();
    return binaryInteger(kind, a, b, element.getIntOrFloatBitWidth(), element.isUnsignedInteger());
  }

  void execute(ConstantOp op, Literal &y) { readAttribute(op.getValue(), y); }
  void execute(ReadOp op, Literal &y) {
    auto variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(op, op.getVariableAttr());
    if (auto state = states_->find(op.getVariable().str()); state != states_->end())
      y = fromArray(y.type, state->second);
    else if (variable.getInitialAttr())
      readAttribute(variable.getInitialAttr(), y);
  }
  void writeState(WriteOp op) { (*states_)[op.getVariable().str()] = toArray(of(op.getValue())); }
  void readAttribute(TypedAttr attribute, Literal &y) {
    if (auto dense = dyn_cast<DenseElementsAttr>(Attribute(attribute))) {
      y = Literal::fromAttribute(dense);
      return;
    }
    auto weights = cast<WeightsAttr>(Attribute(attribute));
    auto bytes = files_.slice(weights.getFile().str(), weights.getOffset(), weights.getBytes());
    auto literal = bytes.ok() ? Literal::fromBytes(cast<RankedTensorType>(weights.getType()), *bytes) : std::nullopt;
    if (literal)
      y = *literal;
    else
      error_ = "cannot read weights of " + weights.getFile().str();
  }
  void execute(UnaryOp op, Literal &y) {
    const Literal &x = of(op.getInput());
    for (int64_t i = 0; i < y.size(); ++i)
      if (y.isFloat())
        y.floats[i] = unaryFloat(op.getKind(), x.floats[i]);
      else
        y.ints[i] = unaryInteger(op.getKind(), x.ints[i], x.type.getElementType().isUnsignedInteger());
  }
  void execute(BinaryOp op, Literal &y) {
    const Literal &a = of(op.getLhs()), &b = of(op.getRhs());
    forEachIndex(shapeOf(y), [&](int64_t i, ArrayRef<int64_t> index) {
      int64_t ia = pick(a, index), ib = pick(b, index);
      if (!a.isFloat())
        y.ints[i] = combine(op.getKind(), a, a.ints[ia], b.ints[ib]);
      else if (y.isFloat())
        y.floats[i] = binaryFloat(op.getKind(), a.floats[ia], b.floats[ib]);
      else
        y.ints[i] = binaryFloat(op.getKind(), a.floats[ia], b.floats[ib]) != 0;
    });
  }
  void execute(SelectOp op, Literal &y) {
    const Literal &condition = of(op.getCondition());
    forEachIndex(shapeOf(y), [&](int64_t i, ArrayRef<int64_t> index) {
      const Literal &from = of(condition.ints[pick(condition, index)] ? op.getTrueValue() : op.getFalseValue());
      copyElement(y, i, from, pick(from, index));
    });
  }
  void execute(CastOp op, Literal &y) {
    const Literal &x = of(op.getInput());
    Type from = x.type.getElementType(), to = y.type.getElementType();
    const bool toBool = to.isInteger(1), isUnsigned = from.isUnsignedInteger();
    for (int64_t i = 0; i < y.size(); ++i)
      if (x.isFloat() && y.isFloat())
        y.floats[i] = x.floats[i];
      else if (x.isFloat())
        y.ints[i] = toBool ? x.floats[i] != 0 : saturated(x.floats[i], to);
      else if (y.isFloat())
        y.floats[i] =
            isUnsigned ? static_cast<double>(static_cast<uint64_t>(x.ints[i])) : static_cast<double>(x.ints[i]);
      else
        y.ints[i] = toBool ? x.ints[i] != 0 : x.ints[i];
  }
  static int64_t saturated(double x, Type to) {
    if (std::isnan(x))
      return 0;
    const int width = static_cast<int>(to.getIntOrFloatBitWidth());
    if (to.isUnsignedInteger()) {
      if (x <= 0)
        return 0;
      const uint64_t top = std::numeric_limits<uint64_t>::max() >> (64 - width);
      return static_cast<int64_t>(x >= std::ldexp(1, width) ? top : static_cast<uint64_t>(x));
    }
    const int64_t top = std::numeric_limits<int64_t>::max() >> (64 - width);
    if (x >= std::ldexp(1, width - 1))
      return top;
    return x < -std::ldexp(1, width - 1) ? -top - 1 : static_cast<int64_t>(x);
  }
  void execute(BitcastOp op, Literal &y) {
    const Literal &x = of(op.getInput());
    if (!x.isFloat() && !y.isFloat()) { // rounding to the element type wraps
      y.ints = x.ints;
      return;
    }
    DenseElementsAttr dense = of(op.getInput()).toAttribute();
    ArrayRef<char> raw = dense.getRawData();
    y = Literal::fromAttribute(DenseElementsAttr::getFromRawBuffer(y.type, raw));
  }

  /// Calls visit(input position, kernel position) for the taps inside the image of the window at `at`.
  template <typename Visit>
  static void forEachTap(ArrayRef<int64_t> image, ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                         ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads, ArrayRef<int64_t> at, Visit visit) {
    forEachIndex(kernel, [&](int64_t k, ArrayRef<int64_t> tap) {
      int64_t flat = 0;
      for (size_t d = 0; d < image.size(); ++d) {
        int64_t i = at[d] * strides[d] - pads[d] + tap[d] * dilations[d];
        if (i < 0 || i >= image[d])
          return;
        flat = flat * image[d] + i;
      }
      visit(flat, k);
    });
  }
  static int64_t product(ArrayRef<int64_t> extents) { return *elementCount(extents); }
  void execute(ConvOp op, Literal &y) {
    const Literal &x = of(op.getInput()), &w = of(op.getWeight());
    const Literal *bias = op.getBias() ? &of(op.getBias()) : nullptr;
    ArrayRef<int64_t> image = shapeOf(x).drop_front(2), kernel = shapeOf(w).drop_front(2);
    int64_t perGroup = shapeOf(y)[1] / static_cast<int64_t>(op.getGroups()), depth = shapeOf(w)[1];
    ArrayRef<int64_t> outer = shapeOf(y).take_front(2), places = shapeOf(y).drop_front(2);
    std::vector<std::pair<int64_t, int64_t>> taps;
    forEachIndex(places, [&](int64_t place, ArrayRef<int64_t> spatial) {
      taps.clear();
      forEachTap(image, kernel, op.getStrides(), op.getDilations(), op.getPads(), spatial,
                 [&](int64_t p, int64_t k) { taps.push_back({p, k}); });
      forEachIndex(outer, [&](int64_t o, ArrayRef<int64_t> at) {
        double sum = bias && y.isFloat() ? bias->floats[at[1]] : 0.0;
        uint64_t total = bias && !y.isFloat() ? static_cast<uint64_t>(bias->ints[at[1]]) : 0;
        for (int64_t c = 0; c < depth; ++c) {
          int64_t from = (at[0] * shapeOf(x)[1] + at[1] / perGroup * depth + c) * product(image);
          int64_t weight = (at[1] * depth + c) * product(kernel);
          for (auto [p, k] : taps)
            if (y.isFloat())
              sum += x.floats[from + p] * w.floats[weight + k];
            else
              total += static_cast<uint64_t>(x.ints[from + p]) * static_cast<uint64_t>(w.ints[weight + k]);
        }
        if (y.isFloat())
          y.floats[o * product(places) + place] = sum;
        else
          y.ints[o * product(places) + place] = static_cast<int64_t>(total);
      });
    });
  }
  void execute(PoolOp op, Literal &y) {
    const Literal &x = of(op.getInput());
    ArrayRef<int64_t> image = shapeOf(x).drop_front(2), kernel = op.getKernel();
    const BinaryKind step = op.getKind() == PoolKind::Max ? BinaryKind::Max : BinaryKind::Add;
    forEachIndex(shapeOf(y), [&](int64_t o, ArrayRef<int64_t> at) {
      int64_t count = 0, from = (at[0] * shapeOf(x)[1] + at[1]) * product(image);
      forEachTap(image, kernel, op.getStrides(), op.getDilations(), op.getPads(), at.drop_front(2),
                 [&](int64_t p, int64_t) { accumulate(step, y, o, x, from + p, count++ == 0); });
      if (op.getKind() == PoolKind::Avg)
        y.floats[o] /= static_cast<double>(op.getCountIncludePad() ? product(kernel) : count);
    });
  }
  /// y[o] = x[i], or y[o] step x[i].
  static void accumulate(BinaryKind step, Literal &y, int64_t o, const Literal &x, int64_t i, bool first) {
    if (first)
      copyElement(y, o, x, i);
    else if (y.isFloat())
      y.floats[o] = binaryFloat(step, y.floats[o], x.floats[i]);
    else
      y.ints[o] = combine(step, x, y.ints[o], x.ints[i]);
  }
  void execute(MatmulOp op, Literal &y) {
    const Literal &a = of(op.getLhs()), &b = of(op.getRhs());
    const Literal *bias = op.getBias() ? &of(op.getBias()) : nullptr;
    forEachIndex(shapeOf(y), [&](int64_t o, ArrayRef<int64_t> at) {
      SmallVector<int64_t> ia(at), ib(at);
      size_t last = at.size() - 1;
      double sum = bias && y.isFloat() ? bias->floats[at[last]] : 0.0;
      uint64_t total = bias && !y.isFloat() ? static_cast<uint64_t>(bias->ints[at[last]]) : 0;
      for (int64_t k = 0; k < shapeOf(a).back(); ++k) {
        ia[last] = k;
        ib[last - 1] = op.getTransposeRhs() ? at[last] : k;
        ib[last] = op.getTransposeRhs() ? k : at[last];
        if (y.isFloat())
          sum += a.floats[pick(a, ia)] * b.floats[pick(b, ib)];
        else
          total += static_cast<uint64_t>(a.ints[pick(a, ia)]) * static_cast<uint64_t>(b.ints[pick(b, ib)]);
      }
      if (y.isFloat())
        y.floats[o] = sum;
      else
        y.ints[o] = static_cast<int64_t>(total);
    });
  }
  void execute(ReduceOp op, Literal &y) {
    const Literal &x = of(op.getInput());
    ReduceKind kind = op.getKind();
    BinaryKind step = kind == ReduceKind::Prod  ? BinaryKind::Mul
                      : kind == ReduceKind::Min ? BinaryKind::Min
                      : kind == ReduceKind::Max ? BinaryKind::Max
                                                : BinaryKind::Add;
    if (kind == ReduceKind::Prod) { // of no elements
      std::fill(y.floats.begin(), y.floats.end(), 1.0);
      std::fill(y.ints.begin(), y.ints.end(), 1);
    }
    std::vector<bool> started(y.size(), false);
    forEachIndex(shapeOf(x), [&](int64_t i, ArrayRef<int64_t> index) {
      int64_t to = 0;
      for (size_t d = 0; d < index.size(); ++d)
        if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(d)))
          to = to * shapeOf(x)[d] + index[d];
      accumulate(step, y, to, x, i, !started[to]);
      started[to] = true;
    });
    if (kind == ReduceKind::Mean)
      for (double &value : y.floats)
        value /= static_cast<double>(x.size()) / static_cast<double>(y.size());
  }
  void execute(SoftmaxOp op, Literal &y) {
    const Literal &x = of(op.getInput());
    int64_t axis = op.getAxis(), inner = product(shapeOf(x).drop_front(axis + 1)), extent = shapeOf(x)[axis];
    for (int64_t start = 0; start < x.size(); ++start) {
      if (start / inner % extent != 0)
        continue;
      double max = -INFINITY, sum = 0;
      for (int64_t k = 0; k < extent; ++k)
        max = std::max(max, x.floats[start + k * inner]);
      for (int64_t k = 0; k < extent; ++k)
        sum += std::exp(x.floats[start + k * inner] - max);
      for (int64_t k = 0; k < extent; ++k) {
        double v = x.floats[start + k * inner] - max;
        y.floats[start + k * inner] = op.getLog() ? v - std::log(sum) : std::exp(v) / sum;
      }
    }
  }
  void execute(BatchNormOp op, Literal &y) {
    forEachIndex(shapeOf(y), [&](int64_t i, ArrayRef<int64_t> at) {
      auto parameter = [&](Value value) { return of(value).floats[at[1]]; };
      double scale =
          parameter(op.getScale()) / std::sqrt(parameter(op.getVariance()) + op.getEpsilon().convertToDouble());
      y.floats[i] = (of(op.getInput()).floats[i] - parameter(op.getMean())) * scale + parameter(op.getBias());
    });
  }
  void execute(ReshapeOp op, Literal &y) {
    y.floats = of(op.getInput()).floats;
    y.ints = of(op.getInput()).ints;
  }
  /// y[index] = x[from(index)]
  template <typename From> void gatherFrom(Value input, Literal &y, From from) {
    const Literal &x = of(input);
    SmallVector<int64_t> source(shapeOf(x).size());
    forEachIndex(shapeOf(y), [&](int64_t i, ArrayRef<int64_t> index) {
      from(index, source);
      copyElement(y, i, x, position(shapeOf(x), source));
    });
  }
  void execute(TransposeOp op, Literal &y) {
    gatherFrom(op.getInput(), y, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
      for (size_t d = 0; d < index.size(); ++d)
        source[op.getPermutation()[d]] = index[d];
    });
  }
  void execute(SliceOp op, Literal &y) {
    gatherFrom(op.getInput(), y, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
      for (size_t d = 0; d < index.size(); ++d)
        source[d] = op.getStarts()[d] + index[d] * op.getSteps()[d];
    });
  }
  void execute(PadOp op, Literal &y) {
    auto type = RankedTensorType::get({}, y.type.getElementType());
    Literal value = Literal::fromAttribute(DenseElementsAttr::get(type, ArrayRef<Attribute>{Attribute(op.getValue())}));
    const Literal &x = of(op.getInput());
    for (int64_t i = 0; i < y.size(); ++i)
      copyElement(y, i, value, 0);
    forEachIndex(shapeOf(x), [&](int64_t i, ArrayRef<int64_t> index) {
      SmallVector<int64_t> to(index);
      for (size_t d = 0; d < to.size(); ++d)
        to[d] += op.getLow()[d];
      copyElement(y, position(shapeOf(y), to), x, i);
    });
  }
  void execute(ConcatOp op, Literal &y) {
    int64_t begin = 0, axis = op.getAxis();
    for (Value part : op.getInputs()) {
      const Literal &x = of(part);
      forEachIndex(shapeOf(x), [&](int64_t i, ArrayRef<int64_t> index) {
        SmallVector<int64_t> to(index);
        to[axis] += begin;
        copyElement(y, position(shapeOf(y), to), x, i);
      });
      begin += shapeOf(x)[axis];
    }
  }
  void execute(BroadcastToOp op, Literal &y) {
    const Literal &x = of(op.getInput());
    forEachIndex(shapeOf(y), [&](int64_t i, ArrayRef<int64_t> index) { copyElement(y, i, x, pick(x, index)); });
  }
  /// Whether all indices are below the extent.
  bool areInside(const Literal &indices, int64_t extent) {
    for (int64_t index : indices.ints)
      if (index < 0 || index >= extent)
        error_ = "a gather reads index " + std::to_string(index) + " of " + std::to_string(extent);
    return error_.empty();
  }
  void execute(GatherElementsOp op, Literal &y) {
    const Literal &indices = of(op.getIndices());
    const auto axis = static_cast<size_t>(op.getAxis());
    if (areInside(indices, shapeOf(of(op.getInput()))[axis]))
      gatherFrom(op.getInput(), y, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
        llvm::copy(index, source.begin());
        source[axis] = indices.ints[position(shapeOf(indices), index)];
      });
  }
  void execute(GatherOp op, Literal &y) {
    const Literal &indices = of(op.getIndices());
    size_t axis = static_cast<size_t>(op.getAxis()), rank = shapeOf(indices).size();
    if (!areInside(indices, shapeOf(of(op.getInput()))[axis]))
      return;
    gatherFrom(op.getInput(), y, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
      for (size_t d = 0; d < source.size(); ++d)
        source[d] = d < axis    ? index[d]
                    : d == axis ? indices.ints[position(shapeOf(indices), index.slice(axis, rank))]
                                : index[d + rank - 1];
    });
  }

  std::string &error_;
  std::map<std::string, Array> own_, *states_;
  import::FileStore files_;
  llvm::DenseMap<Value, Literal> values_;
};

} // namespace

Array decode(RankedTensorType type, const std::string &bytes) {
  auto literal = Literal::fromBytes(type, bytes);
  return literal ? toArray(*literal) : Array{{type.getShape().begin(), type.getShape().end()}, {}};
}

Array decode(DenseElementsAttr elements) { return toArray(Literal::fromAttribute(elements)); }

std::optional<std::vector<Array>> runReference(ModuleOp module, const std::vector<Array> &arguments, std::string &error,
                                               std::map<std::string, Array> *states) {
  return Executor(error, states).run(module, arguments);
}

} // namespace wsc::test
