// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <sys/mman.h>

namespace wsc::emulator {

// Allocates large arrays that are touched all over in large pages, so that few of the processor's page entries reach
// all of them; small ones as usual.
template <typename T> struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <typename U> LargePages(const LargePages<U> &) {}
  template <typename U> bool operator==(const LargePages<U> &) const { return true; }

  static constexpr size_t kLarge = size_t(1) << 22, kPage = size_t(1) << 21;

  T *allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    if (bytes < kLarge)
      return std::allocator<T>().allocate(count);
    void *at = ::operator new(bytes, std::align_val_t(kPage));
    madvise(at, bytes, MADV_HUGEPAGE);
    return static_cast<T *>(at);
  }
  void deallocate(T *at, size_t count) {
    if (count * sizeof(T) < kLarge)
      return std::allocator<T>().deallocate(at, count);
    ::operator delete(at, std::align_val_t(kPage));
  }
};

} // namespace wsc::emulator
