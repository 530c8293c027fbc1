// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/roles/RoleLattice.h"

#include "compiler/kernels/roles/Numbers.h"

namespace wsc::kernels {

using namespace format;

namespace {

// Lattice dimension of step `i` of `steps`: rows take those before the columns'.
int dimensionOf(size_t i, size_t steps) { return kColumnDim - int(steps) + int(i); }

std::vector<int64_t> constantsOf(Role &role) {
  std::vector<int64_t> constants;
  for (const Affine *number : numbersOf(role))
    constants.push_back(number->constant);
  return constants;
}

// Cuts the outermost dimension in two.
std::array<RoleClass, 2> halves(const RoleClass &rowClass) {
  std::array<RoleClass, 2> result{rowClass, rowClass};
  const RoleClass::Step &outer = rowClass.steps.front();
  int32_t half = outer.count / 2;
  result[1].group += half * outer.groupStep;
  result[1].slice += half * outer.sliceStep;
  result[0].steps.front().count = half;
  result[1].steps.front().count = outer.count - half;
  for (RoleClass &part : result)
    if (part.steps.front().count == 1)
      part.steps.erase(part.steps.begin());
  return result;
}

} // namespace

absl::Status generateRoles(const KernelRows &rows, RoleClass rowClass, SectionTable &sections, GenerationCounts &counts,
                           std::vector<ClassRole> &out) {
  auto generate = [&](int64_t group, int64_t slice) {
    ++counts.programs;
    return rows.role(rows.row(group, slice, rowClass.part.share), rowClass.part, sections);
  };
  auto first = generate(rowClass.group, rowClass.slice);
  if (!first.ok())
    return first.status();
  const std::string structure = structureOf(*first);
  const std::vector<int64_t> constants = constantsOf(*first);
  Role role = *std::move(first);
  std::vector<Affine *> numbers = numbersOf(role);

  // Whether the row at (group, slice) has the first row's structure; its constants.
  bool regular = true;
  auto read = [&](int64_t group, int64_t slice) -> absl::StatusOr<std::vector<int64_t>> {
    auto other = generate(group, slice);
    if (!other.ok())
      return other.status();
    regular &= structureOf(*other) == structure;
    return constantsOf(*other);
  };
  std::vector<int64_t> expected = constants; // of the last row
  int64_t lastGroup = rowClass.group, lastSlice = rowClass.slice, told = 0;
  for (size_t i = 0; i < rowClass.steps.size() && regular; ++i) {
    const RoleClass::Step &step = rowClass.steps[i];
    auto second = read(rowClass.group + step.groupStep, rowClass.slice + step.sliceStep);
    if (!second.ok())
      return second.status();
    if (!regular)
      break;
    int dim = dimensionOf(i, rowClass.steps.size());
    role.cores.dims[dim] = {step.count, step.rowStep, 0};
    for (size_t n = 0; n < numbers.size(); ++n) {
      numbers[n]->perDim[dim] = (*second)[n] - constants[n];
      expected[n] += (step.count - 1) * numbers[n]->perDim[dim];
    }
    lastGroup += (step.count - 1) * step.groupStep;
    lastSlice += (step.count - 1) * step.sliceStep;
    told += step.count - 1;
  }
  if (regular && told > 1) {
    auto last = read(lastGroup, lastSlice);
    if (!last.ok())
      return last.status();
    regular &= *last == expected;
  }
  if (!regular) {
    for (RoleClass &half : halves(rowClass))
      if (auto status = generateRoles(rows, std::move(half), sections, counts, out); !status.ok())
        return status;
    return absl::OkStatus();
  }
  ++counts.roles;
  out.push_back({std::move(role), rows.row(rowClass.group, rowClass.slice, rowClass.part.share).out});
  return absl::OkStatus();
}

} // namespace wsc::kernels
