// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SRAM of a core, from the bottom: runtime reserve, stack, code (instructions and descriptors), then buffers up to sramBytes. Buffers of a role have
// constant addresses, so one sort by address decides overlap for all its cores.
#include "runtime/format/verifier/Forms.h"
#include "runtime/format/verifier/Rules.h"

#include <algorithm>

namespace wsc::format::verifier {

namespace {

void checkSection(const RoleScope &scope, const Buffer &buffer, size_t bufferNumber) {
  const Section &section = scope.scope.executable.sections[buffer.section];
  auto refuse = [&](const Extreme &extreme, const std::string &what) {
    scope.report().add("constant-section", scope.key(text("section ", bufferNumber)),
                       text(scope.name(), ", ", coreName(scope.role.cores, extreme.index), ": constant ", buffer.name, " views bytes ",
                            number(extreme.value), " to ", number(extreme.value + buffer.bytes), " of section ", section.name, ", ",
                            what));
  };
  Extreme low = minimum(buffer.sectionOffset, scope.role.cores), high = maximum(buffer.sectionOffset, scope.role.cores);
  if (low.value < 0 || high.value + buffer.bytes > Wide(section.bytes.size()))
    refuse(low.value < 0 ? low : high, text("which has ", section.bytes.size(), " bytes"));
  int64_t unit = elementBytes(buffer.type);
  Form offset(buffer.sectionOffset);
  for (int d = 0; d < kMaxDims; ++d)
    if (scope.role.cores.dims[d].count > 1 && offset.perDim[d] % unit != 0)
      refuse(low, text("not aligned to elements of ", unit, " bytes on every core"));
  if (offset.constant % unit != 0)
    refuse(low, text("not aligned to elements of ", unit, " bytes"));
}

} // namespace

void checkSram(const RoleScope &scope) {
  const target::Target &target = scope.target();
  const Role &role = scope.role;
  int64_t instructions = 0, descriptors = 0;
  for (const Thread &thread : role.threads)
    for (const Instruction &instruction : thread) {
      ++instructions;
      for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
        descriptors += operand->kind == OperandKind::Memory;
    }
  int64_t code = add(multiply(instructions, target.instructionBytes), multiply(descriptors, target.descriptorBytes));
  int64_t fixed = add(target.runtimeReserveBytes, target.stackBytes);
  int64_t low = add(fixed, code), total = low;
  auto where = [&] { return text(scope.name(), ", ", coreName(role.cores, {})); };

  std::vector<const Buffer *> buffers;
  for (const Buffer &buffer : role.buffers) {
    auto refuse = [&](const char *rule, const auto &...what) {
      scope.report().add(rule, scope.key(buffer.name), text(where(), ": buffer ", buffer.name, what...));
    };
    auto place = [&] { return text(" at bytes ", buffer.address, " to ", buffer.address + buffer.bytes); };
    total = add(total, buffer.bytes);
    if (buffer.address + buffer.bytes > target.sramBytes)
      refuse("sram-overflow", place(), " ends beyond the SRAM of ", target.sramBytes, " bytes; split the kernel over more cores");
    if (buffer.bytes > 0 && buffer.address < low)
      refuse("sram-code", place(), " lies in the first ", low, " bytes, taken by runtime (", target.runtimeReserveBytes, "), stack (",
             target.stackBytes, ") and code (", code, ")");
    if (buffer.address % elementBytes(buffer.type) != 0)
      refuse("sram-alignment", " at address ", buffer.address, " is not aligned to its elements of ", elementBytes(buffer.type),
             " bytes (", elementTypeName(buffer.type), ")");
    if (buffer.kind == BufferKind::Constant)
      checkSection(scope, buffer, size_t(&buffer - role.buffers.data()));
    if (buffer.bytes > 0)
      buffers.push_back(&buffer);
  }
  if (total > target.sramBytes)
    scope.report().add("sram-overflow", scope.key(),
                       text(where(), ": runtime, stack, code (", code, " bytes) and buffers need ", total,
                            " bytes, limit is ", target.sramBytes, "; split the kernel over more cores or use a target with more SRAM"));
  std::sort(buffers.begin(), buffers.end(), [](const Buffer *a, const Buffer *b) { return a->address < b->address; });
  for (size_t i = 0; i + 1 < buffers.size(); ++i)
    if (buffers[i]->address + buffers[i]->bytes > buffers[i + 1]->address)
      scope.report().add("sram-overlap", scope.key(buffers[i]->name),
                         text(where(), ": buffer ", buffers[i]->name, " ends at byte ",
                              buffers[i]->address + buffers[i]->bytes, ", after the start of buffer ", buffers[i + 1]->name, " at byte ",
                              buffers[i + 1]->address));
}

} // namespace wsc::format::verifier
