// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/wafer/StateGroups.h"

#include "passes/wafer/Constants.h"
#include "passes/wafer/ReadKernel.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace wsc::wafer {

namespace {

/// Streams one core may take for the layers of its variable; a core has a background operation and input queues for
/// each.
constexpr size_t kMostInputs = 4;
/// Streams up to which a layer that only serves others is taken along.
constexpr size_t kFewInputs = 2;

using Groups = SmallVector<StateGroup>;

bool holds(const StateGroup &group, Operation *op) {
  return op && (op == nn::ReadOp(group.read).getOperation() || llvm::is_contained(group.layers, op));
}

/// The streams a group takes.
llvm::SetVector<Value> inputsOf(const StateGroup &group) {
  llvm::SetVector<Value> inputs;
  auto add = [&](Value value) {
    if (!isConstant(value) && !holds(group, value.getDefiningOp()))
      inputs.insert(value);
  };
  for (Operation *layer : group.layers)
    llvm::for_each(layer->getOperands(), add);
  if (group.write)
    add(nn::WriteOp(group.write).getValue());
  return inputs;
}

/// Whether no group waits for itself, all of a group's streams coming before its result.
class Acyclic {
public:
  explicit Acyclic(const Groups &groups) : groups(groups), state(groups.size(), 0) {
    for (auto [g, group] : llvm::enumerate(groups))
      if (group.result)
        groupOf[group.result] = g;
  }
  bool check() {
    return llvm::all_of(llvm::seq<size_t>(0, groups.size()), [&](size_t g) { return visitGroup(g); });
  }

private:
  bool visitGroup(size_t g) {
    if (state[g])
      return state[g] == 2;
    state[g] = 1;
    for (Value input : inputsOf(groups[g]))
      if (!visit(input))
        return false;
    state[g] = 2;
    return true;
  }
  bool visit(Value value) {
    if (auto it = groupOf.find(value); it != groupOf.end())
      return visitGroup(it->second);
    if (!done.insert(value).second || !value.getDefiningOp())
      return true;
    return llvm::all_of(value.getDefiningOp()->getOperands(), [&](Value operand) { return visit(operand); });
  }
  const Groups &groups;
  std::vector<int> state; // 0 not seen, 1 under way, 2 done
  llvm::DenseMap<Value, size_t> groupOf;
  llvm::DenseSet<Value> done;
};

/// Groups of one variable, beside those found so far.
class VariableGrouper {
public:
  VariableGrouper(Block &block, nn::ReadOp read, nn::WriteOp write, llvm::DenseSet<Operation *> &held)
      : block(block), read(read), write(write), held(held),
        type(read ? read.getResult().getType() : write.getValue().getType()),
        name(read ? read.getVariable().str() : write.getVariable().str()) {}

  void add(Groups &groups) {
    write ? takeBackward() : takeForward();
    llvm::SetVector<Value> outside = usedOutside();
    Value old = read ? read.getResult() : Value();
    auto attempt = [&](ArrayRef<StateGroup> more) {
      Groups candidate = groups;
      candidate.append(more.begin(), more.end());
      if (!Acyclic(candidate).check())
        return false;
      groups = std::move(candidate);
      return true;
    };
    if (outside.size() <= 1 && attempt({group(".state", read, write, outside.empty() ? Value() : outside.front())}))
      return;
    // The new value if it is used, else any value that is not the old one.
    Value result;
    for (Value value : outside)
      if (value != old && (!result || (write && value == write.getValue())))
        result = value;
    for (Value given : {result, Value()}) {
      SmallVector<StateGroup> parts;
      bool again = llvm::any_of(outside, [&](Value value) { return value != given; });
      if (read && again) {
        StateGroup first = group(".read", read, {}, old);
        first.layers.clear();
        parts.push_back(std::move(first));
      }
      parts.push_back(group(".write", read, write, given));
      if (attempt(parts))
        return;
    }
    llvm_unreachable("a group without streams and one without result wait for nobody");
  }

private:
  StateGroup group(StringRef suffix, nn::ReadOp groupRead, nn::WriteOp groupWrite, Value result) {
    SmallVector<Operation *> layers;
    for (Operation &op : block)
      if (taken.contains(&op))
        layers.push_back(&op);
    // A written value that stands alone needs no old one.
    bool reads = groupRead &&
                 (result == groupRead.getResult() || (groupWrite && groupWrite.getValue() == groupRead.getResult()) ||
                  llvm::any_of(layers, [&](Operation *op) {
                    return llvm::is_contained(op->getOperands(), groupRead.getResult());
                  }));
    return {name + suffix.str(), reads ? groupRead : nn::ReadOp(), groupWrite, std::move(layers), result};
  }

  bool mayTake(Operation *op) {
    return op && isElementwise(op) && !held.contains(op) && op->getResult(0).getType() == type;
  }
  size_t numInputs() { return inputsOf(group("", read, write, {})).size(); }

  /// Layers between read and write, and layers that only serve them.
  void takeBackward() {
    llvm::DenseSet<Operation *> reachable; // from the read
    for (Operation &op : block)
      if (mayTake(&op) && llvm::any_of(op.getOperands(), [&](Value operand) {
            return (read && operand == read.getResult()) || reachable.contains(operand.getDefiningOp());
          }))
        reachable.insert(&op);
    auto needed = [&](Operation *op) {
      return llvm::any_of(op->getUsers(),
                          [&](Operation *user) { return user == write.getOperation() || taken.contains(user); });
    };
    for (Operation &op : llvm::reverse(block))
      if (reachable.contains(&op) && needed(&op))
        taken.insert(&op);
    if (numInputs() > kMostInputs)
      taken.clear();
    for (Operation &op : llvm::reverse(block)) {
      if (!mayTake(&op) || taken.contains(&op) || !llvm::all_of(op.getUsers(), [&](Operation *user) {
            return user == write.getOperation() || taken.contains(user);
          }))
        continue;
      taken.insert(&op);
      if (numInputs() > kFewInputs)
        taken.erase(&op);
    }
    for (Operation *op : taken)
      held.insert(op);
  }

  /// Layers on the value read and constants.
  void takeForward() {
    Value value = read.getResult();
    while (value.hasOneUse()) {
      Operation *next = *value.getUsers().begin();
      if (!mayTake(next) ||
          !llvm::all_of(next->getOperands(), [&](Value operand) { return operand == value || isConstant(operand); }))
        break;
      taken.insert(next);
      held.insert(next);
      value = next->getResult(0);
    }
  }

  llvm::SetVector<Value> usedOutside() {
    llvm::SetVector<Value> values;
    for (Operation &op : block)
      if (&op == read.getOperation() || taken.contains(&op))
        if (llvm::any_of(op.getUsers(),
                         [&](Operation *user) { return user != write.getOperation() && !taken.contains(user); }))
          values.insert(op.getResult(0));
    return values;
  }

  Block &block;
  nn::ReadOp read;
  nn::WriteOp write;
  llvm::DenseSet<Operation *> &held;
  Type type;
  std::string name;
  llvm::DenseSet<Operation *> taken;
};

} // namespace

FailureOr<Groups> groupState(Block &block) {
  llvm::MapVector<StringRef, std::pair<nn::ReadOp, nn::WriteOp>> uses;
  for (Operation &op : block) {
    if (auto read = dyn_cast<nn::ReadOp>(op)) {
      auto &use = uses[read.getVariable()];
      if (use.first || use.second)
        return read.emitOpError("reads ") << read.getVariable() << " again; run nn-forward-state first";
      use.first = read;
    } else if (auto write = dyn_cast<nn::WriteOp>(op)) {
      auto &use = uses[write.getVariable()];
      if (use.second)
        return write.emitOpError("writes ") << write.getVariable() << " again; run nn-forward-state first";
      use.second = write;
    }
  }
  Groups groups;
  llvm::DenseSet<Operation *> held;
  for (auto &[name, use] : uses)
    VariableGrouper(block, use.first, use.second, held).add(groups);
  return groups;
}

} // namespace wsc::wafer
