// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spectra: DFT is a product with constant matrices of cosines and sines, STFT a convolution with them; windows and the
// mel weights are constants.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Windows.h"
#include "dialects/nn/Shape.h"
#include <cmath>

namespace wsc::import {
namespace {

constexpr double pi = 3.14159265358979323846;

/// cos and sin of 2π·numerator/length, exact at multiples of a quarter turn.
double cosTurn(int64_t numerator, int64_t length) {
  int64_t n = ((numerator % length) + length) % length;
  if (4 * n % length == 0)
    return n == 0 ? 1 : 2 * n == length ? -1 : 0;
  return std::cos(2 * pi * static_cast<double>(n) / static_cast<double>(length));
}
double sinTurn(int64_t numerator, int64_t length) {
  int64_t n = ((numerator % length) + length) % length;
  if (4 * n % length == 0)
    return 2 * n % length == 0 ? 0 : 4 * n == length ? 1 : -1;
  return std::sin(2 * pi * static_cast<double>(n) / static_cast<double>(length));
}

/// matrix [out, in] times the elements of one axis.
Expression along(const Expression &matrix, const Expression &x, int64_t axis) {
  if (x.layers().failed())
    return x;
  int64_t outer = productOf(x.shape().take_front(axis)), inner = productOf(x.shape().drop_front(axis + 1));
  llvm::SmallVector<int64_t> shape(x.shape());
  shape[axis] = matrix.shape()[0];
  return matmul(matrix, x.reshape({outer, x.shape()[axis], inner})).reshape(shape);
}

/// Spectrum along an axis of a signal whose last dimension is [real] or [real, imaginary]. The sums are taken in f64:
/// elements of a spectrum are often 0 but for rounding.
void dft(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = node.in(0);
  bool inverse = node.intAttribute("inverse", 0) != 0, oneSided = node.intAttribute("onesided", 0) != 0;
  int64_t last = x.rank() - 1, axis = node.opset() < 20 ? node.intAttribute("axis", 1) : -2;
  if (node.opset() >= 20 && node.hasInput(2))
    axis = node.constantInt(2, "axis");
  axis = node.normalizedAxis(axis, x.rank());
  int64_t length = node.failed() ? 1 : inverse && oneSided ? 2 * (x.shape()[axis] - 1) : x.shape()[axis];
  if (node.hasInput(1))
    length = node.constantInt(1, "dft_length");
  if (node.failed())
    return;
  if (last < 1 || axis == last || length < 1 || length > 4096 || x.shape()[last] < 1 || x.shape()[last] > 2)
    return node.fail(
        absl::StrCat("axis ", axis, " and dft_length ", length, " do not fit ", nn::formatShape(x.shape())));
  int64_t bins = length / 2 + 1, inputs = inverse && oneSided ? bins : length;
  int64_t outputs = !inverse && oneSided ? bins : length;
  if (outputs * inputs > maxConstantElements)
    return node.unsupported(absl::StrCat("a spectrum of ", outputs, " by ", inputs, " terms is not supported; up to ",
                                         maxConstantElements, " are"));
  mlir::Type f64 = layers.builder().getF64Type();
  Expression signal = x.cast(f64);
  if (x.shape()[axis] > inputs)
    signal = signal.slice(axis, 0, inputs);
  else
    signal = signal.pad(axis, 0, inputs - x.shape()[axis]);
  std::vector<double> cosines, sines;
  for (int64_t k = 0; k < outputs; ++k)
    for (int64_t n = 0; n < inputs; ++n) {
      // Of a one-sided spectrum all bins but the first and the middle one stand for two.
      double factor = inverse && oneSided ? (n == 0 || 2 * n == length ? 1.0 : 2.0) : 1.0;
      factor /= inverse ? static_cast<double>(length) : 1.0;
      cosines.push_back(factor * cosTurn(k * n, length));
      sines.push_back(factor * sinTurn(k * n, length));
    }
  Expression cosine = constant(layers, {outputs, inputs}, cosines, f64);
  Expression sine = constant(layers, {outputs, inputs}, sines, f64);
  Expression real = signal.slice(last, 0, 1), sign = real.number(inverse ? -1 : 1);
  Expression re = along(cosine, real, axis), im = along(sine, real, axis) * -sign;
  if (x.shape()[last] == 2) {
    Expression imaginary = signal.slice(last, 1, 1);
    re = re + along(sine, imaginary, axis) * sign;
    im = im + along(cosine, imaginary, axis);
  }
  Expression y = inverse && oneSided ? re : concat({re, im}, last);
  node.setResult(y.cast(x.elementType()));
}

/// Frames of the signal, each times the window, each a spectrum: a convolution with a channel per bin and part.
void stft(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = node.in(0), window = node.in(2);
  bool oneSided = node.intAttribute("onesided", 1) != 0;
  int64_t step = node.constantInt(1, "frame_step");
  if (node.failed())
    return;
  if (x.rank() == 2)
    x = x.unsqueeze(2);
  int64_t parts = x.rank() == 3 ? x.shape()[2] : 0;
  int64_t length = window ? window.size() : parts ? x.shape()[1] : 0;
  if (node.hasInput(3))
    length = node.constantInt(3, "frame_length");
  if (node.failed())
    return;
  if (parts < 1 || parts > 2 || step < 1 || length < 1 || length > x.shape()[1] ||
      (window && window.size() != length) || (oneSided && parts == 2))
    return node.fail(
        absl::StrCat("frame_step ", step, " and frame_length ", length, " do not fit ", nn::formatShape(x.shape())));
  int64_t bins = oneSided ? length / 2 + 1 : length;
  if (length > 4096)
    return node.unsupported(absl::StrCat("frames of ", length, " elements are not supported; up to 4096 are"));
  if (2 * bins * parts * length > maxConstantElements)
    return node.unsupported(absl::StrCat("a spectrum of ", bins, " by ", length, " terms is not supported; up to ",
                                         maxConstantElements / (2 * parts), " are"));
  mlir::Type f64 = layers.builder().getF64Type();
  std::vector<double> weights; // [part of the result, bin, part of the signal, element]
  for (int part = 0; part < 2; ++part)
    for (int64_t k = 0; k < bins; ++k)
      for (int64_t from = 0; from < parts; ++from)
        for (int64_t n = 0; n < length; ++n)
          weights.push_back(part == from ? cosTurn(k * n, length) : (part ? -1 : 1) * sinTurn(k * n, length));
  Expression weight = constant(layers, {2 * bins, parts, length}, weights, f64);
  if (window)
    weight = weight * window.cast(f64);
  Window form{{step}, {1}, {0, 0}};
  Expression y = convolve(x.cast(f64).transpose({0, 2, 1}), weight, {}, form, 1);
  if (node.failed())
    return;
  int64_t frames = y.shape()[2];
  node.setResult(y.reshape({x.shape()[0], 2, bins, frames}).transpose({0, 3, 2, 1}).cast(x.elementType()));
}

/// Element type of a constant that an attribute declares, f32 by default.
std::optional<mlir::Type> declaredType(NodeContext &node) {
  auto type =
      elementType(*node.layers.builder().getContext(), static_cast<int>(node.intAttribute("output_datatype", 1)));
  if (!type.ok()) {
    node.layers.fail(type.status());
    return std::nullopt;
  }
  return *type;
}

/// a - b·cos(2πn/N) + c·cos(4πn/N)
template <int kind> void windowOf(NodeContext &node) {
  constexpr double hamming = 25.0 / 46.0;
  const double a = kind == 0   ? 0.5
                   : kind == 1 ? hamming
                               : 0.42,
               b = kind == 1 ? 1 - hamming : 0.5, c = kind == 2 ? 0.08 : 0;
  auto type = declaredType(node);
  bool periodic = node.intAttribute("periodic", 1) != 0;
  int64_t size = node.constantInt(0, "size");
  if (node.failed())
    return;
  if (size < 0 || size > maxConstantElements)
    return node.fail(absl::StrCat("size ", size, " is outside [0, ", maxConstantElements, "]"));
  int64_t length = std::max<int64_t>(periodic ? size : size - 1, 1);
  std::vector<double> values;
  for (int64_t n = 0; n < size; ++n)
    values.push_back(a - b * cosTurn(n, length) + c * cosTurn(2 * n, length));
  node.setResult(constant(node.layers, {size}, values, node.layers.builder().getF64Type()).cast(*type));
}

/// Triangles, evenly spaced in mel, over the bins of a spectrum.
void melWeightMatrix(NodeContext &node) {
  auto type = declaredType(node);
  int64_t bands = node.constantInt(0, "num_mel_bins");
  int64_t length = node.constantInt(1, "dft_length");
  double rate = node.constantScalar(2, "sample_rate"), low = node.constantScalar(3, "lower_edge_hertz");
  double high = node.constantScalar(4, "upper_edge_hertz");
  if (node.failed())
    return;
  int64_t bins = length / 2 + 1;
  if (bands < 1 || length < 1 || bins > maxConstantElements / bands || !(rate > 0) || !(high > low) || !(low >= 0))
    return node.fail("num_mel_bins, dft_length, sample_rate and the edges do not fit");
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double step = (mel(high) - mel(low)) / static_cast<double>(bands + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + mel(low)) / 2595) - 1);
    double bin = std::floor(static_cast<double>(length + 1) * hertz / rate);
    edges.push_back(std::clamp<int64_t>(static_cast<int64_t>(bin), 0, bins - 1));
  }
  std::vector<double> weights(bins * bands, 0.0);
  for (int64_t i = 0; i < bands; ++i) {
    int64_t left = edges[i], centre = edges[i + 1], right = edges[i + 2];
    for (int64_t j = left; j <= centre; ++j)
      weights[j * bands + i] = left == centre ? 1 : static_cast<double>(j - left) / static_cast<double>(centre - left);
    for (int64_t j = centre; j < right; ++j)
      weights[j * bands + i] = static_cast<double>(right - j) / static_cast<double>(right - centre);
  }
  node.setResult(constant(node.layers, {bins, bands}, weights, node.layers.builder().getF64Type()).cast(*type));
}

} // namespace

static const Operator table[] = {
    {"DFT", 17, 19, 1, 2, dft, "", "axis and dft_length are known; at most 4096 elements and 6,000,000 products"},
    {"DFT", 20, newestOpset, 1, 3, dft, "",
     "axis and dft_length are known; at most 4096 elements and 6,000,000 products"},
    {"STFT", 17, newestOpset, 2, 4, stft, "",
     "frame_step and frame_length are known; up to 6,000,000 products of bins and elements"},
    {"HannWindow", 17, newestOpset, 1, 1, windowOf<0>, "", "size is known"},
    {"HammingWindow", 17, newestOpset, 1, 1, windowOf<1>, "", "size is known"},
    {"BlackmanWindow", 17, newestOpset, 1, 1, windowOf<2>, "", "size is known"},
    {"MelWeightMatrix", 17, newestOpset, 5, 5, melWeightMatrix, "", "all inputs are known"},
};
llvm::ArrayRef<Operator> signalOperators() { return table; }

} // namespace wsc::import
