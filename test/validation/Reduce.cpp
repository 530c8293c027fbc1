// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives on a line of P cores with a block of B elements each: reduce by chain, in two phases, by tree; broadcast
// and all-reduce. Variable "x" holds the blocks; core 0 is the root.
#include "test/validation/Collectives.h"
#include "test/validation/Workloads.h"

#include "absl/strings/str_cat.h"

namespace wsc::validation {

namespace {

constexpr int64_t kMostElements = 1 << 20;

struct Shape {
  int32_t cores = 0;
  int64_t elements = 0;
  ElementType type = ElementType::F32;
};

Shape shapeOf(Parameters &parameters, const target::Target &target) {
  Shape shape;
  shape.cores = int32_t(parameters.integer("P", 2, target.cols));
  shape.elements = parameters.integer("B", 1, kMostElements);
  shape.type = parameters.dtype();
  return shape;
}

Op blockOf(Core &core, int variable, const Shape &shape) {
  return core.part(variable, "x", {.perCol = shape.elements, .extent = {shape.elements}});
}

absl::StatusOr<Program> reduce(const target::Target &target, const Shape &shape, const std::vector<int32_t> &sizes) {
  Mesh mesh(target, 1, shape.cores);
  const int x = mesh.variable("x", shape.type, {shape.cores, shape.elements});
  const LineReduce reduce({.count = shape.cores}, sizes, 0);
  for (int32_t c = 0; c < shape.cores; ++c) {
    Core core(mesh, c == 0 ? "root" : "stage");
    const Op block = blockOf(core, x, shape);
    auto thread = core.thread();
    reduce.program(c, core, thread.type(shape.type), block, shape.elements);
    mesh.place(0, c, core);
  }
  reduce.routes(mesh);
  auto executable = mesh.finish();
  if (!executable.ok())
    return executable.status();
  return Program{*std::move(executable), {}, ""};
}

// The measure counts from the first word sent: without the sender's set-up.
void fromFirstSend(Program &program) {
  program.measure.added = -program.executable.target.vectorSetupCycles;
  program.measure.how = "from the first send: less the set-up";
}

std::vector<int32_t> twoPhase(Parameters &parameters, const Shape &shape) {
  const int32_t group = int32_t(parameters.integer("group", 1, 1 << 20));
  return {group, (shape.cores + group - 1) / group};
}

} // namespace

absl::StatusOr<Program> buildReduceChain(Parameters &parameters, const target::Target &target) {
  const Shape shape = shapeOf(parameters, target);
  parameters.choice("measure", {"first send to last word at root"});
  if (absl::Status status = parameters.status(); !status.ok())
    return status;
  auto program = reduce(target, shape, {shape.cores});
  if (program.ok())
    fromFirstSend(*program);
  return program;
}

absl::StatusOr<Program> buildReduceTwoPhase(Parameters &parameters, const target::Target &target) {
  const Shape shape = shapeOf(parameters, target);
  const std::vector<int32_t> sizes = twoPhase(parameters, shape);
  parameters.choice("measure", {"first send to last word at root"});
  if (absl::Status status = parameters.status(); !status.ok())
    return status;
  auto program = reduce(target, shape, sizes);
  if (program.ok())
    fromFirstSend(*program);
  return program;
}

absl::StatusOr<Program> buildReduceTwoPhaseTotal(Parameters &parameters, const target::Target &target) {
  const Shape shape = shapeOf(parameters, target);
  const std::vector<int32_t> sizes = twoPhase(parameters, shape);
  if (absl::Status status = parameters.status(); !status.ok())
    return status;
  auto program = reduce(target, shape, sizes);
  if (program.ok())
    program->measure = {.added = target.programStartCycles, .how = "whole program: plus its start"};
  return program;
}

absl::StatusOr<Program> buildReduceTree(Parameters &parameters, const target::Target &target) {
  const Shape shape = shapeOf(parameters, target);
  const int32_t radix = int32_t(parameters.integer("radix", 2, 1 << 20, 2));
  std::vector<int32_t> sizes;
  for (int64_t reached = 1; reached < shape.cores; reached *= radix)
    sizes.push_back(radix);
  if (sizes.size() > target.inputQueueWords.size())
    parameters.refuse(absl::StrCat("a tree over ", shape.cores, " cores with radix ", radix, " has ", sizes.size(),
                                   " levels, a core has ", target.inputQueueWords.size(),
                                   " input queues; take a larger radix"));
  if (absl::Status status = parameters.status(); !status.ok())
    return status;
  return reduce(target, shape, sizes);
}

absl::StatusOr<Program> buildBroadcast(Parameters &parameters, const target::Target &target) {
  const Shape shape = shapeOf(parameters, target);
  if (absl::Status status = parameters.status(); !status.ok())
    return status;
  Mesh mesh(target, 1, shape.cores);
  const int x = mesh.variable("x", shape.type, {shape.cores, shape.elements});
  for (int32_t c = 0; c < shape.cores; ++c) {
    Core core(mesh, c == 0 ? "root" : "receiver");
    const Op block = blockOf(core, x, shape);
    if (c == 0)
      core.thread().type(shape.type).move(core.output(0), block, {shape.elements});
    else
      core.thread().type(shape.type).move(block, core.input(0), {shape.elements});
    mesh.place(0, c, core);
  }
  mesh.path(0, {0, 0}, {0, shape.cores - 1}, true);
  auto executable = mesh.finish();
  if (!executable.ok())
    return executable.status();
  return Program{*std::move(executable), {}, ""};
}

absl::StatusOr<Program> buildAllReduce(Parameters &parameters, const target::Target &target) {
  const Shape shape = shapeOf(parameters, target);
  const std::string algorithm = parameters.choice("algorithm", {"k-tree", "pipelined"});
  const int32_t levels = int32_t(parameters.integer("levels", 1, 4, 2));
  if (absl::Status status = parameters.status(); !status.ok())
    return status;
  Mesh mesh(target, 1, shape.cores);
  const int x = mesh.variable("x", shape.type, {shape.cores, shape.elements});
  const LineAllReduce all(0, shape.cores, algorithm == "pipelined" ? 0 : levels, 0);
  for (int32_t c = 0; c < shape.cores; ++c) {
    Core core(mesh, c == all.root() ? "root" : "stage");
    const Op block = blockOf(core, x, shape);
    auto thread = core.thread();
    all.program(c, core, thread.type(shape.type), block, shape.elements);
    mesh.place(0, c, core);
  }
  all.routes(mesh);
  auto executable = mesh.finish();
  if (!executable.ok())
    return executable.status();
  return Program{*std::move(executable), {}, ""};
}

} // namespace wsc::validation
