// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/models/RandomNet.h"

#include <algorithm>

namespace wsc::test {

namespace {

class Generator {
public:
  explicit Generator(uint64_t seed) : net(seed) {}

  OnnxBuilder run() {
    x = net.input("x", {1, pick(1, 6), pick(4, 13), pick(4, 13)});
    if (chance(5)) // an image as [height, width, channels]
      x = net.transpose(x, {0, 3, 1, 2});
    for (int64_t layers = pick(2, 7); layers > 0; --layers) {
      addLayer();
      images.push_back(x);
    }
    if (chance(2))
      addClassifier();
    net.output(x);
    return std::move(net.onnx);
  }

private:
  /// In [low, high].
  int64_t pick(int64_t low, int64_t high) {
    int64_t value = low + int64_t((net.random.next(0.5f) + 0.5f) * float(high - low + 1));
    return std::clamp(value, low, high);
  }
  bool chance(int64_t oneIn) { return pick(1, oneIn) == 1; }

  /// A window of at most `most` rows and columns that leaves at least one element.
  Window2d window(int64_t most) {
    for (;;) {
      Window2d w;
      for (int d = 0; d < 2; ++d) {
        w.kernel[d] = pick(1, most);
        w.strides[d] = chance(3) ? pick(2, 3) : 1;
        w.dilations[d] = chance(5) ? 2 : 1;
      }
      for (int64_t &pad : w.pads)
        pad = chance(2) ? pick(0, 2) : 0;
      bool fits = true;
      for (int d = 0; d < 2; ++d) { // pads stay smaller than the kernel, as pools demand
        w.pads[d] = std::min(w.pads[d], w.kernel[d] - 1);
        w.pads[d + 2] = std::min(w.pads[d + 2], w.kernel[d] - 1);
        int64_t size = d == 0 ? x.height() : x.width();
        fits &= size + w.pads[d] + w.pads[d + 2] >= (w.kernel[d] - 1) * w.dilations[d] + 1;
      }
      if (fits)
        return w;
    }
  }

  void addLayer() {
    switch (pick(0, 11)) {
    case 0:
    case 1:
    case 2: // the most frequent one
      x = net.conv(x, pick(1, 9), window(3), 1, !chance(4));
      break;
    case 3:
      x = net.conv(x, x.channels(), window(3), x.channels());
      break;
    case 10: {
      std::vector<int64_t> groups; // that divide the channels
      for (int64_t n = 1; n <= x.channels(); ++n)
        if (x.channels() % n == 0)
          groups.push_back(n);
      const int64_t n = groups[size_t(pick(0, int64_t(groups.size()) - 1))];
      x = net.conv(x, n * pick(1, 4), window(3), n, !chance(4));
      break;
    }
    case 11:
      if (chance(2))
        x = net.pad(x, {0, pick(0, 2), pick(0, 1), pick(0, 2)}, chance(2) ? 0.f : 0.75f);
      else
        x = cut();
      break;
    case 4: {
      Window2d w = window(3);
      x = net.maxPool(x, w);
      break;
    }
    case 5: {
      Window2d w = window(3);
      w.dilations = {1, 1};
      x = net.averagePool(x, w, chance(2));
      break;
    }
    case 6:
      x = net.batchNorm(x);
      break;
    case 7: {
      const char *types[] = {"Relu", "Sigmoid", "Tanh", "Abs"};
      x = net.unary(types[pick(0, 3)], x);
      break;
    }
    case 8: {
      const char *types[] = {"Add", "Sub", "Mul", "Div"};
      std::vector<int64_t> shapes[] = {{}, {x.channels(), 1, 1}, {x.height(), x.width()}};
      const char *type = types[pick(0, 3)];
      const std::vector<int64_t> &shape = shapes[pick(0, 2)];
      // A constant divided by an element near 0 would say nothing about rounding.
      x = net.withConstant(type, x, shape, chance(3) && std::string(type) != "Div");
      break;
    }
    default:
      join();
    }
  }

  /// A slice of channels, rows and columns, some of it from the upper half: rows of padding alone would not depend on
  /// the input.
  NetValue cut() {
    std::vector<int64_t> starts{0}, ends{1}, steps{1};
    for (int d = 1; d < 4; ++d) {
      starts.push_back(chance(2) ? pick(0, (x.shape[size_t(d)] - 1) / 2) : 0);
      ends.push_back(pick(starts.back() + 1, x.shape[size_t(d)]));
      steps.push_back(d > 1 && chance(3) ? 2 : 1);
    }
    return net.slice(x, starts, ends, steps);
  }

  /// Adds or concatenates an earlier image of the same size; without one, a parallel branch.
  void join() {
    std::vector<NetValue> same;
    for (const NetValue &image : images)
      if (image.height() == x.height() && image.width() == x.width() && image.name != x.name)
        same.push_back(image);
    NetValue other =
        same.empty() ? net.conv(x, x.channels(), {.kernel = {1, 1}}) : same[size_t(pick(0, int64_t(same.size()) - 1))];
    if (other.channels() == x.channels() && chance(2))
      x = net.binary(chance(2) ? "Add" : "Mul", x, other);
    else
      x = net.concat({x, other});
  }

  void addClassifier() {
    x = chance(2) ? net.flatten(net.globalAverage(x)) : net.flatten(x);
    x = net.gemm(x, pick(2, 12), chance(2));
    if (chance(2))
      x = net.gemm(net.unary("Relu", x), pick(2, 12));
    if (chance(2))
      x = net.softmax(x, chance(2));
  }

  NetBuilder net;
  NetValue x;
  std::vector<NetValue> images;
};

} // namespace

OnnxBuilder randomNetwork(uint64_t seed) { return Generator(seed).run(); }

} // namespace wsc::test
