// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays a configuration out in passes over its lattices: the rectangle in use, routers, cores, ports of the wafer.
#include "runtime/emulator/liveness/Layout.h"

#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/Network.h"
#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::emulator::liveness {

using namespace format;

int64_t FilterCount::passing(int64_t words) const {
  const auto upTo = [&](int64_t n) { // of the words number 0 … n - 1 since a period's begin
    return n / period * (end - begin) + std::clamp(n % period - begin, int64_t(0), end - begin);
  };
  return upTo(met + words) - upTo(met);
}

int64_t FilterCount::meeting(int64_t room) const {
  const int64_t window = end - begin;
  if (window <= 0 || room >= kUnlimited / 2 / std::max<int64_t>(1, period))
    return kUnlimited;
  // The number, since this period's begin, of the passing word number `room` counted from here.
  const int64_t before = std::clamp(met - begin, int64_t(0), window);
  const int64_t wanted = before + std::max<int64_t>(room, 0);
  return wanted / window * period + begin + wanted % window - met;
}

bool Layout::endOfMesh(int32_t cell, int port) const {
  const int32_t r = row(cell), c = col(cell);
  switch (Port(port)) {
  case Port::North:
    return r == 0;
  case Port::South:
    return r + 1 == meshRows;
  case Port::East:
    return c + 1 == meshCols;
  case Port::West:
    return c == 0;
  case Port::Ramp:
    break;
  }
  return false;
}

int32_t Layout::senderAt(int32_t cell, int port, int colour) const {
  if (port != kRamp) {
    const auto found = sendersAt.find(portKey(cell, port, colour));
    return found == sendersAt.end() ? -1 : found->second;
  }
  const int32_t number = coreAt[size_t(cell)];
  if (number < 0)
    return -1;
  const Core &core = cores[size_t(number)];
  const int8_t place = roles[size_t(core.role)].output[size_t(colour)];
  return place < 0 ? -1 : int32_t(core.firstSender) + place;
}

int64_t Layout::bytes() const {
  const auto of = [](const auto &vector) { return int64_t(vector.capacity() * sizeof(vector[0])); };
  int64_t bytes = of(coreAt) + of(cores) + of(threads) + of(fifos) + of(inputs) + of(filters) + of(senders) +
                  of(entering) + of(leaving) + of(switches) + of(ways) + of(switchCell) + of(tokens) + of(trees);
  for (int c = 0; c < kColours; ++c)
    bytes += of(routes[size_t(c)]) + of(inputsAt[size_t(c)]);
  for (const auto &table : programs)
    bytes += table->bytes();
  return bytes;
}

namespace {

class Builder {
public:
  Builder(const Executable &executable, int number)
      : target(executable.target), configuration(executable.configurations[size_t(number)]),
        layout(std::make_unique<Layout>()) {
    layout->executable = &executable;
    layout->configuration = &configuration;
    layout->meshRows = target.rows;
    layout->meshCols = target.cols;
    layout->linkWords = target.routerQueueWords;
    types = bindingTypes(executable, number);
    types.resize(configuration.io.size(), ElementType::F32);
  }

  absl::StatusOr<std::unique_ptr<Layout>> run() {
    for (auto pass : {&Builder::findRectangle, &Builder::placeRouters, &Builder::placeCores, &Builder::placePorts})
      if (absl::Status status = (this->*pass)(); !status.ok())
        return absl::Status(status.code(),
                            absl::StrCat("configuration ", configuration.name, ": ", std::string(status.message())));
    return std::move(layout);
  }

private:
  std::string place(int32_t row, int32_t col, int colour) const {
    return absl::StrCat("router (", row, ", ", col, "), colour ", colour);
  }

  absl::Status colourExists(int colour) const {
    if (colour < kColours)
      return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("colour ", colour, " does not exist"));
  }

  // The corners of every lattice; and the border.
  absl::Status findRectangle() {
    int64_t lowRow = target.rows, lowCol = target.cols, highRow = -1, highCol = -1;
    const auto add = [&](const Lattice &lattice) {
      int64_t low[2] = {lattice.row, lattice.col}, high[2] = {lattice.row, lattice.col};
      for (const Lattice::Dim &dim : lattice.dims) {
        if (dim.count <= 0)
          return absl::OkStatus();
        const int64_t step[2] = {dim.rowStep, dim.colStep};
        for (int axis = 0; axis < 2; ++axis)
          (step[axis] > 0 ? high : low)[axis] += (dim.count - 1) * step[axis];
      }
      if (low[0] < 0 || low[1] < 0 || high[0] >= target.rows || high[1] >= target.cols)
        return absl::InvalidArgumentError(absl::StrCat("rows ", low[0], " to ", high[0], " and columns ", low[1],
                                                       " to ", high[1], " are not inside the mesh of ", target.rows,
                                                       "x", target.cols));
      lowRow = std::min(lowRow, low[0]);
      lowCol = std::min(lowCol, low[1]);
      highRow = std::max(highRow, high[0]);
      highCol = std::max(highCol, high[1]);
      return absl::OkStatus();
    };
    absl::Status status;
    for (const Role &role : configuration.roles)
      status.Update(add(role.cores));
    for (const RouterRole &router : configuration.routers)
      status.Update(add(router.routers));
    for (const IoBinding &binding : configuration.io)
      status.Update(add(binding.ports));
    if (!status.ok() || highRow < 0)
      return status;
    layout->firstRow = int32_t(lowRow) - 1;
    layout->firstCol = int32_t(lowCol) - 1;
    layout->rows = int32_t(highRow - lowRow) + 3;
    layout->cols = int32_t(highCol - lowCol) + 3;
    if (int64_t(layout->rows) * layout->cols > (int64_t(1) << 28))
      return absl::ResourceExhaustedError("too large: more than 2^28 routers");
    layout->coreAt.assign(size_t(layout->rows) * size_t(layout->cols), -1);
    return absl::OkStatus();
  }

  absl::Status placeRouters() {
    absl::Status status;
    for (size_t r = 0; r < configuration.routers.size(); ++r) {
      const RouterRole &router = configuration.routers[r];
      if (status = colourExists(router.colour); !status.ok())
        return status;
      if (router.positions.empty())
        return absl::InvalidArgumentError(absl::StrCat("router role ", r, " has no switch position"));
      for (const SwitchPosition &position : router.positions)
        if (unsigned(position.input) >= unsigned(kNumPorts))
          return absl::InvalidArgumentError(
              absl::StrCat("router role ", r, " takes from port ", unsigned(position.input), ", which does not exist"));
      const Way way = wayOf(router.positions[0]);
      layout->ways.push_back(way);
      Table<int32_t> &routes = layout->routes[router.colour];
      if (routes.empty())
        routes.assign(layout->coreAt.size(), -1);
      forEachPoint(router.routers, [&](const LatticeIndex &, int32_t row, int32_t col) {
        const int32_t cell = layout->cellAt(row, col);
        int32_t &route = routes[size_t(cell)];
        if (route >= 0) {
          status = absl::InvalidArgumentError(
              absl::StrCat("two routes: ", place(row, col, router.colour), " has two router roles, the second is ", r));
          return false;
        }
        if (router.positions.size() == 1) {
          route = int32_t(r) << 1;
        } else {
          route = int32_t(layout->switches.size()) << 1 | 1;
          layout->switches.push_back({int32_t(r), 0, -1, way});
          layout->switchCell.push_back(cell);
        }
        return true;
      });
      if (!status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<RoleFacts> factsOf(const Role &role, const cycle::ProgramTable &table) const {
    RoleFacts facts;
    facts.output.fill(-1);
    std::array<int8_t, kColours> inputs;
    inputs.fill(-1);
    for (const Queue &queue : role.queues) {
      if (absl::Status status = colourExists(queue.colour); !status.ok())
        return status;
      const auto &depths = queue.output ? target.outputQueueWords : target.inputQueueWords;
      if (queue.index >= depths.size())
        return absl::InvalidArgumentError(absl::StrCat("role ", role.name, ": hardware queue ", queue.index,
                                                       " does not exist; the target has ", depths.size()));
      int8_t &number = (queue.output ? facts.output : inputs)[queue.colour];
      if (number >= 0)
        return absl::InvalidArgumentError(absl::StrCat("two queues: role ", role.name, " binds colour ",
                                                       int(queue.colour), " twice in one direction"));
      int32_t &count = queue.output ? facts.outputs : facts.inputs;
      number = int8_t(count);
      facts.place.push_back(count++);
    }
    for (int32_t b : table.fifos())
      facts.fifoSizes.push_back(role.buffers[size_t(b)].bytes /
                                std::max<int64_t>(1, elementBytes(role.buffers[size_t(b)].type)));
    return facts;
  }

  static std::vector<int32_t> usersOf(const Role &role) {
    std::vector<int32_t> users(role.queues.size(), -1);
    for (size_t t = 0; t < role.threads.size(); ++t)
      for (const Instruction &instruction : role.threads[t])
        for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
          if (operand->kind == OperandKind::Queue && operand->queue >= 0 && size_t(operand->queue) < users.size())
            users[size_t(operand->queue)] = int32_t(t);
    return users;
  }

  absl::Status addFilter(const Role &role, const Queue &queue, const LatticeIndex &index, Input &input) {
    const int64_t period = queue.filter.period, begin = queue.filter.begin.at(index),
                  words = queue.filter.words.at(index);
    if (period < 0 || begin < 0 || words < 0 || begin > period || words > period - begin)
      return absl::InvalidArgumentError(absl::StrCat(
          "role ", role.name, ": the filter of the input queue of colour ", int(queue.colour), " passes ", words,
          " words from number ", begin, " on of every ", period, "; what a filter passes lies inside the period"));
    input.filter = int32_t(layout->filters.size());
    layout->filters.push_back({period, begin, begin + words, 0});
    return absl::OkStatus();
  }

  absl::Status placeCores() {
    int64_t cores = 0, threads = 0, inputs = 0, senders = 0;
    for (const Role &role : configuration.roles) {
      cores += role.cores.size();
      threads += role.cores.size() * int64_t(role.threads.size());
      for (const Queue &queue : role.queues)
        (queue.output ? senders : inputs) += role.cores.size();
    }
    if (std::max({cores, threads, inputs, senders}) > (int64_t(1) << 29))
      return absl::ResourceExhaustedError("too large: more than 2^29 threads or queues");
    layout->cores.reserve(size_t(cores));
    layout->threads.reserve(size_t(threads));
    layout->inputs.reserve(size_t(inputs));
    for (const IoBinding &binding : configuration.io)
      senders += binding.output ? 0 : std::max<int64_t>(0, binding.ports.size());
    layout->senders.reserve(size_t(senders));
    for (size_t r = 0; r < configuration.roles.size(); ++r) {
      const Role &role = configuration.roles[r];
      layout->programs.push_back(std::make_unique<cycle::ProgramTable>(target, role));
      cycle::ProgramTable &table = *layout->programs.back();
      absl::StatusOr<RoleFacts> facts = factsOf(role, table);
      if (!facts.ok())
        return facts.status();
      layout->roles.push_back(*std::move(facts));
      const std::vector<int32_t> users = usersOf(role);
      int64_t ordinal = 0;
      absl::Status status;
      forEachPoint(role.cores, [&](const LatticeIndex &index, int32_t row, int32_t col) {
        status = placeCore(role, int32_t(r), users, index, ordinal++, layout->cellAt(row, col));
        return status.ok();
      });
      if (!status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  // Of a queue with its way over the ramp.
  int32_t capacityOf(int64_t queueWords) const {
    return int32_t(std::min<int64_t>(kMostWords, queueWords + target.rampLatencyCycles));
  }

  absl::Status placeCore(const Role &role, int32_t r, const std::vector<int32_t> &users, const LatticeIndex &index,
                         int64_t ordinal, int32_t cell) {
    int32_t &there = layout->coreAt[size_t(cell)];
    if (there >= 0)
      return absl::InvalidArgumentError(
          absl::StrCat("core (", layout->row(cell), ", ", layout->col(cell), ") is in roles ",
                       configuration.roles[size_t(layout->cores[size_t(there)].role)].name, " and ", role.name));
    there = int32_t(layout->cores.size());
    Core core;
    core.cell = cell;
    core.role = r;
    core.ordinal = ordinal;
    core.firstThread = uint32_t(layout->threads.size());
    core.firstInput = uint32_t(layout->inputs.size());
    core.firstSender = uint32_t(layout->senders.size());
    core.firstFifo = uint32_t(layout->fifos.size());
    layout->fifos.resize(layout->fifos.size() + layout->roles[size_t(r)].fifoSizes.size());
    absl::StatusOr<const cycle::CoreProgram *> program = layout->programs[size_t(r)]->at(index);
    if (!program.ok())
      return program.status();
    for (const cycle::ThreadProgram &code : (*program)->threads) {
      Thread thread;
      thread.program = &code;
      thread.core = there;
      thread.done = code.items.empty();
      layout->threads.push_back(thread);
    }
    for (size_t q = 0; q < role.queues.size(); ++q) {
      const Queue &queue = role.queues[q];
      const int32_t thread = users[q] < 0 ? -1 : int32_t(core.firstThread) + users[q];
      if (queue.output) {
        Sender sender;
        sender.cell = cell;
        sender.colour = queue.colour;
        sender.thread = thread;
        sender.capacity = capacityOf(target.outputQueueWords[queue.index]);
        layout->senders.push_back(sender);
        continue;
      }
      Input input;
      input.thread = thread;
      input.capacity = capacityOf(target.inputQueueWords[queue.index]);
      if (queue.filter.period != 0)
        if (absl::Status status = addFilter(role, queue, index, input); !status.ok())
          return status;
      Table<int32_t> &inputs = layout->inputsAt[queue.colour];
      if (inputs.empty())
        inputs.assign(layout->coreAt.size(), -1);
      inputs[size_t(cell)] = int32_t(layout->inputs.size());
      layout->inputs.push_back(input);
    }
    layout->cores.push_back(core);
    return absl::OkStatus();
  }

  absl::Status placePorts() {
    absl::Status status;
    for (size_t b = 0; b < configuration.io.size(); ++b) {
      const IoBinding &binding = configuration.io[b];
      if (status = colourExists(binding.colour); !status.ok())
        return status;
      if (unsigned(binding.side) >= unsigned(kRamp))
        return absl::InvalidArgumentError(absl::StrCat("I/O binding ", b, " names no side of the wafer"));
      forEachPoint(binding.ports, [&](const LatticeIndex &index, int32_t row, int32_t col) {
        const int32_t cell = layout->cellAt(row, col);
        if (!layout->endOfMesh(cell, int(binding.side))) {
          status = absl::InvalidArgumentError(
              absl::StrCat("I/O binding ", b, ": its side of (", row, ", ", col, ") is no outer port"));
          return false;
        }
        int64_t elements = 1;
        for (const Affine &extent : binding.extent)
          elements *= std::max<int64_t>(0, extent.at(index));
        const int64_t words = timing::fabricWords(types[b], elements);
        const int64_t key = layout->portKey(cell, int(binding.side), binding.colour);
        auto &ports = binding.output ? layout->leavingAt : layout->sendersAt;
        if (!ports.emplace(key, int32_t(binding.output ? layout->leaving.size() : layout->senders.size())).second) {
          status =
              absl::InvalidArgumentError(absl::StrCat("two bindings: a port of ", place(row, col, binding.colour)));
          return false;
        }
        if (binding.output) {
          layout->leaving.push_back({cell, binding.colour, uint8_t(binding.side), int32_t(b), words, 0});
          return true;
        }
        Sender sender;
        sender.cell = cell;
        sender.colour = binding.colour;
        sender.port = uint8_t(binding.side);
        sender.entering = int32_t(layout->entering.size());
        layout->entering.push_back({int32_t(b), words, words});
        layout->senders.push_back(sender);
        return true;
      });
      if (!status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  const target::Target &target;
  const Configuration &configuration;
  std::vector<ElementType> types;
  std::unique_ptr<Layout> layout;
};

} // namespace

absl::StatusOr<std::unique_ptr<Layout>> layOut(const Executable &executable, int number) {
  return Builder(executable, number).run();
}

} // namespace wsc::emulator::liveness
