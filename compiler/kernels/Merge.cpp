// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/Merge.h"

#include <algorithm>
#include <map>
#include <string>

namespace wsc::kernels {

using namespace format;

namespace {

// Appends the bytes of plain values: the structure of an item as a map key.
class Key {
public:
  template <typename T> Key &add(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
    return *this;
  }
  Key &add(const std::string &text) {
    add(text.size());
    bytes.append(text);
    return *this;
  }
  std::string bytes;
};

// An affine number: its column coefficient belongs to the structure, its constant may vary from row to row.
void visitAffine(Affine &affine, Key *key, std::vector<Affine *> *numbers) {
  if (key)
    key->add(affine.perDim);
  numbers->push_back(&affine);
}

void visitLattice(const Lattice &lattice, Key &key) { key.add(lattice.col).add(lattice.dims); }

void visitOperand(Operand &operand, Key *key, std::vector<Affine *> *numbers) {
  if (key)
    key->add(operand.kind).add(operand.buffer).add(operand.queue).add(operand.stride).add(operand.loopStep).add(
        operand.immediate);
  if (operand.kind == OperandKind::Memory)
    visitAffine(operand.base, key, numbers);
}

// visit(item, key, numbers): adds the structure to `key` (if given) and collects the numbers that may vary with the row.
void visit(Role &role, Key *key, std::vector<Affine *> *numbers) {
  if (key) {
    key->add(role.name).add(role.kernel);
    visitLattice(role.cores, *key);
    key->add(role.buffers.size()).add(role.queues.size()).add(role.threads.size());
    for (const Queue &queue : role.queues)
      key->add(queue.output).add(queue.colour).add(queue.index);
  }
  for (Buffer &buffer : role.buffers) {
    if (key)
      key->add(buffer.kind).add(buffer.type).add(buffer.address).add(buffer.bytes).add(buffer.section).add(buffer.state);
    visitAffine(buffer.sectionOffset, key, numbers);
  }
  for (Thread &thread : role.threads) {
    if (key)
      key->add(thread.size());
    for (Instruction &instruction : thread) {
      if (key)
        key->add(instruction.opcode).add(instruction.type).add(instruction.sourceType).add(instruction.controlCount);
      visitOperand(instruction.dst, key, numbers);
      visitOperand(instruction.a, key, numbers);
      visitOperand(instruction.b, key, numbers);
      for (Affine &extent : instruction.extent)
        visitAffine(extent, key, numbers);
    }
  }
}
Lattice &latticeOf(Role &role) { return role.cores; }

void visit(RouterRole &role, Key *key, std::vector<Affine *> *) {
  if (!key)
    return;
  visitLattice(role.routers, *key);
  key->add(role.colour).add(role.net).add(role.positions.size());
  for (const SwitchPosition &position : role.positions)
    key->add(position.input).add(position.outputs);
}
Lattice &latticeOf(RouterRole &role) { return role.routers; }

void visit(IoBinding &binding, Key *key, std::vector<Affine *> *numbers) {
  if (key) {
    visitLattice(binding.ports, *key);
    key->add(binding.output).add(binding.tensor).add(binding.side).add(binding.colour).add(binding.stride);
  }
  visitAffine(binding.hostOffset, key, numbers);
  for (Affine &extent : binding.extent)
    visitAffine(extent, key, numbers);
}
Lattice &latticeOf(IoBinding &binding) { return binding.ports; }

// One item with its numbers at hand.
struct Entry {
  size_t item = 0;
  int32_t row = 0;
  std::vector<int64_t> numbers;
};

// Joins runs of entries at lattice dimension `dim` (2 innermost, then 1, then 0). `items` are edited in place; entries that were joined into an earlier one disappear.
template <typename Item> void joinLevel(std::vector<Item> &items, std::vector<Entry> &entries, int dim) {
  std::vector<Entry> joined;
  for (size_t i = 0; i < entries.size();) {
    size_t end = i + 1;
    int32_t step = 0;
    std::vector<int64_t> slope;
    while (end < entries.size()) {
      const Entry &last = entries[end - 1], &next = entries[end];
      // Inner dimensions must agree.
      const Lattice &a = latticeOf(items[last.item]), &b = latticeOf(items[next.item]);
      if (!(a.dims == b.dims))
        break;
      std::vector<Affine *> aNumbers, bNumbers;
      visit(items[entries[i].item], nullptr, &aNumbers);
      visit(items[next.item], nullptr, &bNumbers);
      bool sameInner = true;
      for (size_t n = 0; n < aNumbers.size() && sameInner; ++n)
        sameInner = aNumbers[n]->perDim == bNumbers[n]->perDim;
      if (!sameInner)
        break;
      int32_t rowStep = next.row - last.row;
      if (rowStep <= 0)
        break;
      std::vector<int64_t> delta(next.numbers.size());
      for (size_t n = 0; n < delta.size(); ++n)
        delta[n] = next.numbers[n] - last.numbers[n];
      if (end == i + 1) {
        step = rowStep;
        slope = std::move(delta);
      } else if (rowStep != step || delta != slope) {
        break;
      }
      ++end;
    }
    // A pair that could start a longer run one later is left to that run.
    if (end == i + 2 && end < entries.size() && entries[end].row - entries[end - 1].row != step &&
        end + 1 < entries.size() &&
        entries[end + 1].row - entries[end].row == entries[end].row - entries[end - 1].row)
      end = i + 1;
    if (end > i + 1) {
      Item &item = items[entries[i].item];
      latticeOf(item).dims[dim] = {int32_t(end - i), step, 0};
      std::vector<Affine *> numbers;
      visit(item, nullptr, &numbers);
      for (size_t n = 0; n < numbers.size(); ++n)
        numbers[n]->perDim[dim] = slope[n];
    }
    joined.push_back(std::move(entries[i]));
    i = end;
  }
  entries = std::move(joined);
}

template <typename Item> std::vector<Item> merge(std::vector<Item> items) {
  std::map<std::string, size_t> groupOf;
  std::vector<std::vector<Entry>> groups;
  for (size_t i = 0; i < items.size(); ++i) {
    Key key;
    std::vector<Affine *> numbers;
    visit(items[i], &key, &numbers);
    Entry entry{i, latticeOf(items[i]).row, {}};
    for (const Affine *number : numbers)
      entry.numbers.push_back(number->constant);
    auto [it, isNew] = groupOf.try_emplace(std::move(key.bytes), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[it->second].push_back(std::move(entry));
  }
  std::vector<Item> result;
  for (std::vector<Entry> &entries : groups) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) { return a.row < b.row; });
    for (int dim = 2; dim >= 0 && entries.size() > 1; --dim)
      joinLevel(items, entries, dim);
    for (const Entry &entry : entries)
      result.push_back(std::move(items[entry.item]));
  }
  return result;
}

} // namespace

std::vector<Role> mergeRoles(std::vector<Role> rows) { return merge(std::move(rows)); }
std::vector<RouterRole> mergeRouters(std::vector<RouterRole> rows) { return merge(std::move(rows)); }
std::vector<IoBinding> mergeIo(std::vector<IoBinding> rows) { return merge(std::move(rows)); }

} // namespace wsc::kernels
