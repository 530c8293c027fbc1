// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SRAM of a core, from the bottom: runtime reserve, stack, code (instructions and descriptors), then buffers up to
// sramBytes. Buffers of a role have constant addresses, so one sort by address decides overlap for all its cores.
#include "runtime/format/verifier/Forms.h"
#include "runtime/format/verifier/Rules.h"

#include <algorithm>

namespace wsc::format::verifier {

void checkSectionView(const SectionView &view, const std::string &key, const std::string &what, Report &report) {
  auto refuse = [&](const Extreme &extreme, const std::string &why) {
    report.add("constant-section", key,
               text(what, " on ", coreName(view.lattice, extreme.index), " views bytes ", number(extreme.value), " to ",
                    number(extreme.value + view.bytes), " of section ", view.section.name, ", ", why));
  };
  const Extreme low = minimum(view.offset, view.lattice), high = maximum(view.offset, view.lattice);
  if (low.value < 0 || high.value + view.bytes > Wide(view.section.bytes.size()))
    refuse(low.value < 0 ? low : high, text("which has ", view.section.bytes.size(), " bytes"));
  const int64_t unit = elementBytes(view.type);
  const Form offset(view.offset);
  for (int d = 0; d < kMaxDims; ++d)
    if (view.lattice.dims[d].count > 1 && offset.perDim[d] % unit != 0)
      refuse(low, text("not aligned to elements of ", unit, " bytes on every core"));
  if (offset.constant % unit != 0)
    refuse(low, text("not aligned to elements of ", unit, " bytes"));
}

namespace {

int64_t codeBytes(const target::Target &target, const Role &role) {
  int64_t instructions = 0, descriptors = 0;
  for (const Thread &thread : role.threads)
    for (const Instruction &instruction : thread) {
      ++instructions;
      for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
        descriptors += operand->kind == OperandKind::Memory;
    }
  return add(multiply(instructions, target.instructionBytes), multiply(descriptors, target.descriptorBytes));
}

// Buffers by address may overlap only as windows of one resident, which WindowRules judges.
void checkOverlap(const RoleScope &scope, const std::vector<const Buffer *> &buffers) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer &a = *buffers[i];
    for (size_t j = i + 1; j < buffers.size() && buffers[j]->address < a.address + a.bytes; ++j) {
      const Buffer &b = *buffers[j];
      if (!scope.report().spend(1))
        return;
      if (a.kind != BufferKind::Resident || b.kind != BufferKind::Resident || a.resident != b.resident)
        scope.report().add("sram-overlap", scope.key(a.name),
                           text(scope.name(), ", ", coreName(scope.role.cores, {}), ": buffer ", a.name,
                                " ends at byte ", a.address + a.bytes, ", after the start of buffer ", b.name,
                                " at byte ", b.address));
    }
  }
}

} // namespace

int64_t codeEnd(const target::Target &target, const Role &role) {
  return add(add(target.runtimeReserveBytes, target.stackBytes), codeBytes(target, role));
}

void checkSram(const RoleScope &scope) {
  const target::Target &target = scope.target();
  const Role &role = scope.role;
  const int64_t code = codeBytes(target, role), low = codeEnd(target, role);
  auto where = [&] { return text(scope.name(), ", ", coreName(role.cores, {})); };

  std::vector<const Buffer *> buffers;
  for (const Buffer &buffer : role.buffers) {
    auto refuse = [&](const char *rule, const auto &...what) {
      scope.report().add(rule, scope.key(buffer.name), text(where(), ": buffer ", buffer.name, what...));
    };
    auto place = [&] { return text(" at bytes ", buffer.address, " to ", buffer.address + buffer.bytes); };
    if (buffer.address + buffer.bytes > target.sramBytes)
      refuse("sram-overflow", place(), " ends beyond the SRAM of ", target.sramBytes,
             " bytes; split the kernel over more cores");
    if (buffer.bytes > 0 && buffer.address < low)
      refuse("sram-code", place(), " lies in the first ", low, " bytes, taken by runtime (", target.runtimeReserveBytes,
             "), stack (", target.stackBytes, ") and code (", code, ")");
    if (buffer.address % elementBytes(buffer.type) != 0)
      refuse("sram-alignment", " at address ", buffer.address, " is not aligned to its elements of ",
             elementBytes(buffer.type), " bytes (", elementTypeName(buffer.type), ")");
    if (buffer.kind == BufferKind::Constant)
      checkSectionView({scope.scope.executable.sections[buffer.section], buffer.sectionOffset, buffer.bytes,
                        buffer.type, role.cores},
                       scope.key(text("section ", &buffer - role.buffers.data())),
                       text(scope.name(), ": constant ", buffer.name), scope.report());
    if (buffer.bytes > 0)
      buffers.push_back(&buffer);
  }
  std::sort(buffers.begin(), buffers.end(), [](const Buffer *a, const Buffer *b) { return a->address < b->address; });
  int64_t total = low, end = 0;
  for (const Buffer *buffer : buffers) { // windows may view the same bytes
    const int64_t counted = buffer->kind == BufferKind::Resident ? std::max(buffer->address, end) : buffer->address;
    total = add(total, std::max<int64_t>(0, buffer->address + buffer->bytes - counted));
    end = std::max(end, buffer->address + buffer->bytes);
  }
  if (total > target.sramBytes)
    scope.report().add("sram-overflow", scope.key(),
                       text(where(), ": runtime, stack, code (", code, " bytes) and buffers need ", total,
                            " bytes, limit is ", target.sramBytes,
                            "; split the kernel over more cores or use a target with more SRAM"));
  checkOverlap(scope, buffers);
}

} // namespace wsc::format::verifier
