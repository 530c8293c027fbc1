// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// State variables: in host order, and spread over the State buffers of the configuration that used them last.
#pragma once

#include "runtime/emulator/CoreEngine.h"

#include <vector>

namespace wsc::emulator {

class StateStore {
public:
  explicit StateStore(const format::Executable &executable);

  // Makes the cores' buffers of `configuration` current.
  void attach(int configuration);
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
  void detach();

  const format::Executable &executable;
  std::vector<std::vector<std::byte>> variables;
  int attached = -1;
  std::vector<std::vector<CoreBuffers>> cores; // [role][buffer]
};

} // namespace wsc::emulator
