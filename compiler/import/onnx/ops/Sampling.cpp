// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images read at computed places: GridSample, AffineGrid, RoiAlign, DeformConv. A place between elements is a weighted
// sum of its neighbours (taps): along each dimension a number, a weight and whether it lies inside; over all dimensions
// the products of these. An image's pixels are gathered as rows of channels, [images·pixels, channels].
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Extremes.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/ops/Windows.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {
namespace {

enum class Mode { Nearest, Linear, Cubic };
enum class Padding { Zeros, Border, Reflection };

/// A neighbour along one dimension: its number as a float inside [0, extent), its weight, 0 outside of the image.
struct Tap {
  Expression number, weight;
};

/// x folded into [low, high] at its ends.
Expression reflected(const Expression &x, double low, double high) {
  if (high <= low)
    return x * 0;
  const double span = high - low;
  Expression folded = modulo(x - low, 2 * span);
  return minimum(folded, 2 * span - folded) + low;
}

/// The neighbours of places (floats, counted in elements) along a dimension.
std::vector<Tap> tapsAlong(Expression place, int64_t extent, Mode mode, Padding padding, bool alignCorners) {
  const double last = static_cast<double>(extent - 1), low = alignCorners ? 0 : -0.5,
               high = alignCorners ? last : last + 0.5;
  if (mode == Mode::Nearest)
    place = round(place);
  if (padding == Padding::Border)
    place = maximum(minimum(place, last), 0);
  else if (padding == Padding::Reflection)
    place = reflected(place, low, high);
  Expression base = floor(place), t = place - base;
  std::vector<std::pair<int, Expression>> offsets; // from the base, with weights
  auto inner = [](const Expression &x) { return (1.25 * x - 2.25) * x * x + 1; };
  auto outer = [](const Expression &x) { return ((-0.75 * x + 3.75) * x - 6) * x + 3; };
  if (mode == Mode::Nearest)
    offsets = {{0, place.filled(1)}};
  else if (mode == Mode::Linear)
    offsets = {{0, 1 - t}, {1, t}};
  else
    offsets = {{-1, outer(t + 1)}, {0, inner(t)}, {1, inner(1 - t)}, {2, outer(2 - t)}};
  std::vector<Tap> taps;
  for (auto &[offset, weight] : offsets) {
    Expression number = offset == 0 ? base : base + offset;
    if (padding == Padding::Reflection)
      number = floor(reflected(number, low, high));
    Expression inside = maximum(minimum(number, last), 0);
    taps.push_back({inside, padding == Padding::Zeros ? select(equal(inside, number), weight, 0) : weight});
  }
  return taps;
}

/// The weighted neighbours, each [images, places, channels], of places in images [N, C, spatial…]: taps per spatial
/// dimension [images, places], and the number in [0, N) of each image, [images, 1] (i32).
std::vector<Expression> weightedTaps(const Expression &x, llvm::ArrayRef<std::vector<Tap>> taps,
                                     const Expression &image) {
  LayerBuilder &layers = x.layers();
  if (!layers.failed() && x.size() == 0)
    layers.fail(absl::StrCat("images ", nn::formatShape(x.shape()), " have no elements to take samples of"));
  if (layers.failed())
    return {};
  mlir::Type i32 = layers.builder().getI32Type();
  int64_t channels = x.shape()[1], pixels = productOf(x.shape().drop_front(2));
  Expression rows =
      x.reshape({x.shape()[0], channels, pixels}).transpose({0, 2, 1}).reshape({x.shape()[0] * pixels, channels});
  std::vector<Expression> numbers{image * pixels}, weights{x.number(1)};
  int64_t stride = pixels;
  for (size_t d = 0; d < taps.size(); ++d) {
    stride /= x.shape()[2 + d];
    std::vector<Expression> nextNumbers, nextWeights;
    for (size_t k = 0; k < numbers.size(); ++k)
      for (const Tap &tap : taps[d]) {
        nextNumbers.push_back(numbers[k] + tap.number.cast(i32) * stride);
        nextWeights.push_back(weights[k] * tap.weight);
      }
    numbers = nextNumbers;
    weights = nextWeights;
  }
  std::vector<Expression> values;
  for (size_t k = 0; k < numbers.size() && !layers.failed(); ++k)
    values.push_back(gather(rows, numbers[k], 0) * weights[k].unsqueeze(2));
  return values;
}

Expression sumOf(const std::vector<Expression> &terms) {
  Expression sum = terms.front();
  for (size_t i = 1; i < terms.size(); ++i)
    sum = sum + terms[i];
  return sum;
}

Expression ownImages(LayerBuilder &layers, int64_t count) {
  return countingUp(layers, count, layers.builder().getI32Type()).reshape({count, 1});
}

/// The grid holds for each place its coordinates, last dimension of the image first, -1 … 1 from end to end.
void gridSample(NodeContext &node) {
  Expression x = widened(node.in(0)), grid = widened(node.in(1));
  std::string mode = node.stringAttribute("mode", node.opset() < 20 ? "bilinear" : "linear");
  std::string padding = node.stringAttribute("padding_mode", "zeros");
  bool alignCorners = node.intAttribute("align_corners", 0) != 0;
  if (node.failed())
    return;
  int64_t rank = x.rank() - 2;
  if (rank < 1 || grid.rank() != x.rank() || grid.shape().back() != rank || grid.shape()[0] != x.shape()[0])
    return node.fail(
        absl::StrCat("grid ", nn::formatShape(grid.shape()), " does not fit ", nn::formatShape(x.shape())));
  if (rank > 4)
    return node.unsupported(absl::StrCat(rank, " spatial dimensions are not supported; up to 4 are"));
  bool isLinear = mode == "linear" || mode == "bilinear", isCubic = mode == "cubic" || mode == "bicubic";
  if (!isLinear && !isCubic && mode != "nearest")
    return node.fail("attribute 'mode' is '" + mode + "'; nearest, linear and cubic are known");
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return node.fail("attribute 'padding_mode' is '" + padding + "'; zeros, border and reflection are known");
  int64_t batch = x.shape()[0], places = batch * rank ? grid.size() / (batch * rank) : 0;
  Expression flat = grid.reshape({batch, places, rank});
  std::vector<std::vector<Tap>> taps;
  for (int64_t d = 0; d < rank; ++d) {
    const double extent = static_cast<double>(x.shape()[2 + d]);
    Expression n = flat.slice(2, rank - 1 - d, 1).squeeze(2).cast(x.elementType());
    Expression place = alignCorners ? (n + 1) * ((extent - 1) / 2) : ((n + 1) * extent - 1) * 0.5;
    taps.push_back(tapsAlong(place, x.shape()[2 + d],
                             isLinear  ? Mode::Linear
                             : isCubic ? Mode::Cubic
                                       : Mode::Nearest,
                             padding == "zeros"    ? Padding::Zeros
                             : padding == "border" ? Padding::Border
                                                   : Padding::Reflection,
                             alignCorners));
  }
  std::vector<Expression> values = weightedTaps(x, taps, ownImages(node.layers, batch));
  if (node.failed())
    return;
  llvm::SmallVector<int64_t> shape{batch, x.shape()[1]};
  shape.append(grid.shape().begin() + 1, grid.shape().end() - 1);
  node.setResult(sumOf(values).transpose({0, 2, 1}).reshape(shape).cast(node.input(0).elementType()));
}

/// theta times the homogeneous coordinates of all places of an image of the extents given.
void affineGrid(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression theta = node.in(0);
  bool alignCorners = node.intAttribute("align_corners", 0) != 0;
  std::vector<int64_t> size = node.constantInts(1, "size");
  if (node.failed())
    return;
  int64_t rank = static_cast<int64_t>(size.size()) - 2;
  if (rank < 1 || theta.rank() != 3 || theta.shape()[1] != rank || theta.shape()[2] != rank + 1)
    return node.fail(
        absl::StrCat("theta ", nn::formatShape(theta.shape()), " does not fit size ", nn::formatShape(size)));
  llvm::SmallVector<int64_t> spatial(size.begin() + 2, size.end());
  for (int64_t extent : spatial)
    if (extent < 1 || extent > (int64_t{1} << 20))
      return node.fail(absl::StrCat("extent ", extent, " of size is outside [1, 2^20]"));
  std::vector<Expression> coordinates;
  for (int64_t d = rank; d-- > 0;) {
    const double extent = static_cast<double>(spatial[d]);
    double step = alignCorners ? 2 / (extent - 1) : 2 / extent, start = alignCorners ? -1 : -1 + step / 2;
    std::vector<double> values;
    for (int64_t i = 0; i < spatial[d]; ++i)
      values.push_back(start + static_cast<double>(i) * (spatial[d] == 1 && alignCorners ? 0 : step));
    llvm::SmallVector<int64_t> shape(rank, 1);
    shape[d] = spatial[d];
    coordinates.push_back(constant(layers, shape, values, theta.elementType()).broadcast(spatial).unsqueeze(rank));
  }
  coordinates.push_back(coordinates.front().filled(1));
  int64_t places = productOf(spatial);
  Expression grid = matmul(concat(coordinates, rank).reshape({places, rank + 1}), theta, /*transposeRhs=*/true);
  llvm::SmallVector<int64_t> result{theta.shape()[0]};
  result.append(spatial);
  result.push_back(rank);
  node.setResult(grid.reshape(result));
}

/// Each region of interest in bins, each bin the mean (or maximum) of evenly spaced samples.
void roiAlign(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = widened(node.in(0)), rois = widened(node.in(1)), images = node.in(2);
  std::string mode = node.stringAttribute("mode", "avg");
  std::string coordinates =
      node.stringAttribute("coordinate_transformation_mode", node.opset() < 16 ? "output_half_pixel" : "half_pixel");
  int64_t bins[2] = {node.intAttribute("output_height", 1), node.intAttribute("output_width", 1)};
  int64_t samples = node.intAttribute("sampling_ratio", 0);
  double scale = node.floatAttribute("spatial_scale", 1);
  if (node.failed())
    return;
  if (x.rank() != 4 || rois.rank() != 2 || rois.shape()[1] != 4 || bins[0] < 1 || bins[1] < 1)
    return node.fail(
        absl::StrCat("regions ", nn::formatShape(rois.shape()), " do not fit ", nn::formatShape(x.shape())));
  if (mode != "avg" && mode != "max")
    return node.fail("attribute 'mode' is '" + mode + "'; avg and max are known");
  if (samples < 1)
    return node.unsupported("sampling_ratio 0 takes a number of samples that depends on data; give it as 1 or more");
  for (int64_t extent : bins)
    if (extent < 1 || extent > maxConstantElements / samples)
      return node.fail(absl::StrCat("an output of ", extent, " bins with ", samples, " samples each is outside [1, ",
                                    maxConstantElements, "]"));
  bool halfPixel = coordinates == "half_pixel";
  int64_t count = rois.shape()[0], perBin = samples * samples;
  Expression regions = rois.cast(x.elementType()) * scale - (halfPixel ? 0.5 : 0.0);
  std::vector<Expression> places; // per dimension [regions, bins·samples]
  for (int64_t d = 0; d < 2; ++d) {
    Expression start = regions.slice(1, 1 - d, 1), span = regions.slice(1, 3 - d, 1) - start;
    if (!halfPixel)
      span = maximum(span, 1);
    std::vector<double> steps;
    for (int64_t i = 0; i < bins[d] * samples; ++i)
      steps.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(bins[d] * samples));
    places.push_back(start + span * constant(layers, {1, bins[d] * samples}, steps, x.elementType()));
  }
  // [regions, bin row, sample row, bin column, sample column], samples last.
  int64_t rows = bins[0] * samples, columns = bins[1] * samples;
  std::vector<std::vector<Tap>> taps;
  for (int64_t d = 0; d < 2; ++d) {
    Expression place = places[d].unsqueeze(d == 0 ? 2 : 1).broadcast({count, rows, columns});
    place = place.reshape({count, bins[0], samples, bins[1], samples}).transpose({0, 1, 3, 2, 4});
    place = place.reshape({count, rows * columns});
    const double extent = static_cast<double>(x.shape()[2 + d]);
    // Up to one element beyond the image still counts as its border.
    Expression counts = lessEqual(-1, place) & lessEqual(place, extent);
    taps.push_back(tapsAlong(place, x.shape()[2 + d], Mode::Linear, Padding::Border, true));
    for (Tap &tap : taps.back())
      tap.weight = select(counts, tap.weight, 0);
  }
  std::vector<Expression> values =
      weightedTaps(x, taps, images.reshape({count, 1}).cast(layers.builder().getI32Type()));
  if (node.failed())
    return;
  Expression y = values.front();
  for (size_t i = 1; i < values.size(); ++i)
    y = mode == "avg" ? y + values[i] : maximum(y, values[i]);
  y = y.reshape({count, bins[0] * bins[1], perBin, x.shape()[1]});
  y = mode == "avg" ? meanOver(y, {2}, false) : maxOver(y, {2}, false);
  y = y.transpose({0, 2, 1}).reshape({count, x.shape()[1], bins[0], bins[1]});
  node.setResult(y.cast(node.input(0).elementType()));
}

/// A convolution whose taps are moved by offsets (and weighed by a mask): the sampled taps times the weights.
void deformConv(NodeContext &node) {
  LayerBuilder &layers = node.layers;
  Expression x = widened(node.in(0)), weight = widened(node.in(1)), offset = widened(node.in(2)), bias = node.in(3);
  Expression mask = node.in(4);
  if (x.rank() < 3 || weight.rank() != x.rank() || offset.rank() != x.rank())
    return node.fail(absl::StrCat("input ", nn::formatShape(x.shape()), ", weight ", nn::formatShape(weight.shape()),
                                  " and offset ", nn::formatShape(offset.shape()), " must have one rank, 3 or more"));
  int64_t rank = x.rank() - 2, groups = node.intAttribute("group", 1), moved = node.intAttribute("offset_group", 1);
  SpatialWindow window = readWindow(node, x, readKernel(node, weight.shape().drop_front(2)), /*pooling=*/false);
  if (node.failed())
    return;
  const Window &w = window.window;
  int64_t batch = x.shape()[0], channels = x.shape()[1], outputs = weight.shape()[0];
  int64_t kernel = productOf(window.kernel), places = productOf(offset.shape().drop_front(2));
  if (moved < 1 || groups < 1 || channels % moved != 0 || channels % groups != 0 || outputs % groups != 0 ||
      weight.shape()[1] * groups != channels || offset.shape()[1] != moved * kernel * rank ||
      (mask && mask.size() != batch * moved * kernel * places))
    return node.fail(absl::StrCat("offset ", nn::formatShape(offset.shape()), ", ", groups, " groups and ", moved,
                                  " offset groups do not fit ", nn::formatShape(x.shape()), " and weight ",
                                  nn::formatShape(weight.shape())));
  llvm::SmallVector<int64_t> spatial(offset.shape().drop_front(2)), image{batch * moved, channels / moved};
  image.append(x.shape().begin() + 2, x.shape().end());
  for (int64_t d = 0; d < rank; ++d)
    if (std::max(window.kernel[d], spatial[d]) > maxConstantElements)
      return node.fail(absl::StrCat("kernel ", nn::formatShape(window.kernel), " and offset ",
                                    nn::formatShape(offset.shape()), " have an extent above ", maxConstantElements));
  Expression offsets = offset.reshape({batch * moved, kernel, rank, places});
  std::vector<std::vector<Tap>> taps;
  for (int64_t d = 0; d < rank; ++d) {
    // Where tap and place lie without an offset: [kernel, places].
    llvm::SmallVector<int64_t> tapShape(rank, 1), placeShape(rank, 1);
    std::vector<double> tapPlaces, starts;
    for (int64_t k = 0; k < window.kernel[d]; ++k)
      tapPlaces.push_back(static_cast<double>(k * w.dilations[d] - w.pads[d]));
    for (int64_t o = 0; o < spatial[d]; ++o)
      starts.push_back(static_cast<double>(o * w.strides[d]));
    tapShape[d] = window.kernel[d];
    placeShape[d] = spatial[d];
    Expression tap = constant(layers, tapShape, tapPlaces, x.elementType()).broadcast(window.kernel);
    Expression start = constant(layers, placeShape, starts, x.elementType()).broadcast(spatial);
    Expression place = offsets.slice(2, d, 1).squeeze(2).cast(x.elementType()) +
                       (tap.reshape({kernel, 1}) + start.reshape({1, places}));
    taps.push_back(tapsAlong(place.reshape({batch * moved, kernel * places}), x.shape()[2 + d], Mode::Linear,
                             Padding::Zeros, true));
  }
  std::vector<Expression> values = weightedTaps(x.reshape(image), taps, ownImages(layers, batch * moved));
  if (node.failed())
    return;
  Expression columns = sumOf(values); // [images, kernel·places, channels]
  if (mask)
    columns = columns * widened(mask).reshape({batch * moved, kernel * places, 1}).cast(x.elementType());
  columns = columns.transpose({0, 2, 1}).reshape({batch, groups, channels / groups * kernel, places});
  Expression y = matmul(weight.reshape({groups, outputs / groups, channels / groups * kernel}), columns);
  if (bias)
    y = y + widened(bias).reshape({groups, outputs / groups, 1});
  llvm::SmallVector<int64_t> shape{batch, outputs};
  shape.append(spatial);
  node.setResult(y.reshape(shape).cast(node.input(0).elementType()));
}

} // namespace

static const Operator table[] = {
    {"GridSample", 16, newestOpset, 2, 2, gridSample, "", "up to 4 spatial dimensions"},
    {"AffineGrid", 20, newestOpset, 2, 2, affineGrid, "", "size is known"},
    {"RoiAlign", 10, newestOpset, 3, 3, roiAlign, "", "sampling_ratio is 1 or more"},
    {"DeformConv", 19, newestOpset, 3, 5, deformConv},
};
llvm::ArrayRef<Operator> samplingOperators() { return table; }

} // namespace wsc::import
