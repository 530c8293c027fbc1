// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A·B on P x P cores by SUMMA: in step k the cores of column k multicast their tiles of A along their rows, those
// of row k their tiles of B along their columns; all multiply what they got.
//
// One colour carries all tiles that go east, in the order of their columns: a sender ends its tile with a control word
// that turns its own switch back to passing on and the next sender's to sending. Tiles that go west come from nearer
// columns first: a switch sends, passes on, and is turned back by control words at the end of the run. North and south
// alike.
// steps=synchronous, the textbook's form: a step begins when the step before is over at both ends of the core's row and
// column, whose cores tell all others. steps=pipelined: a step begins as soon as its tiles are there.
#include "test/validation/Mesh.h"
#include "test/validation/Workloads.h"

#include "absl/strings/str_cat.h"

#include <optional>

namespace wsc::validation {

namespace {

// The two colours on which the cores of a line multicast tiles in turn, and the two on which its ends tell the others.
class Line {
public:
  Line(int32_t count, bool vertical, uint8_t colour) : count(count), vertical(vertical), colour(colour) {}

  void routes(Mesh &mesh, int32_t line, bool synchronous) const {
    const Port ahead = vertical ? Port::South : Port::East, back = vertical ? Port::North : Port::West;
    for (int32_t member = 0; member < count; ++member) {
      const Place at = vertical ? Place{member, line} : Place{line, member};
      const bool first = member == 0, last = member + 1 == count;
      const auto ramp = bit(Port::Ramp);
      if (first)
        mesh.switched(colour, at, {{Port::Ramp, bit(ahead)}});
      else if (last)
        mesh.switched(colour, at, {{back, ramp}});
      else if (sendersAhead() > 1)
        mesh.switched(colour, at, {{back, format::PortMask(bit(ahead) | ramp)}, {Port::Ramp, bit(ahead)}});
      if (last)
        mesh.switched(uint8_t(colour + 1), at, {{Port::Ramp, bit(back)}});
      else if (first)
        mesh.switched(uint8_t(colour + 1), at, {{ahead, ramp}});
      else
        mesh.switched(uint8_t(colour + 1), at, {{Port::Ramp, bit(back)}, {ahead, format::PortMask(bit(back) | ramp)}});
    }
    const auto end = [&](int32_t member) { return vertical ? Place{member, line} : Place{line, member}; };
    if (synchronous) {
      mesh.path(uint8_t(colour + 2), end(0), end(count - 1), true);
      mesh.path(uint8_t(colour + 3), end(count - 1), end(0), true);
    }
  }

  // The queues of a member.
  struct Ends {
    Op fromBack, fromAhead, ahead, back, told[2], tell;
  };
  Ends ends(Core &core, int32_t member, bool synchronous) const {
    Ends ends;
    const bool first = member == 0, last = member + 1 == count;
    if (!first)
      ends.fromBack = core.input(colour), ends.back = core.output(uint8_t(colour + 1));
    if (!last)
      ends.ahead = core.output(colour), ends.fromAhead = core.input(uint8_t(colour + 1));
    if (synchronous && !first)
      ends.told[0] = core.input(uint8_t(colour + 2));
    if (synchronous && !last)
      ends.told[1] = core.input(uint8_t(colour + 3));
    if (synchronous && (first || last))
      ends.tell = core.output(uint8_t(first ? colour + 2 : colour + 3));
    return ends;
  }

  void send(testing::ThreadBuilder &thread, const Ends &ends, int32_t member, const Op &tile, int64_t elements) const {
    if (member + 1 < count) {
      thread.move(ends.ahead, tile, {Affine(elements)});
      if (const int turns = (member > 0) + (member + 1 < sendersAhead()); turns > 0)
        thread.sendControl(ends.ahead, uint8_t(turns));
    }
    if (member > 0) {
      thread.move(ends.back, tile, {Affine(elements)});
      if (member + 1 < count)
        thread.sendControl(ends.back, 1);
    }
  }
  // At the end of the run all switches of the way back pass on; each needs one turn more. A member can turn the switch
  // behind it only while its own sends, and turns its own too, so the member ahead must turn that again: member k sends
  // k − 1 control words.
  void restore(testing::ThreadBuilder &thread, const Ends &ends, int32_t member) const {
    if (member < 2)
      return;
    thread.loop(member - 1);
    thread.sendControl(ends.back, member + 1 < count ? 2 : 1);
    thread.endLoop();
  }
  void tellOthers(testing::ThreadBuilder &thread, const Ends &ends, int32_t member, const Op &word) const {
    if (member == 0 || member + 1 == count)
      thread.move(ends.tell, word, {1});
    if (member > 0)
      thread.move(null(), ends.told[0], {1});
    if (member + 1 < count)
      thread.move(null(), ends.told[1], {1});
  }

private:
  int32_t sendersAhead() const { return count - 1; }

  int32_t count;
  bool vertical;
  uint8_t colour;
};

} // namespace

absl::StatusOr<Program> buildGemmSumma(Parameters &parameters, const target::Target &target) {
  const ElementType type = parameters.dtype();
  const Parameters::Size cores = parameters.size("cores", 2, 255);
  const int64_t N = parameters.integer("N", 1, 1 << 20);
  const bool synchronous = parameters.choice("steps", {"synchronous", "pipelined"}) == "synchronous";
  if (cores.rows != cores.cols)
    parameters.refuse("parameter cores: the mesh of SUMMA is square here");
  if (absl::Status status = parameters.status(); !status.ok())
    return status;
  const int32_t P = int32_t(cores.rows);
  const int64_t t = (N + P - 1) / P; // the last tiles are filled up with zeros
  const int32_t pitch = int32_t(t);
  Mesh mesh(target, P, P);
  const int as = mesh.variable("A", type, {P, P, t, t}), bs = mesh.variable("B", type, {P, P, t, t}),
            cs = mesh.variable("C", type, {P, P, t, t});
  const Part tile{.perRow = P * t * t, .perCol = t * t, .extent = {t, t}};
  const Line along(P, false, 0), down(P, true, 4);
  for (int32_t i = 0; i < P; ++i) {
    along.routes(mesh, i, synchronous);
    down.routes(mesh, i, synchronous);
    for (int32_t j = 0; j < P; ++j) {
      Core core(mesh, "core");
      const Op ownA = core.part(as, "A", tile), otherA = core.scratch("A'", type, t * t);
      const Op ownB = core.part(bs, "B", tile);
      core.bank(0);
      const Op otherB = core.scratch("B'", type, t * t);
      core.bank(0);
      const Op c = core.part(cs, "C", tile);
      core.bank(target.sramBanks / 2);
      const Line::Ends row = along.ends(core, j, synchronous), column = down.ends(core, i, synchronous);
      auto thread = core.thread();
      thread.type(type).move(c, imm(0), {t * t});
      // Steps [begin, end), in which the core's part is the same.
      const auto steps = [&](int32_t begin, int32_t end) {
        if (begin >= end)
          return;
        const bool looped = end - begin > 1;
        if (looped)
          thread.loop(end - begin);
        if (begin == j)
          along.send(thread, row, j, ownA, t * t);
        else
          thread.move(otherA, begin < j ? row.fromBack : row.fromAhead, {t * t});
        if (begin == i)
          down.send(thread, column, i, ownB, t * t);
        else
          thread.move(otherB, begin < i ? column.fromBack : column.fromAhead, {t * t});
        const auto step = [&](const Op &op, int32_t by) { return looped ? op.steps({0, by}) : op.steps({by}); };
        thread.loop(t)
            .fma(c.strides({pitch, 1}), step((begin == j ? ownA : otherA).strides({pitch, 0}), 1),
                 step((begin == i ? ownB : otherB).strides({0, 1}), pitch), {t, t})
            .endLoop();
        if (synchronous) {
          along.tellOthers(thread, row, j, c);
          down.tellOthers(thread, column, i, c);
        }
        if (looped)
          thread.endLoop();
      };
      const int32_t nearer = std::min(i, j), farther = std::max(i, j);
      steps(0, nearer);
      steps(nearer, nearer + 1);
      steps(nearer + 1, farther);
      steps(std::max(farther, nearer + 1), farther + 1);
      steps(farther + 1, P);
      along.restore(thread, row, j);
      down.restore(thread, column, i);
      mesh.place(i, j, core);
    }
  }
  auto executable = mesh.finish();
  if (!executable.ok())
    return executable.status();
  return Program{*std::move(executable), {}, ""};
}

} // namespace wsc::validation
