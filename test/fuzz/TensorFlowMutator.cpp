// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutations for the target of TensorFlow graphs. A quarter are of bytes; the others change a graph that parses
// (operators, attributes, extents, edges, nodes, and the same in functions) or an index, whose checksums are made right
// again, so that more of them reach what lies behind the parsers.
#include "compiler/import/tf/Crc32c.h"
#include "compiler/import/tf/Registry.h"
#include "compiler/import/tf/tf.pb.h"
#include <algorithm>
#include <cstring>
#include <random>

using namespace wsc::tf;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

using Random = std::mt19937;
using Nodes = google::protobuf::RepeatedPtrField<NodeDef>;

int pick(Random &random, int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); }

int64_t interesting(Random &random) {
  static constexpr int64_t values[] = {
      -1, 0, 1, 2, 3, 4, 7, 16, 255, 65536, int64_t{1} << 31, int64_t{1} << 40, INT64_MAX, INT64_MIN, -2, -7};
  return values[pick(random, std::size(values))];
}

DataType anyType(Random &random) {
  static constexpr DataType common[] = {DT_FLOAT, DT_INT32, DT_BOOL, DT_INT64, DT_UINT8, DT_HALF, DT_DOUBLE};
  return random() % 4 ? common[pick(random, std::size(common))] : static_cast<DataType>(pick(random, 24));
}

const std::string &anyOperator(Random &random) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const wsc::import::tf::Family &family : wsc::import::tf::families())
      for (const wsc::import::tf::Operator &op : family.operators)
        result.push_back(op.name);
    return result;
  }();
  return names[random() % names.size()];
}

void changeShape(TensorShapeProto &shape, Random &random) {
  if (shape.dim_size() > 0 && pick(random, 3) > 0)
    shape.mutable_dim(pick(random, shape.dim_size()))->set_size(interesting(random));
  else if (shape.dim_size() > 0 && pick(random, 3) == 0)
    shape.mutable_dim()->RemoveLast();
  else
    shape.add_dim()->set_size(interesting(random));
}

void changeTensor(TensorProto &tensor, Random &random) {
  switch (pick(random, 4)) {
  case 0:
    return changeShape(*tensor.mutable_tensor_shape(), random);
  case 1:
    return tensor.set_dtype(anyType(random));
  default:
    if (tensor.int_val_size() > 0)
      tensor.set_int_val(pick(random, tensor.int_val_size()), static_cast<int32_t>(interesting(random)));
    else if (tensor.float_val_size() > 0)
      tensor.set_float_val(pick(random, tensor.float_val_size()), static_cast<float>(interesting(random)));
    else if (tensor.tensor_content().size() >= 4) {
      const auto value = static_cast<int32_t>(interesting(random));
      std::string &content = *tensor.mutable_tensor_content();
      std::memcpy(content.data() + 4 * (random() % (content.size() / 4)), &value, 4);
    }
  }
}

void changeValue(AttrValue &value, Random &random) {
  static constexpr const char *words[] = {"SAME",  "VALID", "NHWC", "NCHW",      "EXPLICIT", "REFLECT",
                                          "truee", "",      "i,j",  "ij,jk->ik", "FULL",     "SYMMETRIC"};
  switch (value.value_case()) {
  case AttrValue::kI:
    return value.set_i(interesting(random));
  case AttrValue::kF:
    return value.set_f(static_cast<float>(interesting(random)));
  case AttrValue::kB:
    return value.set_b(!value.b());
  case AttrValue::kS:
    return value.set_s(words[pick(random, std::size(words))]);
  case AttrValue::kType:
    return value.set_type(anyType(random));
  case AttrValue::kShape:
    return changeShape(*value.mutable_shape(), random);
  case AttrValue::kTensor:
    return changeTensor(*value.mutable_tensor(), random);
  case AttrValue::kList: {
    AttrValue::ListValue &list = *value.mutable_list();
    if (list.i_size() > 0 && pick(random, 4) > 0)
      list.set_i(pick(random, list.i_size()), interesting(random));
    else if (list.i_size() > 0 && pick(random, 2) == 0)
      list.mutable_i()->RemoveLast();
    else if (list.type_size() > 0)
      list.set_type(pick(random, list.type_size()), anyType(random));
    else if (list.shape_size() > 0)
      changeShape(*list.mutable_shape(pick(random, list.shape_size())), random);
    else
      list.add_i(interesting(random));
    return;
  }
  default:
    return value.set_i(interesting(random));
  }
}

void changeNode(Nodes &nodes, Random &random) {
  NodeDef &node = *nodes.Mutable(pick(random, nodes.size()));
  const NodeDef other = nodes.Get(pick(random, nodes.size()));
  switch (pick(random, 10)) {
  case 0:
    node.set_op(anyOperator(random));
    break;
  case 1: // another edge
    if (node.input_size() > 0)
      node.set_input(pick(random, node.input_size()), other.name());
    break;
  case 2:
    if (node.input_size() > 0 && pick(random, 2) == 0)
      node.mutable_input()->RemoveLast();
    else
      node.add_input((pick(random, 8) == 0 ? "^" : "") + other.name() + (pick(random, 8) == 0 ? ":1" : ""));
    break;
  case 3:
    if (node.attr_size() > 0 && pick(random, 2) == 0)
      node.mutable_attr()->RemoveLast();
    else if (other.attr_size() > 0)
      *node.add_attr() = other.attr(pick(random, other.attr_size()));
    break;
  case 4: // a further node behind this one
    if (nodes.size() < 64) {
      NodeDef &added = *nodes.Add();
      added.set_name("n" + std::to_string(nodes.size()));
      added.set_op(anyOperator(random));
      for (int i = pick(random, 4); i > 0; --i)
        added.add_input(nodes.Get(pick(random, nodes.size() - 1)).name());
      *added.mutable_attr() = other.attr();
    }
    break;
  case 5:
    if (nodes.size() > 1 && pick(random, 4) == 0)
      nodes.DeleteSubrange(pick(random, nodes.size()), 1);
    break;
  default:
    if (node.attr_size() > 0)
      changeValue(*node.mutable_attr(pick(random, node.attr_size()))->mutable_value(), random);
  }
}

void changeGraph(GraphDef &graph, Random &random) {
  FunctionDefLibrary &library = *graph.mutable_library();
  if (library.function_size() > 0 && pick(random, 3) == 0) {
    FunctionDef &function = *library.mutable_function(pick(random, library.function_size()));
    if (function.node_def_size() > 0 && pick(random, 8) > 0)
      return changeNode(*function.mutable_node_def(), random);
    if (function.ret_size() > 0 && function.node_def_size() > 0)
      function.mutable_ret(pick(random, function.ret_size()))
          ->set_value(function.node_def(pick(random, function.node_def_size())).name());
    return;
  }
  if (graph.node_size() > 0)
    changeNode(*graph.mutable_node(), random);
}

void changeSaved(SavedModel &saved, Random &random) {
  if (saved.meta_graphs_size() == 0)
    return;
  changeGraph(*saved.mutable_meta_graphs(pick(random, saved.meta_graphs_size()))->mutable_graph_def(), random);
}

/// Bytes of `proto` as they are after a few changes; 0 where they are none or would be too many.
template <typename Proto>
size_t changeProto(uint8_t *data, size_t size, size_t maxSize, Random &random, void (*change)(Proto &, Random &)) {
  Proto proto;
  if (!proto.ParseFromArray(data, static_cast<int>(size)))
    return 0;
  for (int i = 1 + pick(random, 3); i > 0; --i)
    change(proto, random);
  const std::string bytes = proto.SerializeAsString();
  if (bytes.size() > maxSize)
    return 0;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

/// Makes the checksums of a table's blocks right: a block's content ends where five bytes (its compression, 0, and the
/// checksum) are followed by the next block or the footer. Places are guessed from the first bytes of the footer only
/// for the index block; data blocks lie before it one after another, of which small tables have one.
void repairTable(uint8_t *data, size_t size) {
  constexpr size_t footerBytes = 48, trailerBytes = 5;
  if (size < footerBytes)
    return;
  const uint8_t *at = data + size - footerBytes, *end = data + size;
  auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && at < end; shift += 7) {
      const uint8_t byte = *at++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        break;
    }
    return value;
  };
  auto repair = [&](uint64_t offset, uint64_t bytes) {
    if (offset > size || bytes > size - offset || size - offset - bytes < trailerBytes)
      return;
    const std::string_view content(reinterpret_cast<const char *>(data) + offset, bytes + 1);
    const uint32_t crc = wsc::import::tf::masked(wsc::import::tf::crc32c(content));
    std::memcpy(data + offset + bytes + 1, &crc, sizeof(crc));
  };
  const uint64_t metaOffset = varint(), metaBytes = varint(), indexOffset = varint(), indexBytes = varint();
  repair(metaOffset, metaBytes);
  if (metaOffset >= trailerBytes)
    repair(0, metaOffset - trailerBytes);
  repair(indexOffset, indexBytes);
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  Random random(seed);
  if (size < 2 || maxSize < 2)
    return LLVMFuzzerMutate(data, size, maxSize);
  const int kind = data[0] % 4;
  if (kind == 3) {
    const size_t changed = 1 + LLVMFuzzerMutate(data + 1, size - 1, maxSize - 1);
    if (random() % 4)
      repairTable(data + 1, changed - 1);
    return changed;
  }
  if (random() % 4 != 0 && kind != 1) {
    const size_t changed = kind == 0 ? changeProto<GraphDef>(data + 1, size - 1, maxSize - 1, random, changeGraph)
                                     : changeProto<SavedModel>(data + 1, size - 1, maxSize - 1, random, changeSaved);
    if (changed > 0)
      return 1 + changed;
  }
  return LLVMFuzzerMutate(data, size, maxSize);
}
