// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers that are windows of residents: where the resident says, inside of it on all cores and in all iterations of
// every step that runs the configuration, and two of a role apart in every iteration unless both are only read.
//
// In iteration i windows [o1 + i·s1, +b1) and [o2 + i·s2, +b2) share bytes when −b2 < d + i·s < b1 with d = o2 − o1 and
// s = s2 − s1. That is linear in i, so the first iteration past the lower bound decides.
#include "runtime/format/verifier/Forms.h"
#include "runtime/format/verifier/Rules.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace wsc::format::verifier {

namespace {

// The first iteration below `runs` in which two windows of one resident share bytes; -1: none.
Wide meetingIteration(const Buffer &a, const Buffer &b, int64_t runs) {
  Wide distance = Wide(b.residentOffset) - a.residentOffset, step = Wide(b.runStep) - a.runStep;
  Wide low = -Wide(b.bytes), high = a.bytes; // they meet where low < distance < high
  if (step < 0) {
    distance = -distance;
    step = -step;
    std::tie(low, high) = std::pair(-high, -low);
  }
  Wide i = 0;
  if (distance <= low)
    i = step == 0 ? Wide(runs) : (low - distance) / step + 1;
  return i < runs && distance + i * step < high ? i : -1;
}

class WindowRules {
public:
  explicit WindowRules(const RoleScope &scope)
      : scope(scope), role(scope.role), runs(scope.scope.lives.runs(scope.scope.number())) {}

  void run() {
    for (const Buffer &buffer : role.buffers)
      if (buffer.kind == BufferKind::Resident) {
        windows.push_back(&buffer);
        checkWindow(buffer);
      }
    checkPairs();
  }

private:
  const Resident &residentOf(const Buffer &buffer) const {
    return scope.scope.executable.residents[size_t(buffer.resident)];
  }
  void refuse(const char *rule, const Buffer &buffer, const std::string &what) {
    scope.report().add(rule, scope.key(text(&buffer - role.buffers.data())),
                       text(scope.name(), ": buffer ", buffer.name, what));
  }

  void checkWindow(const Buffer &buffer) {
    const target::Target &target = scope.target();
    const Resident &resident = residentOf(buffer);
    for (Wide i : {Wide(0), Wide(runs) - 1})
      if (Wide begin = buffer.residentOffset + i * buffer.runStep; begin < 0 || begin + buffer.bytes > resident.bytes)
        refuse("resident-window", buffer,
               text(" in iteration ", number(i), " views bytes ", number(begin), " to ", number(begin + buffer.bytes),
                    " of resident ", resident.name, ", which has ", resident.bytes));
    if (Wide address = Wide(resident.address) + buffer.residentOffset; buffer.address != address)
      refuse("resident-window", buffer,
             text(" is at address ", buffer.address, ", byte ", buffer.residentOffset, " of resident ", resident.name,
                  " is at ", number(address)));
    if (const int64_t period = int64_t(target.sramBanks) * target.sramAccessBytes;
        period > 0 && buffer.runStep % period != 0)
      refuse("resident-step", buffer,
             text(" moves by ", buffer.runStep, " bytes per iteration, no multiple of the ", period,
                  " bytes after which banks repeat; its time would differ"));
    if (elementBytes(buffer.type) != elementBytes(resident.type))
      refuse("resident-type", buffer,
             text(" has elements of type ", elementTypeName(buffer.type), ", resident ", resident.name, " of type ",
                  elementTypeName(resident.type), "; they need the same size"));
    if (buffer.runStep % elementBytes(buffer.type) != 0)
      refuse("sram-alignment", buffer,
             text(" moves by ", buffer.runStep, " bytes per iteration, no multiple of its elements of ",
                  elementBytes(buffer.type), " bytes"));
  }

  void checkPairs() {
    if (windows.size() < 2)
      return;
    std::vector<bool> written(role.buffers.size());
    for (const Thread &thread : role.threads)
      for (const Instruction &instruction : thread)
        if (instruction.dst.kind == OperandKind::Memory)
          written[size_t(instruction.dst.buffer)] = true;
    auto isWritten = [&](const Buffer *buffer) { return written[size_t(buffer - role.buffers.data())]; };
    std::sort(windows.begin(), windows.end(),
              [](const Buffer *a, const Buffer *b) { return std::pair(a->resident, a) < std::pair(b->resident, b); });
    for (size_t i = 0; i < windows.size(); ++i)
      for (size_t j = i + 1; j < windows.size() && windows[j]->resident == windows[i]->resident; ++j) {
        const Buffer &a = *windows[i], &b = *windows[j];
        if (!scope.report().spend(1))
          return;
        if (a.bytes == 0 || b.bytes == 0 || (!isWritten(&a) && !isWritten(&b)))
          continue;
        if (const Wide iteration = meetingIteration(a, b, runs); iteration >= 0)
          refuse("sram-overlap", isWritten(&a) ? a : b,
                 text(", which is written, shares bytes of resident ", residentOf(a).name, " with buffer ",
                      isWritten(&a) ? b.name : a.name, " in iteration ", number(iteration)));
      }
  }

  const RoleScope &scope;
  const Role &role;
  int64_t runs;
  std::vector<const Buffer *> windows;
};

} // namespace

void checkWindows(const RoleScope &scope) { WindowRules(scope).run(); }

} // namespace wsc::format::verifier
