// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows are placed through a grid over the resident's bounding box, made once per lattice and configuration.
#include "runtime/emulator/ResidentStore.h"

#include "runtime/emulator/Kernels.h"
#include "runtime/emulator/LatticeWalk.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

namespace wsc::emulator {

using namespace format;

namespace {

// Numbers of a lattice's cores by position.
class LatticeGrid {
public:
  explicit LatticeGrid(const Lattice &lattice) : lattice(lattice) {
    int32_t rowEnd = lattice.row, colEnd = lattice.col;
    row = rowEnd, col = colEnd;
    for (const Lattice::Dim &dim : lattice.dims) {
      const int32_t rows = (dim.count - 1) * dim.rowStep, cols = (dim.count - 1) * dim.colStep;
      row += std::min(0, rows), rowEnd += std::max(0, rows);
      col += std::min(0, cols), colEnd += std::max(0, cols);
    }
    rows = rowEnd - row + 1, cols = colEnd - col + 1;
    numbers.assign(size_t(rows) * size_t(cols), -1);
    int32_t ordinal = 0;
    forEachPoint(lattice, [&](const LatticeIndex &, int32_t r, int32_t c) {
      numbers[size_t(r - row) * size_t(cols) + size_t(c - col)] = ordinal++;
      return true;
    });
  }
  int32_t at(int32_t r, int32_t c) const {
    return r < row || c < col || r >= row + rows || c >= col + cols
               ? -1
               : numbers[size_t(r - row) * size_t(cols) + size_t(c - col)];
  }
  const Lattice lattice;

private:
  int32_t row, col, rows, cols;
  std::vector<int32_t> numbers;
};

} // namespace

absl::StatusOr<std::vector<std::vector<WindowPlace>>> placeWindows(const Executable &executable,
                                                                   const Configuration &configuration) {
  std::vector<LatticeGrid> grids; // of the few lattices that residents have
  std::vector<std::vector<WindowPlace>> places;
  for (const Role &role : configuration.roles) {
    std::vector<std::pair<size_t, std::shared_ptr<const std::vector<int32_t>>>> known; // by grid
    std::vector<WindowPlace> &windows = places.emplace_back(role.buffers.size());
    for (size_t b = 0; b < role.buffers.size(); ++b) {
      const Buffer &buffer = role.buffers[b];
      if (buffer.kind != BufferKind::Resident)
        continue;
      if (buffer.resident < 0 || buffer.resident >= int32_t(executable.residents.size()))
        return absl::InvalidArgumentError(absl::StrCat("role ", role.name, ", buffer ", buffer.name, ": no resident ",
                                                       buffer.resident, "; there are ", executable.residents.size()));
      const Resident &resident = executable.residents[size_t(buffer.resident)];
      size_t g = 0;
      while (g < grids.size() && !(grids[g].lattice == resident.cores))
        ++g;
      if (g == grids.size())
        grids.emplace_back(resident.cores);
      auto found = std::find_if(known.begin(), known.end(), [&](const auto &entry) { return entry.first == g; });
      if (found == known.end()) {
        auto ordinals = std::make_shared<std::vector<int32_t>>();
        ordinals->reserve(size_t(role.cores.size()));
        absl::Status status;
        forEachPoint(role.cores, [&](const LatticeIndex &, int32_t row, int32_t col) {
          ordinals->push_back(grids[g].at(row, col));
          if (ordinals->back() < 0)
            status = absl::InvalidArgumentError(absl::StrCat("role ", role.name, " runs on core (", row, ", ", col,
                                                             "), where resident ", resident.name, " of its buffer ",
                                                             buffer.name, " is not"));
          return status.ok();
        });
        if (!status.ok())
          return status;
        known.emplace_back(g, std::move(ordinals));
        found = known.end() - 1;
      }
      windows[b] = {buffer.resident, found->second, buffer.residentOffset, buffer.runStep};
    }
  }
  return places;
}

ResidentStore::ResidentStore(const Executable &executable)
    : executable(executable), areas(executable.residents.size()), begin(executable.residents.size()) {
  for (const Resident &resident : executable.residents) {
    areaOf.push_back(int32_t(areaOf.size()));
    strides.push_back((resident.bytes + 15) / 16 * 16);
    areas[size_t(areaOf.back())].bytes = strides.back() * resident.cores.size() + kSlackBytes;
  }
}

void ResidentStore::share(std::span<const std::vector<std::vector<int32_t>>> entries) {
  std::vector<int> users(executable.residents.size());
  for (const std::vector<std::vector<int32_t>> &runs : entries) {
    std::set<int32_t> used;
    for (const std::vector<int32_t> &run : runs)
      used.insert(run.begin(), run.end());
    for (int32_t resident : used)
      ++users[size_t(resident)];
  }
  for (const std::vector<std::vector<int32_t>> &runs : entries) {
    std::map<int32_t, size_t> lastRun;
    for (size_t r = 0; r < runs.size(); ++r)
      for (int32_t resident : runs[r])
        lastRun[resident] = r;
    std::set<std::pair<int64_t, int32_t>> unused; // bytes, area
    std::set<int32_t> alive;
    for (size_t r = 0; r < runs.size(); ++r) {
      for (int32_t resident : runs[r]) {
        if (!hasMemory(resident) || executable.residents[size_t(resident)].state >= 0 || users[size_t(resident)] > 1 ||
            !alive.insert(resident).second)
          continue;
        // The smallest one that is large enough, else the largest one grows.
        const int64_t bytes = areaFor(resident).bytes;
        auto found = unused.lower_bound({bytes, -1});
        if (found == unused.end() && !unused.empty())
          --found;
        if (found == unused.end())
          continue; // its own
        areaOf[size_t(resident)] = found->second;
        Area &area = areaFor(resident);
        area.bytes = std::max(area.bytes, bytes);
        unused.erase(found);
      }
      for (int32_t resident : runs[r])
        if (lastRun[resident] == r && alive.contains(resident))
          unused.emplace(areaFor(resident).bytes, areaOf[size_t(resident)]);
    }
  }
}

absl::Status ResidentStore::need(std::span<const int32_t> residents) {
  for (int32_t r : residents) {
    if (!hasMemory(r))
      continue;
    Area &area = areaFor(r);
    begin[size_t(r)] = area.pages.need(area.bytes);
    const Resident &resident = executable.residents[size_t(r)];
    if (!begin[size_t(r)])
      return absl::ResourceExhaustedError(absl::StrCat("no memory for resident ", resident.name, ": ", resident.bytes,
                                                       " bytes on each of ", resident.cores.size(), " cores"));
    if (area.holder == r)
      continue;
    if (!area.isClean)
      area.pages.zero();
    area.holder = r;
    area.isClean = false;
  }
  return absl::OkStatus();
}

void ResidentStore::forget(std::span<const int32_t> residents) {
  for (int32_t r : residents)
    if (hasMemory(r) && executable.residents[size_t(r)].state < 0 && areaFor(r).holder == r)
      areaFor(r).holder = -1;
}

std::byte *ResidentStore::core(int32_t number, int64_t ordinal) const {
  const Resident &resident = executable.residents[size_t(number)];
  if (resident.section < 0)
    return begin[size_t(number)] + ordinal * strides[size_t(number)];
  // Programs that write it are refused by the verifier.
  std::byte *section = const_cast<std::byte *>(executable.sections[size_t(resident.section)].bytes.data());
  return section + (resident.sectionOffset.isConstant()
                        ? resident.sectionOffset.constant
                        : resident.sectionOffset.at(latticeIndex(resident.cores, ordinal)));
}

// Calls visit(ordinal, byte offset on the core, byte offset in the variable, bytes) for the part of the variable that
// each core holds.
template <typename Visit> void ResidentStore::forStatePieces(int32_t number, int64_t hostBytes, Visit visit) const {
  const Resident &resident = executable.residents[size_t(number)];
  const int64_t width = elementBytes(executable.states[size_t(resident.state)].tensor.type);
  const int64_t room = resident.bytes / width * width;
  int64_t ordinal = 0;
  forEachPoint(resident.cores, [&](const LatticeIndex &index, int32_t, int32_t) {
    const int64_t from = resident.stateOffset.at(index) * width;
    const int64_t begin = std::clamp<int64_t>(from, 0, hostBytes),
                  end = std::clamp<int64_t>(from + room, begin, hostBytes);
    visit(ordinal++, begin - from, begin, end - begin);
    return true;
  });
}

absl::Status ResidentStore::load(int32_t state, std::span<const std::byte> host) {
  for (int32_t r = 0; r < int32_t(executable.residents.size()); ++r) {
    if (executable.residents[size_t(r)].state != state)
      continue;
    if (absl::Status status = need({&r, 1}); !status.ok())
      return status;
    areaFor(r).pages.clear();
    forStatePieces(r, int64_t(host.size()), [&](int64_t ordinal, int64_t at, int64_t from, int64_t bytes) {
      if (bytes > 0)
        std::memcpy(core(r, ordinal) + at, host.data() + from, size_t(bytes));
    });
  }
  return absl::OkStatus();
}

void ResidentStore::store(int32_t state, std::span<std::byte> host) const {
  for (int32_t r = 0; r < int32_t(executable.residents.size()); ++r)
    if (executable.residents[size_t(r)].state == state && begin[size_t(r)])
      forStatePieces(r, int64_t(host.size()), [&](int64_t ordinal, int64_t at, int64_t to, int64_t bytes) {
        if (bytes > 0)
          std::memcpy(host.data() + to, core(r, ordinal) + at, size_t(bytes));
      });
}

} // namespace wsc::emulator
