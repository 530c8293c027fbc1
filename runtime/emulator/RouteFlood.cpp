// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resolves the routers of one colour. A component is flooded from each source through ports that face each other. If
// none of its routers switches and it has one source, every sink sees all that source sends. Else word counts are moved
// through the switches as a Kahn network: router input queues hold ropes (lists of segments that concatenate in O(1))
// and control words; since routers are determinate the order of work does not matter. Compositions are the flattened
// ropes that reach the sinks.
#include "runtime/emulator/RouteFlood.h"

#include "runtime/emulator/FilterSegments.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/format/Ports.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr size_t kMaxItems = size_t(1) << 26;
constexpr int kRamp = int(Port::Ramp);

size_t hashOf(const std::vector<Segment> &segments) {
  size_t hash = segments.size();
  for (const Segment &segment : segments)
    for (int32_t part : {segment.source, segment.begin, segment.count})
      hash = (hash ^ size_t(uint32_t(part))) * 0x9E3779B97F4A7C15u;
  return hash;
}

} // namespace

RouteFlood::RouteFlood(int32_t rows, int32_t cols, const Configuration &configuration)
    : rows(rows), cols(cols), configuration(configuration) {
  const size_t n = size_t(rows) * cols;
  roleAt.assign(n, -1);
  sourceAt.assign(n, -1);
  sinkAt.assign(n, -1);
  localAt.assign(n, -1);
}

void RouteFlood::reset(int newColour) {
  colour = newColour;
  for (int32_t router : touched)
    roleAt[router] = sourceAt[router] = sinkAt[router] = localAt[router] = -1;
  touched.clear();
  sources.clear();
  sinks.clear();
  portSources.clear();
  portSinks.clear();
  traffic.clear();
}

std::string RouteFlood::place(int32_t router) const {
  return absl::StrCat("colour ", colour, " at router (", router / cols, ", ", router % cols, ")");
}

std::string RouteFlood::siteName(const Site &site) const {
  if (site.endpoint.role >= 0)
    return absl::StrCat("queue ", int(site.endpoint.queue), " of role ", configuration.roles[site.endpoint.role].name,
                        " on core (", site.endpoint.row, ", ", site.endpoint.col, ")");
  return absl::StrCat("io binding ", int(site.endpoint.binding), " at (", site.endpoint.row, ", ", site.endpoint.col,
                      ")");
}

absl::Status RouteFlood::addRouter(int32_t routerRole, int32_t row, int32_t col) {
  if (row < 0 || row >= rows || col < 0 || col >= cols)
    return absl::InvalidArgumentError(absl::StrCat("router role ", routerRole, ": router (", row, ", ", col,
                                                   ") is outside the ", rows, " x ", cols, " mesh"));
  const int32_t router = row * cols + col;
  if (roleAt[router] >= 0)
    return absl::InvalidArgumentError(
        absl::StrCat(place(router), ": two router roles, ", roleAt[router], " and ", routerRole));
  if (configuration.routers[routerRole].positions.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(place(router), ": router role ", routerRole, " has no switch position"));
  roleAt[router] = routerRole;
  touched.push_back(router);
  return absl::OkStatus();
}

int32_t RouteFlood::addTraffic(std::vector<TrafficItem> list) {
  traffic.push_back(std::move(list));
  return int32_t(traffic.size()) - 1;
}

absl::Status RouteFlood::addEndpoint(Endpoint endpoint, Port port, bool source, int32_t list) {
  if (endpoint.row < 0 || endpoint.row >= rows || endpoint.col < 0 || endpoint.col >= cols)
    return absl::InvalidArgumentError(absl::StrCat("colour ", colour, ": endpoint at (", endpoint.row, ", ",
                                                   endpoint.col, ") is outside the ", rows, " x ", cols, " mesh"));
  const int32_t router = endpoint.row * cols + endpoint.col;
  endpoint.wordsPerSample = 0;
  for (const TrafficItem &item : traffic[list])
    endpoint.wordsPerSample += item.words;
  if (endpoint.wordsPerSample > std::numeric_limits<int32_t>::max())
    return absl::InvalidArgumentError(
        absl::StrCat(place(router), ": ", endpoint.wordsPerSample, " words per sample, limit is 2^31 - 1"));
  if (traffic[list].empty())
    return absl::OkStatus(); // moves nothing
  auto &sites = source ? sources : sinks;
  Site site{endpoint, list, router, port, false};
  if (port == Port::Ramp) {
    auto &table = source ? sourceAt : sinkAt;
    if (table[router] >= 0)
      return absl::InvalidArgumentError(absl::StrCat(place(router), ": ", siteName(site), " and ",
                                                     siteName(sites[table[router]]), " bind the same colour"));
    table[router] = int32_t(sites.size());
    touched.push_back(router);
  } else {
    if (neighbour(router, int(port)) >= 0)
      return absl::InvalidArgumentError(
          absl::StrCat(place(router), ": port ", kPortNames[int(port)], " does not face the outside"));
    (source ? portSources : portSinks).emplace_back(int64_t(router) * kNumPorts + int(port), int32_t(sites.size()));
  }
  sites.push_back(site);
  return absl::OkStatus();
}

int32_t RouteFlood::neighbour(int32_t router, int port) const {
  switch (Port(port)) {
  case Port::North:
    return router >= cols ? router - cols : -1;
  case Port::South:
    return router + cols < rows * cols ? router + cols : -1;
  case Port::East:
    return (router + 1) % cols ? router + 1 : -1;
  case Port::West:
    return router % cols ? router - 1 : -1;
  case Port::Ramp:
    break;
  }
  return -1;
}

int32_t RouteFlood::siteNumber(bool source, int32_t router, int port) const {
  if (port == kRamp)
    return source ? sourceAt[router] : sinkAt[router];
  const auto &list = source ? portSources : portSinks;
  const int64_t key = int64_t(router) * kNumPorts + port;
  auto it = std::lower_bound(list.begin(), list.end(), std::make_pair(key, int32_t(-1)));
  return it != list.end() && it->first == key ? it->second : -1;
}

bool RouteFlood::accepts(int32_t router, int port) const {
  if (roleAt[router] < 0)
    return false;
  for (const SwitchPosition &p : configuration.routers[roleAt[router]].positions)
    if (int(p.input) == port)
      return true;
  return false;
}

bool RouteFlood::emits(int32_t router, int port) const {
  if (roleAt[router] < 0)
    return false;
  for (const SwitchPosition &p : configuration.routers[roleAt[router]].positions)
    if (p.outputs >> port & 1)
      return true;
  return false;
}

void RouteFlood::visit(int32_t router) {
  if (localAt[router] >= 0)
    return;
  localAt[router] = int32_t(locals.size());
  Local local;
  local.router = router;
  local.role = roleAt[router];
  local.position = 0;
  local.hops = 0;
  local.queued = false;
  std::fill(local.head, local.head + kNumPorts, -1);
  std::fill(local.tail, local.tail + kNumPorts, -1);
  locals.push_back(local);
}

absl::Status RouteFlood::collect(int32_t start) {
  locals.clear();
  componentSources.clear();
  componentSinks.clear();
  visit(start);
  for (size_t i = 0; i < locals.size(); ++i) {
    const int32_t router = locals[i].router;
    PortMask inputs = 0, outputs = 0;
    for (const SwitchPosition &p : configuration.routers[locals[i].role].positions) {
      inputs |= PortMask(1 << int(p.input));
      outputs |= p.outputs;
    }
    for (int port = 0; port < kNumPorts; ++port) {
      const int32_t other = port == kRamp ? -1 : neighbour(router, port);
      if (outputs >> port & 1) {
        if (other >= 0) {
          if (!accepts(other, opposite(port)))
            return absl::InvalidArgumentError(absl::StrCat(place(router), ": the route leaves ", kPortNames[port],
                                                           " and ends there: router (", other / cols, ", ",
                                                           other % cols, ") takes nothing from that side"));
          visit(other);
        } else {
          const int32_t sink = siteNumber(false, router, port);
          if (sink < 0)
            return absl::InvalidArgumentError(
                absl::StrCat(place(router), ": the route ends at ", kPortNames[port],
                             " where nothing takes words: no input queue or output binding"));
          componentSinks.push_back(sink);
        }
      }
      if (inputs >> port & 1) {
        if (other >= 0) {
          if (emits(other, opposite(port)))
            visit(other);
        } else if (const int32_t source = siteNumber(true, router, port); source >= 0) {
          componentSources.push_back(source);
        }
      }
    }
  }
  return absl::OkStatus();
}

int32_t RouteFlood::leaf(int32_t source, int64_t begin, int64_t words) {
  ropes.push_back({source, -1, int32_t(begin), words});
  return int32_t(ropes.size()) - 1;
}

int32_t RouteFlood::concat(int32_t a, int32_t b) {
  ropes.push_back({a, b, 0, ropes[a].words + ropes[b].words});
  return int32_t(ropes.size()) - 1;
}

std::vector<Segment> RouteFlood::flatten(int32_t rope) const {
  std::vector<Segment> segments;
  std::vector<int32_t> stack{rope};
  while (!stack.empty()) {
    const Rope &r = ropes[stack.back()];
    stack.pop_back();
    if (r.right >= 0) {
      stack.push_back(r.right);
      stack.push_back(r.left);
    } else if (!segments.empty() && segments.back().source == r.left &&
               segments.back().begin + segments.back().count == r.begin) {
      segments.back().count += int32_t(r.words);
    } else {
      segments.push_back({r.left, r.begin, int32_t(r.words)});
    }
  }
  return segments;
}

void RouteFlood::push(int32_t local, int port, int32_t rope, int32_t control) {
  Local &l = locals[local];
  int32_t &tail = l.tail[port];
  if (tail >= 0 && control == 0 && items[tail].control == 0) {
    items[tail].rope = concat(items[tail].rope, rope);
  } else {
    items.push_back({rope, control, -1});
    const int32_t item = int32_t(items.size()) - 1;
    if (tail >= 0)
      items[tail].next = item;
    else
      l.head[port] = item;
    tail = item;
  }
  if (!l.queued) {
    l.queued = true;
    work.push_back(local);
  }
}

absl::Status RouteFlood::deliver(int32_t local, int port, int32_t rope, int32_t control, int64_t &linkWords) {
  const int32_t router = locals[local].router;
  const int32_t other = port == kRamp ? -1 : neighbour(router, port);
  if (other >= 0) {
    if (control == 0)
      linkWords += ropes[rope].words;
    push(localAt[other], opposite(port), rope, control);
    return absl::OkStatus();
  }
  if (control != 0)
    return absl::InvalidArgumentError(absl::StrCat(place(router), ": a control word (count ", control, ") reaches ",
                                                   kPortNames[port], "; it must end inside the fabric"));
  int32_t &sink = sinkRope[siteNumber(false, router, port)];
  sink = sink < 0 ? rope : concat(sink, rope);
  return absl::OkStatus();
}

absl::Status RouteFlood::resolveTree(int64_t &linkWords) {
  const Site &source = sources[componentSources[0]];
  for (const Local &local : locals)
    for (int port = 0; port < kRamp; ++port)
      if (configuration.routers[local.role].positions[0].outputs >> port & 1 && neighbour(local.router, port) >= 0)
        linkWords += source.endpoint.wordsPerSample;
  const int32_t rope = leaf(0, 0, source.endpoint.wordsPerSample);
  for (int32_t sink : componentSinks)
    sinkRope[sink] = rope;
  return absl::OkStatus();
}

absl::Status RouteFlood::simulate(int64_t &linkWords) {
  for (size_t s = 0; s < componentSources.size(); ++s) {
    const Site &site = sources[componentSources[s]];
    int64_t begin = 0;
    for (const TrafficItem &item : traffic[site.traffic]) {
      push(localAt[site.router], int(site.port), item.controlCount ? -1 : leaf(int32_t(s), begin, item.words),
           item.controlCount);
      begin += item.words;
    }
  }
  // A word passes a router once, unless it circles.
  const size_t mostItems = std::min(kMaxItems, (items.size() + 1) * (locals.size() + 1) * 2);
  for (size_t w = 0; w < work.size(); ++w) {
    const int32_t local = work[w];
    locals[local].queued = false;
    const auto &positions = configuration.routers[locals[local].role].positions;
    for (;;) {
      const SwitchPosition &p = positions[locals[local].position];
      int32_t &head = locals[local].head[int(p.input)];
      if (head < 0)
        break;
      const Item item = items[head];
      head = item.next;
      if (head < 0)
        locals[local].tail[int(p.input)] = -1;
      int32_t control = item.control;
      if (control > 0 && positions.size() >= 2) {
        locals[local].position = (locals[local].position + 1) % int32_t(positions.size());
        if (--control == 0)
          continue;
      }
      const PortMask outputs = control > 0 ? controlOutputs(p.outputs) : p.outputs;
      for (int port = 0; port < kNumPorts; ++port)
        if (outputs >> port & 1)
          if (absl::Status status = deliver(local, port, item.rope, control, linkWords); !status.ok())
            return status;
    }
    if (items.size() > mostItems)
      return absl::InvalidArgumentError(
          absl::StrCat(place(locals[local].router), ": words move through more than ", mostItems,
                       " router steps in one sample; the route probably runs in a circle"));
  }
  for (const Local &local : locals) {
    for (int port = 0; port < kNumPorts; ++port)
      if (local.head[port] >= 0) {
        const Item &item = items[local.head[port]];
        return absl::InvalidArgumentError(absl::StrCat(
            place(local.router), ": ", item.control ? "a control word" : "words", " left over at ", kPortNames[port],
            " after a sample: the switch stands at position ", local.position, " and takes from ",
            kPortNames[int(configuration.routers[local.role].positions[local.position].input)]));
      }
    if (local.position != 0)
      return absl::InvalidArgumentError(absl::StrCat(place(local.router), ": the switch ends a sample at position ",
                                                     local.position, " instead of 0"));
  }
  return absl::OkStatus();
}

void RouteFlood::findHops() {
  // Longest distance in topological order of the component's links; routers on a cycle of links (possible with
  // switches) keep what reaches them first.
  std::vector<int32_t> incoming(locals.size(), 0), order;
  auto forEachLink = [&](int32_t local, auto visitLink) {
    PortMask outputs = 0;
    for (const SwitchPosition &p : configuration.routers[locals[local].role].positions)
      outputs |= p.outputs;
    for (int port = 0; port < kRamp; ++port)
      if (outputs >> port & 1)
        if (const int32_t other = neighbour(locals[local].router, port); other >= 0)
          visitLink(localAt[other]);
  };
  for (size_t i = 0; i < locals.size(); ++i)
    forEachLink(int32_t(i), [&](int32_t to) { ++incoming[to]; });
  for (size_t i = 0; i < locals.size(); ++i)
    if (incoming[i] == 0)
      order.push_back(int32_t(i));
  for (size_t i = 0; i < order.size(); ++i)
    forEachLink(order[i], [&](int32_t to) {
      locals[to].hops = std::max(locals[to].hops, locals[order[i]].hops + 1);
      if (--incoming[to] == 0)
        order.push_back(to);
    });
}

// Puts the component's sources in the order in which the first sink's router sees them, filter or not.
void RouteFlood::orderSources() {
  if (componentSources.size() < 2 || componentSinks.empty() || sinkRope[componentSinks[0]] < 0)
    return;
  std::vector<int32_t> number(componentSources.size(), -1), ordered;
  for (const Segment &segment : flatten(sinkRope[componentSinks[0]]))
    if (number[segment.source] < 0) {
      number[segment.source] = int32_t(ordered.size());
      ordered.push_back(componentSources[segment.source]);
    }
  for (size_t s = 0; s < number.size(); ++s)
    if (number[s] < 0) {
      number[s] = int32_t(ordered.size());
      ordered.push_back(componentSources[s]);
    }
  componentSources = std::move(ordered);
  for (Rope &rope : ropes)
    if (rope.right < 0)
      rope.left = number[rope.left];
}

absl::Status RouteFlood::finish(StreamTable &streams, int64_t linkWords,
                                const std::function<void(int32_t, const Endpoint &)> &bind) {
  const int32_t stream = int32_t(streams.size());
  std::vector<Endpoint> sourceEnds, sinkEnds;
  std::vector<std::vector<Segment>> compositions;
  std::unordered_map<int32_t, int32_t> ofRope;    // compositions of sinks without a filter
  std::unordered_multimap<size_t, int32_t> alike; // all, by hash: a thousand filters of a line are no two the same
  std::vector<int32_t> sinkComposition, sinkHops;
  orderSources();
  for (int32_t s : componentSources) {
    sources[s].resolved = true;
    sourceEnds.push_back(sources[s].endpoint);
    bind(stream, sources[s].endpoint);
  }
  for (int32_t s : componentSinks) {
    Site &site = sinks[s];
    site.resolved = true;
    const Endpoint &end = site.endpoint;
    static const Filter kAll;
    const Filter &filter = end.role >= 0 ? configuration.roles[end.role].queues[end.queue].filter : kAll;
    int64_t words = sinkRope[s] < 0 ? 0 : ropes[sinkRope[s]].words;
    std::vector<Segment> passed;
    if (filter.period > 0 && words > 0) {
      absl::StatusOr<std::vector<Segment>> segments = filterSegments(flatten(sinkRope[s]), filter, end.index);
      if (!segments.ok())
        return absl::InvalidArgumentError(absl::StrCat(place(site.router), ": the filter of ", siteName(site), " ",
                                                       std::string(segments.status().message())));
      passed = std::move(*segments);
      words = 0;
      for (const Segment &segment : passed)
        words += segment.count;
    }
    if (words != site.endpoint.wordsPerSample)
      return absl::InvalidArgumentError(absl::StrCat(place(site.router), ": ", siteName(site), " takes ",
                                                     site.endpoint.wordsPerSample, " words per sample, but ", words,
                                                     " are sent to it"));
    int32_t found = -1;
    if (const auto known = ofRope.find(sinkRope[s]); filter.period == 0 && known != ofRope.end())
      found = known->second;
    if (found < 0) {
      std::vector<Segment> segments = filter.period == 0 ? flatten(sinkRope[s]) : std::move(passed);
      const size_t hash = hashOf(segments);
      for (auto [k, end] = alike.equal_range(hash); k != end && found < 0; ++k)
        if (compositions[size_t(k->second)] == segments)
          found = k->second;
      if (found < 0) {
        found = int32_t(compositions.size());
        compositions.push_back(std::move(segments));
        alike.emplace(hash, found);
      }
      if (filter.period == 0)
        ofRope.emplace(sinkRope[s], found);
    }
    sinkComposition.push_back(found);
    sinkHops.push_back(locals[localAt[site.router]].hops);
    sinkEnds.push_back(site.endpoint);
    bind(stream, site.endpoint);
  }
  streams.append(uint8_t(colour), configuration.routers[locals[0].role].net, sourceEnds, sinkEnds, compositions,
                 sinkComposition, sinkHops, linkWords);
  return absl::OkStatus();
}

absl::Status RouteFlood::resolveAll(StreamTable &streams, const std::function<void(int32_t, const Endpoint &)> &bind) {
  std::sort(portSources.begin(), portSources.end());
  std::sort(portSinks.begin(), portSinks.end());
  for (auto *list : {&portSources, &portSinks})
    for (size_t i = 1; i < list->size(); ++i)
      if ((*list)[i].first == (*list)[i - 1].first)
        return absl::InvalidArgumentError(absl::StrCat(place(int32_t((*list)[i].first / kNumPorts)),
                                                       ": two io bindings share port ",
                                                       kPortNames[(*list)[i].first % kNumPorts]));
  sinkRope.assign(sinks.size(), -1);
  for (size_t s = 0; s < sources.size(); ++s) {
    if (sources[s].resolved)
      continue;
    const int32_t router = sources[s].router;
    if (!accepts(router, int(sources[s].port)))
      return absl::InvalidArgumentError(absl::StrCat(place(router), ": ", siteName(sources[s]),
                                                     " sends words, but its router takes nothing from ",
                                                     kPortNames[int(sources[s].port)], " on this colour"));
    ropes.clear();
    items.clear();
    work.clear();
    if (absl::Status status = collect(router); !status.ok())
      return status;
    bool tree = componentSources.size() == 1 && traffic[sources[s].traffic].size() == 1 &&
                traffic[sources[s].traffic][0].controlCount == 0;
    for (size_t i = 0; i < locals.size() && tree; ++i)
      tree = configuration.routers[locals[i].role].positions.size() == 1;
    int64_t linkWords = 0;
    if (absl::Status status = tree ? resolveTree(linkWords) : simulate(linkWords); !status.ok())
      return status;
    findHops();
    if (absl::Status status = finish(streams, linkWords, bind); !status.ok())
      return status;
  }
  for (const Site &site : sinks)
    if (!site.resolved && site.endpoint.wordsPerSample > 0)
      return absl::InvalidArgumentError(absl::StrCat(place(site.router), ": ", siteName(site), " takes ",
                                                     site.endpoint.wordsPerSample,
                                                     " words per sample, but no source reaches it"));
  return absl::OkStatus();
}

} // namespace wsc::emulator
