// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Zeroed memory that is only backed once touched; what the heap holds beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <utility>

namespace wsc::emulator {

// Behind the release of large tables: gives the system what the heap holds of them for later use. Takes some
// milliseconds.
inline void trimHeap() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

class Pages {
public:
  enum class Size { Large, Small }; // whether what is touched is mostly touched whole, so that large pages pay

  Pages() = default;
  Pages(Pages &&other) noexcept : base(std::exchange(other.base, nullptr)), bytes(std::exchange(other.bytes, 0)) {}
  Pages &operator=(Pages &&other) noexcept {
    std::swap(base, other.base);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~Pages() { release(); }

  // At least `wanted` bytes; null when there is no address space for them. Contents are kept, or zero where the memory
  // is new.
  std::byte *need(int64_t wanted, Size size = Size::Large) {
    if (wanted > bytes) {
      release();
      void *mapped =
          mmap(nullptr, size_t(wanted), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (mapped == MAP_FAILED)
        return nullptr;
      if (size == Size::Large)
        madvise(mapped, size_t(wanted), MADV_HUGEPAGE);
      base = static_cast<std::byte *>(mapped);
      bytes = wanted;
    }
    return base;
  }
  std::byte *get() const { return base; }
  bool holds(const std::byte *at) const { return at >= base && at < base + bytes; }

  // All zero; memory that was touched stays, which is quicker to fill than to get again. As clear() where the system
  // does not say what was touched.
  void zero();

  // All zero; large areas give their memory back.
  void clear() {
    if (bytes > kCheaperByHand)
      madvise(base, size_t(bytes), MADV_DONTNEED);
    else if (base)
      std::memset(base, 0, size_t(bytes));
  }

private:
  static constexpr int64_t kCheaperByHand = 1 << 16;
  void release() {
    if (base)
      munmap(base, size_t(bytes));
    base = nullptr;
    bytes = 0;
  }
  std::byte *base = nullptr;
  int64_t bytes = 0;
};

} // namespace wsc::emulator
