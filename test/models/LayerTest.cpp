// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One small network per kind of layer, compiled for the whole wafer and for a small mesh, executed and compared.
#include "test/models/ModelCheck.h"

namespace wsc::test {
namespace {

/// A network of one input and one output around `layers(net, input)`.
template <typename Layers> void checkLayers(const std::vector<int64_t> &inputShape, uint64_t seed, Layers layers) {
  NetBuilder net(seed);
  NetValue x = net.input("x", inputShape);
  net.output(layers(net, x));
  checkModel(net.onnx, seed);
}

TEST(Convolution, StridesPadsDilations) {
  struct Case {
    const char *name;
    Window2d window;
  };
  const Case cases[] = {
      {"plain", {{3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}}},
      {"same", {{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}}},
      {"stride 2", {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}}},
      {"stride beyond the kernel", {{1, 2}, {3, 4}, {1, 1}, {0, 0, 0, 0}}},
      {"strides differ", {{3, 5}, {2, 1}, {1, 1}, {1, 2, 1, 2}}},
      {"dilation", {{3, 3}, {1, 1}, {2, 3}, {2, 3, 2, 3}}},
      {"asymmetric pads", {{3, 2}, {1, 2}, {1, 1}, {0, 1, 2, 0}}},
      {"pads on one side", {{3, 3}, {2, 2}, {1, 1}, {0, 0, 1, 1}}},
      {"wide", {{1, 7}, {1, 1}, {1, 1}, {0, 3, 0, 3}}},
      {"tall", {{7, 1}, {1, 1}, {1, 1}, {3, 0, 3, 0}}},
      {"1x1", {{1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}}},
      {"1x1 stride 2", {{1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}}},
  };
  uint64_t seed = 100;
  for (const Case &c : cases) {
    SCOPED_TRACE(c.name);
    checkLayers({1, 3, 9, 11}, ++seed, [&](NetBuilder &net, const NetValue &x) { return net.conv(x, 5, c.window); });
  }
}

TEST(Convolution, WithoutBias) {
  checkLayers({1, 4, 6, 6}, 120, [](NetBuilder &net, const NetValue &x) { return net.conv(x, 3, {}, 1, false); });
}

TEST(Convolution, ManyChannels) {
  checkLayers({1, 37, 5, 4}, 121, [](NetBuilder &net, const NetValue &x) {
    return net.conv(net.conv(x, 70, {.kernel = {1, 1}}), 11, {.pads = {1, 1, 1, 1}});
  });
}

TEST(Convolution, WindowAsLargeAsTheImage) {
  checkLayers({1, 3, 5, 4}, 122, [](NetBuilder &net, const NetValue &x) { return net.conv(x, 6, {.kernel = {5, 4}}); });
}

/// Elementwise layers in front of a convolution run where its input comes in; its padding is 0 after them.
TEST(Convolution, OfWhatElementwiseLayersCompute) {
  checkLayers({1, 3, 9, 8}, 124, [](NetBuilder &net, const NetValue &x) {
    NetValue y = net.withConstant("Div", net.withConstant("Sub", x, {3, 1, 1}), {3, 1, 1}); // an image normalised
    return net.conv(y, 6, {.strides = {2, 1}, .pads = {1, 1, 1, 1}});
  });
  checkLayers({1, 5, 8, 7}, 125, [](NetBuilder &net, const NetValue &x) { // as in dense blocks
    NetValue y = net.concat({x, net.conv(x, 6, {.pads = {1, 1, 1, 1}})});
    y = net.conv(net.unary("Relu", net.batchNorm(y)), 9, {.kernel = {1, 1}});
    return net.conv(net.unary("Sigmoid", net.maxPool(net.concat({x, y}), {.kernel = {2, 2}, .strides = {2, 2}})), 4,
                    {.kernel = {3, 2}, .pads = {1, 1, 1, 0}});
  });
  checkLayers({1, 4, 7, 6}, 126, [](NetBuilder &net, const NetValue &x) { // a block whose shortcut is not activated
    NetValue y = net.conv(net.unary("Tanh", net.batchNorm(x)), 4, {.pads = {1, 1, 1, 1}});
    return net.binary("Add", x, y);
  });
}

/// The same where a core takes in one channel after the other, for all of them do not fit SRAM.
TEST(Convolution, OfWhatElementwiseLayersComputeChannelByChannel) {
  NetBuilder net(127);
  NetValue x = net.input("x", {1, 24, 48, 300});
  net.output(net.conv(net.unary("Relu", net.batchNorm(x)), 6, {.pads = {1, 1, 1, 1}}));
  CheckOptions options;
  options.targets = {"mesh-24x24"};
  checkModel(net.onnx, 127, options);
}

TEST(Convolution, Depthwise) {
  checkLayers({1, 6, 9, 8}, 130, [](NetBuilder &net, const NetValue &x) {
    NetValue y = net.conv(x, 6, {.pads = {1, 1, 1, 1}}, 6);
    y = net.conv(y, 8, {.kernel = {1, 1}});
    y = net.conv(y, 8, {.kernel = {5, 3}, .strides = {2, 2}, .pads = {2, 0, 2, 1}}, 8, false);
    return net.conv(y, 8, {.kernel = {2, 2}, .dilations = {2, 2}, .pads = {1, 1, 1, 1}}, 8);
  });
}

/// Groups of several channels, as many out as in, more and fewer; on tall meshes cores hold a part of a group.
TEST(Convolution, Groups) {
  checkLayers({1, 12, 9, 8}, 132, [](NetBuilder &net, const NetValue &x) {
    NetValue y = net.conv(x, 12, {.pads = {1, 1, 1, 1}}, 3);
    y = net.unary("Relu", net.conv(y, 20, {.kernel = {1, 1}}, 4, false));
    y = net.conv(y, 10, {.strides = {2, 2}, .pads = {1, 1, 1, 1}}, 2);
    return net.conv(y, 30, {.kernel = {3, 2}, .dilations = {1, 2}, .pads = {1, 1, 1, 1}}, 10); // depth multiplier 3
  });
  checkLayers({1, 64, 5, 6}, 133, [](NetBuilder &net, const NetValue &x) {
    NetValue y = net.conv(net.batchNorm(net.conv(x, 96, {.pads = {1, 1, 1, 1}}, 32)), 64, {}, 2);
    return net.binary("Add", y, net.conv(net.unary("Relu", y), 64, {.pads = {1, 1, 1, 1}}, 16));
  });
}

/// The same where a group's channels do not fit SRAM side by side.
TEST(Convolution, GroupsChannelByChannel) {
  NetBuilder net(134);
  NetValue x = net.input("x", {1, 48, 12, 300});
  net.output(net.conv(x, 12, {.pads = {1, 1, 1, 1}}, 2));
  CheckOptions options;
  options.targets = {"mesh-24x24"};
  checkModel(net.onnx, 134, options);
}

TEST(Movement, Slices) {
  checkLayers({1, 12, 10, 9}, 135, [](NetBuilder &net, const NetValue &x) { // some channels only
    return net.slice(net.conv(x, 70, {.kernel = {1, 1}}), {0, 5, 0, 0}, {1, 23, 10, 9}, {1, 1, 1, 1});
  });
  checkLayers({1, 6, 12, 11}, 136, [](NetBuilder &net, const NetValue &x) { // rows and columns, with steps
    NetValue y = net.slice(x, {0, 0, 3, 2}, {1, 6, 12, 11}, {1, 1, 2, 3});
    return net.unary("Relu", net.slice(net.conv(y, 7, {.kernel = {2, 2}}), {0, 1, 1, 0}, {1, 6, 4, 2}, {1, 1, 1, 1}));
  });
  checkLayers({1, 8, 7, 6}, 137, [](NetBuilder &net, const NetValue &x) { // a split whose halves go different ways
    NetValue low = net.slice(x, {0, 0, 0, 0}, {1, 4, 7, 6}, {1, 1, 1, 1}),
             high = net.slice(x, {0, 4, 0, 0}, {1, 8, 7, 6}, {1, 1, 1, 1});
    return net.concat({net.conv(high, 4, {.pads = {1, 1, 1, 1}}), low});
  });
  checkLayers({5, 20}, 138, [](NetBuilder &net, const NetValue &x) { // of a matrix
    return net.gemm(net.slice(net.gemm(x, 24), {1, 7}, {5, 19}, {2, 1}), 6);
  });
}

TEST(Movement, Padding) {
  checkLayers({1, 4, 6, 5}, 139, [](NetBuilder &net, const NetValue &x) { return net.pad(x, {0, 2, 0, 1}, 1.5f); });
  checkLayers({1, 4, 6, 5}, 145, [](NetBuilder &net, const NetValue &x) { // rows of padding alone
    return net.unary("Sigmoid", net.pad(net.conv(x, 5, {}), {3, 0, 1, 2}, -2));
  });
  checkLayers({1, 4, 9, 8}, 147, [](NetBuilder &net, const NetValue &x) { // negative: it crops
    return net.conv(net.pad(x, {-1, -2, 1, -1}), 3, {});
  });
  checkLayers({1, 4, 8, 7}, 146, [](NetBuilder &net, const NetValue &x) { // as frameworks put it before windows
    NetValue y = net.conv(net.pad(x, {0, 0, 1, 1}), 6, {.strides = {2, 2}});
    return net.averagePool(net.pad(y, {1, 1, 1, 1}), {}, false);
  });
}

TEST(Reductions, OverImagesChannelsAndRows) {
  checkLayers({1, 6, 7, 5}, 170, [](NetBuilder &net, const NetValue &x) { return net.reduce("ReduceSum", x, {2, 3}); });
  checkLayers({1, 6, 7, 5}, 171, [](NetBuilder &net, const NetValue &x) { return net.reduce("ReduceMax", x, {3}); });
  checkLayers({1, 6, 7, 5}, 172, [](NetBuilder &net, const NetValue &x) { return net.reduce("ReduceMin", x, {2}); });
  checkLayers({1, 6, 7, 5}, 173, [](NetBuilder &net, const NetValue &x) { // each pixel by its channels' mean
    return net.binary("Sub", x, net.reduce("ReduceMean", x, {1}));
  });
  checkLayers({4, 9}, 174, [](NetBuilder &net, const NetValue &x) { return net.reduce("ReduceSum", x, {1}); });
}

TEST(Pooling, Maximum) {
  checkLayers({1, 5, 9, 11}, 140,
              [](NetBuilder &net, const NetValue &x) { return net.maxPool(x, {.kernel = {2, 2}, .strides = {2, 2}}); });
  checkLayers({1, 5, 9, 11}, 141, [](NetBuilder &net, const NetValue &x) {
    return net.maxPool(x, {.kernel = {3, 3}, .strides = {2, 2}, .pads = {1, 1, 1, 1}});
  });
  checkLayers({1, 5, 9, 11}, 142, [](NetBuilder &net, const NetValue &x) {
    return net.maxPool(x, {.kernel = {2, 3}, .dilations = {3, 2}, .pads = {1, 0, 0, 2}});
  });
}

/// Padding never wins a maximum, not even among negative elements.
TEST(Pooling, MaximumOfNegativeElements) {
  checkLayers({1, 3, 6, 6}, 143, [](NetBuilder &net, const NetValue &x) {
    NetValue y = net.withConstant("Sub", x, {1, 3, 1, 1});
    return net.maxPool(net.withConstant("Sub", y, {}), {.strides = {2, 2}, .pads = {1, 1, 1, 1}});
  });
}

TEST(Pooling, Average) {
  for (bool countPadding : {false, true}) {
    SCOPED_TRACE(countPadding ? "padding counts" : "padding does not count");
    checkLayers({1, 4, 8, 9}, 150, [&](NetBuilder &net, const NetValue &x) {
      return net.averagePool(x, {.kernel = {2, 2}, .strides = {2, 2}}, countPadding);
    });
    checkLayers({1, 4, 8, 9}, 151, [&](NetBuilder &net, const NetValue &x) {
      return net.averagePool(x, {.strides = {2, 1}, .pads = {1, 1, 1, 1}}, countPadding);
    });
    checkLayers({1, 4, 8, 9}, 152, [&](NetBuilder &net, const NetValue &x) {
      return net.averagePool(x, {.strides = {2, 2}, .pads = {0, 2, 1, 0}}, countPadding);
    });
  }
}

TEST(Pooling, GlobalAverage) {
  checkLayers({1, 10, 7, 5}, 160, [](NetBuilder &net, const NetValue &x) { return net.globalAverage(x); });
  checkLayers({1, 10, 7, 5}, 161,
              [](NetBuilder &net, const NetValue &x) { return net.gemm(net.flatten(net.globalAverage(x)), 4); });
}

TEST(Elementwise, BatchNormalisation) {
  checkLayers({1, 5, 6, 7}, 170, [](NetBuilder &net, const NetValue &x) { return net.batchNorm(x); });
  checkLayers({1, 5, 6, 7}, 171, [](NetBuilder &net, const NetValue &x) {
    return net.unary("Relu", net.batchNorm(net.conv(x, 6, {.pads = {1, 1, 1, 1}})));
  });
}

TEST(Elementwise, ChainsWithBroadcastConstants) {
  checkLayers({1, 4, 6, 5}, 180, [](NetBuilder &net, const NetValue &x) {
    NetValue y = net.unary("Sigmoid", net.conv(x, 4, {.kernel = {1, 1}}));
    y = net.withConstant("Mul", y, {1, 4, 1, 1}); // one per channel
    y = net.withConstant("Sub", y, {6, 5});       // one per pixel
    y = net.withConstant("Div", y, {});           // a scalar
    y = net.withConstant("Div", y, {4, 1, 1}, true);
    y = net.unary("Tanh", y);
    return net.clip(y, -0.4f, 0.7f);
  });
}

TEST(Elementwise, OnOneInput) {
  for (const char *type :
       {"Relu", "Sigmoid", "Tanh", "Exp", "Abs", "Neg", "Softplus", "HardSigmoid", "LeakyRelu", "Floor"}) {
    SCOPED_TRACE(type);
    checkLayers({1, 3, 4, 5}, 190, [&](NetBuilder &net, const NetValue &x) { return net.unary(type, x); });
  }
}

TEST(Elementwise, ResidualAdd) {
  checkLayers({1, 4, 7, 6}, 200, [](NetBuilder &net, const NetValue &x) {
    NetValue y = net.conv(x, 4, {.pads = {1, 1, 1, 1}});
    y = net.conv(net.unary("Relu", y), 4, {.pads = {1, 1, 1, 1}});
    return net.unary("Relu", net.binary("Add", y, x));
  });
}

TEST(Elementwise, OfAStreamWithItself) {
  checkLayers({1, 4, 5, 5}, 201, [](NetBuilder &net, const NetValue &x) {
    NetValue y = net.conv(x, 4, {.kernel = {1, 1}});
    return net.binary("Mul", y, net.unary("Sigmoid", y));
  });
  checkLayers({1, 4, 5, 5}, 202, [](NetBuilder &net, const NetValue &x) {
    NetValue y = net.conv(x, 4, {.kernel = {1, 1}});
    return net.binary("Mul", y, y);
  });
}

TEST(Movement, Concat) {
  checkLayers({1, 3, 6, 7}, 210, [](NetBuilder &net, const NetValue &x) {
    NetValue a = net.conv(x, 2, {.kernel = {1, 1}}), b = net.conv(x, 5, {.pads = {1, 1, 1, 1}});
    return net.conv(net.concat({a, x, b}), 4, {.pads = {1, 1, 1, 1}});
  });
}

/// Rows and columns of a convolution's result that no later layer takes still have to go somewhere, or not be made.
TEST(Movement, RowsNobodyTakes) {
  checkLayers({1, 3, 11, 10}, 212, [](NetBuilder &net, const NetValue &x) {
    NetValue y = net.conv(x, 4, {.pads = {1, 1, 1, 1}});
    y = net.conv(y, 5, {.kernel = {1, 1}, .strides = {3, 2}});
    return net.maxPool(y, {.kernel = {1, 1}, .strides = {2, 2}});
  });
}

TEST(Movement, ConcatAtTheOutput) {
  checkLayers({1, 3, 6, 7}, 211, [](NetBuilder &net, const NetValue &x) {
    NetValue a = net.unary("Relu", net.conv(x, 2, {.kernel = {1, 1}})), b = net.maxPool(x, {.pads = {1, 1, 1, 1}});
    return net.concat({a, b});
  });
}

TEST(MatrixProduct, Rows) {
  checkLayers({4, 13}, 220,
              [](NetBuilder &net, const NetValue &x) { return net.gemm(net.unary("Relu", net.gemm(x, 9)), 5, false); });
  checkLayers({1, 40}, 221, [](NetBuilder &net, const NetValue &x) { return net.gemm(x, 10, false); });
}

TEST(MatrixProduct, OfAFlattenedImage) {
  checkLayers({1, 3, 6, 5}, 222,
              [](NetBuilder &net, const NetValue &x) { return net.gemm(net.flatten(net.conv(x, 4, {})), 7); });
  checkLayers({1, 3, 6, 5}, 223, [](NetBuilder &net, const NetValue &x) { return net.gemm(net.flatten(x), 7, false); });
}

TEST(Softmax, OfRows) {
  for (bool logarithm : {false, true}) {
    checkLayers({1, 12}, 230, [&](NetBuilder &net, const NetValue &x) { return net.softmax(x, logarithm); });
    checkLayers({3, 12}, 231,
                [&](NetBuilder &net, const NetValue &x) { return net.softmax(net.gemm(x, 10), logarithm); });
    checkLayers({1, 5, 4, 3}, 232, [&](NetBuilder &net, const NetValue &x) {
      return net.softmax(net.conv(x, 6, {.kernel = {1, 1}}), logarithm);
    });
  }
}

TEST(Edges, DepthToSpaceAtTheOutput) {
  for (const char *mode : {"DCR", "CRD"}) {
    SCOPED_TRACE(mode);
    checkLayers({1, 3, 5, 4}, 240, [&](NetBuilder &net, const NetValue &x) {
      return net.depthToSpace(net.conv(x, 9, {.pads = {1, 1, 1, 1}}), 3, mode);
    });
  }
}

TEST(Edges, MovementAtTheInput) {
  checkLayers({1, 6, 5, 3}, 250, [](NetBuilder &net, const NetValue &x) { // height, width, channels
    return net.conv(net.transpose(x, {0, 3, 1, 2}), 4, {});
  });
  checkLayers({1, 90}, 251,
              [](NetBuilder &net, const NetValue &x) { return net.conv(net.reshape(x, {1, 3, 6, 5}), 4, {}); });
  checkLayers({6, 5, 3}, 252, [](NetBuilder &net, const NetValue &x) {
    return net.conv(net.transpose(net.reshape(x, {1, 6, 5, 3}), {0, 3, 2, 1}), 4, {});
  });
}

TEST(Edges, MovementAtTheOutput) {
  checkLayers({1, 3, 6, 5}, 253,
              [](NetBuilder &net, const NetValue &x) { return net.transpose(net.conv(x, 4, {}), {0, 2, 3, 1}); });
  checkLayers({1, 3, 6, 5}, 254,
              [](NetBuilder &net, const NetValue &x) { return net.reshape(net.conv(x, 4, {}), {4, 12}); });
}

TEST(Edges, SeveralInputsAndOutputs) {
  NetBuilder net(260);
  NetValue a = net.input("a", {1, 3, 6, 5}), b = net.input("b", {1, 4, 6, 5});
  NetValue c = net.conv(a, 4, {.pads = {1, 1, 1, 1}});
  NetValue sum = net.binary("Add", c, b);
  net.output(sum);
  net.output(net.softmax(net.gemm(net.flatten(net.globalAverage(sum)), 3)));
  net.output(c);
  checkModel(net.onnx, 260);
}

} // namespace
} // namespace wsc::test
