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
    std::vector<std::pair<int64_t, int64_t>> walk;
    for (size_t k = 0; k < space.numParallel; ++k)
      walk.emplace_back(space.result.stride[k], space.extents[k]);
    const bool injective = isInjective(std::move(walk), elementBytes(resultType()));
    const bool own = std::none_of(local.operands.begin(), local.operands.end(),
                                  [&](const LocalOperand &operand) { return operand.buffer == local.result.buffer; });
    isRoom = injective && own && (!given || given->buffer != local.result.buffer || *given == space.result);
    inResult = nest.reduction && own && nest.reduction->type == resultType() &&
               (injective || nest.reduction->opcode != Opcode::Fma);
  }

  bool empty() const { return space.empty; }

  absl::StatusOr<Fragment> best() const {
    if (space.extents.size() >= 64)
      return absl::ResourceExhaustedError(absl::StrCat(space.extents.size(), " iterators, limit is 63"));
    // What temporaries there are does not depend on the slicing.
    std::vector<Temporary> around, inside;
    Frame frame(code, nest.name, space, temporaryBytes);
    frame.noted = &around;
    absl::Status status = emitSlice(frame, {}, &inside);
    if (!status.ok())
      return status;
    absl::StatusOr<Fragment> best = absl::ResourceExhaustedError(
        absl::StrCat("temporaries of ", temporaryBytes, " bytes do not hold single elements of all values"));
    for (const Slicing &outer : outerSlicings(around)) {
      best = bestInside(outer, inside);
      if (best.ok())
        break;
    }
    return best;
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
  bool isRoom = false;        // the result's place can hold other values before

  uint64_t parallelIterators() const { return (uint64_t(1) << space.numParallel) - 1; }
  uint64_t allIterators() const { return (uint64_t(1) << space.extents.size()) - 1; }
  ElementType resultType() const { return local.partial && !given ? nest.reduction->type : local.resultType; }

  // Slicings of the parallel iterators around the reduction, those with the fewest slices first.
  std::vector<Slicing> outerSlicings(const std::vector<Temporary> &temporaries) const {
    if (!nest.reduction)
      return {{}};
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

  absl::StatusOr<Fragment> bestInside(const Slicing &outer, const std::vector<Temporary> &temporaries) const {
    std::vector<int64_t> block = space.extents;
    for (auto [iterator, points] : outer)
      block[iterator] = points;
    std::vector<Slicing> inners{{}};
    if (!temporaries.empty())
      inners = slicings(block, space.numParallel, space.extents.size(), temporaries, temporaryBytes);
    absl::StatusOr<Fragment> best = absl::ResourceExhaustedError(
        absl::StrCat("temporaries of ", temporaryBytes, " bytes do not hold single elements of all values"));
    auto hasLoop = [](const Thread &thread) {
      return std::any_of(thread.begin(), thread.end(),
                         [](const Instruction &instruction) { return instruction.opcode == Opcode::Loop; });
    };
    for (const Slicing &inner : inners) {
      absl::StatusOr<Fragment> fragment = emit(outer, inner);
      if (fragment.ok() ? !best.ok() || fragment->effort < best->effort : !best.ok())
        best = std::move(fragment);
      if (best.ok() && !hasLoop(best->thread))
        break;
    }
    return best;
  }

  absl::StatusOr<Fragment> emit(const Slicing &outer, const Slicing &inner) const {
    Frame frame(code, nest.name, space, temporaryBytes);
    absl::Status status = frame.forSlices(outer, [&] { return emitSlice(frame, inner, nullptr); });
    if (!status.ok())
      return status;
    const int64_t cost = effort(frame.thread);
    return Fragment{std::move(frame.thread), std::move(frame.buffers), cost};
  }

  // All for one slice of the parallel iterators. `inside`: where temporaries inside of `slicing` are noted, if they
  // are.
  absl::Status emitSlice(Frame &frame, const Slicing &slicing, std::vector<Temporary> *inside) const {
    const Destination result{space.result, resultType()};
    std::vector<Temporary> *around = frame.noted;
    auto forSlices = [&](const auto &body) {
      frame.noted = inside;
      absl::Status status = frame.forSlices(slicing, body);
      frame.noted = around;
      return status;
    };
    if (!nest.reduction)
      return forSlices(
          [&] { return BodyCode(frame, local, 0, numOps).evaluateInto(nest.resultValue, result, isRoom); });
    const Reduction &reduction = *nest.reduction;
    if (given)
      return finish(frame, {std::nullopt, *given, reduction.type, *given == space.result}, result);
    Value sums{std::nullopt, space.result, reduction.type, true};
    if (!inResult) {
      absl::StatusOr<Place> place = frame.acquire(parallelIterators(), reduction.type);
      if (!place.ok())
        return place.status();
      sums.place = *std::move(place);
    }
    const Value initial{reduction.initial, {}, reduction.type};
    absl::Status status = store(frame, initial, {sums.place, reduction.type});
    if (status.ok() && !space.nothingReduced)
      status = forSlices([&] { return accumulate(frame, sums.place); });
    if (!status.ok())
      return status;
    if (!local.partial)
      status = finish(frame, sums, result);
    else if (!inResult)
      status = store(frame, sums, result);
    frame.release(sums.place);
    return status;
  }

  absl::Status finish(Frame &frame, const Value &sums, const Destination &result) const {
    BodyCode body(frame, local, numOps, numOps + nest.finish.size());
    body.setReduced(sums);
    return body.evaluateInto(nest.resultValue, result, isRoom);
  }

  absl::Status accumulate(Frame &frame, const Place &sums) const {
    const Reduction &reduction = *nest.reduction;
    absl::StatusOr<std::vector<Value>> values = BodyCode(frame, local, 0, numOps).evaluate(nest.values, reduction);
    if (!values.ok())
      return values.status();
    const ElementType taken = (*values)[0].immediate ? reduction.type : (*values)[0].type;
    absl::Status status = emitVector(frame, reduction.opcode, reduction.type, taken,
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
