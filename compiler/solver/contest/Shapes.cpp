// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumeration of shapes. See Shapes.h for why p = h·w and c are enough.
#include "compiler/solver/contest/Shapes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace wsc::solver::contest {

namespace {

// Targets above are of no use: what is slower than this needs fewer tiles than one.
constexpr int64_t kMostTicks = int64_t(1) << 60;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

__int128 slowestTime(const Convolution &conv) { return __int128(conv.H) * conv.W * conv.C * conv.K * conv.R * conv.S; }

} // namespace

template <typename Visit>
void ShapeTable::enumerate(const Type &type, int64_t ticks, int64_t mostHeight, Visit visit) const {
  const std::vector<Convolution> &convolutions = type.kernel.convolutions;
  const size_t n = convolutions.size();
  std::vector<int64_t> quota(n), ks(n);
  for (int64_t p = 1; 2 * p <= mostHeight; ++p)
    for (const Split &split : type.splits[p]) {
      bool possible = true;
      // Passes ⌈C/c⌉⌈K/k⌉ that the target leaves each convolution.
      for (size_t i = 0; i < n; ++i) {
        const Convolution &conv = convolutions[i];
        quota[i] = int64_t(std::min<__int128>(
            __int128(ticks) * conv.T * conv.T / (__int128(perUnit) * conv.R * conv.S * split.tiles[i]), kMostTicks));
        possible = possible && quota[i] >= 1;
      }
      for (int64_t c = 1; possible && p * (c + 1) <= mostHeight; ++c) {
        int64_t width = 0;
        bool legal = true;
        for (size_t i = 0; i < n && legal; ++i) {
          const Convolution &conv = convolutions[i];
          const int64_t passes = quota[i] / ceilDiv(conv.C, c);
          legal = passes >= 1;
          if (!legal)
            break;
          const int64_t area = (conv.W + conv.S - 1) * (conv.H + conv.R - 1);
          ks[i] = std::max(ceilDiv(conv.K, passes),
                           ceilDiv(conv.K * (conv.C * conv.R * conv.S * p + area * c), c * p * memoryLimit));
          width += 3 * ks[i];
          legal = width <= side;
        }
        if (!legal)
          continue;
        Fraction slowest;
        for (size_t i = 0; i < n; ++i) {
          const Convolution &conv = convolutions[i];
          slowest = std::max(slowest, Fraction{__int128(split.tiles[i]) * ceilDiv(conv.C, c) * ceilDiv(conv.K, ks[i]) *
                                                   conv.R * conv.S,
                                               conv.T * conv.T});
        }
        visit(p, split, c, width, ticksOf(slowest), ks);
      }
    }
}

int64_t ShapeTable::ticksOf(const Fraction &time) const {
  return int64_t(std::min<__int128>((time.num * perUnit + time.den - 1) / time.den, kMostTicks));
}

absl::StatusOr<ShapeTable> ShapeTable::create(const Problem &problem) {
  ShapeTable table;
  table.gridWidth = problem.width;
  table.gridHeight = problem.height;
  table.side = std::max(problem.width, problem.height);
  table.memoryLimit = problem.memoryLimit;
  if (problem.width < 1 || problem.height < 1 || table.side > kMostSide)
    return absl::InvalidArgumentError(
        absl::StrCat("grid of ", problem.width, "x", problem.height, ": the solver takes sides of 1 to ", kMostSide));
  if (problem.memoryLimit < 1)
    return absl::InvalidArgumentError(absl::StrCat("memlimit is ", problem.memoryLimit, ", must be at least 1"));
  std::map<std::pair<Kind, std::vector<int64_t>>, int32_t> known;
  __int128 slowest = 1;
  int64_t perUnit = 1;
  for (const Kernel &kernel : problem.kernels) {
    if (kernel.convolutions.empty()) {
      table.typeOfKernel.push_back(-1);
      continue;
    }
    auto [at, isNew] = known.emplace(std::pair(kernel.kind, kernel.formals), table.numTypes());
    table.typeOfKernel.push_back(at->second);
    if (isNew) {
      table.types.push_back({kernel, {}});
      table.kernelsOfType.push_back(0);
      for (const Convolution &conv : kernel.convolutions) {
        slowest = std::max(slowest, slowestTime(conv));
        perUnit = std::min(std::lcm(perUnit, conv.T * conv.T), kMostTicks);
      }
    }
    ++table.kernelsOfType[at->second];
  }
  if (table.types.empty())
    return absl::InvalidArgumentError("the problem has no kernel to place");
  table.perUnit = int64_t(std::max<__int128>(1, std::min<__int128>(perUnit, kMostTicks / slowest)));
  table.most = int64_t(std::min<__int128>(slowest * table.perUnit, kMostTicks));
  for (size_t t = 0; t < table.types.size(); ++t) {
    Type &type = table.types[t];
    type.splits.resize(size_t(table.side / 2 + 1));
    for (int64_t p = 1; 2 * p <= table.side; ++p) {
      std::vector<Split> all;
      for (int64_t h = 1; h <= p; ++h) {
        if (p % h != 0)
          continue;
        Split split{h, p / h, {}};
        for (const Convolution &conv : type.kernel.convolutions)
          split.tiles.push_back(ceilDiv(conv.H, split.h) * ceilDiv(conv.W, split.w));
        all.push_back(split);
      }
      for (const Split &split : all) {
        auto beats = [&](const Split &other) {
          bool noWorse = true;
          for (size_t i = 0; i < split.tiles.size(); ++i)
            noWorse = noWorse && other.tiles[i] <= split.tiles[i];
          return noWorse && (other.tiles != split.tiles || other.h < split.h);
        };
        if (std::none_of(all.begin(), all.end(), beats))
          type.splits[p].push_back(split);
      }
    }
    if (table.curve(int32_t(t), table.most).leastArea >= 0)
      continue;
    // Which limit refuses it: with memory for everything, is there a shape?
    ShapeTable lavish = table;
    lavish.memoryLimit = int64_t(1) << 40;
    if (lavish.curve(int32_t(t), table.most).leastArea >= 0) {
      Fraction least{int64_t(1) << 62, 1};
      lavish.enumerate(type, table.most, table.side,
                       [&](int64_t, const Split &split, int64_t c, int64_t, int64_t, const std::vector<int64_t> &) {
                         const int64_t n = int64_t(type.kernel.convolutions.size()), k = table.side / (3 * n);
                         if (k < 1)
                           return;
                         Execution widest{split.h, split.w, std::vector<int64_t>(n, c), std::vector<int64_t>(n, k)};
                         least = std::min(least, shapeOf(type.kernel, widest).memory);
                       });
      return absl::ResourceExhaustedError(absl::StrFormat("kernel %s needs memory of about %.0f even as large as the "
                                                          "grid, the limit is %d; split it, or raise memlimit",
                                                          type.kernel.name, least.value(), problem.memoryLimit));
    }
    return absl::ResourceExhaustedError(
        absl::StrCat("kernel ", type.kernel.name, " needs 2 x ", 3 * type.kernel.convolutions.size(),
                     " tiles at least, the grid has ", problem.width, "x", problem.height, "; enlarge the grid"));
  }
  return table;
}

ShapeCurve ShapeTable::curve(int32_t type, int64_t ticks) const {
  struct Best {
    int64_t width = kNoExtent, time = 0;
  };
  std::vector<Best> byHeight(size_t(side + 1));
  enumerate(types[type], ticks, side,
            [&](int64_t p, const Split &, int64_t c, int64_t width, int64_t time, const std::vector<int64_t> &) {
              Best &best = byHeight[p * (c + 1)];
              if (width < best.width || (width == best.width && time < best.time))
                best = {width, time};
            });
  ShapeCurve result;
  result.outline.assign(size_t(side + 1), kNoExtent);
  int64_t narrowest = kNoExtent;
  for (int64_t height = 1; height <= side; ++height) {
    const Best &best = byHeight[height];
    if (best.width >= narrowest)
      continue;
    narrowest = best.width;
    result.slowest = std::max(result.slowest, best.time);
    result.outline[best.width] = std::min(result.outline[best.width], int16_t(height));
    result.outline[height] = std::min(result.outline[height], int16_t(best.width));
    if (fits(best.width, height) && (result.leastArea < 0 || best.width * height < result.leastArea))
      result.leastArea = best.width * height;
  }
  for (int64_t x = 1; x <= side; ++x)
    result.outline[x] = std::min(result.outline[x], result.outline[x - 1]);
  return result;
}

std::optional<Execution> ShapeTable::execution(int32_t type, int64_t height, int64_t width, int64_t ticks) const {
  std::optional<Execution> found;
  int64_t fastest = 0;
  enumerate(types[type], ticks, height,
            [&](int64_t p, const Split &split, int64_t c, int64_t least, int64_t time, const std::vector<int64_t> &ks) {
              if (p * (c + 1) == height && least == width && (!found || time < fastest)) {
                found = Execution{split.h, split.w, std::vector<int64_t>(ks.size(), c), ks};
                fastest = time;
              }
            });
  return found;
}

int64_t ShapeTable::areaAt(int64_t ticks) const {
  int64_t area = 0;
  for (int32_t type = 0; type < numTypes(); ++type) {
    const int64_t least = curve(type, ticks).leastArea;
    if (least < 0)
      return -1;
    area += least * kernelsOfType[type];
  }
  return area;
}

int64_t ShapeTable::leastTicks() const {
  // Holds at `high` or nowhere: then the areas do not fit whatever the target, and `most` bounds nothing wrongly.
  int64_t low = 0, high = most;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2, area = areaAt(middle);
    (area >= 0 && area <= gridWidth * gridHeight ? high : low) = middle;
  }
  return high;
}

bool ShapeTable::isBoundByOneKernel() const {
  const int64_t bound = leastTicks();
  return bound <= 1 || areaAt(bound - 1) < 0;
}

} // namespace wsc::solver::contest
