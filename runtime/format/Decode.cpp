// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FlatBuffers → Executable. FlatBuffers' verifier makes every offset safe to follow and, by its limit on tables, bounds
// the number of objects by the metadata's size. Strings and vectors of numbers may still be shared by many tables, so
// what is copied out of them is charged to a budget, also a multiple of the size; so are the parts that roles have in
// common.
#include "runtime/format/DecodeParts.h"
#include "runtime/format/Metadata.h"
#include "runtime/format/Places.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::format {
namespace {

class Decoder : public PartDecoder {
public:
  explicit Decoder(size_t metadataBytes) : PartDecoder(metadataBytes), expansion(expandedBytesLimit(metadataBytes)) {}

  Executable executable(const schema::Executable &from) {
    Executable to;
    to.execution = text(from.execution());
    list(from.configurations(), to.configurations, [&](const auto &f) { return configuration(f); });
    list(from.states(), to.states, [&](const schema::StateVariable &f) {
      return StateVariable{f.tensor() ? tensorType(*f.tensor()) : TensorType(), f.initial_section()};
    });
    list(from.entries(), to.entries, [&](const auto &f) { return entry(f); });
    list(from.residents(), to.residents, [&](const auto &f) { return resident(f); });
    list(from.sections(), to.sections, [&](const schema::Name &f) { return Section{text(f.text()), {}}; });
    return to;
  }

private:
  using NumberLists = flatbuffers::Vector<flatbuffers::Offset<schema::Numbers>>;
  int64_t expansion; // bytes that copies of common parts may still take
  size_t instructions = 0;

  // What the roles of a configuration refer to.
  struct Common {
    std::vector<Buffer> buffers;
    std::vector<std::vector<Queue>> connections;
    std::vector<Instruction> instructions;
    const NumberLists *memories, *threads, *programs;
  };

  std::vector<Queue> connections(const schema::Connections &from, const std::vector<Filter> &filters) {
    std::vector<Queue> to = queues(from.queues());
    if (!from.filters() || !charge(from.filters()->size() * sizeof(schema::FilterOf)))
      return to;
    for (uint32_t i = 0; i < from.filters()->size() && problem.empty(); ++i) {
      const schema::FilterOf &of = *from.filters()->Get(i);
      if (exists(of.queue(), to.size(), "a filter's queue") && exists(of.filter(), filters.size(), "filter"))
        to[of.queue()].filter = filters[of.filter()];
    }
    return to;
  }

  // Calls visit(place) for the numbers of list `number` of `lists`; `what` they are places of has `count` parts.
  template <typename Visit>
  void forEach(const NumberLists *lists, int64_t number, size_t count, const char *what, Visit visit) {
    if (!exists(number, lists ? lists->size() : 0, "list"))
      return;
    const auto *numbers = lists->Get(flatbuffers::uoffset_t(number))->of();
    for (uint32_t i = 0; numbers && i < numbers->size() && problem.empty(); ++i)
      if (exists(numbers->Get(i), count, what))
        visit(numbers->Get(i));
  }

  // Copies of parts are made from few bytes, so what they take is counted on its own. `more`: bytes outside the part.
  template <typename Part> void copyOf(const Part &part, std::vector<Part> &to, size_t more = 0) {
    if ((expansion -= int64_t(sizeof(Part) + more)) >= 0)
      to.push_back(part);
    else if (problem.empty())
      problem = "roles expand to far more than the metadata's size";
  }

  void useCommon(int64_t memory, int64_t connections, int64_t program, const Common &common, Role &to) {
    forEach(common.memories, memory, common.buffers.size(), "buffer",
            [&](uint32_t b) { copyOf(common.buffers[b], to.buffers, common.buffers[b].name.size()); });
    if (exists(connections, common.connections.size(), "list of connections"))
      for (const Queue &queue : common.connections[size_t(connections)])
        copyOf(queue, to.queues);
    const size_t threads = common.threads ? common.threads->size() : 0;
    forEach(common.programs, program, threads, "thread", [&](uint32_t t) {
      copyOf(Thread(), to.threads);
      forEach(common.threads, t, common.instructions.size(), "instruction", [&](uint32_t i) {
        if (++instructions > kMaxParts)
          problem = absl::StrCat("more than ", kMaxParts, " instructions");
        else
          copyOf(common.instructions[i], to.threads.back());
      });
    });
  }

  Role role(const schema::Role &from, const Common &common) {
    Role to;
    to.name = text(from.name());
    to.kernel = from.kernel();
    to.cores = lattice(from.cores());
    if (from.memory() != -1 || from.connections() != -1 || from.program() != -1) {
      useCommon(from.memory(), from.connections(), from.program(), common, to);
      return to;
    }
    list(from.buffers(), to.buffers, [&](const auto &f) { return buffer(f); });
    to.queues = queues(from.queues());
    std::vector<int> filters;
    list(from.filters(), filters, [&](const schema::Filter &f) {
      if (exists(f.queue(), to.queues.size(), "a filter's queue"))
        to.queues[size_t(f.queue())].filter = filter(f);
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

  static std::span<const uint8_t> bytesOf(const flatbuffers::Vector<uint8_t> *from) {
    return from ? std::span<const uint8_t>(from->data(), from->size()) : std::span<const uint8_t>();
  }

  // What was read is added to `to` while it fits the budgets.
  void placedRoles(const flatbuffers::Vector<uint8_t> *from, const Common &common, std::vector<Role> &to) {
    RoleReader reader(bytesOf(from));
    for (PlacedRole placed; problem.empty() && reader.next(placed);) {
      if (!charge(placed.name.size()) || !mayHoldMore(to.size(), "roles"))
        return;
      Role &role = to.emplace_back();
      role.name = std::move(placed.name);
      role.kernel = placed.kernel;
      role.cores = placed.cores;
      useCommon(placed.memory, placed.connections, placed.program, common, role);
    }
    checkSound(reader.sound(), "roles");
  }

  void placedRouters(const flatbuffers::Vector<uint8_t> *from, std::vector<RouterRole> &to) {
    RouterReader reader(bytesOf(from));
    for (RouterRole router; problem.empty() && reader.next(router);) {
      if (!charge(router.positions.size() * sizeof(SwitchPosition)) || !mayHoldMore(to.size(), "routers"))
        return;
      to.push_back(router);
    }
    checkSound(reader.sound(), "routers");
  }

  bool mayHoldMore(size_t count, const char *what) {
    if (count >= kMaxParts && problem.empty())
      problem = absl::StrCat("more than ", kMaxParts, " ", what);
    return count < kMaxParts;
  }

  void checkSound(bool sound, const char *what) {
    if (!sound && problem.empty())
      problem = absl::StrCat("the packed list of ", what, " is damaged");
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
    to.padded = from.padded();
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
    Common common;
    list(from.buffers(), common.buffers, [&](const auto &f) { return buffer(f); });
    std::vector<Filter> filters;
    list(from.filters(), filters, [&](const auto &f) { return filter(f); });
    list(from.connections(), common.connections, [&](const auto &f) { return connections(f, filters); });
    list(from.instructions(), common.instructions, [&](const auto &f) { return instruction(f); });
    common.memories = from.memories();
    common.threads = from.threads();
    common.programs = from.programs();
    list(from.roles(), to.roles, [&](const auto &f) { return role(f, common); });
    list(from.routers(), to.routers, [&](const auto &f) { return routerRole(f); });
    placedRoles(from.role_places(), common, to.roles);
    placedRouters(from.router_places(), to.routers);
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

  Resident resident(const schema::Resident &from) {
    Resident to;
    to.name = text(from.name());
    to.type = ElementType(from.type());
    to.cores = lattice(from.cores());
    to.address = from.address();
    to.bytes = from.bytes();
    to.section = from.section();
    to.sectionOffset = affine(from.section_offset());
    to.state = from.state();
    to.stateOffset = affine(from.state_offset());
    return to;
  }

  Entry entry(const schema::Entry &from) {
    Entry to;
    to.name = text(from.name());
    auto tensor = [&](const auto &f) { return tensorType(f); };
    list(from.inputs(), to.inputs, tensor);
    list(from.outputs(), to.outputs, tensor);
    list(from.steps(), to.steps, [&](const schema::Step &f) {
      Step step{StepKind(f.kind()), f.configuration(), {}, f.count(), f.first()};
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
