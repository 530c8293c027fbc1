// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/roles/Roles.h"

#include "compiler/spmd/collectives/SegmentShift.h"
#include "compiler/spmd/roles/AxisClasses.h"
#include "compiler/spmd/roles/Routers.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <set>

namespace wsc::spmd {

using namespace format;

namespace {

Guard guardOf(const Code &code, size_t i) { return i < code.guards.size() ? code.guards[i] : Guard(); }

std::array<const Operand *, 3> operandsOf(const Instruction &instruction) {
  return {&instruction.dst, &instruction.a, &instruction.b};
}

bool usesSub(const Instruction &instruction, int dim) {
  bool uses = false;
  for (const Operand *operand : operandsOf(instruction))
    uses |= operand->base.perDim[size_t(dim)] != 0;
  for (const Affine &extent : instruction.extent)
    uses |= extent.perDim[size_t(dim)] != 0;
  return uses;
}

/// Whether the instruction takes a part of a stream that depends on its sub-index along an axis.
bool takesShift(const Code &code, const Instruction &instruction, Axis axis) {
  if (instruction.a.kind != OperandKind::Queue)
    return false;
  const Route &route = code.routes[size_t(familyOf(instruction.a.queue))];
  return route.kind == Route::Kind::Shift && route.axis == axis;
}

/// The classes of rows and of columns; a product of two fits the dimensions of a lattice.
struct Classes {
  std::vector<AxisClass> rows, cols;
};

int dimsOf(const std::vector<AxisClass> &classes) {
  size_t most = 1;
  for (const AxisClass &each : classes)
    most = std::max(most, each.dims.size());
  return int(most);
}

absl::StatusOr<Classes> classesOf(const Rectangle &rectangle, const AxisCuts &rowCuts, const AxisCuts &colCuts,
                                  const std::function<int(int32_t)> &rowKind = nullptr,
                                  const std::function<int(int32_t)> &colKind = nullptr) {
  int rowDims = kMaxDims - 1, colDims = kMaxDims - 1;
  for (;;) {
    auto rows = rowCuts.classes(rectangle.rows, rowDims, rowKind);
    if (!rows.ok())
      return rows.status();
    auto cols = colCuts.classes(rectangle.cols, colDims, colKind);
    if (!cols.ok())
      return cols.status();
    rowDims = dimsOf(*rows);
    colDims = dimsOf(*cols);
    if (rowDims + colDims <= kMaxDims)
      return Classes{*std::move(rows), *std::move(cols)};
    --(rowDims > colDims ? rowDims : colDims);
  }
}

/// Dimension of the lattice of each dimension of a class of rows and a class of columns: columns last, rows before.
struct Dims {
  size_t rows, cols;
  Dims(const AxisClass &rowClass, const AxisClass &colClass)
      : rows(kMaxDims - std::max<size_t>(1, colClass.dims.size()) - std::max<size_t>(1, rowClass.dims.size())),
        cols(kMaxDims - std::max<size_t>(1, colClass.dims.size())) {}
};

Lattice latticeOf(const AxisClass &rows, const AxisClass &cols) {
  const Dims at(rows, cols);
  Lattice lattice;
  lattice.row = rows.first;
  lattice.col = cols.first;
  for (size_t d = 0; d < rows.dims.size(); ++d)
    lattice.dims[at.rows + d] = {rows.dims[d].count, rows.dims[d].step, 0};
  for (size_t d = 0; d < cols.dims.size(); ++d)
    lattice.dims[at.cols + d] = {cols.dims[d].count, 0, cols.dims[d].step};
  return lattice;
}

/// A number affine in (row, column, sub-indices of the guard) as one affine in the indices of a lattice.
Affine rebased(const Affine &value, const Guard &guard, const AxisClass &rows, const AxisClass &cols) {
  const Dims at(rows, cols);
  Affine result(value.constant);
  auto addAxis = [&](const AxisClass &places, size_t begin, const AxisGuard &part, int64_t perPlace, int64_t perSub) {
    result.constant += perPlace * places.first + perSub * part.sub(places.first);
    for (size_t d = 0; d < places.dims.size(); ++d)
      result.perDim[begin + d] = perPlace * places.dims[d].step +
                                 perSub * (part.sub(places.first + places.dims[d].step) - part.sub(places.first));
  };
  addAxis(rows, at.rows, along(guard, Axis::Col), value.perDim[kRowDim], value.perDim[kRowSubDim]);
  addAxis(cols, at.cols, along(guard, Axis::Row), value.perDim[kColDim], value.perDim[kColSubDim]);
  return result;
}

/// Of a shift's stream a core takes its own block: number `begin` depends on its place in its segment, which the guard
/// of the instruction that takes it has as sub-index.
Filter filterOf(const Route &route, const Guard &guard, const AxisClass &rows, const AxisClass &cols) {
  if (route.kind != Route::Kind::Shift)
    return {};
  const ShiftPart first = partOfShift(route, (route.axis == Axis::Row ? cols : rows).first);
  const int64_t perPlace = route.backward ? route.words : -route.words;
  Affine begin;
  begin.perDim[route.axis == Axis::Row ? kColSubDim : kRowSubDim] = perPlace;
  Filter filter{first.period, rebased(begin, guard, rows, cols), Affine(route.words)};
  filter.begin.constant = first.begin;
  return filter;
}

std::string nameOf(char axis, const AxisClass &places) {
  return absl::StrCat(std::string(1, axis), places.first, places.dims.empty() ? "" : "s",
                      !places.dims.empty() && places.dims.back().step > 1 ? "p" : "",
                      places.dims.size() > 1 ? "g" : "");
}

class RoleMaker {
public:
  RoleMaker(const target::Target &target, const Code &code, const std::vector<uint8_t> &colours, int32_t kernel)
      : target(target), code(code), colours(colours), kernel(kernel) {}

  absl::StatusOr<Role> make(const AxisClass &rows, const AxisClass &cols) {
    Role role;
    role.name = absl::StrCat(nameOf('r', rows), nameOf('c', cols));
    role.kernel = kernel;
    role.cores = latticeOf(rows, cols);
    role.threads.emplace_back();
    std::map<int16_t, int16_t> buffers, queues;
    auto renamed = [&](Operand operand, const Guard &guard) {
      if (operand.kind == OperandKind::Memory || operand.kind == OperandKind::Fifo) {
        auto [found, added] = buffers.emplace(operand.buffer, int16_t(role.buffers.size()));
        if (added)
          role.buffers.push_back(code.buffers[size_t(operand.buffer)]);
        operand.buffer = found->second;
        operand.base = rebased(operand.base, guard, rows, cols);
      } else if (operand.kind == OperandKind::Queue) {
        auto [found, added] = queues.emplace(operand.queue, int16_t(role.queues.size()));
        if (added) {
          Queue made;
          made.output = isOutput(operand.queue);
          made.colour = colours[size_t(familyOf(operand.queue))];
          if (!made.output)
            made.filter = filterOf(code.routes[size_t(familyOf(operand.queue))], guard, rows, cols);
          made.index = uint8_t(std::count_if(role.queues.begin(), role.queues.end(),
                                             [&](const Queue &other) { return other.output == made.output; }));
          role.queues.push_back(made);
        }
        operand.queue = found->second;
      }
      return operand;
    };
    for (size_t i = 0; i < code.main.size(); ++i) {
      const Guard guard = guardOf(code, i);
      if (!runs(guard, rows.first, cols.first))
        continue;
      Instruction instruction = code.main[i];
      instruction.dst = renamed(instruction.dst, guard);
      instruction.a = renamed(instruction.a, guard);
      instruction.b = renamed(instruction.b, guard);
      for (Affine &extent : instruction.extent)
        extent = rebased(extent, guard, rows, cols);
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
  const std::vector<uint8_t> &colours;
  const int32_t kernel;
};

/// Guards of the instructions that use a family, each once, and whether they send.
using Uses = std::vector<std::pair<Guard, bool>>;

std::vector<Uses> usesOf(const Code &code) {
  std::vector<Uses> uses(code.routes.size());
  for (size_t i = 0; i < code.main.size(); ++i)
    for (const Operand *operand : operandsOf(code.main[i]))
      if (operand->kind == OperandKind::Queue) {
        Uses &those = uses[size_t(familyOf(operand->queue))];
        const std::pair use(guardOf(code, i), isOutput(operand->queue));
        if (std::find(those.begin(), those.end(), use) == those.end())
          those.push_back(use);
      }
  return uses;
}

absl::Status makeRouters(const Rectangle &rectangle, const Uses &uses, const Route &route, uint8_t colour,
                         Configuration &configuration) {
  if (uses.empty())
    return absl::OkStatus();
  AxisCuts rowCuts, colCuts;
  for (const auto &[guard, output] : uses) {
    rowCuts.add(along(guard, Axis::Col), false);
    colCuts.add(along(guard, Axis::Row), false);
  }
  const bool alongRow = axisOf(route) == Axis::Row;
  const int32_t length = alongRow ? rectangle.cols : rectangle.rows;
  const Axis axis = axisOf(route);
  // The uses of the route whose words pass a place, on the lines on which they are.
  const auto passingAt = [&](const StreamPlace &place) {
    std::vector<size_t> passing;
    for (size_t u = 0; u < uses.size() && place.passes; ++u)
      if (place.sender < 0 || (uses[u].second && along(uses[u].first, axis).holds(place.sender)))
        passing.push_back(u);
    return passing;
  };
  const auto passesAt = [&](const StreamPlace &place, int32_t line) {
    const std::vector<size_t> passing = passingAt(place);
    return std::any_of(passing.begin(), passing.end(),
                       [&](size_t u) { return along(uses[u].first, other(axis)).holds(line); });
  };
  // Places that words of the same uses pass are of one kind: on any line some of them pass all, or none does.
  std::map<std::vector<size_t>, int> kinds;
  const auto kind = [&](int32_t coordinate) {
    const StreamPlace place = placeOf(route, length, coordinate);
    const int passing = kinds.emplace(passingAt(place), int(kinds.size())).first->second;
    return int(place.first) + 2 * int(place.last) + 4 * passing;
  };
  auto classes = classesOf(rectangle, rowCuts, colCuts, alongRow ? nullptr : std::function<int(int32_t)>(kind),
                           alongRow ? std::function<int(int32_t)>(kind) : nullptr);
  if (!classes.ok())
    return classes.status();
  const int32_t net = int32_t(configuration.nets.size());
  configuration.nets.push_back({nameOf(route), 0});
  for (const AxisClass &rows : classes->rows)
    for (const AxisClass &cols : classes->cols) {
      bool sends = false, takes = false;
      for (const auto &[guard, output] : uses)
        if (runs(guard, rows.first, cols.first))
          (output ? sends : takes) = true;
      RouterRole router;
      router.routers = latticeOf(rows, cols);
      router.colour = colour;
      router.net = net;
      const StreamPlace place = placeOf(route, length, alongRow ? cols.first : rows.first);
      const bool passes = passesAt(place, alongRow ? rows.first : cols.first);
      router.positions = positionsOf(route, place, sends, takes);
      if ((sends || takes || passes) && !router.positions.empty())
        configuration.routers.push_back(std::move(router));
    }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<std::vector<uint8_t>> familyColours(const target::Target &target, const Code &code) {
  std::vector<uint8_t> colours;
  for (int32_t colour = 0; colour < target.colours && colours.size() < code.routes.size(); ++colour)
    if (!target.isReservedColour(colour))
      colours.push_back(uint8_t(colour));
  if (colours.size() < code.routes.size())
    return absl::ResourceExhaustedError(absl::StrCat("a phase needs ", code.routes.size(), " colours, target ",
                                                     target.name, " leaves ", colours.size(), " to programs"));
  return colours;
}

bool RouteNeeds::fit(const target::Target &target) const {
  return inputs <= int(target.inputQueueWords.size()) && outputs <= int(target.outputQueueWords.size()) &&
         colours <= target.usableColours();
}

RouteNeeds routeNeeds(const Code &code, const Rectangle &rectangle) {
  const std::vector<Uses> uses = usesOf(code);
  RouteNeeds needs;
  needs.colours = int(code.routes.size());
  // Coordinates that the guards of all uses hold alike need the same; one of each sort is looked at.
  std::set<AxisGuard> parts[2];
  for (const Uses &family : uses)
    for (const auto &[guard, output] : family)
      for (Axis axis : {Axis::Row, Axis::Col})
        parts[size_t(axis)].insert(along(guard, axis));
  const std::vector<int32_t> cols = oneOfEachSort(parts[size_t(Axis::Row)], rectangle.cols);
  for (int32_t row : oneOfEachSort(parts[size_t(Axis::Col)], rectangle.rows))
    for (int32_t col : cols) {
      int inputs = 0, outputs = 0;
      for (const Uses &family : uses) {
        bool sends = false, takes = false;
        for (const auto &[guard, output] : family)
          if (runs(guard, row, col))
            (output ? sends : takes) = true;
        inputs += takes;
        outputs += sends;
      }
      needs.inputs = std::max(needs.inputs, inputs);
      needs.outputs = std::max(needs.outputs, outputs);
    }
  return needs;
}

absl::Status makeRoles(const target::Target &target, const Rectangle &rectangle, const Code &code, int32_t kernel,
                       Configuration &configuration) {
  auto colours = familyColours(target, code);
  if (!colours.ok())
    return colours.status();
  AxisCuts rowCuts, colCuts;
  for (size_t i = 0; i < code.main.size(); ++i) {
    const Guard guard = guardOf(code, i);
    const Instruction &each = code.main[i];
    rowCuts.add(along(guard, Axis::Col), usesSub(each, kRowSubDim) || takesShift(code, each, Axis::Col));
    colCuts.add(along(guard, Axis::Row), usesSub(each, kColSubDim) || takesShift(code, each, Axis::Row));
  }
  auto classes = classesOf(rectangle, rowCuts, colCuts);
  if (!classes.ok())
    return classes.status();
  RoleMaker maker(target, code, *colours, kernel);
  for (const AxisClass &rows : classes->rows)
    for (const AxisClass &cols : classes->cols) {
      auto role = maker.make(rows, cols);
      if (!role.ok())
        return role.status();
      if (!role->threads[0].empty())
        configuration.roles.push_back(*std::move(role));
    }
  const std::vector<Uses> uses = usesOf(code);
  for (size_t family = 0; family < code.routes.size(); ++family)
    if (absl::Status status =
            makeRouters(rectangle, uses[family], code.routes[family], (*colours)[family], configuration);
        !status.ok())
      return status;
  return absl::OkStatus();
}

} // namespace wsc::spmd
