// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Imports models. Every input is a module that verifies or an error. Half of the mutations are of bytes; the others
// change a model that parses: operators, attributes, extents, edges and nodes, so that more of them reach the
// operators.
#include "compiler/import/onnx/Import.h"
#include "compiler/import/onnx/Registry.h"
#include "compiler/import/onnx/onnx.pb.h"
#include "test/fuzz/FuzzContext.h"
#include "test/fuzz/FuzzFile.h"
#include <random>
#include <vector>

using namespace wsc::onnx;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static wsc::test::FuzzContext context;
  static wsc::test::FuzzFile file("model.onnx");
  (void)wsc::import::importOnnx(context.get(), file.write(data, size));
  return 0;
}

namespace {

using Random = std::mt19937;

int pick(Random &random, int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); }

int64_t interesting(Random &random) {
  static constexpr int64_t values[] = {
      -1, 0, 1, 2, 3, 4, 7, 16, 255, 65536, int64_t{1} << 31, int64_t{1} << 40, INT64_MAX, INT64_MIN, -2, -7};
  return values[pick(random, std::size(values))];
}

const std::vector<wsc::import::Operator> &operators() {
  static const std::vector<wsc::import::Operator> all = wsc::import::allOperators();
  return all;
}

void changeAttribute(AttributeProto &attribute, Random &random) {
  if (attribute.ints_size() > 0)
    attribute.set_ints(pick(random, attribute.ints_size()), interesting(random));
  else if (attribute.has_i())
    attribute.set_i(interesting(random));
  else if (attribute.has_f())
    attribute.set_f(static_cast<float>(interesting(random)));
  else if (attribute.floats_size() > 0)
    attribute.mutable_floats()->RemoveLast();
  if (pick(random, 4) == 0 && attribute.ints_size() > 0)
    attribute.mutable_ints()->RemoveLast();
  else if (pick(random, 8) == 0)
    attribute.add_ints(interesting(random));
}

void changeNode(GraphProto &graph, Random &random) {
  NodeProto &node = *graph.mutable_node(pick(random, graph.node_size()));
  const NodeProto &other = graph.node(pick(random, graph.node_size()));
  switch (pick(random, 6)) {
  case 0: {
    const auto &op = operators()[static_cast<size_t>(pick(random, static_cast<int>(operators().size())))];
    node.set_op_type(op.name);
    node.set_domain(op.domain);
    if (pick(random, 2) == 0)
      node.clear_attribute();
    break;
  }
  case 1:
    if (node.attribute_size() > 0)
      changeAttribute(*node.mutable_attribute(pick(random, node.attribute_size())), random);
    break;
  case 2: // another edge
    if (node.input_size() > 0 && other.output_size() > 0)
      node.set_input(pick(random, node.input_size()), other.output(pick(random, other.output_size())));
    break;
  case 3:
    if (node.input_size() > 0 && pick(random, 2) == 0)
      node.mutable_input()->RemoveLast();
    else if (other.input_size() > 0)
      node.add_input(other.input(pick(random, other.input_size())));
    break;
  case 4:
    if (node.attribute_size() > 0 && pick(random, 2) == 0)
      node.mutable_attribute()->RemoveLast();
    else if (other.attribute_size() > 0)
      *node.add_attribute() = other.attribute(pick(random, other.attribute_size()));
    break;
  default:
    node.add_output(node.output_size() > 0 ? node.output(0) + "x" : "x");
  }
}

void changeShape(GraphProto &graph, Random &random) {
  if (pick(random, 2) == 0 && graph.input_size() > 0) {
    auto *type = graph.mutable_input(pick(random, graph.input_size()))->mutable_type()->mutable_tensor_type();
    if (pick(random, 4) == 0)
      type->set_elem_type(pick(random, 28));
    else if (type->shape().dim_size() > 0 && pick(random, 3) > 0)
      type->mutable_shape()->mutable_dim(pick(random, type->shape().dim_size()))->set_dim_value(interesting(random));
    else
      type->mutable_shape()->add_dim()->set_dim_value(interesting(random));
    return;
  }
  if (graph.initializer_size() == 0)
    return;
  TensorProto &tensor = *graph.mutable_initializer(pick(random, graph.initializer_size()));
  if (pick(random, 3) == 0)
    tensor.set_data_type(pick(random, 28));
  else if (tensor.dims_size() > 0)
    tensor.set_dims(pick(random, tensor.dims_size()), interesting(random));
  else
    tensor.add_dims(1);
}

void changeModel(ModelProto &model, Random &random) {
  GraphProto &graph = *model.mutable_graph();
  const int kind = pick(random, 10);
  if (kind < 6 && graph.node_size() > 0)
    return changeNode(graph, random);
  if (kind < 9)
    return changeShape(graph, random);
  if (model.opset_import_size() > 0)
    model.mutable_opset_import(0)->set_version(1 + pick(random, 27));
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  Random random(seed);
  ModelProto model;
  if (pick(random, 4) == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, maxSize);
  for (int i = 1 + pick(random, 3); i > 0; --i)
    changeModel(model, random);
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
