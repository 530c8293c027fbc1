// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a step does is put into a few numbers; groups whose numbers are the same in all steps can be merged. Shapes,
// kernels and copies that are equal get the same number, whichever role they are of.
#include "runtime/emulator/WaveMerge.h"

#include <algorithm>
#include <array>

namespace wsc::emulator {

namespace {

uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15u + (hash >> 29); }

uint64_t hashOf(const ShapeVariant &shape) {
  uint64_t hash = uint64_t(shape.shape.elements);
  for (int64_t extent : shape.shape.extent)
    hash = mix(hash, uint64_t(extent));
  for (const auto &strides : shape.shape.stride)
    for (int64_t stride : strides)
      hash = mix(hash, uint64_t(stride));
  return hash;
}
uint64_t hashOf(const DecodedOp &op) { return mix(uint64_t(op.row.kind), uint64_t(uintptr_t(op.row.compute))); }
uint64_t hashOf(const PlanVariant &nest) {
  const NestPlan &plan = nest.plan;
  uint64_t hash = mix(uint64_t(plan.op), plan.taps.size());
  for (const auto *vectors : {&plan.wide, &plan.narrow})
    for (const NestVector &vector : *vectors)
      hash = mix(hash, uint64_t(vector.acc) << 32 | uint32_t(vector.vec));
  return mix(hash, plan.scalars.size());
}
uint64_t hashOf(const ScratchCopies &copies) {
  uint64_t hash = copies.size();
  for (const ScratchCopy &copy : copies)
    hash = mix(hash, uint64_t(copy.from) << 32 ^ uint64_t(copy.to) << 16 ^ uint64_t(copy.bytes));
  return hash;
}

// Whether steps with one or the other do the same.
bool doesTheSame(const ShapeVariant &x, const ShapeVariant &y) { return x.shape == y.shape && x.single == y.single; }
bool doesTheSame(const DecodedOp &x, const DecodedOp &y) {
  const auto isSent = [](const DecodedOp &op) { return op.dst.kind == format::OperandKind::Queue; };
  return x.row == y.row && isSent(x) == isSent(y); // else words are padded
}
bool doesTheSame(const ScratchCopies &x, const ScratchCopies &y) { return x == y; }
bool doesTheSame(const PlanVariant &x, const PlanVariant &y) { return x.plan == y.plan; }

// Numbers of things, the same for those that do the same.
template <typename Thing> class Numbers {
public:
  uint64_t of(const Thing *thing) {
    const auto [known, isNew] = numbers.try_emplace(thing, uint32_t(distinct.size()));
    if (!isNew)
      return known->second;
    std::vector<uint32_t> &alike = byHash[hashOf(*thing)];
    for (uint32_t number : alike)
      if (doesTheSame(*thing, *distinct[number]))
        return known->second = number;
    alike.push_back(known->second);
    distinct.push_back(thing);
    return known->second;
  }

private:
  std::unordered_map<const Thing *, uint32_t> numbers;
  std::unordered_map<uint64_t, std::vector<uint32_t>> byHash;
  std::vector<const Thing *> distinct;
};

// A group, with the numbers of its steps.
struct Signature {
  bool isAlone = false; // it cannot be merged
  uint64_t hash = 0;
  size_t begin = 0, end = 0; // among all numbers
  size_t mostCores = 0;
};

class Signatures {
public:
  explicit Signatures(const WaveRecord::Stream &stream) : stream(stream) {}

  Signature of(size_t group) {
    Signature made;
    made.begin = numbers.size();
    for (auto [s, end] = stream.stepsOf(group); s < end; ++s) {
      const RecordedStep &step = stream.steps[s];
      made.mostCores = std::max(made.mostCores, size_t(step.cores));
      made.isAlone |= !add(step);
    }
    made.end = numbers.size();
    for (size_t i = made.begin; i < made.end; ++i)
      made.hash = mix(made.hash, numbers[i]);
    return made;
  }
  bool match(const Signature &x, const Signature &y) const {
    return !x.isAlone && !y.isAlone && x.hash == y.hash &&
           std::equal(numbers.begin() + int64_t(x.begin), numbers.begin() + int64_t(x.end),
                      numbers.begin() + int64_t(y.begin), numbers.begin() + int64_t(y.end));
  }
  void clear() { numbers.clear(); } // no signatures so far are needed

private:
  void add(const RecordedOperand &operand) {
    numbers.push_back(uint64_t(operand.region) << 32 | uint32_t(operand.runStep));
  }
  // False: its cores have something of their own.
  bool add(const RecordedStep &step) {
    using enum RecordedStep::Kind;
    uint64_t what = 0;
    bool isCommon = !step.dst.inPieces() && !step.a.inPieces() && !step.b.inPieces();
    switch (step.kind) {
    case Scratch:
      what = copies.of(step.copies);
      break;
    case Bytes:
      what = uint64_t(step.bytes);
      break;
    case Row:
    case Together:
      what = shapes.of(step.row) << 32 | ops.of(step.op);
      break;
    case Nest: // rearranged copies of sources lie where the role has them
      isCommon =
          isCommon && step.nest->plan.phases == 1 && !step.nest->widened[0].widen && !step.nest->widened[1].widen;
      [[fallthrough]];
    case Chains:
      what = nests.of(step.nest);
      break;
    }
    numbers.push_back(uint64_t(step.kind) << 2 | uint64_t(step.isOfShape) << 1 | uint64_t(step.fresh));
    numbers.push_back(what);
    for (const RecordedOperand *operand : {&step.dst, &step.a, &step.b})
      add(*operand);
    if (step.extra < 0)
      return isCommon;
    const RecordedExtra &extra = stream.extras[size_t(step.extra)];
    add(extra.add);
    add(extra.out);
    numbers.push_back(uint64_t(extra.indexed.bytes) << 1 | uint64_t(extra.origins < 0));
    numbers.push_back(uint64_t(extra.indexed.step));
    return isCommon && !extra.add.inPieces() && !extra.out.inPieces();
  }

  const WaveRecord::Stream &stream;
  std::vector<uint64_t> numbers; // of all groups' steps
  Numbers<ShapeVariant> shapes;
  Numbers<DecodedOp> ops;
  Numbers<PlanVariant> nests;
  Numbers<ScratchCopies> copies;
};

// A stream written anew from the groups of another.
class Merger {
public:
  explicit Merger(WaveRecord::Stream &from) : from(from), tables(made) {}

  // The groups `parts`, which do the same steps, as one; as several where they lie too far apart.
  void add(std::span<const uint32_t> parts) {
    std::vector<RecordedStep> steps;
    const size_t extras = made.extras.size(), origins = made.origins.size(), chains = made.chains.size();
    const auto [first, last] = from.stepsOf(parts[0]);
    bool fits = true;
    for (size_t s = 0; s < last - first && fits; ++s) {
      RecordedStep step = from.steps[first + s];
      fits = merge(parts, s, step);
      if (step.kind != RecordedStep::Kind::Chains || step.chains.count > 0)
        steps.push_back(step);
    }
    if (!fits) { // never of a single one
      made.extras.resize(extras);
      made.origins.resize(origins);
      made.chains.resize(chains);
      for (const uint32_t &part : parts)
        add({&part, 1});
      return;
    }
    if (steps.empty())
      return;
    int64_t slotBytes = 0;
    for (uint32_t part : parts)
      slotBytes += from.groups[part].slotBytes;
    made.groups.push_back({uint32_t(made.steps.size()), slotBytes});
    for (const RecordedStep &step : steps)
      made.steps.push_back(step);
  }
  size_t groups() const { return made.groups.size(); }

  void finish() {
    made.pieces = std::move(from.pieces);
    made.firstPiece = std::move(from.firstPiece);
    made.shapes = std::move(from.shapes);
    made.forms = std::move(from.forms);
    made.chainSources = std::move(from.chainSources);
    from = std::move(made);
  }

private:
  // Step number `s` of all parts. False: some of their cores lie too far apart.
  bool merge(std::span<const uint32_t> parts, size_t s, RecordedStep &step) {
    size_t cores = 0;
    const auto chains = uint32_t(made.chains.size());
    for (uint32_t part : parts) {
      const RecordedStep &each = stepOf(part, s);
      for (uint32_t c = 0; step.kind == RecordedStep::Kind::Chains && c < each.chains.count; ++c) {
        RecordedChain chain = from.chains[each.chains.first + c];
        chain.core += int32_t(cores);
        made.chains.push_back(chain);
      }
      cores += each.cores;
    }
    if (step.kind == RecordedStep::Kind::Chains) {
      step.chains = {chains, uint32_t(made.chains.size()) - chains};
      sortChains(from.chainSources, std::span(made.chains).subspan(chains));
    }
    step.cores = uint8_t(cores);
    const auto place = [&](RecordedOperand &operand, auto of) { return this->place(parts, s, operand, of); };
    bool fits = place(step.dst, [](const RecordedStep &each) { return each.dst; });
    if (step.kind != RecordedStep::Kind::Chains) // of chains these are what is common
      fits = fits && place(step.a, [](const RecordedStep &each) { return each.a; }) &&
             place(step.b, [](const RecordedStep &each) { return each.b; });
    if (step.extra < 0)
      return fits;
    RecordedExtra extra = extraOf(stepOf(parts[0], s));
    fits = fits && place(extra.add, [this](const RecordedStep &each) { return extraOf(each).add; }) &&
           place(extra.out, [this](const RecordedStep &each) { return extraOf(each).out; });
    if (extra.origins >= 0) {
      extra.origins = int32_t(made.origins.size());
      for (uint32_t part : parts) {
        const RecordedStep &each = stepOf(part, s);
        const auto begin = from.origins.begin() + extraOf(each).origins;
        made.origins.insert(made.origins.end(), begin, begin + each.cores);
      }
    }
    step.extra = int32_t(made.extras.size());
    made.extras.push_back(extra);
    return fits;
  }

  // An operand of all parts' cores.
  template <typename Of> bool place(std::span<const uint32_t> parts, size_t s, RecordedOperand &operand, Of of) {
    if (operand.region == RecordedOperand::Region::None || operand.inPieces())
      return true; // pieces are those of a single part
    std::array<int64_t, kMostCores> offsets;
    size_t count = 0;
    int64_t slots = 0; // bytes of those of the parts before
    for (uint32_t part : parts) {
      const RecordedStep &each = stepOf(part, s);
      const RecordedOperand its = of(each);
      const int64_t first = int64_t(its.base) + (its.region == RecordedOperand::Region::Slot ? slots : 0);
      for (int32_t i = 0; i < each.cores; ++i)
        offsets[count++] = first + (its.hasTable ? from.distances[its.table + size_t(i)] : i * int64_t(its.stride));
      slots += from.groups[part].slotBytes;
    }
    return tables.place(operand, {offsets.data(), count});
  }
  const RecordedStep &stepOf(uint32_t part, size_t s) const { return from.steps[from.groups[part].firstStep + s]; }
  const RecordedExtra &extraOf(const RecordedStep &step) const { return from.extras[size_t(step.extra)]; }

  WaveRecord::Stream &from;
  WaveRecord::Stream made;
  DistanceTables tables;
};

// Groups that become one.
struct Merged {
  std::vector<uint32_t> parts;
  Signature signature;
  size_t cores = 0;
  int64_t slotBytes = 0;
};

} // namespace

void mergeGroups(WaveRecord &record, int64_t mostSlotBytes) {
  const size_t streams = record.streams.size();
  for (size_t s = 0; s < streams; ++s) {
    WaveRecord::Stream &stream = record.streams[s];
    Signatures signatures(stream);
    Merger merger(stream);
    std::vector<Merged> wave;
    std::unordered_map<uint64_t, size_t> open; // by hash: the last of the wave
    uint32_t group = 0;
    for (size_t w = s; w < record.waves.size(); w += streams) {
      for (; group < record.waves[w]; ++group) {
        const Signature signature = signatures.of(group);
        const int64_t slotBytes = stream.groups[group].slotBytes;
        const auto [known, isNew] = open.try_emplace(signature.hash, wave.size());
        if (!isNew) {
          Merged &into = wave[known->second];
          if (signatures.match(into.signature, signature) && into.cores + signature.mostCores <= kMostCores &&
              into.slotBytes + slotBytes <= mostSlotBytes) {
            into.parts.push_back(group);
            into.cores += signature.mostCores;
            into.slotBytes += slotBytes;
            continue;
          }
          known->second = wave.size();
        }
        wave.push_back({{group}, signature, signature.mostCores, slotBytes});
      }
      for (const Merged &merged : wave)
        merger.add(merged.parts);
      record.waves[w] = uint32_t(merger.groups());
      wave.clear();
      open.clear();
      signatures.clear();
    }
    merger.finish();
  }
  if (streams == 1 && !record.waves.empty())
    record.waves = {record.waves.back()};
}

} // namespace wsc::emulator
