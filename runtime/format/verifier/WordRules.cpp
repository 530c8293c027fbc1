// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words sent = words received, per stream and sample, by moving counts through the switches.
//
// Routers are Kahn processes, so any order of execution gives the same history. Routers are visited in topological
// order of the links: when a router's turn comes, everything that will ever reach it waits at its inputs, adjacent runs
// joined into one; it drains them position by position. One visit per router then suffices, so a gather along a row
// costs one step per core, as does a multicast. Routers on cycles of links are visited from a worklist until nothing
// moves. In the end nothing may wait at an input, every switch is back at position 0, and every taker has got exactly
// its sequence.
#include "runtime/format/verifier/RouteRules.h"

#include <algorithm>
#include <bit>

namespace wsc::format::verifier {

namespace {

constexpr int kInputs = kNumPorts; // queues 0…4 wait at input ports; RAMP's are the core's sends
constexpr int kDelivered = 5;      // what has gone to RAMP
constexpr int32_t kNone = -1;

// Queues of segments in one pool.
class SegmentPool {
public:
  struct List {
    int32_t head = kNone, tail = kNone;
  };
  void push(List &list, Segment segment) {
    if (list.tail != kNone && links[list.tail].segment.unit == segment.unit && segment.unit >= 0) {
      links[list.tail].segment.count = add(links[list.tail].segment.count, segment.count);
      return;
    }
    int32_t link = free;
    if (link == kNone) {
      link = int32_t(links.size());
      links.emplace_back();
    } else {
      free = links[link].next;
    }
    links[link] = {segment, kNone};
    (list.tail == kNone ? list.head : links[list.tail].next) = link;
    list.tail = link;
  }
  Segment pop(List &list) {
    int32_t link = list.head;
    list.head = links[link].next;
    if (list.head == kNone)
      list.tail = kNone;
    links[link].next = free;
    free = link;
    return links[link].segment;
  }
  template <typename Visit> void forEach(const List &list, Visit visit) const {
    for (int32_t link = list.head; link != kNone; link = links[link].next)
      visit(Segment(links[link].segment)); // visits may make the pool grow
  }
  void clear(List &list) {
    while (list.head != kNone)
      pop(list);
  }
  // Moves all of `from` behind `to`.
  void moveAll(List &from, List &to) {
    if (to.head == kNone)
      return std::swap(from, to);
    while (from.head != kNone)
      push(to, pop(from));
  }
  bool equals(const List &list, const Segments &segments) const {
    int32_t link = list.head;
    for (const Segment &segment : segments) {
      if (link == kNone || links[link].segment.unit != segment.unit || links[link].segment.count != segment.count)
        return false;
      link = links[link].next;
    }
    return link == kNone;
  }
  void read(const List &list, Segments &segments) const {
    segments.clear();
    for (int32_t link = list.head; link != kNone; link = links[link].next)
      append(segments, links[link].segment);
  }

private:
  struct Link {
    Segment segment;
    int32_t next = kNone;
  };
  std::vector<Link> links;
  int32_t free = kNone;
};

struct State {
  std::array<SegmentPool::List, kInputs + 1> queue;
  int32_t feeders = 0; // neighbours that send here and have not been visited
  uint8_t position = 0;
  bool visited = false, waiting = false;
};

class Tracer {
public:
  Tracer(const ColourMap &map, int64_t &budget) : map(map), budget(budget), states(map.nodes.size()) {}

  void run() {
    fill();
    visitInOrder();
    visitCycles();
    if (budget <= 0)
      return map.scope.report.add(
          "words-budget", "trace",
          text("colour of ", map.place(map.nodes[0]), ": the switches move more than ", kMostSteps,
               " stretches of words per sample, or words circle for ever; use fewer control words"));
    for (size_t n = 0; n < map.nodes.size() && !map.scope.report.full(); ++n)
      judge(map.nodes[n], states[n]);
    judgeEdges();
  }

private:
  template <typename Visit> void forEachTarget(const Node &node, PortMask outputs, Visit visit) const {
    for (unsigned sides = outputs & kAllSides; sides != 0; sides &= sides - 1) {
      const int side = std::countr_zero(sides);
      visit(Port(side), node.next[size_t(side)]);
    }
  }

  void fill() {
    for (size_t n = 0; n < map.nodes.size(); ++n) {
      const Node &node = map.nodes[n];
      if (node.sends >= 0)
        for (const Segment &segment : map.sequences[node.sends])
          for (int64_t copies = segment.unit < 0 ? segment.count : 1; copies > 0 && --budget > 0; --copies)
            pool.push(states[n].queue[int(Port::Ramp)], segment.unit < 0 ? Segment{1, segment.unit} : segment);
      forEachTarget(node, map.ports[node.router].outputs, [&](Port, int32_t target) {
        if (target != kNone)
          ++states[target].feeders;
      });
    }
    map.forEachEdge([&](int32_t node, Port side, bool output, const EdgePort &port) {
      if (!output)
        for (const Segment &segment : map.sequences[port.sequence])
          pool.push(states[node].queue[int(side)], segment);
    });
  }

  void visitInOrder() {
    std::vector<int32_t> ready;
    for (size_t n = map.nodes.size(); n-- > 0;)
      if (states[n].feeders == 0)
        ready.push_back(int32_t(n));
    while (!ready.empty() && budget > 0) {
      int32_t n = ready.back();
      ready.pop_back();
      states[n].visited = true;
      drain(n);
      forEachTarget(map.nodes[n], map.ports[map.nodes[n].router].outputs, [&](Port, int32_t target) {
        if (target != kNone && --states[target].feeders == 0)
          ready.push_back(target);
      });
    }
  }

  void visitCycles() {
    for (size_t n = 0; n < map.nodes.size(); ++n)
      if (!states[n].visited) {
        states[n].waiting = true;
        worklist.push_back(int32_t(n));
      }
    for (size_t next = 0; next < worklist.size() && budget > 0; ++next, --budget) {
      states[worklist[next]].waiting = false;
      drain(worklist[next]);
    }
  }

  void drain(int32_t n) {
    const Node &node = map.nodes[n];
    const auto &positions = map.scope.configuration.routers[node.router].positions;
    State &state = states[n];
    if (positions.size() == 1 && !inCycles())
      return drainPlain(n, positions[0]);
    for (; budget > 0; --budget) {
      const SwitchPosition &position = positions[state.position];
      SegmentPool::List &queue = state.queue[int(position.input)];
      if (queue.head == kNone)
        return;
      Segment segment = pool.pop(queue);
      if (segment.unit < 0 && positions.size() > 1) {
        state.position = uint8_t((state.position + 1) % positions.size());
        if (++segment.unit == 0)
          continue;
      }
      forward(n, position.outputs, segment);
    }
  }

  // Without switching all that waits goes on as it is.
  void drainPlain(int32_t n, const SwitchPosition &position) {
    const Node &node = map.nodes[n];
    SegmentPool::List &queue = states[n].queue[int(position.input)];
    if (queue.head == kNone)
      return;
    --budget;
    SegmentPool::List *last = nullptr; // where the segments themselves go; others get copies
    if (position.outputs >> unsigned(Port::Ramp) & 1)
      pool.forEach(queue, [&](const Segment &segment) {
        --budget;
        if (segment.unit >= 0 || goesToRamp(position.outputs))
          deliver(node, states[n].queue[kDelivered], segment, "RAMP");
      });
    forEachTarget(node, position.outputs, [&](Port side, int32_t target) {
      if (target == kNone)
        return pool.forEach(queue, [&](const Segment &segment) {
          deliver(node, departed[{n, int(side)}], segment, portName(side));
          --budget;
        });
      if (last)
        pool.forEach(queue, [&](const Segment &segment) {
          pool.push(*last, segment);
          --budget;
        });
      last = &states[target].queue[int(opposite(side))];
    });
    last ? pool.moveAll(queue, *last) : pool.clear(queue);
  }

  /// Of a control word.
  static bool goesToRamp(PortMask outputs) { return controlOutputs(outputs) >> unsigned(Port::Ramp) & 1; }

  void forward(int32_t n, PortMask outputs, Segment segment) {
    const Node &node = map.nodes[n];
    if (segment.unit < 0 ? goesToRamp(outputs) : outputs >> unsigned(Port::Ramp) & 1)
      deliver(node, states[n].queue[kDelivered], segment, "RAMP");
    forEachTarget(node, outputs, [&](Port side, int32_t target) {
      if (target == kNone)
        return deliver(node, departed[{n, int(side)}], segment, portName(side));
      pool.push(states[target].queue[int(opposite(side))], segment);
      if (states[target].visited || states[target].waiting || !inCycles())
        return;
      states[target].waiting = true;
      worklist.push_back(target);
    });
  }
  bool inCycles() const { return !worklist.empty(); }

  void deliver(const Node &node, SegmentPool::List &list, Segment segment, const char *port) {
    if (segment.unit >= 0)
      return pool.push(list, segment);
    map.scope.report.add("control-end", text(node.router, port),
                         text(map.place(node), ": a control word with count ", -segment.unit, " left reaches ", port,
                              "; its count must end it at a router with two or more switch positions"));
  }

  void judge(const Node &node, const State &state) {
    for (int port = 0; port < kInputs; ++port) {
      if (state.queue[port].head == kNone)
        continue;
      const auto &positions = map.scope.configuration.routers[node.router].positions;
      pool.read(state.queue[port], scratch);
      map.scope.report.add("words-stuck", text(node.router, portName(Port(port))),
                           text(map.place(node), ": ", totalWords(scratch), " words and ", controls(scratch),
                                " control words still wait at ", portName(Port(port)),
                                " at the end of a sample, while switch position ", int32_t(state.position),
                                " takes from ", portName(positions[state.position].input)));
    }
    if (state.position != 0)
      map.scope.report.add("switch-return", text(node.router),
                           text(map.place(node), ": the switch ends a sample in position ", int32_t(state.position),
                                " instead of 0; send control words that bring it back"));
    if (node.takes < 0)
      return;
    const Segments &expected = map.sequences[node.takes];
    const Passage &filter = map.filters[node.takes];
    if (filter.period == 0 && pool.equals(state.queue[kDelivered], expected))
      return; // as nearly everywhere: what arrives is cut up as it is taken
    pool.read(state.queue[kDelivered], scratch);
    auto name = [&] { return text(map.place(node), ", input queue of the core"); };
    auto key = [&] { return text(node.router, "/", node.takes); };
    if (filter.period == 0)
      judgeTaker(expected, name, key);
    else
      judgeFiltered(expected, filter, name, key);
  }

  void judgeEdges() {
    map.forEachEdge([&](int32_t node, Port side, bool output, const EdgePort &port) {
      if (!output)
        return;
      pool.read(departed[{node, int(side)}], scratch);
      judgeTaker(
          map.sequences[port.sequence],
          [&] {
            return text(map.place(map.nodes[node]), ", ", portName(side), " port of output binding #", port.binding);
          },
          [&] { return text("binding ", port.binding); });
    });
  }

  // `scratch` is what has arrived.
  template <typename Name, typename Key> void judgeTaker(const Segments &expected, Name name, Key key) {
    int64_t wanted = totalWords(expected), arrived = totalWords(scratch);
    if (wanted != arrived)
      map.scope.report.add("words", key(),
                           text(name(), " takes ", wanted, " words per sample, but ", arrived, " arrive"));
    else if (!sameWords(expected, scratch))
      map.scope.report.add(
          "word-boundary", key(),
          text(name(), ": ", arrived,
               " words of narrow elements are padded at other places than they are taken; let sending and "
               "receiving instructions meet at word boundaries"));
  }

  // As judgeTaker, for a queue behind a filter.
  template <typename Name, typename Key>
  void judgeFiltered(const Segments &expected, const Passage &filter, Name name, Key key) {
    const int64_t met = totalWords(scratch), wanted = totalWords(expected), passed = met / filter.period * filter.words;
    const auto padded = [](const Segments &segments) {
      return std::any_of(segments.begin(), segments.end(), [](const Segment &segment) { return segment.unit > 0; });
    };
    if (met % filter.period != 0)
      map.scope.report.add(
          "filter-period", key(),
          text(name(), ": ", met, " words per sample meet its filter, no multiple of the period of ", filter.period));
    else if (passed != wanted)
      map.scope.report.add(
          "words", key(),
          text(name(), " takes ", wanted, " words per sample, but ", passed, " of ", met, " pass its filter"));
    else if (padded(expected) || padded(scratch))
      map.scope.report.add(
          "word-boundary", key(),
          text(name(), ": words of narrow elements with padding pass a filter; filter whole words only"));
  }

  static int64_t controls(const Segments &segments) {
    int64_t total = 0;
    for (const Segment &segment : segments)
      total += segment.unit < 0 ? segment.count : 0;
    return total;
  }

  const ColourMap &map;
  int64_t &budget;
  std::vector<State> states;
  SegmentPool pool;
  std::map<std::pair<int32_t, int>, SegmentPool::List> departed;
  std::vector<int32_t> worklist;
  Segments scratch;
};

} // namespace

void checkWords(const ColourMap &map, int64_t &budget) {
  if (!map.nodes.empty())
    Tracer(map, budget).run();
}

} // namespace wsc::format::verifier
