// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executable → FlatBuffers. Objects are built children first in a fixed order, so that equal executables give equal
// bytes. Tables are never shared (the reader relies on that to bound its work by the file's size); only strings are.
#include "runtime/format/FileLayout.h"
#include "runtime/format/Metadata.h"
#include "runtime/format/wse_generated.h"

#include "absl/strings/str_cat.h"

#include <bit>
#include <cstring>

namespace wsc::format {
namespace {

template <typename T> using Offset = flatbuffers::Offset<T>;
template <typename T> using Vector = Offset<flatbuffers::Vector<T>>;
using Text = Offset<flatbuffers::String>;

class Encoder {
public:
  flatbuffers::FlatBufferBuilder builder{1 << 16};

private:
  Text text(const std::string &value) { return value.empty() ? Text() : builder.CreateSharedString(value); }

  // A vector of tables; absent when empty.
  template <typename Items, typename Encode> auto list(const Items &items, Encode encode) {
    std::vector<decltype(encode(items[0]))> offsets;
    offsets.reserve(items.size());
    for (const auto &item : items)
      offsets.push_back(encode(item));
    using Table = decltype(encode(items[0]));
    return offsets.empty() ? Vector<Table>() : builder.CreateVector(offsets);
  }

  // A vector of numbers without those at the end that equal `rest`; absent when none are left.
  template <typename T, size_t N> Vector<T> numbers(const std::array<T, N> &values, T rest) {
    size_t count = N;
    while (count > 0 && values[count - 1] == rest)
      --count;
    return count == 0 ? Vector<T>() : builder.CreateVector(values.data(), count);
  }

  Offset<schema::Lattice> lattice(const Lattice &value) {
    size_t count = kMaxDims;
    while (count > 0 && value.dims[count - 1] == Lattice::Dim())
      --count;
    std::vector<schema::LatticeDim> dims;
    for (size_t d = 0; d < count; ++d)
      dims.emplace_back(value.dims[d].count, value.dims[d].rowStep, value.dims[d].colStep);
    auto vector =
        dims.empty() ? Offset<flatbuffers::Vector<const schema::LatticeDim *>>() : builder.CreateVectorOfStructs(dims);
    return schema::CreateLattice(builder, value.row, value.col, vector);
  }

  Offset<schema::Affine> affine(const Affine &value) {
    auto steps = numbers<int64_t>(value.perDim, 0);
    return schema::CreateAffine(builder, value.constant, steps);
  }

  Offset<schema::Affine> affineOrNone(const Affine &value) {
    return value == Affine() ? Offset<schema::Affine>() : affine(value);
  }

  Offset<schema::Buffer> buffer(const Buffer &value) {
    auto name = text(value.name);
    auto offset = affineOrNone(value.sectionOffset);
    return schema::CreateBuffer(builder, name, uint8_t(value.kind), uint8_t(value.type), value.address, value.bytes,
                                value.section, offset, value.state);
  }

  Offset<schema::Operand> operand(const Operand &value) {
    uint64_t bits = std::bit_cast<uint64_t>(value.immediate);
    if (value.kind == OperandKind::None && value.buffer == -1 && value.queue == -1 && value.base == Affine() &&
        value.stride == decltype(value.stride){} && value.loopStep == decltype(value.loopStep){} && bits == 0)
      return {};
    auto steps = numbers<int64_t>(value.base.perDim, 0);
    const auto &s = value.stride;
    const auto &l = value.loopStep;
    return schema::CreateOperand(builder, uint8_t(value.kind), value.buffer, value.queue, value.base.constant, steps,
                                 s[0], s[1], s[2], s[3], l[0], l[1], l[2], l[3], bits);
  }

  Offset<schema::Instruction> instruction(const Instruction &value) {
    auto dst = operand(value.dst), a = operand(value.a), b = operand(value.b);
    std::array<int64_t, kMaxDims * kMaxDims> steps{};
    for (int e = 0; e < kMaxDims; ++e)
      for (int d = 0; d < kMaxDims; ++d)
        steps[e * kMaxDims + d] = value.extent[e].perDim[d];
    auto extentSteps = numbers<int64_t>(steps, 0);
    const auto &e = value.extent;
    return schema::CreateInstruction(builder, uint8_t(value.opcode), uint8_t(value.type), uint8_t(value.sourceType),
                                     value.controlCount, dst, a, b, e[0].constant, e[1].constant, e[2].constant,
                                     e[3].constant, extentSteps, value.priority);
  }

  Offset<schema::Role> role(const Role &value) {
    auto name = text(value.name);
    auto cores = lattice(value.cores);
    auto buffers = list(value.buffers, [&](const Buffer &b) { return buffer(b); });
    std::vector<schema::Queue> queueStructs;
    for (const Queue &queue : value.queues)
      queueStructs.emplace_back(queue.output, queue.colour, queue.index);
    auto queues = queueStructs.empty() ? Offset<flatbuffers::Vector<const schema::Queue *>>()
                                       : builder.CreateVectorOfStructs(queueStructs);
    auto threads = list(value.threads, [&](const Thread &thread) {
      auto instructions = list(thread, [&](const Instruction &i) { return instruction(i); });
      return schema::CreateThread(builder, instructions);
    });
    std::vector<Offset<schema::Filter>> filterTables;
    for (size_t q = 0; q < value.queues.size(); ++q)
      if (const Filter &filter = value.queues[q].filter; filter != Filter()) {
        auto begin = affineOrNone(filter.begin), words = affineOrNone(filter.words);
        filterTables.push_back(schema::CreateFilter(builder, int16_t(q), filter.period, begin, words));
      }
    auto filters = filterTables.empty() ? Offset<flatbuffers::Vector<Offset<schema::Filter>>>()
                                        : builder.CreateVector(filterTables);
    return schema::CreateRole(builder, name, value.kernel, cores, buffers, queues, threads, filters);
  }

  Offset<schema::RouterRole> routerRole(const RouterRole &value) {
    auto routers = lattice(value.routers);
    std::vector<schema::SwitchPosition> structs;
    for (const SwitchPosition &position : value.positions)
      structs.emplace_back(uint8_t(position.input), position.outputs);
    auto positions = structs.empty() ? Offset<flatbuffers::Vector<const schema::SwitchPosition *>>()
                                     : builder.CreateVectorOfStructs(structs);
    return schema::CreateRouterRole(builder, routers, value.colour, value.net, positions);
  }

  Offset<schema::IoBinding> ioBinding(const IoBinding &value) {
    auto ports = lattice(value.ports);
    auto hostOffset = affineOrNone(value.hostOffset);
    size_t count = kMaxDims;
    while (count > 0 && value.extent[count - 1] == Affine(1))
      --count;
    auto extent = list(std::span(value.extent).first(count), [&](const Affine &a) { return affine(a); });
    auto stride = numbers<int64_t>(value.stride, 0);
    return schema::CreateIoBinding(builder, value.output, value.tensor, ports, uint8_t(value.side), value.colour,
                                   hostOffset, extent, stride);
  }

  Offset<schema::StateBinding> stateBinding(const StateBinding &value) {
    auto hostOffset = affineOrNone(value.hostOffset);
    auto extent = numbers<int64_t>(value.extent, 1);
    auto stride = numbers<int64_t>(value.stride, 0);
    return schema::CreateStateBinding(builder, value.state, value.role, value.buffer, hostOffset, extent, stride);
  }

  Offset<schema::Kernel> kernel(const Kernel &value) {
    auto name = text(value.name);
    auto layers =
        list(value.layers, [&](const std::string &layer) { return schema::CreateName(builder, text(layer)); });
    return schema::CreateKernel(builder, name, layers, value.row, value.col, value.rows, value.cols, value.macs,
                                value.predictedIntervalCycles);
  }

  Offset<schema::Configuration> configuration(const Configuration &value) {
    auto name = text(value.name);
    auto roles = list(value.roles, [&](const Role &r) { return role(r); });
    auto routers = list(value.routers, [&](const RouterRole &r) { return routerRole(r); });
    auto io = list(value.io, [&](const IoBinding &b) { return ioBinding(b); });
    auto bindings = list(value.stateBindings, [&](const StateBinding &b) { return stateBinding(b); });
    auto nets =
        list(value.nets, [&](const Net &n) { return schema::CreateNet(builder, text(n.name), n.wordsPerSample); });
    auto kernels = list(value.kernels, [&](const Kernel &k) { return kernel(k); });
    return schema::CreateConfiguration(builder, name, roles, routers, io, bindings, nets, kernels);
  }

  Offset<schema::TensorType> tensorType(const TensorType &value) {
    auto name = text(value.name);
    auto shape = value.shape.empty() ? Vector<int64_t>() : builder.CreateVector(value.shape);
    return schema::CreateTensorType(builder, name, uint8_t(value.type), shape);
  }

  Offset<schema::Entry> entry(const Entry &value) {
    auto name = text(value.name);
    auto tensor = [&](const TensorType &t) { return tensorType(t); };
    auto inputs = list(value.inputs, tensor);
    auto outputs = list(value.outputs, tensor);
    auto steps = list(value.steps, [&](const Step &step) {
      auto after = step.after.empty() ? Vector<int32_t>() : builder.CreateVector(step.after);
      return schema::CreateStep(builder, uint8_t(step.kind), step.configuration, after);
    });
    return schema::CreateEntry(builder, name, inputs, outputs, steps);
  }

public:
  void executable(const Executable &executable, const std::vector<std::string> &sectionNames) {
    auto targetJson = text(target::targetJson(executable.target));
    auto execution = text(executable.execution);
    auto configurations = list(executable.configurations, [&](const Configuration &c) { return configuration(c); });
    auto states = list(executable.states, [&](const StateVariable &s) {
      return schema::CreateStateVariable(builder, tensorType(s.tensor), s.initialSection);
    });
    auto entries = list(executable.entries, [&](const Entry &e) { return entry(e); });
    auto sections =
        list(sectionNames, [&](const std::string &name) { return schema::CreateName(builder, text(name)); });
    builder.Finish(schema::CreateExecutable(builder, targetJson, execution, configurations, states, entries, sections));
  }
};

// Parts the metadata will hold; their limit keeps the builder well below its own 2 GB limit, which it asserts.
size_t countParts(const Executable &executable) {
  size_t count = executable.states.size() + executable.entries.size();
  for (const Configuration &configuration : executable.configurations) {
    count += configuration.routers.size() + configuration.io.size() + configuration.stateBindings.size() +
             configuration.nets.size();
    for (const Kernel &kernel : configuration.kernels)
      count += 1 + kernel.layers.size();
    for (const Role &role : configuration.roles) {
      count += 1 + role.buffers.size();
      for (const Thread &thread : role.threads)
        count += thread.size();
    }
  }
  return count;
}

} // namespace

absl::StatusOr<std::vector<std::byte>> encodeMetadata(const Executable &executable,
                                                      const std::vector<std::string> &sectionNames) {
  if (size_t parts = countParts(executable); parts > kMaxParts)
    return absl::ResourceExhaustedError(absl::StrCat("the executable has ", parts,
                                                     " instructions, roles and other parts; the limit is ", kMaxParts,
                                                     "; map with fewer roles"));
  Encoder encoder;
  encoder.executable(executable, sectionNames);
  size_t size = encoder.builder.GetSize();
  if (size > kMaxMetadataBytes)
    return absl::ResourceExhaustedError(absl::StrCat("the metadata takes ", size, " bytes; the limit is ",
                                                     kMaxMetadataBytes, "; map with fewer roles"));
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), encoder.builder.GetBufferPointer(), size);
  return bytes;
}

} // namespace wsc::format
