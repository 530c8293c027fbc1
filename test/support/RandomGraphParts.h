// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The maker of random graphs and the kinds of operators it draws from; see RandomGraph.h.
#pragma once
#include "test/support/RandomGraph.h"
#include <random>

namespace wsc::test {

using Shape = std::vector<int64_t>;

/// A tensor of the graph.
struct Value {
  std::string name;
  Shape shape;
  int type = wsc::onnx::TensorProto::FLOAT;
  double bound = 4;   ///< of the magnitude of elements
  bool exact = false; ///< every correct implementation gives the same bits
  bool used = false;
};

class GraphMaker {
public:
  explicit GraphMaker(uint64_t seed) : random(seed) {}

  int64_t between(int64_t low, int64_t high);
  /// One time in n.
  bool chance(int64_t n) { return between(1, n) == 1; }
  static int64_t count(const Shape &shape);
  Shape randomShape(int64_t lowestRank, int64_t highestRank);
  /// Multiples of 1/8 in [-limit, limit].
  std::vector<float> eighths(int64_t size, double limit);

  Value constant(const Shape &shape, double limit);
  Value number(double value);
  std::string integers(const std::vector<int64_t> &numbers);
  std::string scalarInteger(int64_t number);
  Value addInput(const Shape &shape);
  /// A tensor of a rank between these, of an ONNX type; false if there is none.
  bool pick(Value &to, int64_t lowestRank, int64_t highestRank, bool exact = false,
            int type = wsc::onnx::TensorProto::FLOAT);
  Value emit(const std::string &type, const std::vector<std::string> &inputs, Value result,
             const std::vector<Attribute> &attributes = {}, const std::string &domain = "");
  std::vector<Value> emitSeveral(const std::string &type, const std::vector<std::string> &inputs,
                                 std::vector<Value> results, const std::vector<Attribute> &attributes = {});
  /// The value, or its hyperbolic tangent where it may be above the limit.
  Value tamed(const Value &value, double limit = 8);
  /// Makes tensors that nothing reads outputs.
  void finish();

  RandomGraph graph;
  std::mt19937_64 random;

private:
  std::vector<Value> values_;
  int constants = 0;
};

/// Appends nodes, or does nothing where no tensor fits.
using Kind = void (*)(GraphMaker &maker);
std::vector<Kind> allKinds();
std::vector<Kind> elementwiseKinds();
std::vector<Kind> movementKinds();
std::vector<Kind> layerKinds();

} // namespace wsc::test
