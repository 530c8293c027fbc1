// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FlatBuffers → Executable. FlatBuffers' verifier makes every offset safe to follow and, by its limit on tables, bounds
// the number of objects by the metadata's size. Strings and vectors of numbers may still be shared by many tables in a
// crafted file, so what is copied out of them is charged to a budget, also a multiple of the size.
#include "runtime/format/Metadata.h"
#include "runtime/format/wse_generated.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>

namespace wsc::format {
namespace {

class Decoder {
public:
  explicit Decoder(size_t metadataBytes) : budget(int64_t(metadataBytes) * 16 + 65536) {}

  // Set by the first thing wrong; what is decoded afterwards is dropped.
  std::string problem;

  Executable executable(const schema::Executable &from) {
    Executable to;
    to.execution = text(from.execution());
    list(from.configurations(), to.configurations, [&](const auto &f) { return configuration(f); });
    list(from.states(), to.states, [&](const schema::StateVariable &f) {
      return StateVariable{f.tensor() ? tensorType(*f.tensor()) : TensorType(), f.initial_section()};
    });
    list(from.entries(), to.entries, [&](const auto &f) { return entry(f); });
    list(from.sections(), to.sections, [&](const schema::Name &f) { return Section{text(f.text()), {}}; });
    return to;
  }

private:
  int64_t budget;
  size_t instructions = 0;

  bool charge(size_t bytes) {
    budget -= int64_t(bytes);
    if (budget >= 0)
      return true;
    if (problem.empty())
      problem = "names and lists expand to far more than the metadata's size";
    return false;
  }

  std::string text(const flatbuffers::String *from) {
    return from && charge(from->size()) ? from->str() : std::string();
  }

  template <typename From, typename To, typename Decode>
  void list(const From *from, std::vector<To> &to, Decode decode) {
    if (!from || !problem.empty())
      return;
    to.reserve(from->size());
    for (const auto *item : *from)
      to.push_back(decode(*item));
  }

  // As `list`, for structs and numbers, which the verifier does not count.
  template <typename From, typename To, typename Decode>
  void countedList(const From *from, std::vector<To> &to, Decode decode) {
    if (!from || !charge(from->size() * sizeof(To)))
      return;
    to.reserve(from->size());
    for (auto item : *from)
      to.push_back(decode(item));
  }

  template <typename T, size_t N>
  void numbers(const flatbuffers::Vector<T> *from, std::array<T, N> &to, const char *what) {
    if (!from || !aligned(from))
      return;
    if (from->size() > N) {
      if (problem.empty())
        problem = absl::StrCat(what, " with ", from->size(), " dimensions; the limit is ", N);
      return;
    }
    for (uint32_t i = 0; i < from->size(); ++i)
      to[i] = from->Get(i);
  }

  // The verifier checks the alignment of a vector's length, not of elements wider than that.
  template <typename T> bool aligned(const flatbuffers::Vector<T> *from) {
    if (from->size() == 0 || reinterpret_cast<uintptr_t>(from->Data()) % alignof(T) == 0)
      return true;
    if (problem.empty())
      problem = "a misaligned list of numbers";
    return false;
  }

  Lattice lattice(const schema::Lattice *from) {
    Lattice to;
    if (!from)
      return to;
    to.row = from->row();
    to.col = from->col();
    if (!from->dims())
      return to;
    if (from->dims()->size() > kMaxDims) {
      if (problem.empty())
        problem = absl::StrCat("a lattice with ", from->dims()->size(), " dimensions; the limit is ", kMaxDims);
      return to;
    }
    for (uint32_t d = 0; d < from->dims()->size(); ++d) {
      const schema::LatticeDim &dim = *from->dims()->Get(d);
      to.dims[d] = {dim.count(), dim.row_step(), dim.col_step()};
    }
    return to;
  }

  Affine affine(const schema::Affine *from) {
    Affine to;
    if (from) {
      to.constant = from->constant();
      numbers(from->steps(), to.perDim, "an affine expression");
    }
    return to;
  }

  Buffer buffer(const schema::Buffer &from) {
    Buffer to;
    to.name = text(from.name());
    to.kind = BufferKind(from.kind());
    to.type = ElementType(from.type());
    to.address = from.address();
    to.bytes = from.bytes();
    to.section = from.section();
    to.sectionOffset = affine(from.section_offset());
    to.state = from.state();
    return to;
  }

  Operand operand(const schema::Operand *from) {
    Operand to;
    if (!from)
      return to;
    to.kind = OperandKind(from->kind());
    to.buffer = from->buffer();
    to.queue = from->queue();
    to.base.constant = from->base();
    numbers(from->base_steps(), to.base.perDim, "an operand's base");
    to.stride = {from->stride0(), from->stride1(), from->stride2(), from->stride3()};
    to.loopStep = {from->loop_step0(), from->loop_step1(), from->loop_step2(), from->loop_step3()};
    to.immediate = std::bit_cast<double>(from->immediate_bits());
    return to;
  }

  Instruction instruction(const schema::Instruction &from) {
    Instruction to;
    to.opcode = Opcode(from.opcode());
    to.type = ElementType(from.type());
    to.sourceType = ElementType(from.source_type());
    to.controlCount = from.control_count();
    to.priority = from.priority();
    to.dst = operand(from.dst());
    to.a = operand(from.a());
    to.b = operand(from.b());
    to.extent = {Affine(from.extent0()), Affine(from.extent1()), Affine(from.extent2()), Affine(from.extent3())};
    std::array<int64_t, kMaxDims * kMaxDims> steps{};
    numbers(from.extent_steps(), steps, "an instruction's extents");
    for (int e = 0; e < kMaxDims; ++e)
      for (int d = 0; d < kMaxDims; ++d)
        to.extent[e].perDim[d] = steps[e * kMaxDims + d];
    return to;
  }

  Role role(const schema::Role &from) {
    Role to;
    to.name = text(from.name());
    to.kernel = from.kernel();
    to.cores = lattice(from.cores());
    list(from.buffers(), to.buffers, [&](const auto &f) { return buffer(f); });
    countedList(from.queues(), to.queues,
                [](const schema::Queue *f) { return Queue{f->output(), f->colour(), f->index(), {}}; });
    std::vector<int> filters;
    list(from.filters(), filters, [&](const schema::Filter &f) {
      if (f.queue() < 0 || size_t(f.queue()) >= to.queues.size())
        problem = absl::StrCat("a filter of queue ", f.queue(), " of ", to.queues.size());
      else
        to.queues[size_t(f.queue())].filter = {f.period(), affine(f.begin()), affine(f.words())};
      return 0;
    });
    list(from.threads(), to.threads, [&](const schema::Thread &f) {
      Thread thread;
      if (f.instructions() && (instructions += f.instructions()->size()) > kMaxParts)
        problem = absl::StrCat("more than ", kMaxParts, " instructions");
      list(f.instructions(), thread, [&](const auto &i) { return instruction(i); });
      return thread;
    });
    return to;
  }

  RouterRole routerRole(const schema::RouterRole &from) {
    RouterRole to;
    to.routers = lattice(from.routers());
    to.colour = from.colour();
    to.net = from.net();
    countedList(from.positions(), to.positions,
                [](const schema::SwitchPosition *f) { return SwitchPosition{Port(f->input()), f->outputs()}; });
    return to;
  }

  IoBinding ioBinding(const schema::IoBinding &from) {
    IoBinding to;
    to.output = from.output();
    to.tensor = from.tensor();
    to.ports = lattice(from.ports());
    to.side = Port(from.side());
    to.colour = from.colour();
    to.hostOffset = affine(from.host_offset());
    if (from.extent() && from.extent()->size() > kMaxDims)
      problem = absl::StrCat("an I/O binding with ", from.extent()->size(), " extents; the limit is ", kMaxDims);
    else if (from.extent())
      for (uint32_t d = 0; d < from.extent()->size(); ++d)
        to.extent[d] = affine(from.extent()->Get(d));
    numbers(from.stride(), to.stride, "an I/O binding");
    return to;
  }

  StateBinding stateBinding(const schema::StateBinding &from) {
    StateBinding to;
    to.state = from.state();
    to.role = from.role();
    to.buffer = from.buffer();
    to.hostOffset = affine(from.host_offset());
    numbers(from.extent(), to.extent, "a state binding");
    numbers(from.stride(), to.stride, "a state binding");
    return to;
  }

  Kernel kernel(const schema::Kernel &from) {
    Kernel to;
    to.name = text(from.name());
    list(from.layers(), to.layers, [&](const schema::Name &f) { return text(f.text()); });
    to.row = from.row();
    to.col = from.col();
    to.rows = from.rows();
    to.cols = from.cols();
    to.macs = from.macs();
    to.predictedIntervalCycles = from.predicted_interval_cycles();
    return to;
  }

  Configuration configuration(const schema::Configuration &from) {
    Configuration to;
    to.name = text(from.name());
    list(from.roles(), to.roles, [&](const auto &f) { return role(f); });
    list(from.routers(), to.routers, [&](const auto &f) { return routerRole(f); });
    list(from.io(), to.io, [&](const auto &f) { return ioBinding(f); });
    list(from.state_bindings(), to.stateBindings, [&](const auto &f) { return stateBinding(f); });
    list(from.nets(), to.nets, [&](const schema::Net &f) { return Net{text(f.name()), f.words_per_sample()}; });
    list(from.kernels(), to.kernels, [&](const auto &f) { return kernel(f); });
    return to;
  }

  TensorType tensorType(const schema::TensorType &from) {
    TensorType to;
    to.name = text(from.name());
    to.type = ElementType(from.type());
    if (from.shape() && aligned(from.shape()))
      countedList(from.shape(), to.shape, [](int64_t extent) { return extent; });
    return to;
  }

  Entry entry(const schema::Entry &from) {
    Entry to;
    to.name = text(from.name());
    auto tensor = [&](const auto &f) { return tensorType(f); };
    list(from.inputs(), to.inputs, tensor);
    list(from.outputs(), to.outputs, tensor);
    list(from.steps(), to.steps, [&](const schema::Step &f) {
      Step step{StepKind(f.kind()), f.configuration(), {}};
      countedList(f.after(), step.after, [](int32_t index) { return index; });
      return step;
    });
    return to;
  }
};

} // namespace

absl::StatusOr<Executable> decodeMetadata(std::span<const std::byte> bytes, const std::string &where) {
  const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  flatbuffers::Verifier::Options limits;
  limits.max_depth = 16;
  // A table takes at least 4 bytes itself and 4 for the offset that leads to it; an instruction is up to four tables.
  limits.max_tables = static_cast<flatbuffers::uoffset_t>(std::min(bytes.size() / 8 + 1, kMaxParts * 6));
  limits.check_nested_flatbuffers = false;
  flatbuffers::Verifier verifier(data, bytes.size(), limits);
  if (!schema::VerifyExecutableBuffer(verifier))
    return absl::DataLossError(absl::StrCat(where, ": the metadata is not a well-formed description of an executable"));
  const schema::Executable &root = *schema::GetExecutable(data);
  if (!root.target_json())
    return absl::DataLossError(absl::StrCat(where, ": the metadata holds no target description"));
  absl::StatusOr<target::Target> target = target::parseCompleteTarget(root.target_json()->str(), where + " (target)");
  if (!target.ok())
    return target.status();
  Decoder decoder(bytes.size());
  Executable executable = decoder.executable(root);
  if (!decoder.problem.empty())
    return absl::DataLossError(absl::StrCat(where, ": ", decoder.problem));
  executable.target = *std::move(target);
  return executable;
}

} // namespace wsc::format
