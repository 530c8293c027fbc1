// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/lowering/RandomLayers.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <numeric>

namespace wsc::test {

namespace {

using Shape = std::vector<int64_t>;
using Random = std::mt19937_64;

int64_t number(Random &random, int64_t from, int64_t to) { return from + int64_t(random() % uint64_t(to - from + 1)); }
template <typename T> const T &oneOf(Random &random, const std::vector<T> &list) {
  return list[random() % list.size()];
}

const std::vector<std::string> kFloats{"f32", "f16", "bf16", "f64"};
const std::vector<std::string> kNumbers{"f32", "f16", "bf16", "f64", "i32", "i64", "i8", "ui8"};

Shape shapeOf(Random &random, int64_t leastRank, int64_t mostRank, int64_t mostExtent = 4) {
  Shape shape;
  for (int64_t rank = number(random, leastRank, mostRank); rank > 0; --rank)
    shape.push_back(number(random, 1, mostExtent));
  return shape;
}

/// The shape with some extents 1 and leading ones left out.
Shape broadcastable(Random &random, const Shape &shape) {
  Shape result = shape;
  for (int64_t &extent : result)
    if (random() % 3 == 0)
      extent = 1;
  result.erase(result.begin(), result.begin() + number(random, 0, int64_t(result.size())));
  return result;
}

Shape broadcast(Shape a, Shape b) {
  if (a.size() < b.size())
    std::swap(a, b);
  for (size_t i = 0; i < b.size(); ++i)
    a[a.size() - b.size() + i] = std::max(a[a.size() - b.size() + i], b[i]);
  return a;
}

std::string tensor(const Shape &shape, const std::string &type) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    absl::StrAppend(&text, extent, "x");
  return text + type + ">";
}
std::string list(const Shape &numbers) { return "[" + absl::StrJoin(numbers, ", ") + "]"; }

/// @main of one layer: `arguments` are the types of %0, %1 …; `layer` is the operation behind "%y = ".
std::string function(const std::vector<std::string> &arguments, const std::string &layer, const std::string &result) {
  std::vector<std::string> list;
  for (size_t i = 0; i < arguments.size(); ++i)
    list.push_back(absl::StrCat("%", i, ": ", arguments[i]));
  return absl::StrCat("func.func @main(", absl::StrJoin(list, ", "), ") -> ", result, " {\n  %y = ", layer,
                      "\n  return %y : ", result, "\n}\n");
}
std::string signature(const std::vector<std::string> &operands, const std::string &result) {
  return absl::StrCat(" : (", absl::StrJoin(operands, ", "), ") -> ", result);
}

std::string unaryLayer(Random &random) {
  static const std::vector<std::string> ofFloats{"relu",  "neg",  "abs",   "exp",  "tanh", "erf", "sigmoid",
                                                 "floor", "ceil", "round", "sign", "sin",  "cos"};
  static const std::vector<std::string> ofIntegers{"relu", "abs", "sign", "neg"};
  std::string type = oneOf(random, kNumbers), kind;
  if (random() % 8 == 0) {
    type = "i1";
    kind = "not";
  } else {
    kind = oneOf(random, type.find('f') != std::string::npos ? ofFloats : ofIntegers);
    if (type == "ui8" && kind == "neg")
      kind = "abs";
  }
  const std::string t = tensor(shapeOf(random, 0, 4), type);
  return function({t}, absl::StrCat("nn.unary ", kind, " %0 : ", t), t);
}

std::string binaryLayer(Random &random) {
  static const std::vector<std::string> kinds{"add", "sub", "mul",   "min",  "max",
                                              "mod", "rem", "equal", "less", "less_equal"};
  std::string type = oneOf(random, kNumbers), kind = oneOf(random, kinds);
  const bool isFloat = type.find('f') != std::string::npos;
  if (type == "ui8" && (kind == "sub" || kind == "mul"))
    kind = "add";
  if (!isFloat && random() % 3 == 0) {
    kind = oneOf<std::string>(random, {"and", "or", "xor", "shift_left", "shift_right"});
    type = oneOf<std::string>(random, {"i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"});
  }
  if (random() % 8 == 0) {
    type = "i1";
    kind = oneOf<std::string>(random, {"and", "or", "xor", "equal"});
  }
  const Shape whole = shapeOf(random, 0, 4);
  const Shape a = broadcastable(random, whole), b = broadcastable(random, whole), y = broadcast(a, b);
  const bool compares = kind == "equal" || kind == "less" || kind == "less_equal";
  const std::string result = tensor(y, compares ? "i1" : type);
  // Divisors are constants, as 0 has no remainder the reference knows.
  if (kind == "mod" || kind == "rem") {
    const std::string divisor = type == "ui8" ? "3" : isFloat ? "-2.5" : "-3";
    return absl::StrCat("func.func @main(%0: ", tensor(y, type), ") -> ", result, " {\n  %1 = nn.constant dense<",
                        divisor, "> : ", tensor({}, type), "\n  %y = nn.binary ", kind, " %0, %1",
                        signature({tensor(y, type), tensor({}, type)}, result), "\n  return %y : ", result, "\n}\n");
  }
  return function({tensor(a, type), tensor(b, type)},
                  absl::StrCat("nn.binary ", kind, " %0, %1", signature({tensor(a, type), tensor(b, type)}, result)),
                  result);
}

std::string selectLayer(Random &random) {
  const std::string type = oneOf(random, kNumbers);
  const Shape whole = shapeOf(random, 0, 4);
  const Shape c = broadcastable(random, whole), a = broadcastable(random, whole), b = broadcastable(random, whole);
  const std::vector<std::string> types{tensor(c, "i1"), tensor(a, type), tensor(b, type)};
  const std::string result = tensor(broadcast(broadcast(c, a), b), type);
  return function(types, "nn.select %0, %1, %2" + signature(types, result), result);
}

std::string castLayer(Random &random) {
  static const std::vector<std::string> types{"f32", "f16", "bf16", "f64", "i32", "i64", "i8", "i1"};
  const Shape shape = shapeOf(random, 0, 4);
  const std::string from = tensor(shape, oneOf(random, types)), to = tensor(shape, oneOf(random, types));
  return function({from}, absl::StrCat("nn.cast %0 : ", from, " -> ", to), to);
}

std::string bitcastLayer(Random &random) {
  static const std::vector<std::vector<std::string>> alike{
      {"i8", "ui8"}, {"f16", "bf16", "i16", "ui16"}, {"f32", "i32", "ui32"}, {"f64", "i64", "ui64"}};
  const std::vector<std::string> &types = oneOf(random, alike);
  const Shape shape = shapeOf(random, 0, 3);
  const std::string from = tensor(shape, oneOf(random, types)), to = tensor(shape, oneOf(random, types));
  return function({from}, absl::StrCat("nn.bitcast %0 : ", from, " -> ", to), to);
}

/// Among wide integers, a sum or a choice with a number that need not be an f64.
std::string wideConstantLayer(Random &random) {
  const std::string type = oneOf<std::string>(random, {"i64", "ui64"});
  const std::string number = oneOf<std::string>(
      random, {"9223372036854775807", "9007199254740993", "4611686018427387905", "9007199254740992"});
  const std::string t = tensor(shapeOf(random, 0, 3), type), c = tensor({}, type);
  return absl::StrCat("func.func @main(%0: ", t, ") -> ", t, " {\n  %1 = nn.constant dense<", number, "> : ", c,
                      "\n  %y = nn.binary ", oneOf<std::string>(random, {"add", "xor", "max"}), " %0, %1",
                      signature({t, c}, t), "\n  return %y : ", t, "\n}\n");
}

std::string matmulLayer(Random &random) {
  const std::string type = oneOf<std::string>(random, {"f32", "f16", "bf16", "f64", "i32", "i64"});
  const int64_t m = number(random, 1, 5), n = number(random, 1, 5), k = number(random, 1, 7);
  const Shape whole = shapeOf(random, 0, 2, 3);
  Shape a = broadcastable(random, whole), b = broadcastable(random, whole), y = broadcast(a, b);
  const bool transposed = random() % 2, biased = random() % 2;
  a.insert(a.end(), {m, k});
  b.insert(b.end(), {transposed ? n : k, transposed ? k : n});
  y.insert(y.end(), {m, n});
  std::vector<std::string> types{tensor(a, type), tensor(b, type)};
  if (biased)
    types.push_back(tensor({n}, type));
  return function(types,
                  absl::StrCat("nn.matmul %0, %1", biased ? " bias %2" : "", transposed ? " {transpose_rhs}" : "",
                               signature(types, tensor(y, type))),
                  tensor(y, type));
}

struct Window {
  Shape image, kernel, strides, dilations, pads, output;
};

/// Windows over `rank` dimensions that fit; padding smaller than the window, sometimes negative.
Window windowOf(Random &random, size_t rank, bool mayCrop) {
  Window window;
  window.pads.resize(2 * rank);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t kernel = number(random, 1, 3), dilation = number(random, 1, 2), span = (kernel - 1) * dilation + 1;
    const int64_t stride = number(random, 1, 3), image = number(random, span + 1, span + 5);
    window.pads[d] = number(random, mayCrop ? -1 : 0, span - 1);
    window.pads[d + rank] = number(random, 0, span - 1);
    window.image.push_back(image);
    window.kernel.push_back(kernel);
    window.strides.push_back(stride);
    window.dilations.push_back(dilation);
    window.output.push_back((image + window.pads[d] + window.pads[d + rank] - span) / stride + 1);
  }
  return window;
}

std::string attributes(const Window &window) {
  return absl::StrCat(" strides ", list(window.strides), " dilations ", list(window.dilations), " pads ",
                      list(window.pads));
}

/// The leading extents, then the spatial ones.
Shape joined(Shape leading, const Shape &spatial) {
  leading.insert(leading.end(), spatial.begin(), spatial.end());
  return leading;
}

std::string convLayer(Random &random) {
  const std::string type = oneOf<std::string>(random, {"f32", "f16", "bf16", "f64", "i32", "i64"});
  const Window window = windowOf(random, size_t(number(random, 1, 3)), true);
  const int64_t batch = number(random, 1, 2), groups = number(random, 1, 3), depth = number(random, 1, 3);
  const int64_t outputs = groups * number(random, 1, 3);
  const bool biased = random() % 2;
  std::vector<std::string> types{tensor(joined({batch, groups * depth}, window.image), type),
                                 tensor(joined({outputs, depth}, window.kernel), type)};
  if (biased)
    types.push_back(tensor({outputs}, type));
  const std::string result = tensor(joined({batch, outputs}, window.output), type);
  return function(types,
                  absl::StrCat("nn.conv %0, %1", biased ? " bias %2" : "", attributes(window), " groups ", groups,
                               signature(types, result)),
                  result);
}

std::string poolLayer(Random &random) {
  const std::string kind = oneOf<std::string>(random, {"max", "avg", "sum"});
  const std::string type = oneOf(random, kind == "max" ? kNumbers : kFloats);
  const Window window = windowOf(random, size_t(number(random, 1, 3)), false);
  const int64_t batch = number(random, 1, 2), channels = number(random, 1, 3);
  const std::string input = tensor(joined({batch, channels}, window.image), type);
  const std::string result = tensor(joined({batch, channels}, window.output), type);
  return function({input},
                  absl::StrCat("nn.pool ", kind, " %0 kernel ", list(window.kernel), attributes(window),
                               kind == "avg" && random() % 2 ? " {count_include_pad}" : "", signature({input}, result)),
                  result);
}

std::string reduceLayer(Random &random) {
  static const std::vector<std::string> kinds{"sum", "min", "max", "prod", "mean"};
  std::string type = oneOf(random, kNumbers), kind = oneOf(random, kinds);
  if (kind == "mean")
    type = oneOf(random, kFloats);
  if (kind == "prod") // products of others leave the range
    type = oneOf<std::string>(random, {"f32", "f64"});
  if (type == "i8" || type == "ui8")
    kind = oneOf<std::string>(random, {"min", "max"});
  const Shape shape = shapeOf(random, 1, 4);
  Shape axes, result;
  const bool keeps = random() % 2;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool isReduced = random() % 2;
    if (isReduced)
      axes.push_back(int64_t(d));
    if (!isReduced || keeps)
      result.push_back(isReduced ? 1 : shape[d]);
  }
  return function({tensor(shape, type)},
                  absl::StrCat("nn.reduce ", kind, " %0 axes ", list(axes), keeps ? " {keepdims}" : "",
                               signature({tensor(shape, type)}, tensor(result, type))),
                  tensor(result, type));
}

std::string softmaxLayer(Random &random) {
  const Shape shape = shapeOf(random, 1, 4);
  const std::string t = tensor(shape, oneOf(random, kFloats));
  return function({t},
                  absl::StrCat("nn.softmax %0 axis ", number(random, 0, int64_t(shape.size()) - 1),
                               random() % 2 ? " {log}" : "", " : ", t),
                  t);
}

std::string batchNormLayer(Random &random) {
  const std::string type = oneOf(random, kFloats);
  const Shape shape = shapeOf(random, 2, 4);
  const std::string t = tensor(shape, type), p = tensor({shape[1]}, type);
  Shape variances(static_cast<size_t>(shape[1]));
  for (int64_t &variance : variances)
    variance = number(random, 1, 9);
  const std::string variance = absl::StrCat("[", absl::StrJoin(variances, ".0, "), ".0]");
  return absl::StrCat("func.func @main(%0: ", t, ", %s: ", p, ", %b: ", p, ", %m: ", p, ") -> ", t,
                      " {\n  %v = nn.constant dense<", variance, "> : ", p,
                      "\n  %y = nn.batch_norm %0, %s, %b, %m, %v {epsilon = 0.25 : f64} : ", t, ", ", p,
                      "\n  return %y : ", t, "\n}\n");
}

std::string movementLayer(Random &random) {
  static const std::vector<std::string> all{"f32", "f16", "bf16", "f64", "i32", "i64", "i8", "ui8", "i1"};
  const std::string type = oneOf(random, all);
  const Shape shape = shapeOf(random, 1, 4);
  const std::string t = tensor(shape, type);
  Shape result = shape;
  switch (random() % 6) {
  case 0: {
    std::shuffle(result.begin(), result.end(), random);
    return function({t}, absl::StrCat("nn.reshape %0 : ", t, " -> ", tensor(result, type)), tensor(result, type));
  }
  case 1: {
    Shape permutation(shape.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    std::shuffle(permutation.begin(), permutation.end(), random);
    for (size_t d = 0; d < shape.size(); ++d)
      result[d] = shape[size_t(permutation[d])];
    return function(
        {t}, absl::StrCat("nn.transpose %0 permutation ", list(permutation), signature({t}, tensor(result, type))),
        tensor(result, type));
  }
  case 2: {
    Shape starts, steps;
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t step = oneOf<int64_t>(random, {1, 1, 2, -1});
      result[d] = number(random, 1, (shape[d] - 1) / std::abs(step) + 1);
      starts.push_back(step < 0 ? shape[d] - 1 : number(random, 0, shape[d] - 1 - (result[d] - 1) * step));
      steps.push_back(step);
    }
    return function({t},
                    absl::StrCat("nn.slice %0 starts ", list(starts), " sizes ", list(result), " steps ", list(steps),
                                 signature({t}, tensor(result, type))),
                    tensor(result, type));
  }
  case 3: {
    Shape low, high;
    for (int64_t &extent : result) {
      low.push_back(number(random, 0, 2));
      high.push_back(number(random, 0, 2));
      extent += low.back() + high.back();
    }
    const std::string value = type.find('f') != std::string::npos ? "1.5" : "1";
    return function({t},
                    absl::StrCat("nn.pad %0 low ", list(low), " high ", list(high), " value ",
                                 type == "i1" ? "true" : value + " : " + type, signature({t}, tensor(result, type))),
                    tensor(result, type));
  }
  case 4: {
    const size_t axis = random() % shape.size();
    Shape other = shape;
    other[axis] = number(random, 1, 3);
    result[axis] = 2 * shape[axis] + other[axis];
    const std::string o = tensor(other, type);
    return function({t, o},
                    absl::StrCat("nn.concat %0, %1, %0 axis ", axis, signature({t, o, t}, tensor(result, type))),
                    tensor(result, type));
  }
  default: {
    const Shape from = broadcastable(random, shape);
    return function({tensor(from, type)}, absl::StrCat("nn.broadcast_to %0 : ", tensor(from, type), " -> ", t), t);
  }
  }
}

/// A gather of elements along `axis` of `shape`; indices drawn are 0 … 9.
std::string gatherElementsLayer(Random &random, const std::string &type, const std::string &index, Shape shape,
                                size_t axis) {
  const std::string drawn = tensor(shape, "ui8"), i = tensor(shape, index), y = tensor(shape, type);
  shape[axis] = number(random, 10, 12);
  const std::string t = tensor(shape, type);
  return absl::StrCat("func.func @main(%0: ", t, ", %1: ", drawn, ") -> ", y, " {\n  %i = nn.cast %1 : ", drawn, " -> ",
                      i, "\n  %y = nn.gather_elements %0, %i axis ", axis, signature({t, i}, y), "\n  return %y : ", y,
                      "\n}\n");
}

std::string gatherLayer(Random &random) {
  const std::string type = oneOf(random, kNumbers), index = oneOf<std::string>(random, {"i32", "i64"});
  Shape shape = shapeOf(random, 1, 3);
  const Shape indices = shapeOf(random, 0, 2);
  const size_t axis = random() % shape.size();
  if (random() % 2)
    return gatherElementsLayer(random, type, index, shape, axis);
  shape[axis] = 10; // indices drawn are 0 … 9
  Shape result(shape.begin(), shape.begin() + long(axis));
  result.insert(result.end(), indices.begin(), indices.end());
  result.insert(result.end(), shape.begin() + long(axis) + 1, shape.end());
  const std::string t = tensor(shape, type), drawn = tensor(indices, "ui8"), i = tensor(indices, index);
  return absl::StrCat("func.func @main(%0: ", t, ", %1: ", drawn, ") -> ", tensor(result, type),
                      " {\n  %i = nn.cast %1 : ", drawn, " -> ", i, "\n  %y = nn.gather %0, %i axis ", axis,
                      signature({t, i}, tensor(result, type)), "\n  return %y : ", tensor(result, type), "\n}\n");
}

/// Layers one after another on one tensor, with values of equal shape joined: what fusion and the folding of remaps
/// see.
std::string chain(Random &random) {
  std::string text;
  Shape shape = shapeOf(random, 2, 4);
  const Shape first = shape;
  std::vector<Shape> shapes{shape};
  const auto apply = [&](const std::string &layer, const Shape &result) {
    absl::StrAppend(&text, "  %", shapes.size(), " = ", layer, signature({tensor(shape, "f32")}, tensor(result, "f32")),
                    "\n");
    shapes.push_back(shape = result);
  };
  const auto sameType = [&](const std::string &layer) {
    absl::StrAppend(&text, "  %", shapes.size(), " = ", layer, " : ", tensor(shape, "f32"), "\n");
    shapes.push_back(shape);
  };
  for (int64_t n = number(random, 3, 9); n > 0; --n) {
    const std::string x = absl::StrCat("%", shapes.size() - 1);
    Shape result = shape;
    const size_t d = random() % shape.size();
    switch (random() % 10) {
    case 0:
    case 1:
      sameType(absl::StrCat("nn.unary ", oneOf<std::string>(random, {"relu", "tanh", "neg", "abs"}), " ", x));
      break;
    case 2: {
      const size_t other = random() % shapes.size();
      if (shapes[other] == shape) {
        const std::string t = tensor(shape, "f32");
        absl::StrAppend(&text, "  %", shapes.size(), " = nn.binary ", oneOf<std::string>(random, {"add", "sub", "max"}),
                        " ", x, ", %", other, signature({t, t}, t), "\n");
        shapes.push_back(shape);
      }
      break;
    }
    case 3: {
      Shape permutation(shape.size());
      std::iota(permutation.begin(), permutation.end(), 0);
      std::shuffle(permutation.begin(), permutation.end(), random);
      for (size_t i = 0; i < shape.size(); ++i)
        result[i] = shape[size_t(permutation[i])];
      apply(absl::StrCat("nn.transpose ", x, " permutation ", list(permutation)), result);
      break;
    }
    case 4: { // two dimensions into one, or one into two
      const std::string before = tensor(shape, "f32");
      if (d + 1 < shape.size() && shape.size() > 2) {
        result[d] *= result[d + 1];
        result.erase(result.begin() + long(d) + 1);
      } else if (shape[d] % 2 == 0 && shape.size() < 4) {
        result[d] /= 2;
        result.insert(result.begin() + long(d) + 1, 2);
      }
      absl::StrAppend(&text, "  %", shapes.size(), " = nn.reshape ", x, " : ", before, " -> ", tensor(result, "f32"),
                      "\n");
      shapes.push_back(shape = result);
      break;
    }
    case 5: {
      Shape starts(shape.size()), steps(shape.size(), 1);
      result[d] = number(random, 1, shape[d]);
      const bool backwards = random() % 2;
      starts[d] = backwards ? shape[d] - 1 : shape[d] - result[d];
      steps[d] = backwards ? -1 : 1;
      apply(absl::StrCat("nn.slice ", x, " starts ", list(starts), " sizes ", list(result), " steps ", list(steps)),
            result);
      break;
    }
    case 6: {
      Shape low(shape.size()), high(shape.size());
      low[d] = number(random, 0, 1);
      high[d] = 1;
      result[d] += low[d] + high[d];
      apply(absl::StrCat("nn.pad ", x, " low ", list(low), " high ", list(high), " value 0.0 : f32"), result);
      break;
    }
    case 7: {
      result[d] = 1;
      apply(absl::StrCat("nn.reduce ", oneOf<std::string>(random, {"sum", "max", "mean"}), " ", x, " axes ",
                         list({int64_t(d)}), " {keepdims}"),
            result);
      break;
    }
    case 8:
      sameType(absl::StrCat("nn.softmax ", x, " axis ", d));
      break;
    default:
      if (result[d] == 1) {
        result[d] = 3;
        absl::StrAppend(&text, "  %", shapes.size(), " = nn.broadcast_to ", x, " : ", tensor(shape, "f32"), " -> ",
                        tensor(result, "f32"), "\n");
        shapes.push_back(shape = result);
      }
    }
  }
  return absl::StrCat("func.func @main(%0: ", tensor(first, "f32"), ") -> ", tensor(shape, "f32"), " {\n", text,
                      "  return %", shapes.size() - 1, " : ", tensor(shape, "f32"), "\n}\n");
}

/// A pool over an image whose dimensions come in another order, padded by a layer of its own.
std::string windowChain(Random &random) {
  Window window = windowOf(random, 2, false);
  Shape image{number(random, 1, 2), number(random, 1, 3), window.image[0], window.image[1]}, permutation{0, 1, 2, 3};
  std::shuffle(permutation.begin(), permutation.end(), random);
  Shape input(4);
  for (size_t d = 0; d < 4; ++d)
    input[size_t(permutation[d])] = image[d];
  Shape padded = image, low(4), high(4);
  for (size_t d : {2, 3})
    padded[d] += (low[d] = window.pads[d - 2]) + (high[d] = window.pads[d]);
  const std::string x = tensor(input, "f32"), t = tensor(image, "f32"), p = tensor(padded, "f32");
  const std::string y = tensor({image[0], image[1], window.output[0], window.output[1]}, "f32");
  return absl::StrCat("func.func @main(%0: ", x, ") -> ", y, " {\n  %1 = nn.transpose %0 permutation ",
                      list(permutation), signature({x}, t), "\n  %2 = nn.pad %1 low ", list(low), " high ", list(high),
                      " value 0.0 : f32", signature({t}, p), "\n  %y = nn.pool ",
                      oneOf<std::string>(random, {"max", "avg"}), " %2 kernel ", list(window.kernel), " strides ",
                      list(window.strides), " dilations ", list(window.dilations), signature({p}, y),
                      "\n  return %y : ", y, "\n}\n");
}

} // namespace

const std::vector<LayerFamily> &layerFamilies() {
  static const std::vector<LayerFamily> families{
      {"unary", unaryLayer},         {"binary", binaryLayer},   {"select", selectLayer},
      {"cast", castLayer},           {"bitcast", bitcastLayer}, {"wide_constant", wideConstantLayer},
      {"matmul", matmulLayer},       {"conv", convLayer},       {"pool", poolLayer},
      {"reduce", reduceLayer},       {"softmax", softmaxLayer}, {"batch_norm", batchNormLayer},
      {"movement", movementLayer},   {"gather", gatherLayer},   {"chain", chain},
      {"window_chain", windowChain},
  };
  return families;
}

} // namespace wsc::test
