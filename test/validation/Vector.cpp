// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One core, two vectors: y = y ∘ x for an operation of two sources, y = ∘x for one of one source, y += x·s for fma.
// As one instruction, as a loop of short instructions, or as a map: the short instructions one after another in
// straight code. `stride` is x's, in elements; `banks` says whether x and y begin in the same bank.
#include "runtime/format/Isa.h"
#include "test/validation/Mesh.h"
#include "test/validation/Workloads.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace wsc::validation {

namespace {

constexpr double kScale = 0.5; // of fma

enum class Form { One, Loop, Map };

// "one instruction", "loop of K-element instructions", "map over K-element tiles".
Form formOf(Parameters &parameters, int64_t n, int64_t &tile) {
  const std::string text = parameters.text("form", "one instruction");
  tile = n;
  if (text == "one instruction")
    return Form::One;
  const std::vector<std::string> words = absl::StrSplit(text, absl::ByAnyChar(" -"));
  if (words.size() == 5 && words[3] == "element" && absl::SimpleAtoi(words[2], &tile) && tile > 0) {
    if (words[0] == "loop" && words[1] == "of" && words[4] == "instructions")
      return Form::Loop;
    if (words[0] == "map" && words[1] == "over" && words[4] == "tiles")
      return Form::Map;
  }
  parameters.refuse(absl::StrCat("parameter form=", text,
                                 " is none of: one instruction, loop of K-element instructions, "
                                 "map over K-element tiles"));
  tile = n;
  return Form::One;
}

} // namespace

absl::StatusOr<Program> buildVector(Parameters &parameters, const target::Target &target) {
  const ElementType type = parameters.dtype();
  const int64_t n = parameters.integer("n", 1, 1 << 20);
  const int64_t stride = parameters.integer("stride", 1, 1 << 16, 1);
  const bool sameBank = parameters.choice("banks", {"different", "same"}) == "same";
  const std::string name = parameters.text("op", "");
  int64_t tile = n;
  const Form form = formOf(parameters, n, tile);
  const format::OpcodeInfo *info = format::findOpcode(name == "copy" ? "move" : name);
  if (!info || info->opcode == Opcode::Convert || info->opcode == Opcode::Select || info->sources == 0 ||
      info->opcode == Opcode::Gather || info->opcode == Opcode::Scatter)
    parameters.refuse(absl::StrCat("parameter op=", name, " is no elementwise operation; copy, add, mul, fma, …"));
  tile = std::min(tile, n);
  if (absl::Status status = parameters.status(); !status.ok())
    return status;

  Mesh mesh(target, 1, 1);
  const int64_t reach = (n - 1) * stride + 1;
  const int xs = mesh.variable("x", type, {reach}), ys = mesh.variable("y", type, {n});
  Core core(mesh, "core");
  const Op x = core.part(xs, "x", {.extent = {reach}});
  core.bank(0);
  const Op y = core.part(ys, "y", {.extent = {n}});
  core.bank(sameBank ? 0 : target.sramBanks / 2);

  auto thread = core.thread();
  thread.type(type);
  // `elements` from element `at` on; inside a loop `at` advances by a tile each time.
  const auto piece = [&](int64_t at, int64_t elements, bool looped) {
    Op from = x.at(at * stride).strides({int32_t(stride)}), to = y.at(at).strides({1});
    if (looped)
      from = from.steps({int32_t(tile * stride)}), to = to.steps({int32_t(tile)});
    if (info->opcode == Opcode::Fma)
      thread.fma(to, from, imm(kScale), {elements});
    else if (info->sources == 2)
      thread.op(info->opcode, to, to, from, {elements});
    else
      thread.op(info->opcode, to, from, {elements});
  };
  const int64_t tiles = n / tile;
  if (form == Form::One) {
    piece(0, n, false);
  } else {
    if (form == Form::Loop)
      thread.loop(tiles), piece(0, tile, true), thread.endLoop();
    for (int64_t t = 0; form == Form::Map && t < tiles; ++t)
      piece(t * tile, tile, false);
    if (n % tile != 0)
      piece(tiles * tile, n % tile, false);
  }
  mesh.place(0, 0, core);
  auto executable = mesh.finish();
  if (!executable.ok())
    return executable.status();
  return Program{*std::move(executable), {}, ""};
}

} // namespace wsc::validation
