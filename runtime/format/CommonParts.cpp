// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts are told apart by their bytes, field by field: immediates that compare equal may differ (0.0, −0.0), and those
// that are equal may not compare so (NaN).
#include "runtime/format/CommonParts.h"

#include <array>
#include <string>
#include <type_traits>
#include <unordered_map>

namespace wsc::format {

namespace {

// Values without padding, one after the other.
class Key {
public:
  template <typename T> Key &operator<<(const T &value) {
    static_assert(std::is_trivially_copyable_v<T> &&
                  (std::has_unique_object_representations_v<T> || std::is_same_v<T, double>));
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
    return *this;
  }
  Key &operator<<(const Affine &value) { return *this << value.constant << value.perDim; }
  Key &operator<<(const std::string &value) {
    *this << value.size();
    bytes += value;
    return *this;
  }
  Key &operator<<(const Operand &value) {
    return *this << value.kind << value.buffer << value.queue << value.base << value.stride << value.loopStep
                 << value.immediate;
  }
  Key &operator<<(const Instruction &value) {
    *this << value.opcode << value.type << value.sourceType << value.controlCount << value.priority << value.mixed
          << value.dst << value.a << value.b;
    for (const Affine &extent : value.extent)
      *this << extent;
    return *this;
  }
  Key &operator<<(const Buffer &value) {
    return *this << value.name << value.kind << value.type << value.address << value.bytes << value.section
                 << value.sectionOffset << value.state << value.resident << value.residentOffset << value.runStep;
  }
  Key &operator<<(const Filter &value) { return *this << value.period << value.begin << value.words; }
  Key &operator<<(const std::vector<Queue> &queues) {
    for (const Queue &queue : queues)
      *this << queue.output << queue.colour << queue.index << queue.filter;
    return *this;
  }
  Key &operator<<(const CommonParts::Numbers &numbers) {
    bytes.append(reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof numbers[0]);
    return *this;
  }

  std::string bytes;
};

// Numbers parts as they come; the first of equal ones is listed.
class Numbering {
public:
  template <typename Part, typename List> uint32_t operator()(const Part &part, List list) {
    key.bytes.clear();
    key << part;
    auto [known, isNew] = numbers.try_emplace(key.bytes, uint32_t(numbers.size()));
    if (isNew)
      list(part);
    return known->second;
  }

private:
  Key key;
  std::unordered_map<std::string, uint32_t> numbers;
};

} // namespace

CommonParts::CommonParts(const Configuration &configuration) {
  Numbering ofBuffers, ofMemories, ofFilters, ofConnections, ofInstructions, ofThreads, ofPrograms;
  auto listIn = [](auto &list) { return [&list](const auto &part) { list.push_back(&part); }; };
  auto copyTo = [](std::vector<Numbers> &list) { return [&list](const Numbers &part) { list.push_back(part); }; };
  auto listQueues = [&](const std::vector<Queue> &queues) {
    Connections &made = connections.emplace_back(&queues);
    for (size_t q = 0; q < queues.size(); ++q)
      if (const Filter &filter = queues[q].filter; filter != Filter())
        made.filters.push_back({uint32_t(q), ofFilters(filter, listIn(filters))});
  };
  Numbers memory, program, numbered;
  for (const Role &role : configuration.roles) {
    memory.clear();
    for (const Buffer &buffer : role.buffers)
      memory.push_back(ofBuffers(buffer, listIn(buffers)));
    program.clear();
    for (const Thread &thread : role.threads) {
      numbered.clear();
      for (const Instruction &instruction : thread)
        numbered.push_back(ofInstructions(instruction, listIn(instructions)));
      program.push_back(ofThreads(numbered, copyTo(threads)));
    }
    roles.push_back({ofMemories(memory, copyTo(memories)), ofConnections(role.queues, listQueues),
                     ofPrograms(program, copyTo(programs))});
  }
}

} // namespace wsc::format
