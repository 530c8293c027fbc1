// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an operator's handler sees of a node: its inputs, its attributes by name and type, the layer builder, the
// machine that runs functions and holds variables, and a place for results. Errors stick to the layer builder; getters
// return the default after one. An attribute that changes the meaning and that nobody asked for is an error once the
// handler is done; types and hints to TensorFlow's runtime are no such.
#pragma once
#include "compiler/import/common/NodeInputs.h"
#include "compiler/import/tf/TensorData.h"
#include "compiler/import/tf/Value.h"
#include "compiler/import/tf/tf.pb.h"
#include <set>
#include <vector>

namespace wsc::import::tf {

class Variables;

/// What handlers ask of the evaluator.
class Machine {
public:
  virtual ~Machine() = default;
  /// Results of a function for its arguments. `function` is an attribute, its own attributes being the function's.
  virtual absl::StatusOr<std::vector<Value>> call(const wsc::tf::NameAttrList &function,
                                                  std::vector<Value> arguments) = 0;
  virtual Variables &variables() = 0;
  /// ImportOptions::likeTensorFlowJs.
  virtual bool likeTensorFlowJs() const = 0;
};

class NodeContext : public NodeInputs {
public:
  NodeContext(const wsc::tf::NodeDef &node, LayerBuilder &layers, TensorReader &reader, Machine &machine,
              std::vector<Value> inputs)
      : NodeInputs(layers), machine(machine), node_(node), reader_(reader), inputs_(std::move(inputs)) {}

  Machine &machine;

  const wsc::tf::NodeDef &node() const { return node_; }

  // Inputs.
  size_t inputCount() const { return inputs_.size(); }
  const Value &value(size_t i) const { return inputs_[i]; }
  const std::vector<Value> &values() const { return inputs_; }
  /// Input i as a tensor; a variable's reference gives its value. Fails for anything else.
  Tensor input(size_t i) override;
  const List *list(size_t i);
  const Strings *strings(size_t i);
  int resource(size_t i);

  // Attributes.
  const wsc::tf::AttrValue *find(const char *name);
  bool hasAttribute(const char *name) { return find(name) != nullptr; }
  int64_t intAttribute(const char *name, int64_t otherwise);
  double floatAttribute(const char *name, double otherwise);
  bool boolAttribute(const char *name, bool otherwise);
  std::string stringAttribute(const char *name, const char *otherwise);
  std::vector<int64_t> intsAttribute(const char *name);
  std::vector<double> floatsAttribute(const char *name);
  std::vector<std::string> stringsAttribute(const char *name);
  /// The element type an attribute names; null and an error for what nn has no tensors of.
  mlir::Type typeAttribute(const char *name, wsc::tf::DataType otherwise);
  const wsc::tf::NameAttrList *functionAttribute(const char *name);
  /// Attributes without influence on what is computed.
  void ignoreAttributes(std::initializer_list<const char *> names) { asked_.insert(names.begin(), names.end()); }

  mlir::Type i32() { return layers.builder().getI32Type(); }
  mlir::Type i64() { return layers.builder().getI64Type(); }
  /// Small constant of integers of an element type.
  Expression integers(llvm::ArrayRef<int64_t> values, mlir::Type element) {
    return constant(layers, {static_cast<int64_t>(values.size())}, values).cast(element);
  }

  TensorReader &reader() { return reader_; }

  // Results.
  void setResult(size_t i, Value value) {
    if (results_.size() <= i)
      results_.resize(i + 1);
    results_[i] = std::move(value);
  }
  void setResult(Value value) { setResult(0, std::move(value)); }
  void setResult(size_t i, const Expression &e) { setResult(i, Value(e.tensor())); }
  void setResult(const Expression &e) { setResult(0, Value(e.tensor())); }
  std::vector<Value> takeResults() { return std::move(results_); }

  /// Fails on attributes that were never asked for.
  void checkComplete();

private:
  const wsc::tf::AttrValue *findOf(const char *name, wsc::tf::AttrValue::ValueCase kind, const char *kindName);

  const wsc::tf::NodeDef &node_;
  TensorReader &reader_;
  std::vector<Value> inputs_;
  std::vector<Value> results_;
  std::set<std::string> asked_;
};

} // namespace wsc::import::tf
