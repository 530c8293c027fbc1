// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/roles/Roles.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <set>

namespace wsc::spmd {

using namespace format;

namespace {

/// Coordinates first, first + step, … : count of them.
struct Class {
  int32_t first = 0, count = 0, step = 1;
};

std::vector<Class> classesOf(int32_t length, const std::set<int32_t> &cuts, bool parity) {
  std::vector<Class> classes;
  auto add = [&](int32_t begin, int32_t end) {
    if (!parity || end - begin == 1) {
      classes.push_back({begin, end - begin, 1});
      return;
    }
    for (int32_t first : {begin, begin + 1})
      classes.push_back({first, (end - first + 1) / 2, 2});
  };
  int32_t begin = 0;
  for (int32_t cut : cuts) {
    if (cut <= begin || cut >= length)
      continue;
    add(begin, cut);
    begin = cut;
  }
  if (length > begin)
    add(begin, length);
  return classes;
}

/// Where guards cut an axis.
struct Cuts {
  std::set<int32_t> rows, cols;
  bool rowParity = false, colParity = false;

  void add(const Guard &guard) {
    rows.insert({guard.rowBegin, guard.rowEnd});
    cols.insert({guard.colBegin, guard.colEnd});
    rowParity |= guard.rowParity >= 0;
    colParity |= guard.colParity >= 0;
  }
};

bool runs(const Guard &guard, int32_t row, int32_t col) {
  return row >= guard.rowBegin && row < guard.rowEnd && col >= guard.colBegin && col < guard.colEnd &&
         (guard.rowParity < 0 || row % 2 == guard.rowParity) && (guard.colParity < 0 || col % 2 == guard.colParity);
}

Guard guardOf(const Code &code, size_t i) { return i < code.guards.size() ? code.guards[i] : Guard(); }

Lattice latticeOf(const Class &rows, const Class &cols) {
  Lattice lattice;
  lattice.row = rows.first;
  lattice.col = cols.first;
  lattice.dims[kRowDim] = {rows.count, rows.count > 1 ? rows.step : 0, 0};
  lattice.dims[kColDim] = {cols.count, 0, cols.count > 1 ? cols.step : 0};
  return lattice;
}

/// A number affine in (row, col) as one affine in the indices of a class.
Affine rebased(Affine value, const Class &rows, const Class &cols) {
  value.constant += value.perDim[kRowDim] * rows.first + value.perDim[kColDim] * cols.first;
  value.perDim[kRowDim] = rows.count > 1 ? value.perDim[kRowDim] * rows.step : 0;
  value.perDim[kColDim] = cols.count > 1 ? value.perDim[kColDim] * cols.step : 0;
  return value;
}

class RoleMaker {
public:
  RoleMaker(const target::Target &target, const Code &code, const std::array<uint8_t, kNumFamilies> &colours,
            int32_t kernel)
      : target(target), code(code), colours(colours), kernel(kernel) {}

  absl::StatusOr<Role> make(const Class &rows, const Class &cols) {
    Role role;
    role.name = absl::StrCat("r", rows.first, rows.count > 1 ? "s" : "", rows.step > 1 ? "p" : "", "c", cols.first,
                             cols.count > 1 ? "s" : "", cols.step > 1 ? "p" : "");
    role.kernel = kernel;
    role.cores = latticeOf(rows, cols);
    role.threads.emplace_back();
    std::map<int16_t, int16_t> buffers, queues;
    auto renamed = [&](Operand operand) {
      if (operand.kind == OperandKind::Memory || operand.kind == OperandKind::Fifo) {
        auto [found, added] = buffers.emplace(operand.buffer, int16_t(role.buffers.size()));
        if (added)
          role.buffers.push_back(code.buffers[size_t(operand.buffer)]);
        operand.buffer = found->second;
        operand.base = rebased(operand.base, rows, cols);
      } else if (operand.kind == OperandKind::Queue) {
        auto [found, added] = queues.emplace(operand.queue, int16_t(role.queues.size()));
        if (added) {
          Queue made;
          made.output = operand.queue % 2 != 0;
          made.colour = colours[size_t(operand.queue / 2)];
          made.index = uint8_t(std::count_if(role.queues.begin(), role.queues.end(),
                                             [&](const Queue &other) { return other.output == made.output; }));
          role.queues.push_back(made);
        }
        operand.queue = found->second;
      }
      return operand;
    };
    for (size_t i = 0; i < code.main.size(); ++i) {
      if (!runs(guardOf(code, i), rows.first, cols.first))
        continue;
      Instruction instruction = code.main[i];
      instruction.dst = renamed(instruction.dst);
      instruction.a = renamed(instruction.a);
      instruction.b = renamed(instruction.b);
      for (Affine &extent : instruction.extent)
        extent = rebased(extent, rows, cols);
      role.threads[0].push_back(std::move(instruction));
    }
    for (bool output : {false, true}) {
      const size_t limit = (output ? target.outputQueueWords : target.inputQueueWords).size();
      const size_t needed = size_t(std::count_if(role.queues.begin(), role.queues.end(),
                                                 [&](const Queue &queue) { return queue.output == output; }));
      if (needed > limit)
        return absl::ResourceExhaustedError(absl::StrCat("a phase needs ", needed, output ? " output" : " input",
                                                         " queues on core (", rows.first, ", ", cols.first,
                                                         "), the target has ", limit));
    }
    return role;
  }

private:
  const target::Target &target;
  const Code &code;
  const std::array<uint8_t, kNumFamilies> &colours;
  const int32_t kernel;
};

PortMask bit(Port port) { return PortMask(1u << unsigned(port)); }

/// The switch positions of a router at `at` of a line of `length` cores; words go from `from` to `to`.
std::vector<SwitchPosition> turnPositions(Port from, Port to, bool first, bool last, bool sends, bool takes) {
  std::vector<SwitchPosition> positions;
  if (!first) {
    const PortMask on = PortMask((last ? 0 : bit(to)) | (takes ? bit(Port::Ramp) : 0));
    if (on)
      positions.push_back({from, on});
  }
  if (sends && !last)
    positions.push_back({Port::Ramp, bit(to)});
  return positions;
}

std::vector<SwitchPosition> positionsOf(Family family, const Rectangle &rectangle, int32_t row, int32_t col, bool sends,
                                        bool takes) {
  const bool west = col == 0, east = col + 1 == rectangle.cols, north = row == 0, south = row + 1 == rectangle.rows;
  std::vector<SwitchPosition> positions;
  switch (family) {
  case Family::Input:
    if (takes)
      positions.push_back({Port::West, PortMask(bit(Port::Ramp) | (east ? 0 : bit(Port::East)))});
    break;
  case Family::Output:
    if (sends && !east)
      positions.push_back({Port::East, bit(Port::West)});
    if (sends)
      positions.push_back({Port::Ramp, bit(Port::West)});
    break;
  case Family::RowForward:
    return turnPositions(Port::West, Port::East, west, east, sends, takes);
  case Family::RowBackward:
    return turnPositions(Port::East, Port::West, east, west, sends, takes);
  case Family::ColForward:
    return turnPositions(Port::North, Port::South, north, south, sends, takes);
  case Family::ColBackward:
    return turnPositions(Port::South, Port::North, south, north, sends, takes);
  default: {
    const bool alongRow = family == Family::RowChainEven || family == Family::RowChainOdd;
    if (sends)
      positions.push_back({Port::Ramp, bit(alongRow ? Port::East : Port::South)});
    else if (takes)
      positions.push_back({alongRow ? Port::West : Port::North, bit(Port::Ramp)});
    break;
  }
  }
  return positions;
}

constexpr const char *kFamilyNames[] = {
    "input",           "output",         "row forward",   "row backward",      "column forward",
    "column backward", "row chain even", "row chain odd", "column chain even", "column chain odd"};

void makeRouters(const Rectangle &rectangle, const Code &code, Family family, uint8_t colour,
                 Configuration &configuration) {
  std::vector<std::pair<Guard, bool>> uses; // guards of its instructions; whether they send
  Cuts cuts;
  for (size_t i = 0; i < code.main.size(); ++i)
    for (const Operand *operand : {&code.main[i].dst, &code.main[i].a, &code.main[i].b})
      if (operand->kind == OperandKind::Queue && operand->queue / 2 == int(family)) {
        uses.emplace_back(guardOf(code, i), operand->queue % 2 != 0);
        cuts.add(uses.back().first);
      }
  if (uses.empty())
    return;
  cuts.rows.insert({1, rectangle.rows - 1});
  cuts.cols.insert({1, rectangle.cols - 1});
  const int32_t net = int32_t(configuration.nets.size());
  configuration.nets.push_back({kFamilyNames[int(family)], 0});
  for (const Class &rows : classesOf(rectangle.rows, cuts.rows, cuts.rowParity))
    for (const Class &cols : classesOf(rectangle.cols, cuts.cols, cuts.colParity)) {
      bool sends = false, takes = false;
      for (const auto &[guard, output] : uses)
        if (runs(guard, rows.first, cols.first))
          (output ? sends : takes) = true;
      RouterRole router;
      router.routers = latticeOf(rows, cols);
      router.colour = colour;
      router.net = net;
      router.positions = positionsOf(family, rectangle, rows.first, cols.first, sends, takes);
      if ((sends || takes) && !router.positions.empty())
        configuration.routers.push_back(std::move(router));
    }
}

} // namespace

absl::StatusOr<std::array<uint8_t, kNumFamilies>> familyColours(const target::Target &target) {
  std::array<uint8_t, kNumFamilies> colours{};
  int found = 0;
  for (int32_t colour = 0; colour < target.colours && found < kNumFamilies; ++colour)
    if (!target.isReservedColour(colour))
      colours[size_t(found++)] = uint8_t(colour);
  if (found < kNumFamilies)
    return absl::ResourceExhaustedError(absl::StrCat("phases need ", kNumFamilies, " colours, target ", target.name,
                                                     " leaves ", found, " to programs"));
  return colours;
}

int outputQueues(const Code &code) {
  std::set<int> families;
  for (const Instruction &instruction : code.main)
    if (instruction.dst.kind == OperandKind::Queue) {
      int family = instruction.dst.queue / 2;
      if (family == int(Family::RowChainOdd) || family == int(Family::ColChainOdd))
        --family; // a core sends on one of the two
      families.insert(family);
    }
  return int(families.size());
}

absl::Status makeRoles(const target::Target &target, const Rectangle &rectangle, const Code &code, int32_t kernel,
                       Configuration &configuration) {
  auto colours = familyColours(target);
  if (!colours.ok())
    return colours.status();
  Cuts cuts;
  for (const Guard &guard : code.guards)
    cuts.add(guard);
  RoleMaker maker(target, code, *colours, kernel);
  for (const Class &rows : classesOf(rectangle.rows, cuts.rows, cuts.rowParity))
    for (const Class &cols : classesOf(rectangle.cols, cuts.cols, cuts.colParity)) {
      auto role = maker.make(rows, cols);
      if (!role.ok())
        return role.status();
      if (!role->threads[0].empty())
        configuration.roles.push_back(*std::move(role));
    }
  for (int family = 0; family < kNumFamilies; ++family)
    makeRouters(rectangle, code, Family(family), (*colours)[size_t(family)], configuration);
  return absl::OkStatus();
}

} // namespace wsc::spmd
