// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs grow operator by operator: a kind is drawn, it looks for tensors it can take and appends its nodes, or
// declines and another is drawn. Of each tensor the shape, a bound of its magnitude and whether it is exact are known.
#include "test/support/RandomGraph.h"
#include "test/support/RandomGraphParts.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace wsc::test {

using wsc::onnx::TensorProto;

int64_t GraphMaker::between(int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

int64_t GraphMaker::count(const Shape &shape) {
  int64_t product = 1;
  for (int64_t extent : shape)
    product *= extent;
  return product;
}

Shape GraphMaker::randomShape(int64_t lowest, int64_t highest) {
  Shape shape;
  for (int64_t d = between(lowest, highest); d > 0; --d)
    shape.push_back(chance(8) ? between(7, 17) : between(1, 6));
  return shape;
}

std::vector<float> GraphMaker::eighths(int64_t size, double limit) {
  std::vector<float> values;
  const auto steps = static_cast<int64_t>(limit * 8);
  for (int64_t i = 0; i < size; ++i)
    values.push_back(static_cast<float>(between(-steps, steps)) / 8);
  return values;
}

Value GraphMaker::constant(const Shape &shape, double limit) {
  std::string name = "c" + std::to_string(constants++);
  graph.model.floats(name, shape, eighths(count(shape), limit));
  return {name, shape, TensorProto::FLOAT, limit, true};
}

Value GraphMaker::number(double value) {
  std::string name = "c" + std::to_string(constants++);
  graph.model.floats(name, {}, {static_cast<float>(value)});
  return {name, {}, TensorProto::FLOAT, std::abs(value), true};
}

std::string GraphMaker::integers(const std::vector<int64_t> &numbers) {
  return graph.model.ints("c" + std::to_string(constants++), numbers);
}

std::string GraphMaker::scalarInteger(int64_t number) {
  std::string name = "c" + std::to_string(constants++);
  return graph.model.weights<int64_t>(name, {}, {number}, TensorProto::INT64);
}

Value GraphMaker::addInput(const Shape &shape) {
  std::string name = "x" + std::to_string(graph.inputs.size());
  graph.model.input(name, {shape.begin(), shape.end()});
  TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(TensorProto::FLOAT);
  tensor.mutable_dims()->Add(shape.begin(), shape.end());
  std::vector<float> values = eighths(count(shape), 4);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  graph.inputs.push_back(tensor);
  Value value{name, shape, TensorProto::FLOAT, 4, true};
  values_.push_back(value);
  return value;
}

Value GraphMaker::emit(const std::string &type, const std::vector<std::string> &inputs, Value result,
                       const std::vector<Attribute> &attributes, const std::string &domain) {
  result.name = graph.model.node(type, inputs, attributes);
  graph.model.graph().mutable_node()->rbegin()->set_domain(domain);
  graph.operators.push_back(type);
  for (Value &value : values_)
    for (const std::string &input : inputs)
      value.used = value.used || value.name == input;
  values_.push_back(result);
  return result;
}

std::vector<Value> GraphMaker::emitSeveral(const std::string &type, const std::vector<std::string> &inputs,
                                           std::vector<Value> results, const std::vector<Attribute> &attributes) {
  std::vector<std::string> names;
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].name = "m" + std::to_string(graph.model.graph().node_size()) + "_" + std::to_string(i);
    names.push_back(results[i].name);
  }
  graph.model.nodeWithOutputs(type, inputs, names, attributes);
  graph.operators.push_back(type);
  for (Value &value : values_)
    for (const std::string &input : inputs)
      value.used = value.used || value.name == input;
  values_.insert(values_.end(), results.begin(), results.end());
  return results;
}

Value GraphMaker::tamed(const Value &value, double limit) {
  if (value.bound <= limit)
    return value;
  Value like = value;
  like.exact = false;
  like.bound = 1;
  return emit("Tanh", {value.name}, like);
}

bool GraphMaker::pick(Value &to, int64_t lowestRank, int64_t highestRank, bool exact, int type) {
  std::vector<const Value *> fitting;
  for (const Value &value : values_) {
    const auto rank = static_cast<int64_t>(value.shape.size());
    if (rank >= lowestRank && rank <= highestRank && (!exact || value.exact) && value.type == type &&
        count(value.shape) <= 2000)
      fitting.push_back(&value);
  }
  if (fitting.empty())
    return false;
  // Late ones more often, so that graphs become deep.
  const auto last = static_cast<int64_t>(fitting.size()) - 1;
  to = *fitting[static_cast<size_t>(std::max(between(0, last), between(0, last)))];
  return true;
}

std::vector<Kind> allKinds() {
  std::vector<Kind> kinds = elementwiseKinds();
  for (const std::vector<Kind> &more : {movementKinds(), layerKinds()})
    kinds.insert(kinds.end(), more.begin(), more.end());
  return kinds;
}

RandomGraph makeRandomGraph(uint64_t seed, int operators) {
  GraphMaker maker(seed);
  auto *contrib = maker.graph.model.model().add_opset_import();
  contrib->set_domain("com.microsoft");
  contrib->set_version(1);
  const int64_t wanted = operators > 0 ? operators : maker.between(5, 40);
  for (int64_t i = maker.between(1, 3); i > 0; --i)
    maker.addInput(maker.randomShape(1, 4));
  maker.addInput({maker.between(1, 2), maker.between(1, 4), maker.between(4, 9), maker.between(4, 9)});
  const std::vector<Kind> kinds = allKinds();
  while (static_cast<int64_t>(maker.graph.operators.size()) < wanted)
    kinds[static_cast<size_t>(maker.between(0, static_cast<int64_t>(kinds.size()) - 1))](maker);
  maker.finish();
  return std::move(maker.graph);
}

void GraphMaker::finish() {
  int outputs = 0;
  for (size_t i = values_.size(); i-- > 0 && outputs < 4;)
    if (i + 1 == values_.size() || (!values_[i].used && values_[i].name[0] != 'x')) {
      graph.model.output(values_[i].name);
      ++outputs;
    }
}

bool writeCase(const RandomGraph &graph, const std::string &folder) {
  const std::string data = folder + "/test_data_set_0";
  std::error_code error;
  std::filesystem::create_directories(data, error);
  if (error || !graph.model.write(folder + "/model.onnx"))
    return false;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    std::ofstream file(data + "/input_" + std::to_string(i) + ".pb", std::ios::binary);
    if (!graph.inputs[i].SerializeToOstream(&file) || !file.flush().good())
      return false;
  }
  return true;
}

} // namespace wsc::test
