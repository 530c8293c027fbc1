// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structure of everything above a role: configurations with their routers and bindings, state variables, residents,
// entries.
#include "runtime/format/Structure.h"
#include "runtime/format/Bounds.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::format {
namespace {

absl::Status checkRouter(const Executable &executable, const Configuration &configuration, const RouterRole &router,
                         const Where &where) {
  if (absl::Status status = checkLattice(router.routers, where); !status.ok())
    return status;
  if (absl::Status status = checkIndex(router.colour, size_t(executable.target.colours), "colour", where); !status.ok())
    return status;
  if (router.net != -1)
    if (absl::Status status = checkIndex(router.net, configuration.nets.size(), "net", where); !status.ok())
      return status;
  if (router.positions.empty() || router.positions.size() > size_t(executable.target.switchPositions))
    return broken(where, absl::StrCat(router.positions.size(), " switch positions; 1 to ",
                                      executable.target.switchPositions, " are possible"));
  for (const SwitchPosition &position : router.positions)
    if (position.input > Port::Ramp || position.outputs >= (1 << kNumPorts))
      return broken(where, absl::StrCat("a switch position from port ", int(position.input), " to ports ",
                                        int(position.outputs), "; there are ", kNumPorts, " ports"));
  return absl::OkStatus();
}

absl::Status checkTouched(const Interval &touched, int64_t elements, const TensorType &tensor,
                          const std::string &where) {
  if (touched.least >= 0 && touched.most < elements)
    return absl::OkStatus();
  return broken(where, absl::StrCat("touches elements outside tensor \"", tensor.name, "\", which has ", elements));
}

// `users` are the entries that run the configuration.
absl::Status checkBinding(const Executable &executable, const std::vector<const Entry *> &users,
                          const IoBinding &binding, const std::string &where) {
  if (absl::Status status = checkLattice(binding.ports, where); !status.ok())
    return status;
  if (binding.side >= Port::Ramp)
    return broken(where, absl::StrCat("side ", int(binding.side), " is no outer port"));
  if (absl::Status status = checkIndex(binding.colour, size_t(executable.target.colours), "colour", where);
      !status.ok())
    return status;
  if (absl::Status status = checkAffine(binding.hostOffset, binding.ports, where); !status.ok())
    return status;
  __int128 words = 0;
  if (absl::Status status = checkExtents(binding.extent, binding.ports, where, words); !status.ok())
    return status;
  if (words > kMaxTensorElements)
    return broken(where, absl::StrCat("a lane of more than ", kMaxTensorElements, " elements"));
  for (int64_t stride : binding.stride)
    if (stride < -kMaxTensorElements || stride > kMaxTensorElements)
      return broken(
          where, absl::StrCat("a stride of ", stride, " elements; the limit is ", kMaxTensorElements, " either way"));
  Interval touched = elementsTouched(binding.hostOffset, binding.extent, binding.stride, binding.ports);
  if (binding.padded && words > 0 && (touched.least < -kMaxAffineValue || touched.most > kMaxAffineValue))
    return broken(where, absl::StrCat("reaches elements more than ", kMaxAffineValue, " from the tensor's first"));
  for (const Entry *entry : users) {
    const std::vector<TensorType> &tensors = binding.output ? entry->outputs : entry->inputs;
    std::string at = absl::StrCat(where, ", entry \"", entry->name, "\"");
    if (absl::Status status = checkIndex(binding.tensor, tensors.size(), binding.output ? "output" : "input", at);
        !status.ok())
      return status;
    const TensorType &tensor = tensors[binding.tensor];
    if (words > 0 && !binding.padded)
      if (absl::Status status = checkTouched(touched, tensor.elements(), tensor, at); !status.ok())
        return status;
  }
  return absl::OkStatus();
}

absl::Status checkStateBinding(const Executable &executable, const Configuration &configuration,
                               const StateBinding &binding, const std::string &where) {
  if (absl::Status status = checkIndex(binding.state, executable.states.size(), "state variable", where); !status.ok())
    return status;
  if (absl::Status status = checkIndex(binding.role, configuration.roles.size(), "role", where); !status.ok())
    return status;
  const Role &role = configuration.roles[binding.role];
  if (absl::Status status = checkIndex(binding.buffer, role.buffers.size(), "buffer", where); !status.ok())
    return status;
  const Buffer &buffer = role.buffers[binding.buffer];
  const TensorType &tensor = executable.states[binding.state].tensor;
  if (buffer.kind != BufferKind::State || buffer.state != binding.state)
    return broken(where, absl::StrCat("buffer \"", buffer.name, "\" does not hold state variable ", binding.state));
  if (buffer.type != tensor.type)
    return broken(where, absl::StrCat("buffer \"", buffer.name, "\" is ", std::string(elementTypeName(buffer.type)),
                                      ", the variable ", std::string(elementTypeName(tensor.type))));
  if (absl::Status status = checkAffine(binding.hostOffset, role.cores, where); !status.ok())
    return status;
  std::array<Affine, kMaxDims> extent;
  for (int d = 0; d < kMaxDims; ++d) {
    extent[d] = Affine(binding.extent[d]);
    if (binding.stride[d] < -kMaxTensorElements || binding.stride[d] > kMaxTensorElements)
      return broken(where, absl::StrCat("a stride of ", binding.stride[d], " elements; the limit is ",
                                        kMaxTensorElements, " either way"));
  }
  __int128 elements = 0;
  if (absl::Status status = checkExtents(extent, role.cores, where, elements); !status.ok())
    return status;
  if (elements * elementBytes(tensor.type) > buffer.bytes)
    return broken(where, absl::StrCat("places more elements than buffer \"", buffer.name, "\" of ", buffer.bytes,
                                      " bytes holds"));
  if (elements == 0)
    return absl::OkStatus();
  return checkTouched(elementsTouched(binding.hostOffset, extent, binding.stride, role.cores), tensor.elements(),
                      tensor, where);
}

// The points of all lattices together, so that walking every one of them stays proportional to the mesh.
template <typename Items, typename GetLattice>
absl::Status checkTotal(const Items &items, GetLattice getLattice, int64_t limit, const char *what,
                        const std::string &where) {
  int64_t total = 0;
  for (const auto &item : items)
    if ((total += getLattice(item).size()) > limit)
      return broken(where, absl::StrCat("its ", what, " cover more than the ", limit, " places of the mesh"));
  return absl::OkStatus();
}

absl::Status checkConfiguration(const Executable &executable, std::span<const int64_t> sectionBytes, size_t index) {
  const Configuration &configuration = executable.configurations[index];
  std::string where = absl::StrCat("configuration ", index, " \"", configuration.name, "\"");
  std::vector<const Entry *> users;
  int64_t runs = 1;
  for (const Entry &entry : executable.entries)
    for (const Step &step : entry.steps)
      if (step.kind == StepKind::Run && size_t(step.configuration) == index) {
        runs = std::max<int64_t>(runs, int64_t(step.first) + step.count);
        if (users.empty() || users.back() != &entry)
          users.push_back(&entry);
      }
  for (size_t r = 0; r < configuration.roles.size(); ++r)
    if (absl::Status status =
            checkRole(executable, sectionBytes, configuration, configuration.roles[r], runs,
                      [&] { return absl::StrCat(where, ", role ", r, " \"", configuration.roles[r].name, "\""); });
        !status.ok())
      return status;
  for (size_t r = 0; r < configuration.routers.size(); ++r)
    if (absl::Status status = checkRouter(executable, configuration, configuration.routers[r],
                                          [&] { return absl::StrCat(where, ", router role ", r); });
        !status.ok())
      return status;
  for (size_t b = 0; b < configuration.io.size(); ++b)
    if (absl::Status status =
            checkBinding(executable, users, configuration.io[b], absl::StrCat(where, ", I/O binding ", b));
        !status.ok())
      return status;
  for (size_t b = 0; b < configuration.stateBindings.size(); ++b)
    if (absl::Status status = checkStateBinding(executable, configuration, configuration.stateBindings[b],
                                                absl::StrCat(where, ", state binding ", b));
        !status.ok())
      return status;
  int64_t cores = executable.target.numCores();
  int64_t sides = 2 * (int64_t(executable.target.rows) + executable.target.cols);
  int64_t colours = executable.target.colours;
  if (absl::Status status = checkTotal(
          configuration.roles, [](const Role &r) { return r.cores; }, cores, "roles", where);
      !status.ok())
    return status;
  if (absl::Status status = checkTotal(
          configuration.routers, [](const RouterRole &r) { return r.routers; }, cores * colours, "router roles", where);
      !status.ok())
    return status;
  // An outer port takes part in a stream in and a stream out on every colour at most.
  return checkTotal(
      configuration.io, [](const IoBinding &b) { return b.ports; }, 2 * sides * colours, "I/O bindings", where);
}

absl::Status checkEntry(const Executable &executable, const Entry &entry, const std::string &where) {
  for (const TensorType &tensor : entry.inputs)
    if (absl::Status status = checkTensor(tensor, where + ", input"); !status.ok())
      return status;
  for (const TensorType &tensor : entry.outputs)
    if (absl::Status status = checkTensor(tensor, where + ", output"); !status.ok())
      return status;
  for (size_t s = 0; s < entry.steps.size(); ++s) {
    const Step &step = entry.steps[s];
    std::string at = absl::StrCat(where, ", step ", s);
    if (step.kind > StepKind::Run)
      return broken(at, absl::StrCat("step kind ", int(step.kind), " does not exist"));
    if (absl::Status status = checkIndex(step.configuration, executable.configurations.size(), "configuration", at);
        !status.ok())
      return status;
    if (step.count < 1 || step.count > kMaxRuns)
      return broken(at, absl::StrCat("a count of ", step.count, "; 1 to ", kMaxRuns, " are possible"));
    if (step.kind != StepKind::Run && step.count != 1)
      return broken(at, absl::StrCat("a count of ", step.count, ", but only configurations that run are repeated"));
    if (step.first < 0 || step.first > kMaxRuns - step.count)
      return broken(at, absl::StrCat("iterations from number ", step.first, " to ",
                                     int64_t(step.first) + step.count - 1, "; 0 to ", kMaxRuns - 1, " are possible"));
    if (step.kind != StepKind::Run && step.first != 0)
      return broken(at, absl::StrCat("iteration ", step.first, ", but only configurations that run have iterations"));
    for (int32_t before : step.after)
      if (absl::Status status = checkIndex(before, s, "earlier step", at); !status.ok())
        return status;
  }
  return absl::OkStatus();
}

} // namespace

absl::Status checkStructure(const Executable &executable, std::span<const int64_t> sectionBytes) {
  for (size_t v = 0; v < executable.states.size(); ++v) {
    const StateVariable &variable = executable.states[v];
    std::string where = absl::StrCat("state variable ", v);
    if (absl::Status status = checkTensor(variable.tensor, where); !status.ok())
      return status;
    if (variable.initialSection == -1)
      continue;
    if (absl::Status status = checkIndex(variable.initialSection, sectionBytes.size(), "section", where); !status.ok())
      return status;
    int64_t bytes = sectionBytes[variable.initialSection];
    int64_t needed = variable.tensor.elements() * elementBytes(variable.tensor.type);
    if (bytes != needed)
      return broken(
          where, absl::StrCat("needs ", needed, " initial bytes; section ", variable.initialSection, " has ", bytes));
  }
  for (size_t r = 0; r < executable.residents.size(); ++r)
    if (absl::Status status =
            checkResident(executable, sectionBytes, executable.residents[r],
                          [&] { return absl::StrCat("resident ", r, " \"", executable.residents[r].name, "\""); });
        !status.ok())
      return status;
  if (executable.entries.size() > kMaxEntries)
    return broken(std::string("entries"),
                  absl::StrCat("there are ", executable.entries.size(), "; the limit is ", kMaxEntries));
  for (size_t e = 0; e < executable.entries.size(); ++e)
    if (absl::Status status = checkEntry(executable, executable.entries[e],
                                         absl::StrCat("entry ", e, " \"", executable.entries[e].name, "\""));
        !status.ok())
      return status;
  for (size_t c = 0; c < executable.configurations.size(); ++c)
    if (absl::Status status = checkConfiguration(executable, sectionBytes, c); !status.ok())
      return status;
  return absl::OkStatus();
}

} // namespace wsc::format
