// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/collectives/GroupReduce.h"

#include "compiler/spmd/collectives/Words.h"

namespace wsc::spmd {

using namespace format;

namespace {

constexpr int32_t kShortGroup = 160; // of cores: one chain takes fewer colours and queues

class GroupReduce {
public:
  GroupReduce(Code &code, Axis axis, int32_t length, int32_t group, int32_t groups, Opcode opcode, ElementType type,
              int64_t elements, Place mine, Place result, const Guard &cores)
      : code(code), axis(axis), length(length), group(group), groups(groups), run(reduceRun(group)), opcode(opcode),
        type(type), elements(elements), mine(mine), result(result), cores(cores) {}

  void write() {
    chainInRuns();
    if (run < group)
      chainOfRuns();
    sendBack();
  }

private:
  Operand local(Place place) const { return memory(place.buffer, place.baseBytes, {elementBytes(type)}); }

  /// Cores at places [begin, end) of every `period` adjacent ones, of one parity unless -1.
  Guard places(int32_t period, int32_t begin, int32_t end, int parity = -1) const {
    AxisGuard part;
    part.parity = parity;
    if (group * groups == period) {
      part.begin = begin;
      part.end = end;
    } else {
      part.end = group * groups < length ? group * groups : INT32_MAX;
      part.modulus = period;
      if (begin > 0)
        part.subBegin = begin;
      if (end < period)
        part.subEnd = end;
    }
    return withAlong(cores, axis, part);
  }

  void chainInRuns() {
    // A single run is a line of its own: its places are coordinates.
    const int32_t period = group * groups == run ? 0 : run;
    auto link = [&](bool odd, bool output) { return queue(code, chain(axis, odd, period), output); };
    code.append(instruction(Opcode::Move, type, {elements}, link(run % 2 == 0, true), local(mine)),
                places(run, run - 1, run));
    for (int odd : {1, 0}) {
      if (run <= (odd ? 2 : 3))
        break; // no core inside the run has that parity
      code.append(instruction(opcode, type, {elements}, link(odd, true), link(!odd, false), local(mine)),
                  places(run, 1, run - 1, odd));
    }
    code.append(instruction(opcode, type, {elements}, local(result), link(true, false), local(mine)),
                places(run, 0, 1));
  }

  /// The first cores of the runs [begin, end) of every group.
  Guard runs(int32_t begin, int32_t end, int parity = -1) const {
    AxisGuard part;
    part.parity = parity;
    part.end = group * groups < length ? group * groups : INT32_MAX;
    part.modulus = group;
    part.unit = run;
    part.subBegin = begin;
    part.subEnd = end;
    part.placeEnd = 1;
    return withAlong(cores, axis, part);
  }

  void chainOfRuns() {
    const int32_t count = group / run;
    // Single groups of one run length, however long, share their routes.
    const int32_t reach = groups == 1 ? length / run * run : group;
    auto link = [&](bool odd, bool output) { return queue(code, runChain(axis, odd, run, reach, groups), output); };
    code.append(instruction(Opcode::Move, type, {elements}, link(count % 2 == 0, true), local(result)),
                runs(count - 1, count));
    for (int odd : {1, 0}) {
      if (count <= (odd ? 2 : 3))
        break;
      code.append(instruction(opcode, type, {elements}, link(odd, true), link(!odd, false), local(result)),
                  runs(1, count - 1, odd));
    }
    code.append(instruction(opcode, type, {elements}, local(result), link(true, false), local(result)), runs(0, 1));
  }

  void sendBack() {
    Route back{.kind = Route::Kind::BusOut, .axis = axis};
    if (groups > 1) {
      back.segment = group;
      back.units = group * groups;
    }
    code.append(instruction(Opcode::Move, type, {elements}, queue(code, back, true), local(result)),
                places(group, 0, 1));
    code.append(instruction(Opcode::Move, type, {elements}, local(result), queue(code, back, false)),
                places(group, 1, group));
    if (groups == 1 && group < length) // the others of the line take the stream, too
      code.append(instruction(Opcode::Move, type, {elements}, nullOperand(), queue(code, back, false)),
                  narrowed(cores, axis, group, length));
  }

  Code &code;
  const Axis axis;
  const int32_t length, group, groups, run;
  const Opcode opcode;
  const ElementType type;
  const int64_t elements;
  const Place mine, result;
  const Guard &cores;
};

} // namespace

void emitGroupAllReduce(Code &code, Axis axis, int32_t length, int32_t group, int32_t groups, Opcode opcode,
                        ElementType type, int64_t elements, Place mine, Place result, const Guard &cores) {
  if (group > 1) {
    GroupReduce(code, axis, length, group, groups, opcode, type, elements, mine, result, cores).write();
    return;
  }
  if (mine.buffer != result.buffer || mine.baseBytes != result.baseBytes) {
    const int64_t bytes = elementBytes(type);
    code.append(instruction(Opcode::Move, type, {elements}, memory(result.buffer, result.baseBytes, {bytes}),
                            memory(mine.buffer, mine.baseBytes, {bytes})),
                narrowed(cores, axis, 0, groups));
  }
}

int32_t reduceRun(int32_t group) {
  int32_t best = group;
  if (group < kShortGroup)
    return best;
  auto links = [&](int32_t run) { return run == group ? group : run + group / run; };
  for (int32_t run = 2; run < group; ++run)
    if (group % run == 0 && links(run) < links(best))
      best = run;
  return best;
}

} // namespace wsc::spmd
