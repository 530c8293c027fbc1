// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work per element is the same for every choice of loops; set-up and loop iterations are not, so the extents take the
// dimensions with the largest product that the opcode allows. Which of them is innermost decides how many accesses to
// SRAM an element takes: the one along which the fewest operands jump.
#include "compiler/spmd/local/VectorWalk.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdlib>

namespace wsc::spmd {

using namespace format;

namespace {

constexpr int kDst = 0, kA = 1;

std::vector<WalkDim> joined(std::vector<WalkDim> dims) {
  if (std::none_of(dims.begin(), dims.end(), [](const WalkDim &dim) { return dim.ordered; }))
    std::stable_sort(dims.begin(), dims.end(), [](const WalkDim &x, const WalkDim &y) {
      return std::abs(x.stride[kDst]) > std::abs(y.stride[kDst]);
    });
  std::vector<WalkDim> result;
  for (const WalkDim &dim : dims) {
    if (dim.extent == 1)
      continue;
    auto follows = [&](const WalkDim &outer) {
      bool even = outer.ordered == dim.ordered;
      for (size_t o = 0; o < dim.stride.size(); ++o)
        even = even && outer.stride[o] == dim.stride[o] * dim.extent;
      return even;
    };
    if (!result.empty() && follows(result.back())) {
      result.back().stride = dim.stride;
      result.back().extent *= dim.extent;
    } else {
      result.push_back(dim);
    }
  }
  return result;
}

bool isReduction(Opcode opcode) { return opcode >= Opcode::ReduceAdd && opcode <= Opcode::ReduceMax; }

class Arrangement {
public:
  Arrangement(const Instruction &head, const std::vector<WalkDim> &dims) : head(head), dims(dims) {
    for (size_t d = 0; d < dims.size(); ++d)
      (dims[d].ordered ? ordered : free).push_back(d);
    std::stable_sort(free.begin(), free.end(), [&](size_t x, size_t y) { return dims[x].extent > dims[y].extent; });
  }

  // Sets `extents` (at most four, outermost first) and `loops`.
  void run() {
    if (head.opcode == Opcode::Gather)
      return arrangeGather();
    size_t most = isReduction(head.opcode) ? std::min<size_t>(ordered.size(), kMaxDims) : 0, best = 0;
    int64_t bestPoints = 0;
    for (size_t inside = 0; inside <= most; ++inside) {
      int64_t points = 1;
      for (size_t i = 0; i < std::min(free.size(), kMaxDims - inside); ++i)
        points *= dims[free[i]].extent;
      for (size_t i = ordered.size() - inside; i < ordered.size(); ++i)
        points *= dims[ordered[i]].extent;
      if (points > bestPoints) {
        bestPoints = points;
        best = inside;
      }
    }
    split(std::min(free.size(), kMaxDims - best), ordered.size() - best);
    std::sort(extents.begin(), extents.end());
    // An ordered dimension may only go innermost if it is the last of them.
    size_t lastOrdered = best > 0 ? ordered.back() : dims.size();
    auto innermost = extents.end();
    for (auto d = extents.begin(); d != extents.end(); ++d)
      if ((!dims[*d].ordered || *d == lastOrdered) && (innermost == extents.end() || jumps(*d) <= jumps(*innermost)))
        innermost = d;
    if (innermost != extents.end())
      std::rotate(innermost, innermost + 1, extents.end());
  }

  std::vector<size_t> extents, loops;
  bool innermostIsFree = false; // Gather: no dimension can be innermost

private:
  const Instruction &head;
  const std::vector<WalkDim> &dims;
  std::vector<size_t> free, ordered; // free: longest first

  // The first `numFree` free and the ordered dimensions from number `firstOrdered` on are extents, the others loops,
  // shortest outermost and ordered ones innermost.
  void split(size_t numFree, size_t firstOrdered) {
    extents.assign(free.begin(), free.begin() + std::ptrdiff_t(numFree));
    extents.insert(extents.end(), ordered.begin() + std::ptrdiff_t(firstOrdered), ordered.end());
    loops.assign(free.rbegin(), free.rend() - std::ptrdiff_t(numFree));
    loops.insert(loops.end(), ordered.begin(), ordered.begin() + std::ptrdiff_t(firstOrdered));
  }

  void arrangeGather() {
    auto still = std::find_if(free.begin(), free.end(), [&](size_t d) { return dims[d].stride[kA] == 0; });
    size_t innermost = still == free.end() ? dims.size() : *still;
    innermostIsFree = still == free.end();
    if (!innermostIsFree)
      free.erase(still);
    split(std::min<size_t>(free.size(), kMaxDims - 1), ordered.size());
    std::sort(extents.begin(), extents.end());
    if (!innermostIsFree)
      extents.push_back(innermost);
  }

  // How much the operands jump along a dimension; a result that does takes twice the cycles.
  int jumps(size_t d) const {
    int64_t bytes = elementBytes(head.type),
            sourceBytes = head.opcode == Opcode::Convert || head.mixed ? elementBytes(head.sourceType) : bytes;
    int count = 0;
    for (size_t o = 0; o < dims[d].stride.size(); ++o) {
      int64_t stride = dims[d].stride[o];
      if (stride != 0 && stride != (o == kDst ? bytes : sourceBytes))
        count += o == kDst ? 2 : 1;
    }
    return count;
  }
};

} // namespace

absl::Status emitWalk(Thread &code, int openLoops, Instruction head, const std::vector<WalkDim> &all,
                      int64_t numberStride) {
  std::vector<WalkDim> dims = joined(all);
  Arrangement arrangement(head, dims);
  arrangement.run();
  if (openLoops + int(arrangement.loops.size()) > kMaxDims)
    return absl::ResourceExhaustedError(absl::StrCat(std::string(opcodeInfo(head.opcode).name), " over ", dims.size(),
                                                     " dimensions needs ", arrangement.loops.size(),
                                                     " loops beside its extents inside ", openLoops,
                                                     " others, limit is ", kMaxDims, " in all"));
  Operand *operands[3] = {&head.dst, &head.a, &head.b};
  for (size_t l = 0; l < arrangement.loops.size(); ++l) {
    const WalkDim &dim = dims[arrangement.loops[l]];
    Instruction loop;
    loop.opcode = Opcode::Loop;
    loop.extent[0] = Affine(dim.extent);
    code.push_back(loop);
    for (size_t o = 0; o < dim.stride.size(); ++o)
      operands[o]->loopStep[size_t(openLoops) + l] = int32_t(dim.stride[o]);
  }
  size_t at = kMaxDims - arrangement.extents.size() - (arrangement.innermostIsFree ? 1 : 0);
  for (size_t d : arrangement.extents) {
    head.extent[at] = Affine(dims[d].extent);
    for (size_t o = 0; o < dims[d].stride.size(); ++o)
      operands[o]->stride[at] = int32_t(dims[d].stride[o]);
    ++at;
  }
  if (head.opcode == Opcode::Gather)
    head.a.stride[kMaxDims - 1] = int32_t(numberStride);
  code.push_back(head);
  Instruction end;
  end.opcode = Opcode::EndLoop;
  code.insert(code.end(), arrangement.loops.size(), end);
  return absl::OkStatus();
}

bool isInjective(std::vector<std::pair<int64_t, int64_t>> strideAndExtent, int64_t elementBytes) {
  for (auto &[stride, extent] : strideAndExtent)
    stride = std::abs(stride);
  std::sort(strideAndExtent.begin(), strideAndExtent.end());
  int64_t reach = elementBytes;
  for (auto [stride, extent] : strideAndExtent) {
    if (extent <= 1)
      continue;
    if (stride < reach)
      return false;
    reach += stride * (extent - 1);
  }
  return true;
}

} // namespace wsc::spmd
