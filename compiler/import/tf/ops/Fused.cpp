// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that graph optimisers make of a layer and what follows it: `fused_ops` names the followers in order. The
// layer is translated by its own operator, the followers after it.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

/// One more operator on the values at hand, with the attributes of this node that `attributes` names.
Value applied(NodeContext &node, const char *op, std::vector<Value> inputs,
              std::initializer_list<const char *> attributes) {
  wsc::tf::NodeDef def;
  def.set_name(node.node().name());
  def.set_op(op);
  for (const char *name : attributes)
    if (const wsc::tf::AttrValue *value = node.find(name)) {
      wsc::tf::AttrEntry &entry = *def.add_attr();
      entry.set_key(name);
      *entry.mutable_value() = *value;
    }
  NodeContext inner(def, node.layers, node.reader(), node.machine, std::move(inputs));
  if (!node.failed())
    findOperator(op)->handler(inner);
  std::vector<Value> results = inner.takeResults();
  return results.empty() ? Value() : results.front();
}

/// The followers of `value`, which take their operands from input `next` on.
void follow(NodeContext &node, Value value, size_t next) {
  const double epsilon = node.floatAttribute("epsilon", 1e-4), slope = node.floatAttribute("leakyrelu_alpha", 0.2);
  node.ignoreAttributes({"num_args", "num_host_args", "TArgs", "host_args"});
  for (const std::string &follower : node.stringsAttribute("fused_ops")) {
    if (node.failed())
      return;
    const size_t operands = follower == "BiasAdd" || follower == "Add" || follower == "Prelu" ? 1
                            : follower == "FusedBatchNorm"                                    ? 4
                                                                                              : 0;
    if (next + operands > node.inputCount())
      return node.fail(absl::StrCat("fused_ops names ", follower, ", whose operands are missing"));
    auto operand = [&] { return node.value(next++); };
    Expression x(node.layers, value.tensor);
    if (follower == "BiasAdd")
      value = applied(node, "BiasAdd", {value, operand()}, {"data_format"});
    else if (follower == "Add")
      value = applied(node, "AddV2", {value, operand()}, {});
    else if (follower == "Prelu")
      value = applied(node, "Prelu", {value, operand()}, {});
    else if (follower == "LeakyRelu")
      value = Value(select(less(x, 0), x * slope, x).tensor());
    else if (follower == "FusedBatchNorm") {
      // scale, offset, mean, variance along the channels
      std::string format = node.stringAttribute("data_format", "NHWC");
      const bool isFirst = format.size() > 1 && format[1] == 'C' && x.rank() > 2;
      auto vector = [&] {
        Expression v = node.in(next++);
        llvm::SmallVector<int64_t> shape(isFirst ? x.rank() - 1 : 1, 1);
        shape[0] = v.size();
        return v.reshape(shape);
      };
      Expression scale = vector(), offset = vector(), mean = vector(), variance = vector();
      value = Value(((x - mean) * (rsqrt(variance + epsilon) * scale) + offset).tensor());
    } else if (const Operator *op = findOperator(follower);
               op && op->minInputs == 1 && op->maxInputs == 1 && op->handler)
      value = applied(node, follower.c_str(), {value}, {});
    else
      return node.unsupported(absl::StrCat("the fused operator ", follower, " is not supported"));
  }
  if (!node.failed())
    node.setResult(value);
}

template <bool isDepthwise> void fusedConv(NodeContext &node) {
  node.ignoreAttributes({"explicit_paddings"});
  follow(node,
         applied(node, isDepthwise ? "DepthwiseConv2dNative" : "Conv2D", {node.value(0), node.value(1)},
                 {"data_format", "strides", "dilations", "padding", "explicit_paddings"}),
         2);
}

void fusedMatMul(NodeContext &node) {
  follow(node, applied(node, "MatMul", {node.value(0), node.value(1)}, {"transpose_a", "transpose_b"}), 2);
}

/// Functions of one tensor, one on the other.
void unaryComposition(NodeContext &node) {
  Value value = node.value(0);
  for (const std::string &name : node.stringsAttribute("op_names")) {
    const Operator *op = findOperator(name);
    if (!op || !op->handler || op->minInputs != 1 || op->maxInputs != 1)
      return node.unsupported(absl::StrCat("the fused operator ", name, " is not supported"));
    value = applied(node, op->name, {value}, {});
  }
  if (!node.failed())
    node.setResult(value);
}

} // namespace

static const Operator table[] = {
    {"_FusedConv2D", 2, anyInputs, fusedConv<false>},
    {"FusedConv2D", 2, anyInputs, fusedConv<false>},
    {"_FusedDepthwiseConv2dNative", 2, anyInputs, fusedConv<true>},
    {"FusedDepthwiseConv2dNative", 2, anyInputs, fusedConv<true>},
    {"_FusedMatMul", 2, anyInputs, fusedMatMul},
    {"_UnaryOpsComposition", 1, 1, unaryComposition},
};
llvm::ArrayRef<Operator> fusedOperators() { return table; }

} // namespace wsc::import::tf
