// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans nests. Iteration dimensions are sorted by which source varies along them: dimensions of a alone and of b alone
// span a rectangle of accumulators (one side becomes vectors, the other broadcast scalars), dimensions of both become
// an outer list. The loops, and dimensions along which dst stands still (reductions), are enumerated as taps in program
// order, which keeps every accumulator's chain as the program has it. A vector side with a constant stride k > 1 is
// deinterleaved into k phases first, which turns it into neighbours.
#include "runtime/emulator/NestPlan.h"

#include "runtime/numerics/Bits.h"

#include <algorithm>
#include <array>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr int64_t kMaxTaps = 1 << 16, kMaxAccumulators = 1 << 16;
constexpr int kMaxPhases = 64;

struct Dim {
  int64_t count, dst, a, b; // strides in elements
};

// Offsets of all points of the dimensions, row-major.
struct Point {
  int64_t dst = 0, a = 0, b = 0;
};
std::vector<Point> enumerate(std::span<const Dim> dims) {
  std::vector<Point> points{Point{}};
  for (const Dim &dim : dims) {
    std::vector<Point> next;
    next.reserve(points.size() * size_t(dim.count));
    for (const Point &p : points)
      for (int64_t i = 0; i < dim.count; ++i)
        next.push_back({p.dst + i * dim.dst, p.a + i * dim.a, p.b + i * dim.b});
    points = std::move(next);
  }
  return points;
}

void mergeNeighbours(std::vector<Dim> &dims) {
  for (size_t d = 0; d + 1 < dims.size();) {
    Dim &outer = dims[d];
    const Dim &inner = dims[d + 1];
    if (outer.dst == inner.dst * inner.count && outer.a == inner.a * inner.count && outer.b == inner.b * inner.count) {
      outer = {outer.count * inner.count, inner.dst, inner.a, inner.b};
      dims.erase(dims.begin() + int64_t(d) + 1);
    } else {
      ++d;
    }
  }
}

// No two points of the dimensions meet in dst.
bool injective(std::vector<Dim> dims) {
  std::sort(dims.begin(), dims.end(), [](const Dim &x, const Dim &y) { return std::abs(x.dst) < std::abs(y.dst); });
  int64_t span = 0;
  for (const Dim &dim : dims) {
    if (std::abs(dim.dst) <= span)
      return false;
    span += std::abs(dim.dst) * (dim.count - 1);
  }
  return true;
}

// Products of a matrix with a vector: one accumulator a row, of a few taps that follow each other. Rows lie so far
// apart that they are quicker transposed in registers than deinterleaved.
bool isRowsOfOne(std::span<const Dim> dims, std::span<const Dim> tapDims) {
  constexpr int64_t kMostTaps = 16, kLeastStride = 5;
  if (dims.size() != 1 || dims[0].dst != 1 || (dims[0].a != 0) == (dims[0].b != 0))
    return false;
  const bool inA = dims[0].a != 0;
  const std::vector<Point> taps = enumerate(tapDims);
  for (size_t t = 1; t < taps.size(); ++t)
    if ((inA ? taps[t].a - taps[t - 1].a : taps[t].b - taps[t - 1].b) != 1)
      return false;
  return (inA ? dims[0].a : dims[0].b) >= kLeastStride && taps.size() > 1 && int64_t(taps.size()) <= kMostTaps;
}

struct Candidate {
  bool swapped = false;
  int64_t stride = 0; // of the vector operand along the vector dimension
  int vectorDim = -1;
  int64_t cost = 0;
};

// Splits `lanes` neighbours into wide and narrow vectors.
void splitRun(NestPlan &plan, bool wideVectors, int64_t lanes, int64_t vec, int64_t acc, int64_t scl) {
  for (int64_t i = 0; i < lanes;) {
    const int64_t left = lanes - i;
    const bool wide = wideVectors && left > 8;
    const int64_t n = std::min<int64_t>(left, wide ? 16 : 8);
    (wide ? plan.wide : plan.narrow).push_back({int32_t(vec + i), int32_t(acc + i), int32_t(n)});
    (wide ? plan.laneScalarsWide : plan.laneScalarsNarrow).push_back({int32_t(scl + i), 0});
    i += n;
  }
}

bool hasShortRows(const NestPlan &plan) {
  const std::vector<NestScalar> &scalars = plan.scalars;
  if (plan.op != NestOp::Fma || !plan.wide.empty() || plan.narrow.size() != 1 || plan.narrow[0].lanes > 8 ||
      scalars.size() < 8)
    return false;
  for (size_t s = 1; s < scalars.size(); ++s)
    if (scalars[s].acc != scalars[s - 1].acc + plan.narrow[0].lanes ||
        scalars[s].scl - scalars[s - 1].scl != scalars[1].scl - scalars[0].scl)
      return false;
  for (size_t t = 1; t < plan.taps.size(); ++t)
    if (plan.taps[t].scl != plan.taps[t - 1].scl + 1)
      return false;
  return true;
}

int64_t vectorsOf(int64_t lanes, bool wideVectors) { // in units of 8 lanes
  const int64_t full = wideVectors ? lanes / 16 * 2 : lanes / 8;
  const int64_t rest = wideVectors ? lanes % 16 : lanes % 8;
  return full + (rest == 0 ? 0 : rest <= 8 ? 1 : 2);
}

} // namespace

std::optional<NestPlan> planNest(const Instruction &instruction, const std::array<int64_t, kMaxDims> &extent,
                                 std::span<const NestLoop> loops, int64_t aElements, int64_t bElements,
                                 bool wideVectors) {
  NestPlan plan;
  switch (instruction.opcode) {
  case Opcode::Fma:
    plan.op = NestOp::Fma;
    break;
  case Opcode::ReduceAdd:
    plan.op = NestOp::Add;
    break;
  case Opcode::ReduceMin:
    plan.op = NestOp::Min;
    break;
  case Opcode::ReduceMax:
    plan.op = NestOp::Max;
    break;
  default:
    return std::nullopt;
  }
  const bool fma = plan.op == NestOp::Fma;
  if (instruction.type != ElementType::F32 || typeOfA(instruction) != ElementType::F32 ||
      instruction.dst.kind != OperandKind::Memory || instruction.a.kind != OperandKind::Memory ||
      (fma && instruction.b.kind != OperandKind::Memory))
    return std::nullopt;

  auto elements = [](int64_t bytes, bool &ok) {
    ok &= bytes % 4 == 0;
    return bytes / 4;
  };
  bool aligned = true;
  std::vector<Dim> tapDims, dims;
  for (const NestLoop &loop : loops) {
    if (instruction.dst.loopStep[loop.level] != 0)
      return std::nullopt;
    tapDims.push_back({loop.trips, 0, elements(instruction.a.loopStep[loop.level], aligned),
                       fma ? elements(instruction.b.loopStep[loop.level], aligned) : 0});
  }
  for (int d = 0; d < kMaxDims; ++d) {
    if (extent[d] == 1)
      continue;
    Dim dim{extent[d], elements(instruction.dst.stride[d], aligned), elements(instruction.a.stride[d], aligned),
            fma ? elements(instruction.b.stride[d], aligned) : 0};
    if (dim.dst == 0)
      tapDims.push_back(dim);
    else
      dims.push_back(dim);
  }
  int64_t taps = 1, accumulators = 1;
  for (const Dim &dim : tapDims)
    if ((taps *= dim.count) > kMaxTaps)
      return std::nullopt;
  for (const Dim &dim : dims)
    if ((accumulators *= dim.count) > kMaxAccumulators)
      return std::nullopt;
  if (!aligned || taps < 1 || accumulators == 0 || !injective(dims))
    return std::nullopt;
  mergeNeighbours(dims);
  if (dims.empty())
    dims.push_back({1, 1, 1, 0});

  // Which dimensions belong to which side.
  auto side = [&](const Dim &dim) { return (dim.a != 0 ? 1 : 0) | (dim.b != 0 ? 2 : 0); };
  std::optional<Candidate> best;
  int64_t count[4] = {1, 1, 1, 1};
  for (const Dim &dim : dims)
    count[side(dim)] *= dim.count;
  // Of a single tap only outer products are worth it: others are rows as they stand.
  if (count[0] > 1 || (taps == 1 && (!fma || count[1] == 1 || count[2] == 1)))
    return std::nullopt;
  for (int v = 0; v < int(dims.size()); ++v) {
    const Dim &dim = dims[v];
    if (dim.dst != 1)
      continue;
    for (int s : {1, 2}) {
      if (!(side(dim) & s) || (s == 2 && !fma))
        continue;
      const bool both = side(dim) == 3;
      if (both && (s == 2 || dim.a != 1 || dim.b != 1))
        continue;
      Candidate c{s == 2, s == 1 ? dim.a : dim.b, v, 0};
      const int64_t copied = s == 1 ? aElements : bElements;
      if (c.stride < 1 || c.stride > kMaxPhases || (c.stride > 1 && copied == 0))
        continue;
      bool fits = true;
      if (c.stride > 1)
        for (const Dim &other : dims)
          fits &= (s == 1 ? other.a : other.b) % c.stride == 0;
      if (!fits)
        continue;
      c.cost = accumulators / dim.count * vectorsOf(dim.count, wideVectors) * taps * (both ? 2 : 1) +
               (c.stride > 1 ? copied / 4 : 0);
      if (!best || c.cost < best->cost)
        best = c;
    }
  }
  if (fma && isRowsOfOne(dims, tapDims))
    best = {dims[0].a != 0, 1, -1, 0}; // the vector operand is a single lane
  if (!best)
    return std::nullopt;

  const Candidate chosen = *best;
  plan.swapped = chosen.swapped;
  const Dim vectorDim = chosen.vectorDim < 0 ? Dim{1, 1, 0, 0} : dims[chosen.vectorDim];
  const bool both = side(vectorDim) == 3;
  if (both)
    plan.op = NestOp::FmaVectors;
  if (chosen.stride > 1) {
    plan.phases = int32_t(chosen.stride);
    plan.copied = chosen.swapped ? bElements : aElements;
    plan.phaseLength = (plan.copied + chosen.stride - 1) / chosen.stride + 16;
  }
  auto vecOffset = [&](int64_t offset) {
    if (plan.phases == 1)
      return offset;
    const int64_t q = offset >= 0 ? offset / plan.phases : -((-offset + plan.phases - 1) / plan.phases);
    return (offset - q * plan.phases) * plan.phaseLength + q;
  };
  std::vector<Dim> vectorDims, scalarDims, outerDims;
  for (int d = 0; d < int(dims.size()); ++d) {
    if (d == chosen.vectorDim)
      continue;
    const int s = side(dims[d]);
    if (both)
      vectorDims.push_back(dims[d]);
    else if (s == 3)
      outerDims.push_back(dims[d]);
    else if ((s == 1) != chosen.swapped)
      vectorDims.push_back(dims[d]);
    else
      scalarDims.push_back(dims[d]);
  }
  auto vec = [&](const Point &p) { return chosen.swapped ? p.b : p.a; };
  auto scl = [&](const Point &p) { return chosen.swapped ? p.a : p.b; };
  for (const Point &p : enumerate(tapDims))
    plan.taps.push_back({int32_t(vecOffset(vec(p))), int32_t(scl(p))});
  for (const Point &p : enumerate(outerDims))
    plan.outer.push_back({int32_t(p.dst), int32_t(vecOffset(vec(p))), int32_t(scl(p))});
  for (const Point &p : enumerate(vectorDims))
    splitRun(plan, wideVectors, vectorDim.count, vecOffset(vec(p)), p.dst, scl(p));
  for (const Point &p : enumerate(scalarDims))
    plan.scalars.push_back({int32_t(scl(p)), int32_t(p.dst)});
  plan.shortRows = hasShortRows(plan);
  for (size_t t = 1; t < plan.taps.size() && (plan.tapRun || t == 1); ++t)
    plan.tapRun = plan.taps[t].vec == plan.taps[t - 1].vec + 1;
  constexpr size_t kFew = 16;
  plan.isOneSum = plan.op == NestOp::Add && plan.outer.size() == 1 && plan.wide.empty() && plan.narrow.size() == 1 &&
                  plan.narrow[0].lanes == 1 && plan.taps.size() <= kFew && (plan.tapRun || plan.taps.size() == 1);
  for (const auto *all : {&dims, &tapDims})
    for (const Dim &dim : *all) {
      plan.vecElements += std::max<int64_t>(0, (chosen.swapped ? dim.b : dim.a) * (dim.count - 1));
      plan.sclElements += std::max<int64_t>(0, (chosen.swapped ? dim.a : dim.b) * (dim.count - 1));
    }
  return plan;
}

bool fillsRow(const NestPlan &plan, int64_t n) {
  std::vector<bool> found(size_t(n), false);
  int64_t count = 0;
  const auto mark = [&](int64_t first, int64_t lanes) {
    for (int64_t i = first; i < first + lanes; ++i, ++count) {
      if (i < 0 || i >= n || found[size_t(i)])
        return false;
      found[size_t(i)] = true;
    }
    return true;
  };
  const NestScalar one;
  const std::span<const NestScalar> scalars =
      plan.op == NestOp::Fma ? std::span(plan.scalars) : std::span<const NestScalar>(&one, 1);
  for (const NestPlan::Outer &outer : plan.outer)
    for (const auto *vectors : {&plan.wide, &plan.narrow})
      for (const NestVector &vector : *vectors)
        for (const NestScalar &scalar : scalars)
          if (!mark(outer.acc + vector.acc + scalar.acc, vector.lanes))
            return false;
  return count == n;
}

void runNest(const Kernels &kernels, const NestPlan &plan, float *acc, const float *vec, const float *scl,
             const NestEnds &ends) {
  if (plan.isOneSum) {
    const int64_t at = plan.outer[0].acc + plan.narrow[0].acc;
    const float *const first = vec + plan.outer[0].vec + plan.narrow[0].vec + plan.taps[0].vec;
    float sum = ends.fresh ? 0.0f : acc[at];
    for (size_t t = 0; t < plan.taps.size(); ++t)
      sum += first[t];
    (ends.out ? ends.out : acc)[at] = numerics::canonical(ends.add ? ends.add[at] + sum : sum);
    return;
  }
  const bool lanes = plan.op != NestOp::Fma;
  for (const NestPlan::Outer &outer : plan.outer)
    for (bool wide : {true, false}) {
      const auto &vectors = wide ? plan.wide : plan.narrow;
      if (vectors.empty())
        continue;
      const auto &scalars = !lanes ? plan.scalars : wide ? plan.laneScalarsWide : plan.laneScalarsNarrow;
      const NestTile tile{vectors.data(),
                          scalars.data(),
                          plan.taps.data(),
                          int32_t(vectors.size()),
                          int32_t(scalars.size()),
                          int64_t(plan.taps.size()),
                          wide,
                          plan.shortRows,
                          plan.tapRun,
                          ends.fresh,
                          (ends.out ? ends.out : acc) + outer.acc,
                          ends.add ? ends.add + outer.acc : nullptr};
      kernels.nest(plan.op, tile, acc + outer.acc, vec + outer.vec, scl + outer.scl);
    }
}

void runNestChains(const Kernels &kernels, const NestPlan &plan, std::span<const NestChain> chains) {
  const NestTile tile{plan.narrow.data(),
                      plan.scalars.data(),
                      plan.taps.data(),
                      1,
                      int32_t(plan.scalars.size()),
                      int64_t(plan.taps.size()),
                      false,
                      true};
  kernels.chains(tile, chains);
}

} // namespace wsc::emulator
