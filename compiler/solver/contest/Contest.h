// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wafer-scale placement problems of the ISPD 2020 contest: kernels with execution arguments, rectangles on a grid
// of tiles, exact scores.
//
// Every kernel becomes one rectangle whose sides, time and memory follow from its execution arguments:
//   conv(H,W,R,S,C,K,T; h,w,c,k):  height h·w·(c+1), width 3k, time ⌈H/h⌉⌈W/w⌉⌈C/c⌉⌈K/k⌉·R·S/T², memory (C/c)(K/k)RS +
//   ((W+S−1)/w)((H+R−1)/h)(K/k) dblock and cblock: three and four convolutions that share h and w; height, time and
//   memory the largest, width the sum.
// Cost: wdeltat · largest time + wlength · Σ over connections of the Manhattan distance between centres + wadapter ·
// adapters. The formula of the adapters was never published: problems with wadapter > 0 get no total cost. Source: M.
// James et al., "ISPD 2020 physical mapping of neural networks on a wafer-scale deep learning accelerator", ISPD 2020.
#pragma once

#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wsc::solver::contest {

// num / den, den > 0. Terms stay below 2^70 and 2^56 for arguments up to kMostArgument, so comparisons by cross
// multiplication are exact.
struct Fraction {
  __int128 num = 0, den = 1;
  double value() const { return double(num) / double(den); }
  bool operator<(const Fraction &other) const { return num * other.den < other.num * den; }
};

constexpr int64_t kMostArgument = 1 << 14; // of H, W, C, K, F and the execution arguments
constexpr int64_t kMostWindow = 1 << 6;    // of R, S, T

// One convolution's formal arguments (elements).
struct Convolution {
  int64_t H = 0, W = 0, R = 0, S = 0, C = 0, K = 0, T = 0;
};

enum class Kind { Input, Output, Conv, Dblock, Cblock };

struct Kernel {
  std::string name; // without leading zeros: k1
  Kind kind = Kind::Conv;
  std::vector<int64_t> formals;          // as a placement states them: conv H W C K R S T U, blocks H W F
  std::vector<Convolution> convolutions; // none for input and output, which have no rectangle
};

struct Connection {
  int32_t from = 0, to = 0; // kernels
};

struct Problem {
  std::string name;
  int64_t width = 0, height = 0; // of the grid, tiles
  int64_t timeWeight = 0, wireWeight = 0, adapterWeight = 0;
  int64_t memoryLimit = 0;
  std::vector<Kernel> kernels;
  std::vector<Connection> connections;
};

// Execution arguments: h and w shared, c and k per convolution.
struct Execution {
  int64_t h = 1, w = 1;
  std::vector<int64_t> c, k;
};

struct Shape {
  int64_t height = 0, width = 0; // tiles, before rotation
  Fraction time, memory;
};
// The arguments must be between 1 and kMostArgument, c and k one per convolution.
Shape shapeOf(const Kernel &kernel, const Execution &execution);

struct Place {
  Execution execution;
  int64_t x = 0, y = 0;
  bool rotated = false; // R90: width and height change places, the low corner stays
};

struct Solution {
  std::vector<std::optional<Place>> places; // per kernel; none for input and output

  // FailedPrecondition: a kernel without a place, outside the grid or above the memory limit, two kernels that overlap
  // (both named).
  absl::Status verify(const Problem &problem) const;
};

struct Score {
  Fraction time, memory;                         // the largest
  int64_t doubleWire = 0;                        // twice the wire length: centres lie on halves
  int64_t boundingWidth = 0, boundingHeight = 0; // tiles
  int64_t placed = 0;                            // kernels with a rectangle
  std::optional<double> cost;                    // none where adapters count
};
// Of a verified solution.
Score evaluate(const Problem &problem, const Solution &solution);

// Files. Errors: InvalidArgument with the line. A problem is a .kgraph file, a solution a .paint file; names match with
// or without leading zeros.
absl::StatusOr<Problem> parseKgraph(const std::string &text);
absl::StatusOr<Solution> parsePaint(const std::string &text, const Problem &problem);
std::string printPaint(const Problem &problem, const Solution &solution);
// `k01` → `k1`.
std::string withoutLeadingZeros(const std::string &name);
const char *name(Kind kind);

} // namespace wsc::solver::contest
