// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/roles/Merge.h"

#include "compiler/kernels/roles/Numbers.h"
#include "compiler/kernels/roles/RowCover.h"

#include <map>
#include <string>

namespace wsc::kernels {

using namespace format;

std::vector<IoBinding> mergeIo(std::vector<IoBinding> rows) {
  std::map<std::string, size_t> groupOf;
  std::vector<std::vector<RowPoint>> groups;
  for (size_t i = 0; i < rows.size(); ++i) {
    RowPoint point{rows[i].ports.row, i, {}};
    for (const Affine *number : numbersOf(rows[i]))
      point.numbers.push_back(number->constant);
    auto [it, isNew] = groupOf.try_emplace(structureOf(rows[i]), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[it->second].push_back(std::move(point));
  }
  std::vector<IoBinding> result;
  for (std::vector<RowPoint> &points : groups)
    for (const RowLattice &lattice : coverRows(std::move(points))) {
      IoBinding &binding = result.emplace_back(rows[lattice.first.item]);
      std::vector<Affine *> numbers = numbersOf(binding);
      for (int level = 0; level < 3; ++level) {
        const RowLattice::Level &step = lattice.levels[level];
        if (step.count == 1)
          continue;
        binding.ports.dims[2 - level] = {step.count, step.rowStep, 0};
        for (size_t n = 0; n < numbers.size(); ++n)
          numbers[n]->perDim[2 - level] = step.slope[n];
      }
    }
  return result;
}

} // namespace wsc::kernels
