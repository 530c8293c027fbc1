// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a phase ends: what is appended next is tried on a copy of the code, and begins a phase where colours, queues,
// code or sizes of groups do not allow it. Tensors at rest and pinned places are named in both phases, which makes
// residents of them.
#include "compiler/spmd/phases/EntryWriter.h"
#include "compiler/spmd/roles/Roles.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <set>

namespace wsc::spmd {

using namespace format;

namespace {

// A phase ends when its code takes such a share of the SRAM that the target leaves to programs.
constexpr double kPhaseCodeShare = 0.15, kMostCodeShare = 0.2; // between nests; within them

int64_t codeBytes(const target::Target &target, const Code &code) {
  int64_t descriptors = 0;
  for (const Instruction &instruction : code.main)
    for (const format::Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
      descriptors += operand->kind == OperandKind::Memory;
  return int64_t(code.main.size()) * target.instructionBytes + descriptors * target.descriptorBytes;
}

/// Whether groups of cores of different sizes fit into each other along both axes: else roles multiply.
bool haveCommonGroups(const Code &code) {
  std::set<int64_t> sizes[2];
  for (const Guard &guard : code.guards)
    for (Axis axis : {Axis::Row, Axis::Col}) {
      const AxisGuard part = along(guard, axis);
      if (part.modulus > 1 && part.modulus < kWholeAxis)
        sizes[size_t(axis)].insert(part.modulus);
      if (part.modulus > 1 && part.unit > 1)
        sizes[size_t(axis)].insert(part.unit);
    }
  for (const std::set<int64_t> &axis : sizes) {
    int64_t before = 1;
    for (int64_t size : axis) {
      if (size % before != 0)
        return false;
      before = size;
    }
  }
  return true;
}

} // namespace

void EntryWriter::beginPhase() {
  const int32_t count = phase().count, number = phase().loop;
  phases.emplace_back();
  if (loop) {
    phase().count = count;
    phase().loop = number;
  }
}

void EntryWriter::cutIfLarge() {
  const double most = loop ? kMostCodeShare : kPhaseCodeShare;
  if (double(codeBytes(target, code())) > most * double(target.usableSramBytes()))
    beginPhase();
}

absl::Status EntryWriter::makeRoom(const std::function<void(Code &, const ConstantMaker &)> &append) {
  Code trial = code();
  append(trial, [&](const std::string &name, ElementType type, int32_t, int32_t, int64_t elements,
                    std::vector<std::byte>) { return trial.scratch(name, type, elements); });
  const RouteNeeds needs = routeNeeds(trial, plan.rectangle);
  const bool isLarge = double(codeBytes(target, trial)) > kMostCodeShare * double(target.usableSramBytes());
  if (needs.fit(target) && !isLarge && (loop || haveCommonGroups(trial)))
    return absl::OkStatus();
  if (!code().main.empty())
    cut();
  return absl::OkStatus();
}

void EntryWriter::cut() {
  const size_t before = phases.size() - 1;
  beginPhase();
  for (Place *place : pinned)
    place->buffer = carried(phases[before], place->buffer);
}

int16_t EntryWriter::carried(Phase &from, int16_t buffer) {
  Buffer held = from.code.buffers[size_t(buffer)];
  if (held.kind == BufferKind::Resident)
    return constantBuffer(held.resident);
  for (const auto &[tensor, at] : from.buffers)
    if (at == buffer)
      return carry(tensor, held);
  const TensorId kept = TensorId(network.tensors.size()) + numCarried++;
  from.buffers.emplace(kept, buffer);
  // Scratch of one name may be carried more than once.
  held.name = from.code.buffers[size_t(buffer)].name = absl::StrCat(held.name, ".", kept);
  return carry(kept, held);
}

int16_t EntryWriter::carry(TensorId tensor, const Buffer &held) {
  auto [found, added] = phase().buffers.emplace(tensor, int16_t(0));
  if (added)
    found->second = code().scratch(held.name, held.type, held.bytes / elementBytes(held.type));
  code().buffers[size_t(found->second)].runStep = held.runStep;
  return found->second;
}

} // namespace wsc::spmd
