// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Run by run along the last dimension. Of a run in a padded binding the part inside the tensor is one stretch; what
// lies before and behind it is padding.
#include "runtime/emulator/HostWords.h"

#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <tuple>

namespace wsc::emulator {

using namespace format;

namespace {

// Calls visit(first element, elements, distance) for every run along the last dimension.
template <typename Visit> void forRuns(const IoBinding &binding, const LatticeIndex &index, Visit visit) {
  int64_t extent[kMaxDims];
  for (int d = 0; d < kMaxDims; ++d)
    extent[d] = binding.extent[d].at(index);
  const int64_t offset = binding.hostOffset.at(index);
  for (int64_t i = 0; i < extent[0]; ++i)
    for (int64_t j = 0; j < extent[1]; ++j)
      for (int64_t k = 0; k < extent[2]; ++k)
        visit(offset + i * binding.stride[0] + j * binding.stride[1] + k * binding.stride[2], extent[3],
              binding.stride[3]);
}

// The elements [begin, end) of a run of `count`, `distance` apart from `element` on, that lie in a tensor of
// `elements`.
std::pair<int64_t, int64_t> inside(int64_t element, int64_t count, int64_t distance, int64_t elements) {
  if (distance == 0)
    return element >= 0 && element < elements ? std::pair(int64_t(0), count) : std::pair(int64_t(0), int64_t(0));
  // The first number whose element is not below `bound` (rising) or not above it (falling).
  auto reach = [&](int64_t bound) {
    const int64_t way = distance > 0 ? bound - element : element - bound, step = std::abs(distance);
    return std::clamp<int64_t>(way <= 0 ? 0 : (way + step - 1) / step, 0, count);
  };
  return distance > 0 ? std::pair(reach(0), reach(elements)) : std::pair(reach(elements - 1), reach(-1));
}

// count elements, `fromStep` and `toStep` bytes apart.
void copyElements(const std::byte *from, int64_t fromStep, std::byte *to, int64_t toStep, int64_t count,
                  int64_t width) {
  if (fromStep == width && toStep == width) {
    std::memcpy(to, from, size_t(std::max<int64_t>(0, count) * width));
    return;
  }
  for (int64_t i = 0; i < count; ++i, from += fromStep, to += toStep)
    switch (width) { // constant sizes become single moves
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    case 2:
      std::memcpy(to, from, 2);
      break;
    default:
      std::memcpy(to, from, 1);
      break;
    }
}

} // namespace

void packLane(const IoBinding &binding, const LatticeIndex &index, ElementType type, HostView tensor,
              std::byte *words) {
  const int64_t width = elementBytes(type);
  std::byte *at = words;
  forRuns(binding, index, [&](int64_t element, int64_t count, int64_t distance) {
    int64_t begin = 0, end = count;
    if (binding.padded && count > 0) {
      std::tie(begin, end) = inside(element, count, distance, int64_t(tensor.size()) / width);
      std::memset(at, 0, size_t(count * width));
    }
    copyElements(tensor.data() + (element + begin * distance) * width, distance * width, at + begin * width, width,
                 end - begin, width);
    at += std::max<int64_t>(0, count) * width;
  });
  std::memset(at, 0, size_t((4 - (at - words) % 4) % 4));
}

void unpackLane(const IoBinding &binding, const LatticeIndex &index, ElementType type, const std::byte *words,
                HostTensor &tensor) {
  const int64_t width = elementBytes(type);
  forRuns(binding, index, [&](int64_t element, int64_t count, int64_t distance) {
    int64_t begin = 0, end = count;
    if (binding.padded && count > 0)
      std::tie(begin, end) = inside(element, count, distance, int64_t(tensor.bytes.size()) / width);
    copyElements(words + begin * width, width, tensor.bytes.data() + (element + begin * distance) * width,
                 distance * width, end - begin, width);
    words += std::max<int64_t>(0, count) * width;
  });
}

absl::StatusOr<int64_t> checkLane(const IoBinding &binding, const LatticeIndex &index, ElementType type,
                                  int64_t elements) {
  int64_t low = binding.hostOffset.at(index), high = low, count = 1;
  for (int d = 0; d < kMaxDims; ++d) {
    const int64_t extent = binding.extent[d].at(index);
    if (extent <= 0)
      return 0;
    count *= extent;
    (binding.stride[d] < 0 ? low : high) += binding.stride[d] * (extent - 1);
  }
  if (!binding.padded && (low < 0 || high >= elements))
    return absl::InvalidArgumentError(absl::StrCat("an io binding of tensor ", binding.tensor, " reaches elements ",
                                                   low, " to ", high, ", the tensor has ", elements));
  return timing::fabricWords(type, count);
}

} // namespace wsc::emulator
