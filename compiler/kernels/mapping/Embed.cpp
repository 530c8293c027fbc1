// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lattice whose rows and columns all lie equally far from their places on the real mesh is moved as it is; any other
// is cut in two along the dimension that reaches furthest, and so on. What leaves a piece over a gap is taken on by
// straight routers in the lines between.
#include "compiler/kernels/mapping/Embed.h"

#include "compiler/kernels/roles/Numbers.h"
#include "compiler/solver/Lines.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <string>

namespace wsc::kernels {

using namespace format;

absl::StatusOr<UsableMesh> usableMesh(const target::Target &real) {
  UsableMesh mesh;
  mesh.target = real;
  solver::lines::Problem problem;
  problem.rows = real.rows;
  problem.cols = real.cols;
  for (const target::DeadCore &core : real.deadCores)
    problem.deadCores.push_back({core.row, core.col});
  std::map<int32_t, int32_t> cutsAfterRow, cutsAfterCol; // dead links between two lines
  for (const target::DeadLink &link : real.deadLinks) {
    const bool vertical = link.side == target::Side::North || link.side == target::Side::South;
    (vertical ? problem.deadCols : problem.deadRows).push_back(vertical ? link.col : link.row);
    if (vertical)
      ++cutsAfterRow[link.row - (link.side == target::Side::North)];
    else
      ++cutsAfterCol[link.col - (link.side == target::Side::West)];
  }
  auto solution = solver::lines::solve(problem);
  if (!solution.ok()) {
    std::string cut;
    for (const auto &[cuts, lines, what] :
         {std::tuple(&cutsAfterRow, real.cols, "rows"), std::tuple(&cutsAfterCol, real.rows, "columns")})
      for (const auto &[line, count] : *cuts)
        if (count >= lines && cut.empty())
          cut = absl::StrCat("; every link between ", what, " ", line, " and ", line + 1,
                             " is dead: the mesh is cut in two, use the larger part as a smaller mesh");
    return absl::ResourceExhaustedError(
        absl::StrCat("target ", real.name, ": ", std::string(solution.status().message()), cut));
  }
  if (auto status = solution->verify(problem); !status.ok())
    return status;
  mesh.rows = solution->rows;
  mesh.cols = solution->cols;
  mesh.target.rows = int32_t(mesh.rows.size());
  mesh.target.cols = int32_t(mesh.cols.size());
  mesh.target.deadCores.clear();
  mesh.target.deadLinks.clear();
  return mesh;
}

absl::StatusOr<UsableMesh> loadUsableMesh(const std::string &target, const std::string &defects) {
  absl::StatusOr<target::Target> real = target::loadTarget(target, defects);
  return real.ok() ? usableMesh(*real) : real.status();
}

namespace {

constexpr PortMask bit(Port port) { return PortMask(1u << unsigned(port)); }

Lattice &latticeOf(Role &role) { return role.cores; }
Lattice &latticeOf(RouterRole &role) { return role.routers; }
Lattice &latticeOf(IoBinding &binding) { return binding.ports; }

// A router role has no numbers that differ from point to point.
std::vector<Affine *> numbersOf(RouterRole &) { return {}; }
using kernels::numbersOf;

struct Bounds {
  int32_t rowBegin, rowEnd, colBegin, colEnd; // ends inclusive
};
Bounds boundsOf(const Lattice &lattice) {
  Bounds bounds{lattice.row, lattice.row, lattice.col, lattice.col};
  for (const Lattice::Dim &dim : lattice.dims) {
    const int32_t rows = (dim.count - 1) * dim.rowStep, cols = (dim.count - 1) * dim.colStep;
    (rows < 0 ? bounds.rowBegin : bounds.rowEnd) += rows;
    (cols < 0 ? bounds.colBegin : bounds.colEnd) += cols;
  }
  return bounds;
}

class Embedding {
public:
  Embedding(const target::Target &real, const UsableMesh &mesh, Configuration &configuration)
      : real(real), mesh(mesh), configuration(configuration) {}

  void run() {
    moveRoles();
    std::vector<RouterRole> routers = std::exchange(configuration.routers, {});
    for (RouterRole &role : routers)
      for (auto &[piece, origin] : cut(std::move(role), true, true))
        place(std::move(piece));
    std::vector<IoBinding> bindings = std::exchange(configuration.io, {});
    for (IoBinding &binding : bindings) {
      const bool alongRows = binding.side == Port::West || binding.side == Port::East;
      for (auto &[piece, origin] : cut(std::move(binding), alongRows, !alongRows))
        place(std::move(piece));
    }
    for (Kernel &kernel : configuration.kernels) {
      if (kernel.rows < 1 || kernel.cols < 1)
        continue;
      const int32_t row = mesh.rows[kernel.row], col = mesh.cols[kernel.col];
      kernel.rows = mesh.rows[kernel.row + kernel.rows - 1] - row + 1;
      kernel.cols = mesh.cols[kernel.col + kernel.cols - 1] - col + 1;
      kernel.row = row;
      kernel.col = col;
    }
  }

private:
  template <typename Item> struct Piece {
    Item item;
    LatticeIndex origin; // of its first point in the item's lattice
  };

  bool even(const std::vector<int32_t> &lines, int32_t begin, int32_t end) const {
    return lines[end] - lines[begin] == end - begin;
  }

  // Pieces that move as a whole, in the mapping's coordinates still. Only the axes asked for are looked at.
  template <typename Item> std::vector<Piece<Item>> cut(Item item, bool rows, bool cols) const {
    std::vector<Piece<Item>> done, open;
    open.push_back({std::move(item), {}});
    while (!open.empty()) {
      Piece<Item> piece = std::move(open.back());
      open.pop_back();
      Lattice &lattice = latticeOf(piece.item);
      const Bounds bounds = boundsOf(lattice);
      const bool cutRows = rows && !even(mesh.rows, bounds.rowBegin, bounds.rowEnd);
      const bool cutCols = cols && !even(mesh.cols, bounds.colBegin, bounds.colEnd);
      if (!cutRows && !cutCols) {
        done.push_back(std::move(piece));
        continue;
      }
      int best = -1, reach = 0;
      for (int d = 0; d < kMaxDims; ++d) {
        const Lattice::Dim &dim = lattice.dims[d];
        if (const int span = (dim.count - 1) * std::abs(cutRows ? dim.rowStep : dim.colStep); span > reach) {
          reach = span;
          best = d;
        }
      }
      const int32_t at = firstBeyondGap(lattice, best, cutRows);
      Piece<Item> rest = piece;
      Lattice &tail = latticeOf(rest.item);
      tail.row += at * tail.dims[best].rowStep;
      tail.col += at * tail.dims[best].colStep;
      tail.dims[best].count -= at;
      for (Affine *number : numbersOf(rest.item))
        number->constant += number->perDim[best] * at;
      rest.origin[best] += at;
      lattice.dims[best].count = at;
      open.push_back(std::move(rest));
      open.push_back(std::move(piece));
    }
    return done;
  }

  // How many steps of dimension `d` to keep together: all that lie before the first gap, at least one.
  int32_t firstBeyondGap(const Lattice &lattice, int d, bool cutRows) const {
    const std::vector<int32_t> &lines = cutRows ? mesh.rows : mesh.cols;
    for (int32_t count = 2; count < lattice.dims[d].count; ++count) {
      Lattice part = lattice;
      part.dims[d].count = count;
      const Bounds bounds = boundsOf(part);
      if (!even(lines, cutRows ? bounds.rowBegin : bounds.colBegin, cutRows ? bounds.rowEnd : bounds.colEnd))
        return count - 1;
    }
    return lattice.dims[d].count - 1;
  }

  void moveRoles() {
    std::vector<Role> roles = std::exchange(configuration.roles, {});
    std::vector<StateBinding> bindings = std::exchange(configuration.stateBindings, {});
    for (size_t r = 0; r < roles.size(); ++r) {
      const std::string name = roles[r].name;
      int count = 0;
      for (auto &[role, origin] : cut(std::move(roles[r]), true, true)) {
        for (StateBinding binding : bindings) {
          if (binding.role != int32_t(r))
            continue;
          binding.role = int32_t(configuration.roles.size());
          for (int d = 0; d < kMaxDims; ++d)
            binding.hostOffset.constant += binding.hostOffset.perDim[d] * origin[d];
          configuration.stateBindings.push_back(binding);
        }
        if (count++ > 0)
          role.name = absl::StrCat(name, "/", count);
        move(role.cores);
        configuration.roles.push_back(std::move(role));
      }
    }
  }

  void move(Lattice &lattice) const {
    lattice.row = mesh.rows[lattice.row];
    lattice.col = mesh.cols[lattice.col];
  }

  // The real line of the mapping's line `i`, also of the ones before the first and after the last: the mesh's edges.
  static int32_t lineAt(const std::vector<int32_t> &lines, int32_t i, int32_t edge) {
    return i < 0 ? -1 : i < int32_t(lines.size()) ? lines[i] : edge;
  }

  void place(RouterRole role) {
    PortMask outputs = 0;
    for (const SwitchPosition &position : role.positions)
      outputs |= position.outputs;
    const Bounds bounds = boundsOf(role.routers);
    move(role.routers);
    if (outputs & bit(Port::South))
      passRows(role, bounds.rowEnd, bounds.rowEnd + 1, Port::North, Port::South);
    if (outputs & bit(Port::North))
      passRows(role, bounds.rowBegin - 1, bounds.rowBegin, Port::South, Port::North);
    if (outputs & bit(Port::East))
      passCols(role, bounds.colEnd, bounds.colEnd + 1, Port::West, Port::East);
    if (outputs & bit(Port::West))
      passCols(role, bounds.colBegin - 1, bounds.colBegin, Port::East, Port::West);
    configuration.routers.push_back(std::move(role));
  }

  // Straight routers in the rows between the mapping's rows `before` and `after`, in the columns of `role` (already
  // moved).
  void passRows(const RouterRole &role, int32_t before, int32_t after, Port input, Port output) {
    const int32_t first = lineAt(mesh.rows, before, real.rows) + 1, last = lineAt(mesh.rows, after, real.rows);
    if (first >= last)
      return;
    RouterRole pass = straight(role, input, output);
    pass.routers.row = first;
    for (Lattice::Dim &dim : pass.routers.dims)
      if (dim.rowStep != 0)
        dim = {};
    *std::find_if(pass.routers.dims.begin(), pass.routers.dims.end(),
                  [](const Lattice::Dim &dim) { return dim.count == 1; }) = {last - first, 1, 0};
    configuration.routers.push_back(std::move(pass));
  }

  // The same in the columns between, in the rows of `role`.
  void passCols(const RouterRole &role, int32_t before, int32_t after, Port input, Port output) {
    const int32_t first = lineAt(mesh.cols, before, real.cols) + 1, last = lineAt(mesh.cols, after, real.cols);
    if (first >= last)
      return;
    RouterRole pass = straight(role, input, output);
    pass.routers.col = first;
    pass.routers.dims[kMaxDims - 1] = {last - first, 0, 1}; // columns vary in the last dimension only
    configuration.routers.push_back(std::move(pass));
  }

  static RouterRole straight(RouterRole role, Port input, Port output) {
    role.positions = {{input, bit(output)}};
    return role;
  }

  // Ports lie at the mesh's edge; words cross what is taken out between it and the first line in use. (On the way out,
  // the router roles have seen to that.)
  void place(IoBinding binding) {
    RouterRole pass;
    pass.routers = binding.ports;
    pass.colour = binding.colour;
    pass.net = netOf(binding);
    switch (binding.side) {
    case Port::West:
    case Port::East:
      binding.ports.row = pass.routers.row = mesh.rows[binding.ports.row];
      binding.ports.col = binding.side == Port::West ? 0 : real.cols - 1;
      if (!binding.output && binding.side == Port::West)
        passCols(pass, -1, 0, Port::West, Port::East);
      else if (!binding.output)
        passCols(pass, int32_t(mesh.cols.size()) - 1, int32_t(mesh.cols.size()), Port::East, Port::West);
      break;
    default:
      binding.ports.col = pass.routers.col = mesh.cols[binding.ports.col];
      binding.ports.row = binding.side == Port::North ? 0 : real.rows - 1;
      if (!binding.output && binding.side == Port::North)
        passRows(pass, -1, 0, Port::North, Port::South);
      else if (!binding.output)
        passRows(pass, int32_t(mesh.rows.size()) - 1, int32_t(mesh.rows.size()), Port::South, Port::North);
      break;
    }
    configuration.io.push_back(std::move(binding));
  }

  // The net of the router that the binding's first port feeds, for messages.
  int32_t netOf(const IoBinding &binding) const {
    const int32_t row = mesh.rows[binding.ports.row], col = mesh.cols[binding.ports.col];
    for (const RouterRole &role : configuration.routers)
      if (role.colour == binding.colour) {
        const Bounds bounds = boundsOf(role.routers);
        if (row >= bounds.rowBegin && row <= bounds.rowEnd && col >= bounds.colBegin && col <= bounds.colEnd)
          return role.net;
      }
    return -1;
  }

  const target::Target &real;
  const UsableMesh &mesh;
  Configuration &configuration;
};

} // namespace

void embed(const target::Target &real, const UsableMesh &mesh, Configuration &configuration) {
  Embedding(real, mesh, configuration).run();
}

} // namespace wsc::kernels
