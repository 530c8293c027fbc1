// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random single-field changes of the good executable: none may crash the verifier, and a change of a field that decides
// where words go or how many they are must be refused.
#include "Fixture.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

namespace wsc::format {
namespace {

using namespace fixture;

constexpr int kMutations = 500;
constexpr uint64_t kSeed = 20240611;

// A field that can be read and set as an integer.
struct Field {
  std::string kind;
  std::function<int64_t()> get;
  std::function<void(int64_t)> set;
};

class Fields {
public:
  std::vector<Field> all;

  template <typename T> void add(const char *kind, T &field) {
    all.push_back({kind, [&field] { return int64_t(field); }, [&field](int64_t value) { field = T(value); }});
  }
  void add(const char *kind, Affine &affine) {
    add(kind, affine.constant);
    add(kind, affine.perDim[3]);
  }
  void add(const char *kind, Lattice &lattice) {
    add(kind, lattice.row);
    add(kind, lattice.col);
    add(kind, lattice.dims[3].count);
    add(kind, lattice.dims[2].count);
  }
  void add(Operand &operand) {
    add(isStream(operand) ? "operand kind of a stream" : "operand kind", operand.kind);
    if (operand.kind == OperandKind::Memory || operand.kind == OperandKind::Fifo)
      add("operand buffer", operand.buffer);
    if (operand.kind == OperandKind::Queue)
      add("operand queue", operand.queue);
    if (operand.kind == OperandKind::Memory) {
      add("operand base", operand.base);
      add("operand stride", operand.stride[3]);
      add("operand loop step", operand.loopStep[0]);
    }
  }
  static bool isStream(const Operand &operand) {
    return operand.kind == OperandKind::Queue || operand.kind == OperandKind::Fifo;
  }
  static bool streams(const Instruction &instruction) {
    for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
      if (isStream(*operand))
        return true;
    return false;
  }
  void add(Instruction &instruction) {
    add("opcode", instruction.opcode);
    add("type", instruction.type);
    add(instruction.dst);
    add(instruction.a);
    add(instruction.b);
    bool control = instruction.opcode == Opcode::EndLoop || instruction.opcode == Opcode::SendControl;
    if (instruction.opcode == Opcode::SendControl)
      add("control count", instruction.controlCount);
    else if (!control)
      add(streams(instruction) ? "extent of a stream" : "extent in memory",
          instruction.extent[instruction.opcode == Opcode::Loop ? 0 : 3].constant);
  }
  void add(Configuration &configuration) {
    for (Role &role : configuration.roles) {
      add("role lattice", role.cores);
      for (Buffer &buffer : role.buffers) {
        add("buffer kind", buffer.kind);
        add("buffer address", buffer.address);
        add("buffer bytes", buffer.bytes);
      }
      for (Queue &queue : role.queues) {
        add("queue direction", queue.output);
        add("queue colour", queue.colour);
        add("queue number", queue.index);
      }
      for (Thread &thread : role.threads)
        for (Instruction &instruction : thread)
          add(instruction);
    }
    for (RouterRole &router : configuration.routers) {
      add("router lattice", router.routers);
      add("router colour", router.colour);
      for (SwitchPosition &position : router.positions) {
        add("switch input", position.input);
        add("switch outputs", position.outputs);
      }
    }
    for (IoBinding &binding : configuration.io) {
      add("io direction", binding.output);
      add("io tensor", binding.tensor);
      add("io lattice", binding.ports);
      add("io side", binding.side);
      add("io colour", binding.colour);
      add("io extent", binding.extent[3].constant);
      add("io offset", binding.hostOffset.constant);
    }
  }
};

TEST(Mutations, FieldsThatDirectWordsCannotBeChangedUnnoticed) {
  std::mt19937_64 random(kSeed);
  std::map<std::string, std::pair<int, int>> refusedOf; // kind → refused, tried
  int refused = 0;
  for (int i = 0; i < kMutations; ++i) {
    Executable executable = goodExecutable();
    Fields fields;
    fields.add(executable.configurations[0]);
    Field &field = fields.all[random() % fields.all.size()];
    int64_t before = field.get();
    const int64_t values[] = {before + 1,       before - 1, before * 2, -before, before ^ 1, int64_t(random() % 16),
                              int64_t(random())};
    field.set(values[random() % std::size(values)]);
    if (field.get() == before) {
      --i; // no change
      continue;
    }
    bool found = !findViolations(executable).empty();
    refused += found;
    refusedOf[field.kind].first += found;
    ++refusedOf[field.kind].second;
  }
  std::cout << "seed " << kSeed << ": " << refused << " of " << kMutations << " single-field changes refused\n";
  for (const auto &[kind, count] : refusedOf)
    std::cout << "  " << kind << ": " << count.first << " of " << count.second << "\n";
  for (const char *kind :
       {"role lattice", "router lattice", "router colour", "switch input", "switch outputs", "queue direction",
        "queue colour", "control count", "extent of a stream", "io direction", "io lattice", "io side", "io colour",
        "io extent", "io tensor", "io offset", "operand queue", "operand kind of a stream"})
    EXPECT_EQ(refusedOf[kind].first, refusedOf[kind].second) << kind;
}

} // namespace
} // namespace wsc::format
