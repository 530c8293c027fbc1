// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checked loads, stores and FIFO rings of one core.
#include "runtime/emulator/InterpreterMemory.h"

#include "runtime/numerics/Elements.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <string>

namespace wsc::emulator {

using format::Buffer;
using format::BufferKind;
using format::ElementType;
using format::Operand;

CoreMemory::CoreMemory(const format::Role &role, CoreImage image, int64_t iteration)
    : role(role), image(std::move(image)), fifos(role.buffers.size()), written(role.buffers.size()) {
  for (size_t i = 0; i < role.buffers.size(); ++i)
    places.push_back({i, 0});
  joinWindows(iteration);
  for (size_t i = 0; i < role.buffers.size(); ++i) {
    const Buffer &buffer = role.buffers[i];
    if (buffer.kind == BufferKind::Fifo)
      fifos[i].capacity = buffer.bytes / format::elementBytes(buffer.type);
    if (buffer.kind == BufferKind::Scratch)
      written[i].assign(size_t(buffer.bytes), false);
  }
}

void CoreMemory::joinWindows(int64_t iteration) {
  std::map<int32_t, std::vector<size_t>> windows;
  for (size_t i = 0; i < role.buffers.size(); ++i)
    if (role.buffers[i].kind == BufferKind::Resident)
      windows[role.buffers[i].resident].push_back(i);
  const auto begin = [&](size_t i) { return role.buffers[i].residentOffset + iteration * role.buffers[i].runStep; };
  for (const auto &[resident, buffers] : windows) {
    int64_t low = begin(buffers[0]), high = low;
    for (size_t i : buffers) {
      low = std::min(low, begin(i));
      high = std::max(high, begin(i) + role.buffers[i].bytes);
    }
    std::vector<std::byte> all(size_t(high - low));
    for (size_t i : buffers) {
      std::copy_n(image.buffers[i].begin(), role.buffers[i].bytes, all.begin() + (begin(i) - low));
      places[i] = {buffers[0], begin(i) - low};
    }
    image.buffers[buffers[0]] = std::move(all);
  }
}

CoreImage CoreMemory::takeImage() {
  CoreImage result;
  for (size_t i = 0; i < role.buffers.size(); ++i)
    result.buffers.emplace_back(bytesOf(i), bytesOf(i) + role.buffers[i].bytes);
  return result;
}

absl::Status CoreMemory::checkInside(const Operand &operand, WideAddress address, ElementType type) const {
  const Buffer &buffer = role.buffers[size_t(operand.buffer)];
  int64_t bytes = format::elementBytes(type);
  if (address >= 0 && address + bytes <= buffer.bytes)
    return absl::OkStatus();
  bool printable = address >= INT64_MIN && address <= INT64_MAX;
  return absl::OutOfRangeError(absl::StrCat("element of ", bytes, " bytes at address ",
                                            printable ? absl::StrCat(int64_t(address)) : "beyond 64 bits",
                                            " lies outside buffer '", buffer.name, "' of ", buffer.bytes, " bytes"));
}

absl::StatusOr<uint64_t> CoreMemory::load(const Operand &operand, WideAddress address, ElementType type) const {
  if (absl::Status status = checkInside(operand, address, type); !status.ok())
    return status;
  auto place = size_t(address), number = size_t(operand.buffer);
  const Buffer &buffer = role.buffers[number];
  if (buffer.kind == BufferKind::Scratch)
    for (size_t i = 0; i < size_t(format::elementBytes(type)); ++i)
      if (!written[number][place + i])
        return absl::FailedPreconditionError(
            absl::StrCat("reads address ", place, " of scratch buffer '", buffer.name,
                         "', which this sample has not written; scratch holds nothing from before"));
  return numerics::loadElement(bytesOf(number) + place, type);
}

absl::Status CoreMemory::store(const Operand &operand, WideAddress address, ElementType type, uint64_t payload) {
  if (absl::Status status = checkInside(operand, address, type); !status.ok())
    return status;
  auto place = size_t(address), number = size_t(operand.buffer);
  if (role.buffers[number].kind == BufferKind::Scratch)
    std::fill_n(written[number].begin() + std::ptrdiff_t(place), format::elementBytes(type), true);
  numerics::storeElement(bytesOf(number) + place, type, payload);
  return absl::OkStatus();
}

absl::StatusOr<WideAddress> CoreMemory::indexedAddress(const Operand &operand, WideAddress origin, ElementType type,
                                                       int32_t number) const {
  if (absl::Status status = checkInside(operand, origin, type); !status.ok())
    return status;
  int64_t stride = operand.stride[format::kMaxDims - 1];
  int64_t room = role.buffers[size_t(operand.buffer)].bytes - format::elementBytes(type) - int64_t(origin);
  int64_t last = stride > 0 ? room / stride : stride < 0 ? int64_t(origin) / -stride : 0;
  return origin + WideAddress(stride) * std::clamp<int64_t>(number, 0, last);
}

bool CoreMemory::pop(const Operand &operand, ElementType type, uint64_t &payload) {
  Fifo &fifo = fifos[size_t(operand.buffer)];
  if (fifo.count == 0)
    return false;
  payload = numerics::loadElement(bytesOf(size_t(operand.buffer)) + fifo.head * format::elementBytes(type), type);
  fifo.head = (fifo.head + 1) % fifo.capacity;
  --fifo.count;
  return true;
}

bool CoreMemory::hasRoom(const Operand &operand) const {
  const Fifo &fifo = fifos[size_t(operand.buffer)];
  return fifo.count < fifo.capacity;
}

void CoreMemory::push(const Operand &operand, ElementType type, uint64_t payload) {
  Fifo &fifo = fifos[size_t(operand.buffer)];
  int64_t tail = (fifo.head + fifo.count) % fifo.capacity;
  numerics::storeElement(bytesOf(size_t(operand.buffer)) + tail * format::elementBytes(type), type, payload);
  ++fifo.count;
}

} // namespace wsc::emulator
