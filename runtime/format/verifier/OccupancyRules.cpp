// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who takes which bytes of a core at which time. Residents that live together share no byte of a core; while one lives,
// no configuration that is put in place or runs has code or a buffer there; state buffers, which survive like
// residents, never lie where any resident ever lives. Windows are judged with the resident they view.
//
// Candidates come from a list by address, in which what ends below a place is passed over by the largest end of all
// before; only those are asked for common cores, as sets of bits.
#include "runtime/format/verifier/Forms.h"
#include "runtime/format/verifier/Rules.h"

#include <algorithm>
#include <optional>

namespace wsc::format::verifier {

namespace {

constexpr int64_t kCostOfComparison = 16; // of two sets of cores, against a step of a walk

std::string bytesOf(const Resident &resident) {
  return text("bytes ", resident.address, " to ", resident.address + resident.bytes);
}

std::string lifeName(const Executable &executable, const Life &life) {
  return life.entry < 0 ? std::string("always")
                        : text("from step ", life.first, " to ", life.last, " of entry ",
                               executable.entries[size_t(life.entry)].name);
}

// A resident, and when it lives.
struct Occupant {
  int32_t resident;
  Life life;
};

class Occupants {
public:
  Occupants(const Executable &executable, std::vector<Occupant> list) : executable(executable), list(std::move(list)) {
    std::sort(this->list.begin(), this->list.end(), [&](const Occupant &a, const Occupant &b) {
      return std::pair(of(a).address, a.resident) < std::pair(of(b).address, b.resident);
    });
    for (const Occupant &occupant : this->list)
      ends.push_back(std::max(ends.empty() ? 0 : ends.back(), of(occupant).address + of(occupant).bytes));
  }

  const Resident &of(const Occupant &occupant) const { return executable.residents[size_t(occupant.resident)]; }

  // Calls visit(occupant) for those with bytes between `begin` and `end`.
  template <typename Visit> void forEach(int64_t begin, int64_t end, Visit visit) const {
    auto after = std::lower_bound(list.begin(), list.end(), end,
                                  [&](const Occupant &o, int64_t address) { return of(o).address < address; });
    for (size_t i = size_t(after - list.begin()); i > 0 && ends[i - 1] > begin; --i)
      if (const Resident &resident = of(list[i - 1]); resident.bytes > 0 && resident.address + resident.bytes > begin)
        visit(list[i - 1]);
  }

private:
  const Executable &executable;
  std::vector<Occupant> list; // by address
  std::vector<int64_t> ends;  // largest end of the first 1, 2, … of them
};

class OccupancyRules {
public:
  explicit OccupancyRules(const Scope &scope)
      : scope(scope), now(scope.executable, list(true)), ever(scope.executable, list(false)) {}

  void run() {
    for (size_t r = 0; r < scope.configuration.roles.size() && !scope.report.full(); ++r)
      checkRole(int32_t(r), scope.configuration.roles[r]);
  }

private:
  std::vector<Occupant> list(bool onlyNow) const {
    std::vector<Occupant> occupants;
    for (size_t r = 0; r < scope.executable.residents.size(); ++r)
      if (const std::optional<Life> life = scope.lives.during(scope.number(), r))
        occupants.push_back({int32_t(r), *life});
      else if (!onlyNow && scope.lives.everLives(r))
        occupants.push_back({int32_t(r), scope.lives.of(r)[0]});
    return occupants;
  }

  void checkRole(int32_t number, const Role &role) {
    std::optional<CoreSet> cores;
    auto check = [&](const Occupants &among, int64_t begin, int64_t end, const std::string &what) {
      among.forEach(begin, end, [&](const Occupant &occupant) {
        if (!scope.report.spend(kCostOfComparison))
          return;
        if (!cores)
          cores.emplace(role.cores, scope.target());
        const auto core = cores->common(scope.residentCores[size_t(occupant.resident)]);
        if (!core)
          return;
        const Resident &resident = among.of(occupant);
        scope.report.add("resident-overlap", text(scope.number(), "/", number, "/", what, "/", occupant.resident),
                         text("configuration ", scope.configuration.name, ", ", scope.roleName(number), ", ",
                              coreName(core->row, core->col), ": ", what, " at bytes ", begin, " to ", end,
                              " meets resident ", resident.name, " at ", bytesOf(resident), ", which lives there ",
                              lifeName(scope.executable, occupant.life)));
      });
    };
    check(now, 0, codeEnd(scope.target(), role), "runtime, stack and code");
    for (const Buffer &buffer : role.buffers)
      if (buffer.kind != BufferKind::Resident && buffer.bytes > 0)
        check(buffer.kind == BufferKind::State ? ever : now, buffer.address, buffer.address + buffer.bytes,
              text("buffer ", buffer.name));
    for (const Buffer &buffer : role.buffers)
      if (buffer.kind == BufferKind::Resident)
        checkCores(number, role, buffer, cores);
  }

  void checkCores(int32_t number, const Role &role, const Buffer &buffer, std::optional<CoreSet> &cores) {
    if (!scope.report.spend(kCostOfComparison))
      return;
    if (!cores)
      cores.emplace(role.cores, scope.target());
    if (const auto core = cores->outside(scope.residentCores[size_t(buffer.resident)]))
      scope.report.add("resident-cores", text(scope.number(), "/", number, "/", buffer.resident),
                       text(scope.roleName(number), ": buffer ", buffer.name, " is a window of resident ",
                            scope.executable.residents[size_t(buffer.resident)].name, ", which does not lie on ",
                            coreName(core->row, core->col)));
  }

  const Scope &scope;
  Occupants now, ever;
};

// When two residents live at the same time: a life of the one that is not permanent.
std::optional<Life> together(const Lives &lives, size_t a, size_t b) {
  if (lives.isPermanent(a) && lives.isPermanent(b))
    return Life();
  if (lives.isPermanent(a) || lives.isPermanent(b)) {
    const std::vector<Life> &passing = lives.of(lives.isPermanent(a) ? b : a);
    return passing.empty() ? std::nullopt : std::optional(passing[0]);
  }
  // Both lists are in order of entries, with one life each.
  auto x = lives.of(a).begin(), xEnd = lives.of(a).end(), y = lives.of(b).begin(), yEnd = lives.of(b).end();
  while (x != xEnd && y != yEnd) {
    if (x->meets(*y))
      return Life{x->entry, std::max(x->first, y->first), std::min(x->last, y->last)};
    if (x->entry < y->entry)
      ++x;
    else
      ++y;
  }
  return std::nullopt;
}

} // namespace

void checkNeighbours(const Executable &executable, const Lives &lives, const std::vector<CoreSet> &cores,
                     Report &report) {
  std::vector<int32_t> byAddress;
  for (size_t r = 0; r < executable.residents.size(); ++r)
    if (executable.residents[r].bytes > 0 && lives.everLives(r))
      byAddress.push_back(int32_t(r));
  auto of = [&](int32_t r) -> const Resident & { return executable.residents[size_t(r)]; };
  std::sort(byAddress.begin(), byAddress.end(),
            [&](int32_t a, int32_t b) { return std::pair(of(a).address, a) < std::pair(of(b).address, b); });
  for (size_t i = 0; i < byAddress.size(); ++i) {
    const int32_t a = byAddress[i];
    for (size_t j = i + 1; j < byAddress.size() && of(byAddress[j]).address < of(a).address + of(a).bytes; ++j) {
      const int32_t b = byAddress[j];
      if (report.full() || !report.spend(1))
        return;
      const std::optional<Life> life = together(lives, size_t(a), size_t(b));
      if (!life || !report.spend(kCostOfComparison))
        continue;
      if (const auto core = cores[size_t(a)].common(cores[size_t(b)]))
        report.add("resident-overlap", text("residents ", a, "/", b),
                   text("residents ", of(a).name, " at ", bytesOf(of(a)), " and ", of(b).name, " at ", bytesOf(of(b)),
                        " share bytes of ", coreName(core->row, core->col), " and both live there ",
                        lifeName(executable, *life)));
    }
  }
}

void checkOccupants(const Scope &scope) {
  if (!scope.executable.residents.empty())
    OccupancyRules(scope).run();
}

} // namespace wsc::format::verifier
