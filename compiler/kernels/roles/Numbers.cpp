// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/roles/Numbers.h"

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
    key->add(operand.kind)
        .add(operand.buffer)
        .add(operand.queue)
        .add(operand.stride)
        .add(operand.loopStep)
        .add(operand.immediate);
  if (operand.kind == OperandKind::Memory)
    visitAffine(operand.base, key, numbers);
}

// visit(item, key, numbers): adds the structure to `key` (if given) and collects the numbers that may vary with the
// row.
void visit(Role &role, Key *key, std::vector<Affine *> *numbers) {
  if (key) {
    key->add(role.name).add(role.kernel);
    visitLattice(role.cores, *key);
    key->add(role.buffers.size()).add(role.queues.size()).add(role.threads.size());
    for (const Queue &queue : role.queues)
      key->add(queue.output).add(queue.colour).add(queue.index).add(queue.filter.period);
  }
  for (Queue &queue : role.queues)
    if (queue.filter.period != 0) {
      visitAffine(queue.filter.begin, key, numbers);
      visitAffine(queue.filter.words, key, numbers);
    }
  for (Buffer &buffer : role.buffers) {
    if (key)
      key->add(buffer.kind)
          .add(buffer.type)
          .add(buffer.address)
          .add(buffer.bytes)
          .add(buffer.section)
          .add(buffer.state);
    visitAffine(buffer.sectionOffset, key, numbers);
  }
  for (Thread &thread : role.threads) {
    if (key)
      key->add(thread.size());
    for (Instruction &instruction : thread) {
      if (key)
        key->add(instruction.opcode)
            .add(instruction.type)
            .add(instruction.sourceType)
            .add(instruction.controlCount)
            .add(instruction.priority)
            .add(instruction.mixed);
      visitOperand(instruction.dst, key, numbers);
      visitOperand(instruction.a, key, numbers);
      visitOperand(instruction.b, key, numbers);
      for (Affine &extent : instruction.extent)
        visitAffine(extent, key, numbers);
    }
  }
}
void visit(IoBinding &binding, Key *key, std::vector<Affine *> *numbers) {
  if (key) {
    visitLattice(binding.ports, *key);
    key->add(binding.output).add(binding.tensor).add(binding.side).add(binding.colour).add(binding.stride);
  }
  visitAffine(binding.hostOffset, key, numbers);
  for (Affine &extent : binding.extent)
    visitAffine(extent, key, numbers);
}
template <typename Item> std::string structure(const Item &item) {
  Key key;
  std::vector<Affine *> numbers;
  visit(const_cast<Item &>(item), &key, &numbers);
  return std::move(key.bytes);
}
template <typename Item> std::vector<Affine *> numbers(Item &item) {
  std::vector<Affine *> list;
  visit(item, nullptr, &list);
  return list;
}

} // namespace

std::string structureOf(const Role &role) { return structure(role); }
std::string structureOf(const IoBinding &binding) { return structure(binding); }
std::vector<Affine *> numbersOf(Role &role) { return numbers(role); }
std::vector<Affine *> numbersOf(IoBinding &binding) { return numbers(binding); }

} // namespace wsc::kernels
