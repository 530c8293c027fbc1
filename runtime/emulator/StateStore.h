// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// State variables: in host order, and spread over the State buffers of the configuration that used them last or over
// residents.
#pragma once

#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/ResidentStore.h"

#include <vector>

namespace wsc::emulator {

class StateStore {
public:
  StateStore(const format::Executable &executable, ResidentStore &residents);

  // Makes the cores' buffers of `configuration` current, and of the residents that it uses those with a state.
  absl::Status attach(int configuration, std::span<const int32_t> usedResidents);
  // The bytes of State buffer `buffer` on a core of the attached configuration.
  std::byte *core(int32_t role, int32_t buffer, int64_t ordinal) {
    CoreBuffers &b = cores[role][buffer];
    return b.bytes.data() + ordinal * b.stride;
  }

  HostTensor read(int state);
  absl::Status write(int state, const HostTensor &value);

private:
  struct CoreBuffers {
    int64_t stride = 0;
    std::vector<std::byte> bytes;
  };
  void transfer(bool toCores);
  void attachBuffers(int configuration);
  void detach();

  void takeBack(int32_t state);

  const format::Executable &executable;
  ResidentStore &residents;
  std::vector<std::vector<std::byte>> variables;
  std::vector<bool> resident; // per variable: residents hold it
  int attached = -1;
  std::vector<std::vector<CoreBuffers>> cores; // [role][buffer]
};

} // namespace wsc::emulator
