// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that move, pick and order elements, images and cells, by small examples whose results are written out.
#include "test/unit/import/TfFixture.h"
#include <cmath>

namespace {

using namespace wsc::test;
using Shape = std::vector<int64_t>;

/// The graph of one operator whose inputs are x and constants that need shapes of their own.
class TfMovement : public TfTest {
protected:
  TfBuilder b;
  std::vector<Array> result(const Array &x, const std::string &op, const std::vector<std::string> &inputs,
                            const std::vector<TfAttr> &attributes = {}, std::vector<std::string> wanted = {"y"}) {
    b.input("x", x.shape);
    b.node(op, "y", inputs, attributes);
    return run(b, {x}, outputs(wanted));
  }
  std::string table(const std::string &name, const Shape &extents, const std::vector<int32_t> &values) {
    b.add(tfInts(name, extents, values));
    return name;
  }
};

TEST_F(TfMovement, SpaceToBatch) {
  // TensorFlow's example: [[1, 2], [3, 4]] in blocks of 2 × 2 are four images of one element.
  Array x{{1, 2, 2, 1}, {1, 2, 3, 4}};
  expectNear(result(x, "SpaceToBatchND", {"x", b.ints("block", {2, 2}), table("pads", {2, 2}, {0, 0, 0, 0})}).at(0),
             {4, 1, 1, 1}, {1, 2, 3, 4});
}

TEST_F(TfMovement, BatchToSpaceWithCrops) {
  Array x{{4, 1, 2, 1}, {1, 3, 2, 4, 5, 7, 6, 8}};
  expectNear(result(x, "BatchToSpaceND", {"x", b.ints("block", {2, 2}), table("crops", {2, 2}, {0, 0, 1, 0})}).at(0),
             {1, 2, 3, 1}, {2, 3, 4, 6, 7, 8});
}

TEST_F(TfMovement, DepthToSpace) {
  Array x{{1, 1, 1, 4}, {1, 2, 3, 4}};
  expectNear(result(x, "DepthToSpace", {"x"}, {TfAttr::i("block_size", 2)}).at(0), {1, 2, 2, 1}, {1, 2, 3, 4});
}

TEST_F(TfMovement, MirroredPads) {
  Array x{{3}, {1, 2, 3}};
  expectNear(result(x, "MirrorPad", {"x", table("pads", {1, 2}, {2, 1})}, {TfAttr::s("mode", "REFLECT")}).at(0), {6},
             {3, 2, 1, 2, 3, 2});
}

TEST_F(TfMovement, SplitsWithARest) {
  Array x{{5}, {1, 2, 3, 4, 5}};
  std::vector<Array> y = result(x, "SplitV", {"x", b.ints("sizes", {1, -1, 2}), b.integer("axis", 0)},
                                {TfAttr::i("num_split", 3)}, {"y:1", "y:2"});
  ASSERT_EQ(y.size(), 2u);
  expectNear(y[0], {2}, {2, 3});
  expectNear(y[1], {2}, {4, 5});
}

TEST_F(TfMovement, GathersWithBatches) {
  Array x{{2, 3}, {1, 2, 3, 4, 5, 6}};
  expectNear(result(x, "GatherV2", {"x", table("at", {2, 2}, {2, 0, 1, 1}), b.integer("axis", 1)},
                    {TfAttr::i("batch_dims", 1)})
                 .at(0),
             {2, 2}, {3, 1, 5, 5});
}

TEST_F(TfMovement, ScattersAddUp) {
  Array x{{3}, {1, 2, 4}};
  expectNear(result(x, "ScatterNd", {table("at", {3, 1}, {1, 3, 1}), "x", b.ints("shape", {4})}).at(0), {4},
             {0, 5, 0, 2});
}

TEST_F(TfMovement, SegmentsAddUp) {
  Array x{{3, 2}, {1, 2, 3, 4, 5, 6}};
  expectNear(result(x, "UnsortedSegmentSum", {"x", b.ints("ids", {1, 0, 1}), b.integer("count", 2)}).at(0), {2, 2},
             {3, 4, 6, 8});
}

TEST_F(TfMovement, OneHotAlongAnyAxis) {
  Array x{{2}, {5, -1}};
  b.input("x", x.shape);
  b.node("OneHot", "y", {b.ints("at", {2, 0}), b.integer("depth", 3), "one", "zero"}, {TfAttr::i("axis", 0)});
  b.number("one", 1);
  b.number("zero", 0);
  expectNear(run(b, {}, outputs({"y"})).at(0), {3, 2}, {0, 1, 0, 0, 1, 0});
}

TEST_F(TfMovement, AsTensorFlowJsComputes) {
  // Its OneHot has the new axis last, and its pools have channels last, whatever the attributes say.
  wsc::import::ImportOptions options = outputs({"hot", "y"});
  options.likeTensorFlowJs = true;
  b.node("OneHot", "hot", {b.ints("at", {2, 0}), b.integer("depth", 3), b.number("one", 1), b.number("zero", 0)},
         {TfAttr::i("axis", 0)});
  Array x{{1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}};
  b.input("x", x.shape);
  b.node("MaxPool", "y", {"x"},
         {TfAttr::s("data_format", "NCHW"), TfAttr::s("padding", "VALID"), TfAttr::ints("ksize", {1, 1, 2, 2}),
          TfAttr::ints("strides", {1, 1, 2, 2})});
  std::vector<Array> found = run(b, {x}, options);
  ASSERT_EQ(found.size(), 2u);
  expectNear(found[0], {2, 3}, {0, 0, 1, 1, 0, 0});
  expectNear(found[1], {1, 1, 1, 4}, {5, 6, 7, 8});
  options.likeTensorFlowJs = false;
  expectNear(run(b, {x}, options).at(1), {1, 1, 1, 2}, {6, 8});
}

TEST_F(TfMovement, TopKInOrder) {
  Array x{{2, 4}, {3, 9, 1, 9, 0, -1, 5, 2}};
  std::vector<Array> y = result(x, "TopKV2", {"x", b.integer("k", 2)}, {}, {"y", "y:1"});
  ASSERT_EQ(y.size(), 2u);
  expectNear(y[0], {2, 2}, {9, 9, 5, 2});
  expectNear(y[1], {2, 2}, {1, 3, 2, 3});
}

TEST_F(TfMovement, RunningSums) {
  Array x{{4}, {1, 2, 3, 4}};
  expectNear(
      result(x, "Cumsum", {"x", b.integer("axis", 0)}, {TfAttr::b("exclusive", true), TfAttr::b("reverse", true)})
          .at(0),
      {4}, {9, 7, 4, 0});
}

TEST_F(TfMovement, ReversedSequences) {
  Array x{{2, 3}, {1, 2, 3, 4, 5, 6}};
  expectNear(result(x, "ReverseSequence", {"x", b.ints("lengths", {2, 3})},
                    {TfAttr::i("seq_dim", 1), TfAttr::i("batch_dim", 0)})
                 .at(0),
             {2, 3}, {2, 1, 3, 6, 5, 4});
}

TEST_F(TfMovement, ResizesBetweenPixels) {
  Array x{{1, 1, 2, 1}, {0, 4}};
  expectNear(result(x, "ResizeBilinear", {"x", b.ints("size", {1, 4})}, {TfAttr::b("half_pixel_centers", true)}).at(0),
             {1, 1, 4, 1}, {0, 1, 3, 4});
}

TEST_F(TfMovement, ResizesToNearest) {
  Array x{{1, 1, 3, 1}, {1, 2, 3}};
  expectNear(result(x, "ResizeNearestNeighbor", {"x", b.ints("size", {1, 5})}).at(0), {1, 1, 5, 1}, {1, 1, 2, 2, 3});
}

TEST_F(TfMovement, LocalResponse) {
  Array x{{1, 1, 1, 3}, {1, 2, 3}};
  auto y = [](double v, double sum) { return v / std::pow(1 + 0.5 * sum, 0.75); };
  expectNear(
      result(x, "LRN", {"x"},
             {TfAttr::i("depth_radius", 1), TfAttr::f("bias", 1), TfAttr::f("alpha", 0.5f), TfAttr::f("beta", 0.75f)})
          .at(0),
      {1, 1, 1, 3}, {y(1, 5), y(2, 14), y(3, 13)});
}

TEST_F(TfMovement, Patches) {
  Array x{{1, 2, 3, 1}, {1, 2, 3, 4, 5, 6}};
  expectNear(result(x, "ExtractImagePatches", {"x"},
                    {TfAttr::ints("ksizes", {1, 2, 2, 1}), TfAttr::ints("strides", {1, 1, 1, 1}),
                     TfAttr::ints("rates", {1, 1, 1, 1}), TfAttr::s("padding", "VALID")})
                 .at(0),
             {1, 1, 2, 4}, {1, 2, 4, 5, 2, 3, 5, 6});
}

TEST_F(TfMovement, Diagonals) {
  Array x{{2, 2}, {1, 2, 3, 4}};
  b.integer("k", 0);
  b.number("pad", 0);
  expectNear(result(x, "MatrixDiagPartV3", {"x", "k", "pad"}).at(0), {2}, {1, 4});
}

TEST_F(TfMovement, QuantizedRange) {
  Array x{{3}, {-0.3, 0.26, 9}};
  expectNear(result(x, "FakeQuantWithMinMaxArgs", {"x"},
                    {TfAttr::f("min", 0), TfAttr::f("max", 1.5f), TfAttr::i("num_bits", 2)})
                 .at(0),
             {3}, {0, 0.5, 1.5});
}

TEST_F(TfMovement, GreatestOfSegments) {
  Array x{{3}, {5, 7, 2}};
  expectNear(result(x, "UnsortedSegmentMax", {"x", b.ints("ids", {1, 1, 0}), b.integer("count", 2)}).at(0), {2},
             {2, 7});
}

TEST_F(TfMovement, GatedUnit) {
  Array x{{1, 1}, {0.5}};
  b.input("h", {1, 1});
  b.floats("wru", {2, 2}, {1, 2, 3, 4});
  b.floats("wc", {2, 1}, {0.5f, -0.5f});
  b.floats("bru", {2}, {0.1f, 0.2f});
  b.floats("bc", {1}, {0.3f});
  b.input("x", {1, 1});
  b.node("GRUBlockCell", "y", {"x", "h", "wru", "wc", "bru", "bc"});
  auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const double r = sigmoid(0.5 * 1 + 0.25 * 3 + 0.1), u = sigmoid(0.5 * 2 + 0.25 * 4 + 0.2);
  const double c = std::tanh(0.5 * 0.5 - 0.25 * r * 0.5 + 0.3);
  expectNear(run(b, {{{1, 1}, {0.25}}, x}, outputs({"y:3"})).at(0), {1, 1}, {u * 0.25 + (1 - u) * c});
}

} // namespace
