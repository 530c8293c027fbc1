// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A·B on R x C cores: rows of cores split K, columns split N. Core (r, c) holds A[:, K_r] (M rows of its K_r
// columns: a column is strided in SRAM), B[K_r, N_c] and a partial C[:, N_c], column after column. A column of C
// is the first column of A scaled, and the others scaled and added; then the partial sums are chained down the column
// of cores; the last row holds the result.
#include "test/validation/Mesh.h"
#include "test/validation/Workloads.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace wsc::validation {

namespace {

// Share `part` of `total` split into `parts` as evenly as can be, the larger ones first.
struct Share {
  int64_t begin = 0, count = 0;
};
Share shareOf(int64_t total, int64_t parts, int64_t part) {
  const int64_t small = total / parts, larger = total % parts;
  return {part * small + std::min(part, larger), small + (part < larger ? 1 : 0)};
}

} // namespace

absl::StatusOr<Program> buildGemm(Parameters &parameters, const target::Target &target) {
  const ElementType type = parameters.dtype();
  const Parameters::Size cores = parameters.size("cores", 1, std::max(target.rows, target.cols));
  const int64_t M = parameters.integer("M", 1, 1 << 15), N = parameters.integer("N", cores.cols, 1 << 20),
                K = parameters.integer("K", cores.rows, 1 << 20);
  const std::string layout = parameters.text("layout", "A column-contiguous in SRAM");
  const bool strided = absl::StrContains(layout, "strided");
  if (!strided && !absl::StrContains(layout, "contiguous"))
    parameters.refuse(
        absl::StrCat("parameter layout=", layout, " tells of A's columns neither strided nor contiguous"));
  const bool sameBank = parameters.choice("banks", {"different", "same"}) == "same";
  parameters.ignore("partial sums chained");
  if (absl::Status status = parameters.status(); !status.ok())
    return status;

  Mesh mesh(target, int32_t(cores.rows), int32_t(cores.cols));
  const int as = mesh.variable("A", type, {K, M}), bs = mesh.variable("B", type, {N, K}),
            cs = mesh.variable("C", type, {N, M});
  for (int32_t r = 0; r < cores.rows; ++r)
    for (int32_t c = 0; c < cores.cols; ++c) {
      const Share k = shareOf(K, cores.rows, r), n = shareOf(N, cores.cols, c);
      const bool last = r + 1 == cores.rows;
      Core core(mesh, last ? "last" : r == 0 ? "first" : "middle");
      // The offsets are those of this core; perRow and perCol make them those of its equals.
      const Part aPart =
          strided ? Part{.offset = (k.begin - r * k.count) * M,
                         .perRow = k.count * M,
                         .extent = {M, k.count},
                         .stride = {1, M}}
                  : Part{.offset = (k.begin - r * k.count) * M, .perRow = k.count * M, .extent = {k.count, M}};
      const Op a = core.part(as, "A", aPart);
      core.bank(0);
      const Op b = core.part(bs, "B",
                             {.offset = (n.begin - c * n.count) * K + (k.begin - r * k.count),
                              .perRow = k.count,
                              .perCol = n.count * K,
                              .extent = {n.count, k.count},
                              .stride = {K, 1}});
      // Only the last row's sums are the result.
      const Op sum =
          last ? core.part(cs, "C",
                           {.offset = (n.begin - c * n.count) * M, .perCol = n.count * M, .extent = {n.count, M}})
               : core.scratch("sum", type, n.count * M);
      core.bank(sameBank ? 0 : target.sramBanks / 2);
      const int32_t m = int32_t(M);
      const int32_t kept = int32_t(k.count); // columns of A here
      // The first column of A, and in the inner loop those that follow.
      const Op column = a.strides({strided ? kept : 1});
      const Op next = a.at(strided ? 1 : M).strides({strided ? kept : 1}).steps({0, strided ? 1 : m});
      auto thread = core.thread();
      thread.type(type).loop(n.count).op(Opcode::Mul, sum.strides({1}).steps({m}), column, b.repeated().steps({kept}),
                                         {M});
      if (k.count > 1)
        thread.loop(k.count - 1)
            .fma(sum.strides({1}).steps({m, 0}), next, b.at(1).repeated().steps({kept, 1}), {M})
            .endLoop();
      thread.endLoop();
      const uint8_t south = uint8_t(r % 2), north = uint8_t((r + 1) % 2);
      if (r == 0 && !last)
        thread.move(core.output(south), sum, {n.count * M});
      else if (!last)
        thread.op(Opcode::Add, core.output(south), core.input(north), sum, {n.count * M});
      else if (r > 0)
        thread.op(Opcode::Add, sum, core.input(north), sum, {n.count * M});
      if (!last)
        mesh.path(south, {r, c}, {r + 1, c});
      mesh.place(r, c, core);
    }
  auto executable = mesh.finish();
  if (!executable.ok())
    return executable.status();
  return Program{*std::move(executable), {}, ""};
}

} // namespace wsc::validation
