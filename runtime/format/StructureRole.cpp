// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structure of one role: buffers and constants inside their section on every core of the lattice, queues, and the
// instruction lists with their loops.
#include "runtime/format/Bounds.h"
#include "runtime/format/Structure.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace wsc::format {
namespace {

absl::Status checkBuffer(const Executable &executable, std::span<const int64_t> sectionBytes, const Role &role,
                         const Buffer &buffer, int64_t runs, const Where &where) {
  if (buffer.kind > BufferKind::Resident)
    return broken(where, absl::StrCat("buffer kind ", int(buffer.kind), " does not exist"));
  if (int(buffer.type) >= kNumElementTypes)
    return broken(where, absl::StrCat("element type ", int(buffer.type), " does not exist"));
  constexpr int64_t mostBytes = int64_t(1) << 32;
  if (buffer.address < 0 || buffer.address > mostBytes || buffer.bytes < 0 || buffer.bytes > mostBytes)
    return broken(where, absl::StrCat("address ", buffer.address, " with ", buffer.bytes, " bytes lies in no SRAM"));
  if (buffer.kind == BufferKind::State) {
    if (absl::Status status = checkIndex(buffer.state, executable.states.size(), "state variable", where); !status.ok())
      return status;
  } else if (buffer.state != -1) {
    return broken(where, absl::StrCat("names state variable ", buffer.state, " but is no state buffer"));
  }
  if (absl::Status status = checkWindow(executable, buffer, runs, where); !status.ok())
    return status;
  if (absl::Status status = checkAffine(buffer.sectionOffset, role.cores, where); !status.ok())
    return status;
  if (buffer.kind != BufferKind::Constant)
    return buffer.section == -1 ? absl::OkStatus()
                                : broken(where, absl::StrCat("names section ", buffer.section, " but is no constant"));
  if (absl::Status status = checkIndex(buffer.section, sectionBytes.size(), "section", where); !status.ok())
    return status;
  Interval offsets = rangeOver(buffer.sectionOffset, role.cores);
  int64_t bytes = sectionBytes[buffer.section];
  if (offsets.least < 0 || offsets.most + buffer.bytes > bytes)
    return broken(where,
                  absl::StrCat("takes bytes ", int64_t(offsets.least), " to ", int64_t(offsets.most) + buffer.bytes,
                               " of section ", buffer.section, ", which has ", bytes));
  return absl::OkStatus();
}

absl::Status checkOperand(const Role &role, const Operand &operand, bool destination, const Where &where) {
  if (operand.kind > OperandKind::Null)
    return broken(where, absl::StrCat("operand kind ", int(operand.kind), " does not exist"));
  bool usesBuffer = operand.kind == OperandKind::Memory || operand.kind == OperandKind::Fifo;
  if (usesBuffer || operand.buffer != -1)
    if (absl::Status status = checkIndex(operand.buffer, role.buffers.size(), "buffer", where); !status.ok())
      return status;
  if (operand.kind == OperandKind::Fifo && role.buffers[operand.buffer].kind != BufferKind::Fifo)
    return broken(where,
                  absl::StrCat("buffer ", operand.buffer, " (", role.buffers[operand.buffer].name, ") is no FIFO"));
  bool usesQueue = operand.kind == OperandKind::Queue;
  if (usesQueue || operand.queue != -1)
    if (absl::Status status = checkIndex(operand.queue, role.queues.size(), "queue", where); !status.ok())
      return status;
  if (usesQueue && role.queues[operand.queue].output != destination)
    return broken(where, absl::StrCat("queue ", operand.queue, " is an ", destination ? "input" : "output", " queue; ",
                                      destination ? "a destination" : "a source", " needs the other kind"));
  return checkAffine(operand.base, role.cores, where);
}

absl::Status checkThread(const Role &role, const Thread &thread, const Where &where) {
  std::vector<__int128> trips; // product of the trip counts of the loops open, outermost first
  __int128 work = 0;
  for (size_t i = 0; i < thread.size(); ++i) {
    const Instruction &instruction = thread[i];
    if (instruction.opcode > Opcode::SendControl)
      return broken(absl::StrCat(where.text(), ", instruction ", i),
                    absl::StrCat("opcode ", int(instruction.opcode), " does not exist"));
    auto at = [&] {
      return absl::StrCat(where.text(), ", instruction ", i, " (", std::string(opcodeInfo(instruction.opcode).name),
                          ")");
    };
    if (int(std::max(instruction.type, instruction.sourceType)) >= kNumElementTypes)
      return broken(at, absl::StrCat("element type ", int(std::max(instruction.type, instruction.sourceType)),
                                     " does not exist"));
    for (const auto &[operand, name] :
         {std::pair(&instruction.dst, "dst"), std::pair(&instruction.a, "a"), std::pair(&instruction.b, "b")})
      if (absl::Status status = checkOperand(role, *operand, operand == &instruction.dst,
                                             [&, name = name] { return absl::StrCat(at(), ", operand ", name); });
          !status.ok())
        return status;
    __int128 elements = 0;
    if (absl::Status status = checkExtents(instruction.extent, role.cores, at, elements); !status.ok())
      return status;
    if (instruction.opcode == Opcode::SendControl && instruction.controlCount == 0)
      return broken(at, "a control word needs a count of at least 1");
    __int128 outer = trips.empty() ? 1 : trips.back();
    if (instruction.opcode == Opcode::Loop) {
      if (trips.size() == kMaxDims)
        return broken(at, absl::StrCat("loops nest deeper than ", kMaxDims));
      elements = rangeOver(instruction.extent[0], role.cores).most;
      trips.push_back(outer * elements);
    } else if (instruction.opcode == Opcode::EndLoop) {
      if (trips.empty())
        return broken(at, "ends a loop that was never begun");
      trips.pop_back();
      elements = 0;
    }
    work += outer * std::min<__int128>(elements, kMaxWorkPerSample + 1);
    if (work > kMaxWorkPerSample || (!trips.empty() && trips.back() > kMaxWorkPerSample))
      return broken(at, absl::StrCat("the thread processes more than ", kMaxWorkPerSample,
                                     " elements and loop trips per sample"));
  }
  if (!trips.empty())
    return broken(where, absl::StrCat(trips.size(), " loops are never ended"));
  return absl::OkStatus();
}

} // namespace

absl::Status checkRole(const Executable &executable, std::span<const int64_t> sectionBytes,
                       const Configuration &configuration, const Role &role, int64_t runs, const Where &where) {
  if (absl::Status status = checkLattice(role.cores, where); !status.ok())
    return status;
  if (role.kernel != -1)
    if (absl::Status status = checkIndex(role.kernel, configuration.kernels.size(), "kernel", where); !status.ok())
      return status;
  constexpr size_t mostIndexed = INT16_MAX;
  if (role.buffers.size() > mostIndexed || role.queues.size() > mostIndexed)
    return broken(where, absl::StrCat(role.buffers.size(), " buffers and ", role.queues.size(),
                                      " queues; the limit is ", mostIndexed));
  for (const Buffer &buffer : role.buffers)
    if (absl::Status status = checkBuffer(executable, sectionBytes, role, buffer, runs,
                                          [&] { return absl::StrCat(where.text(), ", buffer \"", buffer.name, "\""); });
        !status.ok())
      return status;
  const target::Target &target = executable.target;
  for (size_t q = 0; q < role.queues.size(); ++q) {
    auto at = [&] { return absl::StrCat(where.text(), ", queue ", q); };
    const Queue &queue = role.queues[q];
    if (absl::Status status = checkIndex(queue.colour, size_t(target.colours), "colour", at); !status.ok())
      return status;
    size_t hardware = queue.output ? target.outputQueueWords.size() : target.inputQueueWords.size();
    if (absl::Status status = checkIndex(queue.index, hardware, queue.output ? "output queue" : "input queue", at);
        !status.ok())
      return status;
  }
  for (size_t t = 0; t < role.threads.size(); ++t)
    if (absl::Status status =
            checkThread(role, role.threads[t], [&] { return absl::StrCat(where.text(), ", thread ", t); });
        !status.ok())
      return status;
  return absl::OkStatus();
}

} // namespace wsc::format
