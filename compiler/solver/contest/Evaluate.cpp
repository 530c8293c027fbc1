// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contest's formulas: shapes of kernels, legality of placements, cost. All in integers and fractions.
#include "compiler/solver/contest/Contest.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cstdlib>

namespace wsc::solver::contest {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Rect {
  int64_t x, y, xEnd, yEnd;
};

Rect rectOf(const Kernel &kernel, const Place &place) {
  Shape shape = shapeOf(kernel, place.execution);
  int64_t width = place.rotated ? shape.height : shape.width, height = place.rotated ? shape.width : shape.height;
  return {place.x, place.y, place.x + width, place.y + height};
}

} // namespace

Shape shapeOf(const Kernel &kernel, const Execution &execution) {
  Shape shape;
  int64_t h = execution.h, w = execution.w;
  for (size_t i = 0; i < kernel.convolutions.size(); ++i) {
    const Convolution &conv = kernel.convolutions[i];
    int64_t c = execution.c[i], k = execution.k[i];
    shape.height = std::max(shape.height, h * w * (c + 1));
    shape.width += 3 * k;
    Fraction time{__int128(ceilDiv(conv.H, h)) * ceilDiv(conv.W, w) * ceilDiv(conv.C, c) * ceilDiv(conv.K, k) * conv.R *
                      conv.S,
                  conv.T * conv.T};
    // Both terms over the common denominator c·k·h·w.
    Fraction memory{__int128(conv.K) * (__int128(conv.C) * conv.R * conv.S * h * w +
                                        __int128(conv.W + conv.S - 1) * (conv.H + conv.R - 1) * c),
                    __int128(c) * k * h * w};
    shape.time = std::max(shape.time, time);
    shape.memory = std::max(shape.memory, memory);
  }
  return shape;
}

absl::Status Solution::verify(const Problem &problem) const {
  if (places.size() != problem.kernels.size())
    return absl::FailedPreconditionError(
        absl::StrCat("solution has ", places.size(), " places for ", problem.kernels.size(), " kernels"));
  std::vector<std::pair<Rect, size_t>> placed;
  for (size_t i = 0; i < places.size(); ++i) {
    const Kernel &kernel = problem.kernels[i];
    if (kernel.convolutions.empty())
      continue;
    if (!places[i])
      return absl::FailedPreconditionError(absl::StrCat("kernel ", kernel.name, " has no place"));
    const Execution &execution = places[i]->execution;
    std::vector<int64_t> arguments{execution.h, execution.w};
    arguments.insert(arguments.end(), execution.c.begin(), execution.c.end());
    arguments.insert(arguments.end(), execution.k.begin(), execution.k.end());
    if (execution.c.size() != kernel.convolutions.size() || execution.k.size() != kernel.convolutions.size())
      return absl::FailedPreconditionError(
          absl::StrCat("kernel ", kernel.name, " needs ", kernel.convolutions.size(), " arguments c and k each"));
    for (int64_t argument : arguments)
      if (argument < 1 || argument > kMostArgument)
        return absl::FailedPreconditionError(absl::StrCat("kernel ", kernel.name, " has execution argument ", argument,
                                                          ", must be 1 to ", kMostArgument));
    Shape shape = shapeOf(kernel, execution);
    if (Fraction{problem.memoryLimit, 1} < shape.memory)
      return absl::FailedPreconditionError(absl::StrFormat("kernel %s needs memory %.3f, the limit is %d", kernel.name,
                                                           shape.memory.value(), problem.memoryLimit));
    if (places[i]->x < 0 || places[i]->y < 0 || places[i]->x >= problem.width || places[i]->y >= problem.height)
      return absl::FailedPreconditionError(absl::StrCat("kernel ", kernel.name, " is placed at (", places[i]->x, ", ",
                                                        places[i]->y, "), outside a grid of ", problem.width, "x",
                                                        problem.height));
    Rect rect = rectOf(kernel, *places[i]);
    if (rect.xEnd > problem.width || rect.yEnd > problem.height)
      return absl::FailedPreconditionError(absl::StrCat("kernel ", kernel.name, " takes tiles [", rect.x, ", ",
                                                        rect.xEnd, ") x [", rect.y, ", ", rect.yEnd, ") of a grid of ",
                                                        problem.width, "x", problem.height));
    for (const auto &[other, j] : placed)
      if (rect.x < other.xEnd && other.x < rect.xEnd && rect.y < other.yEnd && other.y < rect.yEnd)
        return absl::FailedPreconditionError(absl::StrCat("kernels ", problem.kernels[j].name, " and ", kernel.name,
                                                          " overlap at tile (", std::max(rect.x, other.x), ", ",
                                                          std::max(rect.y, other.y), ")"));
    placed.push_back({rect, i});
  }
  return absl::OkStatus();
}

Score evaluate(const Problem &problem, const Solution &solution) {
  Score score;
  Rect box{problem.width, problem.height, 0, 0};
  std::vector<Rect> rects(problem.kernels.size());
  for (size_t i = 0; i < problem.kernels.size(); ++i) {
    if (problem.kernels[i].convolutions.empty())
      continue;
    Shape shape = shapeOf(problem.kernels[i], solution.places[i]->execution);
    score.time = std::max(score.time, shape.time);
    score.memory = std::max(score.memory, shape.memory);
    ++score.placed;
    rects[i] = rectOf(problem.kernels[i], *solution.places[i]);
    box = {std::min(box.x, rects[i].x), std::min(box.y, rects[i].y), std::max(box.xEnd, rects[i].xEnd),
           std::max(box.yEnd, rects[i].yEnd)};
  }
  if (score.placed > 0) {
    score.boundingWidth = box.xEnd - box.x;
    score.boundingHeight = box.yEnd - box.y;
  }
  for (const Connection &connection : problem.connections) {
    if (problem.kernels[connection.from].convolutions.empty() || problem.kernels[connection.to].convolutions.empty())
      continue;
    const Rect &a = rects[connection.from], &b = rects[connection.to];
    score.doubleWire += std::abs(a.x + a.xEnd - b.x - b.xEnd) + std::abs(a.y + a.yEnd - b.y - b.yEnd);
  }
  if (problem.adapterWeight == 0)
    score.cost =
        double(problem.timeWeight) * score.time.value() + double(problem.wireWeight) * double(score.doubleWire) / 2;
  return score;
}

} // namespace wsc::solver::contest
