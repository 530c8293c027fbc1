// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/wsc-bench/CycleWorkloads.h"

namespace wsc::bench {

using namespace format;

namespace {

constexpr PortMask bit(Port port) { return PortMask(1u << unsigned(port)); }

Executable onMesh(target::Target target, int32_t rows, int32_t cols) {
  Executable executable;
  target.rows = rows;
  target.cols = cols;
  executable.target = std::move(target);
  executable.configurations.emplace_back().name = "main";
  executable.configurations[0].kernels.emplace_back().name = "bench";
  return executable;
}

// Every `step`-th row and column of a rectangle.
Lattice grid(int32_t row, int32_t col, int32_t rows, int32_t cols, int32_t rowStep = 1, int32_t colStep = 1) {
  Lattice lattice;
  lattice.row = row;
  lattice.col = col;
  lattice.dims[2] = {rows, rowStep, 0};
  lattice.dims[3] = {cols, 0, colStep};
  return lattice;
}

Operand queue(int16_t number) {
  Operand operand;
  operand.kind = OperandKind::Queue;
  operand.queue = number;
  return operand;
}

Operand memory(int64_t base, int32_t stride = 4) {
  Operand operand;
  operand.kind = OperandKind::Memory;
  operand.buffer = 0;
  operand.base = Affine(base);
  operand.stride[kMaxDims - 1] = stride;
  return operand;
}

Instruction vector(Opcode opcode, int64_t elements, Operand dst, Operand a, Operand b = {}) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.extent[kMaxDims - 1] = Affine(elements);
  instruction.dst = dst;
  instruction.a = a;
  instruction.b = b;
  return instruction;
}

Role roleAt(const char *name, Lattice cores) {
  Role role;
  role.name = name;
  role.kernel = 0;
  role.cores = cores;
  Buffer buffer;
  buffer.name = "points";
  buffer.address = 8192;
  buffer.bytes = 16384;
  role.buffers.push_back(buffer);
  return role;
}

void route(Configuration &configuration, Lattice routers, uint8_t colour, Port from, Port to) {
  RouterRole router;
  router.routers = routers;
  router.colour = colour;
  router.positions = {{from, bit(to)}};
  configuration.routers.push_back(router);
}

constexpr struct {
  Port side, back;
  int32_t row, col;
} kDirections[] = {{Port::North, Port::South, -1, 0},
                   {Port::South, Port::North, 1, 0},
                   {Port::East, Port::West, 0, 1},
                   {Port::West, Port::East, 0, -1}};

} // namespace

Executable stencilExchange(target::Target target, int32_t rows, int32_t cols) {
  Executable executable = onMesh(std::move(target), rows, cols);
  Configuration &configuration = executable.configurations[0];
  // What a core sends in direction d travels on colour 2 d + parity of the core's row or column. Roles: by parities,
  // and by which neighbours are there: first, inner and last rows and columns.
  const auto part = [](int32_t size, int32_t number, int32_t &first, int32_t &count, int32_t &step) {
    first = number == 0 ? 0 : number == 3 ? size - 1 : number;
    step = 2;
    count = number == 0 || number == 3 ? 1 : (size - 1 - first + 1) / 2;
  };
  for (int32_t i = 0; i < 4; ++i)
    for (int32_t j = 0; j < 4; ++j) {
      int32_t row, col, numRows, numCols, rowStep, colStep;
      part(rows, i, row, numRows, rowStep);
      part(cols, j, col, numCols, colStep);
      if (numRows <= 0 || numCols <= 0)
        continue;
      const Lattice cores = grid(row, col, numRows, numCols, rowStep, colStep);
      Role role = roleAt("stencil", cores);
      Thread sends, main;
      for (int d = 0; d < 4; ++d) {
        const auto &direction = kDirections[d];
        if (row + direction.row < 0 || col + direction.col < 0 ||
            row + (numRows - 1) * rowStep + direction.row >= rows ||
            col + (numCols - 1) * colStep + direction.col >= cols)
          continue;
        const auto own = uint8_t(2 * d + ((direction.row ? row : col) & 1));
        // The neighbour across `side` sends back in the opposite direction (d ^ 1), with the other parity.
        const auto theirs = uint8_t(2 * (d ^ 1) + (((direction.row ? row : col) + 1) & 1));
        const auto number = uint8_t(role.queues.size() / 2);
        role.queues.push_back({true, own, number});
        role.queues.push_back({false, theirs, number});
        sends.push_back(vector(Opcode::Move, 2, queue(int16_t(2 * number)), memory(8 * d)));
        main.push_back(vector(Opcode::Move, 2, memory(64 + 8 * d), queue(int16_t(2 * number + 1))));
        route(configuration, cores, own, Port::Ramp, direction.side);
        route(configuration, cores, theirs, direction.side, Port::Ramp);
      }
      main.push_back(vector(Opcode::Mul, 4, memory(256), memory(0), memory(512, 0)));
      for (int d = 0; d < 4; ++d)
        main.push_back(vector(Opcode::Fma, 4, memory(256), memory(64 + 8 * d), memory(520 + 8 * d, 0)));
      main.push_back(vector(Opcode::Move, 4, memory(0), memory(256 + 8)));
      main.insert(main.begin(), sends.begin(), sends.end());
      role.threads.push_back(std::move(main));
      configuration.roles.push_back(std::move(role));
    }
  return executable;
}

Executable saturatedRelays(target::Target target, int32_t rows, int32_t cols, int64_t words) {
  Executable executable = onMesh(std::move(target), rows, cols);
  Configuration &configuration = executable.configurations[0];
  const target::Target &mesh = executable.target;
  executable.target.ioTerabitsPerSecond = 8.0 * (rows + cols) * 32 * mesh.clockGHz * 1e9 / 1e12;
  for (int d = 0; d < 4; ++d) {
    const auto &direction = kDirections[d];
    route(configuration, grid(0, 0, rows, cols), uint8_t(d), direction.back, direction.side);
    for (bool output : {false, true}) {
      IoBinding binding;
      binding.output = output;
      binding.side = output ? direction.side : direction.back;
      binding.ports = grid(binding.side == Port::South ? rows - 1 : 0, binding.side == Port::East ? cols - 1 : 0,
                           direction.row ? 1 : rows, direction.col ? 1 : cols);
      binding.colour = uint8_t(d);
      binding.extent[kMaxDims - 1] = Affine(words);
      binding.stride[kMaxDims - 1] = 1;
      configuration.io.push_back(binding);
    }
  }
  return executable;
}

Executable chainReduce(target::Target target, int32_t rows, int32_t cols, int64_t words) {
  Executable executable = onMesh(std::move(target), rows, cols);
  Configuration &configuration = executable.configurations[0];
  // What core c sends travels on colour c & 1.
  for (int32_t c = 0; c < cols; c += 1) {
    if (c > 2 && c + 1 < cols)
      continue;
    const bool inner = c == 1 || c == 2;
    const int32_t count = inner ? (cols - 1 - c + 1) / 2 : 1;
    if (count <= 0)
      continue;
    const Lattice cores = grid(0, c, 1, count, 1, 2);
    Role role = roleAt("chain", cores);
    const auto own = uint8_t(c & 1), theirs = uint8_t(~c & 1);
    role.queues = {{true, own, 0}, {false, theirs, 0}};
    role.threads.push_back({c == 0          ? vector(Opcode::Move, words, queue(0), memory(0))
                            : c + 1 == cols ? vector(Opcode::Add, words, memory(0), queue(1), memory(0))
                                            : vector(Opcode::Add, words, queue(0), queue(1), memory(0))});
    if (c + 1 < cols)
      route(configuration, cores, own, Port::Ramp, Port::East);
    else
      role.queues.erase(role.queues.begin());
    if (c + 1 == cols)
      role.threads[0][0].a.queue = 0;
    if (c > 0)
      route(configuration, cores, theirs, Port::West, Port::Ramp);
    else
      role.queues.pop_back();
    configuration.roles.push_back(std::move(role));
  }
  return executable;
}

} // namespace wsc::bench
