// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FIFOs of a model's units: what each thread pushes and pops per sample, from the threads' programs.
#include "runtime/emulator/timing/Model.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::emulator::timing {

using namespace format;

namespace {

void flow(const ThreadProgram &program, int32_t process, std::vector<int64_t> &pushed, std::vector<int32_t> &pusher,
          std::vector<int64_t> &popped, std::vector<int32_t> &popper) {
  std::vector<int64_t> times{1};
  for (const Item &item : program.items) {
    if (item.kind == ItemKind::LoopBegin)
      times.push_back(times.back() * item.trips);
    else if (item.kind == ItemKind::LoopEnd)
      times.pop_back();
    else {
      for (const Access &in : item.in)
        if (in.slot >= 0) {
          popped[in.slot] += times.back() * in.count;
          popper[in.slot] = process;
        }
      if (item.out.slot >= 0) {
        pushed[item.out.slot] += times.back() * item.out.count;
        pusher[item.out.slot] = process;
      }
    }
  }
}

absl::Status fifosOf(const Configuration &configuration, const Model &model, const Unit &unit,
                     std::vector<Fifo> &fifos) {
  const Role &role = configuration.roles[unit.role];
  const auto queues = int32_t(role.queues.size());
  const bool any =
      std::any_of(role.buffers.begin(), role.buffers.end(), [](const Buffer &b) { return b.kind == BufferKind::Fifo; });
  if (!any)
    return absl::OkStatus();
  std::vector<int64_t> pushed(unit.numSlots), popped(unit.numSlots);
  std::vector<int32_t> pusher(unit.numSlots, -1), popper(unit.numSlots, -1);
  for (int32_t t = 0; t < unit.numProcesses; ++t) {
    const int32_t process = unit.firstProcess + t;
    flow(model.program(model.processes[process]), process, pushed, pusher, popped, popper);
  }
  for (size_t b = 0; b < role.buffers.size(); ++b) {
    const int32_t slot = queues + int32_t(b);
    if (role.buffers[b].kind != BufferKind::Fifo || (pushed[slot] == 0 && popped[slot] == 0))
      continue;
    if (pushed[slot] != popped[slot])
      return absl::InvalidArgumentError(
          absl::StrCat("role ", role.name, ", FIFO ", role.buffers[b].name, ": ", pushed[slot], " elements pushed and ",
                       popped[slot], " popped per sample on the core at row ", unit.row, ", col ", unit.col));
    fifos.push_back({unit.firstSlot + slot, pusher[slot], popper[slot], pushed[slot],
                     role.buffers[b].bytes / elementBytes(role.buffers[b].type)});
  }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<std::vector<Fifo>> findFifos(const Configuration &configuration, const Model &model) {
  std::vector<Fifo> fifos;
  for (const Unit &unit : model.units)
    if (unit.role >= 0)
      if (absl::Status status = fifosOf(configuration, model, unit, fifos); !status.ok())
        return status;
  return fifos;
}

} // namespace wsc::emulator::timing
