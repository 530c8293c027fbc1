// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest without reduction is its body over slices of the iterators. One with a reduction is, for each slice of the
// parallel iterators (all of them, unless accumulators need temporaries that do not fit):
//
//   accumulators ← initial
//   for slices of all iterators:    body, then accumulators ← accumulators op values
//   finish, result
//
// How the iterators are best cut is found by trial: the code of every candidate slicing is emitted and measured, the
// one that takes least is appended.
#include "compiler/spmd/local/LocalNest.h"

#include "compiler/spmd/local/BodyCode.h"
#include "compiler/spmd/local/CheckLocal.h"
#include "compiler/spmd/local/Slicing.h"
#include "compiler/spmd/local/VectorWalk.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

// Weights of the choice between slicings, in elements of an instruction: what an instruction's set-up or an iteration
// of a loop takes, and what an instruction more in memory is worth.
constexpr int64_t kStartElements = 16, kCodeElements = 4;

int64_t effort(const Thread &thread) {
  int64_t sum = 0, times = 1;
  std::vector<int64_t> trips;
  for (const Instruction &instruction : thread) {
    sum += kCodeElements;
    if (instruction.opcode == Opcode::Loop) {
      trips.push_back(instruction.extent[0].constant);
      times *= trips.back();
      sum += times * kStartElements;
    } else if (instruction.opcode == Opcode::EndLoop) {
      times /= trips.back();
      trips.pop_back();
    } else {
      int64_t elements = 1;
      for (const Affine &extent : instruction.extent)
        elements *= extent.constant;
      sum += times * (kStartElements + elements);
    }
  }
  return sum;
}

struct Fragment {
  Thread thread;
  std::vector<Buffer> buffers;
  int64_t effort = 0;
};

class NestCode {
public:
  // `reduced`: accumulators that are there already; only what is behind the reduction is emitted.
  NestCode(const Code &code, const LocalNest &local, int64_t temporaryBytes, const LocalOperand *reduced)
      : code(code), local(local), nest(*local.nest), temporaryBytes(temporaryBytes), numOps(nest.body.size()) {
    if (reduced) {
      LocalOperand walk = *reduced;
      space = makeSpace(local, &walk);
      given = Place{walk.buffer, walk.baseBytes, walk.strideBytes};
    } else {
      space = makeSpace(local);
    }
    if (nest.reduction && !reduced)
      inResult = accumulatesInResult();
  }

  bool empty() const { return space.empty; }

  absl::StatusOr<Fragment> best() const {
    if (space.extents.size() >= 64)
      return absl::ResourceExhaustedError(absl::StrCat(space.extents.size(), " iterators, limit is 63"));
    absl::Status failure = absl::ResourceExhaustedError(
        absl::StrCat("temporaries of ", temporaryBytes, " bytes hold no single element of some value"));
    for (bool direct : {true, false}) {
      std::vector<Slicing> outers = outerSlicings(direct);
      if (outers.empty())
        continue;
      for (const Slicing &outer : outers) {
        absl::StatusOr<Fragment> fragment = bestInside(outer, direct);
        if (fragment.ok())
          return fragment;
        failure = fragment.status();
      }
    }
    return failure;
  }

private:
  const Code &code;
  const LocalNest &local;
  const Nest &nest;
  int64_t temporaryBytes;
  size_t numOps; // of the body
  Space space;
  std::optional<Place> given; // accumulators
  bool inResult = false;      // accumulators are in the result's place

  uint64_t parallelIterators() const { return (uint64_t(1) << space.numParallel) - 1; }
  uint64_t allIterators() const { return (uint64_t(1) << space.extents.size()) - 1; }
  size_t allOps() const { return numOps + nest.finish.size(); }
  ElementType resultType() const { return local.partial && !given ? nest.reduction->type : local.resultType; }

  bool accumulatesInResult() const {
    if (nest.reduction->type != resultType())
      return false;
    for (const LocalOperand &operand : local.operands)
      if (operand.buffer == local.result.buffer)
        return false;
    std::vector<std::pair<int64_t, int64_t>> walk;
    for (size_t k = 0; k < space.numParallel; ++k)
      walk.emplace_back(space.result.stride[k], space.extents[k]);
    return nest.reduction->opcode != Opcode::Fma || isInjective(std::move(walk), elementBytes(nest.reduction->type));
  }

  // Slicings of the parallel iterators around the reduction, those with the fewest slices first.
  std::vector<Slicing> outerSlicings(bool direct) const {
    if (!nest.reduction)
      return {{}};
    std::vector<Temporary> temporaries;
    if (given || !local.partial)
      temporaries = temporariesOf(local, space, {nest.resultValue}, numOps, allOps(), direct);
    if (!given && !inResult)
      temporaries.push_back({elementBytes(nest.reduction->type), parallelIterators()});
    std::vector<Slicing> result =
        slicings(space.extents, space.numParallel, space.numParallel, temporaries, temporaryBytes);
    if (!result.empty() && result[0].empty())
      return {{}};
    auto count = [&](const Slicing &slicing) {
      int64_t slices = 1;
      for (auto [iterator, points] : slicing)
        slices *= (space.extents[iterator] + points - 1) / points;
      return slices;
    };
    std::stable_sort(result.begin(), result.end(),
                     [&](const Slicing &x, const Slicing &y) { return count(x) < count(y); });
    return result;
  }

  absl::StatusOr<Fragment> bestInside(const Slicing &outer, bool direct) const {
    std::vector<int64_t> block = space.extents;
    for (auto [iterator, points] : outer)
      block[iterator] = points;
    std::vector<Slicing> inners{{}};
    if (!given) {
      const std::vector<Temporary> temporaries =
          nest.reduction ? temporariesOf(local, space, nest.values, 0, numOps, false)
                         : temporariesOf(local, space, {nest.resultValue}, 0, numOps, direct);
      if (!temporaries.empty())
        inners = slicings(block, space.numParallel, space.extents.size(), temporaries, temporaryBytes);
    }
    absl::StatusOr<Fragment> best = absl::ResourceExhaustedError(
        absl::StrCat("temporaries of ", temporaryBytes, " bytes hold no single element of some value"));
    for (const Slicing &inner : inners) {
      absl::StatusOr<Fragment> fragment = emit(outer, inner);
      if (fragment.ok() ? !best.ok() || fragment->effort < best->effort : !best.ok())
        best = std::move(fragment);
      if (best.ok() && std::none_of(best->thread.begin(), best->thread.end(),
                                    [](const Instruction &instruction) { return instruction.opcode == Opcode::Loop; }))
        break;
    }
    return best;
  }

  absl::StatusOr<Fragment> emit(const Slicing &outer, const Slicing &inner) const {
    Frame frame(code, nest.name, space, temporaryBytes);
    const Destination result{space.result, resultType()};
    absl::Status status = frame.forSlices(outer, [&] {
      if (given)
        return BodyCode(frame, local, numOps, allOps(), Value{std::nullopt, *given, nest.reduction->type})
            .evaluateInto(nest.resultValue, result);
      return nest.reduction ? emitReduction(frame, inner, result) : emitBody(frame, inner, result);
    });
    if (!status.ok())
      return status;
    const int64_t cost = effort(frame.thread);
    return Fragment{std::move(frame.thread), std::move(frame.buffers), cost};
  }

  absl::Status emitBody(Frame &frame, const Slicing &slicing, const Destination &result) const {
    return frame.forSlices(slicing,
                           [&] { return BodyCode(frame, local, 0, numOps).evaluateInto(nest.resultValue, result); });
  }

  absl::Status emitReduction(Frame &frame, const Slicing &slicing, const Destination &result) const {
    const Reduction &reduction = *nest.reduction;
    Value sums{std::nullopt, space.result, reduction.type, !inResult};
    if (!inResult) {
      absl::StatusOr<Place> place = frame.acquire(parallelIterators(), reduction.type);
      if (!place.ok())
        return place.status();
      sums.place = *std::move(place);
    }
    const Value initial{reduction.initial, {}, reduction.type};
    absl::Status status = store(frame, initial, {sums.place, reduction.type});
    if (status.ok() && !space.nothingReduced)
      status = frame.forSlices(slicing, [&] { return accumulate(frame, sums.place); });
    if (!status.ok())
      return status;
    if (!local.partial)
      status = BodyCode(frame, local, numOps, allOps(), sums).evaluateInto(nest.resultValue, result);
    else if (!inResult)
      status = store(frame, sums, result);
    if (!inResult)
      frame.release(sums.place);
    return status;
  }

  absl::Status accumulate(Frame &frame, const Place &sums) const {
    const Reduction &reduction = *nest.reduction;
    absl::StatusOr<std::vector<Value>> values = BodyCode(frame, local, 0, numOps).evaluate(nest.values, reduction.type);
    if (!values.ok())
      return values.status();
    absl::Status status = emitVector(frame, reduction.opcode, reduction.type, reduction.type,
                                     {&sums, &(*values)[0], reduction.opcode == Opcode::Fma ? &(*values)[1] : nullptr,
                                      allIterators(), allIterators() & ~parallelIterators()});
    for (const Value &value : *values)
      if (value.temporary)
        frame.release(value.place);
    return status;
  }
};

absl::Status append(Code &code, const LocalNest &local, int64_t temporaryBytes, const LocalOperand *reduced) {
  if (absl::Status status = checkLocal(code, local, reduced); !status.ok())
    return status;
  NestCode nest(code, local, temporaryBytes, reduced);
  if (nest.empty())
    return absl::OkStatus();
  absl::StatusOr<Fragment> fragment = nest.best();
  if (!fragment.ok())
    return absl::Status(fragment.status().code(),
                        absl::StrCat("nest ", local.nest->name, ": ", std::string(fragment.status().message()),
                                     "; distribute more of its iterators over cores, or give temporaries more room"));
  code.main.insert(code.main.end(), fragment->thread.begin(), fragment->thread.end());
  code.buffers.insert(code.buffers.end(), fragment->buffers.begin(), fragment->buffers.end());
  return absl::OkStatus();
}

} // namespace

absl::Status emitNest(Code &code, const LocalNest &local, int64_t temporaryBytes) {
  return append(code, local, temporaryBytes, nullptr);
}

absl::Status finishNest(Code &code, const LocalNest &local, const LocalOperand &reduced, int64_t temporaryBytes) {
  return append(code, local, temporaryBytes, &reduced);
}

} // namespace wsc::spmd
