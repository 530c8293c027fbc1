// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What surrounds the body of a loop. A stack of which each iteration sees one element lies on a core as `count`
// windows, whose distance is a multiple of the bytes after which banks repeat; outside of the loop its elements are
// packed.
#include "compiler/spmd/phases/EntryWriter.h"

#include <algorithm>
#include <utility>

namespace wsc::spmd {

using namespace format;

int64_t EntryWriter::windowBytes(TensorId each) const {
  const int64_t period = int64_t(target.sramBanks) * target.sramAccessBytes;
  const int64_t bytes = wordBytes(network.tensors[size_t(each)].type, plan.held[size_t(each)]->localElements());
  return std::max<int64_t>(1, (bytes + period - 1) / period) * period;
}

int16_t EntryWriter::windowOf(TensorId key, TensorId each) {
  auto [found, added] = phase().buffers.emplace(key, int16_t(0));
  if (added) {
    const Tensor &tensor = network.tensors[size_t(each)];
    found->second = code().scratch(tensor.name, tensor.type, windowBytes(each) / elementBytes(tensor.type));
    code().buffers[size_t(found->second)].runStep = windowBytes(each);
  }
  return found->second;
}

int16_t EntryWriter::wholeStack(TensorId key, TensorId each, int64_t count) {
  auto [found, added] = phase().buffers.emplace(key, int16_t(0));
  if (added) {
    const Tensor &tensor = network.tensors[size_t(each)];
    found->second = code().scratch(tensor.name, tensor.type, count * windowBytes(each) / elementBytes(tensor.type));
  }
  return found->second;
}

void EntryWriter::copyStack(TensorId each, int64_t count, Place to, int64_t toStep, Place from, int64_t fromStep) {
  const Sharding &held = *plan.held[size_t(each)];
  const ElementType type = network.tensors[size_t(each)].type;
  const int64_t bytes = elementBytes(type), elements = held.localElements();
  const size_t begin = code().main.size();
  code().main.push_back(instruction(Opcode::Move, type, {count, elements},
                                    memory(to.buffer, to.baseBytes, {toStep, bytes}),
                                    memory(from.buffer, from.baseBytes, {fromStep, bytes})));
  // What may travel later is written to the end of its last word.
  const int64_t written = (count - 1) * toStep + elements * bytes, rest = wordBytes(type, elements) - elements * bytes;
  if (toStep > elements * bytes && rest > 0)
    code().main.push_back(instruction(Opcode::Move, ElementType::U8, {count, rest},
                                      memory(to.buffer, to.baseBytes + elements * bytes, {toStep, 1}), immediate(0)));
  else if (written % 4 != 0)
    code().main.push_back(instruction(Opcode::Move, ElementType::U8, {4 - written % 4},
                                      memory(to.buffer, to.baseBytes + written, {1}), immediate(0)));
  guardFrom(code(), begin, guardOf(held.rectangle, plan.rectangle));
}

absl::Status EntryWriter::openLoop() {
  const Loop &opened = *std::exchange(loop, nullptr); // what comes before the body is no part of it
  for (const Loop::Carried &carried : opened.carried)
    if (absl::Status status = bringTo(carried.initial, carried.value); !status.ok())
      return status;
  for (const Loop::Slice &slice : opened.slices) {
    const Sharding &held = *plan.held[size_t(slice.slice)];
    auto place = move(slice.stack, stackedSharding(held, opened.count), 0, false);
    if (!place.ok())
      return place.status();
    const int16_t whole = wholeStack(slice.slice, slice.slice, opened.count);
    const int64_t bytes = held.localElements() * elementBytes(network.tensors[size_t(slice.slice)].type);
    copyStack(slice.slice, opened.count, {whole, 0}, windowBytes(slice.slice), *place, bytes);
  }
  phases.emplace_back().count = opened.count;
  phase().loop = int32_t(&opened - plan.loops.data());
  loop = &opened;
  return absl::OkStatus();
}

void EntryWriter::collect(TensorId made) {
  for (const Loop::Collected &collected : loop->collected)
    if (collected.made == made) {
      auto [key, added] = stackKeys.emplace(collected.stack, 0);
      if (added)
        key->second = TensorId(network.tensors.size()) + numCarried++;
      copyStack(made, 1, {windowOf(key->second, made), 0}, 0, {bufferOf(made), 0}, 0);
    }
}

absl::Status EntryWriter::closeLoop() {
  // All values before the first is written over: one may be another's.
  const Pins pins(*this);
  std::vector<Place> made(loop->carried.size());
  for (size_t k = 0; k < made.size(); ++k) {
    const Loop::Carried &carried = loop->carried[k];
    auto place = move(carried.made, *plan.held[size_t(carried.value)], 0, false);
    if (!place.ok())
      return place.status();
    made[k] = *place;
    pinned.push_back(&made[k]);
  }
  for (Place &place : made)
    for (const Loop::Carried &carried : loop->carried)
      if (place.buffer == bufferOf(carried.value)) {
        const Buffer held = code().buffers[size_t(place.buffer)];
        const Place copy{code().scratch("value", held.type, held.bytes / elementBytes(held.type)), 0};
        code().main.push_back(instruction(Opcode::Move, ElementType::U8, {held.bytes}, memory(copy.buffer, 0, {1}),
                                          memory(place.buffer, 0, {1})));
        place.buffer = copy.buffer;
      }
  for (size_t k = 0; k < made.size(); ++k)
    copyStack(loop->carried[k].value, 1, {bufferOf(loop->carried[k].value), 0}, 0, made[k], 0);
  return absl::OkStatus();
}

void EntryWriter::unpackCollected(const Loop &done) {
  for (const Loop::Collected &collected : done.collected) {
    const auto key = stackKeys.find(collected.stack);
    if (key == stackKeys.end())
      continue; // without elements
    const int64_t bytes =
        plan.held[size_t(collected.made)]->localElements() * elementBytes(network.tensors[size_t(collected.made)].type);
    const int16_t whole = wholeStack(key->second, collected.made, done.count);
    copyStack(collected.made, done.count, {bufferOf(collected.stack), 0}, bytes, {whole, 0},
              windowBytes(collected.made));
  }
}

} // namespace wsc::spmd
