// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Section "Ports of the wafer" of docs/Timing.md: the allowance of a cycle and who gets it; and the words of a port's
// lane.
#include "test/support/fabric/Fabric.h"

#include <cstring>

namespace wsc::fabric {

using namespace format;

PortDecision decidePorts(const Fabric &fabric, int64_t t) {
  const size_t count = fabric.ports.size();
  std::vector<bool> ready(count, false);
  for (const Router &router : fabric.routers) {
    const RouterDecision decision = decide(router, t, [](int) { return true; });
    for (const RouterDecision::Move &move : decision.moves)
      for (int side = 0; side < kNumPorts; ++side)
        if (const int port = router.colours[move.colour].out[size_t(side)].port;
            (move.outputs >> side & 1) && port >= 0)
          ready[size_t(port)] = true;
  }
  for (size_t p = 0; p < count; ++p)
    if (const WaferPort &port = fabric.ports[p]; !port.binding->output)
      ready[p] = port.passed < port.words.size() && port.queue->hasRoom(t);

  PortDecision decision;
  decision.served.assign(count, false);
  decision.pointer = fabric.portPointer;
  int64_t allowance = ((t + 1) * fabric.ioRate >> 20) - (t * fabric.ioRate >> 20);
  for (size_t k = 0; k < count; ++k) {
    const size_t p = (size_t(fabric.portPointer) + k) % count;
    if (!ready[p])
      continue;
    if (allowance-- > 0) {
      decision.served[p] = true;
      continue;
    }
    decision.pointer = int(p);
    decision.refused = true;
    break;
  }
  return decision;
}

namespace {

// Calls visit(element of the tensor) in row-major order of the binding's extents.
template <typename Visit> void forEachElement(const WaferPort &port, Visit visit) {
  std::array<int64_t, kMaxDims> extent;
  for (size_t d = 0; d < kMaxDims; ++d)
    extent[d] = port.binding->extent[d].at(port.index);
  const auto &stride = port.binding->stride;
  for (int64_t i = 0; i < extent[0]; ++i)
    for (int64_t j = 0; j < extent[1]; ++j)
      for (int64_t k = 0; k < extent[2]; ++k)
        for (int64_t l = 0; l < extent[3]; ++l)
          visit(port.binding->hostOffset.at(port.index) + i * stride[0] + j * stride[1] + k * stride[2] +
                l * stride[3]);
}

} // namespace

std::vector<uint32_t> wordsOf(const WaferPort &port, const emulator::HostTensor &tensor) {
  std::vector<std::byte> bytes;
  const int64_t width = elementBytes(port.type);
  forEachElement(port, [&](int64_t element) {
    const auto begin = tensor.bytes.begin() + element * width;
    bytes.insert(bytes.end(), begin, begin + width);
  });
  std::vector<uint32_t> words((bytes.size() + 3) / 4);
  if (!bytes.empty())
    std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

void storeWords(const WaferPort &port, const uint32_t *words, emulator::HostTensor &tensor) {
  const size_t width = size_t(elementBytes(port.type));
  size_t at = 0;
  forEachElement(port, [&](int64_t element) {
    std::memcpy(tensor.bytes.data() + size_t(element) * width, reinterpret_cast<const std::byte *>(words) + at, width);
    at += width;
  });
}

} // namespace wsc::fabric
