// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes and graphs at the border of what the mapping knows: one pixel, one row, more rows than the mesh, streams with
// many receivers or several times in one kernel.
#include "test/models/ModelCheck.h"

namespace wsc::test {
namespace {

template <typename Layers> void checkLayers(const std::vector<int64_t> &inputShape, uint64_t seed, Layers layers) {
  NetBuilder net(seed);
  NetValue x = net.input("x", inputShape);
  net.output(layers(net, x));
  checkModel(net.onnx, seed);
}

TEST(Border, AnInputNobodyTakes) {
  NetBuilder net(1);
  NetValue x = net.input("x", {1, 2, 4, 4});
  net.input("z", {1, 2, 4, 4});
  net.output(net.conv(x, 3, {}));
  checkModel(net.onnx, 1);
}

TEST(Border, SqueezeAndExcite) {
  checkLayers({1, 6, 7, 5}, 2, [](NetBuilder &net, const NetValue &x) {
    NetValue y = net.conv(x, 6, {.pads = {1, 1, 1, 1}});
    NetValue g = net.unary("Sigmoid", net.conv(net.globalAverage(y), 6, {.kernel = {1, 1}}));
    return net.binary("Mul", y, g);
  });
}

TEST(Border, OneChannelTimesMany) {
  checkLayers({1, 6, 7, 5}, 3, [](NetBuilder &net, const NetValue &x) {
    NetValue y = net.conv(x, 1, {.kernel = {1, 1}});
    return net.binary("Mul", x, y);
  });
}

TEST(Border, TheInputIsTheOutput) {
  checkLayers({1, 6, 7, 5}, 4, [](NetBuilder &net, const NetValue &x) { return net.unary("Identity", x); });
}

TEST(Border, OnePixel) {
  checkLayers({1, 6, 1, 1}, 5,
              [](NetBuilder &net, const NetValue &x) { return net.conv(x, 4, {.pads = {1, 1, 1, 1}}); });
}

TEST(Border, OneRow) {
  checkLayers({1, 2, 1, 600}, 6, [](NetBuilder &net, const NetValue &x) {
    return net.conv(x, 4, {.kernel = {1, 5}, .strides = {1, 3}, .pads = {0, 2, 0, 2}});
  });
}

TEST(Border, OneColumn) {
  checkLayers({1, 2, 600, 1}, 7, [](NetBuilder &net, const NetValue &x) {
    return net.conv(x, 4, {.kernel = {5, 1}, .strides = {3, 1}, .pads = {2, 0, 2, 0}});
  });
}

TEST(Border, BatchOf64) {
  checkLayers({64, 20}, 8, [](NetBuilder &net, const NetValue &x) { return net.softmax(net.gemm(x, 10)); });
}

TEST(Border, GlobalMaximum) {
  checkLayers({1, 6, 7, 5}, 9, [](NetBuilder &net, const NetValue &x) {
    return NetValue{net.onnx.node("GlobalMaxPool", {x.name}), {1, 6, 1, 1}};
  });
}

TEST(Border, MaximumWithCeilMode) {
  checkLayers({1, 3, 8, 8}, 10, [](NetBuilder &net, const NetValue &x) {
    return NetValue{net.onnx.node("MaxPool", {x.name},
                                  {Attribute::ints("kernel_shape", {3, 3}), Attribute::ints("strides", {2, 2}),
                                   Attribute::i("ceil_mode", 1)}),
                    {1, 3, 4, 4}};
  });
}

TEST(Border, AverageWithCeilMode) {
  checkLayers({1, 3, 8, 8}, 10, [](NetBuilder &net, const NetValue &x) {
    return NetValue{net.onnx.node("AveragePool", {x.name},
                                  {Attribute::ints("kernel_shape", {3, 3}), Attribute::ints("strides", {2, 2}),
                                   Attribute::i("ceil_mode", 1)}),
                    {1, 3, 4, 4}};
  });
}

TEST(Border, TenBranches) {
  checkLayers({1, 2, 6, 6}, 14, [](NetBuilder &net, const NetValue &x) {
    std::vector<NetValue> v;
    for (int i = 0; i < 10; ++i)
      v.push_back(net.conv(x, 2, {.pads = {1, 1, 1, 1}}));
    return net.concat(v);
  });
}

TEST(Border, DenselyConnected) {
  checkLayers({1, 2, 6, 6}, 15, [](NetBuilder &net, const NetValue &x) {
    NetValue c = x;
    for (int i = 0; i < 6; ++i)
      c = net.concat({c, net.conv(c, 2, {.pads = {1, 1, 1, 1}})});
    return c;
  });
}

TEST(Border, AStreamTwiceInOneConcat) {
  checkLayers({1, 2, 6, 6}, 16, [](NetBuilder &net, const NetValue &x) {
    NetValue y = net.conv(x, 2, {});
    return net.concat({y, y});
  });
}

TEST(Border, MoreRowsThanTheMesh) {
  checkLayers({1, 3, 900, 4}, 17, [](NetBuilder &net, const NetValue &x) {
    return net.maxPool(net.conv(x, 3, {.pads = {1, 1, 1, 1}}), {.kernel = {2, 2}, .strides = {2, 2}});
  });
}

TEST(Border, FlattenOfManyPixels) {
  checkLayers({1, 3, 40, 40}, 18,
              [](NetBuilder &net, const NetValue &x) { return net.gemm(net.flatten(net.conv(x, 4, {})), 5); });
}

TEST(Border, SoftmaxOfAThousand) {
  checkLayers({1, 1000}, 20, [](NetBuilder &net, const NetValue &x) { return net.softmax(x); });
}

TEST(Border, MatMul) {
  checkLayers({1, 7}, 21, [](NetBuilder &net, const NetValue &x) {
    return NetValue{net.onnx.node("MatMul", {x.name, net.weights({7, 5}, 1)}), {1, 5}};
  });
}

TEST(Border, OneConstantPerRowOfABatch) {
  checkLayers({5, 7}, 22,
              [](NetBuilder &net, const NetValue &x) { return net.withConstant("Add", net.gemm(x, 6), {5, 1}); });
}

} // namespace
} // namespace wsc::test
