// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A·B on P x P cores by shifts: Cannon's algorithm and the interleaved ring (MeshGEMM of WaferLLM, arXiv
// 2502.04563).
//
// Rows and columns of cores are rings. In each of P steps a core multiplies the tiles of A and B it holds onto its tile
// of C, then hands A to the core before it in its row's ring and B to the one before it in its column's. The tiles
// begin aligned: core (i, j) of the torus holds A(i, i+j) and B(i+j, j), as the host places them.
//  - Cannon: the ring's order is the mesh's; the first core sends to the last across all others.
//  - interleaved: the ring goes out over the even places and back over the odd ones; no neighbours are more than two
//    hops apart.
// Even members of a ring send first, odd ones receive first; tiles have two buffers that take turns.
#include "test/validation/Mesh.h"
#include "test/validation/Workloads.h"

#include "absl/strings/str_cat.h"

#include <array>

namespace wsc::validation {

namespace {

class Ring {
public:
  Ring(int32_t count, bool interleaved, uint8_t colour) : count(count), interleaved(interleaved), colour(colour) {}

  int32_t placeOf(int32_t member) const {
    if (!interleaved)
      return member;
    return member < (count + 1) / 2 ? 2 * member : 2 * (count - member) - 1;
  }
  int32_t before(int32_t member) const { return (member + count - 1) % count; }
  int32_t after(int32_t member) const { return (member + 1) % count; }
  // Of the words that a member sends: neighbours on the way have different ones.
  uint8_t colourOf(int32_t member) const {
    const bool second = interleaved ? member >= (count + 1) / 2 : member == 0;
    return uint8_t(colour + 2 * second + (second && !interleaved ? 0 : member % 2));
  }

private:
  int32_t count;
  bool interleaved;
  uint8_t colour;
};

absl::StatusOr<Program> shifted(Parameters &parameters, const target::Target &target, bool interleaved) {
  const ElementType type = parameters.dtype();
  const Parameters::Size cores = parameters.size("cores", 2, 255);
  const int64_t N = parameters.integer("N", 1, 1 << 20);
  if (cores.rows != cores.cols)
    parameters.refuse("parameter cores: the mesh of a product by shifts is square");
  if (absl::Status status = parameters.status(); !status.ok())
    return status;
  const int32_t P = int32_t(cores.rows);
  const int64_t t = (N + P - 1) / P; // the last tiles are filled up with zeros
  const int32_t pitch = int32_t(t);
  Mesh mesh(target, P, P);
  const int as = mesh.variable("A", type, {P, P, t, t}), bs = mesh.variable("B", type, {P, P, t, t}),
            cs = mesh.variable("C", type, {P, P, t, t});
  const Part tile{.perRow = P * t * t, .perCol = t * t, .extent = {t, t}};
  const Ring along(P, interleaved, 0), down(P, interleaved, 4);
  for (int32_t i = 0; i < P; ++i)
    for (int32_t j = 0; j < P; ++j) {
      const Place at{down.placeOf(i), along.placeOf(j)};
      Core core(mesh, "core");
      const std::array<Op, 2> a{core.part(as, "A", tile), core.scratch("A'", type, t * t)};
      const std::array<Op, 2> b = [&] {
        const Op first = core.part(bs, "B", tile);
        core.bank(0);
        const Op second = core.scratch("B'", type, t * t);
        core.bank(0);
        return std::array<Op, 2>{first, second};
      }();
      const Op c = core.part(cs, "C", tile);
      core.bank(target.sramBanks / 2);
      const Op aOut = core.output(along.colourOf(j)), aIn = core.input(along.colourOf(along.after(j)));
      const Op bOut = core.output(down.colourOf(i)), bIn = core.input(down.colourOf(down.after(i)));
      mesh.path(along.colourOf(j), at, {at.row, along.placeOf(along.before(j))});
      mesh.path(down.colourOf(i), at, {down.placeOf(down.before(i)), at.col});

      auto thread = core.thread();
      thread.type(type).move(c, imm(0), {t * t});
      int depth = 0; // of loops around
      const auto multiply = [&](size_t held) {
        const auto step = [&](const Op &op, int32_t by) { return depth == 0 ? op.steps({by}) : op.steps({0, by}); };
        thread.loop(t)
            .fma(c.strides({pitch, 1}), step(a[held].strides({pitch, 0}), 1), step(b[held].strides({0, 1}), pitch),
                 {t, t})
            .endLoop();
      };
      const auto shift = [&](size_t held) {
        for (const bool first : {true, false}) {
          if ((j % 2 == 0) == first)
            thread.move(aOut, a[held], {t * t});
          else
            thread.move(a[1 - held], aIn, {t * t});
          if ((i % 2 == 0) == first)
            thread.move(bOut, b[held], {t * t});
          else
            thread.move(b[1 - held], bIn, {t * t});
        }
      };
      const auto round = [&](size_t held) { multiply(held), shift(held); };
      if (P > 2) {
        thread.loop((P - 1) / 2);
        depth = 1;
        round(0), round(1);
        depth = 0;
        thread.endLoop();
      }
      if (P % 2 == 0)
        round(0);
      multiply(P % 2 == 0 ? 1 : 0);
      mesh.place(at.row, at.col, core);
    }
  auto executable = mesh.finish();
  if (!executable.ok())
    return executable.status();
  return Program{*std::move(executable), {}, ""};
}

} // namespace

absl::StatusOr<Program> buildGemmCannon(Parameters &parameters, const target::Target &target) {
  return shifted(parameters, target, false);
}

absl::StatusOr<Program> buildGemmRing(Parameters &parameters, const target::Target &target) {
  return shifted(parameters, target, true);
}

} // namespace wsc::validation
