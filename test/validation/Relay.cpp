// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages between cores: a chain of software relays, each of which takes the whole block before it sends it on, and
// one message over several hops, alone or as a round of a probe.
#include "runtime/timing/Cost.h"
#include "test/validation/Mesh.h"
#include "test/validation/Workloads.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace wsc::validation {

namespace {

constexpr int64_t kMostWords = 1 << 16;

// What a program that reads the clock before and after measures: beside the message, the start of the task that goes on
// when the last word is there, and its own two readings.
void withTimeStamps(Measure &measure, const target::Target &target) {
  measure.added += target.taskStartCycles + target.timeStampCycles;
  measure.how = "plus the start of the completion task and two time stamps";
}

} // namespace

absl::StatusOr<Program> buildRelayChain(Parameters &parameters, const target::Target &target) {
  const int32_t stages = int32_t(parameters.integer("stages", 1, target.cols - 1));
  const int64_t words = parameters.integer("words", 1, kMostWords);
  if (absl::Status status = parameters.status(); !status.ok())
    return status;
  Mesh mesh(target, 1, stages + 1);
  const int x = mesh.variable("x", ElementType::F32, {stages + 1, words});
  for (int32_t c = 0; c <= stages; ++c) {
    Core core(mesh, c == 0 ? "sender" : c == stages ? "receiver" : "relay");
    const Op block = core.part(x, "x", {.perCol = words, .extent = {words}});
    auto thread = core.thread();
    if (c > 0)
      thread.move(block, core.input(uint8_t((c + 1) % 2)), {words});
    if (c < stages)
      thread.move(core.output(uint8_t(c % 2)), block, {words});
    mesh.place(0, c, core);
    if (c < stages)
      mesh.path(uint8_t(c % 2), {0, c}, {0, c + 1});
  }
  auto executable = mesh.finish();
  if (!executable.ok())
    return executable.status();
  Program program{*std::move(executable), {}, ""};
  withTimeStamps(program.measure, target);
  return program;
}

absl::StatusOr<Program> buildMessage(Parameters &parameters, const target::Target &target) {
  const int64_t words = parameters.integer("words", 1, kMostWords);
  const int32_t hops = int32_t(parameters.integer("hops", 1, target.cols - 1));
  const std::string measure = parameters.text("measure", "trace");
  const bool trace = absl::StartsWith(measure, "trace"), stamps = absl::StartsWith(measure, "tsc"),
             probe = absl::StrContains(measure, "round");
  if (!trace && !stamps)
    parameters.refuse(absl::StrCat("parameter measure=", measure,
                                   " begins with neither \"trace\" (instruction to completion task) nor \"tsc\" (time "
                                   "stamps of the program)"));
  if (absl::Status status = parameters.status(); !status.ok())
    return status;

  Mesh mesh(target, 1, hops + 1);
  const int x = mesh.variable("x", ElementType::F32, {hops + 1, words});
  // A probe goes round a loop. Its first round starts from rest, the second is one of many.
  const int64_t rounds = probe ? 2 : 1;
  for (int32_t c : {0, hops}) {
    Core core(mesh, c == hops ? "sender" : "receiver");
    const Op block = core.part(x, "x", {.perCol = words, .extent = {words}});
    auto thread = core.thread();
    if (probe)
      thread.loop(rounds);
    if (c == hops)
      thread.move(core.output(0), block, {words});
    else
      thread.move(block, core.input(0), {words});
    if (probe)
      thread.endLoop();
    mesh.place(0, c, core);
  }
  mesh.path(0, {0, hops}, {0, 0});
  auto executable = mesh.finish();
  if (!executable.ok())
    return executable.status();
  Program program{*std::move(executable), {}, ""};
  if (trace) {
    program.measure.added = target.taskStartCycles - target.vectorSetupCycles;
    program.measure.how = "from the first word sent to the completion task: less the set-up, plus a task start";
    return program;
  }
  withTimeStamps(program.measure, target);
  if (probe) {
    program.measure.added -= target.loopCycles + target.vectorSetupCycles + words;
    program.measure.how = "second round: less the sender's first, " + program.measure.how;
  }
  return program;
}

} // namespace wsc::validation
