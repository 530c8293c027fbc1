// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Metadata grows with layers and roles, not with cores: a network that fits a small mesh takes about as many bytes of
// programs and routes on a wafer of 45 times as many cores.
#include "test/models/ModelCheck.h"
#include "test/models/SmallNets.h"

#include "runtime/format/Reader.h"

#include <iostream>

namespace wsc::test {
namespace {

/// Bytes of programs, routes and tables of a model compiled for a target; 0 with a test failure.
int64_t metadataBytes(const OnnxBuilder &model, const std::string &target) {
  TemporaryFolder folder;
  EXPECT_TRUE(model.write(folder / "model.onnx"));
  // The first mapping: a search finds other ones on meshes of other sizes.
  absl::Status compiled = compileModel(folder / "model.onnx", target, folder / "model.wse", {kernels::Effort::Fast});
  EXPECT_TRUE(compiled.ok()) << compiled;
  if (!compiled.ok())
    return 0;
  auto executable = format::loadExecutable(folder / "model.wse");
  EXPECT_TRUE(executable.ok()) << executable.status();
  return executable.ok() ? executable->metadataBytes : 0;
}

void expectAsMany(const OnnxBuilder &model, double most) {
  const int64_t few = metadataBytes(model, "mesh-128x128"), many = metadataBytes(model, "wse2");
  std::cout << few << " bytes on mesh-128x128, " << many << " on wse2\n";
  EXPECT_GT(few, 0);
  EXPECT_LE(double(many), most * double(few));
}

/// Images of 28 × 28, two convolutions, two pools, a matrix product: a few thousand cores of either mesh. The wafer has
/// rows for six bands of the second convolution, which would gain it nothing.
TEST(Metadata, OfAnImageClassifierIsThatOfASmallMesh) {
  NetBuilder net(5);
  NetValue x = net.input("image", {1, 1, 28, 28});
  x = net.unary("Relu", net.conv(x, 8, {{5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}}));
  x = net.maxPool(x, {{2, 2}, {2, 2}});
  x = net.unary("Relu", net.conv(x, 16, {{5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}}));
  x = net.maxPool(x, {{3, 3}, {3, 3}});
  net.output(net.gemm(net.flatten(x), 10));
  expectAsMany(net.onnx, 1.15);
}

/// The same of three matrix products, where bands would take the place of columns.
TEST(Metadata, OfAPerceptronIsThatOfASmallMesh) {
  NetBuilder net(6);
  NetValue x = net.input("x", {1, 784});
  x = net.unary("Relu", net.gemm(x, 256));
  x = net.unary("Relu", net.gemm(x, 128));
  net.output(net.gemm(x, 10));
  expectAsMany(net.onnx, 1.15);
}

/// Windows without padding leave 111, 55 and 27 rows, which no number of wafer rows divides into: lanes of every group
/// would run differently.
TEST(Metadata, OfWindowsWithoutPaddingIsThatOfASmallMesh) {
  NetBuilder net(7);
  NetValue x = net.input("image", {1, 3, 224, 32});
  x = net.unary("Relu", net.conv(x, 8, {{3, 3}, {2, 2}}));
  x = net.maxPool(x, {{3, 3}, {2, 2}});
  x = net.unary("Relu", net.conv(x, 8, {{1, 1}}));
  x = net.maxPool(x, {{3, 3}, {2, 2}});
  net.output(x);
  expectAsMany(net.onnx, 1.3);
}

/// Equal layers in phases are one loop: their programs are written once. Two and twelve layers may take different
/// rectangles, on which programs are larger or smaller; over several sizes that evens out.
TEST(Metadata, OfTwelveEqualLayersIsThatOfTwo) {
  auto bytesOf = [](int layers, int64_t tokens, int64_t width) {
    NetBuilder net(8);
    NetValue x = net.input("x", {1, tokens, width});
    for (int i = 0; i < layers; ++i)
      x = transformerLayer(net, x);
    net.output(x);
    TemporaryFolder folder;
    EXPECT_TRUE(net.onnx.write(folder / "model.onnx"));
    const absl::Status compiled = compileModel(folder / "model.onnx", "wse2", folder / "model.wse",
                                               {kernels::Effort::Default, 1, 1}, driver::Execution::Phased);
    EXPECT_TRUE(compiled.ok()) << compiled;
    auto executable = format::loadExecutable(folder / "model.wse");
    EXPECT_TRUE(executable.ok()) << executable.status();
    return executable.ok() ? executable->metadataBytes : 0;
  };
  int64_t two = 0, twelve = 0;
  for (const auto &[tokens, width] : {std::pair(16, 32), std::pair(32, 64), std::pair(64, 128)}) {
    const int64_t ofTwo = bytesOf(2, tokens, width), ofTwelve = bytesOf(12, tokens, width);
    std::cout << tokens << " x " << width << ": " << ofTwo << " bytes of two layers, " << ofTwelve << " of twelve\n";
    EXPECT_GT(ofTwo, 0);
    two += ofTwo;
    twelve += ofTwelve;
  }
  EXPECT_LE(double(twelve), 1.2 * double(two));
}

} // namespace
} // namespace wsc::test
