// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws the map of one colour from the lattices of router roles, roles and I/O bindings.
#include "runtime/format/verifier/ColourMap.h"

namespace wsc::format::verifier {

namespace {

constexpr PortMask bit(Port port) { return PortMask(1u << unsigned(port)); }
constexpr PortMask kVertical = bit(Port::North) | bit(Port::South), kHorizontal = bit(Port::East) | bit(Port::West);

// Whether each router of a run takes words from its neighbour in the run and only hands them on.
bool passesAlongRow(const RouterRole &router, const RouterPorts &ports) {
  return router.positions.size() == 1 && !((ports.inputs | ports.outputs) & kVertical) &&
         ((ports.inputs == bit(Port::West) && (ports.outputs & kHorizontal) == bit(Port::East)) ||
          (ports.inputs == bit(Port::East) && (ports.outputs & kHorizontal) == bit(Port::West)));
}

} // namespace

std::vector<ColourUsers> usersByColour(const Configuration &configuration) {
  std::vector<ColourUsers> users(256);
  for (size_t r = 0; r < configuration.routers.size(); ++r)
    users[configuration.routers[r].colour].routers.push_back(int32_t(r));
  for (size_t r = 0; r < configuration.roles.size(); ++r)
    for (size_t q = 0; q < configuration.roles[r].queues.size(); ++q)
      users[configuration.roles[r].queues[q].colour].queues.emplace_back(int32_t(r), int32_t(q));
  for (size_t b = 0; b < configuration.io.size(); ++b)
    users[configuration.io[b].colour].bindings.push_back(int32_t(b));
  return users;
}

ColourMap::ColourMap(const Scope &scope, std::span<const RouterPorts> ports, std::span<const int64_t> bindingBytes)
    : scope(scope), ports(ports), bindingBytes(bindingBytes), rows(scope.target().rows), cols(scope.target().cols) {}

void ColourMap::draw(const ColourUsers &users) {
  nodes.clear();
  sequences.clear();
  filters.clear();
  sent.clear();
  taken.clear();
  interned.clear();
  edges.clear();
  cutAt.assign(size_t(cols) + 1, false);
  firstOfRow.assign(size_t(rows) + 1, 0);
  for (auto user : users.queues)
    drawQueue(user);
  for (int32_t binding : users.bindings)
    drawBinding(binding, bindingBytes[binding]);
  drawRouters(users);
  link();
  checkRouted(sent);
  checkRouted(taken);
  for (const auto &[key, port] : edges) {
    auto [row, col, side, output] = key;
    if (nodeIndex(row, col) >= 0)
      continue;
    std::string name = text("I/O binding #", port.binding, ", ", portName(Port(side)), " port of ", coreName(row, col),
                            ", colour ", int32_t(scope.configuration.io[port.binding].colour));
    scope.report.add("route-open", name, text(name, ": the router has no settings on that colour"));
  }
}

int32_t ColourMap::nodeIndex(int32_t row, int32_t col) const {
  if (row < 0 || row >= rows)
    return -1;
  auto begin = nodes.begin() + firstOfRow[row], end = nodes.begin() + firstOfRow[row + 1];
  auto after = std::upper_bound(begin, end, col, [](int32_t c, const Node &node) { return c < node.run.colBegin; });
  if (after == begin || col >= std::prev(after)->run.colEnd)
    return -1;
  return int32_t(std::prev(after) - nodes.begin());
}

const EdgePort *ColourMap::edge(const Node &node, Port side, bool output) const {
  int32_t col = side == Port::East ? node.run.colEnd - 1 : node.run.colBegin;
  auto found = edges.find({node.run.row, col, int(side), output});
  return found == edges.end() ? nullptr : &found->second;
}

std::string ColourMap::place(const Node &node, Port side) const {
  int32_t col = side == Port::East ? node.run.colEnd - 1 : node.run.colBegin;
  return text(scope.routerName(node.router), ", router of ", coreName(node.run.row, col));
}

void ColourMap::tooLong(const std::string &who) {
  scope.report.add(
      "words-budget", who,
      text(who, ": what passes per sample cannot be judged, it has more than ", kMostSegments,
           " changes between words, padded words and control words, or more than 2^62 words; use fewer control words"));
}

std::string ColourMap::queueName(std::pair<int32_t, int32_t> user) const {
  const Queue &queue = scope.configuration.roles[user.first].queues[user.second];
  return text(scope.roleName(user.first), ", ", queue.output ? "output" : "input", " queue of colour ",
              int32_t(queue.colour));
}

// Equal sequences behind equal filters have one number.
int32_t ColourMap::intern(const Segments &segments, const Passage &filter) {
  std::vector<std::pair<int64_t, int64_t>> key;
  if (filter.period > 0)
    key.emplace_back(-filter.period, filter.words);
  for (const Segment &segment : segments)
    key.emplace_back(segment.count, segment.unit);
  auto [it, isNew] = interned.try_emplace(std::move(key), int32_t(sequences.size()));
  if (isNew) {
    sequences.push_back(segments);
    filters.push_back(filter);
  }
  return it->second;
}

void ColourMap::drawQueue(std::pair<int32_t, int32_t> user) {
  const Role &role = scope.configuration.roles[user.first];
  const Filter &filter = role.queues[user.second].filter;
  WordSequence words(role, user.second);
  unsigned dependsOn = words.dependsOn();
  for (int d = 0; filter.period > 0 && d < kMaxDims; ++d)
    if (filter.words.perDim[d] != 0)
      dependsOn |= 1u << d;
  int along = runDimension(role.cores);
  if (along >= 0 && dependsOn >> along & 1)
    along = -1;
  int32_t shared = -1;
  Segments segments;
  forEachRun(role.cores, along, [&](const Run &run, const LatticeIndex &index) {
    int32_t sequence = shared;
    if (scope.report.full())
      return;
    if (sequence < 0) {
      segments.clear();
      if (!words.at(index, segments))
        tooLong(queueName(user));
      scope.report.spend(words.length() + 16 * int64_t(segments.size()));
      sequence = intern(segments, {filter.period, filter.period > 0 ? int64_t(Form(filter.words).at(index)) : 0});
      if (dependsOn == 0)
        shared = sequence;
    }
    (role.queues[user.second].output ? sent : taken).push_back({run, sequence, user, 0});
  });
}

void ColourMap::drawBinding(int32_t b, int64_t bytes) {
  const IoBinding &binding = scope.configuration.io[b];
  forEachCore(binding.ports, [&](int32_t row, int32_t col, const LatticeIndex &index) {
    std::string name = text("I/O binding #", b, ", ", portName(binding.side), " port of ", coreName(row, col),
                            ", colour ", int32_t(binding.colour));
    int64_t elements = 1;
    for (const Affine &extent : binding.extent)
      elements = multiply(elements, int64_t(std::clamp<Wide>(Form(extent).at(index), 0, kMost)));
    Segments segments;
    append(segments, segmentOf(elements, bytes));
    if (totalWords(segments) >= kMost)
      tooLong(name);
    EdgePort port{b, intern(segments)};
    if (!edges.emplace(std::tuple(row, col, int(binding.side), binding.output), port).second)
      scope.report.add("io-port-shared", text(b),
                       text(name, " carries two ", binding.output ? "outputs" : "inputs",
                            " on that colour; use another colour or port"));
    if (bit(binding.side) & kVertical)
      cutAt[col] = cutAt[col + 1] = true;
  });
}

// Router runs, cut where what their cores send or take changes.
void ColourMap::drawRouters(const ColourUsers &users) {
  routers.clear();
  for (int32_t r : users.routers) {
    const Lattice &lattice = scope.configuration.routers[r].routers;
    forEachRun(lattice, runDimension(lattice),
               [&](const Run &run, const LatticeIndex &) { routers.push_back({run, r}); });
  }
  auto before = [](const auto &a, const auto &b) { return a.run.colBegin < b.run.colBegin; };
  routerSorter.sort(routers, rows, before);
  queueSorter.sort(sent, rows, before);
  queueSorter.sort(taken, rows, before);

  // The queue on a core, and the column where it may change next; cores are asked for in order.
  struct Cursor {
    std::vector<QueueRun> &queues;
    size_t at = 0;
    QueueRun *queueAt(int32_t row, int32_t col, int32_t &end) {
      while (at < queues.size() &&
             (queues[at].run.row < row || (queues[at].run.row == row && queues[at].run.colEnd <= col)))
        ++at;
      if (at == queues.size() || queues[at].run.row > row)
        return nullptr;
      bool on = queues[at].run.colBegin <= col;
      end = std::min(end, on ? queues[at].run.colEnd : queues[at].run.colBegin);
      return on ? &queues[at] : nullptr;
    }
  };
  Cursor sends{sent}, takes{taken};
  pieces.clear();
  for (const auto &[run, router] : routers)
    for (int32_t col = run.colBegin; col < run.colEnd;) {
      Node piece{{run.row, col, run.colEnd}, router, -1, -1};
      QueueRun *sender = sends.queueAt(run.row, col, piece.run.colEnd);
      QueueRun *taker = takes.queueAt(run.row, col, piece.run.colEnd);
      col = piece.run.colEnd;
      for (auto [queue, sequence] : {std::pair(sender, &piece.sends), std::pair(taker, &piece.takes)})
        if (queue) {
          *sequence = queue->sequence;
          queue->routedCores += piece.run.cores();
        }
      if (!pieces.empty() && pieces.back().run.row == piece.run.row && pieces.back().run.colEnd == piece.run.colBegin &&
          pieces.back().router == piece.router && pieces.back().sends == piece.sends &&
          pieces.back().takes == piece.takes)
        pieces.back().run.colEnd = col; // two roles that send and take the same
      else
        pieces.push_back(piece);
    }
  for (const Node &piece : pieces) {
    PortMask used = ports[piece.router].inputs | ports[piece.router].outputs;
    if (!(used & kVertical))
      continue;
    for (int32_t col = piece.run.colBegin; used & kHorizontal && col < piece.run.colEnd; ++col)
      cutAt[col] = true; // these become nodes of one router each
    cutAt[piece.run.colBegin] = cutAt[piece.run.colEnd] = true;
  }
  nodes.reserve(pieces.size());
  for (const Node &piece : pieces)
    addPiece(piece);
}

void ColourMap::addPiece(const Node &piece) {
  const RouterPorts &own = ports[piece.router];
  PortMask used = own.inputs | own.outputs;
  if (passesAlongRow(scope.configuration.routers[piece.router], own) || !(used & (kVertical | kHorizontal))) {
    nodes.push_back(piece);
    return;
  }
  for (int32_t col = piece.run.colBegin; col < piece.run.colEnd;) {
    Node &node = nodes.emplace_back(piece);
    node.run.colBegin = col++;
    while (!(used & kHorizontal) && col < piece.run.colEnd && !cutAt[col])
      ++col;
    node.run.colEnd = col;
  }
}

void ColourMap::link() {
  for (const Node &node : nodes)
    ++firstOfRow[node.run.row + 1];
  for (int32_t row = 0; row < rows; ++row)
    firstOfRow[row + 1] += firstOfRow[row];
  auto join = [&](size_t a, Port side, int32_t b) { nodes[a].next[int(side)] = b; };
  // Neighbours above and below are asked for in the order in which they lie.
  auto beyond = [&](size_t n, int32_t rowStep, int32_t &at) {
    const int32_t row = nodes[n].run.row + rowStep, col = nodes[n].run.colBegin;
    if (row < 0 || row >= rows)
      return -1;
    at = std::max(at, firstOfRow[row]);
    while (at < firstOfRow[row + 1] && nodes[at].run.colEnd <= col)
      ++at;
    return at < firstOfRow[row + 1] && nodes[at].run.colBegin <= col ? at : -1;
  };
  int32_t above = 0, below = 0;
  for (size_t n = 0; n < nodes.size(); ++n) {
    const Run &run = nodes[n].run;
    if (n + 1 < nodes.size() && nodes[n + 1].run.row == run.row && nodes[n + 1].run.colBegin == run.colEnd) {
      join(n, Port::East, int32_t(n) + 1);
      join(n + 1, Port::West, int32_t(n));
    }
    PortMask used = ports[nodes[n].router].inputs | ports[nodes[n].router].outputs;
    if (used & bit(Port::North))
      join(n, Port::North, beyond(n, -1, above));
    if (used & bit(Port::South))
      join(n, Port::South, beyond(n, +1, below));
  }
}

// Reports queues on cores without a router.
void ColourMap::checkRouted(const std::vector<QueueRun> &queues) {
  for (const QueueRun &queue : queues) {
    if (queue.routedCores == queue.run.cores())
      continue;
    int32_t col = queue.run.colBegin;
    for (int32_t node = nodeIndex(queue.run.row, col); node >= 0 && col < queue.run.colEnd;
         node = nodes[node].next[int(Port::East)])
      col = nodes[node].run.colEnd;
    if (col < queue.run.colEnd)
      scope.report.add("route-ramp", text(queue.user.first, "/", queue.user.second),
                       text(queueName(queue.user), ": ", coreName(queue.run.row, col),
                            " has no router settings on that colour; route the colour there"));
  }
}

} // namespace wsc::format::verifier
