// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/collectives/GroupReduce.h"

#include "compiler/spmd/collectives/Words.h"

#include <utility>

namespace wsc::spmd {

using namespace format;

namespace {

constexpr int32_t kShortGroup = 160; // of cores: one chain takes fewer colours and queues

/// Cores at places [begin, end) of every `period` adjacent ones, of one parity unless -1.
Guard placesOf(const CoreGroups &groups, int32_t period, int32_t begin, int32_t end, int parity = -1) {
  const int32_t taking = groups.group * groups.groups;
  AxisGuard part;
  part.parity = parity;
  if (taking == period) {
    part.begin = begin;
    part.end = end;
  } else {
    part.end = taking < groups.length ? taking : INT32_MAX;
    part.modulus = period;
    if (begin > 0)
      part.subBegin = begin;
    if (end < period)
      part.subEnd = end;
  }
  return withAlong(groups.cores, groups.axis, part);
}

class GroupReduce {
public:
  GroupReduce(Code &code, const CoreGroups &all, ElementType type, int64_t elements)
      : code(code), all(all), axis(all.axis), length(all.length), group(all.group), groups(all.groups),
        run(reduceRun(group)), type(type), elements(elements) {}

  void reduce(Opcode opcode, Place mine, Place result) {
    chainInRuns(opcode, mine, result);
    if (run < group)
      chainOfRuns(opcode, result);
  }

  void give(Place place) {
    code.append(instruction(Opcode::Move, type, {elements}, queue(code, wayBack(), true), local(place)),
                firstCores(all));
  }

  /// False where the last instruction does not make just the elements of `place`, one behind the other.
  bool giveLast(Place place) {
    const Instruction &last = code.main.back();
    if (last.dst.kind != OperandKind::Memory || last.dst.buffer != place.buffer || last.type != type ||
        opcodeInfo(last.opcode).readsDst || !last.dst.base.isConstant() || last.dst.base.constant != place.baseBytes)
      return false;
    int64_t packed = elementBytes(type);
    for (int d = kMaxDims - 1; d >= 0; --d) {
      const Affine &extent = last.extent[size_t(d)];
      if (!extent.isConstant() || (extent.constant > 1 && last.dst.stride[size_t(d)] != packed) ||
          last.dst.loopStep[size_t(d)] != 0)
        return false;
      packed *= extent.constant;
    }
    if (packed != elements * elementBytes(type))
      return false;
    Instruction giving = last;
    giving.dst = queue(code, wayBack(), true);
    code.append(std::move(giving), firstCores(all));
    std::swap(code.main.back(), code.main[code.main.size() - 2]);
    return true;
  }

  void take(Place place) {
    code.append(instruction(Opcode::Move, type, {elements}, local(place), queue(code, wayBack(), false)),
                placesOf(all, group, 1, group));
    if (groups == 1 && group < length) // the others of the line take the stream, too
      code.append(instruction(Opcode::Move, type, {elements}, nullOperand(), queue(code, wayBack(), false)),
                  narrowed(all.cores, axis, group, length));
  }

private:
  Route wayBack() const {
    Route back{.kind = Route::Kind::BusOut, .axis = axis};
    if (groups > 1) {
      back.segment = group;
      back.units = group * groups;
    }
    return back;
  }

  Operand local(Place place) const { return memory(place.buffer, place.baseBytes, {elementBytes(type)}); }

  void chainInRuns(Opcode opcode, Place mine, Place result) {
    // A single run is a line of its own: its places are coordinates.
    const int32_t period = group * groups == run ? 0 : run;
    auto link = [&](bool odd, bool output) { return queue(code, chain(axis, odd, period), output); };
    code.append(instruction(Opcode::Move, type, {elements}, link(run % 2 == 0, true), local(mine)),
                placesOf(all, run, run - 1, run));
    for (int odd : {1, 0}) {
      if (run <= (odd ? 2 : 3))
        break; // no core inside the run has that parity
      code.append(instruction(opcode, type, {elements}, link(odd, true), link(!odd, false), local(mine)),
                  placesOf(all, run, 1, run - 1, odd));
    }
    code.append(instruction(opcode, type, {elements}, local(result), link(true, false), local(mine)),
                placesOf(all, run, 0, 1));
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
    return withAlong(all.cores, axis, part);
  }

  void chainOfRuns(Opcode opcode, Place result) {
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

  Code &code;
  const CoreGroups &all;
  const Axis axis;
  const int32_t length, group, groups, run;
  const ElementType type;
  const int64_t elements;
};

} // namespace

Guard firstCores(const CoreGroups &groups) { return placesOf(groups, groups.group, 0, 1); }

void emitGroupReduce(Code &code, const CoreGroups &groups, Opcode opcode, ElementType type, int64_t elements,
                     Place mine, Place result) {
  if (groups.group > 1) {
    GroupReduce(code, groups, type, elements).reduce(opcode, mine, result);
    return;
  }
  if (mine.buffer != result.buffer || mine.baseBytes != result.baseBytes) {
    const int64_t bytes = elementBytes(type);
    code.append(instruction(Opcode::Move, type, {elements}, memory(result.buffer, result.baseBytes, {bytes}),
                            memory(mine.buffer, mine.baseBytes, {bytes})),
                firstCores(groups));
  }
}

void emitGroupSend(Code &code, const CoreGroups &groups, ElementType type, int64_t elements, Place place) {
  if (groups.group <= 1)
    return;
  GroupReduce send(code, groups, type, elements);
  send.give(place);
  send.take(place);
}

void emitGroupSendLast(Code &code, const CoreGroups &groups, ElementType type, int64_t elements, Place place) {
  if (groups.group <= 1)
    return;
  GroupReduce send(code, groups, type, elements);
  if (!send.giveLast(place))
    send.give(place);
  send.take(place);
}

void emitGroupAllReduce(Code &code, const CoreGroups &groups, Opcode opcode, ElementType type, int64_t elements,
                        Place mine, Place result) {
  emitGroupReduce(code, groups, opcode, type, elements, mine, result);
  emitGroupSend(code, groups, type, elements, result);
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
