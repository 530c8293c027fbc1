// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executable → FlatBuffers. Objects are built children first in a fixed order, so that equal executables give equal
// bytes. Tables are never shared (the reader relies on that to bound its work by the file's size); strings and lists of
// numbers are, and what roles have in common is numbered (CommonParts.h).
#include "runtime/format/CommonParts.h"
#include "runtime/format/FileLayout.h"
#include "runtime/format/Metadata.h"
#include "runtime/format/Places.h"
#include "runtime/format/wse_generated.h"

#include "absl/strings/str_cat.h"

#include <bit>
#include <cstring>
#include <span>
#include <type_traits>
#include <unordered_map>

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

  // A vector of numbers or structs, once for all that are equal; absent when empty.
  template <typename T> auto shared(std::span<const T> items) {
    using Result = std::conditional_t<std::is_arithmetic_v<T>, Vector<T>, Offset<flatbuffers::Vector<const T *>>>;
    if (items.empty())
      return Result();
    std::string key{char(sizeof(T)), char(alignof(T))}; // equal bytes of another kind may be aligned for less
    key.append(reinterpret_cast<const char *>(items.data()), items.size_bytes());
    auto [known, isNew] = vectors.try_emplace(std::move(key), 0);
    if (isNew) {
      if constexpr (std::is_arithmetic_v<T>)
        known->second = builder.CreateVector(items.data(), items.size()).o;
      else
        known->second = builder.CreateVectorOfStructs(items.data(), items.size()).o;
    }
    return Result(known->second);
  }

  // A vector of numbers without those at the end that equal `rest`; absent when none are left.
  template <typename T, size_t N> Vector<T> numbers(const std::array<T, N> &values, T rest) {
    size_t count = N;
    while (count > 0 && values[count - 1] == rest)
      --count;
    return shared(std::span<const T>(values.data(), count));
  }

  Offset<schema::Lattice> lattice(const Lattice &value) {
    size_t count = kMaxDims;
    while (count > 0 && value.dims[count - 1] == Lattice::Dim())
      --count;
    std::vector<schema::LatticeDim> dims;
    for (size_t d = 0; d < count; ++d)
      dims.emplace_back(value.dims[d].count, value.dims[d].rowStep, value.dims[d].colStep);
    return schema::CreateLattice(builder, value.row, value.col, shared(std::span<const schema::LatticeDim>(dims)));
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
                                value.section, offset, value.state, value.resident, value.residentOffset,
                                value.runStep);
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
                                     e[3].constant, extentSteps, value.priority, value.mixed);
  }

  Offset<schema::Numbers> numbersOf(const CommonParts::Numbers &value) {
    return schema::CreateNumbers(builder, shared(std::span<const uint32_t>(value)));
  }

  Offset<schema::Filter> filter(const Filter &value) {
    auto begin = affineOrNone(value.begin), words = affineOrNone(value.words);
    return schema::CreateFilter(builder, 0, value.period, begin, words);
  }

  Offset<schema::Connections> connections(const CommonParts::Connections &value) {
    std::vector<schema::Queue> queues;
    for (const Queue &queue : *value.queues)
      queues.emplace_back(queue.output, queue.colour, queue.index);
    std::vector<schema::FilterOf> filters;
    for (const CommonParts::FilterOf &of : value.filters)
      filters.emplace_back(of.queue, of.filter);
    auto queueVector = shared(std::span<const schema::Queue>(queues));
    return schema::CreateConnections(builder, queueVector, shared(std::span<const schema::FilterOf>(filters)));
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
                                   hostOffset, extent, stride, value.padded);
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
    const CommonParts parts(value);
    auto buffers = list(parts.buffers, [&](const Buffer *b) { return buffer(*b); });
    auto instructions = list(parts.instructions, [&](const Instruction *i) { return instruction(*i); });
    auto filters = list(parts.filters, [&](const Filter *f) { return filter(*f); });
    auto connected = list(parts.connections, [&](const auto &c) { return connections(c); });
    auto ofNumbers = [&](const CommonParts::Numbers &of) { return numbersOf(of); };
    auto memories = list(parts.memories, ofNumbers);
    auto threads = list(parts.threads, ofNumbers);
    auto programs = list(parts.programs, ofNumbers);
    auto roles = shared(std::span<const uint8_t>(packRoles(value, parts)));
    auto routers = shared(std::span<const uint8_t>(packRouters(value)));
    auto io = list(value.io, [&](const IoBinding &b) { return ioBinding(b); });
    auto bindings = list(value.stateBindings, [&](const StateBinding &b) { return stateBinding(b); });
    auto nets =
        list(value.nets, [&](const Net &n) { return schema::CreateNet(builder, text(n.name), n.wordsPerSample); });
    auto kernels = list(value.kernels, [&](const Kernel &k) { return kernel(k); });
    return schema::CreateConfiguration(builder, name, {}, {}, io, bindings, nets, kernels, buffers, memories, filters,
                                       connected, instructions, threads, programs, roles, routers);
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
      return schema::CreateStep(builder, uint8_t(step.kind), step.configuration, after, step.count, step.first);
    });
    return schema::CreateEntry(builder, name, inputs, outputs, steps);
  }

  Offset<schema::Resident> resident(const Resident &value) {
    auto name = text(value.name);
    auto cores = lattice(value.cores);
    auto sectionOffset = affineOrNone(value.sectionOffset), stateOffset = affineOrNone(value.stateOffset);
    return schema::CreateResident(builder, name, uint8_t(value.type), cores, value.address, value.bytes, value.section,
                                  sectionOffset, value.state, stateOffset);
  }

  std::unordered_map<std::string, flatbuffers::uoffset_t> vectors; // those made, by their bytes

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
    auto residents = list(executable.residents, [&](const Resident &r) { return resident(r); });
    builder.Finish(
        schema::CreateExecutable(builder, targetJson, execution, configurations, states, entries, sections, residents));
  }
};

// Parts the metadata will hold; their limit keeps the builder well below its own 2 GB limit, which it asserts.
size_t countParts(const Executable &executable) {
  size_t count = executable.states.size() + executable.entries.size() + executable.residents.size();
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

// Bytes of what readers copy for each role out of the parts it has in common with others.
int64_t expandedBytes(const Executable &executable) {
  size_t bytes = 0;
  for (const Configuration &configuration : executable.configurations)
    for (const Role &role : configuration.roles) {
      bytes += role.queues.size() * sizeof(Queue) + role.threads.size() * sizeof(Thread);
      for (const Buffer &buffer : role.buffers)
        bytes += sizeof(Buffer) + buffer.name.size();
      for (const Thread &thread : role.threads)
        bytes += thread.size() * sizeof(Instruction);
    }
  return int64_t(bytes);
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
  if (int64_t expanded = expandedBytes(executable), limit = expandedBytesLimit(size); expanded > limit)
    return absl::ResourceExhaustedError(absl::StrCat("the roles take ", expanded, " bytes in memory; with metadata of ",
                                                     size, " bytes the limit is ", limit, "; map with fewer roles"));
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), encoder.builder.GetBufferPointer(), size);
  return bytes;
}

} // namespace wsc::format
