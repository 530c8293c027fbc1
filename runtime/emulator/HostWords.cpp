// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element by element; lanes are a small part of a sample.
#include "runtime/emulator/HostWords.h"

#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <cstring>

namespace wsc::emulator {

using namespace format;

namespace {

template <typename Visit> void forElements(const IoBinding &binding, const LatticeIndex &index, Visit visit) {
  int64_t extent[kMaxDims];
  for (int d = 0; d < kMaxDims; ++d)
    extent[d] = binding.extent[d].at(index);
  const int64_t offset = binding.hostOffset.at(index);
  for (int64_t i = 0; i < extent[0]; ++i)
    for (int64_t j = 0; j < extent[1]; ++j)
      for (int64_t k = 0; k < extent[2]; ++k)
        for (int64_t l = 0; l < extent[3]; ++l)
          visit(offset + i * binding.stride[0] + j * binding.stride[1] + k * binding.stride[2] + l * binding.stride[3]);
}

} // namespace

void packLane(const IoBinding &binding, const LatticeIndex &index, ElementType type, const HostTensor &tensor, std::byte *words) {
  const int64_t width = elementBytes(type);
  std::byte *at = words;
  forElements(binding, index, [&](int64_t element) {
    std::memcpy(at, tensor.bytes.data() + element * width, size_t(width));
    at += width;
  });
  std::memset(at, 0, size_t((4 - (at - words) % 4) % 4));
}

void unpackLane(const IoBinding &binding, const LatticeIndex &index, ElementType type, const std::byte *words, HostTensor &tensor) {
  const int64_t width = elementBytes(type);
  forElements(binding, index, [&](int64_t element) {
    std::memcpy(tensor.bytes.data() + element * width, words, size_t(width));
    words += width;
  });
}

absl::StatusOr<int64_t> checkLane(const IoBinding &binding, const LatticeIndex &index, ElementType type, int64_t elements) {
  int64_t low = binding.hostOffset.at(index), high = low, count = 1;
  for (int d = 0; d < kMaxDims; ++d) {
    const int64_t extent = binding.extent[d].at(index);
    if (extent <= 0)
      return 0;
    count *= extent;
    (binding.stride[d] < 0 ? low : high) += binding.stride[d] * (extent - 1);
  }
  if (low < 0 || high >= elements)
    return absl::InvalidArgumentError(absl::StrCat("an io binding of tensor ", binding.tensor, " reaches elements ", low, " to ", high,
                                                   ", the tensor has ", elements));
  return timing::fabricWords(type, count);
}

} // namespace wsc::emulator
