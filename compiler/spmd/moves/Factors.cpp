// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/Factors.h"

#include "compiler/spmd/moves/CutDims.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <utility>

namespace wsc::spmd {

namespace {

/// A digit of a piece that lies within one dimension of the source (or repeats it) and one of the result.
struct Digit {
  int64_t extent = 1;
  int64_t sourceStep = 0, wantedStep = 0; // in indices of the dimensions
  int32_t sourceDim = -1, wantedDim = -1; // -1: the digit repeats the source; extent 1 digits are left out
  bool isReversed = false;                // the source's indices descend
};

std::vector<int64_t> pitches(const std::vector<int64_t> &extents) {
  std::vector<int64_t> result(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;)
    result[d - 1] = result[d] * extents[d];
  return result;
}

/// The index in each dimension of a flat number.
std::vector<int64_t> unflatten(int64_t number, const std::vector<int64_t> &shape) {
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = shape[d] > 0 ? number % shape[d] : 0;
    number = shape[d] > 0 ? number / shape[d] : 0;
  }
  return index;
}

/// The dimension in which `extent` steps of `stride` flat elements begin, and how many of them stay within it.
struct Fit {
  int32_t dim = -1;
  int64_t step = 0, within = 0;
};
std::optional<Fit> fit(int64_t stride, const std::vector<int64_t> &shape, const std::vector<int64_t> &strides) {
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && stride >= strides[d] && stride % strides[d] == 0 && stride / strides[d] < shape[d]) {
      const int64_t step = stride / strides[d];
      return Fit{int32_t(d), step, (shape[d] + step - 1) / step};
    }
  return std::nullopt;
}

/// A piece's least elements of source and result. A digit along which both descend ascends along both instead.
struct Corner {
  int64_t source = 0, result = 0;
};
Corner cornerOf(const StridedPiece &piece) {
  Corner corner{piece.sourceOffset, piece.resultOffset};
  for (const Piece::Digit &digit : piece.digits) {
    corner.source += std::min<int64_t>(0, (digit.extent - 1) * digit.sourceStride);
    corner.result += std::min<int64_t>(0, (digit.extent - 1) * digit.resultStride);
  }
  return corner;
}

/// A dimension and the one behind it that a digit walks without dividing there.
struct Crossing {
  bool isSource = false;
  size_t dim = 0;
};

/// Why `extent` steps of `stride` do not fit: the dimension in which they begin and the one behind it, whose extent
/// does not divide the stride.
std::optional<Crossing> crossingOf(int64_t stride, bool isSource, const std::vector<int64_t> &strides) {
  for (size_t d = 0; d + 1 < strides.size(); ++d)
    if (stride > strides[d])
      return Crossing{isSource, d};
  return std::nullopt;
}

/// Splits the piece's digits at the borders of dimensions. Where one does not divide there, nothing, and `crossing` if
/// there is one.
std::optional<std::vector<Digit>> split(const StridedPiece &piece, const std::vector<int64_t> &sourceShape,
                                        const std::vector<int64_t> &wantedShape,
                                        std::optional<Crossing> *crossing = nullptr) {
  const std::vector<int64_t> sourceStrides = pitches(sourceShape), wantedStrides = pitches(wantedShape);
  std::vector<Digit> digits;
  std::vector<Piece::Digit> work(piece.digits.rbegin(), piece.digits.rend());
  auto failed = [&](std::optional<Crossing> where) {
    if (crossing)
      *crossing = where;
    return std::nullopt;
  };
  while (!work.empty()) {
    Piece::Digit digit = work.back();
    work.pop_back();
    if (digit.extent == 1)
      continue;
    if (digit.resultStride == 0)
      return std::nullopt;
    const bool isReversed = (digit.sourceStride < 0) != (digit.resultStride < 0) && digit.sourceStride != 0;
    digit.sourceStride = std::abs(digit.sourceStride);
    digit.resultStride = std::abs(digit.resultStride);
    const auto to = fit(digit.resultStride, wantedShape, wantedStrides);
    if (!to)
      return failed(crossingOf(digit.resultStride, false, wantedStrides));
    int64_t within = to->within;
    bool isSource = false; // which dimension is the shorter one
    std::optional<Fit> from;
    if (digit.sourceStride > 0) {
      from = fit(digit.sourceStride, sourceShape, sourceStrides);
      if (!from)
        return failed(crossingOf(digit.sourceStride, true, sourceStrides));
      isSource = from->within < within;
      within = std::min(within, from->within);
    }
    if (digit.extent > within) {
      if (within < 2 || digit.extent % within != 0) {
        const int32_t dim = isSource ? from->dim : to->dim;
        return failed(dim > 0 ? std::optional<Crossing>({isSource, size_t(dim) - 1}) : std::nullopt);
      }
      const int64_t sign = isReversed ? -1 : 1;
      work.push_back({digit.extent / within, sign * digit.sourceStride * within, digit.resultStride * within});
      digit.extent = within;
    }
    digits.push_back({digit.extent, from ? from->step : 0, to->step, from ? from->dim : -1, to->dim, isReversed});
  }
  return digits;
}

/// The same, with dimensions joined that digits cross: windows of 7 of an image that is held in pairs.
std::optional<std::vector<Digit>> splitJoined(const StridedPiece &piece, Sharding &source, Sharding &wanted) {
  for (;;) {
    std::optional<Crossing> crossing;
    if (auto digits = split(piece, source.shape, wanted.shape, &crossing))
      return digits;
    if (!crossing)
      return std::nullopt;
    Sharding &side = crossing->isSource ? source : wanted;
    auto joined = withJoinedDims(side, crossing->dim);
    if (!joined)
      return std::nullopt;
    side = *std::move(joined);
  }
}

/// Per dimension the steps at which a piece's digits walk it part by part: those of digits beyond what the smaller ones
/// reach.
std::vector<std::set<int64_t>> cutsOf(const std::vector<Digit> &digits, int32_t Digit::*dim, int64_t Digit::*step,
                                      const std::vector<int64_t> &offset) {
  std::vector<std::vector<std::pair<int64_t, int64_t>>> walks(offset.size()); // steps, extents
  for (const Digit &digit : digits)
    if (digit.*dim >= 0)
      walks[size_t(digit.*dim)].emplace_back(digit.*step, digit.extent);
  std::vector<std::set<int64_t>> cuts(offset.size());
  for (size_t d = 0; d < walks.size(); ++d) {
    std::sort(walks[d].begin(), walks[d].end());
    int64_t reach = 0; // of the digits so far
    for (size_t i = 0; i < walks[d].size(); ++i) {
      const int64_t cut = walks[d][i].first;
      if (i > 0 && offset[d] % cut + reach < cut)
        cuts[d].insert(cut);
      reach += (walks[d][i].second - 1) * cut;
    }
  }
  return cuts;
}

/// Cuts dimensions of both sides where the piece's digits lie one in another, as far as shardings divide there, so that
/// each has factors of its own: rows and columns of an image that is cut into windows.
void cutDims(const StridedPiece &piece, Sharding &source, Sharding &wanted, std::vector<Digit> &digits) {
  const Corner corner = cornerOf(piece);
  Sharding from = withCutDims(
               source, cutsOf(digits, &Digit::sourceDim, &Digit::sourceStep, unflatten(corner.source, source.shape))),
           to = withCutDims(
               wanted, cutsOf(digits, &Digit::wantedDim, &Digit::wantedStep, unflatten(corner.result, wanted.shape)));
  if (from.dims.size() == source.dims.size() && to.dims.size() == wanted.dims.size())
    return;
  if (auto cut = split(piece, from.shape, to.shape)) {
    source = std::move(from);
    wanted = std::move(to);
    digits = *std::move(cut);
  }
}

/// What index i − offset of a dimension adds, by its digits (the largest step first); −1: not an element of the piece.
struct Share {
  int64_t extent, step, weight;
  bool isReversed = false;
  int64_t at(int64_t digit) const { return (isReversed ? extent - 1 - digit : digit) * weight; }
};
std::vector<int64_t> partsOf(int64_t extent, int64_t offset, std::vector<Share> shares) {
  std::sort(shares.begin(), shares.end(), [](const Share &a, const Share &b) { return a.step > b.step; });
  std::vector<int64_t> parts(size_t(extent), -1);
  parts[size_t(offset)] = 0;
  for (const Share &share : shares)
    parts[size_t(offset)] += share.at(0);
  int64_t span = 1; // indices that the shares so far reach
  bool isNested = true;
  for (auto share = shares.rbegin(); share != shares.rend(); ++share) {
    isNested &= share->step >= span;
    for (int64_t digit = 1; digit < share->extent && isNested; ++digit)
      for (int64_t i = offset; i < offset + span; ++i)
        if (parts[size_t(i)] >= 0)
          parts[size_t(i + digit * share->step)] = parts[size_t(i)] + share->at(digit) - share->at(0);
    span += (share->extent - 1) * share->step;
  }
  // Where digits overlap an index may have several decompositions: the one with the largest digits counts.
  for (int64_t i = offset; i < extent && !isNested; ++i) {
    int64_t rest = i - offset, part = 0;
    for (const Share &share : shares) {
      const int64_t digit = std::min(rest / share.step, share.extent - 1);
      rest -= digit * share.step;
      part += share.at(digit);
    }
    parts[size_t(i)] = rest == 0 ? part : -1;
  }
  return parts;
}

/// Puts next(entry, 0) … next(entry, count − 1) in the place of each entry.
template <typename Entry, typename Next> void expand(std::vector<Entry> &entries, int64_t count, Next next) {
  const size_t before = entries.size(), times = size_t(count);
  entries.resize(before * times);
  for (size_t e = before; e-- > 0;) {
    const Entry entry = entries[e];
    for (size_t i = times; i-- > 0;)
      entries[e * times + i] = next(entry, int64_t(i));
  }
}

/// Positions along a dimension that a core holds, in local order; those outside of the tensor too.
void findPositions(const DimSharding &dim, int32_t row, int32_t col, std::vector<int64_t> &positions) {
  positions.assign(1, dim.base);
  for (const MeshDigit &digit : dim.mesh)
    positions[0] += digit.at(digit.axis == Axis::Row ? row : col);
  for (const LocalDigit &digit : dim.local)
    expand(positions, digit.count, [&](int64_t position, int64_t i) { return position + i * digit.step; });
}

bool depends(const DimSharding &dim, Axis axis) {
  return std::any_of(dim.mesh.begin(), dim.mesh.end(),
                     [&](const MeshDigit &digit) { return digit.axis == axis && digit.step != 0; });
}

std::vector<int64_t> localPitches(const Sharding &sharding) {
  std::vector<int64_t> extents;
  for (const DimSharding &dim : sharding.dims)
    extents.push_back(dim.localExtent());
  return pitches(extents);
}

FactorList product(const Sharding &sharding, const std::vector<size_t> &dims, const std::vector<int64_t> &pitch,
                   const std::vector<std::vector<int64_t>> &parts, int32_t row, int32_t col) {
  FactorList list{{0, 0}};
  thread_local std::vector<int64_t> positions; // called for every core
  for (size_t d : dims) {
    findPositions(sharding.dims[d], row, col, positions);
    expand(list, int64_t(positions.size()), [&](const FactorEntry &outer, int64_t i) {
      const int64_t at = positions[size_t(i)];
      const int64_t part = at < 0 || at >= sharding.shape[d] ? kBeyond : parts[d][size_t(at)];
      return FactorEntry{joined(outer.id, part, outer.id + part), outer.offset + i * pitch[d]};
    });
  }
  return list;
}

} // namespace

std::optional<Factors> Factors::of(const Sharding &wholeSource, const Sharding &wholeWanted, const StridedPiece &piece,
                                   bool cuts) {
  Factors made;
  made.from = wholeSource;
  made.to = wholeWanted;
  auto digits = cuts ? splitJoined(piece, made.from, made.to) : split(piece, made.from.shape, made.to.shape);
  if (!digits)
    return std::nullopt;
  if (cuts)
    cutDims(piece, made.from, made.to, *digits);
  const Sharding &source = made.from, &wanted = made.to;
  made.fromPitch = localPitches(source);
  made.toPitch = localPitches(wanted);
  // Dimensions that share a digit belong together; those of the result behind those of the source.
  const size_t numSource = source.shape.size(), numDims = numSource + wanted.shape.size();
  std::vector<size_t> group(numDims);
  std::iota(group.begin(), group.end(), size_t(0));
  auto find = [&](size_t d) {
    while (group[d] != d)
      d = group[d] = group[group[d]];
    return d;
  };
  for (const Digit &digit : *digits)
    if (digit.sourceDim >= 0)
      group[find(size_t(digit.sourceDim))] = find(numSource + size_t(digit.wantedDim));
  std::vector<std::vector<Share>> shares(numDims);
  std::vector<int32_t> factorOf(numDims, -1);
  for (size_t d = 0; d < numDims; ++d) {
    const size_t root = find(d);
    if (factorOf[root] < 0) {
      factorOf[root] = int32_t(made.factors.size());
      made.factors.emplace_back();
    }
    factorOf[d] = factorOf[root];
    Factor &factor = made.factors[size_t(factorOf[d])];
    const bool isSource = d < numSource;
    (isSource ? factor.sourceDims : factor.wantedDims).push_back(isSource ? d : d - numSource);
    const DimSharding &dim = isSource ? source.dims[d] : wanted.dims[d - numSource];
    (isSource ? factor.heldByRow : factor.wantedByRow) |= depends(dim, Axis::Row);
    (isSource ? factor.heldByCol : factor.wantedByCol) |= depends(dim, Axis::Col);
  }
  for (const Factor &factor : made.factors)
    if (factor.heldByRow && factor.heldByCol)
      return std::nullopt;
  for (const Digit &digit : *digits) {
    const size_t to = numSource + size_t(digit.wantedDim);
    if (digit.sourceDim < 0) {
      shares[to].push_back({digit.extent, digit.wantedStep, 0});
      continue;
    }
    Factor &factor = made.factors[size_t(factorOf[to])];
    shares[size_t(digit.sourceDim)].push_back({digit.extent, digit.sourceStep, factor.size, digit.isReversed});
    shares[to].push_back({digit.extent, digit.wantedStep, factor.size});
    factor.size *= digit.extent;
  }
  const Corner corner = cornerOf(piece);
  const std::vector<int64_t> fromOffset = unflatten(corner.source, source.shape),
                             toOffset = unflatten(corner.result, wanted.shape);
  for (size_t d = 0; d < numDims; ++d) {
    // A piece that begins inside of a dimension may not run over its end.
    const bool isSource = d < numSource;
    int64_t last = isSource ? fromOffset[d] : toOffset[d - numSource];
    for (const Share &share : shares[d])
      last += (share.extent - 1) * share.step;
    if (last >= (isSource ? source.shape[d] : wanted.shape[d - numSource]))
      return std::nullopt;
  }
  for (size_t d = 0; d < numSource; ++d)
    made.fromPart.push_back(partsOf(source.shape[d], fromOffset[d], shares[d]));
  for (size_t d = 0; d < wanted.shape.size(); ++d)
    made.toPart.push_back(partsOf(wanted.shape[d], toOffset[d], shares[numSource + d]));
  return made;
}

FactorList Factors::held(size_t factor, int32_t row, int32_t col) const {
  return product(from, factors[factor].sourceDims, fromPitch, fromPart, row - from.rectangle.row,
                 col - from.rectangle.col);
}

FactorList Factors::wanted(size_t factor, int32_t row, int32_t col) const {
  return product(to, factors[factor].wantedDims, toPitch, toPart, row - to.rectangle.row, col - to.rectangle.col);
}

std::vector<int64_t> Factors::wantedKey(size_t factor, Axis axis, int32_t coordinate) const {
  std::vector<int64_t> key;
  for (size_t d : factors[factor].wantedDims)
    for (const MeshDigit &digit : to.dims[d].mesh)
      if (digit.axis == axis)
        key.push_back(digit.at(coordinate - (axis == Axis::Row ? to.rectangle.row : to.rectangle.col)));
  return key;
}

} // namespace wsc::spmd
