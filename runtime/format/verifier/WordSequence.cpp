// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds and compares the count sequences of queues. Loops whose body is one run multiply its count; only bodies with
// control words or padding are repeated.
#include "runtime/format/verifier/WordSequence.h"

namespace wsc::format::verifier {

void append(Segments &segments, Segment segment) {
  if (segment.count == 0)
    return;
  if (!segments.empty() && segments.back().unit == segment.unit)
    segments.back().count = add(segments.back().count, segment.count);
  else
    segments.push_back(segment);
}

int64_t totalWords(const Segments &segments) {
  int64_t total = 0;
  for (const Segment &segment : segments)
    total = add(total, segment.words());
  return total;
}

Segment segmentOf(int64_t elements, int64_t bytesPerElement) {
  int64_t bytes = multiply(elements, bytesPerElement);
  if (bytes == 0)
    return {};
  return bytes % 4 == 0 ? Segment{bytes / 4, 0} : Segment{1, bytes};
}

WordSequence::WordSequence(const Role &role, int queue) {
  for (const Thread &thread : role.threads) {
    std::vector<size_t> open; // positions of loops begun and not ended
    size_t threadBegin = items.size();
    bool used = false;
    forEachInstruction(thread, [&](const Instruction &instruction, size_t, const LoopNest &loops) {
      if (instruction.opcode == Opcode::Loop) {
        open.push_back(items.size());
        items.push_back({&instruction});
        return;
      }
      if (instruction.opcode == Opcode::EndLoop) {
        if (items.size() == open.back() + 1)
          items.pop_back(); // nothing of this queue inside
        else
          items.push_back({&instruction});
        open.pop_back();
        return;
      }
      for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b}) {
        if (operand->kind != OperandKind::Queue || operand->queue != queue)
          continue;
        bool control = instruction.opcode == Opcode::SendControl;
        items.push_back({&instruction, control ? 0 : elementBytes(accessType(instruction, *operand))});
        mask |= countDependsOn(instruction, loops, role.cores);
        used = true;
      }
    });
    if (!used)
      items.resize(threadBegin);
  }
}

bool WordSequence::evaluate(size_t &item, const LatticeIndex &index, Segments &segments) const {
  for (; item < items.size(); ++item) {
    const Instruction &instruction = *items[item].instruction;
    if (instruction.opcode == Opcode::EndLoop)
      return true;
    if (instruction.opcode == Opcode::Loop) {
      Segments body;
      if (!evaluate(++item, index, body))
        return false;
      int64_t trips = int64_t(Form(instruction.extent[0]).at(index));
      if (trips == 0)
        continue;
      if (body.size() == 1) {
        append(segments, {multiply(body[0].count, trips), body[0].unit});
      } else if (!body.empty()) {
        if (multiply(trips, int64_t(body.size())) > int64_t(kMostSegments))
          return false;
        for (int64_t trip = 0; trip < trips; ++trip)
          for (const Segment &segment : body)
            append(segments, segment);
      }
    } else if (instruction.opcode == Opcode::SendControl) {
      append(segments, {1, -int64_t(instruction.controlCount)});
    } else {
      append(segments, segmentOf(elementsAt(instruction, {}, index), items[item].bytesPerElement));
    }
    if (segments.size() > kMostSegments)
      return false;
  }
  return true;
}

bool WordSequence::at(const LatticeIndex &index, Segments &segments) const {
  segments.clear();
  size_t item = 0;
  return evaluate(item, index, segments) && totalWords(segments) < kMost;
}

namespace {

// Reads a sequence as stretches of whole words and single padded words.
class Cursor {
public:
  explicit Cursor(const Segments &segments) : segments(segments) { load(); }
  bool done() const { return position == segments.size(); }
  bool atBlock() const { return segments[position].unit > 0 && inside == 0; }
  const Segment &segment() const { return segments[position]; }
  int64_t left() const { return count; }
  // Whole words before the next padded word; 0 when that comes next.
  int64_t wholeWords() const { return segment().unit == 0 ? count : segment().unit / 4 - inside; }
  int64_t padding() const { return segment().unit % 4; }
  void takeBlocks(int64_t n) { drop(n); }
  void takeWords(int64_t n) {
    if (segment().unit == 0)
      drop(n);
    else
      inside += n;
  }
  void takePadded() {
    inside = 0;
    drop(1);
  }

private:
  void load() { count = done() ? 0 : segments[position].count; }
  void drop(int64_t n) {
    count -= n;
    if (count == 0) {
      ++position;
      load();
    }
  }
  const Segments &segments;
  size_t position = 0;
  int64_t count = 0, inside = 0;
};

} // namespace

bool sameWords(const Segments &a, const Segments &b) {
  Cursor x(a), y(b);
  while (!x.done() && !y.done()) {
    if (x.segment().unit < 0 || y.segment().unit < 0)
      return false;
    if (x.atBlock() && y.atBlock() && x.segment().unit == y.segment().unit) {
      int64_t blocks = std::min(x.left(), y.left());
      x.takeBlocks(blocks);
      y.takeBlocks(blocks);
      continue;
    }
    int64_t words = std::min(x.wholeWords(), y.wholeWords());
    if (words > 0) {
      x.takeWords(words);
      y.takeWords(words);
    } else {
      if (x.wholeWords() != y.wholeWords() || x.padding() != y.padding())
        return false;
      x.takePadded();
      y.takePadded();
    }
  }
  return x.done() && y.done();
}

} // namespace wsc::format::verifier
