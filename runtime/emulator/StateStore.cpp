// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves state between host order and cores only when the configuration changes or somebody asks.
#include "runtime/emulator/StateStore.h"

#include "runtime/emulator/Kernels.h"
#include "runtime/emulator/LatticeWalk.h"

#include "absl/strings/str_cat.h"

#include <cstring>

namespace wsc::emulator {

using namespace format;

StateStore::StateStore(const Executable &executable, ResidentStore &residents)
    : executable(executable), residents(residents), resident(executable.states.size(), false) {
  for (const StateVariable &state : executable.states) {
    std::vector<std::byte> bytes(size_t(state.tensor.elements() * elementBytes(state.tensor.type)));
    if (state.initialSection >= 0) {
      const auto initial = executable.sections[state.initialSection].bytes;
      std::memcpy(bytes.data(), initial.data(), std::min(bytes.size(), initial.size()));
    }
    variables.push_back(std::move(bytes));
  }
}

void StateStore::transfer(bool toCores) {
  const Configuration &configuration = executable.configurations[attached];
  for (const StateBinding &binding : configuration.stateBindings) {
    const Lattice &lattice = configuration.roles[binding.role].cores;
    const int64_t width = elementBytes(executable.states[binding.state].tensor.type);
    std::byte *host = variables[binding.state].data();
    int64_t ordinal = 0;
    forEachPoint(lattice, [&](const LatticeIndex &index, int32_t, int32_t) {
      std::byte *here = core(binding.role, binding.buffer, ordinal++);
      const std::byte *const base = host;
      int64_t offset = binding.hostOffset.at(index);
      for (int64_t i = 0; i < binding.extent[0]; ++i)
        for (int64_t j = 0; j < binding.extent[1]; ++j)
          for (int64_t k = 0; k < binding.extent[2]; ++k)
            for (int64_t l = 0; l < binding.extent[3]; ++l) {
              const int64_t at = (offset + i * binding.stride[0] + j * binding.stride[1] + k * binding.stride[2] +
                                  l * binding.stride[3]) *
                                 width;
              if (toCores)
                std::memcpy(here, base + at, size_t(width));
              else
                std::memcpy(host + at, here, size_t(width));
              here += width;
            }
      return true;
    });
  }
}

// From residents to host order.
void StateStore::takeBack(int32_t state) {
  if (resident[size_t(state)])
    residents.store(state, variables[size_t(state)]);
  resident[size_t(state)] = false;
}

absl::Status StateStore::attach(int configuration, std::span<const int32_t> usedResidents) {
  if (attached != configuration) {
    detach();
    attachBuffers(configuration);
  }
  for (int32_t r : usedResidents) {
    const int32_t state = executable.residents[size_t(r)].state;
    if (state < 0 || resident[size_t(state)])
      continue;
    if (absl::Status status = residents.load(state, variables[size_t(state)]); !status.ok())
      return status;
    resident[size_t(state)] = true;
  }
  return absl::OkStatus();
}

void StateStore::attachBuffers(int configuration) {
  for (const StateBinding &binding : executable.configurations[configuration].stateBindings)
    takeBack(binding.state);
  attached = configuration;
  for (const Role &role : executable.configurations[configuration].roles) {
    std::vector<CoreBuffers> buffers(role.buffers.size());
    for (size_t b = 0; b < role.buffers.size(); ++b)
      if (role.buffers[b].kind == BufferKind::State) {
        buffers[b].stride = (role.buffers[b].bytes + 63) / 64 * 64;
        buffers[b].bytes.resize(size_t(buffers[b].stride * role.cores.size() + kSlackBytes));
      }
    cores.push_back(std::move(buffers));
  }
  transfer(true);
}

void StateStore::detach() {
  if (attached < 0)
    return;
  transfer(false);
  attached = -1;
  cores.clear();
}

HostTensor StateStore::read(int state) {
  if (attached >= 0)
    transfer(false);
  if (resident[size_t(state)])
    residents.store(state, variables[size_t(state)]);
  return {variables[state]};
}

absl::Status StateStore::write(int state, const HostTensor &value) {
  if (value.bytes.size() != variables[state].size())
    return absl::InvalidArgumentError(absl::StrCat("state variable ", executable.states[state].tensor.name, " has ",
                                                   variables[state].size(), " bytes, the value given has ",
                                                   value.bytes.size()));
  detach();
  resident[size_t(state)] = false;
  variables[state] = value.bytes;
  return absl::OkStatus();
}

} // namespace wsc::emulator
