// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Star stencil: u ← Σ w(d)·u shifted by d along rows and columns, |d| ≤ r, zeros outside. Every core holds a tile of
// A x B points with a frame of r points around it; one sample is one iteration.
//
// An iteration exchanges the frame with the four neighbours (in rounds if r exceeds the tile: each round hands on what
// the round before brought), then adds one term a point of the star over the whole tile, then writes the tile back.
// A core sends its four edges first where the queues between two neighbours hold an edge; else cores of one colour of
// the checkerboard send while the others receive, so nobody waits in a circle.
#include "runtime/timing/Cost.h"
#include "test/validation/Mesh.h"
#include "test/validation/Workloads.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>

namespace wsc::validation {

namespace {

struct Stencil {
  int64_t A = 1, B = 1, radius = 1; // points
  int64_t pitch = 0;                // elements from row to row of the framed tile
  int64_t blockRows = 0;            // rows of the tile that a term is computed for at once
  bool fused = true;                // terms by fma, else by multiplication and addition over `product`
  int sumBank = -1, productBank = -1;

  int64_t rows() const { return A + 2 * radius; }
  int64_t element(int64_t row, int64_t col) const { return (radius + row) * pitch + radius + col; }
};

struct Offset {
  int64_t row = 0, col = 0;
};

std::vector<Offset> star(int64_t radius) {
  std::vector<Offset> points{{0, 0}};
  for (int64_t d = 1; d <= radius; ++d)
    for (const Offset &point : {Offset{-d, 0}, Offset{d, 0}, Offset{0, -d}, Offset{0, d}})
      points.push_back(point);
  return points;
}

// Frame and blocks that leave the fewest bank conflicts in the SRAM there is.
Stencil plan(Stencil stencil, ElementType type, const target::Target &target, Parameters &parameters) {
  const int64_t bytes = format::elementBytes(type), access = target.sramAccessBytes, banks = target.sramBanks;
  const int64_t tile = stencil.A * stencil.B;
  const double perCycle = timing::elementsPerCycle(target, Opcode::Mul, type);
  stencil.fused = double(tile) / timing::elementsPerCycle(target, Opcode::Fma, type) <=
                  target.vectorSetupCycles + 2 * double(tile) / perCycle;
  // Code: terms, exchange and loops, with what alignment to banks may skip.
  const int64_t terms = 8 * stencil.radius + 16, code = terms * (target.instructionBytes + 3 * target.descriptorBytes);
  const int64_t room = target.usableSramBytes() - code - 3 * access * banks;
  int64_t fewest = -1;
  const Stencil base = stencil;
  for (int64_t pad = 0; pad < access * banks / bytes; ++pad) {
    Stencil tried = base;
    tried.pitch = tried.B + 2 * tried.radius + pad;
    const int64_t left = room - (tried.rows() * tried.pitch + tile) * bytes;
    tried.blockRows = tried.fused ? tried.A : std::min(tried.A, left / (tried.B * bytes));
    if (left < 0 || tried.blockRows < 1)
      break;
    std::vector<int64_t> begins(size_t(banks), 0);
    for (const Offset &point : star(tried.radius))
      ++begins[size_t(tried.element(point.row, point.col) * bytes / access % banks)];
    const int64_t centre = tried.element(0, 0) * bytes / access % banks;
    if (!tried.fused)
      tried.productBank = int(std::min_element(begins.begin(), begins.end()) - begins.begin());
    int64_t least = -1;
    for (int bank = 0; bank < banks; ++bank) {
      const int64_t conflicts = (tried.fused ? begins[size_t(bank)] : begins[size_t(tried.productBank)]) +
                                (bank == centre) + (bank == tried.productBank) * 4 * tried.radius;
      if (least < 0 || conflicts < least)
        least = conflicts, tried.sumBank = bank;
    }
    if (fewest < 0 || least < fewest)
      fewest = least, stencil = tried;
  }
  if (fewest < 0)
    parameters.refuse(absl::StrCat("tile ", stencil.A, "x", stencil.B, " with radius ", stencil.radius,
                                   " does not fit ", target.usableSramBytes(), " bytes of SRAM; take a smaller tile"));
  return stencil;
}

// Along one axis: the edges a core hands to the neighbour ahead, seen from the core.
struct Direction {
  int32_t rowStep = 0, colStep = 0;
};
constexpr std::array<Direction, 4> kDirections{{{0, 1}, {0, -1}, {1, 0}, {-1, 0}}};

// A rectangle of the framed tile.
struct Edge {
  int64_t row = 0, col = 0, rows = 0, cols = 0; // from the tile's first point
};

class Exchange {
public:
  Exchange(const Stencil &stencil, Parameters::Size cores, Place at) : s(stencil), cores(cores), at(at) {}

  int64_t rounds() const {
    const int64_t side = std::min(s.A, s.B);
    return (s.radius + side - 1) / side;
  }
  // What goes ahead in `direction` in a round: points of the core `round` places behind; empty if there is none.
  Edge sent(Direction direction, int64_t round) const {
    return existsAhead(direction, 1) && existsAhead(direction, -round) ? edge(direction, round, false) : Edge{};
  }
  // What comes from behind.
  Edge received(Direction direction, int64_t round) const {
    return existsAhead(direction, -round - 1) ? edge(direction, round, true) : Edge{};
  }

private:
  bool existsAhead(Direction d, int64_t places) const {
    const int64_t row = at.row + places * d.rowStep, col = at.col + places * d.colStep;
    return row >= 0 && row < cores.rows && col >= 0 && col < cores.cols;
  }
  // Edge `round` as it lies on its sender, or on its receiver one tile further back.
  Edge edge(Direction d, int64_t round, bool arrived) const {
    const int64_t side = d.colStep != 0 ? s.B : s.A, depth = std::min(side, s.radius - round * side);
    if (depth <= 0)
      return {};
    const bool forward = d.colStep + d.rowStep > 0;
    const int64_t tiles = round + (arrived ? 1 : 0);
    const int64_t begin = forward ? side - depth - tiles * side : tiles * side;
    return d.colStep != 0 ? Edge{0, begin, s.A, depth} : Edge{begin, 0, depth, s.B};
  }

  const Stencil &s;
  Parameters::Size cores;
  Place at;
};

double weight(const Offset &point) {
  const int64_t distance = std::abs(point.row) + std::abs(point.col);
  return distance == 0 ? 0.5 : (point.row < 0 || point.col < 0 ? 0.125 : -0.0625) / double(distance);
}

} // namespace

absl::StatusOr<Program> buildStarStencil(Parameters &parameters, const target::Target &target) {
  const ElementType type = parameters.dtype();
  const Parameters::Size tile = parameters.size("tile", 1, 4096);
  Stencil stencil{.A = tile.rows, .B = tile.cols, .radius = parameters.integer("radius", 1, 64)};
  parameters.choice("measure", {"one iteration in steady state"});
  // An interior whose cores have all the neighbours their frame comes from.
  const int64_t reach = (stencil.radius + std::min(stencil.A, stencil.B) - 1) / std::min(stencil.A, stencil.B);
  Parameters::Size cores{std::max<int64_t>(6, 2 * reach + 2), std::max<int64_t>(6, 2 * reach + 2)};
  if (parameters.has("cores"))
    cores = parameters.size("cores", 1, std::max(target.rows, target.cols));
  stencil = plan(stencil, type, target, parameters);
  if (absl::Status status = parameters.status(); !status.ok())
    return status;

  Mesh mesh(target, int32_t(cores.rows), int32_t(cores.cols));
  const int64_t framed = stencil.rows() * stencil.pitch, points = stencil.A * stencil.B;
  const int us = mesh.variable("u", type, {cores.rows, cores.cols, stencil.rows(), stencil.pitch});
  const int32_t pitch = int32_t(stencil.pitch), width = int32_t(stencil.B);
  for (int32_t r = 0; r < cores.rows; ++r)
    for (int32_t c = 0; c < cores.cols; ++c) {
      const int parity = (r + c) % 2;
      Core core(mesh, parity == 0 ? "black" : "white");
      const Op u = core.part(us, "u", {.perRow = cores.cols * framed, .perCol = framed, .extent = {framed}});
      core.bank(0);
      const Op sum = core.scratch("sum", type, points);
      core.bank(stencil.sumBank);
      Op product;
      if (!stencil.fused) {
        product = core.scratch("product", type, stencil.blockRows * stencil.B);
        core.bank(stencil.productBank);
      }
      const auto framedAt = [&](int64_t row, int64_t col) {
        return u.at(stencil.element(row, col)).strides({pitch, 1});
      };

      auto thread = core.thread();
      thread.type(type);
      const Exchange exchange(stencil, cores, {r, c});
      std::array<Op, 4> out, in;
      for (size_t d = 0; d < 4; ++d) {
        if (exchange.sent(kDirections[d], 0).rows > 0)
          out[d] = core.output(uint8_t(2 * d + size_t(parity)));
        if (exchange.received(kDirections[d], 0).rows > 0)
          in[d] = core.input(uint8_t(2 * d + size_t(1 - parity)));
        if (exchange.sent(kDirections[d], 0).rows > 0)
          mesh.path(uint8_t(2 * d + size_t(parity)), {r, c}, {r + kDirections[d].rowStep, c + kDirections[d].colStep});
      }
      const int64_t longest =
          std::max(stencil.A * std::min(stencil.radius, stencil.B), stencil.B * std::min(stencil.radius, stencil.A));
      const int64_t held = *std::min_element(target.outputQueueWords.begin(), target.outputQueueWords.end()) +
                           target.routerQueueWords +
                           *std::min_element(target.inputQueueWords.begin(), target.inputQueueWords.end());
      const bool sendsFirst = timing::fabricWords(type, longest) <= held || parity == 0;
      for (int64_t round = 0; round < exchange.rounds(); ++round)
        for (const bool sends : {sendsFirst, !sendsFirst})
          for (size_t d = 0; d < 4; ++d) {
            const Edge edge = sends ? exchange.sent(kDirections[d], round) : exchange.received(kDirections[d], round);
            if (edge.rows == 0)
              continue;
            if (sends)
              thread.move(out[d], framedAt(edge.row, edge.col), {edge.rows, edge.cols});
            else
              thread.move(framedAt(edge.row, edge.col), in[d], {edge.rows, edge.cols});
          }

      for (int64_t row = 0; row < stencil.A; row += stencil.blockRows) {
        const int64_t rows = std::min(stencil.blockRows, stencil.A - row);
        const Op part = sum.at(row * stencil.B).strides({width, 1});
        for (const Offset &point : star(stencil.radius)) {
          const Op from = framedAt(row + point.row, point.col);
          if (point.row == 0 && point.col == 0) {
            thread.op(Opcode::Mul, part, from, imm(weight(point)), {rows, stencil.B});
          } else if (stencil.fused) {
            thread.fma(part, from, imm(weight(point)), {rows, stencil.B});
          } else {
            thread.op(Opcode::Mul, product.strides({width, 1}), from, imm(weight(point)), {rows, stencil.B});
            thread.op(Opcode::Add, part, part, product.strides({width, 1}), {rows, stencil.B});
          }
        }
      }
      thread.move(framedAt(0, 0), sum.strides({width, 1}), {stencil.A, stencil.B});
      mesh.place(r, c, core);
    }
  auto executable = mesh.finish();
  if (!executable.ok())
    return executable.status();
  Program program{*std::move(executable), {.of = Measure::Of::Interval}, ""};
  // Of the core with most to do.
  int64_t vectors = 0, moves = 0;
  for (const format::Role &role : program.executable.configurations[0].roles) {
    const auto overQueue = [](const format::Instruction &instruction) {
      return instruction.dst.kind == format::OperandKind::Queue || instruction.a.kind == format::OperandKind::Queue;
    };
    const format::Thread &thread = role.threads[0];
    const int64_t queues = std::count_if(thread.begin(), thread.end(), overQueue);
    if (int64_t(thread.size()) > vectors + moves)
      vectors = int64_t(thread.size()) - queues, moves = queues;
  }
  program.note = absl::StrCat(vectors, " vector instructions and ", moves, " moves over queues an iteration");
  return program;
}

} // namespace wsc::validation
