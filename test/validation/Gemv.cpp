// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = A·x. On one core y += A·x by inner products: one thread multiplies A, row after row, with x into a FIFO, another
// sums what comes out of it, a row to an element of y. On a mesh: tile (r, c) of A and part c of x lie on core (r, c);
// its columns are scaled and added, and the partial sums of a row of cores are all-reduced along it.
#include "test/validation/Collectives.h"
#include "test/validation/Workloads.h"

#include "absl/strings/str_cat.h"

namespace wsc::validation {

namespace {

constexpr int64_t kProductElements = 16; // of the FIFO: four batches

} // namespace

absl::StatusOr<Program> buildGemvOneCore(Parameters &parameters, const target::Target &target) {
  const ElementType type = parameters.dtype();
  const int64_t M = parameters.integer("M", 1, 1 << 15), N = parameters.integer("N", 1, 1 << 15);
  if (absl::Status status = parameters.status(); !status.ok())
    return status;
  Mesh mesh(target, 1, 1);
  const int as = mesh.variable("A", type, {M, N}), xs = mesh.variable("x", type, {N}),
            ys = mesh.variable("y", type, {M});
  Core core(mesh, "core");
  // The product needs room for a few batches only, so that A may take nearly all of the SRAM.
  const Op a = core.part(as, "A", {.extent = {M, N}});
  const Op x = core.part(xs, "x", {.extent = {N}});
  core.bankBeside(0, target.sramBanks / 2);
  const Op y = core.part(ys, "y", {.extent = {M}});
  const Op products = core.fifo("products", type, kProductElements);
  core.thread().type(type).op(Opcode::Mul, products, a.strides({int32_t(N), 1}), x.strides({0, 1}), {M, N});
  core.thread().type(type).op(Opcode::ReduceAdd, y.strides({1, 0}), products, {M, N});
  mesh.place(0, 0, core);
  auto executable = mesh.finish();
  if (!executable.ok())
    return executable.status();
  return Program{*std::move(executable), {}, ""};
}

absl::StatusOr<Program> buildGemvMesh(Parameters &parameters, const target::Target &target) {
  const ElementType type = parameters.dtype();
  const int64_t n = parameters.integer("n", 1, 1 << 20);
  const Parameters::Size cores = parameters.size("cores", 1, std::max(target.rows, target.cols));
  const double clock = parameters.number("clock", target.clockGHz);
  const std::string algorithm = parameters.choice("allreduce", {"k-tree", "pipelined"});
  const int32_t levels = int32_t(parameters.integer("levels", 1, 4, 2));
  // Rows of cores share nothing: one of them has the time of all.
  const int32_t rows = int32_t(parameters.integer("simulated_rows", 1, cores.rows, 1));
  if (absl::Status status = parameters.status(); !status.ok())
    return status;
  // Tiles are of one size; the last ones are filled up with zeros.
  const int64_t M = (n + cores.rows - 1) / cores.rows, N = (n + cores.cols - 1) / cores.cols;
  const int32_t cols = int32_t(cores.cols);
  Mesh mesh(target, rows, cols);
  // A by tiles: element [tile row][tile column][column in tile][row in tile].
  const int as = mesh.variable("A", type, {rows, cols, N, M}), xs = mesh.variable("x", type, {cols, N}),
            ys = mesh.variable("y", type, {rows, cols, M});
  for (int32_t r = 0; r < rows; ++r) {
    const LineAllReduce all(r, cols, algorithm == "pipelined" ? 0 : levels, 0);
    for (int32_t c = 0; c < cols; ++c) {
      Core core(mesh, c == all.root() ? "root" : "core");
      const Op a = core.part(as, "A", {.perRow = cols * N * M, .perCol = N * M, .extent = {N, M}});
      const Op x = core.part(xs, "x", {.perCol = N, .extent = {N}});
      const Op y = core.part(ys, "y", {.perRow = cols * M, .perCol = M, .extent = {M}});
      auto thread = core.thread();
      thread.type(type);
      // Straight code: a loop would cost as much again as these short instructions.
      for (int64_t j = 0; j < N; ++j)
        thread.op(j == 0 ? Opcode::Mul : Opcode::Fma, y, a.at(j * M).strides({1}), x.at(j).repeated(), {M});
      all.program(c, core, thread, y, M);
      mesh.place(r, c, core);
    }
    all.routes(mesh);
  }
  auto executable = mesh.finish();
  if (!executable.ok())
    return executable.status();
  Program program{*std::move(executable), {.clockGHz = clock}, ""};
  if (rows < cores.rows)
    program.note = absl::StrCat("one row of cores simulated for ", cores.rows, " that share no link");
  return program;
}

} // namespace wsc::validation
